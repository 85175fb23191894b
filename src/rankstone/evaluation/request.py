"""The parts of a request: measures and options that go together, runs by name, side tables.

Side tables are about queries, intents, and pairs to exclude.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np
import polars as pl

from rankstone._basics import is_path
from rankstone.errors import (
    BadOption,
    BadParameter,
    BadRuns,
    InputError,
    UsageError,
    one_of,
    printable,
)
from rankstone.hits.alignment_options import AlignmentKeywords, AlignmentOptions
from rankstone.hits.budgets import REPEATED
from rankstone.hits.grouped_judgments import Intents
from rankstone.hits.judged_pool import QueryTable
from rankstone.hits.side_table_audit import SideTableAudit
from rankstone.io import (
    advise_on_others,
    read_attributes,
    read_intents,
    read_judgments,
    read_run,
    read_runs,
)
from rankstone.io.file_formats import stem
from rankstone.io.input_table import Table
from rankstone.io.python_rows import holds_columns, holds_rows, is_column
from rankstone.io.shapes import candidates
from rankstone.io.sources import display_name
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Columns, NamedValues, Names, StrPath
    from rankstone.measures.core.definition import Named
    from rankstone.measures.core.measure import Measures


class ArrowTable(Protocol):
    """A table that hands over its columns in Arrow's format: of pandas, PyArrow, DuckDB, Polars."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as a stream of Arrow batches."""


#: a path or address, a frame, a dict by query or of columns, rows, arrays: see :func:`rankstone.evaluate`
TableLike: TypeAlias = "StrPath | Mapping[Any, object] | Iterable[object] | ArrowTable | pl.LazyFrame | Table"
#: judgments: a grade for pairs of query and document
QrelsLike: TypeAlias = TableLike
#: a run: scores, ranks or an order of documents for queries
RunLike: TypeAlias = TableLike
#: one run, or several by name: ``{name: run}``, a list of paths
RunsLike: TypeAlias = TableLike
#: ``"nDCG@10 AP"``, a measure, or several of either
MeasuresLike: TypeAlias = str | Measure | Sequence[str | Measure]


class EvaluationKeywords(AlignmentKeywords, total=False):
    """Keyword arguments for scoring runs against judgments; see :func:`rankstone.evaluate`."""

    columns: Columns | None
    exclude: RunLike | None
    unit: str | Mapping[str, str] | None
    same_as: TableLike | None
    documents: TableLike | None
    corpus: TableLike | None
    queries: TableLike | None
    split: str | None
    intents: TableLike | None
    one_group: bool
    format_in: str | None
    csv_separator: str | None
    decimal: str | None
    all_relevant: bool


def of_rankings(measures: MeasuresLike) -> tuple[Measure, ...]:
    """Parse measures, and refuse those that need more than judgments and a run."""
    return parse_only(
        (Measure,), measures, "is not a measure of a run against judgments"
    )


def columns_read(measures: Measures) -> Names:
    """Return the columns of the judgments that measures read besides the grade."""
    extras = {extra for measure in measures for extra in measure.requires}
    columns = [name for measure in measures for name in measure.judgment_columns]
    columns += [name for extra in extras for name in extra.judgment_columns]
    return tuple(dict.fromkeys(columns))


def run_columns_read(measures: Measures) -> Names:
    """Return the columns of a run that measures read besides ids, scores and ranks."""
    columns = [budget.column for measure in measures for budget in measure.budgets]
    for measure in measures:
        columns += [name.removeprefix(REPEATED) for name in measure.costs]
        columns += [name for extra in measure.requires for name in extra.run_columns]
    return tuple(dict.fromkeys(columns))


def _reads_pool(measure: Measure) -> bool:
    return any(extra.reads_pool for extra in measure.requires)


def refuse_further_columns(measures: Measures) -> None:
    """Refuse measures that read more of the judgments than the grade."""
    for measure in measures:
        if columns_read([measure]) or _reads_pool(measure):
            raise BadParameter(
                f"{measure} needs a separate table of judgments",
                fix="use evaluate(qrels, run, …)",
            )


def checked(options: Mapping[str, Any], measures: Measures) -> AlignmentOptions:
    """Return the alignment options; refuse those under which a measure has no value."""
    _refuse_parameters(options, measures)
    alignment = AlignmentOptions.of(options)
    check(alignment, measures)
    return alignment


def check(alignment: AlignmentOptions, measures: Measures) -> None:
    """Refuse options under which a measure has no value."""
    for extra in {extra for measure in measures for extra in measure.requires}:
        extra.refuse(alignment, measures)
    for measure in measures:
        measure.check(alignment.ties, alignment.depth, alignment.negative)
        measure.check_needs(alignment)
        if alignment.pool == "list" and _reads_pool(measure):
            raise BadOption(
                f"{measure} reads all judged documents, but pool=list hides those outside the list",
                fix="remove pool or the measure",
            )


#: options of other tools → the parameter of measures here; ``k`` is the cutoff
_MEASURE_PARAMETERS: Final = {
    **dict.fromkeys(("rel", "level", "threshold", "relevance_level", "min_rel"), "rel"),
    **dict.fromkeys(("k", "cutoff", "at", "topk", "top_k"), "k"),
    **dict.fromkeys(("gain", "gains"), "gain"),
}


def _refuse_parameters(options: Mapping[str, Any], measures: Measures) -> None:
    """Refuse options that are parameters of measures, with the measure's name to write instead."""
    known = AlignmentOptions().as_dict()
    for option, value in options.items():
        if option in known:
            continue
        name = _MEASURE_PARAMETERS.get(option, option)
        for measure in measures:
            text = _with(measure, name, value)
            if text is not None:
                raise BadOption(
                    f"{option} is a parameter of measures, not an alignment option",
                    given=f"{option}={printable(value)}",
                    fix=f"write it in the measure's name: {printable(text)!r}",
                )


def _with(measure: Measure, name: str, value: object) -> str | None:
    """Return a measure's name with one more parameter.

    ``None`` where it has no parameter of that name, or has a value for it already.
    """
    head, _, cutoff = str(measure).partition("@")
    if name == "k":
        if measure.takes_cutoff:
            return f"{head}@{value}"
        return None
    parameters = {field.name for field in fields(measure)}
    if name not in parameters or name in measure.changed():
        return None
    text = f"{head}({name}={value})"
    if head.endswith(")"):
        text = f"{head[:-1]}, {name}={value})"
    if cutoff:
        text += f"@{cutoff}"
    return text


def choices(
    options: AlignmentOptions,
    measures: Measures,
    *,
    one_group: bool = False,
    further: Mapping[str, str] = MappingProxyType({}),
) -> NamedValues:
    """Return every choice the numbers depend on: options, and the default parameters of measures.

    ``further`` are options of side inputs.
    ``changed`` names the options that are not at their default, with the default.
    """
    alignment = options.recorded()
    if one_group:
        alignment["one_group"] = True
    alignment |= further
    standard = AlignmentOptions().as_dict()
    changed = {
        name: standard.get(name)
        for name, value in alignment.items()
        if value != standard.get(name)
    }
    made = recorded_choices(alignment, measures)
    if changed:
        made["changed"] = changed
    return made


def recorded_choices(
    alignment: Mapping[str, Any], measures: Sequence[Named]
) -> NamedValues:
    """Return options as given, measures, and the parameters that these have by default."""
    defaults: NamedValues = {}
    for measure in measures:
        defaults |= measure.default_parameters()
    return {
        "alignment": alignment,
        "measures": [str(measure) for measure in measures],
        "defaults": defaults,
    }


def name_runs(runs: object) -> dict[str, object]:
    """Return runs by name; a single run is called ``run``, a file by its name.

    >>> name_runs(["runs/bm25.run.gz", "runs/dense.parquet"])
    {'bm25': 'runs/bm25.run.gz', 'dense': 'runs/dense.parquet'}
    """
    if is_path(runs):
        return {stem(runs): runs}
    if (
        isinstance(runs, Mapping)
        and runs
        and (_are_paths(runs.values()) or _are_runs(runs))
    ):
        return {str(name): run for name, run in runs.items()}
    if isinstance(runs, (list, tuple)) and runs and _are_paths(runs):
        names = [stem(run) for run in runs]
        if len(set(names)) < len(names):
            names = [display_name(run) for run in runs]
        if len(set(names)) < len(names):
            raise UsageError(
                "the same run is given twice", given=", ".join(map(printable, names))
            )
        return dict(zip(names, runs, strict=True))
    return {"run": runs}


def is_unnamed(runs: object) -> bool:
    """Return True for one run that is given as it is, without a name.

    >>> is_unnamed("bm25.run"), is_unnamed({"bm25": "bm25.run"}), is_unnamed({"q1": ["d1"]})
    (True, False, True)
    """
    first = next(iter(name_runs(runs).values()))
    return first is runs


def split_runs(
    tables: Mapping[str, object],
    run_column: str,
    columns: Columns | None,
    options: Mapping[str, Any],
) -> dict[str, object]:
    """Return the runs of long tables by the names that ``run_column`` gives them; ``options`` as for one run."""
    format_in = options.get("format_in")
    order = options.get("order", "score")
    runs: dict[str, object] = {}
    for table in tables.values():
        further = read_runs(table, run_column, columns, format_in, order=order)
        for name in further.keys() & runs.keys():
            raise UsageError(
                f"two tables have a run {printable(name)}", fix="one table for each run"
            )
        runs |= further
    return runs


@contextmanager
def advising(qrels: object, runs: object) -> Iterator[None]:
    """Extend the advice on judgments or on a run to what the others need, which are read alike."""
    try:
        yield
    except InputError as error:
        listed = [] if runs is None else [*name_runs(runs).values()]
        readers: list[Any] = [read_judgments, *[read_run] * len(listed)]
        advise_on_others(error, zip(readers, [qrels, *listed], strict=True))
        raise


class RunErrors:
    """Collects the errors of several runs: all runs are tried before any is refused.

    Parameters
    ----------
    on_bad_run
        ``stop`` refuses them together, ``skip`` leaves them out; ``None`` stops where this is not an option.

    Attributes
    ----------
    by_run
        Run name → its error.
    """

    def __init__(self, on_bad_run: str | None) -> None:
        if on_bad_run is not None:
            one_of("on_bad_run", on_bad_run, ("stop", "skip"))
        self._on_bad_run = on_bad_run
        self._shared: InputError | None = None
        self.by_run: dict[str, InputError] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Keep the error of a run."""
        try:
            yield
        except InputError as error:
            if error is self._shared:
                raise
            self.by_run[name] = error

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Inside :meth:`of`, let errors pass that are not about the run: all runs would have them."""
        try:
            yield
        except InputError as error:
            self._shared = error
            raise

    def settle(self, total: int) -> None:
        """Refuse bad runs, unless they are left out and others of the ``total`` remain."""
        if not self.by_run or (self._on_bad_run == "skip" and len(self.by_run) < total):
            return
        if len(self.by_run) == 1:
            raise next(iter(self.by_run.values()))
        can_skip = self._on_bad_run is not None and len(self.by_run) < total
        fix = None
        if can_skip:
            fix = "on_bad_run=skip leaves them out and scores the others"
        raise BadRuns(self.by_run, total, fix)


def _are_paths(values: Iterable[object]) -> bool:
    return all(is_path(value) for value in values)


def _are_runs(value: Mapping[Any, object]) -> bool:
    """Return True for ``{name: run}``; False for a run that is itself a dict: of queries, or of columns."""
    return (
        not holds_columns(value)
        and candidates("run").of_json(value, "run") is None
        and all(map(_is_run, value.values()))
    )


def _is_run(value: object) -> bool:
    """Return True for a run; False for the documents of a query, or a column."""
    if isinstance(value, Mapping):
        if holds_columns(value):
            return True
        return bool(value) and all(
            isinstance(v, Mapping) or is_column(v) for v in value.values()
        )
    if isinstance(value, tuple) and len(value) == 3:  # noqa: PLR2004 - queries, documents, numbers
        return True
    if holds_rows(value):
        return True
    return not (is_column(value) or isinstance(value, (int, float)))


def query_table(
    source: object, measures: Sequence[object], columns: Columns | None = None
) -> QueryTable | None:
    """Open the query table, and check that it has the columns that measures read.

    Parameters
    ----------
    source
        A path, a frame, ``{query: {column: value}}``, or ``None`` where there is no table.
    measures
        The measures to compute.
    columns
        {their name: our name}.
    """
    table = None
    if isinstance(source, Table):
        # attributes that judgments have of their queries
        about = source.about
        if about is not None:
            table = QueryTable.of(source.source, about)
    elif source is not None:
        read = read_attributes(source, "query_id", columns)
        rows = read.collect(*read.about())
        table = QueryTable.of(read.source, rows, read.read_as)
    require_columns(table, measures)
    return table


def require_columns(table: QueryTable | None, measures: Sequence[object]) -> None:
    """Refuse measures that read columns which the query table lacks, or invalid positions in sessions."""
    for measure in measures:
        wanted = _query_columns(measure)
        for name, reason in wanted:
            if table is None:
                raise BadParameter(
                    f"{reason} a query table with a column {name}",
                    fix="give one: --queries FILE (in Python queries={query: {column: value}})",
                )
            table.require((name,), reason)
        names = {name for name, _ in wanted}
        if table is not None and {"session", "position"} <= names:
            table.check_positions()


def _query_columns(measure: object) -> list[tuple[str, str]]:
    """Return the query-table columns that a measure reads, with the beginning of the message without one."""
    if not isinstance(measure, Measure):
        return []
    names = list(measure.query_columns)
    if measure.unit is not None:
        names.append(measure.unit)
    has_weights = type(measure).query_weights is not Measure.query_weights
    if measure.agg == "weighted" and not has_weights:
        names.append("weight")
    return [(name, f"{measure} needs") for name in names]


def check_queries(
    table: QueryTable, measures: Sequence[object], queries: pl.Series
) -> SideTableAudit:
    """Return how the query table fits the evaluated queries; refuse it where a measure lacks a value."""
    for measure in measures:
        wanted = _query_columns(measure)
        if wanted:
            names = [name for name, _ in wanted]
            _, reason = wanted[0]
            table.covers(queries, names, reason)
    rows = table.rows(queries)
    known = np.unique(rows[rows >= 0])
    return SideTableAudit(
        source=table.source,
        rows=len(table.ids),
        unknown=len(table.ids) - len(known),
        missing=int((rows < 0).sum()),
        read_as=table.read_as,
    )


def declared_queries(judged: Table, queries: QueryTable | None) -> pl.Series | None:
    """Return the ids of queries that are declared as judged, with or without a row of judgments.

    They have an empty entry in the judgments, are ``judged`` in the query table, or unanswerable.
    """
    dtype = judged.schema["query_id"]
    declared = [
        judged.unanswered,
        unanswerable_queries(judged, None),
        queries.judged() if queries else None,
    ]
    known = [
        ids.cast(dtype, strict=False).drop_nulls()
        for ids in declared
        if ids is not None
    ]
    if not known:
        return None
    return pl.concat(known)


def unanswerable_queries(judged: Table, queries: QueryTable | None) -> pl.Series | None:
    """Return the ids of queries that are declared unanswerable; ``None`` where there are none.

    The judgments must have been read.
    """
    declared = []
    if judged.unanswerable:
        declared.append(pl.Series([*judged.unanswerable], dtype=pl.String))
    in_table = None if queries is None else queries.unanswerable()
    if in_table is not None:
        declared.append(in_table.cast(pl.String))
    if not declared:
        return None
    return pl.concat(declared).unique(maintain_order=True)


def open_intents(source: object, columns: Columns | None = None) -> Intents | None:
    """Open the weights of intents; ``None`` where there are none."""
    if source is None:
        return None
    read = read_intents(source, columns)
    table = read.collect("query_id", "subtopic", "weight")
    return Intents(read.source, table, read.locate, read.read_as())


def refuse_without_pairs(exclude: object, options: AlignmentOptions) -> None:
    """Refuse ``exclude_from`` without pairs to exclude."""
    if exclude is None and options.exclude_from != "lists":
        raise BadOption(
            f"exclude_from={options.exclude_from} without pairs to exclude",
            expected="pairs of query_id and doc_id",
            fix="give them: --exclude FILE (in Python exclude=…)",
        )


def refuse_with_one_group(**tables: object) -> None:
    """Refuse tables about single queries where all lists are made one."""
    for name, table in tables.items():
        if table is not None:
            raise BadOption(
                f"{name} is about single queries or their documents, but one_group makes one list of all",
                fix=f"remove {name} or one_group",
            )
