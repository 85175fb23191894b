"""The estimators: sums over impressions, and how uncertain they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.behaviour.alike import spread_between
from rankstone.stats import Units, estimates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone.behaviour.offpolicy.rows import Rows
    from rankstone.stats import Estimate

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["ESTIMATORS", "Estimators", "Weights", "weights_of"]

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
