"""Whether an improvement was reproduced: the ratio of two improvements, and the change of a relative one.

The limits of a ratio are Fieller's (1954): where the first improvement may be 0, the ratio may be anything,
and there are none.  Those of relative improvements follow from the linearisation of a ratio of means
(Cochran, Sampling Techniques, 3rd edition 1977, §6.3).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

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
    >>> [round(one, 12) for one in effect_ratio(original, original / 2)]
    [0.5, 0.5, 0.5]
    """
    x = float(original.mean())
    y = float(again.mean())
    value = y / x if x else math.nan
    (xx, xy), (_, yy), q = _covariance(original, again, confidence, paired=paired)
    a = x * x - q * xx
    b = x * y - q * xy
    c = y * y - q * yy
    if not a > 0:
        return value, math.nan, math.nan
    root = math.sqrt(max(b * b - a * c, 0.0))
    return value, (b - root) / a, (b + root) / a


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
    relative = []
    parts = []
    for advanced, baseline in (original, again):
        base = float(baseline.mean())
        ratio = float(advanced.mean()) / base if base else math.nan
        relative.append(ratio - 1)
        parts.append(
            (advanced - ratio * baseline) / base
            if base
            else np.full(len(baseline), math.nan)
        )
    (xx, xy), (_, yy), q = _covariance(parts[0], parts[1], confidence, paired=paired)
    value = relative[0] - relative[1]
    reach = math.sqrt(max(q * (xx + yy - 2 * xy), 0.0))
    return value, *around(value, reach)


def around(value: float, reach: float) -> tuple[float, float]:
    """Return both ends of a symmetric interval."""
    return value - reach, value + reach


def t_quantile(df: int, confidence: float) -> float:
    """Return the quantile of t for a two-sided interval; NaN without a degree of freedom."""
    from scipy import special

    return float(special.stdtrit(df, 0.5 + confidence / 2)) if df > 0 else math.nan


def _covariance(
    one: Floats, other: Floats, confidence: float, *, paired: bool
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Return the covariance of two means, and the squared quantile of t for it."""
    n = min(len(one), len(other))
    if n < 2:  # noqa: PLR2004 - one query has no spread
        return (math.nan, math.nan), (math.nan, math.nan), math.nan
    xx, yy = (float(part.var(ddof=1)) / len(part) for part in (one, other))
    xy = float(np.cov(one, other)[0, 1]) / n if paired else 0.0
    return (xx, xy), (xy, yy), t_quantile(n - 1, confidence) ** 2
