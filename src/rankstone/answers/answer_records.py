"""Records of answers with their places: JSON lines, JSON, rows of CSV, Parquet and frames."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, is_path
from rankstone.errors import BadLine, BadValue, MissingColumn, printable
from rankstone.io.file_formats import format_of, scan_files
from rankstone.io.file_roles import note_input
from rankstone.io.json_objects import parsed, place_of, read_text
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Iterator

#: names of a query's id; Ragas has only the text of the question
_QUERIES: Final = ("query_id", "qid", "topic_id", "question", "user_input")


class RunRecords(Record):
    """The records of one run, each with its place in the source of several."""

    rows: list[tuple[str, Mapping[str, Any]]]


def runs_of(source: object, run_column: str = "run_id") -> dict[str, RunRecords]:
    """Return the records of several runs in one source by the name of their run.

    Parameters
    ----------
    source
        As for :func:`nuggets`, :func:`citations` and :func:`judge_by_similarity`, which take each of the runs.
    run_column
        What names the run of a record.

    Examples
    --------
    >>> from rankstone.answers import nuggets, score_answers
    >>> nugget = {"text": "a", "importance": "vital", "assignment": "support"}
    >>> table = [{"qid": "q", "run_id": run, "nuggets": [nugget]} for run in ("mine", "yours")]
    >>> score_answers({run: nuggets(of) for run, of in runs_of(table).items()}, "Support").to_dict()
    {'mine': {'Support': 1.0}, 'yours': {'Support': 1.0}}
    """
    runs: dict[str, RunRecords] = {}
    for where, record in _every(source):
        if record.get(run_column) is None:
            raise MissingColumn(
                f"a record without {printable(run_column)}",
                where=where,
                given=", ".join(map(printable, record)),
            )
        runs.setdefault(str(record[run_column]), RunRecords([])).rows.append(
            (where, record)
        )
    return runs


def records(source: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place and the record of every row: of JSON, JSON lines, CSV, Parquet, frames, lists.

    Raises
    ------
    InputError
        When the source is no list of records, a row is no object, or there are records of several runs.
    """
    if isinstance(source, RunRecords):
        yield from source.rows
        return
    first = None
    for where, record in _every(source):
        run = record.get("run_id")
        first = run if first is None else first
        if run is not None and run != first:
            raise BadValue(
                "these are records of several runs",
                where=where,
                given=f"run_id {printable(run, 40)} after {printable(first, 40)}",
                expected="one run",
                fix="give each run a file of its own, or read them with --run-column run_id (in Python runs_of)",
            )
        yield where, record


def _every(source: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place and the record of every row, whatever its run."""
    if is_path(source):
        rows = _read(os.fspath(source))
    else:
        listed = _rows_of(source)
        if not isinstance(listed, Iterable) or isinstance(listed, Mapping):
            raise BadValue(
                f"this is a {type(source).__name__}",
                expected='a file, a frame, or a list of records, [{"qid": …, "nuggets": […]}]',
            )
        rows = ((f"record {number}", record) for number, record in enumerate(listed, 1))
    for where, record in rows:
        if not isinstance(record, Mapping):
            raise BadValue(
                "this is no object",
                where=where,
                given=printable(repr(record), 40),
                expected='an object, {"qid": …, "nuggets": […]}',
            )
        yield where, record


def _rows_of(source: Any) -> Any:  # noqa: ANN401 - frames of any library, lists, what is neither
    """Return the rows of a frame; anything else as it is."""
    source = source.collect() if isinstance(source, pl.LazyFrame) else source
    if isinstance(source, pl.DataFrame):
        return source.to_dicts()
    if hasattr(source, "to_pylist"):  # Arrow
        return source.to_pylist()
    return source.to_dict("records") if hasattr(source, "iloc") else source  # pandas


def _read(name: str) -> Iterator[tuple[str, Any]]:
    """Yield the place and the content of each row of a file."""
    note_input(name)
    kind = format_of(name, "jsonl")
    if kind not in ("json", "jsonl", "trec"):
        frame, _ = scan_files(name, kind)
        with reading(name):
            rows = frame.collect().to_dicts()
        yield from (
            (f"{name}, row {number}", row) for number, row in enumerate(rows, 1)
        )
        return
    text = read_text(name, None)
    if kind == "json":
        content = _parsed(text, name)
        objects = content if isinstance(content, list) else [content]
        yield from (
            (f"{name}, record {number}", record)
            for number, record in enumerate(objects, 1)
        )
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{name}:{number}", _parsed(line, name, number)


def _parsed(text: str, name: str, line: int | None = None) -> Any:  # noqa: ANN401 - whatever JSON holds
    value = parsed(text, name, line)
    try:
        if "\\u" in text:
            # half of a character cannot be written
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadLine(
            "a text holds half a character (a lone surrogate)",
            where=place_of(name, line),
        ) from None
    return value


def kind_of(source: object) -> str:
    """Return what the first record holds: ``citations``, ``contexts`` or ``nuggets``."""
    for _, record in islice(records(source), 1):
        contexts = "retrieved_contexts" in record or "reference_contexts" in record
        if (
            "answer" in record
            and "nuggets" not in record
            and (isinstance(record["answer"], list) or not contexts)
        ):
            return "citations"
        if contexts:
            return "contexts"
    return "nuggets"


def query_of(record: Mapping[str, Any], where: str) -> str:
    """Return the id of a record's query."""
    name = next((name for name in _QUERIES if record.get(name) is not None), None)
    if name is None:
        raise MissingColumn(
            "a record without qid",
            where=where,
            given=", ".join(map(printable, record)),
            expected=", ".join(_QUERIES),
        )
    return str(record[name])


def objects_of(
    record: Mapping[str, Any], name: str, where: str
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the place and the content of each object in a list; a bare text is that of an object."""
    listed = record.get(name)
    if not isinstance(listed, list):
        raise BadValue(
            f"{name} is not a list", where=where, given=printable(listed, 60)
        )
    objects = []
    for number, item in enumerate(listed, 1):
        place = f"{where}, {name} {number}"
        if not isinstance(item, (str, Mapping)):
            raise BadValue(
                f"an item of {name} is no object",
                where=place,
                given=printable(item, 60),
                expected='{"text": …}',
            )
        content = {"text": item} if isinstance(item, str) else item
        objects.append((place, content))
    return objects
