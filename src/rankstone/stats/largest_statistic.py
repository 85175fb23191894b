"""The distribution of the largest statistic of a family: p-values and critical values from its draws.

Westfall and Young (Resampling-Based Multiple Testing, 1993): where the largest statistic of a family seldom
exceeds a value by chance alone, so does each of them, however they depend on each other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from rankstone._basics import Floats


#: statistics that are closer than this are equal: scores carry rounding errors
_EQUAL: Final = 1e-10


def p_values(statistics: Floats, largest: Floats) -> Floats:
    """Return the share of draws, the observed one among them, whose largest statistic is at least as large.

    Parameters
    ----------
    statistics
        float64, any shape, 0 or more.
    largest
        float64 ``[draws]``, descending: the largest statistic of each draw.

    Examples
    --------
    >>> p_values(np.array([2.5, 0.5]), np.array([3.0, 2.0, 1.0])).tolist()
    [0.5, 1.0]
    """
    at_least = np.searchsorted(-largest, -(statistics - _EQUAL), side="right")
    return (1 + at_least) / (1 + len(largest))


def critical(largest: Floats, alpha: float) -> float:
    """Return the statistic above which p is at most ``alpha``; infinite where there are too few draws.

    Examples
    --------
    >>> critical(np.array([3.0, 2.0, 1.0]), 0.5) > 2.0, critical(np.array([3.0, 2.0, 1.0]), 0.05)
    (True, inf)
    """
    rank = math.floor(alpha * (len(largest) + 1) - 1 + 1e-9)
    if rank < 0:
        return math.inf
    return float(largest[rank]) + _EQUAL
