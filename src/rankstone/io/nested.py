"""JSON files that hold one object: ``{query: {doc: number}}``, ``{query: [doc, …]}``, or records."""

from __future__ import annotations

import json
import os
from typing import Any

import polars as pl

from rankstone.errors import BadLine, DuplicateRows, EmptyInput, InputError, printable
from rankstone.io.addresses import is_database
from rankstone.io.endless import LONGEST, refuse_endless
from rankstone.io.files import format_of, format_of_stream, parts_of
from rankstone.io.rows import frame_of_records
from rankstone.io.streams import is_stream, read_stream, stream_title
from rankstone.io.table import reading

__all__ = ["holds_json", "read_json", "read_text"]


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
