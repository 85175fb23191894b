"""The list a perfect ranking would show.

The order in which judged documents give most at every rank, when what was shown gives less again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from rankstone.hits.list_arrays import counts_within, offsets_of, sums
from rankstone.hits.pair_index import ragged_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone.hits.judged_pool import Pool
    from rankstone.hits.list_arrays import Bools, Floats, Ints

    Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Ideal:
    """All judged grades of each query, best first: the list a perfect ranking would show.

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
        return np.repeat(np.arange(len(self.offsets) - 1, like=self.offsets), np.diff(self.offsets))

    @cached_property
    def rank(self) -> Ints:
        """The ideal rank of each grade, from 1, int64 ``[judged]``."""
        return np.arange(1, len(self.grade) + 1, like=self.offsets) - np.repeat(
            self.offsets[:-1], np.diff(self.offsets)
        )

    def regraded(self, grade: Floats) -> Ideal:
        """Return lists as long as these with other grades, best first; places are counted once for all."""
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
        """Return how many grades of each query are relevant, int64 ``[queries]``; counted once."""
        return self.remember(is_relevant, lambda: self.count(is_relevant(self.grade)))

    def remember(self, key: object, make: Callable[[], Value]) -> Value:
        """Return ``make()``, made once for these lists, whatever rankings are held against them."""
        if key not in self._memo:
            self._memo[key] = make()
        found: Value = self._memo[key]
        return found

    def best(self) -> Floats:
        """Return the best grade of each query, 0 where nothing is judged, float64 ``[queries]``."""
        best = np.zeros_like(self.offsets[1:], np.float64)
        some = self.offsets[1:] > self.offsets[:-1]
        best[some] = self.grade[self.offsets[:-1][some]]
        return best

    def better(self, query: Ints, grade: Floats) -> Ints:
        """Count the query's grades above each given grade, int64 like ``grade``: a search by halving."""
        low = np.repeat(0, len(grade))
        high = np.diff(self.offsets)[query]
        while (low < high).any():
            middle = (low + high) // 2
            inside = low < high
            at = np.where(inside, self.offsets[query] + middle, 0)
            above = inside & (self.grade[at] > grade)
            low, high = np.where(above, middle + 1, low), np.where(above | ~inside, high, middle)
        return low

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


#: gains are rounded sums; of two that differ by less neither is the better one
_ROUNDING: Final = 1e-12


def greedy(pool: Pool, worth: Floats, keep: Floats, weight: Floats) -> Iterator[Floats]:
    """Yield, rank by rank, what the best document still left gains in every query.

    A document gains ``weight · fresh · worth`` for each of its groups; ``fresh`` begins at 1 and is
    multiplied by ``keep`` once the document is placed.  Among equal gains the document with the
    larger id comes first.  All queries take their step together.

    Parameters
    ----------
    pool
        Judged documents with their groups.
    worth, keep
        float64 ``[entries]``, 0 or more, and 0 … 1.
    weight
        float64 ``[groups]``, 0 or more.

    Yields
    ------
    numpy.ndarray
        float64 ``[queries]``; 0 where every document that gains something has been placed.
    """
    entries = pool.entries
    useful = np.flatnonzero((worth > 0) & (weight[entries.group] > 0))
    group, worth, keep = entries.group[useful], worth[useful], keep[useful]
    docs, doc = np.unique(entries.doc[useful], return_inverse=True)
    query, by_id = pool.query[docs], pool.id_order[docs]
    weight, fresh = weight[group], np.ones(len(weight))
    while len(query):
        gain = np.bincount(doc, weight * (fresh[group] * worth), len(query))
        starts = np.flatnonzero(np.diff(query, prepend=-1))
        lengths = np.diff(starts, append=len(query))
        best = np.maximum.reduceat(gain, starts)
        if not best.any():
            return
        level = gain >= np.repeat(best * (1 - _ROUNDING), lengths)
        largest = np.maximum.reduceat(np.where(level, by_id, -1), starts)
        placed = level & (by_id == np.repeat(largest, lengths))
        gains = np.zeros(pool.queries)
        gains[query[placed]] = gain[placed]
        yield gains
        shown = placed[doc]
        fresh[group[shown]] *= keep[shown]
        doc = (np.cumsum(~placed) - 1)[doc[~shown]]
        group, worth, keep, weight = (values[~shown] for values in (group, worth, keep, weight))
        query, by_id = query[~placed], by_id[~placed]
