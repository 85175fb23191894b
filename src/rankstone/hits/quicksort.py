"""An unstable sort: where scores tie, libraries that sort so show documents in an order of its own.

The steps are those of NumPy's sorts as Numba compiles them: fewer than 16 rows by insertion, which leaves
equal scores as they came; more are cut in two around the median of three, and swaps across the cut bring
equals out of their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone.hits.arrays import Ints

__all__ = ["quicksorted"]

#: rows from which a list is cut in two
_CUT: Final = 16


def quicksorted(key: NDArray[np.floating], starts: Ints, lengths: Ints, times: int = 1) -> Ints:
    """Return the rows of each list by key descending, equal keys as the sort leaves them.

    Parameters
    ----------
    key
        What the lists are ordered by, larger first.
    starts, lengths
        The first row and the number of rows of each list.
    times
        How often the library sorts: what is in order already is shuffled again.

    Examples
    --------
    >>> key = np.array([1.0] * 16)
    >>> quicksorted(key, np.array([0]), np.array([16])).tolist()
    [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15]
    """
    order = np.arange(len(key))
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        own = slice(start, start + length)
        if length < _CUT or len(np.unique(key[own])) == length:
            order[own] = start + np.argsort(-key[own], kind="stable")
            continue
        for _ in range(times):
            order[own] = order[own][_places((-key[order[own]]).tolist())]
    return order


def _places(values: list[float]) -> list[int]:
    """Return the places of values in ascending order."""
    place = list(range(len(values)))
    waiting = [(0, len(values) - 1)]
    while waiting:
        low, high = waiting.pop()
        while high - low >= _CUT - 1:
            at = _parted(values, place, low, high)
            if high - at > at - low:
                waiting.append((at + 1, high))
                high = at - 1
            else:
                waiting.append((low, at - 1))
                low = at + 1
        place[low : high + 1] = sorted(
            place[low : high + 1], key=values.__getitem__
        )  # stable, as insertion is
    return place


def _parted(values: list[float], place: list[int], low: int, high: int) -> int:
    """Bring what is smaller than the median of three before it, the larger behind it; return its place."""
    middle = (low + high) >> 1
    for one, other in ((low, middle), (middle, high), (low, middle)):
        if values[place[other]] < values[place[one]]:
            place[one], place[other] = place[other], place[one]
    pivot = values[place[middle]]
    place[high], place[middle] = place[middle], place[high]
    left, right = low, high - 1
    while True:
        while left < high and values[place[left]] < pivot:
            left += 1
        while right >= low and pivot < values[place[right]]:
            right -= 1
        if left >= right:
            break
        place[left], place[right] = place[right], place[left]
        left, right = left + 1, right - 1
    place[left], place[high] = place[high], place[left]
    return left
