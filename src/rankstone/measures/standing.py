"""How a ranking and an ideal order of the same documents agree, document by document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.arrays import before, sums
from rankstone.hits.inversions import earlier_smaller, weight_of_earlier_smaller

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["Standing"]


@dataclass(frozen=True, eq=False)
class Standing:
    """Where every hit stands in the ranking and in an ideal order, and how many pairs that costs.

    Only hits take part.  A hit and another are in the right order when ranking and ideal order put them
    alike; where they tie in the ranking, one of equal grade is, one of another grade is half.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``, as in the hits.
    hit
        int64 ``[hits]``: the hits in the ranking's order; those that tie in the ideal one.
    query, place
        int64 ``[hits]``, in that order, as all that follows: the query, and the place among its hits from 0.
    block
        int64: the tie block.
    ideal
        int64: the place in the ideal order, from 0.
    lost
        int64: hits above it that should stand below.
    begins
        int64 ``[grades]``: where each grade begins, were all queries in ideal order; grades are counted
        through all queries, best first in each.
    """

    offsets: Ints
    hit: Ints
    query: Ints
    place: Ints
    block: Ints
    ideal: Ints
    lost: Ints
    begins: Ints

    @classmethod
    def of(cls, hits: Hits) -> Standing:
        """Take the ideal order that keeps hits of equal grade in the ranking's order."""
        return hits.remember("standing", lambda: cls._of(hits))

    @classmethod
    def _of(cls, hits: Hits) -> Standing:
        block, level = hits.with_open_ties().blocks.of_hit, _levels(hits.grade)
        hit, query, top = np.arange(len(block)), hits.query, int(level.max(initial=0))
        if len(block) and block[-1] < len(block) - 1:
            hit = np.lexsort((-level, block))
            level = level[hit]
        key = query * (
            top + 1
        )  # here and below in place: every new array of ten million costs as much as a sum
        key += top
        key -= level
        best_first = _stable_order(key)
        in_order = np.take(key, best_first, out=key)
        fresh = np.ones(len(hit), bool)
        fresh[1:] = in_order[1:] != in_order[:-1]
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
            lost=earlier_smaller(hits.offsets, level),
            begins=np.flatnonzero(fresh),
        )

    def with_ideal(self, ideal: Ints) -> Standing:
        """Return the standing against another ideal order, int64 in the order of these arrays."""
        again = np.lexsort((ideal, self.block))
        ideal = ideal[again]
        lost = self.place - earlier_smaller(self.offsets, ideal)
        return replace(self, hit=self.hit[again], ideal=ideal, lost=lost)

    @cached_property
    def size(self) -> Ints:
        """How many hits the query has, int64 ``[hits]``."""
        return np.diff(self.offsets)[self.query]

    @cached_property
    def grade(self) -> Ints:
        """The number of the hit's grade, int64 ``[hits]``."""
        in_order = np.repeat(np.arange(len(self.begins)), np.diff(self.begins, append=len(self.hit)))
        grade: Ints = in_order[self.offsets[:-1][self.query] + self.ideal]
        return grade

    @cached_property
    def first(self) -> Ints:
        """The ideal place at which the hit's grade begins, int64 ``[hits]``."""
        return self.begins[self.grade] - self.offsets[:-1][self.query]

    @cached_property
    def alike(self) -> Ints:
        """How many hits have the same grade, int64 ``[hits]``."""
        return np.diff(self.begins, append=len(self.hit))[self.grade]

    @property
    def untied(self) -> bool:
        """Whether no two hits tie."""
        return not len(self.block) or bool(self.block[-1] == len(self.block) - 1)

    def mean_in_block(self, values: Floats) -> Floats:
        """Give every hit the mean of its tie block."""
        return values if self.untied else _sums(self.block, values) / _sums(self.block, np.ones(len(values)))

    def tied_apart(self, values: Floats) -> Floats:
        """Add up the values of the hits that tie with each hit and have another grade."""
        if self.untied:
            return np.zeros(len(values))
        fresh = np.ones(len(values), bool)
        fresh[1:] = (self.block[1:] != self.block[:-1]) | (self.grade[1:] != self.grade[:-1])
        return _sums(self.block, values) - _sums(np.cumsum(fresh) - 1, values)

    def kept(self, *, drop: bool) -> Floats:
        """Count the hits that stand on the right side of each; ``drop``: those of other grades only."""
        right = -2 * self.lost
        right += self.place
        right -= self.ideal
        right += self.size
        right -= self.alike if drop else 1
        if self.untied:
            return right.astype(np.float64)
        kept: Floats = right - self.tied_apart(np.ones(len(right))) / 2
        return kept

    def kept_weight(self, weight: Floats, *, drop: bool) -> Floats:
        """Add up the weights of the hits that stand on the right side of each."""
        value, most = self.ideal, self.size - 1
        if drop:
            heads = np.searchsorted(self.begins, self.offsets)
            value, most = self.grade - heads[self.query], np.diff(heads)[self.query] - 1
        above = weight_of_earlier_smaller(self.offsets, value, weight)
        turned = len(value) - self.offsets[::-1]
        below = weight_of_earlier_smaller(turned, (most - value)[::-1], weight[::-1])[::-1]
        return above + below - self.tied_apart(weight) / 2

    def weight_of_pairs(self, weight: Floats, *, drop: bool) -> Floats:
        """Add up the products of the weights of every query's pairs, each pair twice, ``[queries]``."""
        heads, best_first = self.offsets[:-1][self.query], np.empty_like(self.ideal)
        best_first[heads + self.ideal] = np.arange(len(self.ideal))
        theirs = weight[best_first]
        better = before(np.add, theirs, np.diff(self.offsets), 0.0)
        if drop:
            better = better[heads + self.first[best_first]]
        return 2 * sums(self.query, theirs * better, len(self.offsets) - 1)


def _sums(group: Ints, values: Floats) -> Floats:
    """Give every value the sum over its group; groups ascend from 0."""
    spread: Floats = sums(group, values, int(group[-1]) + 1)[group]
    return spread


#: scales of so few whole grades need no search for their levels
_SMALL = 256


def _levels(grade: Floats) -> Ints:
    """Return small whole numbers in the order of the grades."""
    if not len(grade):
        return np.empty(0, np.int64)
    low, high = grade.min(), grade.max()
    levels: Ints
    if high - low < _SMALL and (grade == np.floor(grade)).all():
        levels = (grade - low).astype(np.int64)
    else:
        levels = np.unique(grade, return_inverse=True)[1]
    return levels


def _stable_order(key: Ints) -> Ints:
    """Return the order of whole numbers from 0 up, equal ones as they come; small ones sort by digits."""
    small = key.max(initial=0) < np.iinfo(np.uint16).max
    return np.argsort(key.astype(np.uint16) if small else key, kind="stable")
