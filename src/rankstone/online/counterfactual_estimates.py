"""Counterfactual estimates, from a log to a result.

Where a target run puts the documents of a log.

Estimates of what another ranking would have earned.

What was found in a log of propensities, and what makes its estimates doubtful.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._text import counted, noted, some
from rankstone.errors import BadOption, MissingColumn, NotComparable, UsageError, between_0_and_1, one_of
from rankstone.io.columns import with_csv
from rankstone.online.estimators import (
    Estimators,
    bias_of,
    biased,
    check,
    discount_of,
    rows_of_actions,
    rows_of_examination,
    without_spread,
)
from rankstone.online.log_tables import (
    Found,
    Log,
    Notes,
    Rankings,
    cluster_of_impressions,
    floats,
    numbered,
    rankings,
    read_log,
    skipping,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankstone.io.input_table import Progress
    from rankstone.online.estimators import Rows, Weights
    from rankstone.stats.mean_intervals import Estimate

    Ints = NDArray[np.int64]


def placed(log: Log, target: object, order: str, columns: Mapping[str, str] | None) -> tuple[Log, Rankings]:
    """Return the log with ``target_position``, null for documents the target leaves out, and the target."""
    if log.has("target_position") or log.has("target_propensity"):
        given = "target_position" if log.has("target_position") else "target_propensity"
        raise UsageError(f"the log has {given}, and there is a target run, too", fix="leave one of them out")
    if not log.has("query_id", "doc_id"):
        raise MissingColumn(
            "a target run is looked up by query and document",
            where=log.source,
            given=f"columns {', '.join(log.frame.columns)}",
            expected="query_id, doc_id",
        )
    run = rankings(target, "target", order=order, columns=columns)
    texts = [pl.col(name).cast(pl.String) for name in ("query_id", "doc_id")]
    places = run.frame.with_columns(texts).rename({"rank": "target_position"})
    left = log.frame.with_columns(texts).with_columns(texts)
    joined = left.join(places, on=["query_id", "doc_id"], how="left", maintain_order="left")
    if joined["target_position"].null_count() == joined.height:
        raise NotComparable(
            "the target holds no document of the log for its query",
            where=f"{log.source}, {run.source}",
            given=f"log: {some(left['query_id'].unique(maintain_order=True))}; "
            f"target: {some(places['query_id'].unique(maintain_order=True))}",
        )
    place = joined["target_position"].cast(pl.Float64)
    return replace(log, frame=log.frame.with_columns(target_position=place)), run


class Counterfactual(Found):
    """Estimates with their uncertainty, and the weights they rest on."""

    @property
    def estimates(self) -> pl.DataFrame:
        """``estimator``, ``value`` (the mean of an impression), ``error``, ``low``, ``high``, ``bias``.

        A row each.  ``bias`` says what an estimator misses on average, which no interval holds.  No number
        stands where there is none: a single unit has no error, nor have units that all agree, and weights
        that sum to 0 normalise nothing.
        """
        return self.tables["estimates"]

    @property
    def weights(self) -> pl.DataFrame:
        """One row: ``n``, ``mean``, ``largest``, ``largest_share``, ``effective``, ``clip``, ``clipped``."""
        return self.tables["weights"]


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
    impressions, not_shown = int(impression.max()) + 1, 0
    clusters = None if cluster is None else int(cluster.max()) + 1
    counts: dict[str, int | None] = {
        "rows": log.rows,
        "dropped": log.dropped,
        "impressions": impressions,
        "clusters": clusters,
        "rewarded": int((rows.reward != 0).sum()),
    }
    if log.has("impression_id", "position"):
        counts["skipping"] = skipping(log, impression)
    if propensity == "examination":
        counts["never_examined"] = int((log.frame["propensity"] == 0).sum())
    if log.has("target_position"):
        counts["not_in_target"] = log.frame["target_position"].null_count()
    if run is not None:
        counts["not_shown"] = not_shown = _not_shown(log, impression, run, k)
    parts = (
        counted(log.rows, "row"),
        counted(impressions, "impression")
        + ("" if log.has("impression_id") else " (no impression_id: a row is one)"),
        f"{counts['rewarded']:,} rewarded",
        noted(clusters, "cluster", f"of {name}"),
        noted(counts.get("skipping"), "impression", "with positions left out"),
        *log.left_out(),
        noted(counts.get("never_examined"), "row", "never examined, which earn nothing"),
        noted(counts.get("not_in_target"), "row", "of documents the target leaves out"),
        f"{not_shown:,} times the target has a document that was not shown" if not_shown else "",
        f"effective sample size {weights.effective:,.1f} of {weights.n:,}",
    )
    units = impressions if clusters is None else clusters
    return Notes(log.source, counts, parts, tuple(_warnings(weights, units, counts, propensity)))


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


_FURTHER: Final = (
    "impression_id", "query_id", "doc_id", "position", "target_propensity", "target_position", "prediction",
    "target_prediction", "examination",
)  # fmt: skip
_ROWS: Final = {"action": rows_of_actions, "examination": rows_of_examination}
_SCHEMA: Final = (
    {"estimator": pl.String}
    | dict.fromkeys(("value", "error", "low", "high"), pl.Float64)
    | {"bias": pl.String}
)
_WEIGHTS: Final = {"n": pl.Int64} | dict.fromkeys(
    ("mean", "largest", "largest_share", "effective", "clip", "clipped"), pl.Float64
)


def counterfactual(
    log: object,
    target: object = None,
    *,
    propensity: str = "action",
    discount: str | Sequence[float] = "none",
    k: int | None = None,
    clip: float | None = None,
    cluster: str | None = None,
    order: str = "score",
    invalid: str = "error",
    confidence: float = 0.95,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Counterfactual:
    """Estimate what another ranking would have earned, from a log of the one that was shown.

    The value is that of an impression: the sum of its rewards, each times the discount of its position.  It
    is a DCG with ``discount="log2"``, and the number of rewards with ``"none"``.

    Parameters
    ----------
    log
        A table with a row for each document shown: ``reward`` (a click, satisfaction, any number) and
        ``propensity``, above 0; and where it has them ``impression_id`` (else each row is an impression),
        ``position`` (from 1), ``query_id`` and ``doc_id``.  What the target would do stands in
        ``target_propensity``, its probability of the logged action, or in ``target_position``, empty where it
        does not show the document.  A model's ``prediction`` of rewards adds the direct and the doubly
        robust estimates.
    target
        A run, of which ``target_position`` is taken by query and document.
    propensity
        What the propensity is of.  ``action``: of showing this document at this place; a model brings
        ``target_prediction``, its mean over the target's actions, too.  ``examination``: of somebody's
        looking at the document; the log holds all rows of a list, ``prediction`` is the reward of a document
        that is looked at, and ``examination`` the probability at the very place it was shown, where
        ``propensity`` is a mean over several places (Oosterhuis 2023).
    discount
        ``none``, ``log2``, ``reciprocal``, or the weights of positions 1, 2, …
    k
        Positions below it count nothing.
    clip
        Adds an estimate in which no weight is above it.
    cluster
        A column such as ``user_id``: impressions of a cluster depend on one another.
    order
        What gives the order of the target's lists: ``score``, ``rank`` or ``input``.
    invalid
        Whether rows with a missing value, or with one that is no number, are an ``error``, or ``drop`` leaves
        them out and counts them.
    confidence
        Of intervals, by Student's t over impressions or clusters.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`.

    Returns
    -------
    Counterfactual
        ``estimates`` (logged, ips, snips, clipped, dm, dr: those there are), ``weights``, audit.

    Raises
    ------
    InputError
        When a propensity is negative, or 0 beside a reward, and for whatever else is no such log.
    UsageError
        When an option is not what it may be.

    Examples
    --------
    Two actions were shown by the toss of a coin; the target always shows the first.

    >>> log = {"reward": [1, 0, 1, 0], "propensity": [0.5] * 4, "target_propensity": [1, 1, 0, 0]}
    >>> counterfactual(log).estimates.select("estimator", "value").rows()
    [('logged', 0.5), ('ips', 0.5), ('snips', 0.5)]
    """
    columns = with_csv(columns, csv_separator, decimal)
    one_of("propensity", propensity, tuple(_ROWS))
    weigh = discount_of(discount, k)
    if clip is not None and not clip > 0:
        raise BadOption(f"clip={clip!r} leaves no weight", expected="a number above 0")
    between_0_and_1("confidence", confidence)
    needed = ["reward", "propensity", *([] if cluster is None else [cluster])]
    read = read_log(
        log, needed, _FURTHER, blank=("target_position",),
        columns=columns, format_in=format_in, invalid=invalid, progress=progress,
    )  # fmt: skip
    _need_positions(read, weigh.name, k, propensity)
    check(read)
    run = None
    if target is not None:
        read, run = placed(read, target, order, columns)
    rows = _ROWS[propensity](read, weigh)
    single = not read.has("impression_id")
    ids = read.frame.with_row_index("impression_id") if single else read.frame
    impression = numbered(ids, "impression_id").to_numpy()
    grouping = None if cluster is None else cluster_of_impressions(read, cluster, impression)
    estimators = Estimators(rows, impression, grouping)
    found, weights = estimators.all(clip), estimators.weights(clip)
    bias = bias_of(found, gains=bool((rows.reward >= 0).all()))
    told = notes(read, rows, weights, impression, grouping, cluster, run, propensity, k)
    return Counterfactual(
        tables={
            "estimates": floats([_estimate_row(*one, confidence, bias) for one in found.items()], _SCHEMA),
            "weights": floats([{name: getattr(weights, name) for name in _WEIGHTS}], _WEIGHTS),
        },
        audit=replace(told, warnings=(*told.warnings, *without_spread(found)), remarks=biased(bias)),
        conventions={
            "propensity": propensity, "discount": weigh.name, "k": k, "clip": clip, "cluster": cluster,
            "order": None if run is None else order, "invalid": invalid, "confidence": confidence,
        },
        inputs={"log": read.source} | ({} if run is None else {"target": run.source}),
    )  # fmt: skip


def _need_positions(log: Log, discount: str, k: int | None, propensity: str) -> None:
    """Refuse a discount of positions nobody knows; of examination the target's are asked for elsewhere."""
    if propensity == "action" and (discount != "none" or k is not None) and not log.has("position"):
        raise MissingColumn(
            "there is no column position",
            where=log.source,
            expected="the positions that discount and k are about",
        )


def _estimate_row(
    name: str, found: Estimate | None, confidence: float, bias: Mapping[str, str]
) -> dict[str, Any]:
    row = dict.fromkeys(_SCHEMA) | {"estimator": name, "bias": bias[name]}
    if found is None:
        return row
    low, high = found.interval(confidence)
    return row | {"value": found.value, "error": found.error, "low": low, "high": high}
