"""What Quepid exports as JSON: cases, ratings, books of judgments, snapshots of results.

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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import EmptyInput, InputError, printable
from rankstone.io.values import ids_of, numbers_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_quepid", "read_quepid"]

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
