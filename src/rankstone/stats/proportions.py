"""Shares of people: the interval of one, and the difference of two that may be made of the same people.

Wilson (JASA 22, 1927) for one share; Newcombe (Statistics in Medicine 17, 1998) puts two of these together
for the difference, and Zou and Donner (Statistics in Medicine 27, 2008) say how where both are correlated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import between_0_and_1

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankstone._basics import Floats


def wilson(
    successes: ArrayLike, n: ArrayLike, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Return both ends of Wilson's score interval of ``successes / n``; NaN where n is 0.

    Parameters
    ----------
    successes, n
        Counts, of any shape.
    confidence
        Between 0 and 1.

    Examples
    --------
    >>> low, high = wilson([0, 81], [10, 263])  # the second is an example of Newcombe's (1998)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.2553], [0.2775, 0.3662])
    """
    z2 = _normal_quantile(confidence) ** 2
    k = np.asarray(successes, np.float64)
    size = np.asarray(n, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (k + z2 / 2) / (size + z2)
        variance = k * (size - k) / size + z2 / 4
        reach = np.sqrt(z2 * variance) / (size + z2)

    # the ends of none and of all are exact, which rounding would miss by a hair
    low = np.where(k == 0, 0.0, middle - reach)
    high = np.where(k == size, 1.0, middle + reach)
    empty = size == 0
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def clopper_pearson(
    successes: ArrayLike, n: ArrayLike, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Return both ends of Clopper and Pearson's exact interval (1934) of ``successes / n``.

    Parameters
    ----------
    successes, n
        Counts, of any shape; effective ones need not be whole.
    confidence
        Between 0 and 1.

    Returns
    -------
    tuple
        Both ends, in [0, 1]: the shares that neither tail of the binomial test rejects.

    Examples
    --------
    >>> low, high = clopper_pearson([0, 9], [10, 11])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.4822], [0.3085, 0.9772])
    """
    from scipy import special

    between_0_and_1("confidence", confidence)
    tail = (1 - confidence) / 2
    hits = np.asarray(successes, np.float64)
    misses = np.asarray(n, np.float64) - hits
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(hits, misses + 1, tail)
        high = special.betaincinv(hits + 1, misses, 1 - tail)
    return np.where(hits > 0, low, 0.0), np.where(misses > 0, high, 1.0)


def quantile_interval(
    values: ArrayLike, share: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return both ends of an interval of a quantile, whatever the distribution; infinite if n is too small.

    The ends are two of the values: the number of values below the quantile is binomial (Thompson, Annals of
    Mathematical Statistics 7, 1936).  Values of the same user are not independent, so it is not for clusters.

    Parameters
    ----------
    values
        Independent values, float64 ``[n]``.
    share
        The share of the distribution below the quantile, between 0 and 1.
    confidence
        Between 0 and 1; more is reached, as ends are values.

    Examples
    --------
    >>> quantile_interval(range(1, 101), 0.5)  # ranks 40 and 61 of 100
    (40.0, 61.0)
    >>> quantile_interval(range(1, 21), 0.95)  # 20 values say nothing of an upper end
    (17.0, inf)
    """
    from scipy import special

    between_0_and_1("confidence", confidence)
    ordered = np.sort(np.asarray(values, np.float64))
    n = len(ordered)
    tail = (1 - confidence) / 2

    # the chance of at most so many values below the quantile
    at_most = special.bdtr(np.arange(n), n, share)
    below = int(np.searchsorted(at_most, tail, side="right"))
    above = int(np.searchsorted(at_most, 1 - tail, side="left"))
    low = -np.inf
    high = np.inf
    if below:
        low = float(ordered[below - 1])
    if above < n:
        high = float(ordered[above])
    return low, high


def _normal_quantile(confidence: float) -> float:
    """Return how many errors a two-sided interval reaches."""
    from scipy import special

    between_0_and_1("confidence", confidence)
    return float(special.ndtri((1 + confidence) / 2))


@dataclass(frozen=True)
class Shared:
    """Counts of people who belong to both shares.

    Attributes
    ----------
    n
        How many they are.
    first, second
        How many of them are successes in the first share, and in the second.
    both
        How many are successes in both.
    """

    n: int = 0
    first: int = 0
    second: int = 0
    both: int = 0

    def products(self, mean: float, mean_other: float) -> float:
        """Return the sum of products of the deviations of both outcomes from a mean."""
        return (
            self.both
            - mean * self.second
            - mean_other * self.first
            + mean * mean_other * self.n
        )


@dataclass(frozen=True)
class ProportionDifference:
    """A difference of two shares.

    Attributes
    ----------
    value
        The first less the second.
    low, high
        Its interval.
    p
        That of the hypothesis that both are equal, two-sided; NaN if the data have no information.
    """

    value: float
    low: float
    high: float
    p: float


def proportion_difference(
    first: tuple[int, int],
    second: tuple[int, int],
    shared: Shared | None = None,
    confidence: float = 0.95,
) -> ProportionDifference:
    """Compare two shares; people who count in both are a cluster of two.

    The test is the score test: of people apart it is the two-proportion z test (the square is Pearson's χ²
    without correction), of the same people twice it is McNemar's without correction, and anything between.

    Parameters
    ----------
    first, second
        Successes, and people: ``(56, 70)``.
    shared
        Counts of people who belong to both; none by default.
    confidence
        Of the interval.

    Examples
    --------
    An example of Newcombe's (1998), his method 10:

    >>> difference = proportion_difference((56, 70), (48, 80))
    >>> round(difference.value, 4), round(difference.low, 4), round(difference.high, 4)
    (0.2, 0.0524, 0.3339)
    >>> round(difference.p, 4)
    0.008
    """
    shared = shared or Shared()
    a, n = first
    b, m = second
    if not n or not m:
        return ProportionDifference(np.nan, np.nan, np.nan, np.nan)

    p = a / n
    q = b / m
    spread = np.sqrt(p * (1 - p) * n * q * (1 - q) * m)
    r = 0.0
    if spread:
        r = float(np.clip(shared.products(p, q) / spread, -1, 1))

    # both intervals together, as lengths of sides of a triangle
    (p_low, q_low), (p_high, q_high) = wilson([a, b], [n, m], confidence)
    below = _correlated_reach(p - p_low, q_high - q, r)
    above = _correlated_reach(p_high - p, q - q_low, r)

    pooled = (a + b) / (n + m)
    variance = pooled * (1 - pooled) * (1 / n + 1 / m)
    variance -= 2 * shared.products(pooled, pooled) / (n * m)
    chance = _score_p(p - q, variance)
    return ProportionDifference(p - q, p - q - below, p - q + above, chance)


def _correlated_reach(x: float, y: float, r: float) -> float:
    """Return the reach of a difference from those of both parts, whose correlation is r."""
    return float(np.sqrt(max(x**2 - 2 * r * x * y + y**2, 0.0)))


def _score_p(difference: float, variance: float) -> float:
    """Return the two-sided p; NaN for a difference where nothing varies."""
    from scipy import special

    if variance > 0:
        z = abs(difference) / np.sqrt(variance)
        return 2 * float(special.ndtr(-z))
    if difference == 0:
        return 1.0
    return math.nan
