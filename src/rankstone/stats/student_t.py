"""Student's t distribution: its tail and its quantiles."""

from __future__ import annotations

import math


def t_tail(t: float, df: float) -> float:
    """Return the chance that Student's t is above ``t``."""
    from scipy import special

    if math.isinf(t):
        return float(t < 0)
    return float(special.stdtr(df, -t))


def t_quantile(share: float, df: float) -> float:
    """Return the t below which a share of the distribution lies."""
    from scipy import special

    return float(special.stdtrit(df, share))


def two_sided_t(confidence: float, df: float) -> float:
    """Return how many errors a two-sided interval reaches; NaN without a degree of freedom.

    >>> round(two_sided_t(0.95, 9), 4)
    2.2622
    """
    if df > 0:
        return t_quantile(0.5 + confidence / 2, df)
    return math.nan


def two_sided_p(t: float, df: float) -> float:
    """Return the chance of a t as far from 0.

    >>> two_sided_p(0.0, 9)
    1.0
    """
    return min(1.0, 2 * t_tail(abs(t), df))
