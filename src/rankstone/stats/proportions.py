"""Shares of people: the interval of one, and the difference of two that may be made of the same people.

Wilson (JASA 22, 1927) for one share; Newcombe (Statistics in Medicine 17, 1998) puts two of these together
for the difference, and Zou and Donner (Statistics in Medicine 27, 2008) say how where both are correlated.

The sample ratio test checks whether units were assigned in the intended shares: Pearson's chi-square.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import between_0_and_1

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    z2 = _quantile(confidence) ** 2
    k = np.asarray(successes, np.float64)
    size = np.asarray(n, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (k + z2 / 2) / (size + z2)
        reach = np.sqrt(z2 * (k * (size - k) / size + z2 / 4)) / (size + z2)
    # the ends of none and of all are exact, which rounding would miss by a hair
    low = np.where(k == 0, 0.0, middle - reach)
    high = np.where(k == size, 1.0, middle + reach)
    none = size == 0
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


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
    hit = np.asarray(successes, np.float64)
    miss = np.asarray(n, np.float64) - hit
    with np.errstate(invalid="ignore"):
        low = np.where(hit > 0, special.betaincinv(hit, miss + 1, tail), 0.0)
        high = np.where(miss > 0, special.betaincinv(hit + 1, miss, 1 - tail), 1.0)
    return low, high


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
    below = special.bdtr(
        np.arange(n), n, share
    )  # chance of at most so many values below the quantile
    low = int(np.searchsorted(below, tail, side="right"))
    high = int(np.searchsorted(below, 1 - tail, side="left"))
    return (
        float(ordered[low - 1]) if low else -np.inf,
        float(ordered[high]) if high < n else np.inf,
    )


def _quantile(confidence: float) -> float:
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
    one, other
        How many of them are successes in the first share, and in the second.
    both
        How many are successes in both.
    """

    n: int = 0
    one: int = 0
    other: int = 0
    both: int = 0

    def products(self, mean: float, mean_other: float) -> float:
        """Return the sum of products of the deviations of both outcomes from a mean."""
        return (
            self.both
            - mean * self.other
            - mean_other * self.one
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
    one: tuple[int, int],
    other: tuple[int, int],
    shared: Shared | None = None,
    confidence: float = 0.95,
) -> ProportionDifference:
    """Compare two shares; people who count in both are a cluster of two.

    The test is the score test: of people apart it is the two-proportion z test (the square is Pearson's χ²
    without correction), of the same people twice it is McNemar's without correction, and anything between.

    Parameters
    ----------
    one, other
        Successes, and people: ``(56, 70)``.
    shared
        Counts of people who belong to both; none by default.
    confidence
        Of the interval.

    Examples
    --------
    An example of Newcombe's (1998), his method 10:

    >>> found = proportion_difference((56, 70), (48, 80))
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4), round(found.p, 4)
    (0.2, 0.0524, 0.3339, 0.008)
    """
    from scipy import special

    shared = shared or Shared()
    (a, n), (b, m) = one, other
    if not n or not m:
        return ProportionDifference(np.nan, np.nan, np.nan, np.nan)
    p = a / n
    q = b / m
    (low, low_other), (high, high_other) = wilson([a, b], [n, m], confidence)
    spread = np.sqrt(p * (1 - p) * n * q * (1 - q) * m)
    r = float(np.clip(shared.products(p, q) / spread, -1, 1)) if spread else 0.0
    below = _together(p - low, high_other - q, r)
    above = _together(high - p, q - low_other, r)
    pooled = (a + b) / (n + m)
    variance = pooled * (1 - pooled) * (1 / n + 1 / m)
    variance -= 2 * shared.products(pooled, pooled) / (n * m)
    if variance > 0:
        chance = 2 * float(special.ndtr(-abs(p - q) / np.sqrt(variance)))
    else:
        chance = 1.0 if p == q else np.nan
    return ProportionDifference(p - q, p - q - below, p - q + above, chance)


def _together(one: float, other: float, r: float) -> float:
    return float(np.sqrt(max(one**2 - 2 * r * one * other + other**2, 0.0)))


@dataclass(frozen=True)
class SampleRatio:
    """The result of the test.

    Attributes
    ----------
    chi_square, df
        Pearson's statistic (1900) and its degrees of freedom.
    p
        The chance of one as large, where the shares are what they should be.
    exact
        Whether p is that of the counts themselves (two of them), and not of the chi-square distribution.
    """

    chi_square: float
    df: int
    p: float
    exact: bool


def sample_ratio(counts: Sequence[int], shares: Sequence[float]) -> SampleRatio:
    """Test counts against shares, which sum to 1.

    Examples
    --------
    Of 10 units 8 in one half: as far from 5 are 0, 1, 2, 8, 9 and 10 of 10 coins.

    >>> found = sample_ratio([8, 2], [0.5, 0.5])
    >>> round(found.chi_square, 4), round(found.p, 6), found.exact
    (3.6, 0.109375, True)
    """
    from scipy import special

    observed = np.asarray(counts, np.float64)
    expected = np.asarray(shares, np.float64) * sum(counts)
    chi_square = float(((observed - expected) ** 2 / expected).sum())
    df = len(observed) - 1
    if df != 1:
        return SampleRatio(
            chi_square,
            df,
            float(special.chdtrc(df, chi_square)) if df else 1.0,
            exact=False,
        )
    n = int(observed.sum())
    distance = abs(float(observed[0] - expected[0]))
    slack = 1e-9 * max(1.0, expected[0])  # equal but for rounding
    least = np.floor(expected[0] - distance + slack)
    most = np.ceil(expected[0] + distance - slack)
    if least >= most:
        return SampleRatio(chi_square, df, 1.0, exact=True)
    below = float(special.bdtr(least, n, shares[0])) if least >= 0 else 0.0
    above = float(special.bdtrc(most - 1, n, shares[0])) if most <= n else 0.0
    return SampleRatio(chi_square, df, min(1.0, below + above), exact=True)
