"""Orders within many lists at once: counts of smaller elements above each one, and an unstable quicksort.

To count, elements are sorted by value in the order of their list, the highest binary digit first.  Whenever a
digit separates elements that were equal so far, each of the high ones learns how many low ones come before
it; after the last digit every pair has been separated once.  O(n · digits).

The quicksort reproduces libraries in which it orders tied scores.  Its steps are those of NumPy's sorts as
Numba compiles them: fewer than 16 rows by insertion, which keeps the order of equal scores; more are split
around the median of three, and swaps across the split change the order of equal scores.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.hits.list_arrays import running, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints


#: elements counted together: as many as fit into a processor's cache
_TOGETHER: Final = 1 << 15
_THREADS: Final = 2


def earlier_smaller(offsets: Ints, value: Ints) -> Ints:
    """Count for every element the earlier ones of its list that are strictly smaller.

    Parameters
    ----------
    offsets
        int64 ``[lists + 1]``: elements of list ``q`` are ``offsets[q]:offsets[q + 1]``.
    value
        int64 ``[elements]``, from 0 up; the denser the better.

    Returns
    -------
    int64 ``[elements]``

    Examples
    --------
    >>> earlier_smaller(np.array([0, 4, 6]), np.array([2, 0, 1, 3, 0, 1])).tolist()
    [0, 0, 1, 3, 0, 1]
    """
    count = np.empty(len(value), np.int64)
    levels = int(value.max(initial=0)) + 1
    for begin, end in spans(offsets, _TOGETHER):
        first = int(offsets[begin])
        last = int(offsets[end])
        if end - begin > 1 or last - first <= _TOGETHER:
            count[first:last] = _count(
                offsets[begin : end + 1] - first, value[first:last]
            )
        else:
            _count_long(value[first:last], levels, count[first:last])
    return count


def weight_of_earlier_smaller(offsets: Ints, value: Ints, weight: Floats) -> Floats:
    """Add for every element the weights of the earlier ones of its list that are strictly smaller.

    No sum is a difference of larger ones, and a list has the same bits whatever other lists there are.

    >>> weight_of_earlier_smaller(np.array([0, 3]), np.array([1, 0, 2]), np.array([0.5, 0.25, 4.0])).tolist()
    [0.0, 0.0, 0.75]
    """
    weights = np.zeros(len(value))
    for begin, end in spans(offsets, _TOGETHER):
        part = slice(int(offsets[begin]), int(offsets[end]))
        part_weight = weight[part]
        for split in _splits(offsets[begin : end + 1] - part.start, value[part]):
            lows = running(
                np.add, (1 - split.high) * part_weight[split.element], split.lengths
            )
            weights[part.start + split.element] += split.high * lows
    return weights


def _count(offsets: Ints, value: Ints) -> Ints:
    count = np.zeros(len(value), np.int64)
    for split in _splits(offsets, value):
        count[split.element] += split.high * split.lows_before
    return count


def _count_long(value: Ints, levels: int, count: Ints) -> None:
    """Count in pieces, two at a time; earlier pieces are known by the frequency of each value."""
    step = max(2 * _TOGETHER, levels // 64)
    parts = [slice(begin, begin + step) for begin in range(0, len(value), step)]

    def inside(part: slice) -> Ints:
        count[part] = _count(np.array([0, len(value[part])]), value[part])
        return np.bincount(value[part], minlength=levels)

    earlier = np.zeros(levels, np.int64)
    with ThreadPoolExecutor(_THREADS) as pool:
        for part, here in zip(parts, pool.map(inside, parts), strict=True):
            count[part] += (np.cumsum(earlier) - earlier)[value[part]]
            earlier += here


class _Split(Record):
    """Elements in groups with equal digits so far, about to be split by the next digit.

    Attributes
    ----------
    element
        int64 ``[elements]``: the elements, group by group, in their list's order within each.
    high
        int64 ``[elements]``: 1 where the element has the digit, else 0.
    lows_before
        int64 ``[elements]``: how many of the group's others come before each.
    start
        int64 ``[elements]``: the beginning of the element's group.
    """

    element: Ints
    high: Ints
    lows_before: Ints
    start: Ints

    @property
    def lengths(self) -> Ints:
        """Sizes of the groups, int64 ``[groups]``."""
        heads = np.flatnonzero(self.start == np.arange(len(self.start)))
        return np.diff(heads, append=len(self.start))


def _splits(offsets: Ints, value: Ints) -> Iterator[_Split]:
    """Sort the elements by value, digit by digit, and yield the groups before each split."""
    rows = len(value)
    lengths = np.diff(offsets)
    here = np.arange(rows)
    element = np.arange(rows)
    left = value
    start = np.repeat(offsets[:-1], lengths)
    stop = np.repeat(offsets[1:], lengths)
    lows = np.zeros(rows + 1, np.int64)
    for digit in range(int(value.max(initial=0)).bit_length() - 1, -1, -1):
        high = left >> digit & 1
        np.cumsum(1 - high, out=lows[1:])
        before = lows.take(start)
        lows_before = lows[:-1] - before
        yield _Split(element, high, lows_before, start)
        if not digit:
            return
        split = start + lows.take(stop) - before
        place = start + lows_before
        place += high * (split + here - start - lows_before - place)
        start = start + high * (split - start)
        stop = split + high * (stop - split)
        element, left, start, stop = (
            _moved(column, place) for column in (element, left, start, stop)
        )


def _moved(column: Ints, place: Ints) -> Ints:
    moved = np.empty_like(column)
    moved[place] = column
    return moved


#: rows from which a list is split
_CUT: Final = 16


def quicksorted(
    key: NDArray[np.floating], starts: Ints, lengths: Ints, times: int = 1
) -> Ints:
    """Return the rows of each list by key descending, with equal keys in the order of the quicksort.

    Parameters
    ----------
    key
        The key that orders the lists, larger first.
    starts, lengths
        The first row and the number of rows of each list.
    times
        How often the library sorts: equal keys are reordered every time.

    Examples
    --------
    >>> key = np.array([1.0] * 16)
    >>> quicksorted(key, np.array([0]), np.array([16])).tolist()
    [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15]
    """
    order = np.arange(len(key))
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        rows = slice(start, start + length)
        if length < _CUT or len(np.unique(key[rows])) == length:
            order[rows] = start + np.argsort(-key[rows], kind="stable")
            continue
        for _ in range(times):
            order[rows] = order[rows][_places((-key[order[rows]]).tolist())]
    return order


def _places(values: list[float]) -> list[int]:
    """Return the places of values in ascending order."""
    place = list(range(len(values)))
    waiting = [(0, len(values) - 1)]
    while waiting:
        low, high = waiting.pop()
        while high - low >= _CUT - 1:
            pivot = _partition(values, place, low, high)
            if high - pivot > pivot - low:
                waiting.append((pivot + 1, high))
                high = pivot - 1
            else:
                waiting.append((low, pivot - 1))
                low = pivot + 1
        # stable, as insertion is
        place[low : high + 1] = sorted(place[low : high + 1], key=values.__getitem__)
    return place


def _partition(values: list[float], place: list[int], low: int, high: int) -> int:
    """Move smaller values before the median of three and larger ones behind it; return its index."""
    middle = (low + high) >> 1
    for earlier, later in ((low, middle), (middle, high), (low, middle)):
        if values[place[later]] < values[place[earlier]]:
            place[earlier], place[later] = place[later], place[earlier]
    pivot = values[place[middle]]
    place[high], place[middle] = place[middle], place[high]
    left = low
    right = high - 1
    while True:
        while left < high and values[place[left]] < pivot:
            left += 1
        while right >= low and pivot < values[place[right]]:
            right -= 1
        if left >= right:
            break
        place[left], place[right] = place[right], place[left]
        left = left + 1
        right = right - 1
    place[left], place[high] = place[high], place[left]
    return left
