"""JSON files with one object: ``{query: {doc: number}}``, ``{query: [doc, …]}``, records, other shapes.

Records may be the one list in an object, as in ``{"version": 2, "questions": [{…}, …]}``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.errors import (
    BadLine,
    DuplicateRows,
    EmptyInput,
    InputError,
    RankstoneError,
    printable,
)
from rankstone.io.advice import Advice
from rankstone.io.damaged_files import LONGEST, refuse_endless
from rankstone.io.file_formats import format_of
from rankstone.io.file_parts import parts_of
from rankstone.io.python_rows import columns_of_pandas, frame_of_records
from rankstone.io.shapes import plain_format
from rankstone.io.sources import is_database, is_stream, read_stream, stream_title
from rankstone.io.suffixes import FORMATS
from rankstone.io.traces import is_trace, trace_frame
from rankstone.io.unreadable_files import WHOLE, reading, wrong_json

if TYPE_CHECKING:
    from rankstone._basics import StrPath

_EXPECTED = "{query: {document: number}}, {query: [document, …]} or a list of records with query_id and doc_id"


def holds_json(source: StrPath, format_in: str | None = None) -> bool:
    """Return True for a file of JSON, by its content or as requested; False for a database."""
    if is_database(source):
        return False
    if (kind := plain_format(format_in, FORMATS)) is not None:
        return kind == "json"
    if is_stream(source):
        return format_of(source) == "json"
    return all(format_of(part) == "json" for part in parts_of(os.fspath(source)))


def read_json(path: StrPath, *, steps: bool = False) -> Any:  # noqa: ANN401 - see below
    """Read a JSON file, or standard input for ``-``, as Python objects.

    ``steps`` is as for :func:`~rankstone.io.traces.trace_frame`.

    Returns
    -------
    dict or polars.DataFrame
        The object, or the columns of a frame that pandas wrote; a list of records,
        ``[{"query_id": …, "doc_id": …}, …]``, as a frame, also where an object holds it; a trace as a
        frame of its retrievals.
    """
    value = tabular(json_value(path), os.fspath(path), steps=steps)
    return columns_of_pandas(value)


def json_value(path: StrPath) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value in a JSON file, or in standard input for ``-``."""
    name = os.fspath(path)
    return parsed(read_text(name, longest=None), name)


def tabular(
    value: Any,  # noqa: ANN401 - whatever JSON holds
    name: str,
    *,
    steps: bool = False,
    notes: list[str] | None = None,
) -> Any:  # noqa: ANN401 - see above
    """Return what :func:`read_json` does for a value; ``name`` is that of its file, ``notes`` grow by its note."""
    if isinstance(value, dict) and not is_trace(value):
        value = _wrapped(value, name) or value
    records = value if isinstance(value, list) else [value]
    if records and all(map(is_trace, records)):
        frame, note = trace_frame(records, name, steps=steps)
        if notes is not None:
            notes.append(note)
        return frame
    if isinstance(value, dict) and value:
        return value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(row, dict) for row in value)
    ):
        return frame_of_records(value, name)
    if value in ({}, []):
        raise EmptyInput("the file has no data", where=name, expected=_EXPECTED)
    raise InputError(
        "this JSON is not a table",
        where=name,
        given=_example(value),
        expected=_EXPECTED,
    )


def _wrapped(value: dict[str, Any], name: str) -> list[Any] | None:
    """Return the one list of objects in an object that says something about it, else ``None``.

    >>> _wrapped({"version": 2, "questions": [{"id": "q1", "expected": ["d1"]}]}, "gold.json")
    [{'id': 'q1', 'expected': ['d1']}]
    >>> _wrapped({"q1": ["d1"], "q2": ["d1"]}, "gold.json")
    """
    lists = {
        key: part for key, part in value.items() if isinstance(part, list) and part
    }
    about = [part for part in value.values() if isinstance(part, Mapping)]
    are_numbers = (
        isinstance(one, (int, float)) for part in about for one in part.values()
    )
    are_objects = (isinstance(row, Mapping) for part in lists.values() for row in part)
    if not lists or any(are_numbers) or not all(are_objects):
        return None
    if len(lists) > 1:
        raise InputError(
            f"this object holds {len(lists)} lists of records",
            where=name,
            given=", ".join(printable(key, 40) for key in list(lists)[:3]),
            expected=_EXPECTED,
            fix="write the one that is meant to a file of its own, or give each record its query_id",
        )
    return next(iter(lists.values()))


def read_text(name: str, longest: int | None = LONGEST) -> str:
    """Read a text file, compressed or not, a pipe, or standard input for ``-`` as a whole.

    Lines of more than ``longest`` bytes are refused; a JSON object may be a single line of any length.
    """
    if is_stream(name):
        content = read_stream(name, longest)
        with reading(stream_title(name)):
            return content.decode("utf-8-sig")
    parts = parts_of(name)
    if len(parts) > 1:
        raise InputError(
            f"{len(parts)} files instead of one",
            where=name,
            fix="name one file, or write JSON lines",
        )
    with reading(name):  # a further .gz or .zst is unpacked
        if longest is not None:
            refuse_endless(parts[0], name, longest)
        lines = pl.scan_lines(parts[0], name="text", glob=False).collect()["text"]
        return "\n".join(lines).removeprefix("\ufeff")


def parsed(text: str, name: str, line: int | None = None) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a JSON text; refuse what is none, a key that occurs twice, and no text at all.

    Parameters
    ----------
    text
        The text.
    name
        The name of its file.
    line
        The number of the line that it is, where it is one of JSON lines.
    """
    where = place_of(name, line)
    if not text.strip():
        raise EmptyInput("the file is empty", where=where, expected="JSON data")
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _unique(pairs, where))
    except json.JSONDecodeError as error:
        line_of_error = error.lineno if line is None else line
        raise _broken(error, text, f"{name}:{line_of_error}") from None
    except RankstoneError:  # a key twice
        raise
    except (RecursionError, ValueError) as error:
        raise InputError(
            f"this JSON cannot be read: {wrong_json(error)}", where=where
        ) from None


def place_of(name: str, line: int | None) -> str:
    """Return the place of a text in messages: a file, or one of its lines.

    >>> place_of("a.json", None), place_of("a.jsonl", 3)
    ('a.json', 'a.jsonl:3')
    """
    if line is None:
        return name
    return f"{name}:{line}"


def _broken(error: json.JSONDecodeError, text: str, where: str) -> BadLine:
    several = error.msg == "Extra data"
    what = f"this is not JSON: {wrong_json(error)}"
    if several:
        what = "the JSON continues after its object"
    error_of_line = BadLine(
        what,
        where=where,
        given=printable(text.split("\n")[error.lineno - 1], 40),
        expected="one object, or a list of objects",
        fix=None if text[error.pos :].strip() else WHOLE,
    )
    lines_too = Advice({}, {"format_in": "jsonl"}, "these look like JSON lines: ")
    return error_of_line.proposing(lines_too if several else None)


def _unique(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    """Return an object; JSON allows a key twice, and the first value would be lost."""
    value = dict(pairs)
    if len(value) < len(pairs):
        earlier: set[str] = set()
        twice = next(key for key, _ in pairs if key in earlier or earlier.add(key))  # type: ignore[func-returns-value]
        raise DuplicateRows(
            f"{printable(twice)} occurs twice in one object",
            where=name,
            expected="each key once",
        )
    return value


def _example(value: object) -> str:
    if isinstance(value, list):
        other = next(item for item in value if not isinstance(item, dict))
        return f"a list with {printable(json.dumps(other), 40)}"
    return printable(json.dumps(value), 40)
