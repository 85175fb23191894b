"""What was found in a log of propensities, and what makes its estimates doubtful."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.behaviour.clusters import skipping
from rankstone.behaviour.results import Notes
from rankstone.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from rankstone.behaviour.logs import Log
    from rankstone.behaviour.offpolicy.estimating import Weights
    from rankstone.behaviour.offpolicy.rows import Rows
    from rankstone.behaviour.rankings import Rankings

    Ints = NDArray[np.int64]

__all__ = ["notes"]

#: below so many effective rows, or so small a share of all, sums of weights are far from normal
_FEW, _FEW_OF_ALL = 100, 0.05
#: a row whose weight is such a share of all decides by itself
_HEAVY: Final = 0.1
#: standard errors by which the mean weight may miss 1
_MISS, _ROUNDING = 4, 1e-9
#: units below which Student's t asks much of rewards that are 0 or 1
_UNITS: Final = 30


def notes(
    log: Log,
    rows: Rows,
    weights: Weights,
    impression: Ints,
    cluster: Ints | None,
    name: str | None,
    run: Rankings | None,
    propensity: str,
    k: int | None,
) -> Notes:
    """Count what there is, and warn."""
    impressions = int(impression.max()) + 1
    clusters = None if cluster is None else int(cluster.max()) + 1
    counts: dict[str, int | None] = {
        "rows": log.rows,
        "dropped": log.dropped,
        "impressions": impressions,
        "clusters": clusters,
        "rewarded": int((rows.reward != 0).sum()),
    }
    told = [
        counted(log.rows, "row"),
        counted(impressions, "impression")
        + ("" if log.has("impression_id") else " (no impression_id: a row is one)"),
        f"{counts['rewarded']:,} rewarded",
    ]
    if clusters is not None:
        told.append(f"{counted(clusters, 'cluster')} of {name}")
    if log.has("impression_id", "position"):
        counts["skipping"] = skipping(log, impression)
        if counts["skipping"]:
            told.append(f"{counted(counts['skipping'], 'impression')} with positions left out")
    told += log.left_out()
    if propensity == "examination":
        counts["never_examined"] = int((log.frame["propensity"] == 0).sum())
        if counts["never_examined"]:
            told.append(f"{counted(counts['never_examined'], 'row')} never examined, which earn nothing")
    if log.has("target_position"):
        counts["not_in_target"] = log.frame["target_position"].null_count()
        if counts["not_in_target"]:
            told.append(f"{counted(counts['not_in_target'], 'row')} of documents the target leaves out")
    if run is not None:
        counts["not_shown"] = _not_shown(log, impression, run, k)
        if counts["not_shown"]:
            told.append(f"{counts['not_shown']:,} times the target has a document that was not shown")
    effective = f"{weights.effective:,.1f} of {weights.n:,}"
    told.append(f"effective sample size {effective}")
    units = impressions if clusters is None else clusters
    return Notes(log.source, counts, tuple(told), tuple(_warnings(weights, units, counts, propensity)))


def _warnings(weights: Weights, units: int, counts: dict[str, int | None], propensity: str) -> Iterator[str]:
    if weights.effective < min(_FEW, weights.n) or weights.effective < _FEW_OF_ALL * weights.n:
        yield (
            f"the effective sample size is {weights.effective:,.1f} of {weights.n:,}: few rows carry the "
            "estimate, and intervals are too short; clip, or log a policy nearer to the target"
        )
    if weights.largest_share is not None and weights.largest_share > _HEAVY:
        yield f"one row has {weights.largest_share:.0%} of all weight"
    known = weights.mean is not None and weights.mean_error is not None and propensity == "action"
    if known and abs((weights.mean or 0) - 1) > _MISS * (weights.mean_error or 0) + _ROUNDING:
        yield (
            f"the mean weight is {weights.mean:.4g}, not 1: the target does what was never logged, or "
            "propensities are not those of the log"
        )
    if units < _UNITS:
        yield f"only {counted(units, 'unit')} independent of others: intervals are rough"
    if counts.get("never_examined") or counts.get("not_shown"):
        yield "what nobody could see is taken to earn nothing: the target may be worth more"


def _not_shown(log: Log, impression: Ints, run: Rankings, k: int | None) -> int:
    """Count documents of the target, down to the cutoff, that an impression did not show."""
    within = pl.lit(value=True) if k is None else pl.col("rank") <= k
    texts = run.frame.filter(within).select(pl.col("query_id").cast(pl.String))
    lengths = texts.group_by("query_id").len()
    asked = log.frame.select(pl.col("query_id").cast(pl.String), impression=pl.Series(impression)).unique()
    wanted = asked.join(lengths, on="query_id")["len"].sum()
    place = pl.col("target_position")
    met = log.frame.filter(place.is_not_null() & (pl.lit(value=True) if k is None else place <= k)).height
    return int(wanted) - met
