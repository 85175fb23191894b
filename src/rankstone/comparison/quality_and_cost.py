"""Quality and cost: the means of both, percentiles of cost, and systems that another one dominates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.comparison.verdict import TURNED
from rankstone.errors import printable
from rankstone.stats.proportions import quantile_interval
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankstone._basics import Floats
    from rankstone.comparison.compared_systems import ComparedRuns


_SHARES: Final = {"p50": 0.5, "p95": 0.95}


def costs_of(measures: tuple[str, ...], primary: str) -> list[str]:
    """Return the measures of cost that a primary measure of quality can be held against."""
    if primary.startswith("Cost("):
        return []
    return [one for one in measures if one.startswith("Cost(")]


def quality_and_cost(found: ComparedRuns) -> pl.DataFrame:
    """Return the first primary measure of each system and its costs, the best system first.

    Returns
    -------
    polars.DataFrame
        ``system``, ``quality``, ``cost`` (the measure), ``mean``, ``p50``, ``p95`` and the ends of their
        intervals, ``p50_low``, ``p50_high`` and so on, null where the data are too few or in clusters;
        ``dominated_by``: systems that are no worse and no dearer, and better in one of both, by their means;
        ``clearly``: True if one of them is clearly better or cheaper, and in nothing worse.
    """
    measure = found.primary[0]
    quality = found.mean().filter(measure=measure).select("system", quality="mean")
    sign = found.matrices[measure].sign
    rows = []
    verdicts = {
        (row["measure"], *pair): row["verdict"]
        if turned == 1
        else TURNED.get(row["verdict"], row["verdict"])
        for row in found.table.iter_rows(named=True)
        for turned, pair in (
            (1, (row["system"], row["versus"])),
            (-1, (row["versus"], row["system"])),
        )
    }
    for cost in costs_of(found.measures, measure):
        matrix = found.matrices[cost]
        worth = dict(quality.iter_rows())
        mean = dict(zip(matrix.systems, matrix.units.mean.tolist(), strict=True))
        for at, system in enumerate(matrix.systems):
            over = [
                other
                for other in matrix.systems
                if sign * worth[other] >= sign * worth[system]
                and mean[other] <= mean[system]
                if worth[other] != worth[system] or mean[other] != mean[system]
            ]
            clear = any(
                _clearly(
                    {verdicts.get((name, one, system)) for name in (measure, cost)}
                )
                for one in over
            )
            alone = len(matrix.units) == len(matrix)
            row = {
                "system": system,
                "quality": worth[system],
                "cost": cost,
                "mean": mean[system],
            }
            row |= _percentiles(
                matrix.values[:, at], found.settings.confidence, known=alone
            )
            rows.append({**row, "dominated_by": over, "clearly": clear})
    ends = [f"{name}{end}" for name in _SHARES for end in ("", "_low", "_high")]
    kinds: dict[str, Any] = {
        "system": pl.String,
        "quality": pl.Float64,
        "cost": pl.String,
    }
    kinds |= dict.fromkeys(("mean", *ends), pl.Float64)
    frame = pl.DataFrame(
        rows, {**kinds, "dominated_by": pl.List(pl.String), "clearly": pl.Boolean}
    )
    return frame.sort(pl.col("quality") * -sign, maintain_order=True).sort(
        "cost", maintain_order=True
    )


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


def tradeoff_tables(
    found: ComparedRuns, say: Callable[..., str], digits: int
) -> list[Table]:
    """Return a table of quality and cost for each measure of cost, for people to read."""
    tables = []
    for (cost,), rows in quality_and_cost(found).group_by("cost", maintain_order=True):
        body = []
        for row in rows.iter_rows(named=True):
            over = ", ".join(printable(one, 60) for one in row["dominated_by"])
            over += f" ({say('clearly')})" if row["clearly"] else ""
            spread = (f"{row[name]:.4g} {ends_of(row, name)}" for name in _SHARES)
            means = f"{row['quality']:.{digits}f}", f"{row['mean']:.4g}"
            body.append((printable(row["system"], 300), *means, *spread, over))
        head = (
            say("system"),
            found.label(found.primary[0]),
            say("mean"),
            *_SHARES,
            say("dominated_by"),
        )
        title = say("tradeoff", cost=printable(found.label(str(cost)), 60))
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
    return (
        f"[{0 if low is None else low:.4g}, {'∞' if high is None else f'{high:.4g}'}]"
    )
