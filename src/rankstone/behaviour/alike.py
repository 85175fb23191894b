"""Units that all have the same value: no spread is seen, which does not mean that there is none."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rankstone.stats import Estimate

__all__ = ["alike", "spread_between"]

#: the chance left above the bound of Clopper and Pearson
_TAIL: Final = 0.025
#: degrees of freedom with which Student's distribution is the normal one
_NORMAL: Final = 1e9
#: errors below this share of a value are rounding
_ROUNDING: Final = 1e-12


def alike(found: Estimate) -> bool:
    """Say whether several units show no spread at all."""
    return found.error <= _ROUNDING * max(1.0, abs(found.value))


def spread_between(found: Estimate, low: float, high: float) -> Estimate:
    """Return an estimate whose interval is never a point.

    Where all units are alike its 95 % interval ends where that of Clopper and Pearson (1934) does for n units
    of n, stretched to the values there can be: about 3.7 / n of their range, a rule of three with both ends.

    Parameters
    ----------
    found
        An estimate with Student's interval.
    low, high
        The values that a unit can have; where these are one value, or have no end, there is no error.

    Examples
    --------
    >>> from rankstone.stats import Estimate
    >>> low, high = spread_between(Estimate(1.0, 0.0, 100, df=99.0), 0, 1).interval()
    >>> round(low, 4), round(0.025 ** (1 / 100), 4)
    (0.9638, 0.9638)
    """
    if math.isnan(found.error) or not alike(found):
        return found
    reach = max(found.value - low, high - found.value) * (1 - _TAIL ** (1 / found.units))
    known = 0 < reach < math.inf
    return replace(found, error=reach / -NormalDist().inv_cdf(_TAIL) if known else math.nan, df=_NORMAL)
