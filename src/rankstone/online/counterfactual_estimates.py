"""Counterfactual evaluation: estimates of the reward of a target ranking, from a log of another one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import counted, noted, some
from rankstone.errors import (
    BadOption,
    MissingColumn,
    NotComparable,
    UsageError,
    between_0_and_1,
    one_of,
)
from rankstone.io.columns import with_csv
from rankstone.online.estimators import (
    Estimators,
    action_rows,
    bias_remarks,
    check_rows,
    estimator_biases,
    examination_rows,
    no_spread_warnings,
    parse_discount,
)
from rankstone.online.log_tables import (
    Log,
    LogAudit,
    OnlineResult,
    Rankings,
    cluster_of_impressions,
    count_skipping,
    dense_numbers,
    read_log,
    read_rankings,
    rows_to_frame,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Columns, Ints, Progress
    from rankstone.online.estimators import WeightedRows, Weights
    from rankstone.stats.mean_intervals import Estimate

#: an effective sample size, or a share of all rows, below which sums of weights are not close to normal
_FEW, _FEW_OF_ALL = 100, 0.05
#: a row with this share of all weight dominates the estimate
_HEAVY: Final = 0.1
#: standard errors by which the mean weight may differ from 1, and a tolerance for rounding
_MISS, _ROUNDING = 4, 1e-9
#: with fewer units, t intervals of rewards that are 0 or 1 are rough
_UNITS: Final = 30
_FURTHER: Final = (
    "impression_id",
    "query_id",
    "doc_id",
    "position",
    "target_propensity",
    "target_position",
    "prediction",
    "target_prediction",
    "examination",
)
_ROWS: Final = {"action": action_rows, "examination": examination_rows}
_SCHEMA: Final = (
    {"estimator": pl.String}
    | dict.fromkeys(("value", "error", "low", "high"), pl.Float64)
    | {"bias": pl.String}
)
_WEIGHTS: Final = {"n": pl.Int64} | dict.fromkeys(
    ("mean", "largest", "largest_share", "effective", "clip", "clipped"), pl.Float64
)


def with_target_positions(
    log: Log, target: object, order: str, columns: Columns | None
) -> tuple[Log, Rankings]:
    """Return the log with a column ``target_position`` (null: not in the target), and the target."""
    if log.has("target_position") or log.has("target_propensity"):
        column = (
            "target_position" if log.has("target_position") else "target_propensity"
        )
        raise UsageError(
            f"the log has {column}, and there is a target run as well",
            fix="leave out one of the two",
        )
    if not log.has("query_id", "doc_id"):
        raise MissingColumn(
            "a target run is joined to the log by query and document",
            where=log.source,
            given=log.events.given(),
            expected="query_id, doc_id",
        )
    run = read_rankings(target, "target", order=order, columns=columns)
    texts = [pl.col(name).cast(pl.String) for name in ("query_id", "doc_id")]
    places = run.frame.with_columns(texts).rename({"rank": "target_position"})
    left = log.frame.with_columns(texts).with_columns(texts)
    joined = left.join(
        places, on=["query_id", "doc_id"], how="left", maintain_order="left"
    )
    if joined["target_position"].null_count() == joined.height:
        raise NotComparable(
            "the target run ranks none of the logged documents for their queries",
            where=f"{log.source}, {run.source}",
            given=f"log: {some(left['query_id'].unique(maintain_order=True))}; "
            f"target: {some(places['query_id'].unique(maintain_order=True))}",
        )
    place = joined["target_position"].cast(pl.Float64)
    return replace(log, frame=log.frame.with_columns(target_position=place)), run


class Counterfactual(OnlineResult):
    """Estimates with standard errors and intervals, and statistics of the importance weights."""

    @property
    def estimates(self) -> pl.DataFrame:
        """``estimator``, ``value`` (per impression), ``error``, ``low``, ``high``, ``bias``.

        One row per estimator.  ``bias`` is the systematic error of an estimator, which its interval does not
        cover.  Undefined numbers are null: the error of a single unit or of units with equal values, and the
        self-normalised estimate if all weights are 0.
        """
        return self.tables["estimates"]

    @property
    def weights(self) -> pl.DataFrame:
        """One row: ``n``, ``mean``, ``largest``, ``largest_share``, ``effective``, ``clip``, ``clipped``."""
        return self.tables["weights"]


def make_audit(
    log: Log,
    weighted: WeightedRows,
    weights: Weights,
    impression: Ints,
    cluster: Ints | None,
    name: str | None,
    run: Rankings | None,
    propensity: str,
    k: int | None,
) -> LogAudit:
    """Return the audit of the log: counts, and warnings about the estimates."""
    impressions = int(impression.max()) + 1
    not_shown = 0
    clusters = None if cluster is None else int(cluster.max()) + 1
    counts: dict[str, int | None] = {
        "rows": log.rows,
        "dropped": log.dropped,
        "impressions": impressions,
        "clusters": clusters,
        "rewarded": int((weighted.reward != 0).sum()),
    }
    if log.has("impression_id", "position"):
        counts["skipping"] = count_skipping(log, impression)
    if propensity == "examination":
        counts["never_examined"] = int((log.frame["propensity"] == 0).sum())
    if log.has("target_position"):
        counts["not_in_target"] = log.frame["target_position"].null_count()
    if run is not None:
        counts["not_shown"] = not_shown = _not_shown(log, impression, run, k)
    parts = (
        counted(log.rows, "row"),
        counted(impressions, "impression")
        + ("" if log.has("impression_id") else " (no impression_id: each row is one)"),
        f"{counts['rewarded']:,} rewarded",
        noted(clusters, "cluster", f"of {name}"),
        noted(counts.get("skipping"), "impression", "with positions left out"),
        *log.left_out(),
        noted(
            counts.get("never_examined"),
            "row",
            "never examined, which count as reward 0",
        ),
        noted(
            counts.get("not_in_target"),
            "row",
            "of documents that the target does not rank",
        ),
        noted(
            not_shown,
            "target document",
            f"that {'was' if not_shown == 1 else 'were'} not shown",
        ),
        f"effective sample size {weights.effective:,.1f} of {weights.n:,}",
    )
    units = impressions if clusters is None else clusters
    return LogAudit(
        log.source, counts, parts, tuple(_warnings(weights, units, counts, propensity))
    )


def _warnings(
    weights: Weights, units: int, counts: dict[str, int | None], propensity: str
) -> Iterator[str]:
    if (
        weights.effective < min(_FEW, weights.n)
        or weights.effective < _FEW_OF_ALL * weights.n
    ):
        yield (
            f"the effective sample size is {weights.effective:,.1f} of {weights.n:,}: few rows carry the "
            "estimate, and intervals are too narrow; use clip, or log a policy closer to the target"
        )
    if weights.largest_share is not None and weights.largest_share > _HEAVY:
        yield f"one row has {weights.largest_share:.0%} of the total weight"
    known = (
        weights.mean is not None
        and weights.mean_error is not None
        and propensity == "action"
    )
    if (
        known
        and abs((weights.mean or 0) - 1) > _MISS * (weights.mean_error or 0) + _ROUNDING
    ):
        yield (
            f"the mean weight is {weights.mean:.4g}, not 1: the target takes actions that were never "
            "logged, or the propensities are not those of the logging policy"
        )
    if units < _UNITS:
        yield f"only {counted(units, 'independent unit')}: intervals are rough"
    if counts.get("never_examined") or counts.get("not_shown"):
        yield "documents that could not be examined count as reward 0: the target may be worth more"


def _not_shown(log: Log, impression: Ints, run: Rankings, k: int | None) -> int:
    """Count the target's documents, down to the cutoff, that an impression did not show."""
    within = pl.lit(value=True) if k is None else pl.col("rank") <= k
    texts = run.frame.filter(within).select(pl.col("query_id").cast(pl.String))
    lengths = texts.group_by("query_id").len()
    queries = log.frame.select(
        pl.col("query_id").cast(pl.String), impression=pl.Series(impression)
    ).unique()
    ranked = queries.join(lengths, on="query_id")["len"].sum()
    place = pl.col("target_position")
    shown = log.frame.filter(
        place.is_not_null() & (pl.lit(value=True) if k is None else place <= k)
    ).height
    return int(ranked) - shown


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
    positions_from: int = 1,
    confidence: float = 0.95,
    columns: Columns | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Counterfactual:
    """Estimate the reward that another ranking would have earned, from a log of the ranking that was shown.

    Values are per impression: the sum of its rewards, each times the discount of its position.  With
    ``discount="log2"`` that is a DCG, with ``"none"`` the number of rewards.

    Parameters
    ----------
    log
        A table with a row for each document shown: ``reward`` (a click, satisfaction, any number) and
        ``propensity``, above 0; optionally ``impression_id`` (by default each row is an impression),
        ``position``, ``query_id`` and ``doc_id``.  The target is given by ``target_propensity``, its
        probability of the logged action, or by ``target_position``, empty for documents it does not show, or
        by ``target``.  A model's ``prediction`` of rewards adds the direct and the doubly robust estimates.
    target
        A run, from which ``target_position`` is looked up by query and document.
    propensity
        The event that the propensity is the probability of.  ``action``: showing this document at this
        position; a model then also needs ``target_prediction``, its mean over the target's actions.
        ``examination``: a user's examining the document; the log then has all rows of a list,
        ``prediction`` is the reward of an examined document, and ``examination`` the probability at
        the position shown, if ``propensity`` is a mean over several positions (Oosterhuis 2023).
    discount
        ``none``, ``log2``, ``reciprocal``, or the weights of positions 1, 2, …
    k
        The cutoff: positions below it count 0.
    clip
        Adds an estimate with weights limited to this value.
    cluster
        A column such as ``user_id``, if impressions of the same value are not independent.
    order
        The column that orders the target's lists: ``score``, ``rank`` or ``input``.
    invalid
        Whether rows with a missing or unreadable value are an ``error``, or left out and counted (``drop``).
    positions_from
        The first position in the log, 1 or 0.
    confidence
        The confidence level of the t intervals over impressions or clusters.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`.

    Returns
    -------
    Counterfactual
        ``estimates`` (of logged, ips, snips, clipped, dm, dr those that the columns allow), ``weights``,
        audit.

    Raises
    ------
    InputError
        When a propensity is negative, or 0 in a row with a reward, or the log cannot be read.
    UsageError
        When an option has an invalid value.

    Examples
    --------
    Two actions were shown by the toss of a coin; the target always shows the first.

    >>> log = {"reward": [1, 0, 1, 0], "propensity": [0.5] * 4, "target_propensity": [1, 1, 0, 0]}
    >>> counterfactual(log).estimates.select("estimator", "value").rows()
    [('logged', 0.5), ('ips', 0.5), ('snips', 0.5)]
    """
    columns = with_csv(columns, csv_separator, decimal)
    one_of("propensity", propensity, tuple(_ROWS))
    weigh = parse_discount(discount, k)
    if clip is not None and not clip > 0:
        raise BadOption(f"clip={clip!r} leaves no weight", expected="a number above 0")
    between_0_and_1("confidence", confidence)
    needed = ["reward", "propensity", *([] if cluster is None else [cluster])]
    read = read_log(
        log,
        needed,
        _FURTHER,
        blank=("target_position",),
        columns=columns,
        format_in=format_in,
        invalid=invalid,
        positions_from=positions_from,
        progress=progress,
    )
    _check_positions(read, weigh.name, k, propensity)
    check_rows(read)
    run = None
    if target is not None:
        read, run = with_target_positions(read, target, order, columns)
    weighted = _ROWS[propensity](read, weigh)
    single = not read.has("impression_id")
    ids = read.frame.with_row_index("impression_id") if single else read.frame
    impression = dense_numbers(ids, "impression_id").to_numpy()
    grouping = (
        None if cluster is None else cluster_of_impressions(read, cluster, impression)
    )
    estimators = Estimators(weighted, impression, grouping)
    estimated = estimators.all(clip)
    weights = estimators.weights(clip)
    bias = estimator_biases(estimated, gains=bool((weighted.reward >= 0).all()))
    rows = [_estimate_row(*item, confidence, bias) for item in estimated.items()]
    audit = make_audit(
        read, weighted, weights, impression, grouping, cluster, run, propensity, k
    )
    warnings = (*audit.warnings, *no_spread_warnings(estimated))
    return Counterfactual(
        tables={
            "estimates": rows_to_frame(rows, _SCHEMA),
            "weights": rows_to_frame(
                [{name: getattr(weights, name) for name in _WEIGHTS}], _WEIGHTS
            ),
        },
        audit=replace(audit, warnings=warnings, remarks=bias_remarks(bias)),
        conventions={
            "propensity": propensity,
            "discount": weigh.name,
            "k": k,
            "clip": clip,
            "cluster": cluster,
            "order": None if run is None else order,
            "invalid": invalid,
            "confidence": confidence,
        },
        inputs={"log": read.source} | ({} if run is None else {"target": run.source}),
    )


def _check_positions(log: Log, discount: str, k: int | None, propensity: str) -> None:
    """Refuse a discount or cutoff if there are no positions; ``examination_rows`` checks the target's."""
    if (
        propensity == "action"
        and (discount != "none" or k is not None)
        and not log.has("position")
    ):
        raise MissingColumn(
            "there is no column position",
            where=log.source,
            given=log.events.given(),
            expected="position, which discount and k need",
        )


def _estimate_row(
    name: str, estimated: Estimate | None, confidence: float, bias: Mapping[str, str]
) -> dict[str, Any]:
    row = dict.fromkeys(_SCHEMA) | {"estimator": name, "bias": bias[name]}
    if estimated is None:
        return row
    low, high = estimated.interval(confidence)
    return row | {
        "value": estimated.value,
        "error": estimated.error,
        "low": low,
        "high": high,
    }
