"""How well a number separates two kinds of cases: the AUROC with an interval, and the nAUC of abstention.

Newcombe (Statistics in Medicine 25, 2006), method 5, is the interval; Gisserot-Boukhlef and others
(Transactions on Machine Learning Research, 2024, arXiv 2402.12997) define the nAUC.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats


#: shares of the queries that abstain, in MTEB's nAUC
_RATES: Final = np.arange(10) / 10
#: an AUROC of 0 or 1 has no error, others next to it have
_NEAR: Final = 1e-9


def separation(
    score: Floats, positive: Bools, confidence: float = 0.95
) -> tuple[float, float, float] | None:
    """Return the AUROC of scores with the interval of Newcombe's method 5; ``None`` for cases of one kind.

    Parameters
    ----------
    score
        float64 ``[cases]``.
    positive
        bool ``[cases]``: True for cases whose scores should be higher.
    confidence
        Between 0 and 1.

    Returns
    -------
    tuple or None
        The AUROC, in [0, 1], equal scores counted half, and both ends.  The interval is of the score type: it
        never leaves [0, 1], and has a width where the kinds are apart; at 1/2 its error is that of the
        Mann-Whitney test.

    Examples
    --------
    >>> auroc, low, high = separation(np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, True, False, False]))
    >>> auroc, round(low, 4), high
    (1.0, 0.3856, 1.0)
    """
    from scipy import optimize, special, stats

    m = int(positive.sum())
    n = len(positive) - m
    if not m * n:
        return None
    ranks = stats.rankdata(score)
    above = ranks[positive].sum() - m * (m + 1) / 2
    auroc = float(above / (m * n))
    z = special.ndtri((1 + confidence) / 2)
    pairs = (m + n) / 2 - 1

    def beyond(end: float) -> float:
        """Return how far an end is beyond the reach of the error that an AUROC of this size has."""
        of_pairs = (1 - end) / (2 - end) + end / (1 + end)
        spread = 1 + pairs * of_pairs
        variance = end * (1 - end) * spread / (m * n)
        reach = z * math.sqrt(variance)
        return float(abs(auroc - end) - reach)

    ends = []
    for end in (0.0, 1.0):
        near = auroc + (end - auroc) * _NEAR
        reached = end
        if auroc != end:
            reached = optimize.brentq(beyond, near, end)
        ends.append(reached)
    return auroc, ends[0], ends[1]


def nauc(confidence: Floats, value: Floats) -> float | None:
    """Return the normalised area under the curve of abstention, as MTEB computes it.

    The curve is the mean value of the queries that are left when a share of 0, .1, … .9 abstains, those of
    the least confidence first.  ``nAUC = (AUC − AUC_flat) / (AUC_oracle − AUC_flat)``: 1 where the least
    values abstain first, 0 for abstention at random, below 0 where the best abstain first.

    Parameters
    ----------
    confidence, value
        float64 ``[queries]``.  Queries of equal confidence share the mean of their values, so that their order
        does not matter.

    Returns
    -------
    float or None
        At most 1; ``None`` where all values are equal, or there is no query.

    Examples
    --------
    >>> nauc(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 0.5, 0.75, 1.0]))
    1.0
    >>> nauc(np.array([0.1, 0.2, 0.3, 0.4]), np.ones(4)) is None
    True

    References
    ----------
    Gisserot-Boukhlef, Faysse, Malherbe, Hudelot and Colombo (2024), Towards trustworthy reranking: a simple
    yet effective abstention mechanism.
    """
    if len({*value.tolist()}) <= 1:
        return None
    _, block = np.unique(confidence, return_inverse=True)
    means = np.bincount(block, value) / np.bincount(block)
    constant = np.full(len(value), value.mean())
    area = _area(confidence, means[block])
    oracle = _area(value, value)
    flat = _area(value, constant)
    return (area - flat) / (oracle - flat)


def _area(confidence: Floats, value: Floats) -> float:
    """Return the area under the mean value of the queries that do not abstain."""
    ordered = value[np.argsort(confidence, kind="stable")]
    n = len(ordered)
    left_out = np.minimum(np.round(_RATES * n), n - 1)
    means = [ordered[int(count) :].mean() for count in left_out]
    return float(np.trapezoid(means, _RATES))
