"""Where two mean curves cross."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints

__all__ = ["crossings", "nearest_crossings"]


def crossings(x: Floats, gap: Floats) -> tuple[Floats, Ints]:
    """Return where the difference of two curves changes sign, and its sign behind that place.

    Between neighbours on the grid the curves are straight; where they run together for a while, they
    cross in the middle of that stretch.  Touching without changing sides is no crossing.

    >>> [place.tolist() for place in crossings(np.array([0.0, 1.0, 2.0]), np.array([1.0, -3.0, 0.0]))]
    [[0.25], [-1]]
    """
    apart = np.flatnonzero(gap)
    sign = np.sign(gap[apart]).astype(np.int64)
    turn = np.flatnonzero(sign[1:] != sign[:-1])
    left, right = apart[turn], apart[turn + 1]
    straight = x[left] + (x[right] - x[left]) * (gap[left] / (gap[left] - gap[right]))
    together = (x[left + 1] + x[right - 1]) / 2
    return np.where(right == left + 1, straight, together), sign[turn + 1]


def nearest_crossings(x: Floats, gaps: Floats, at: float, sign: int) -> Floats:
    """Return, for each resample that has one, the crossing of that direction nearest to ``at``.

    Parameters
    ----------
    x
        float64 ``[grid]``.
    gaps
        float64 ``[resamples, grid]``: differences of resampled mean curves.
    at, sign
        The crossing observed, and which way it goes.
    """
    found = []
    for gap in gaps:
        places, signs = crossings(x, gap)
        alike = places[signs == sign]
        if len(alike):
            found.append(alike[np.abs(alike - at).argmin()])
    return np.array(found)
