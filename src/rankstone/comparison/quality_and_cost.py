"""Quality and cost: the means of both, percentiles of cost, and systems that another one dominates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import printable
from rankstone.stats.proportions import quantile_interval
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone._basics import Floats
    from rankstone.comparison.compared_systems import ComparedRuns


_SHARES: Final = {"p50": 0.5, "p95": 0.95}
_SCHEMA: Final[dict[str, Any]] = {
    "system": pl.String,
    "quality": pl.Float64,
    "cost": pl.String,
    "mean": pl.Float64,
    "p50": pl.Float64,
    "p50_low": pl.Float64,
    "p50_high": pl.Float64,
    "p95": pl.Float64,
    "p95_low": pl.Float64,
    "p95_high": pl.Float64,
    "dominated_by": pl.List(pl.String),
    "clearly": pl.Boolean,
}


def costs_of(measures: tuple[str, ...], primary: str) -> list[str]:
    """Return the measures of cost that a primary measure of quality can be held against."""
    if primary.startswith("Cost("):
        return []
    return [measure for measure in measures if measure.startswith("Cost(")]


def quality_and_cost(comparison: ComparedRuns) -> pl.DataFrame:
    """Return the first primary measure of each system and its costs, the best system first.

    Returns
    -------
    polars.DataFrame
        ``system``, ``quality``, ``cost`` (the measure), ``mean``, ``p50``, ``p95`` and the ends of their
        intervals, ``p50_low``, ``p50_high`` and so on, null where the data are too few or in clusters;
        ``dominated_by``: systems that are no worse and no dearer, and better in one of both, by their means;
        ``clearly``: True if one of them is clearly better or cheaper, and in nothing worse.
    """
    measure = comparison.primary[0]
    sign = comparison.matrices[measure].sign
    rows = []
    for cost in costs_of(comparison.measures, measure):
        matrix = comparison.matrices[cost]
        boards = {name: comparison.board(name) for name in (measure, cost)}
        worth = dict(boards[measure].rows.select("system", "mean").rows())
        mean = dict(boards[cost].rows.select("system", "mean").rows())
        verdicts = {
            (name, system, versus): verdict
            for name, board in boards.items()
            for system, versus, verdict, *_ in board.pairs.iter_rows()
        }

        for column, system in enumerate(matrix.systems):
            over = [
                other
                for other in matrix.systems
                if sign * worth[other] >= sign * worth[system]
                and mean[other] <= mean[system]
                if worth[other] != worth[system] or mean[other] != mean[system]
            ]
            clear = False
            for other in over:
                quality_verdict = verdicts.get((measure, other, system))
                cost_verdict = verdicts.get((cost, other, system))
                clear = clear or _clearly({quality_verdict, cost_verdict})

            row = {
                "system": system,
                "quality": worth[system],
                "cost": cost,
                "mean": mean[system],
                "dominated_by": over,
                "clearly": clear,
            }
            row |= _percentiles(
                matrix.values[:, column],
                comparison.settings.confidence,
                known=len(matrix.units) == len(matrix),
            )
            rows.append(row)

    frame = pl.DataFrame(rows, _SCHEMA)
    best_first = frame.sort(pl.col("quality") * -sign, maintain_order=True)
    return best_first.sort("cost", maintain_order=True)


def _clearly(verdicts: set[str | None]) -> bool:
    """Return True for clearly better in one of both, and at least equivalent in the other."""
    return "better" in verdicts and verdicts <= {"better", "identical", "equivalent"}


def _percentiles(
    values: Floats, confidence: float, *, known: bool
) -> dict[str, float | None]:
    """Return percentiles of costs and the ends of their intervals, ``None`` where these are not known."""
    row: dict[str, float | None] = {}
    for name, share in _SHARES.items():
        row[name] = float(np.quantile(values, share))
        low, high = quantile_interval(values, share, confidence)
        for end, limit in (("low", low), ("high", high)):
            finite = known and np.isfinite(limit)
            row[f"{name}_{end}"] = limit if finite else None
    return row


def tradeoff_tables(comparison: ComparedRuns, digits: int) -> list[Table]:
    """Return a table of quality and cost for each measure of cost, for people to read."""
    say = comparison.say
    tables = []
    by_cost = quality_and_cost(comparison).group_by("cost", maintain_order=True)
    for (cost,), rows in by_cost:
        body = []
        for row in rows.iter_rows(named=True):
            over = ", ".join(printable(system, 60) for system in row["dominated_by"])
            if row["clearly"]:
                over += f" ({say('clearly')})"
            spread = (f"{row[name]:.4g} {ends_of(row, name)}" for name in _SHARES)
            means = f"{row['quality']:.{digits}f}", f"{row['mean']:.4g}"
            body.append((printable(row["system"], 300), *means, *spread, over))
        head = (
            say("system"),
            comparison.label(comparison.primary[0]),
            say("mean"),
            *_SHARES,
            say("dominated_by"),
        )
        title = say("tradeoff", cost=printable(comparison.label(str(cost)), 60))
        tables.append(
            Table(title, head, tuple(body), (False, True, True, True, True, False))
        )
    return tables


def ends_of(row: Mapping[str, Any], name: str) -> str:
    """Return the interval of a percentile as text."""
    low = row[f"{name}_low"]
    high = row[f"{name}_high"]
    if low is None and high is None:
        return "[–]"
    upper = "∞"
    if high is not None:
        upper = f"{high:.4g}"
    return f"[{low or 0:.4g}, {upper}]"
