"""Flat arrays, many lists laid end to end: sums, running values and orders within each list.

Sums run strictly from a list's first value to its last, so they have the same bits whatever else is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    #: statuses: there may be many millions of them
    Codes = NDArray[np.int8]
    Keys = NDArray[np.uint64]
    #: one cutoff for all queries, or int64 ``[queries]``
    Cutoff = int | Ints

#: scales of so few whole grades are sorted without looking for their levels first
_SMALL = 256
#: whole numbers below this are exact as float64, and so is one more than each
_EXACT = 2.0**52
#: values sorted at a time
_SLICE = 1 << 17
#: how long lists must be on average to be sorted one by one
_WORTH_A_CALL = 16
_LAST_KEY = np.uint64(2**64 - 1)


def sums(group: Ints, values: Floats, groups: int) -> Floats:
    """Sum values by group, each group strictly from its first value to its last, float64 ``[groups]``."""
    return np.bincount(group, values, groups).astype(np.float64, copy=False)


def offsets_of(lengths: Ints) -> Ints:
    """Return where each list begins and the last one ends, int64 ``[lists + 1]``."""
    return np.concatenate(([0], np.cumsum(lengths)))


def counts_within(mask: Bools, offsets: Ints) -> Ints:
    """Count what is masked in each list, int64 ``[lists]``."""
    counts = np.zeros_like(offsets[1:])
    some = offsets[1:] > offsets[:-1]
    counts[some] = np.add.reduceat(mask, offsets[:-1][some], dtype=np.int64)  # exact: whole numbers
    return counts


def running(op: np.ufunc, values: Floats, lengths: Ints) -> Floats:
    """Accumulate ``op`` along each of many runs laid end to end, from the first value to the last.

    >>> running(np.multiply, np.array([2.0, 3.0, 5.0, 7.0]), np.array([2, 2])).tolist()
    [2.0, 6.0, 5.0, 35.0]
    """
    if lengths.max(initial=0) <= 1:
        return values.astype(np.float64)
    result = np.empty_like(values, np.float64)
    starts = np.cumsum(lengths) - lengths
    bits = np.frexp(lengths.astype(np.float64))[1]
    for bucket in np.unique(bits[lengths > 0]).tolist():
        runs = np.flatnonzero(bits == bucket)
        depth = int(lengths[runs].max())
        at = starts[runs] + np.arange(depth)[:, None]
        valid = np.arange(depth)[:, None] < lengths[runs]
        table = op.accumulate(np.where(valid, values[np.where(valid, at, 0)], 1.0), axis=0)
        result[at[valid]] = table[valid]
    return result


def before(op: np.ufunc, values: Floats, lengths: Ints, first: float) -> Floats:
    """Accumulate ``op`` over what stands before each value of its run; ``first`` begins every run.

    >>> before(np.add, np.array([2.0, 3.0, 5.0, 7.0]), np.array([2, 2]), 0.0).tolist()
    [0.0, 2.0, 0.0, 5.0]
    """
    earlier = np.empty_like(values, np.float64)
    earlier[1:] = running(op, values, lengths)[:-1]
    earlier[(np.cumsum(lengths) - lengths)[lengths > 0]] = first
    return earlier


def descending_within(group: Ints, values: Floats) -> Floats:
    """Sort values descending within each group; groups ascend and stay where they are.

    >>> descending_within(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 0.0, 2.0])).tolist()
    [3.0, 1.0, 2.0, 0.0]
    """
    if not len(values):
        return values
    low, high = values.min(), values.max()
    whole = high - low < _SMALL and abs(low) < _EXACT and (values == np.floor(values)).all()
    levels = (np.arange(low, high + 1) if whole else np.unique(values))[::-1]
    result = np.empty(len(values))
    for begin, end in _slices(group):
        part = values[begin:end]
        if group[begin] == group[end - 1]:
            result[begin:end] = np.sort(part)[::-1]
            continue
        above = (high - part).astype(np.int64) if whole else np.searchsorted(-levels, -part)
        result[begin:end] = levels[_ascending_within(group[begin:end] - group[begin], above, len(levels))]
    return result


def sort_within(keys: Keys, lengths: Ints) -> None:
    """Sort each of many lists laid end to end, ascending, where they stand.

    Short lists of about the same length are the rows of one table: that, and one call for each long list, is
    several times faster than sorting one long array in which the lists' numbers would be the first bits.

    >>> keys = np.array([9, 3, 7, 1, 5], np.uint64)
    >>> sort_within(keys, np.array([2, 3]))
    >>> keys.tolist()
    [3, 9, 1, 5, 7]
    """
    if not len(keys):
        return
    if (lengths == lengths[0]).all():
        keys.reshape(len(lengths), -1).sort(axis=1)
        return
    if len(keys) > _WORTH_A_CALL * len(lengths):
        begin = 0
        for end in np.cumsum(lengths).tolist():
            keys[begin:end].sort()
            begin = end
        return
    bits = np.frexp(lengths.astype(np.float64))[1]
    for bucket in np.unique(bits[lengths > 0]):
        chosen = bits == bucket
        rows, inside = lengths[chosen], np.repeat(chosen, lengths)
        table = np.full((len(rows), int(rows.max())), _LAST_KEY)  # what fills a row up stays behind it
        valid = np.arange(table.shape[1]) < rows[:, None]
        table[valid] = keys[inside]
        table.sort(axis=1)
        keys[inside] = table[valid]


def _slices(group: Ints) -> Iterator[tuple[int, int]]:
    """Cut ascending groups into slices that a processor's cache holds; no group is cut in two."""
    begin = 0
    while begin < len(group):
        end = min(begin + _SLICE, len(group))
        if end < len(group):
            first = int(np.searchsorted(group[begin:], group[end - 1])) + begin
            end = first if first > begin else int(np.searchsorted(group, group[begin], side="right"))
        yield begin, end
        begin = end


def _ascending_within(group: Ints, code: Ints, codes: int) -> Ints:
    """Sort numbers below ``codes`` ascending within each group; ``group`` counts from 0."""
    cells = (int(group[-1]) + 1) * codes
    code += group * codes
    if cells > len(code):
        code.sort()
        return code - group * codes
    counts = np.bincount(code, minlength=cells)  # few cells: how often each comes says it all
    return np.repeat(np.tile(np.arange(codes), cells // codes), counts)
