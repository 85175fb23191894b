"""Counterfactual estimators: weighted sums over impressions with standard errors, and their biases.

Propensities are of two kinds.  Of *actions*: the probability with which the logging policy showed the
document at its position; the target policy has another (Horvitz and Thompson 1952; for lists, position by
position, Li et al., KDD 2018).  Of *examination*: the probability that a user looked at the position; a click
means that the document is relevant once it is looked at (Joachims, Swaminathan and Schnabel, WSDM 2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import BadOption, MissingColumn, did_you_mean
from rankstone.online.log_tables import (
    check_positions,
    refuse_duplicates,
    with_error_bound,
)
from rankstone.stats.mean_intervals import estimates
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.online.log_tables import Log
    from rankstone.stats.mean_intervals import Estimate

#: probabilities written by other programs may exceed 1 by rounding
_ONE = 1 + 1e-9
_NONE = "none"
_BY_DESIGN = "by design"
#: name → weight of a position, counted from 1
DISCOUNTS: Final[dict[str, Callable[[Floats], Floats]]] = {
    "none": np.ones_like,
    "log2": lambda position: 1 / np.log2(position + 1),
    "reciprocal": lambda position: 1 / position,
}
#: sums of products with larger weights could overflow
_LARGEST_WEIGHT: Final = 1e9


@dataclass(frozen=True)
class Weights:
    """Statistics of the importance weights.

    Attributes
    ----------
    n
        Rows used.
    mean, largest
        Mean and maximum of their weights.
    largest_share
        The maximum over the sum.
    effective
        The effective sample size ``(Σw)² / Σw²`` (Kish 1965).
    clip, clipped
        The upper limit of weights in the ``clipped`` estimate, and the share of rows above it; ``None``
        without a limit.
    mean_error
        The standard error of the mean, by cluster.
    """

    n: int
    mean: float | None
    largest: float | None
    largest_share: float | None
    effective: float
    clip: float | None
    clipped: float | None
    mean_error: float | None


class Estimators:
    """Estimates of the value per impression, by estimator.

    ``logged``: the value as it was shown.  ``ips``: inverse propensity scoring.  ``snips``: self-normalised,
    over the sum of weights (Swaminathan and Joachims 2015).  ``clipped``: inverse propensity scoring with
    limited weights.  ``dm``: direct method, the model alone.  ``dr``: doubly robust, the model corrected by
    weighted residuals (Dudík, Langford and Li 2011).

    Parameters
    ----------
    rows
        The rows of the log with their weights.
    impression, cluster
        int64 ``[rows]`` and int64 ``[impressions]``, counted from 0: the impression of each row and the
        cluster of each impression; ``None`` if impressions are independent.
    """

    def __init__(
        self, rows: WeightedRows, impression: Ints, cluster: Ints | None
    ) -> None:
        self._rows = rows
        self._impression = impression
        self._cluster = cluster
        self._count = int(impression.max(initial=-1)) + 1

    def all(self, clip: float | None) -> dict[str, Estimate | None]:
        """Return the estimates that the columns allow; ``None`` if undefined, error NaN if all agree."""
        # rewards and weights may be any number
        low, high = -math.inf, math.inf
        estimates = self._by_name(clip)
        for name, estimate in estimates.items():
            if estimate is not None:
                estimates[name] = with_error_bound(estimate, low, high)

        return estimates

    def _by_name(self, clip: float | None) -> dict[str, Estimate | None]:
        rows = self._rows
        estimates: dict[str, Estimate | None] = {}
        if rows.shown is not None:
            estimates["logged"] = self._mean(rows.shown)
        estimates["ips"] = self._mean(rows.discount * rows.weight * rows.reward)
        if rows.expected is not None and rows.spread is not None:
            estimates["snips"] = self._self_normalised(rows.expected, rows.spread)
        if clip is not None:
            estimates["clipped"] = self._mean(
                rows.discount * np.minimum(rows.weight, clip) * rows.reward
            )
        if rows.model is not None and rows.direct is not None:
            estimates["dm"] = self._mean(rows.direct)
            wrong = rows.discount * rows.weight * (rows.reward - rows.model)
            estimates["dr"] = self._mean(rows.direct + wrong)
        return estimates

    def _mean(self, value: Floats) -> Estimate:
        """Estimate the mean over impressions of sums over rows."""
        return estimates(
            Units.from_scores(self._totals(value)[:, None], cluster=self._cluster)
        )[0]

    def _self_normalised(self, expected: Floats, spread: Floats) -> Estimate | None:
        """Estimate ``Σ λwr / Σ λw`` times the mean sum of the discounts λ in an impression.

        Its standard error is that of a ratio by linearisation: each impression has the value plus its
        influence on it.
        """
        value = self._totals(
            self._rows.discount * self._rows.weight * self._rows.reward
        )
        discounts = self._totals(expected)
        weight = self._totals(spread)
        every = math.fsum(discounts)
        sum_of_weights = math.fsum(weight)
        if not sum_of_weights > 0:
            return None
        scale = every / sum_of_weights
        mean = math.fsum(value) * scale / self._count
        linearised = value * scale + mean * self._count * (
            discounts / every - weight / sum_of_weights
        )
        return estimates(Units.from_scores(linearised[:, None], cluster=self._cluster))[
            0
        ]

    def weights(self, clip: float | None) -> Weights:
        """Return statistics of the weights."""
        used = self._rows.used
        cluster = (
            self._impression
            if self._cluster is None
            else self._cluster[self._impression]
        )
        return weight_statistics(
            self._rows.weight[used], renumbered(cluster[used]), clip
        )

    def _totals(self, value: Floats) -> Floats:
        """Sum within each impression, float64 ``[impressions]``."""
        return np.bincount(self._impression, value, self._count).astype(
            np.float64, copy=False
        )


def renumbered(cluster: Ints) -> Ints:
    """Return clusters numbered from 0 without gaps, so that clusters without a row do not count as units."""
    return np.unique(cluster, return_inverse=True)[1].astype(np.int64)


def weight_statistics(weight: Floats, cluster: Ints, clip: float | None) -> Weights:
    """Return statistics of weights.

    Examples
    --------
    >>> weight_statistics(np.array([1.0, 1.0, 2.0]), np.arange(3), None).effective
    2.6666666666666665
    """
    total = math.fsum(weight)
    squares = math.fsum(weight * weight)
    mean = (
        estimates(Units.from_scores(weight[:, None], cluster=cluster))[0]
        if len(weight)
        else None
    )
    return Weights(
        n=len(weight),
        mean=None if mean is None else mean.value,
        largest=float(weight.max()) if len(weight) else None,
        largest_share=float(weight.max()) / total if total > 0 else None,
        effective=total * total / squares if squares > 0 else 0.0,
        clip=clip,
        clipped=None
        if clip is None or not len(weight)
        else float((weight > clip).mean()),
        mean_error=None if mean is None or math.isnan(mean.error) else mean.error,
    )


class WeightedRows(Record):
    """The rows of a log with their importance weights, float64 ``[rows]``.

    Attributes
    ----------
    discount
        The discount of the target's position, or of the logged one.
    weight
        The importance weight; 0 if the target would not show the document there.
    reward
        The logged reward.
    expected
        The discount times the expected weight, whose sum self-normalisation multiplies by; ``None`` if it
        is not known.
    spread
        The discount times the weight; its expectation is ``expected``.
    shown
        The discounted reward as logged; ``None`` if that is not meaningful.
    model, direct
        A model's prediction of this row's reward, and of what the target would earn here; ``None`` without
        a model.
    used
        True for rows whose weight counts in the effective sample size.
    """

    discount: Floats
    weight: Floats
    reward: Floats
    expected: Floats | None
    spread: Floats | None
    shown: Floats | None
    model: Floats | None
    direct: Floats | None
    used: Bools


def check_rows(log: Log) -> None:
    """Refuse invalid probabilities, invalid positions, and duplicate rows."""
    zero = pl.col("propensity") == 0
    reward = pl.col("reward")
    needs = "0 < propensity ≤ 1, as every logged action had a positive probability"
    log.require(
        pl.col("propensity") < 0, "with a negative propensity", needs, "propensity"
    )
    log.require(
        zero & (reward != 0),
        "with a reward and a propensity of 0",
        needs,
        "propensity",
        "reward",
        fix="check that the propensities are those of the logging policy and were not rounded to 0",
    )
    for name in ("propensity", "target_propensity", "examination"):
        if log.has(name):
            wrong = (pl.col(name) < 0) | (pl.col(name) > _ONE)
            log.require(wrong, f"whose {name} is not a probability", "0 to 1", name)
    for name in ("position", "target_position"):
        if log.has(name):
            check_positions(log, name)
    for name in ("doc_id", "position"):
        if log.has("impression_id", name):
            refuse_duplicates(log, name)


def action_rows(log: Log, discount: Discount) -> WeightedRows:
    """Return weighted rows if the propensity is the probability of the logged action."""
    zero = pl.col("propensity") == 0
    log.require(
        zero,
        "with a propensity of 0",
        "0 < propensity for every logged action",
        "propensity",
    )
    if not log.has("target_propensity") and not log.has("target_position"):
        raise MissingColumn(
            "the log does not say what the target would do",
            where=log.source,
            given=log.events.given(),
            expected="a column target_propensity (its probability of the logged action) or target_position, "
            "or a target run",
        )
    if log.has("prediction") != log.has("target_prediction"):
        lacking = "target_prediction" if log.has("prediction") else "prediction"
        raise MissingColumn(
            f"there is no column {lacking}",
            where=log.source,
            given=log.events.given(),
            expected="both prediction (the model's reward of the logged action) and target_prediction "
            "(its mean over the target's actions), or neither",
        )
    position = (
        _floats(log, "position") if log.has("position") else np.ones(log.frame.height)
    )
    if log.has("target_propensity"):
        target = _floats(log, "target_propensity")
    else:
        target = (_floats(log, "target_position") == position).astype(np.float64)
    weight = target / _floats(log, "propensity")
    reward = _floats(log, "reward")
    discounts = discount(position)
    modelled = log.has("prediction")
    return WeightedRows(
        discount=discounts,
        weight=weight,
        reward=reward,
        expected=discounts,
        spread=discounts * weight,
        shown=discounts * reward,
        model=_floats(log, "prediction") if modelled else None,
        direct=discounts * _floats(log, "target_prediction") if modelled else None,
        used=discounts > 0,
    )


def examination_rows(log: Log, discount: Discount) -> WeightedRows:
    """Return weighted rows if the propensity is the probability that the document was looked at."""
    if not log.has("target_position"):
        raise MissingColumn(
            "the log does not say where the target would rank the documents",
            where=log.source,
            given=log.events.given(),
            expected="a column target_position, or a target run",
        )
    propensity = _floats(log, "propensity")
    reward = _floats(log, "reward")
    examinable = propensity > 0
    weight = np.divide(1.0, propensity, out=np.zeros_like(propensity), where=examinable)
    discounts = discount(_floats(log, "target_position"))
    known = log.has("examination")
    examined = _floats(log, "examination") if known else propensity
    modelled = log.has("prediction")
    prediction = _floats(log, "prediction") if modelled else np.zeros_like(reward)
    return WeightedRows(
        discount=discounts,
        weight=weight,
        reward=reward,
        expected=discounts if known else None,
        spread=discounts * weight * examined if known else None,
        shown=None,
        model=examined * prediction if modelled else None,
        direct=discounts * prediction if modelled else None,
        used=(discounts > 0) & (reward != 0),
    )


def _floats(log: Log, column: str) -> Floats:
    """Return a column as numbers, NaN for missing ones."""
    return log.frame[column].fill_null(float("nan")).to_numpy()


def estimator_biases(
    estimates: Mapping[str, Estimate | None], *, gains: bool
) -> dict[str, str]:
    """Return {estimator: its bias in a few words}.

    Parameters
    ----------
    estimates
        The estimates.
    gains
        True if no reward is negative, so that clipping can only lower the estimate.
    """
    biases = dict.fromkeys(estimates, _NONE) | {
        "snips": "fades with n",
        "dm": f"{_BY_DESIGN}: the model's",
    }
    biases["clipped"] = f"{_BY_DESIGN}: too low" if gains else _BY_DESIGN
    whole = estimates.get("ips")
    cut = estimates.get("clipped")
    if whole is not None and cut is not None and whole.value == cut.value:
        biases["clipped"] = _NONE
    return {name: biases[name] for name in estimates}


def bias_remarks(bias: Mapping[str, str]) -> dict[str, str]:
    """Return {estimator: what its interval leaves out} for estimators that are biased by design."""
    why = {
        "clipped": "its interval does not cover the reward lost by clipping; ips loses none",
        "dm": "its interval does not cover the error of the model; dr corrects it",
    }
    return {
        name: biases for name, biases in why.items() if bias.get(name, _NONE) != _NONE
    }


def no_spread_warnings(estimates: Mapping[str, Estimate | None]) -> Iterator[str]:
    """Yield a warning for each estimate with the same value for all units."""
    for name, estimate in estimates.items():
        if estimate is not None and estimate.units > 1 and math.isnan(estimate.error):
            yield (
                f"{name} is {estimate.value:g} for every unit: there is no variation to estimate its error from"
            )


class Discount:
    """Weights of positions, 0 below a cutoff.

    Parameters
    ----------
    name
        Its name, for the conventions.
    weight
        The function from positions (1 or more) to weights.
    k
        The cutoff; ``None`` for no limit.
    """

    def __init__(
        self, name: str, weight: Callable[[Floats], Floats], k: int | None
    ) -> None:
        self.name = name
        self.k = k
        self._weight = weight

    def __call__(self, position: Floats) -> Floats:
        """Return the weight of each position; 0 for NaN, which means no position."""
        counts = ~np.isnan(position) & (
            position <= (np.inf if self.k is None else self.k)
        )
        return np.where(counts, self._weight(np.where(counts, position, 1.0)), 0.0)


def parse_discount(discount: str | Sequence[float], k: int | None) -> Discount:
    """Return a discount, given by name or as the weights of positions 1, 2, ….

    Examples
    --------
    >>> parse_discount("log2", 2)(np.array([1.0, 3.0])).tolist()
    [1.0, 0.0]
    >>> parse_discount([1, 0.5], None)(np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.5, 0.0]
    """
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise BadOption(f"k={k!r} is not a cutoff", expected="a whole number from 1")
    if isinstance(discount, str):
        if discount not in DISCOUNTS:
            raise BadOption(
                f"there is no discount {discount!r}",
                expected=f"{', '.join(DISCOUNTS)}, or the weights of positions 1, 2, …",
                fix=did_you_mean(discount, DISCOUNTS, repr),
            )
        return Discount(discount, DISCOUNTS[discount], k)
    weights = np.array([*discount, 0.0], np.float64)
    if not ((weights >= 0) & (weights <= _LARGEST_WEIGHT)).all():
        raise BadOption(
            "a discount weight is negative, too large or not a number",
            expected=f"numbers from 0 to {_LARGEST_WEIGHT:g}",
        )
    name = ",".join(f"{weight:g}" for weight in weights[:-1])
    last = len(weights) - 1

    def weight_at(position: Floats) -> Floats:
        """Return the weights of positions; those behind the last one given are 0."""
        index = np.minimum(position - 1, last).astype(np.int64)
        return weights[index]

    return Discount(name, weight_at, k)
