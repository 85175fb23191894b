"""Means as tables: a row a run, rows below it for other means that a reader should know of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rankstone.errors import printable
from rankstone.tables.results import conventions_lines
from rankstone.tables.sheet import Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from rankstone.hits.alignment_audit import Audit


#: from this share of queries without a relevant document on, the mean without them is shown, too
_MANY_EMPTY = 0.01

Row = tuple[str, ...]


class Averaged(Protocol):
    """Scores of runs, wherever the scores of queries are; see :class:`rankstone.Scores`."""

    @property
    def measures(self) -> Sequence[Any]:
        """The measures, in the order asked for."""

    @property
    def audit(self) -> Audit:
        """What alignment did."""

    @property
    def conventions(self) -> Mapping[str, Any]:
        """What the numbers depend on."""

    def mean(self, without: Sequence[str] = (), by: Sequence[str] = ()) -> pl.DataFrame:
        """Return one row per run and measure."""

    def share_of(self, run: str, status: str) -> float:
        """Return the share of a run's queries that have a status."""


def of_runs(
    scores: Averaged,
    digits: int = 4,
    by: Sequence[str] = (),
    intervals: pl.DataFrame | None = None,
    about: Sequence[str] = (),
) -> Sheet:
    """Return means as a sheet: a row a run, a column a measure.

    Parameters
    ----------
    scores
        What is shown.
    digits
        Decimals.
    by
        Columns of the query table: a row for each segment below its run.
    intervals
        ``run``, ``measure``, ``low``, ``high``, shown behind the means.
    about
        Lines that say how these were found.
    """
    names = [str(measure) for measure in scores.measures]
    rows = [row for run in scores.audit.runs for row in _rows(scores, run, names, digits, by, intervals)]
    table = Table("", ("run", *names), tuple(rows), ("id", *(True for _ in names)))
    notes = (*about, *scores.audit.lines(), *conventions_lines(scores.conventions))
    return Sheet("", parts=(table,), notes=notes)


def _rows(
    scores: Averaged,
    run: str,
    names: list[str],
    digits: int,
    by: Sequence[str],
    intervals: pl.DataFrame | None,
) -> Iterator[Row]:
    def means(without: tuple[str, ...] = ()) -> list[str]:
        found = scores.mean(without=without).filter(run=run)
        values = dict(zip(found["measure"], found["value"], strict=True))
        return [cell(values[name], digits=digits) for name in names]

    ends = {} if intervals is None else _ends(intervals.filter(run=run), digits)
    yield printable(run), *(f"{mean}{ends.get(name, '')}" for name, mean in zip(names, means(), strict=True))
    alignment, audit = scores.conventions["alignment"], scores.audit.runs[run]
    if audit.missing and alignment["missing"] == "zero":
        yield f"  … {audit.queries} answered queries", *means(("missing",))
    if alignment["empty"] in ("zero", "one") and scores.share_of(run, "no_relevant") > _MANY_EMPTY:
        yield "  … queries with a relevant document", *means(("no_relevant",))
    if by:
        found = scores.mean(by=by).filter(run=run)
        for segment in found.partition_by(list(by), maintain_order=True):
            what = ", ".join(f"{printable(name)}={cell(segment[name][0], 'run')}" for name in by)
            values = (cell(value, digits=digits) for value in segment["value"])
            yield f"  {what} ({segment['n'].max()!s})", *values


def _ends(intervals: pl.DataFrame, digits: int) -> dict[str, str]:
    """Return measure → its interval as text, with a blank in front."""
    found = intervals.drop_nulls("low").select("measure", "low", "high").iter_rows()
    return {name: f" [{cell(low, digits=digits)}, {cell(high, digits=digits)}]" for name, low, high in found}


def of_measures(
    scores: Averaged,
    runs: Sequence[str],
    digits: int,
    groups: Mapping[str, tuple[pl.DataFrame, pl.DataFrame]],
) -> Sheet:
    """Return means as a sheet: a row a measure, a column a run, groups of users below their measure.

    Parameters
    ----------
    scores, digits
        As for :func:`of_runs`.
    runs
        Their names.
    groups
        Column of the users → means by it, and the largest gaps between its groups.
    """
    values = {(run, measure): value for run, measure, value, *_ in scores.mean().iter_rows()}
    rows: list[Row] = []

    def add(name: str, found: Mapping[str, float | None]) -> None:
        rows.append((name, *(cell(found.get(run), digits=digits) for run in runs)))

    for measure in map(str, scores.measures):
        add(measure, {run: values[run, measure] for run in runs})
        for column, (means, gaps) in groups.items():
            of_groups: dict[object, dict[str, float | None]] = {}
            for run, group, what, value, *_ in means.iter_rows():
                if what == measure:
                    of_groups.setdefault(group, {})[run] = value
            for group, found in of_groups.items():
                add(f"  {printable(column)}={'–' if group is None else printable(group)}", found)
            if of_groups:
                apart = {run: gap for run, what, _, gap, *_ in gaps.iter_rows() if what == measure}
                add("  largest gap", apart)
    table = Table("", ("measure", *map(printable, runs)), tuple(rows), ("id", *(True for _ in runs)))
    notes = (*scores.audit.lines(), *conventions_lines(scores.conventions))
    return Sheet("", parts=(table,), notes=notes)
