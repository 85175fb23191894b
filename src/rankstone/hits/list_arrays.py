"""Flat arrays that hold many lists end to end: sums, running values, orders, and ideal lists of grades.

Sums run strictly from a list's first value to its last, so they have the same bits whatever other lists there
are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone._basics import Record
from rankstone.hits.remembering import Remembering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Floats, Ints

    #: statuses: there may be many millions of them
    Codes = NDArray[np.int8]
    #: one cutoff for all queries, or int64 ``[queries]``
    Cutoff = int | Ints

#: scales of at most this many whole grades are sorted without looking for their levels first
_SMALL = 1 << 16
#: whole numbers below this are exact as float64, and so is one more than each
_EXACT = 2.0**52
#: values that are worked on at a time, in the processor's cache
_SLICE = 1 << 17
#: how long lists must be on average to be sorted one by one
_WORTH_A_CALL = 24


def sums(group: Ints, values: Floats, groups: int) -> Floats:
    """Sum values by group, each group strictly from its first value to its last, float64 ``[groups]``."""
    return np.bincount(group, values, groups).astype(np.float64, copy=False)


def divided(values: Floats | Ints, by: Floats | Ints, otherwise: float = 0.0) -> Floats:
    """Divide where the divisor is above 0; elsewhere the quotient is ``otherwise``.

    >>> divided(np.array([1.0, 2.0]), np.array([2, 0])).tolist()
    [0.5, 0.0]
    """
    quotient = np.full(values.shape, otherwise)
    np.divide(values, by, out=quotient, where=by > 0)
    return quotient


def offsets_of(lengths: Ints | Bools) -> Ints:
    """Return the beginning of each list and the end of the last one, int64 ``[lists + 1]``."""
    return np.concatenate(([0], np.cumsum(lengths)))


def list_numbers(lengths: Ints) -> Ints:
    """Return the number of each list as often as it is long.

    >>> list_numbers(np.array([2, 0, 1])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(lengths), like=lengths), lengths)


def ragged_range(starts: Ints, lengths: Ints) -> Ints:
    """Return ``starts[0], starts[0]+1, …`` for ``lengths[0]`` numbers, then the next, in one array.

    >>> ragged_range(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    numbers: Ints = np.arange(total, like=ends) + np.repeat(
        starts - (ends - lengths), lengths
    )
    return numbers


def spans(offsets: Ints, rows: int) -> Iterator[tuple[int, int]]:
    """Cut lists into ranges of about so many rows that are worked on together; no list is split.

    >>> [*spans(np.array([0, 2, 4, 9, 10]), 4)]
    [(0, 2), (2, 3), (3, 4)]
    """
    begin = 0
    while begin < len(offsets) - 1:
        limit = offsets[begin] + rows
        reached = np.searchsorted(offsets, limit, side="right")
        end = max(int(reached) - 1, begin + 1)
        yield begin, end
        begin = end


def counts_within(mask: Bools, offsets: Ints) -> Ints:
    """Count the masked values in each list, int64 ``[lists]``."""
    counts = np.zeros_like(offsets[1:])
    nonempty = offsets[1:] > offsets[:-1]
    # exact: whole numbers
    counts[nonempty] = np.add.reduceat(mask, offsets[:-1][nonempty], dtype=np.int64)
    return counts


def running(op: np.ufunc, values: Floats, lengths: Ints) -> Floats:
    """Accumulate ``op`` along each of many runs laid end to end, from the first value to the last.

    >>> running(np.multiply, np.array([2.0, 3.0, 5.0, 7.0]), np.array([2, 2])).tolist()
    [2.0, 6.0, 5.0, 35.0]
    """
    if hasattr(lengths, "running"):  # rows of a table
        accumulated: Floats = lengths.running(op, values)
        return accumulated
    if lengths.max(initial=0) <= 1:
        return values.astype(np.float64)
    result = np.empty_like(values, np.float64)
    starts = np.cumsum(lengths) - lengths
    bits = np.frexp(lengths.astype(np.float64))[1]
    for bucket in np.unique(bits[lengths > 0]).tolist():
        runs = np.flatnonzero(bits == bucket)
        depth = int(lengths[runs].max())
        position = starts[runs] + np.arange(depth)[:, None]
        valid = np.arange(depth)[:, None] < lengths[runs]
        table = op.accumulate(
            np.where(valid, values[np.where(valid, position, 0)], 1.0), axis=0
        )
        result[position[valid]] = table[valid]
    return result


def before(op: np.ufunc, values: Floats, lengths: Ints, first: float) -> Floats:
    """Accumulate ``op`` over the values before each value of its run; ``first`` begins every run.

    >>> before(np.add, np.array([2.0, 3.0, 5.0, 7.0]), np.array([2, 2]), 0.0).tolist()
    [0.0, 2.0, 0.0, 5.0]
    """
    if hasattr(lengths, "before"):  # rows of a table
        accumulated: Floats = lengths.before(op, values, first)
        return accumulated
    earlier = np.empty_like(values, np.float64)
    earlier[1:] = running(op, values, lengths)[:-1]
    earlier[(np.cumsum(lengths) - lengths)[lengths > 0]] = first
    return earlier


def descending_within(group: Ints, values: Floats) -> Floats:
    """Sort values descending within each group; groups are ascending.

    >>> descending_within(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 0.0, 2.0])).tolist()
    [3.0, 1.0, 2.0, 0.0]
    """
    if not len(values):
        return values
    low = values.min()
    high = values.max()
    lengths = np.bincount(group)
    parts = [values[begin : begin + _SLICE] for begin in range(0, len(values), _SLICE)]
    whole = high - low < _SMALL and abs(low) < _EXACT
    if whole and all((part == np.floor(part)).all() for part in parts):
        below = np.concatenate([(high - part).astype(np.uint16) for part in parts])
        sort_within(below, lengths)
        grades: Floats = high - below.astype(np.float64)
        return grades
    levels = np.unique(values)[::-1]
    level = np.searchsorted(-levels, -values).astype(np.uint64)
    sort_within(level, lengths)
    return levels[level]


def next_to_equals(values: NDArray[Any], lengths: Ints) -> Bools:
    """Return which values equal the one before them in their list, bool ``[values]``.

    >>> next_to_equals(np.array([7, 7, 7, 5, 5]), np.array([2, 3])).tolist()
    [False, True, False, False, True]
    """
    same = np.zeros(len(values), bool)
    np.equal(values[1:], values[:-1], out=same[1:])
    same[(np.cumsum(lengths) - lengths)[lengths > 0]] = False
    return same


def sort_within(keys: NDArray[np.unsignedinteger], lengths: Ints) -> None:
    """Sort each of many lists end to end in place, ascending.

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
    begin = 0
    if len(keys) > _WORTH_A_CALL * len(lengths):
        for end in np.cumsum(lengths).tolist():
            keys[begin:end].sort()
            begin = end
        return
    step = _SLICE * len(lengths) // len(keys) + 1
    for first in range(0, len(lengths), step):
        part = lengths[first : first + step]
        end = begin + int(part.sum())
        _sort_as_rows(keys[begin:end], part)
        begin = end


def _sort_as_rows(keys: NDArray[np.unsignedinteger], lengths: Ints) -> None:
    """Sort lists in tables for similar lengths; padding is sorted to the end of a row."""
    bits = np.frexp(lengths.astype(np.float64))[1]
    for bucket in np.unique(bits[lengths > 0]):
        chosen = bits == bucket
        rows = lengths[chosen]
        inside = np.repeat(chosen, lengths)
        shape = (len(rows), int(rows.max()))
        table = np.full(shape, np.iinfo(keys.dtype).max, keys.dtype)
        valid = np.arange(table.shape[1]) < rows[:, None]
        table[valid] = keys[inside]
        table.sort(axis=1)
        keys[inside] = table[valid]


class Blocks(Record):
    """Runs of hits with the same possible ranks.

    Attributes
    ----------
    of_hit
        int64 ``[hits]``: the block of each hit.
    first, last
        int64 ``[blocks]``: first and last rank of the block.
    """

    of_hit: Ints
    first: Ints
    last: Ints

    @cached_property
    def size(self) -> Ints:
        """The number of ranks in each block, int64 ``[blocks]``."""
        return self.last - self.first + 1

    @cached_property
    def tail(self) -> Ints:
        """The last hit of each block, int64 ``[blocks]``."""
        if len(self.first) == len(self.of_hit):
            return self.of_hit
        return np.flatnonzero(np.diff(self.of_hit, append=len(self.first)))

    @cached_property
    def head(self) -> Ints:
        """The first hit of each block, int64 ``[blocks]``."""
        if not len(self.first):
            return self.tail
        return np.concatenate(([0], self.tail[:-1] + 1))


@dataclass(frozen=True, eq=False)
class Ideal(Remembering):
    """All judged grades of each query, best first: the list of a perfect ranking.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``.
    grade
        float64 ``[judged]``, descending within a query.
    """

    offsets: Ints
    grade: Floats
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def query(self) -> Ints:
        """The query of each grade, int64 ``[judged]``."""
        return list_numbers(np.diff(self.offsets))

    @cached_property
    def rank(self) -> Ints:
        """The ideal rank of each grade, from 1, int64 ``[judged]``."""
        return np.arange(1, len(self.grade) + 1, like=self.offsets) - np.repeat(
            self.offsets[:-1], np.diff(self.offsets)
        )

    def regraded(self, grade: Floats) -> Ideal:
        """Return lists of the same lengths with other grades, best first; cached places are shared."""
        other = Ideal(self.offsets, grade)
        vars(other).update(query=self.query, rank=self.rank)
        return other

    def total(self, values: Floats) -> Floats:
        """Sum within each query, best grade first, float64 ``[queries]``."""
        return sums(self.query, values, len(self.offsets) - 1)

    def count(self, mask: Bools) -> Ints:
        """Count within each query, int64 ``[queries]``."""
        return counts_within(mask, self.offsets)

    def relevant_count(self, is_relevant: Callable[[Floats], Bools]) -> Ints:
        """Count the relevant grades of each query, int64 ``[queries]``; computed once."""
        return self.remember(is_relevant, lambda: self.count(is_relevant(self.grade)))

    def best(self) -> Floats:
        """Return the best grade of each query, 0 where nothing is judged, float64 ``[queries]``."""
        best = np.zeros_like(self.offsets[1:], np.float64)
        is_judged = self.offsets[1:] > self.offsets[:-1]
        best[is_judged] = self.grade[self.offsets[:-1][is_judged]]
        return best

    def better(self, query: Ints, grade: Floats) -> Ints:
        """Count the query's grades above each given grade, int64 like ``grade``, by binary search."""
        low = np.repeat(0, len(grade))
        high = np.diff(self.offsets)[query]
        while (low < high).any():
            middle = (low + high) // 2
            inside = low < high
            position = np.where(inside, self.offsets[query] + middle, 0)
            above = inside & (self.grade[position] > grade)
            low = np.where(above, middle + 1, low)
            high = np.where(above | ~inside, high, middle)
        return low

    def down_to(self, k: int) -> Ideal:
        """Return the best ``k`` grades of each query."""
        lengths = np.minimum(np.diff(self.offsets), k)
        if int(lengths.sum()) == len(self.grade):
            return self
        return self.remember(
            ("down to", k),
            lambda: Ideal(
                offsets_of(lengths),
                self.grade[ragged_range(self.offsets[:-1], lengths)],
            ),
        )

    def take(self, codes: Ints) -> Ideal:
        """Return the ideal lists of some queries, in that order; code -1 has an empty list."""
        first = int(codes[0]) if len(codes) else -1
        if first >= 0 and np.array_equal(codes, np.arange(first, first + len(codes))):
            offsets = self.offsets[first : codes[-1] + 2]
            return Ideal(offsets - offsets[0], self.grade[offsets[0] : offsets[-1]])
        known = codes >= 0
        lengths = np.zeros(len(codes), np.int64)
        lengths[known] = self.offsets[codes[known] + 1] - self.offsets[codes[known]]
        starts = np.where(known, self.offsets[codes], 0)
        return Ideal(offsets_of(lengths), self.grade[ragged_range(starts, lengths)])


def end_to_end(parts: Sequence[Ints]) -> Ints:
    """Return the offsets of several parts, one after another, as one.

    >>> end_to_end([np.array([0, 2]), np.array([0, 1, 3])])
    array([0, 2, 3, 5])
    """
    return offsets_of(np.concatenate([np.diff(offsets) for offsets in parts]))


def joined_ideals(parts: Sequence[Ideal]) -> Ideal:
    """Return the ideal lists of several parts, one after another."""
    return Ideal(
        end_to_end([part.offsets for part in parts]),
        np.concatenate([part.grade for part in parts]),
    )
