"""Scores per query and their properties, from an evaluation or saved.

Saved scores are rankstone's tables, the output of ``trec_eval -q``, or the dicts of pytrec_eval.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl
from polars import selectors

from rankstone._basics import Record, counted, first_true, is_path, some
from rankstone.comparison.named_measures import fact_of, requested_measures
from rankstone.comparison.score_settings import differing_settings, settings_of
from rankstone.comparison.verdict import judged_scores
from rankstone.errors import (
    BadLine,
    BadOption,
    BadValue,
    DuplicateRows,
    EmptyInput,
    MissingColumn,
    UsageError,
    printable,
)
from rankstone.evaluation.scores import Scores
from rankstone.hits.alignment_audit import Audit
from rankstone.io.attributes import open_table
from rankstone.io.column_suggestions import words_of_type
from rankstone.io.columns import columns_in_source
from rankstone.io.csv_dialect import refuse_copies
from rankstone.io.exact_numbers import numbers_in
from rankstone.io.file_formats import stem
from rankstone.io.json_objects import read_text
from rankstone.io.sources import display_name, is_database
from rankstone.io.suffixes import named_format
from rankstone.io.unreadable_files import reading
from rankstone.measures.core.definition import Named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Columns
    from rankstone.measures.core.definition import Span
    from rankstone.measures.core.measure import Measure


#: columns of which a table without one is wide
_LONG: Final = frozenset({"run", "measure", "value"})
#: how a wide table was read
_WIDE: Final = "queries × systems"
#: what to do where columns that are read as systems are measures: with several tables, and with a single one
_IF_MEASURES: Final = (
    "if the columns are measures, compare the tables by one: measures={!r}"
)
_IF_ALONE: Final = (
    "if the columns are measures, this is the table of one system: "
    "give the table of another one beside it"
)
#: what the first column of a table of means is called
_MEASURES: Final = frozenset({"metric", "metrics", "measure", "measures"})
#: texts that people write where there is no score
_HOLES: Final = "- -- – — ? / . n/a na n.a. #n/a none null nil missing tbd nan"
#: columns of a table of scores
SCHEMA: Final[dict[str, Any]] = {
    "run": pl.String,
    "query_id": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "weight": pl.Float64,
}
#: the line of trec_eval that names the run
_RUN: Final = "runid"
_FIELDS: Final = 3
#: largest score or weight: sums of squares stay finite
LARGEST: Final = 1e15


def read_scores(
    source: object,
    columns: Columns | None = None,
    notes: dict[str, tuple[str, ...]] | None = None,
    asked: Sequence[str] = (),
    settings: dict[str, Mapping[str, Any]] | None = None,
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Read scores per query, and return them with their sources.

    Parameters
    ----------
    source
        A table (path or frame) with ``query_id``, ``measure``, ``value`` and, for several systems, ``run``;
        a wide table, whose first column holds query ids and every other one the scores of a system, or of a
        measure if such names are asked for; text that ``trec_eval -q`` printed;
        ``{system: {query: {measure: value}}}``; scores of an evaluation; or ``{system: table}``, a list of
        paths.
    columns
        {their name: our name}, with the CSV options.
    notes
        Receives file → what was guessed of how it is written.
    asked
        The requested measures; a single one is that of tables that do not name one.
    settings
        Receives run → the options under which its scores were computed, where they are known.

    Returns
    -------
    tuple
        A frame ``run``, ``query_id``, ``measure``, ``value`` (null where undefined), ``weight``; and
        system → source.

    Examples
    --------
    >>> frame, _ = read_scores({"bm25": {"q1": {"map": 0.5}, "q2": {"map": 0.25}}})
    >>> frame.select("run", "query_id", "value").rows()
    [('bm25', 'q1', 0.5), ('bm25', 'q2', 0.25)]
    """
    named = _named(source)
    frames = []
    sources = {}
    notes = {} if notes is None else notes
    advice = _IF_MEASURES if len(named) > 1 else _IF_ALONE
    for name, table in named:
        frame = _read(name, table, columns, asked, notes, advice)
        frames.append(frame)
        if is_path(table):
            source_name = display_name(table)
        else:
            source_name = type(table).__name__
        if not frame.height:
            raise EmptyInput("there are no scores", where=source_name)
        runs = frame["run"].unique(maintain_order=True)
        sources.update(dict.fromkeys(runs, source_name))
        if settings is None:
            continue
        computed_under = settings_of(table)
        if computed_under is not None:
            of_runs = dict.fromkeys(runs, computed_under)
            settings.update(of_runs)
    if not frames:
        raise EmptyInput("there are no scores")
    whole = pl.concat(frames)
    wide = any(_WIDE in read_as[-1] for read_as in notes.values())
    _refuse_twice(whole, wide=wide)
    return whole, sources


def _named(source: object) -> list[tuple[str | None, object]]:
    """Return tables with the names of systems that were given to them."""
    if isinstance(source, Mapping):
        return [(str(name), table) for name, table in source.items()]
    if isinstance(source, Sequence) and not isinstance(source, str):
        return [(None, table) for table in source]
    return [(None, source)]


def _read(
    name: str | None,
    source: object,
    columns: Columns | None,
    asked: Sequence[str],
    notes: dict[str, tuple[str, ...]],
    advice: str,
) -> pl.DataFrame:
    if isinstance(source, Mapping):
        return _query_scores(name or "run", source)
    if isinstance(source, Scores):
        source = _rows_of(source)
    if is_path(source):
        path = os.fspath(source)
        if _is_printed(path):
            return _printed(name or stem(path), read_text(path), path)
        name_of_one = name or stem(path)
        where = display_name(path)
    else:
        name_of_one = name or "run"
        where = "scores"
    frame = _table(source, where, columns, asked, notes, advice)
    if "run" not in frame.columns:
        frame = frame.with_columns(run=pl.lit(name_of_one))
    elif name is not None:
        runs = frame["run"].unique(maintain_order=True)
        if len(runs) > 1:
            fix = "pass the table without a name"
            if _WIDE in notes.get(where, ("",))[-1]:
                fix = advice.format(runs[0])
            raise UsageError(
                f"{printable(name)} has the scores of several systems",
                where=where,
                given=some(runs, 5),
                fix=fix,
            )
        frame = frame.with_columns(run=pl.lit(name))
    return frame.select(list(SCHEMA))


def _rows_of(scores: Scores) -> pl.DataFrame:
    """Return scores per query, with weights for the measures that are averaged with them."""
    weighted = [str(m) for m in scores.measures if m.agg == "weighted"]
    is_weighted = pl.col("measure").is_in(weighted)
    weight = pl.when(is_weighted).then("weight").otherwise(1.0)
    return scores.per_query.with_columns(weight=weight)


def _is_printed(path: str) -> bool:
    """Return True for output of trec_eval, False for a table with named columns."""
    tables = ("parquet", "csv", "tsv", "jsonl", "arrow")
    return not (is_database(path) or named_format(Path(path)) in tables)


def _table(
    source: object,
    where: str,
    columns: Columns | None,
    asked: Sequence[str],
    notes: dict[str, tuple[str, ...]],
    advice: str,
) -> pl.DataFrame:
    """Read the columns of a table, or unfold a wide one."""
    _, table, read_as = open_table(source, "query_id", columns)
    theirs = table.collect_schema().names()
    is_wide = _LONG.isdisjoint(theirs)
    if is_wide and "query_id" not in theirs:
        table = table.rename(dict.fromkeys(theirs[:1], "query_id"))
    known = table.collect_schema().names()
    needed = {"query_id", "measure", "value"}
    is_long = needed <= {*known}
    measures = list[str]()
    if not is_long:
        measures += (name for name in asked if name in known)
    systems = list[str]()
    if is_wide:
        systems += (name for name in known if name != "query_id")
    if not _MEASURES.isdisjoint(map(str.lower, theirs[:1])):
        raise _no_queries(where, columns_in_source(theirs, columns))
    is_readable = measures or is_long or len(systems) > 1
    if not is_readable:
        source_columns = columns_in_source(theirs, columns)
        measures = _of_queries(table, where)
        fix = advice.format(measures[-1]) if measures else None
        raise _no_queries(where, source_columns, fix)
    values = measures or systems
    names = [name for name in SCHEMA if name in known and name not in values]
    with reading(where):
        frame = table.select(*names, *values).collect()
    if measures:
        frame = _unfolded(frame, where, values, "measure")
    elif systems:
        measure = "score"
        if len(asked) == 1:
            measure = asked[0]
        frame = _unfolded(frame, where, values, "run", advice)
        frame = frame.with_columns(measure=pl.lit(measure))
        how = f"{_WIDE}: {counted(len(systems), 'column')} of {measure}"
        read_as = (*read_as, how)
    if read_as:
        notes[where] = read_as
    return _typed(frame, where)


def _typed(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    """Return scores with names as texts and values as numbers; the default weight is 1."""
    if "weight" not in frame.columns:
        frame = frame.with_columns(weight=pl.lit(1.0))
    for name in ("query_id", "measure", "run"):
        if name in frame.columns:
            frame = frame.with_columns(name_texts(frame[name], where))
    value = _scores(frame["value"], where)
    weight = score_numbers(frame["weight"], where)
    return frame.with_columns(value, weight)


def _no_queries(where: str, columns: str, fix: str | None = None) -> MissingColumn:
    """Return the error for a table without scores of queries."""
    return MissingColumn(
        "there are no scores of single queries",
        where=where,
        given=columns,
        expected="query_id, measure, value; or a row for each query_id "
        "and a column for each system, or for each measure, "
        "of which those that are asked for are read",
        fix=fix,
    )


def _of_queries(table: pl.LazyFrame, where: str) -> list[str]:
    """Return the columns of numbers beside a first column in which each query is once."""
    with reading(where):
        first, *others = table.collect().iter_columns()
    if first.is_duplicated().any():
        return []
    numbers = [column.cast(pl.Float64, strict=False) for column in others]
    return [column.name for column in numbers if column.count()]


def _unfolded(
    frame: pl.DataFrame,
    where: str,
    values: Sequence[str],
    variable: str,
    advice: str | None = None,
) -> pl.DataFrame:
    """Return a row for each query and each column of values, whose name is in the column ``variable``."""
    refuse_copies(frame.columns, where, ", ".join(frame.columns), lambda _: True)
    rows = frame.drop(values)
    copies = rows.filter(rows.is_duplicated())
    if copies.height:
        raise DuplicateRows(
            f"{printable(copies['query_id'][0])} is twice in the first column",
            where=where,
            expected="query ids in the first column, "
            f"and a column of scores for each {variable}",
            fix="add a column of query ids in front",
        )
    try:
        scores = [_scores(frame[name], where) for name in values]
    except BadValue as error:
        flat = frame.select(values).select(~selectors.nested())
        for column in flat.cast(pl.Float64, strict=False):
            if column.count() and advice is not None:
                error.fix = advice.format(column.name)
                break
        raise
    unfolding = rows.with_columns(scores)
    return unfolding.unpivot(values, index=rows.columns, variable_name=variable)


def name_texts(column: pl.Series, where: str) -> pl.Series:
    """Return texts, one in every row."""
    if column.dtype.is_nested():
        raise BadValue(
            f"the column {column.name} holds {words_of_type(column.dtype)}",
            where=where,
            expected="texts",
        )
    if column.null_count():
        raise BadValue(
            f"a row without {column.name}",
            where=f"{where}, row {first_true(column.is_null()) + 1}",
            expected="a text in every row",
        )
    return column.cast(pl.String)


def holes(column: pl.Series) -> pl.Series:
    """Return which texts stand for no score: a dash, N/A."""
    words = column.str.strip_chars().str.to_lowercase()
    return words.is_in(_HOLES.split())


def _scores(column: pl.Series, where: str) -> pl.Series:
    """Return scores; where a text says so there is none."""
    if column.dtype == pl.String:
        column = column.set(holes(column), None)
    return score_numbers(column, where)


def score_numbers(column: pl.Series, where: str) -> pl.Series:
    """Return numbers; null, an empty text and NaN mean no value."""
    numbers = numbers_in(column, lambda row: f"{where}, row {row + 1}")
    beyond = (numbers.abs() > LARGEST).fill_null(value=False)
    if beyond.any():
        index = first_true(beyond)
        raise BadValue(
            f"the {printable(column.name, 40)} {numbers[index]:g} is out of range",
            where=f"{where}, row {index + 1}",
            expected=f"numbers up to {LARGEST:g}",
        )
    return numbers


def _query_scores(run: str, scores: Mapping[Any, Any]) -> pl.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for query, values in scores.items():
        for measure, value in values.items():
            number = None if value is None else float(value)
            rows.append((run, str(query), str(measure), number, 1.0))
    frame = pl.DataFrame(rows, SCHEMA, orient="row")
    return frame.with_columns(pl.col("value").fill_nan(None))


def _printed(name: str, text: str, where: str) -> pl.DataFrame:
    """Read what ``trec_eval -q`` printed: lines of a measure, a query and a value."""
    rows: list[tuple[str, str, float]] = []
    for number, fields in _lines(text):
        if len(fields) != _FIELDS:
            raise BadLine(
                "this is not a line of trec_eval -q",
                where=f"{where}:{number}",
                given=printable(" ".join(fields), 60),
                expected="measure, query, value",
                fix="a table with names of columns ends in .csv, .tsv, .jsonl or .parquet",
            )
        measure, query, value = fields
        if query == "all":
            continue
        try:
            rows.append((query, measure, float(value)))
        except ValueError:
            continue  # runid, and what else is a text
    if not rows:
        raise EmptyInput(
            "there are no scores of single queries",
            where=where,
            fix="trec_eval -q prints them",
        )

    columns = {column: SCHEMA[column] for column in ("query_id", "measure", "value")}
    frame = pl.DataFrame(rows, columns, orient="row")
    scores = frame.with_columns(
        pl.col("value").fill_nan(None), run=pl.lit(name), weight=pl.lit(1.0)
    )
    return scores.select(list(SCHEMA))


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if fields := line.split():
            yield number, fields


def _refuse_twice(frame: pl.DataFrame, *, wide: bool) -> None:
    keys = ["run", "query_id", "measure"]
    twice = frame.filter(frame.select(keys).is_duplicated())
    if twice.height:
        run, query, measure = twice.select(keys).row(0)
        fix = "name each table: name=FILE"
        if wide:
            fix = _IF_MEASURES.format(run)
        raise DuplicateRows(
            f"{printable(run)} has two values of {printable(measure)} for query {printable(query)}",
            expected="one value for each system, query and measure",
            fix=fix,
        )


#: aggregations under which differences of queries can be compared
MEANS: Final = ("mean", "weighted")


class Source(Record):
    """Scores per query, from an evaluation or saved.

    Attributes
    ----------
    runs, measures
        Runs in order; measure → which direction is better.
    tables
        Run and measure → ``query_id``, ``value``, ``weight``.
    judged
        The name of Judged@k, and run → ``query_id``, ``value``; ``None`` if unknown.
    relevant_alone
        True if only relevant documents are judged, so that Judged@k is P@k.
    grouped
        Measures of sessions, not of queries.
    spans
        Measure → its lowest and highest value, ``None`` where there is no bound.
    """

    runs: tuple[str, ...]
    measures: dict[str, str]
    tables: dict[tuple[str, str], pl.DataFrame]
    judged: tuple[str, dict[str, pl.DataFrame]] | None
    grouped: frozenset[str]
    audit: Audit | None
    conventions: Mapping[str, Any]
    inputs: Mapping[str, Any]
    spans: Mapping[str, Span]
    relevant_alone: bool = False

    @classmethod
    def of(cls, scores: Scores, measures: Sequence[Measure]) -> Source:
        """Return the scores of an evaluation."""
        check_means(measures)
        grouped = frozenset(
            str(measure) for measure in measures if measure.unit is not None
        )
        frame = _rows_of(scores).filter(~pl.col("measure").is_in(list(grouped)))
        tables = tables_of(frame)
        if grouped:
            units = scores.per_unit.rename({"unit": "query_id"}).with_columns(
                weight=pl.lit(1.0)
            )
            tables |= tables_of(units)
        return cls(
            tuple(scores.runs),
            {str(measure): measure.card.direction for measure in measures},
            tables,
            judged_scores(scores),
            grouped,
            scores.audit,
            scores.conventions,
            scores.inputs,
            {str(measure): measure.span for measure in measures},
        )

    @classmethod
    def saved(
        cls, source: object, measures: object, columns: Columns | None = None
    ) -> Source:
        """Read saved scores; ``columns`` carry the CSV options."""
        notes: dict[str, tuple[str, ...]] = {}
        if isinstance(measures, (str, Named)):
            texts = [str(measures)]
        else:
            texts = [*map(str, measures or ())]  # type: ignore[call-overload]
        words = " ".join(texts).split()
        asked = [*dict.fromkeys([*texts, *words])]
        settings: dict[str, Mapping[str, Any]] = {}
        frame, sources = read_scores(source, columns, notes, asked, settings)
        conventions = {}
        differing = differing_settings(settings)
        if differing:
            conventions["differing"] = differing
        known = {
            text: fact_of(text, "direction", "higher")
            for text in frame["measure"].unique(maintain_order=True)
        }
        if measures is None:
            better_ways = {k: way for k, way in known.items() if way != "neither"}
            chosen = better_ways or known
        else:
            names = requested_measures(measures, tuple(known))
            chosen = {name: known[name] for name in names}
        runs = tuple(frame["run"].unique(maintain_order=True))
        inputs = {"scores": sources}
        spans = {text: fact_of(text, "span", (None, None)) for text in chosen}
        audit = Audit(None, scores=notes) if notes else None
        return cls(
            runs,
            chosen,
            tables_of(frame),
            judged_scores(frame),
            frozenset(),
            audit,
            conventions,
            inputs,
            spans,
        )


def check_means(measures: Sequence[Measure]) -> None:
    """Refuse measures that are not averaged over queries."""
    for measure in measures:
        if measure.agg not in MEANS:
            raise BadOption(
                f"{measure}: agg={measure.agg} is not a mean, so differences cannot be tested query by query",
                fix="use agg=mean or agg=weighted",
            )


def tables_of(frame: pl.DataFrame) -> dict[tuple[str, str], pl.DataFrame]:
    """Return the scores by run and measure."""
    rows = frame.select("run", "measure", "query_id", "value", "weight")
    parts = rows.partition_by(
        "run", "measure", as_dict=True, include_key=False, maintain_order=True
    )

    tables = {}
    for (run, measure), part in parts.items():
        tables[str(run), str(measure)] = part
    return tables
