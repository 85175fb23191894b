"""Counterfactual estimates, from a log to a result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.behaviour.clusters import cluster_of_impressions
from rankstone.behaviour.logs import Log, numbered, read_log
from rankstone.behaviour.offpolicy.bias import bias_of, biased, without_spread
from rankstone.behaviour.offpolicy.discounts import discount_of
from rankstone.behaviour.offpolicy.estimating import Estimators
from rankstone.behaviour.offpolicy.notes import notes
from rankstone.behaviour.offpolicy.result import Counterfactual
from rankstone.behaviour.offpolicy.rows import check, rows_of_actions, rows_of_examination
from rankstone.behaviour.offpolicy.target import placed
from rankstone.behaviour.results import floats
from rankstone.errors import BadOption, MissingColumn, between_0_and_1, one_of
from rankstone.io import with_csv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.io import Progress
    from rankstone.stats import Estimate

__all__ = ["counterfactual"]

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
            "estimates": floats([_told(name, one, confidence, bias) for name, one in found.items()], _SCHEMA),
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


def _told(name: str, found: Estimate | None, confidence: float, bias: Mapping[str, str]) -> dict[str, Any]:
    row = dict.fromkeys(_SCHEMA) | {"estimator": name, "bias": bias[name]}
    if found is None:
        return row
    low, high = found.interval(confidence)
    return row | {"value": found.value, "error": found.error, "low": low, "high": high}
