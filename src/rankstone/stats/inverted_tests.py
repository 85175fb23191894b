"""Intervals of paired differences that agree with their tests: the shifts that a test does not reject.

A test and its interval say the same: 0 is outside the limits exactly where p is at most alpha.  They can
part where the randomisation test has no sign for differences of 0, which at any other shift count, and where
limits are sampled: p then decides, and :func:`agreeing` moves the limit to 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import numpy as np

from rankstone.stats.mean_intervals import estimates
from rankstone.stats.paired_tests import per_unit
from rankstone.stats.randomisation_test import flip_limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Floats, Progress
    from rankstone.stats.sampling_units import Units

    Ends = tuple[float, float]


class FlipKeywords(TypedDict, total=False):
    """How random flips are drawn; as for :func:`~rankstone.stats.randomisation_test.sign_flips`."""

    flips: int
    seed: int
    progress: Progress | None


#: tests whose intervals are of medians
OF_MEDIANS: Final = ("wilcoxon", "sign")
#: up to so many units the signed ranks' distribution is exact, as SciPy's is
_EXACT_RANKS: Final = 50
#: halvings of the range in which an average of two differences is looked for
_HALVINGS: Final = 80


def inverted(
    test: str, units: Units, alpha: float, **drawing: Unpack[FlipKeywords]
) -> list[Ends]:
    """Return for each column the lowest and the highest shift that a test does not reject.

    Parameters
    ----------
    test
        ``randomisation`` or one of :data:`~rankstone.stats.paired_tests.PAIRED`.
    units
        Differences: totals ``[units, columns]`` and sizes.
    alpha
        1 less the confidence, in (0, 1).
    **drawing
        ``flips``, ``seed`` and ``progress`` of :func:`~rankstone.stats.randomisation_test.flip_limits`.

    Returns
    -------
    list
        Both ends of each column; infinite where so few units reject no shift, NaN where one unit has no
        spread.  ``wilcoxon`` is about the median of averages of two differences, ``sign`` about the median,
        both of the differences other than 0, as their p; the others are about the mean.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
    >>> six = Units.from_scores(np.array([[0.1], [0.2], [0.3], [0.4], [0.5], [0.6]]))
    >>> inverted("randomisation", six, 0.05), inverted("sign", six, 0.05)
    ([(0.1, 0.6)], [(0.1, 0.6)])
    """
    # on differences of -1, 0 and 1 McNemar's exact test is that of all sign flips
    if test in ("randomisation", "mcnemar"):
        low, high = flip_limits(units, alpha, **drawing)
        return list(zip(low.tolist(), high.tolist(), strict=True))
    if test == "t":
        return [estimate.interval(1 - alpha) for estimate in estimates(units)]

    limits_of_test = _LIMITS[test]
    ends: list[Ends] = []
    for column in range(units.total.shape[1]):
        differences = per_unit(units, column)
        moved = differences[differences != 0]
        if len(moved):
            ends.append(limits_of_test(moved, alpha))
        else:
            ends.append((0.0, 0.0))
    return ends


def _median_limits(differences: Floats, alpha: float) -> Ends:
    """Invert the sign test: order statistics of differences (Thompson 1936)."""
    from scipy import special

    ordered = np.sort(differences)
    n = len(ordered)
    at_most = special.bdtr(np.arange(n), n, 0.5)
    rank = int((at_most <= alpha / 2).sum())
    if not rank:
        return -np.inf, np.inf
    return float(ordered[rank - 1]), float(ordered[-rank])


def _signed_rank_limits(differences: Floats, alpha: float) -> Ends:
    """Invert Wilcoxon's test: order statistics of averages of two differences (Hodges and Lehmann 1963)."""
    rank = _rejected_sums(len(differences), alpha) + 1
    if not rank:
        return -np.inf, np.inf
    low = _average(np.sort(differences), rank)
    high = -_average(np.sort(-differences), rank)
    return low, high


def _rejected_sums(n: int, alpha: float) -> int:
    """Return the largest sum of ranks whose two-sided p is at most alpha; -1 where there is none."""
    from scipy import special

    if n > _EXACT_RANKS:
        mean = n * (n + 1) / 4
        deviation = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        reach = float(special.ndtri(alpha / 2)) * deviation
        return max(int(np.floor(mean + reach)), -1)

    # in how many ways signs give each sum of ranks, rank by rank
    ways = np.ones(1)
    for rank in range(1, n + 1):
        none = np.zeros(rank)
        ways = np.append(ways, none) + np.append(none, ways)
    p = 2 * np.cumsum(ways) / 2.0**n
    return int((p <= alpha).sum()) - 1


def _average(ordered: Floats, rank: int) -> float:
    """Return the rank-th smallest average of two differences, a difference with itself among them."""
    low = float(ordered[0])
    high = float(ordered[-1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        partners = np.searchsorted(ordered, 2 * middle - ordered, side="right")
        selves = int((ordered <= middle).sum())
        # every pair is counted twice, a difference with itself once
        averages = (int(partners.sum()) + selves) // 2
        if averages >= rank:
            high = middle
        else:
            low = middle
    return high


_LIMITS: Final[dict[str, Callable[[Floats, float], Ends]]] = {
    "sign": _median_limits,
    "wilcoxon": _signed_rank_limits,
}


def agreeing(ends: Ends, value: float, *, rejected: bool) -> Ends:
    """Return limits on the side of 0 that the test says; the limit that is on the other side becomes 0.

    Parameters
    ----------
    ends
        The limits, whose distance from 0 decides the side where the test rejects 0.
    value
        What was estimated: the side where both limits are as far from 0.
    rejected
        Whether p is at most alpha.

    Examples
    --------
    >>> agreeing((-0.001, 0.2), 0.1, rejected=True), agreeing((0.001, 0.2), 0.1, rejected=False)
    ((0.0, 0.2), (0.0, 0.2))
    """
    low, high = ends
    if not rejected:
        return min(low, 0.0), max(high, 0.0)

    middle = low + high
    above = value > 0
    if middle and np.isfinite(middle):
        above = middle > 0
    if above:
        return max(low, 0.0), high
    return low, min(high, 0.0)
