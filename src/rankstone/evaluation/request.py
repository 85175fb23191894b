"""What is asked for: measures and options that go together, and every choice a number depends on.

Runs by name, whether somebody hands over one, several, or a long table of many.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from rankstone.errors import BadOption, BadParameter, BadRuns, InputError, UsageError, one_of, printable
from rankstone.hits.alignment_options import AlignmentKeywords, AlignmentOptions
from rankstone.io import read_runs
from rankstone.io.file_formats import stem
from rankstone.io.json_objects import is_quepid
from rankstone.io.python_rows import holds_columns, holds_rows, is_column
from rankstone.io.sources import display_name
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from rankstone.io.input_table import Table


class ArrowTable(Protocol):
    """A table that hands over its columns in Arrow's format: of pandas, PyArrow, DuckDB, Polars."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as a stream of Arrow batches."""


_Path: TypeAlias = "str | os.PathLike[str]"
#: a path or address, a frame, a dict by query or of columns, rows, arrays: see :func:`rankstone.evaluate`
TableLike: TypeAlias = "_Path | Mapping[Any, object] | Iterable[object] | ArrowTable | pl.LazyFrame | Table"
#: judgments: a grade for pairs of query and document
QrelsLike: TypeAlias = TableLike
#: a run: scores, ranks or an order of documents for queries
RunLike: TypeAlias = TableLike
#: one run, or several by name: ``{name: run}``, a list of paths
RunsLike: TypeAlias = TableLike
#: ``"nDCG@10 AP"``, a measure, or several of either
MeasuresLike: TypeAlias = str | Measure | Sequence[str | Measure]


class EvaluationKeywords(AlignmentKeywords, total=False):
    """What verbs that score runs against judgments take by keyword; see :func:`rankstone.evaluate`."""

    columns: Mapping[str, str] | None
    exclude: RunLike | None
    collapse: str | Mapping[str, str] | None
    queries: TableLike | None
    intents: TableLike | None
    one_group: bool
    format_in: str | None
    csv_separator: str | None
    decimal: str | None


def of_rankings(measures: MeasuresLike) -> tuple[Measure, ...]:
    """Read measures, and refuse those that look at something else than judgments and a run."""
    return parse_only((Measure,), measures, "is not a measure of a run against judgments")


def columns_read(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return the columns of the judgments that measures read beside the grade."""
    columns = [name for measure in measures for name in measure.judgment_columns]
    if any("groups" in measure.brings for measure in measures):
        columns.append("subtopic")
    return tuple(dict.fromkeys(columns))


def refuse_further(measures: Sequence[Measure]) -> None:
    """Refuse measures that read more of the judgments than a grade."""
    for measure in measures:
        if columns_read([measure]) or "pool" in measure.brings:
            raise BadParameter(
                f"{measure} needs judgments in a table of their own", fix="use evaluate(qrels, run, …)"
            )


def checked(options: Mapping[str, Any], measures: Sequence[Measure]) -> AlignmentOptions:
    """Return the options of alignment, or refuse those under which a measure has no value."""
    _refuse_parameters(options, measures)
    alignment = AlignmentOptions.of(options)
    check(alignment, measures)
    return alignment


def check(alignment: AlignmentOptions, measures: Sequence[Measure]) -> None:
    """Refuse options under which a measure has no value."""
    for measure in measures:
        measure.check(alignment.ties, alignment.depth, alignment.negative)
        measure.check_needs(alignment)
        if alignment.pool == "list" and measure.brings & {"pool", "groups"}:
            raise BadOption(
                f"{measure} looks at all judged documents, and pool=list hides those outside the list",
                fix="leave pool or the measure out",
            )


#: what other tools have options for → the parameter of measures here; ``k`` is the cutoff
_INSIDE: Final = {
    **dict.fromkeys(("rel", "level", "threshold", "relevance_level", "min_rel"), "rel"),
    **dict.fromkeys(("k", "cutoff", "at", "topk", "top_k"), "k"),
    **dict.fromkeys(("gain", "gains"), "gain"),
}


def _refuse_parameters(options: Mapping[str, Any], measures: Sequence[Measure]) -> None:
    """Refuse options that are parameters of measures, and say where they go."""
    known = AlignmentOptions().as_dict()
    for option, value in options.items():
        name = _INSIDE.get(option, option)
        for measure in measures if option not in known else ():
            text = _with(measure, name, value)
            if text is not None:
                raise BadOption(
                    f"{option} belongs to a measure, it is no option of alignment",
                    given=f"{option}={printable(value)}",
                    fix=f"write it in the measure's name: {printable(text)!r}",
                )


def _with(measure: Measure, name: str, value: object) -> str | None:
    """Return the text of a measure with one more parameter, or nothing where it has none of that name."""
    head, _, cutoff = str(measure).partition("@")
    if name == "k":
        return f"{head}@{value}" if measure.takes_cutoff else None
    if name in measure.changed() or all(field.name != name for field in fields(measure)):
        return None
    inside = f"{head[:-1]}, {name}={value})" if head.endswith(")") else f"{head}({name}={value})"
    return f"{inside}@{cutoff}" if cutoff else inside


def choices(options: AlignmentOptions, measures: Sequence[Measure], *, one_group: bool) -> dict[str, Any]:
    """Return every choice the numbers depend on: options, and the parameters each measure has."""
    defaults = {name: value for measure in measures for name, value in measure.default_parameters().items()}
    alignment = options.recorded() | ({"one_group": True} if one_group else {})
    return {"alignment": alignment, "measures": [str(m) for m in measures], "defaults": defaults}


def name_runs(runs: object) -> dict[str, object]:
    """Return runs by name; a single run is called ``run``, a file by its name.

    >>> name_runs(["runs/bm25.run.gz", "runs/dense.parquet"])
    {'bm25': 'runs/bm25.run.gz', 'dense': 'runs/dense.parquet'}
    """
    one = holds_columns(runs) or is_quepid(runs)
    if isinstance(runs, Mapping) and runs and not one and all(map(_is_run, runs.values())):
        return {str(name): run for name, run in runs.items()}
    if isinstance(runs, (list, tuple)) and runs and all(isinstance(r, (str, os.PathLike)) for r in runs):
        names = [stem(run) for run in runs]
        if len(set(names)) < len(names):
            names = [display_name(run) for run in runs]
        if len(set(names)) < len(names):
            raise UsageError("the same run is named twice", given=", ".join(map(printable, names)))
        return dict(zip(names, runs, strict=True))
    if isinstance(runs, (str, os.PathLike)):
        return {stem(runs): runs}
    return {"run": runs}


def split_runs(
    tables: Mapping[str, object],
    run_column: str,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
) -> dict[str, object]:
    """Return the runs of long tables by the names that ``run_column`` gives them."""
    found: dict[str, object] = {}
    for table in tables.values():
        runs = read_runs(table, run_column, columns, format_in, order=order)
        for name in runs.keys() & found.keys():
            raise UsageError(f"two tables have a run {printable(name)}", fix="one table of each run")
        found |= runs
    return found


class RunErrors:
    """What is wrong with some of several runs: all are looked at before anything is refused.

    Parameters
    ----------
    on_bad_run
        ``stop`` refuses them together, ``skip`` leaves them out; ``None`` stops where nobody can choose.

    Attributes
    ----------
    found
        Run name → its error.
    """

    def __init__(self, on_bad_run: str | None) -> None:
        if on_bad_run is not None:
            one_of("on_bad_run", on_bad_run, ("stop", "skip"))
        self._on_bad_run = on_bad_run
        self._shared: InputError | None = None
        self.found: dict[str, InputError] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Keep the error that a run meets."""
        try:
            yield
        except InputError as error:
            if error is self._shared:
                raise
            self.found[name] = error

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Let errors pass, inside :meth:`of`, that are not about the run: all runs would meet them."""
        try:
            yield
        except InputError as error:
            self._shared = error
            raise

    def settle(self, total: int) -> None:
        """Refuse bad runs, unless they are to be left out and others of the ``total`` remain."""
        if not self.found or (self._on_bad_run == "skip" and len(self.found) < total):
            return
        if len(self.found) == 1:
            raise next(iter(self.found.values()))
        can_skip = self._on_bad_run is not None and len(self.found) < total
        fix = "on_bad_run=skip leaves them out and scores the others" if can_skip else None
        raise BadRuns(self.found, total, fix)


def _is_run(value: object) -> bool:
    """Tell ``{name: run}`` from a run that is itself a dict: of queries, or of columns."""
    if isinstance(value, Mapping):
        if holds_columns(value):
            return True
        return bool(value) and all(isinstance(v, Mapping) or is_column(v) for v in value.values())
    triple = isinstance(value, tuple) and len(value) == 3  # noqa: PLR2004 - queries, documents, numbers
    return triple or holds_rows(value) or not (is_column(value) or isinstance(value, (int, float)))
