"""Whether an improvement was reproduced: the ratio of two improvements, and the change of a relative one.

The limits of a ratio are Fieller's (1954): where the first improvement may be 0, the ratio may be anything,
and there are none.  Those of relative improvements follow from the linearisation of a ratio of means
(Cochran, Sampling Techniques, 3rd edition 1977, §6.3).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankstone.stats.student_t import two_sided_t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats


def effect_ratio(
    original: Floats, again: Floats, *, paired: bool = True, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return the mean improvement again over the original one, with limits (Breuer and others, SIGIR 2020).

    Parameters
    ----------
    original, again
        float64 ``[queries]``: improvements over the baseline.
    paired
        True if both are of the same queries.
    confidence
        Of the interval.

    Examples
    --------
    >>> original = np.array([0.2, 0.3, 0.25, 0.2])
    >>> [round(limit, 12) for limit in effect_ratio(original, original / 2)]
    [0.5, 0.5, 0.5]
    """
    x = float(original.mean())
    y = float(again.mean())
    ratio = math.nan
    if x:
        ratio = y / x

    # Fieller's limits are the roots of a·ρ² - 2b·ρ + c.
    xx, xy, yy = _covariance_of_means(original, again, paired=paired)
    q = _squared_t(original, again, confidence)
    a = x * x - q * xx
    b = x * y - q * xy
    c = y * y - q * yy
    if not a > 0:
        return ratio, math.nan, math.nan

    root = math.sqrt(max(b * b - a * c, 0.0))
    return ratio, (b - root) / a, (b + root) / a


def relative_change(
    original: Sequence[Floats],
    again: Sequence[Floats],
    *,
    paired: bool = True,
    confidence: float = 0.95,
) -> tuple[float, float, float]:
    """Return the original relative improvement minus that of the repetition (Breuer and others, SIGIR 2020).

    Parameters
    ----------
    original, again
        Scores of the advanced system and of its baseline, float64 ``[queries]`` each.
    paired, confidence
        As for :func:`effect_ratio`.

    Examples
    --------
    >>> first = np.array([0.6, 0.3, 0.3]), np.array([0.5, 0.2, 0.3])
    >>> round(relative_change(first, (first[0] * 2, first[1] * 2))[0], 12)
    0.0
    """
    first, first_parts = _relative_improvement(*original)
    second, second_parts = _relative_improvement(*again)
    xx, xy, yy = _covariance_of_means(first_parts, second_parts, paired=paired)
    q = _squared_t(first_parts, second_parts, confidence)

    change = first - second
    reach = math.sqrt(max(q * (xx + yy - 2 * xy), 0.0))
    return change, *symmetric_interval(change, reach)


def symmetric_interval(centre: float, reach: float) -> tuple[float, float]:
    """Return both ends."""
    return centre - reach, centre + reach


def _relative_improvement(advanced: Floats, baseline: Floats) -> tuple[float, Floats]:
    """Return it, and the part of each query in its error; NaN where the baseline's mean is 0."""
    base = float(baseline.mean())
    if not base:
        return math.nan, np.full(len(baseline), math.nan)

    ratio = float(advanced.mean()) / base
    return ratio - 1, (advanced - ratio * baseline) / base


def _covariance_of_means(
    x: Floats, y: Floats, *, paired: bool
) -> tuple[float, float, float]:
    """Return the variance of the mean of x, the covariance of both, the variance of the mean of y."""
    n = min(len(x), len(y))
    if n < 2:  # noqa: PLR2004 - one query has no spread
        return math.nan, math.nan, math.nan

    xx = float(x.var(ddof=1)) / len(x)
    yy = float(y.var(ddof=1)) / len(y)
    xy = 0.0
    if paired:
        xy = float(np.cov(x, y)[0, 1]) / n
    return xx, xy, yy


def _squared_t(x: Floats, y: Floats, confidence: float) -> float:
    """Return the squared quantile of t for the smaller sample; NaN for a single query."""
    n = min(len(x), len(y))
    return two_sided_t(confidence, n - 1) ** 2
