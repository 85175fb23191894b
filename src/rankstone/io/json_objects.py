"""JSON files that hold one object: ``{query: {doc: number}}``, ``{query: [doc, …]}``, or records.

What Quepid exports as JSON: cases, ratings, books of judgments, snapshots of results.

Queries go by their text, since ratings have no other id for them:

.. code-block:: text

    ratings   {"queries": [{"query": text, "ratings": {doc: rating}}]}
    case      {"case_name": …, "queries": [{"query_text": text, "ratings": [{"doc_id": …, "rating": …}]}]}
    for RRE   {"queries": [{"placeholders": {"$query": text}, "relevant_documents": {rating: [doc, …]}}]}
    book      {"query_doc_pairs": [{"query_text": text, "doc_id": …, "judgements": [{"rating": …}]}]}
    snapshot  {"docs": {id: [{"id": doc}]}, "queries": [{"query_id": id, "query_text": text, "ratings": …}]}

These are the shapes that Quepid's views of its exports write (github.com/o19s/quepid, ``app/views/api/v1``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import BadLine, DuplicateRows, EmptyInput, InputError, printable
from rankstone.io.damaged_files import LONGEST, refuse_endless
from rankstone.io.file_formats import format_of, format_of_stream, parts_of
from rankstone.io.input_table import reading
from rankstone.io.python_rows import frame_of_records, ids_of, numbers_of
from rankstone.io.sources import is_database, is_stream, read_stream, stream_title

if TYPE_CHECKING:
    from collections.abc import Iterator


def holds_json(source: object, format_in: str | None = None) -> bool:
    """Say whether a path is one of JSON, by its suffix or because somebody says so."""
    if not isinstance(source, (str, os.PathLike)) or is_database(source):
        return False
    if format_in is not None:
        return format_in == "json"
    if is_stream(source):
        return format_of_stream(os.fspath(source), "trec") == "json"
    return all(format_of(part) == "json" for part in parts_of(os.fspath(source)))


def read_json(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401 - a dict of dicts or lists, or a frame
    """Read a JSON file, or standard input for ``-``, as what Python code would hand over.

    Returns
    -------
    dict or polars.DataFrame
        The object; a list of records, ``[{"query_id": …, "doc_id": …}, …]``, as a frame.
    """
    name = os.fspath(path)
    found = _parsed(read_text(name, longest=None), name)
    if isinstance(found, dict) and found:
        return found
    if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
        return frame_of_records(found, name)
    if found in ({}, []):
        raise EmptyInput("there is nothing in the file", where=name, expected=_EXPECTED)
    raise InputError("this JSON is no table", where=name, given=_kind(found), expected=_EXPECTED)


_EXPECTED = (
    "{query: {document: number}}, {query: [document, …]} or a list of records with query_id and doc_id"
)


def read_text(name: str, longest: int | None = LONGEST) -> str:
    """Read a file of text, packed or not, a pipe, or standard input for ``-``, whole.

    Lines of more than ``longest`` bytes are refused; one object of JSON may be one line, whatever its length.
    """
    if is_stream(name):
        content = read_stream(name, longest)
        with reading(stream_title(name)):
            return content.decode("utf-8-sig")
    parts = parts_of(name)
    if len(parts) > 1:
        raise InputError(
            f"{len(parts)} files where one is meant", where=name, fix="name one file, or write JSON lines"
        )
    with reading(name):  # a further .gz or .zst is looked through
        if longest is not None:
            refuse_endless(parts[0], name, longest)
        lines = pl.scan_lines(parts[0], name="text", glob=False).collect()["text"]
        return "\n".join(lines).removeprefix("\ufeff")


def _parsed(text: str, name: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    if not text.strip():
        raise EmptyInput("the file is empty", where=name, expected="JSON data")
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _once(pairs, name))
    except json.JSONDecodeError as error:
        raise _broken(error, text, name) from None
    except (RecursionError, ValueError) as error:  # brackets without end, numbers of thousands of digits
        raise InputError("this JSON cannot be read", where=name, given=printable(error)) from None


def _broken(error: json.JSONDecodeError, text: str, name: str) -> BadLine:
    several = error.msg == "Extra data"
    lines = text.split("\n")
    return BadLine(
        "the JSON goes on after its object" if several else f"this is no JSON: {error.msg}",
        where=f"{name}:{error.lineno}",
        given=printable(lines[error.lineno - 1]),
        expected="one object",
        fix="these look like JSON lines: add --format-in jsonl" if several else None,
    )


def _once(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    """Return an object; JSON allows a key twice, and the first would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DuplicateRows(
            f"{printable(twice)} stands in one object twice",
            where=name,
            expected="each query and document once",
        )
    return found


def _kind(found: object) -> str:
    if isinstance(found, list):
        other = next(value for value in found if not isinstance(value, dict))
        return f"a list that holds {printable(json.dumps(other), 40)}"
    return printable(json.dumps(found), 40)


_PAIRS: Final = "query_doc_pairs"


def is_quepid(value: object) -> bool:
    """Say whether a JSON object is one that Quepid exports.

    >>> is_quepid({"queries": [{"query": "tent", "ratings": {"d1": 3}}]})
    True
    >>> is_quepid({"queries": ["d1", "d2"]})
    False
    """
    if not isinstance(value, Mapping):
        return False
    rows = value.get(_PAIRS, value.get("queries"))
    named = ("judgements",) if _PAIRS in value else ("ratings", "relevant_documents")
    return (
        isinstance(rows, list)
        and len(rows) > 0
        and all(isinstance(row, Mapping) for row in rows)
        and any(name in row for row in rows for name in named)
    )


def read_quepid(value: Mapping[str, Any], number: str, source: str) -> pl.DataFrame | dict[str, list[Any]]:
    """Return judgments as a frame, or the lists of a snapshot as ``{query: [doc, …]}``.

    A query without ratings was not judged and has no row; several judges of a book are several rows of a
    pair, and ``duplicate_judgments`` says what becomes of them.

    Parameters
    ----------
    value
        What Quepid exported.
    number
        What is asked for: ``score`` for a run, anything else for judgments.
    source
        What to call it in messages.

    Raises
    ------
    InputError
        When a run is asked for and this is no snapshot.
    """
    try:
        if number == "score":
            return _lists(value, source)
        rows = list(_of_book(value) if _PAIRS in value else _of_case(value))
    except (AttributeError, KeyError, TypeError) as error:  # a list where an object should be, say
        raise InputError(
            "this looks like an export of Quepid and is none",
            where=source,
            given=printable(error),
            expected="a case, ratings, a book or a snapshot as Quepid writes it",
        ) from None
    if not rows:
        raise EmptyInput("nobody has rated a document yet", where=source, expected="an export with ratings")
    queries, docs, numbers = zip(*rows, strict=True)
    columns = {"query_id": ids_of(queries, "query_id", source), "doc_id": ids_of(docs, "doc_id", source)}
    return pl.DataFrame({**columns, "relevance": numbers_of(numbers, "relevance", source)})


def _of_case(value: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    for query in value["queries"]:
        given = query.get("ratings") or {}
        rated = isinstance(given, Mapping)
        pairs = [*given.items()] if rated else [(one["doc_id"], one["rating"]) for one in given]
        for rating, docs in (query.get("relevant_documents") or {}).items():
            pairs += [(doc, rating) for doc in docs]
        yield from ((_text(query), doc, rating) for doc, rating in pairs if rating is not None)


def _of_book(value: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    for pair in value[_PAIRS]:
        ratings = [one["rating"] for one in pair["judgements"]]
        yield from ((_text(pair), pair["doc_id"], rating) for rating in ratings if rating is not None)


def _text(query: Mapping[str, Any]) -> Any:  # noqa: ANN401 - what JSON holds
    for name in ("query_text", "query"):
        if name in query:
            return query[name]
    return query["placeholders"]["$query"]


def _lists(value: Mapping[str, Any], source: str) -> dict[str, list[Any]]:
    if "docs" not in value:
        raise InputError(
            "this export of Quepid holds ratings and no results",
            where=source,
            expected="as a run a snapshot, which has docs",
            fix="export a snapshot of the case; this file is judgments, and stands before the runs",
        )
    texts = {str(query["query_id"]): _text(query) for query in value["queries"]}
    return {texts[query]: [doc["id"] for doc in found] for query, found in value["docs"].items()}
