"""A list and its ideal as two orders of the same documents, compared pair by pair."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record
from rankstone.hits.list_arrays import before, sums
from rankstone.hits.list_orders import earlier_smaller, weight_of_earlier_smaller

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits

#: whole grades in a smaller range are numbered without a search
_SMALL = 256


class OrderComparison(Record):
    """The place of every hit in the ranking and in an ideal order, and the pairs on which the two differ.

    Only hits are compared.  Two hits are in the right order if ranking and ideal order agree on them; if they
    tie in the ranking, hits of equal grade count as right and hits of different grades as half right.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``, as in the hits.
    hit
        int64 ``[hits]``: the hits in the order of the ranking; tied ones in the ideal order.
    query, place
        int64 ``[hits]``, in that order, as all that follows: the query, and the place among its hits from 0.
    block
        int64: the tie block.
    ideal
        int64: the place in the ideal order, from 0.
    inversions
        int64: hits above it that belong below.
    begins
        int64 ``[grades]``: where each grade begins if all queries are in ideal order; grades are numbered
        through all queries, best first in each.
    """

    offsets: Ints
    hit: Ints
    query: Ints
    place: Ints
    block: Ints
    ideal: Ints
    inversions: Ints
    begins: Ints

    @classmethod
    def of(cls, hits: Hits) -> OrderComparison:
        """Compare with the ideal order in which hits of equal grade are in the order of the ranking."""
        return hits.remember("order comparison", lambda: cls._of(hits))

    @classmethod
    def _of(cls, hits: Hits) -> OrderComparison:
        block = hits.with_open_ties().blocks.of_hit
        level = _levels(hits.grade)
        hit = np.arange(len(block))
        query = hits.query
        top = int(level.max(initial=0))
        if len(block) and block[-1] < len(block) - 1:
            hit = np.lexsort((-level, block))
            level = level[hit]
        # in place here and below: every new array of ten million numbers takes as long as a sum
        key = query * (top + 1)
        key += top
        key -= level
        best_first = _stable_order(key)
        sorted_key = np.take(key, best_first, out=key)
        fresh = np.ones(len(hit), bool)
        fresh[1:] = sorted_key[1:] != sorted_key[:-1]
        place = np.arange(len(hit))
        place -= hits.offsets[:-1][query]
        ideal = np.empty_like(hit)
        ideal[best_first] = place
        return cls(
            offsets=hits.offsets,
            hit=hit,
            query=query,
            place=place,
            block=block,
            ideal=ideal,
            inversions=earlier_smaller(hits.offsets, level),
            begins=np.flatnonzero(fresh),
        )

    def with_ideal(self, ideal: Ints) -> OrderComparison:
        """Return the comparison with another ideal order, int64 in the order of these arrays."""
        again = np.lexsort((ideal, self.block))
        ideal = ideal[again]
        inversions = self.place - earlier_smaller(self.offsets, ideal)
        return replace(self, hit=self.hit[again], ideal=ideal, inversions=inversions)

    @cached_property
    def size(self) -> Ints:
        """How many hits the query has, int64 ``[hits]``."""
        return np.diff(self.offsets)[self.query]

    @cached_property
    def grade(self) -> Ints:
        """The number of the hit's grade, int64 ``[hits]``."""
        by_place = np.repeat(
            np.arange(len(self.begins)), np.diff(self.begins, append=len(self.hit))
        )
        grade: Ints = by_place[self.offsets[:-1][self.query] + self.ideal]
        return grade

    @cached_property
    def first(self) -> Ints:
        """The ideal place at which the hit's grade begins, int64 ``[hits]``."""
        return self.begins[self.grade] - self.offsets[:-1][self.query]

    @cached_property
    def same_grade(self) -> Ints:
        """How many hits have the same grade, int64 ``[hits]``."""
        return np.diff(self.begins, append=len(self.hit))[self.grade]

    @property
    def has_no_ties(self) -> bool:
        """True if no two hits tie."""
        return not len(self.block) or bool(self.block[-1] == len(self.block) - 1)

    def mean_in_block(self, values: Floats) -> Floats:
        """Give every hit the mean of its tie block."""
        return (
            values
            if self.has_no_ties
            else _sums(self.block, values) / _sums(self.block, np.ones(len(values)))
        )

    def tied_other_grades(self, values: Floats) -> Floats:
        """Sum the values of the hits that tie with each hit and have another grade."""
        if self.has_no_ties:
            return np.zeros(len(values))
        fresh = np.ones(len(values), bool)
        fresh[1:] = (self.block[1:] != self.block[:-1]) | (
            self.grade[1:] != self.grade[:-1]
        )
        return _sums(self.block, values) - _sums(np.cumsum(fresh) - 1, values)

    def right_pairs(self, *, drop: bool) -> Floats:
        """Count the hits in the right order with each; ``drop``: those of other grades only."""
        right = -2 * self.inversions
        right += self.place
        right -= self.ideal
        right += self.size
        right -= self.same_grade if drop else 1
        if self.has_no_ties:
            return right.astype(np.float64)
        return right - self.tied_other_grades(np.ones(len(right))) / 2

    def right_weights(self, weight: Floats, *, drop: bool) -> Floats:
        """Sum the weights of the hits in the right order with each."""
        value = self.ideal
        most = self.size - 1
        if drop:
            heads = np.searchsorted(self.begins, self.offsets)
            value = self.grade - heads[self.query]
            most = np.diff(heads)[self.query] - 1
        above = weight_of_earlier_smaller(self.offsets, value, weight)
        reversed_offsets = len(value) - self.offsets[::-1]
        below = weight_of_earlier_smaller(
            reversed_offsets, (most - value)[::-1], weight[::-1]
        )[::-1]
        return above + below - self.tied_other_grades(weight) / 2

    def weight_of_pairs(self, weight: Floats, *, drop: bool) -> Floats:
        """Sum the products of weights over the pairs of each query, each pair twice, ``[queries]``."""
        heads = self.offsets[:-1][self.query]
        best_first = np.empty_like(self.ideal)
        best_first[heads + self.ideal] = np.arange(len(self.ideal))
        weights = weight[best_first]
        better = before(np.add, weights, np.diff(self.offsets), 0.0)
        if drop:
            better = better[heads + self.first[best_first]]
        return 2 * sums(self.query, weights * better, len(self.offsets) - 1)


def _sums(group: Ints, values: Floats) -> Floats:
    """Give every value the sum over its group; groups ascend from 0."""
    return sums(group, values, int(group[-1]) + 1)[group]


def _levels(grade: Floats) -> Ints:
    """Return small whole numbers in the order of the grades."""
    if not len(grade):
        return np.empty(0, np.int64)
    low = grade.min()
    high = grade.max()
    levels: Ints
    if high - low < _SMALL and (grade == np.floor(grade)).all():
        levels = (grade - low).astype(np.int64)
    else:
        levels = np.unique(grade, return_inverse=True)[1]
    return levels


def _stable_order(key: Ints) -> Ints:
    """Return the stable order of whole numbers from 0; small ones are sorted by digits."""
    small = key.max(initial=0) < np.iinfo(np.uint16).max
    return np.argsort(key.astype(np.uint16) if small else key, kind="stable")
