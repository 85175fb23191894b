"""Tables of means: one row for each run, and rows below it for means over fewer queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.errors import printable
from rankstone.tables.results import HasMeans
from rankstone.tables.sheet import Sheet, Table, cell, conventions_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from rankstone.tables.results import Averaged


#: with more than this share of queries without a relevant document, the mean without them is shown, too
_MANY_EMPTY = 0.01

Row = tuple[str, ...]


class RunMeans(HasMeans):
    """A result that is shown with one row of means for each run."""

    def sheet(
        self: Averaged,
        digits: int = 4,
        by: Sequence[str] = (),
        intervals: pl.DataFrame | None = None,
        about: Sequence[str] = (),
    ) -> Sheet:
        """Return the means as a sheet; see :func:`rankstone.evaluation.score_tables.of_runs`."""
        return of_runs(self, digits, by, intervals, about)

    def has(self: Averaged, status: str) -> bool:
        """Return True if any query has the given status for any measure."""
        return any(self.share_of(run, status) for run in self.audit.runs)


def of_runs(
    scores: Averaged,
    digits: int = 4,
    by: Sequence[str] = (),
    intervals: pl.DataFrame | None = None,
    about: Sequence[str] = (),
) -> Sheet:
    """Return means as a sheet: one row for each run, one column for each measure.

    Parameters
    ----------
    scores
        The scores.
    digits
        Decimals.
    by
        Columns of the query table: one row for each segment below its run.
    intervals
        ``run``, ``measure``, ``low``, ``high``, shown after the means.
    about
        Notes on the intervals.
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
        frame = scores.mean(without=without).filter(run=run)
        values = dict(zip(frame["measure"], frame["value"], strict=True))
        return [cell(values[name], digits=digits) for name in names]

    ends = {} if intervals is None else _ends(intervals.filter(run=run), digits)
    yield printable(run), *(f"{mean}{ends.get(name, '')}" for name, mean in zip(names, means(), strict=True))
    alignment, audit = scores.conventions["alignment"], scores.audit.runs[run]
    if audit.missing and alignment["missing"] == "zero":
        yield f"  … {audit.queries} answered queries", *means(("missing",))
    if alignment["empty"] in ("zero", "one") and scores.share_of(run, "no_relevant") > _MANY_EMPTY:
        yield "  … queries with a relevant document", *means(("no_relevant",))
    if by:
        frame = scores.mean(by=by).filter(run=run)
        for segment in frame.partition_by(list(by), maintain_order=True):
            what = ", ".join(f"{printable(name)}={cell(segment[name][0], 'run')}" for name in by)
            values = (cell(value, digits=digits) for value in segment["value"])
            yield f"  {what} ({segment['n'].max()!s})", *values


def _ends(intervals: pl.DataFrame, digits: int) -> dict[str, str]:
    """Return measure → its interval as text, with a blank in front."""
    rows = intervals.drop_nulls("low").select("measure", "low", "high").iter_rows()
    return {name: f" [{cell(low, digits=digits)}, {cell(high, digits=digits)}]" for name, low, high in rows}


def of_measures(
    scores: Averaged,
    runs: Sequence[str],
    digits: int,
    groups: Mapping[str, tuple[pl.DataFrame, pl.DataFrame]],
) -> Sheet:
    """Return means as a sheet: one row for each measure, groups of users below it, one column for each run.

    Parameters
    ----------
    scores, digits
        As for :func:`of_runs`.
    runs
        Their names.
    groups
        Column of the user table → means by it, and the largest gaps between its groups.
    """
    values = {(run, measure): value for run, measure, value, *_ in scores.mean().iter_rows()}
    rows: list[Row] = []

    def add(name: str, by_run: Mapping[str, float | None]) -> None:
        rows.append((name, *(cell(by_run.get(run), digits=digits) for run in runs)))

    for measure in map(str, scores.measures):
        add(measure, {run: values[run, measure] for run in runs})
        for column, (means, gaps) in groups.items():
            by_group: dict[object, dict[str, float | None]] = {}
            for run, group, what, value, *_ in means.iter_rows():
                if what == measure:
                    by_group.setdefault(group, {})[run] = value
            for group, by_run in by_group.items():
                add(f"  {printable(column)}={'–' if group is None else printable(group)}", by_run)
            if by_group:
                largest = {run: gap for run, what, _, gap, *_ in gaps.iter_rows() if what == measure}
                add("  largest gap", largest)
    table = Table("", ("measure", *map(printable, runs)), tuple(rows), ("id", *(True for _ in runs)))
    notes = (*scores.audit.lines(), *conventions_lines(scores.conventions))
    return Sheet("", parts=(table,), notes=notes)
