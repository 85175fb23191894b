"""Pairs of documents in the wrong order, or not clearly in the right one, summed over without listing them.

A pair is a better document i and a worse one j of one query; it is active while ``f_i - f_j < 1``.  The
labels of a query, numbered by level, are compared bit by bit: two numbers differ first in exactly one bit, so
that every pair is in exactly one group of documents whose higher bits are equal, its better document among
those with a 1 and its worse one among those with a 0.  In such a group there are two sides only.  Each is
sorted by ``f``, and the documents of one side that are active with a document of the other are a head or a
tail of it: a search by halving, and sums over pairs are differences of running sums.  So any number of levels
L costs O(n log L log n) (the order statistics of Airola, Pahikkala and Salakoski 2011, and Lee and Lin 2014,
without a tree).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record
from rankstone.hits.list_arrays import sums

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints


def levels_of(query: Ints, labels: Floats) -> Ints:
    """Return the number of each label among the different ones of its query, from 0, lowest first, int64.

    >>> levels_of(np.array([0, 0, 0, 1, 1]), np.array([2.0, 0.0, 2.0, 4.0, 3.5])).tolist()
    [1, 0, 1, 1, 0]
    """
    order = np.lexsort((labels, query))
    q = query[order]
    y = labels[order]
    fresh = np.ones(len(y), bool)
    fresh[1:] = q[1:] != q[:-1]
    step = ~fresh
    step[1:] &= y[1:] != y[:-1]
    climbed = np.cumsum(step)
    level = np.empty(len(y), np.int64)
    level[order] = climbed - np.maximum.accumulate(np.where(fresh, climbed, 0))
    return level


class _Cells:
    """Documents in cells, to be sorted within each: cells of about the same size are rows of one table."""

    def __init__(self, docs: Ints, lengths: Ints, outside: int) -> None:
        starts = np.cumsum(lengths) - lengths
        size = np.frexp(lengths.astype(np.float64))[1]
        order = np.argsort(size, kind="stable")
        self.end = np.empty(len(lengths), np.int64)
        self.end[order] = np.cumsum(lengths[order])
        self.start = self.end - lengths
        self.place = np.empty(len(lengths), np.int64)
        self.place[order] = np.arange(len(lengths))
        self.cell = np.repeat(order, lengths[order])
        self._tables = []
        for bucket in np.unique(size):
            chosen = np.flatnonzero(size == bucket)
            inside = np.arange(int(lengths[chosen].max())) < lengths[chosen][:, None]
            # what fills a row up stays behind it
            table = np.full(inside.shape, outside, np.int64)
            position = starts[chosen][:, None] + np.arange(inside.shape[1])
            table[inside] = docs[position[inside]]
            self._tables.append((table, None if inside.all() else inside))

    def sorted(self, values: Floats) -> Ints:
        """Return the documents, ascending within each cell; after the last value comes infinity."""
        parts = []
        for table, inside in self._tables:
            order = values[table].argsort(axis=1)
            documents = np.take_along_axis(table, order, axis=1)
            parts.append(documents.ravel() if inside is None else documents[inside])
        return np.concatenate(parts)


class _Sides(Record):
    """The groups of one bit: documents with a 0 in it, and those with a 1."""

    low: _Cells
    high: _Cells


class _Reach(Record):
    """The first and last active partners of each document, under some scores."""

    low: Ints
    high: Ints
    #: partners of each high document: low ones from here to there
    low_from: Ints
    low_to: Ints
    #: partners of each low document: high ones from here to there
    high_from: Ints
    high_to: Ints


class TrainingPairs(Record):
    """The pairs of some queries, whatever the scores.

    Attributes
    ----------
    query
        int64 ``[docs]``: the query of each document, from 0, ascending.
    level
        int64 ``[docs]``: numbers of the labels (:func:`levels_of`).
    gain
        float64 ``[docs]``, or ``None``: a pair counts as much as the gains differ; once without.
    """

    query: Ints
    level: Ints
    gain: Floats | None = None

    @cached_property
    def _bits(self) -> list[_Sides]:
        most = int(self.level.max(initial=0)).bit_length()
        bits = [self._sides(bit) for bit in range(most)]
        return [sides for sides in bits if sides is not None]

    def _sides(self, bit: int) -> _Sides | None:
        prefix = self.level >> (bit + 1)
        key = self.query * (int(prefix.max()) + 1) + prefix
        _, group = np.unique(key, return_inverse=True)
        high = (self.level >> bit) & 1
        counts = np.bincount(
            group * 2 + high, minlength=2 * (int(group.max()) + 1)
        ).reshape(-1, 2)
        both = (counts[:, 0] > 0) & (counts[:, 1] > 0)
        if not both.any():
            return None
        order = np.argsort(group, kind="stable")
        order = order[both[group[order]]]
        cells = [
            _Cells(order[high[order] == side], counts[both, side], len(self.query))
            for side in range(2)
        ]
        return _Sides(*cells)

    def weights(self, queries: int) -> Floats:
        """Return what the pairs of each query count together, float64 ``[queries]``."""
        everything = self.at(np.zeros(len(self.query)))
        return sums(self.query, everything.count, queries) / 2

    def at(self, scores: Floats) -> Active:
        """Return the pairs that are active under some scores, float64 ``[docs]``."""
        padded = np.append(scores, np.inf)
        span = float(scores.max() - scores.min()) + 2.0 if len(scores) else 2.0
        return Active(
            self.gain,
            len(scores),
            [_reach(sides, padded, span) for sides in self._bits],
        )


def _reach(sides: _Sides, scores: Floats, span: float) -> _Reach:
    """Search, on both sides, for the first or last partner; every cell is moved to a stretch of its own."""
    low = sides.low.sorted(scores)
    high = sides.high.sorted(scores)
    of_low = sides.low.cell
    of_high = sides.high.cell
    f_low = scores[low]
    f_high = scores[high]
    low_from = np.searchsorted(
        f_low + sides.low.place[of_low] * span,
        f_high - 1.0 + sides.low.place[of_high] * span,
        side="right",
    )
    high_to = np.searchsorted(
        f_high + sides.high.place[of_high] * span,
        f_low + 1.0 + sides.high.place[of_low] * span,
        side="left",
    )
    return _Reach(
        low, high, low_from, sides.low.end[of_high], sides.high.start[of_low], high_to
    )


class Active(Record):
    """The pairs that are active under some scores, as a matrix A of their weights, never written down."""

    gain: Floats | None
    docs: int
    reaches: list[_Reach]

    def _over(self, reach: _Reach, values: Floats) -> tuple[Floats, Floats]:
        """Return, for high and for low documents, sums over their active partners."""
        below = _running(values[reach.low])
        above = _running(values[reach.high])
        return below[reach.low_to] - below[reach.low_from], above[
            reach.high_to
        ] - above[reach.high_from]

    def _weighed(self, reach: _Reach, values: Floats) -> tuple[Floats, Floats]:
        high, low = self._over(reach, values)
        if self.gain is None:
            return high, low
        high_gained, low_gained = self._over(reach, self.gain * values)
        high = self.gain[reach.high] * high - high_gained
        return high, low_gained - self.gain[reach.low] * low

    @cached_property
    def _counted(self) -> tuple[Floats, Floats]:
        count = np.zeros(self.docs)
        excess = np.zeros(self.docs)
        for reach in self.reaches:
            high, low = self._weighed(reach, np.ones(self.docs))
            count[reach.high] += high
            count[reach.low] += low
            excess[reach.high] += high
            excess[reach.low] -= low
        return count, excess

    @property
    def count(self) -> Floats:
        """The sum of weights of each document's active pairs, float64 ``[docs]``: the row sums of A."""
        return self._counted[0]

    @property
    def excess(self) -> Floats:
        """The same, less pairs in which it is the worse document."""
        return self._counted[1]

    def laplacian(self, values: Floats) -> Floats:
        """Return ``count * values - A @ values``, float64 ``[docs]``: half the loss's curvature."""
        result = self.count * values
        for reach in self.reaches:
            high, low = self._weighed(reach, values)
            result[reach.high] -= high
            result[reach.low] -= low
        return result


def _running(values: Floats) -> Floats:
    result = np.empty(len(values) + 1)
    result[0] = 0.0
    np.cumsum(values, out=result[1:])
    return result
