"""The first station of the road: read judgments, runs and labelled tables from anywhere.

Comes in: a path, an address of a database, a frame, a dict, arrays.  Goes out: a
:class:`~rankstone.io.input_table.Table` with our column names.  Knows nothing of what the rows are for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankstone.errors import InputError, MissingColumn, nearest, printable
from rankstone.io.atomic_files import atomic
from rankstone.io.attributes import Attributes, read_attributes
from rankstone.io.columns import CsvOptions, Renames, check_renames, parse_columns, with_csv
from rankstone.io.database_addresses import is_database, parse_address, shown
from rankstone.io.databases import open_database
from rankstone.io.events import Events, read_events
from rankstone.io.file_formats import BEIR, format_of_stream, judgments_in, read_files, stem
from rankstone.io.input_table import Progress, Table, reading
from rankstone.io.json_objects import holds_json, is_quepid, read_json, read_quepid, read_text
from rankstone.io.objects import ids_of_two_kinds, read_object
from rankstone.io.python_rows import holds_columns, holds_rows, is_column
from rankstone.io.several_runs import refuse_several, split
from rankstone.io.streams import can_be_read_again, is_stream, keeping_streams, read_stream
from rankstone.io.trec_text import GROUPED_QRELS, INTENTS, PAIRS, PREFERENCES, QRELS, RUN, Layout, Ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


__all__ = [
    "Attributes",
    "CsvOptions",
    "Events",
    "Progress",
    "Renames",
    "Table",
    "atomic",
    "can_be_read_again",
    "check_renames",
    "holds_columns",
    "holds_rows",
    "ids_of_two_kinds",
    "is_column",
    "is_database",
    "is_quepid",
    "is_stream",
    "keeping_streams",
    "parse_address",
    "parse_columns",
    "read_attributes",
    "read_events",
    "read_intents",
    "read_interactions",
    "read_judgments",
    "read_labelled",
    "read_pairs",
    "read_run",
    "read_runs",
    "read_stream",
    "read_text",
    "reading",
    "shown",
    "stem",
    "with_csv",
]


def read_judgments(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    further: Sequence[str] = (),
) -> Table:
    """Open judgments: ``query_id``, ``doc_id``, ``relevance``, and ``further`` columns by name.

    Plain lists of documents are what is relevant: each has the grade 1.  BEIR's judgments are known by their
    header, and a folder of its data by what lies in it.
    """
    columns = Renames.of_table(columns or {}, "qrels")
    layout = GROUPED_QRELS if "subtopic" in further else QRELS
    layout = PREFERENCES if "subgroup" in further else layout
    source, told = judgments_in(source)
    named = Renames(columns or {}, columns, header=BEIR) if isinstance(columns or {}, Mapping) else columns
    table = _opened(source, layout, "judgments", named, format_in, further=further)
    if isinstance(named, Renames) and named.known_header:
        told = (*told, "BEIR's qrels, whose score is the grade")
    table = replace(table, read_as=_and(told, table.read_as)) if told else table
    table = table.with_number("relevance", 1.0) if table.listed else table
    return table.requires("query_id", "doc_id", "relevance", *further, given=columns)


def _and(told: tuple[str, ...], further: Callable[[], tuple[str, ...]]) -> Callable[[], tuple[str, ...]]:
    return lambda: (*told, *further())


def read_run(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
    name: str = "run",
    ranks: bool = False,
) -> Table:
    """Open a run: ``query_id``, ``doc_id``, and what ``order`` asks for; ranks do for scores.

    With ``ranks`` TREC's ranks, too; where nobody asks for them they may be missing or no numbers.
    """
    columns = Renames.of_table(columns or {}, "run")
    wanted: Ranks = "needed" if order == "rank" else "if_numbers" if ranks else "unread"
    table = _opened(source, RUN, name, columns, format_in, ranks=wanted)
    if isinstance(source, (str, os.PathLike)):
        refuse_several(source, format_in, lambda part: _opened(part, RUN, name, columns, format_in))
    return table.requires("query_id", "doc_id", *_needed(table, order), given=columns)


def read_runs(
    source: object,
    run_column: str,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
) -> dict[str, Table]:
    """Open a long table of several runs, ``run_column`` of which names the run of each row.

    Raises
    ------
    MissingColumn
        When there is no such column.
    """
    meant = Renames.of_table(columns or {}, "run")
    given = {theirs: ours for theirs, ours in meant.items() if theirs != run_column}
    renamed = Renames({**given, run_column: "run"}, meant)
    table = _opened(source, RUN, "runs", renamed, format_in, further=("run",))
    if "run" not in table.columns:
        close = nearest(run_column, renamed.present, n=1)
        raise MissingColumn(
            f"there is no column {printable(run_column)} that names runs",
            where=table.source,
            given=f"columns {', '.join(map(printable, sorted(renamed.present))) or 'without names'}",
            fix=f"did you mean {printable(close[0])}?" if close else None,
        )
    return split(table.requires("query_id", "doc_id", *_needed(table, order), given=meant), run_column)


def _needed(table: Table, order: str) -> tuple[str, ...]:
    """Return the column that gives the order of a run's lists."""
    by = table.ordered_by(order)
    return () if by == "input" else (by,)


def read_pairs(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    name: str = "pairs",
) -> Table:
    """Open pairs of ``query_id`` and ``doc_id``.

    TREC text may be judgments or a run: the third column is the document.  A mapping may be
    ``{query: [doc, …]}``, with any collection of documents.
    """
    if isinstance(source, Mapping) and not holds_columns(source, columns):
        source = {query: _documents(docs, name) for query, docs in source.items()}
    return _opened(source, PAIRS, name, columns, format_in).requires("query_id", "doc_id")


def _documents(docs: object, name: str) -> list[object]:
    if isinstance(docs, (str, bytes)) or not isinstance(docs, Iterable):
        raise InputError(
            f"a query's documents are a {type(docs).__name__}", where=name, expected="{query: [doc, …]}"
        )
    return list(docs)


def read_interactions(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    further: Sequence[str] = (),
) -> Table:
    """Open who met what in the past: ``query_id``, ``doc_id``, and ``further`` number columns by name.

    A mapping may be ``{query: [doc, …]}``; TREC text is read as judgments are.
    """
    table = _opened(source, QRELS, "history", columns, format_in, number="weight", further=further)
    return table.requires("query_id", "doc_id", *further)


def read_intents(
    source: object, columns: Mapping[str, str] | None = None, format_in: str | None = None
) -> Table:
    """Open weights of subtopics: a table with ``query_id``, ``subtopic`` and ``weight``, or nested dicts."""
    further, name = ("subtopic", "weight"), "intents"
    if holds_json(source, format_in):
        source, name = read_json(source), str(source)  # type: ignore[arg-type] # a path
    if isinstance(source, Mapping) and not holds_columns(source, columns):
        table = read_object(source, "weight", {}, name).requires("query_id", "doc_id", "weight")
        source = table.collect("query_id", "doc_id", "weight").rename({"doc_id": "subtopic"})
    table = _opened(source, INTENTS, name, columns, format_in, further=further)
    return table.requires("query_id", *further).with_text_ids("query_id")


def read_labelled(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
    one_group: bool = False,
) -> Table:
    """Open a labelled table: ``query_id``, ``relevance`` (or ``label``), a score, perhaps ``doc_id``.

    With ``one_group`` all rows are one list, whatever ids they have.
    """
    given = columns or {}
    columns = Renames({"label": "relevance", **given}, given)
    if is_stream(source):
        format_in = format_in or format_of_stream(os.fspath(source), "csv")  # TREC lines have no labels
    table = _opened(source, RUN, "labelled table", columns, format_in)
    table = table.in_one_list() if one_group else table
    by = () if order == "input" else (order,)
    return table.requires("query_id", "relevance", *by, given=columns)


def _opened(
    source: object,
    layout: Layout,
    name: str,
    columns: Mapping[str, str] | None,
    format_in: str | None,
    *,
    number: str | None = None,
    further: Sequence[str] = (),
    ranks: Ranks = "unread",
) -> Table:
    """Open a path or an object; an object's numbers are what the layout says unless ``number`` does."""
    if isinstance(source, Table):
        return source
    number = number or layout.number
    named = {} if columns is None else columns
    if holds_json(source, format_in):  # its keys are texts, whatever they stand for
        path: Any = source
        found = _of_quepid(read_json(path), number, str(path))
        return replace(read_object(found, number, named, str(path), further), untyped=True)
    if isinstance(source, str) and is_database(source):
        return open_database(source).table(named, further)
    if isinstance(source, (str, os.PathLike)):
        return read_files(source, layout, named, format_in, ranks=ranks, further=further)
    return read_object(_of_quepid(source, number, name), number, named, name, further)


def _of_quepid(value: object, number: str, source: str) -> object:
    return read_quepid(value, number, source) if is_quepid(value) else value  # type: ignore[arg-type] # a mapping
