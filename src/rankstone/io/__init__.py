"""Input and output: judgments, runs, labelled tables and side tables from anywhere, files written atomically.

A path, an address of a database, a frame, a dict or arrays become a :class:`~rankstone.io.input_table.Table`
with canonical column names.  What the rows are for is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankstone._basics import is_path, some
from rankstone.errors import (
    BadLine,
    EmptyInput,
    InputError,
    MissingColumn,
    RankstoneError,
    printable,
)
from rankstone.io.atomic_files import atomic
from rankstone.io.attributes import read_attributes
from rankstone.io.columns import RUN_NAMES, CsvOptions, Renames, parse_columns, with_csv
from rankstone.io.corpus import read_corpus
from rankstone.io.databases import open_database
from rankstone.io.events import read_events
from rankstone.io.file_formats import TEXT, format_at, format_of, read_files, stem
from rankstone.io.file_parts import files_of, judgments_in
from rankstone.io.file_roles import note_input, refuse_inputs, separate_files
from rankstone.io.golden_sets import golden_in
from rankstone.io.grade_labels import has_unjudged
from rankstone.io.hits_by_query import hits_by_query
from rankstone.io.implausible_columns import rated, refuse_implausible
from rankstone.io.input_table import Table
from rankstone.io.json_objects import holds_json, json_value, read_json, tabular
from rankstone.io.list_columns import with_one_list_each
from rankstone.io.objects import read_object
from rankstone.io.python_rows import columns_of_pandas, holds_columns
from rankstone.io.several_runs import refuse_second, refuse_several, split
from rankstone.io.shapes import Shape, candidates, known_shapes, own_shapes
from rankstone.io.shapes.reading import shaped_document
from rankstone.io.sources import (
    can_be_read_again,
    display_name,
    is_database,
    is_stream,
    keeping_streams,
    parse_address,
    read_stream,
)
from rankstone.io.suffixes import (
    CHARTS,
    FORMATS,
    QRELS_SUFFIXES,
    named_format,
    suffixes_of,
    written_format,
)
from rankstone.io.trec_text import (
    GROUPED_QRELS,
    INTENTS,
    PAIRS,
    PREFERENCES,
    QRELS,
    RUN,
    TAGGED,
    Layout,
    Ranks,
)
from rankstone.io.tried_advice import (
    advise_on_others,
    advised,
    has_advice,
    heads,
    is_read,
)
from rankstone.io.unreadable_files import UnreadYaml, unreadable
from rankstone.io.unused_lists import possible_grades
from rankstone.io.yaml_text import yaml_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone._basics import Columns, StrPath
    from rankstone.io.shapes import Candidates

__all__ = [
    "CHARTS",
    "FORMATS",
    "QRELS_SUFFIXES",
    "CsvOptions",
    "Renames",
    "Shape",
    "Table",
    "advise_on_others",
    "atomic",
    "can_be_read_again",
    "display_name",
    "has_advice",
    "has_columns",
    "is_data_set",
    "is_database",
    "is_read",
    "is_stream",
    "keeping_streams",
    "known_shapes",
    "note_input",
    "own_shapes",
    "parse_address",
    "parse_columns",
    "read_attributes",
    "read_events",
    "read_stream",
    "refuse_inputs",
    "separate_files",
    "stem",
    "suffixes_of",
    "unreadable",
    "with_csv",
    "written_format",
]


@keeping_streams()
@advised
def read_judgments(
    source: object,
    columns: Columns | None = None,
    format_in: str | None = None,
    *,
    further: Sequence[str] = (),
    costs: Sequence[str] = (),
    corpus: object = None,
) -> Table:
    """Open judgments: ``query_id``, ``doc_id``, ``relevance``, and ``further`` columns by name.

    Columns of ``costs`` are read where the table has them.  Texts that a golden set expects are looked up in
    the documents of ``corpus``.
    In plain lists of documents, and of spans without grades, each has grade 1.  Files of known shapes are
    recognised by what they hold, and a folder of BEIR's data by its files.
    """
    columns = Renames.of_table(columns or {}, "qrels", role="judgments")
    layout = QRELS
    if "subgroup" in further:
        layout = PREFERENCES
    elif "subtopic" in further:
        layout = GROUPED_QRELS
    source, notes = judgments_in(source)
    golden = _golden_table(source, columns, format_in, (*further, *costs), corpus)
    if golden is not None:
        return golden
    table = _open(
        source,
        layout,
        "judgments",
        columns,
        format_in,
        further=(*further, *costs),
        role="judgments" if layout is QRELS else "",
    )
    shape = getattr(columns, "shape", None)
    if shape is not None:
        notes = (*notes, shape.title)
    is_export = shape is not None and shape.name == "quepid-csv"
    if is_export or has_unjudged(columns):
        table = rated(table)
    if notes:
        table = _noted(table, *notes)
    is_graded = "relevance" in table.schema
    names = {*table.schema, *table.present}
    are_spans = not is_graded and {"start", "end"} <= names
    if table.listed or are_spans:
        table = table.with_number("relevance", 1.0)
    elif _are_pairs(table, columns):
        table = table.with_number("relevance", 1.0)
        table = _noted(table, "no grade: each document is relevant")
    elif not is_graded and not possible_grades(table.present, columns):
        table.requires("query_id", "doc_id", given=columns)
    table.requires("query_id", "doc_id", "relevance", *further, given=columns)
    refuse_implausible(table, columns, "relevance")
    return table


def _golden_table(
    source: object,
    columns: Columns | None,
    format_in: str | None,
    further: Sequence[str],
    corpus: object,
) -> Table | None:
    """Open the judgments of a golden set; ``None`` for a source that holds none."""
    if _is_trec(source, columns or {}, format_in):
        return None
    golden = golden_in(source, columns, format_in)
    if golden is None:
        return None
    if corpus is not None and golden.expects_texts:
        documents = read_corpus(corpus, columns).texts
        golden = golden.with_documents_of_texts(documents)
    return golden.table(further)


def _is_trec(source: object, columns: Columns, format_in: str | None) -> bool:
    """Return whether a file is TREC text, which is no golden set."""
    if not is_path(source) or is_database(source):
        return False
    with suppress(UnreadYaml):
        return format_at(source, format_in, columns)[0] == "trec"
    return False


def _are_pairs(table: Table, columns: Columns) -> bool:
    """Return whether judgments are pairs, beside which no column may be a grade."""
    if "relevance" in table.schema or not {"query_id", "doc_id"} <= table.columns:
        return False
    if getattr(columns, "all_relevant", False) or getattr(columns, "shape", None):
        return True
    return not table.unused and not possible_grades(table.present, columns)


def _noted(table: Table, *notes: str) -> Table:
    """Return a table with notes before its own."""
    more = table.read_as
    return replace(table, read_as=lambda: (*notes, *more()))


@advised
def read_run(
    source: object,
    columns: Columns | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
    name: str = "run",
    ranks: bool = False,
    further: Sequence[str] = (),
    layout: Layout = RUN,
    duplicates: str = "error",
) -> Table:
    """Open a run: ``query_id``, ``doc_id``, and what gives the ``order``; ranks can replace scores.

    ``further`` columns are read where the run has them.

    With ``ranks`` also the ranks of TREC text; where these are not needed they may be missing or not numbers.
    The ``layout`` of TREC text says whether a second tag is refused.
    A second list of a query is refused unless ``duplicates`` says which of them stays.
    """
    columns = Renames.of_table(columns or {}, "run")
    wanted: Ranks = "if_numbers" if ranks else "unread"
    if order == "rank":
        wanted = "needed"
    named = Renames.of_table(columns, "run", role="run")
    table = _open(
        source,
        layout,
        name,
        named,
        format_in,
        ranks=wanted,
        further=(*further, *RUN_NAMES),
        role="run",
    )
    refuse_second(table)
    shape = getattr(named, "shape", None)
    if shape is not None:
        table = _noted(table, shape.title)
    table = with_one_list_each(table, duplicates)
    if is_path(source):
        parts = files_of(source)

        def open_part(part: Path) -> Table:
            return _open(part, RUN, name, columns, format_in)

        if len(parts) > 1:
            refuse_several(source, parts, format_in, open_part)
    by = _order_column(table, order)
    table.requires("query_id", "doc_id", *by, given=columns)
    if "score" in by:
        refuse_implausible(table, columns, "score")
    return table


def is_data_set(source: str) -> bool:
    """Return True for a file of a known tool that holds the relevant and the retrieved documents.

    Raises
    ------
    InputError
        When it is JSON that is empty or broken: no other file would be read as such.
    """
    try:
        judgments = read_judgments(source)
        run = read_run(source)
        notes = {*judgments.read_as(), *run.read_as()}
    except (BadLine, EmptyInput):
        if named_format(Path(source)) in ("json", "jsonl"):
            raise
        return False
    except RankstoneError:
        return False
    titles = {shape.title for shape in known_shapes()}
    return len(notes & titles) > 1


@advised
def has_columns(source: StrPath, columns: Columns) -> bool:
    """Return whether a file is a table with named columns, and no TREC text."""
    try:
        kind, _ = format_at(source, None, columns)
    except UnreadYaml:
        return True
    return kind != "trec"


@advised
def read_runs(
    source: object,
    run_column: str,
    columns: Columns | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
) -> dict[str, Table]:
    """Open a long table of several runs, in which ``run_column`` names the run of each row.

    Raises
    ------
    MissingColumn
        When there is no such column.
    """
    given = Renames.of_table(columns or {}, "run")
    others = {theirs: ours for theirs, ours in given.items() if theirs != run_column}
    renamed = Renames({**others, run_column: "run"}, given)
    layout = TAGGED if run_column == "tag" else RUN
    table = _open(
        source, layout, "runs", renamed, format_in, further=("run",), role="run"
    )
    if "run" not in table.columns:
        what = f"there is no column {printable(run_column)} that names runs"
        raise MissingColumn.of(what, run_column, sorted(renamed.present), table.source)
    by = _order_column(table, order)
    table.requires("query_id", "doc_id", *by, given=given)
    return split(table, run_column)


def _order_column(table: Table, order: str) -> tuple[str, ...]:
    """Return the column that gives the order of a run's lists; none for the order of the input."""
    by = table.ordered_by(order)
    return () if by == "input" else (by,)


@advised
def read_pairs(
    source: object,
    columns: Columns | None = None,
    format_in: str | None = None,
    *,
    name: str = "pairs",
) -> Table:
    """Open pairs of ``query_id`` and ``doc_id``.

    TREC text may be judgments or a run: its third column is the document.  A mapping may be
    ``{query: [doc, …]}`` with any collection of documents.
    """
    if isinstance(source, Mapping) and not holds_columns(source, columns):
        source = {query: _documents(docs, name) for query, docs in source.items()}
    table = _open(source, PAIRS, name, columns, format_in)
    return table.requires("query_id", "doc_id", given=columns)


def _documents(docs: object, name: str) -> list[object]:
    if isinstance(docs, (str, bytes)) or not isinstance(docs, Iterable):
        raise InputError(
            "the documents of a query are no list",
            where=name,
            given=printable(repr(docs), 40),
            expected="{query: [doc, …]}",
        )
    return list(docs)


@advised
def read_interactions(
    source: object,
    columns: Columns | None = None,
    format_in: str | None = None,
    *,
    further: Sequence[str] = (),
) -> Table:
    """Open past interactions: ``query_id``, ``doc_id``, and ``further`` number columns by name.

    A column ``time`` of any type is read where there is one.
    A mapping may be ``{query: [doc, …]}``; TREC text is read as judgments are.
    """
    columns = Renames.of_table(columns or {}, "history")
    table = _open(
        source,
        QRELS,
        "history",
        columns,
        format_in,
        number="weight",
        further=(*further, "time"),
        role="judgments",
    )
    return table.requires("query_id", "doc_id", *further, given=columns)


@advised
def read_intents(
    source: object, columns: Columns | None = None, format_in: str | None = None
) -> Table:
    """Open weights of subtopics: a table with ``query_id``, ``subtopic`` and ``weight``, or nested dicts."""
    further = ("subtopic", "weight")
    name = "intents"
    if is_path(source) and holds_json(source, format_in):
        source, name = read_json(source), str(source)
    if isinstance(source, Mapping) and not holds_columns(source, columns):
        table = read_object(source, "weight", {}, name).requires(
            "query_id", "doc_id", "weight"
        )
        source = table.collect("query_id", "doc_id", "weight").rename(
            {"doc_id": "subtopic"}
        )
    table = _open(source, INTENTS, name, columns, format_in, further=further)
    table = table.requires("query_id", *further, given=columns)
    return table.with_text_ids("query_id")


@keeping_streams()
@advised
def read_labelled(
    source: object,
    columns: Columns | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
    one_group: bool = False,
    further: Sequence[str] = (),
) -> Table:
    """Open a labelled table: ``query_id``, ``relevance`` (or ``label``), a score, perhaps ``doc_id``.

    ``further`` columns are read where the table has them.
    With ``one_group`` all rows are one list, whatever their ids.
    """
    given = columns or {}
    columns = Renames({"label": "relevance", **given}, given)
    if is_stream(source):  # TREC lines have no labels
        format_in = format_in or format_of(source, "csv")
    table = _open(source, RUN, "labelled table", columns, format_in, further=further)
    table = table.in_one_list() if one_group else table
    by = () if order == "input" else (order,)
    return table.requires("query_id", "relevance", *by, given=columns)


@keeping_streams()
def _open(
    source: object,
    layout: Layout,
    name: str,
    columns: Columns | None,
    format_in: str | None,
    *,
    number: str | None = None,
    further: Sequence[str] = (),
    ranks: Ranks = "unread",
    role: str = "",
) -> Table:
    """Open a path or an object.

    ``number`` names the numbers of a dict or of arrays; by default the layout does.  With a ``role`` files of
    known shapes are recognised.
    """
    if isinstance(source, Table):
        return source
    number = number or layout.number
    renames = {} if columns is None else columns
    own = getattr(renames, "own_shapes", None)
    shapes = candidates(role, own or format_in) if role else None
    if not is_path(source):
        return _of_object(
            source, lambda: source, number, renames, name, further, shapes
        )
    if is_database(source):
        return open_database(source).table(renames, further)
    try:
        kind, files = format_at(source, format_in, renames)
    except UnreadYaml:
        kind, files = "yaml", []
    if kind not in ("json", "yaml"):
        parts = heads(files, is_text=kind in TEXT)
        table = read_files(
            source,
            parts,
            kind,
            layout,
            renames,
            ranks=ranks,
            further=further,
            shapes=shapes,
        )
        form = _form(kind, table)
        if kind == "trec":
            form = f"TREC text, {layout.expected} in each line"
        return replace(table, form=table.form or form)
    value = yaml_value(source) if kind == "yaml" else json_value(source)
    notes: list[str] = []
    steps = "run" in renames.values()
    rows = partial(tabular, value, str(source), steps=steps, notes=notes)
    table = _of_object(value, rows, number, renames, str(source), further, shapes)
    form = table.form or _form_of_json(value, table, number)
    keys_are_texts = replace(table, untyped=True, form=form)
    return _noted(keys_are_texts, *notes)


def _form_of_json(value: object, table: Table, number: str) -> str:
    if isinstance(value, dict) and not holds_columns(columns_of_pandas(value)):
        documents = "[document, …]" if table.listed else f"{{document: {number}}}"
        return f"JSON, {{query: {documents}}}"
    return _form("JSON", table)


def _form(kind: str, table: Table) -> str:
    columns = table.present or tuple(table.schema)
    return f"{kind}, with the columns {some(columns, 12)}"


def _of_object(
    value: object,
    rows: Callable[[], object],
    number: str,
    columns: Columns,
    source: str,
    further: Sequence[str],
    shapes: Candidates | None,
) -> Table:
    """Open an object of Python, or the value of a JSON file, whose ``rows`` are made where it has no shape."""
    table = shaped_document(value, source, columns, shapes)
    if table is not None:
        return table
    hits = hits_by_query(value, columns, source)
    if hits is not None:
        table = read_object(hits.rows, number, hits.columns, source, further)
        if len(hits.empty):
            table = replace(table, empty=lambda: hits.empty)
        if hits.note:
            table = _noted(table, hits.note)
        return table
    try:
        return read_object(rows(), number, columns, source, further)
    except InputError:
        if shapes is not None and isinstance(value, (Mapping, list)):
            shapes.refuse_near(value, source)
        raise
