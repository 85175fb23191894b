"""The estimators: sums over impressions, and how uncertain they are.

What each row of a log brings: a discount, a weight, a reward, and what a model says of it.

Two ways to see a log.  Of *actions*: the logging policy chose what to show at a place, with a probability;
the target policy would with another (Horvitz and Thompson 1952; for lists, place by place, Li et al., KDD
2018).  Of *examination*: somebody looked at the place with a probability, and a click says that a document
is good once it is seen (Joachims, Swaminathan and Schnabel, WSDM 2017).

By how much estimators miss on average, where that is part of what they are.

How much a reward counts at a position: what makes a sum of rewards a DCG.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, DuplicateRows, MissingColumn, nearest, printable
from rankstone.online.log_tables import spread_between
from rankstone.stats.mean_intervals import estimates
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone.online.log_tables import Log
    from rankstone.stats.mean_intervals import Estimate

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

#: estimator → what it is
ESTIMATORS: Final = {
    "logged": "what was earned as it was shown",
    "ips": "inverse propensity scoring",
    "snips": "self-normalised: over the sum of weights (Swaminathan and Joachims 2015)",
    "clipped": "inverse propensity scoring, no weight above the clip",
    "dm": "direct method: the model alone",
    "dr": "doubly robust: the model, corrected by what it gets wrong (Dudík, Langford and Li 2011)",
}


@dataclass(frozen=True)
class Weights:
    """What the importance weights are like.

    Attributes
    ----------
    n
        Rows that take part.
    mean, largest
        Of their weights.
    largest_share
        The largest over their sum.
    effective
        The effective sample size ``(Σw)² / Σw²`` (Kish 1965).
    clip, clipped
        No weight above it in ``clipped``, and the share of rows above it; ``None`` without one.
    mean_error
        The standard error of the mean, clusters taken as they are.
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
    """Estimates of a value per impression.

    Parameters
    ----------
    rows
        What each row brings.
    impression, cluster
        int64 ``[rows]`` and int64 ``[impressions]``, from 0: which impression a row belongs to, and which
        cluster an impression; ``None`` where impressions are independent.
    """

    def __init__(self, rows: Rows, impression: Ints, cluster: Ints | None) -> None:
        self._rows = rows
        self._impression = impression
        self._cluster = cluster
        self._count = int(impression.max(initial=-1)) + 1

    def all(self, clip: float | None) -> dict[str, Estimate | None]:
        """Return each estimate there is; ``None`` where it is undefined, no error where no unit differs."""
        endless = -math.inf, math.inf  # rewards and weights may be anything
        found = self._found(clip)
        return {name: None if one is None else spread_between(one, *endless) for name, one in found.items()}

    def _found(self, clip: float | None) -> dict[str, Estimate | None]:
        rows = self._rows
        found: dict[str, Estimate | None] = {}
        if rows.shown is not None:
            found["logged"] = self._mean(rows.shown)
        found["ips"] = self._mean(rows.discount * rows.weight * rows.reward)
        if rows.expected is not None and rows.spread is not None:
            found["snips"] = self._self_normalised(rows.expected, rows.spread)
        if clip is not None:
            found["clipped"] = self._mean(rows.discount * np.minimum(rows.weight, clip) * rows.reward)
        if rows.model is not None and rows.direct is not None:
            found["dm"] = self._mean(rows.direct)
            wrong = rows.discount * rows.weight * (rows.reward - rows.model)
            found["dr"] = self._mean(rows.direct + wrong)
        return found

    def _mean(self, value: Floats) -> Estimate:
        """Estimate the mean over impressions of sums over rows."""
        return estimates(Units.of(self._totals(value)[:, None], cluster=self._cluster))[0]

    def _self_normalised(self, expected: Floats, spread: Floats) -> Estimate | None:
        """Estimate ``Σ λwr / Σ λw``, times what λ sums to in an impression.

        Its error is that of a ratio, by linearisation: each impression's total is the value plus what the
        impression moves it by.
        """
        value = self._totals(self._rows.discount * self._rows.weight * self._rows.reward)
        lam, weight = self._totals(expected), self._totals(spread)
        every, sum_of_weights = math.fsum(lam), math.fsum(weight)
        if not sum_of_weights > 0:
            return None
        scale = every / sum_of_weights
        mean = math.fsum(value) * scale / self._count
        moved = value * scale + mean * self._count * (lam / every - weight / sum_of_weights)
        return estimates(Units.of(moved[:, None], cluster=self._cluster))[0]

    def weights(self, clip: float | None) -> Weights:
        """Say what the weights are like."""
        used = self._rows.used
        cluster = self._impression if self._cluster is None else self._cluster[self._impression]
        return weights_of(self._rows.weight[used], numbered_anew(cluster[used]), clip)

    def _totals(self, value: Floats) -> Floats:
        """Sum within each impression, float64 ``[impressions]``."""
        totals: Floats = np.bincount(self._impression, value, self._count).astype(np.float64, copy=False)
        return totals


def numbered_anew(cluster: Ints) -> Ints:
    """Return clusters numbered from 0 without gaps: those without a row are no units."""
    return np.unique(cluster, return_inverse=True)[1].astype(np.int64)


def weights_of(weight: Floats, cluster: Ints, clip: float | None) -> Weights:
    """Describe weights.

    Examples
    --------
    >>> weights_of(np.array([1.0, 1.0, 2.0]), np.arange(3), None).effective
    2.6666666666666665
    """
    total, squares = math.fsum(weight), math.fsum(weight * weight)
    mean = estimates(Units.of(weight[:, None], cluster=cluster))[0] if len(weight) else None
    return Weights(
        n=len(weight),
        mean=None if mean is None else mean.value,
        largest=float(weight.max()) if len(weight) else None,
        largest_share=float(weight.max()) / total if total > 0 else None,
        effective=total * total / squares if squares > 0 else 0.0,
        clip=clip,
        clipped=None if clip is None or not len(weight) else float((weight > clip).mean()),
        mean_error=None if mean is None or math.isnan(mean.error) else mean.error,
    )


#: probabilities written by other programs may exceed 1 by rounding
_ONE = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as numbers, float64 ``[rows]``.

    Attributes
    ----------
    discount
        What a reward counts where the target would put it, or where it was shown.
    weight
        The importance weight; 0 where the target has no use for the row.
    reward
        What was earned.
    expected
        The discount times what weights are expected to sum to over a log: what self-normalising divides
        by; ``None`` where that is not known.
    spread
        The discount times the weights themselves, whose expectation that is.
    shown
        The discounted reward as it was logged; ``None`` where it means nothing.
    model, direct
        What a model says: the reward of this row, and what the target would earn here; ``None`` without
        one.
    used
        Rows whose weight takes part in the effective sample size.
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


def check(log: Log) -> None:
    """Refuse probabilities that are none, positions that are none, and rows that stand there twice."""
    zero, reward = pl.col("propensity") == 0, pl.col("reward")
    needs = "what was logged had a chance: 0 < propensity ≤ 1"
    log.require(pl.col("propensity") < 0, "with a negative propensity", needs, "propensity")
    log.require(
        zero & (reward != 0),
        "with a reward and a propensity of 0",
        needs,
        "propensity",
        "reward",
        fix="what cannot happen has happened: the propensities belong to another policy, or were rounded",
    )
    for name in ("propensity", "target_propensity", "examination"):
        if log.has(name):
            wrong = (pl.col(name) < 0) | (pl.col(name) > _ONE)
            log.require(wrong, f"whose {name} is no probability", "0 to 1", name)
    for name in ("position", "target_position"):
        if log.has(name):
            wrong = (pl.col(name) < 1) | (pl.col(name) != pl.col(name).round())
            log.require(
                wrong,
                f"whose {name} is none",
                "whole numbers from 1",
                name,
                fix="positions that count from 0 need 1 added",
            )
    _once(log)


def _once(log: Log) -> None:
    """Refuse an impression that shows a document twice, or two at one place."""
    if not log.has("impression_id"):
        return
    for name in ("doc_id", "position"):
        if log.has(name):
            twice = log.frame.filter(pl.struct("impression_id", name).is_duplicated())
            if twice.height:
                at = twice.row(0, named=True)
                raise DuplicateRows(
                    f"{twice.height:,} rows share an impression and a {name} with another",
                    where=log.source,
                    given=f"impression_id {printable(at['impression_id'], 40)}, "
                    f"{name} {printable(at[name], 40)}",
                    expected=f"a {name} at most once in an impression",
                )


def rows_of_actions(log: Log, discount: Discount) -> Rows:
    """Return rows whose propensity is that of showing what was shown."""
    zero = pl.col("propensity") == 0
    log.require(zero, "with a propensity of 0", "what was logged had a chance: 0 < propensity", "propensity")
    if not log.has("target_propensity") and not log.has("target_position"):
        raise MissingColumn(
            "nothing says what the target would do",
            where=log.source,
            expected="target_propensity: its probability of the logged action; or target_position, "
            "or a target run",
        )
    if log.has("prediction") != log.has("target_prediction"):
        lacking = "target_prediction" if log.has("prediction") else "prediction"
        raise MissingColumn(
            f"there is no column {lacking}",
            where=log.source,
            expected="prediction, the model's reward of the logged action, and target_prediction, "
            "its mean over the actions of the target, or neither",
        )
    position = _floats(log, "position") if log.has("position") else np.ones(log.frame.height)
    if log.has("target_propensity"):
        target = _floats(log, "target_propensity")
    else:
        target = (_floats(log, "target_position") == position).astype(np.float64)
    weight, reward, lam = target / _floats(log, "propensity"), _floats(log, "reward"), discount(position)
    modelled = log.has("prediction")
    return Rows(
        discount=lam,
        weight=weight,
        reward=reward,
        expected=lam,
        spread=lam * weight,
        shown=lam * reward,
        model=_floats(log, "prediction") if modelled else None,
        direct=lam * _floats(log, "target_prediction") if modelled else None,
        used=lam > 0,
    )


def rows_of_examination(log: Log, discount: Discount) -> Rows:
    """Return rows whose propensity is that of a document's being seen."""
    if not log.has("target_position"):
        raise MissingColumn(
            "nothing says where the target would put the documents",
            where=log.source,
            expected="target_position, or a target run",
        )
    propensity, reward = _floats(log, "propensity"), _floats(log, "reward")
    seen = propensity > 0
    weight = np.divide(1.0, propensity, out=np.zeros_like(propensity), where=seen)
    lam = discount(_floats(log, "target_position"))
    known = log.has("examination")
    examined = _floats(log, "examination") if known else propensity
    modelled = log.has("prediction")
    prediction = _floats(log, "prediction") if modelled else np.zeros_like(reward)
    return Rows(
        discount=lam,
        weight=weight,
        reward=reward,
        expected=lam if known else None,
        spread=lam * weight * examined if known else None,
        shown=None,
        model=examined * prediction if modelled else None,
        direct=lam * prediction if modelled else None,
        used=(lam > 0) & (reward != 0),
    )


def _floats(log: Log, column: str) -> Floats:
    """Return a column, NaN where nothing stands."""
    return log.frame[column].fill_null(float("nan")).to_numpy()


_NONE = "none"
_CLIPPED = "by design"


def bias_of(found: Mapping[str, Estimate | None], *, gains: bool) -> dict[str, str]:
    """Return what bias each estimator has, in a few words.

    Parameters
    ----------
    found
        The estimates.
    gains
        Whether no reward is negative, so that weights that are cut can only take away.
    """
    told = dict.fromkeys(found, _NONE) | {"snips": "fades with n", "dm": f"{_CLIPPED}: the model's"}
    told["clipped"] = f"{_CLIPPED}: too low" if gains else _CLIPPED
    whole, cut = found.get("ips"), found.get("clipped")
    if whole is not None and cut is not None and whole.value == cut.value:
        told["clipped"] = _NONE
    return {name: told[name] for name in found}


def biased(bias: Mapping[str, str]) -> dict[str, str]:
    """Return what to know of the estimators that are biased by design."""
    why = {
        "clipped": "its interval is of what clipped weights earn and leaves out what the clip takes away, "
        "which ips does not lose",
        "dm": "its interval is of what the model says and leaves out what that gets wrong, which dr corrects",
    }
    return {name: told for name, told in why.items() if bias.get(name, _NONE) != _NONE}


def without_spread(found: Mapping[str, Estimate | None]) -> Iterator[str]:
    """Warn of estimates that all units agree on."""
    for name, one in found.items():
        if one is not None and one.units > 1 and math.isnan(one.error):
            yield (
                f"{name} is {one.value:g} for every unit: no spread is seen, and nothing says how far it may "
                "be off"
            )


#: name → weight of positions, from 1
DISCOUNTS: Final[dict[str, Callable[[Floats], Floats]]] = {
    "none": np.ones_like,
    "log2": lambda position: 1 / np.log2(position + 1),
    "reciprocal": lambda position: 1 / position,
}


class Discount:
    """Weights of positions, 0 below a cutoff.

    Parameters
    ----------
    name
        What to call it.
    weight
        From positions, 1 or more, to weights.
    k
        Positions below it count nothing.
    """

    def __init__(self, name: str, weight: Callable[[Floats], Floats], k: int | None) -> None:
        self.name = name
        self.k = k
        self._weight = weight

    def __call__(self, position: Floats) -> Floats:
        """Return the weight of each position; one that is NaN stands in no list and weighs nothing."""
        counts = ~np.isnan(position) & (position <= (np.inf if self.k is None else self.k))
        found: Floats = np.where(counts, self._weight(np.where(counts, position, 1.0)), 0.0)
        return found


def discount_of(discount: str | Sequence[float], k: int | None) -> Discount:
    """Return a discount by name, or from the weights of positions 1, 2, … themselves.

    Examples
    --------
    >>> discount_of("log2", 2)(np.array([1.0, 3.0])).tolist()
    [1.0, 0.0]
    >>> discount_of([1, 0.5], None)(np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.5, 0.0]
    """
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise BadOption(f"k={k!r} is no cutoff", expected="a whole number from 1")
    if isinstance(discount, str):
        if discount not in DISCOUNTS:
            close = nearest(discount, DISCOUNTS, n=1)
            raise BadOption(
                f"there is no discount {discount!r}",
                expected=f"{', '.join(DISCOUNTS)}, or the weights of positions 1, 2, …",
                fix=f"did you mean {close[0]!r}?" if close else None,
            )
        return Discount(discount, DISCOUNTS[discount], k)
    weights = np.array([*discount, 0.0], np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise BadOption("a weight of a position is negative or no number", expected="numbers of 0 or more")
    name = ",".join(f"{weight:g}" for weight in weights[:-1])
    last = len(weights) - 1
    return Discount(name, lambda at: weights[np.minimum(at - 1, last).astype(np.int64)], k)
