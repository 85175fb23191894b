"""Effect sizes of paired scores."""

from __future__ import annotations

import math


def d_z(difference: float, deviation: float) -> float | None:
    """Return Cohen's d of paired scores: the mean difference over the differences' standard deviation.

    ``None`` where nothing varies (Cohen 1988).

    >>> d_z(0.05, 0.2)
    0.25
    """
    if not deviation > 0:
        return None
    return difference / deviation


def hedges(n: int) -> float:
    """Return what d_z of n queries is multiplied by to be free of bias (Hedges 1981), exactly.

    With ν = n - 1 degrees of freedom ``Γ(ν/2) / (√(ν/2) Γ((ν-1)/2))``, about ``1 - 3/(4ν - 1)``.  NaN below
    three queries.

    >>> round(hedges(50), 4)
    0.9846
    """
    df = n - 1
    if df < 2:  # noqa: PLR2004 - the mean of t has no value with one degree of freedom
        return math.nan
    ratio = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2))
    return ratio / math.sqrt(df / 2)
