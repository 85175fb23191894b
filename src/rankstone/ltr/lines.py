"""Exact search along a line: the best step from scores ``s`` in a direction ``x``.

The score of a document is a line ``s + t·x``, so the order of a list changes only where two of these lines
cross, and a measure of orders is a step function of t (Och 2003 for machine translation).  Crossings of
documents with equal labels change nothing.  Between two crossings next to each other a list has one value:
every such order is measured, and the steps of all lists are added up from the left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rankstone.hits.arrays import offsets_of

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.ltr.scoring import Lists
    from rankstone.measures import Measure

__all__ = ["Line", "Steps", "pairs_of"]

#: documents whose orders are measured at a time
_ROWS: Final = 1 << 16
#: crossings this close to one another, as a share, are one
_CLOSE: Final = 1e-12


class Steps(NamedTuple):
    """Steps worth trying, the most promising first, float64; and what each promises in all lists together."""

    step: Floats
    total: Floats


@dataclass(frozen=True, eq=False)
class Line:
    """Some lists, to be searched along any direction.

    Attributes
    ----------
    lists
        Their labels.
    measure
        What is to be made best.
    better
        1 where higher is better, -1 where lower is.
    first, second
        int64 ``[pairs]``: documents of one list with different labels, list after list.
    pair_list
        int64 ``[pairs]``: the list of each pair.
    most
        Crossings of one list that are looked at, those nearest to a step of 0; beyond, nothing is known.
    """

    lists: Lists
    measure: Measure
    better: int
    first: Ints
    second: Ints
    pair_list: Ints
    most: int

    @classmethod
    def of(cls, lists: Lists, measure: Measure, better: int, most: int) -> Line:
        """Prepare lists."""
        first, second, of_list = pairs_of(lists)
        return cls(lists, measure, better, first, second, of_list, most)

    def best(self, scores: Floats, direction: Floats, count: int) -> Steps:
        """Return the most promising steps, the best of each of the ``count`` highest stretches of the sum.

        Parameters
        ----------
        scores, direction
            float64 ``[documents]``.
        """
        crossing, of_list = self._crossings(scores, direction)
        if not len(crossing):
            return Steps(np.empty(0), np.empty(0))
        low, high = -np.inf, np.inf
        if len(crossing) > self.most:
            crossing, of_list, low, high = _nearest(crossing, of_list, self.most)
        order = np.lexsort((crossing, of_list))
        crossing, of_list = _distinct(crossing[order], of_list[order])
        middle, owner = _between(crossing, of_list)
        # a list without a value has none under any order
        value = self.better * np.nan_to_num(self._measured(scores, direction, middle, owner))
        inside = owner[1:] == owner[:-1]
        jump = (value[1:] - value[:-1])[inside]
        start = float(value[np.concatenate(([True], ~inside))].sum())
        return _promising(crossing, start, jump, low, high, count)

    def _crossings(self, scores: Floats, direction: Floats) -> tuple[Floats, Ints]:
        """Return the steps at which documents with different labels meet, and their lists."""
        steeper = direction[self.second] - direction[self.first]
        ahead = scores[self.first] - scores[self.second]
        meet = np.flatnonzero(steeper)
        with np.errstate(over="ignore"):
            crossing = ahead[meet] / steeper[meet]
        known = np.isfinite(crossing)
        return crossing[known], self.pair_list[meet[known]]

    def _measured(self, scores: Floats, direction: Floats, step: Floats, owner: Ints) -> Floats:
        """Return the value of lists ``owner``, each after a step of its own."""
        lengths = np.diff(self.lists.offsets)[owner]
        ends, parts, begin = np.cumsum(lengths), [], 0
        while begin < len(owner):
            done = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, done + _ROWS, side="right")))
            some = owner[begin:end]
            rows = _rows(self.lists.offsets, some)
            moved = scores[rows] + np.repeat(step[begin:end], lengths[begin:end]) * direction[rows]
            parts.append(self.lists.take(some).values(moved, self.measure))
            begin = end
        return np.concatenate(parts)


def pairs_of(lists: Lists) -> tuple[Ints, Ints, Ints]:
    """Return all pairs of documents of one list with different labels, and the list of each pair."""
    firsts, seconds, owners = [], [], []
    lengths = np.diff(lists.offsets)
    for length in np.unique(lengths[lengths > 1]):
        chosen = np.flatnonzero(lengths == length)
        one, other = np.triu_indices(int(length), 1)
        first = (lists.offsets[:-1][chosen][:, None] + one).ravel()
        second = (lists.offsets[:-1][chosen][:, None] + other).ravel()
        unlike = np.maximum(lists.labels[first], -1) != np.maximum(lists.labels[second], -1)
        firsts.append(first[unlike])
        seconds.append(second[unlike])
        owners.append(np.repeat(chosen, len(one))[unlike])
    none = [np.empty(0, np.int64)]
    return np.concatenate(firsts or none), np.concatenate(seconds or none), np.concatenate(owners or none)


def _rows(offsets: Ints, lists: Ints) -> Ints:
    lengths = np.diff(offsets)[lists]
    begins = offsets_of(lengths)[:-1]
    return np.arange(int(lengths.sum())) + np.repeat(offsets[lists] - begins, lengths)


def _nearest(crossing: Floats, of_list: Ints, most: int) -> tuple[Floats, Ints, float, float]:
    """Return the crossings nearest to 0, and how far to both sides all of them are known."""
    reach = float(np.partition(np.abs(crossing), most)[most])
    near = np.abs(crossing) < reach
    return crossing[near], of_list[near], -reach, reach


def _distinct(crossing: Floats, of_list: Ints) -> tuple[Floats, Ints]:
    """Return crossings, ascending within lists, without those that stand where the one before does."""
    fresh = np.ones(len(crossing), bool)
    apart = crossing[1:] - crossing[:-1] > _CLOSE * np.maximum(np.abs(crossing[1:]), np.abs(crossing[:-1]))
    fresh[1:] = apart | (of_list[1:] != of_list[:-1])
    return crossing[fresh], of_list[fresh]


def _between(crossing: Floats, of_list: Ints) -> tuple[Floats, Ints]:
    """Return a step between every two neighbouring crossings of a list, before its first, after its last."""
    heads = np.flatnonzero(np.concatenate(([True], of_list[1:] != of_list[:-1])))
    sizes = np.diff(np.append(heads, len(of_list)))
    owner = np.repeat(of_list[heads], sizes + 1)
    place = np.arange(len(crossing)) + np.repeat(np.arange(len(heads)), sizes)
    before, after = np.full(len(owner), -np.inf), np.full(len(owner), np.inf)
    after[place], before[place + 1] = crossing, crossing
    return _middle(before, after), owner


def _middle(before: Floats, after: Floats) -> Floats:
    """Return a number between each two; beyond the outermost one, well away from it."""
    with np.errstate(invalid="ignore"):
        middle = before / 2 + after / 2
    left, right = np.isinf(before), np.isinf(after)
    middle[left] = after[left] - np.maximum(np.abs(after[left]), 1.0)
    middle[right] = before[right] + np.maximum(np.abs(before[right]), 1.0)
    return middle


def _promising(crossing: Floats, start: float, jump: Floats, low: float, high: float, count: int) -> Steps:
    """Add up the jumps from the left, and return the middles of the highest stretches, widest first."""
    order = np.argsort(crossing, kind="stable")
    edge, height = crossing[order], start + np.concatenate(([0.0], np.cumsum(jump[order])))
    before, after = np.append(-np.inf, edge), np.append(edge, np.inf)
    before, after = np.maximum(before, low), np.minimum(after, high)
    apart = np.flatnonzero(after > before)
    middle = _middle(before[apart], after[apart])
    best = np.lexsort((before[apart] - after[apart], -height[apart].round(9)))[:count]
    return Steps(middle[best], height[apart][best])
