"""How users walk down a list: the C/W/L framework over hits.

A user looks at rank 1 and goes on from rank i to the next with probability C(i).  From that follow
the chance V(i) = C(1) · … · C(i − 1) that rank i is looked at, the share W(i) = V(i) / ΣV of all looking
it gets, and the chance L(i) = V(i) (1 − C(i)) that the user stops there (Moffat, Thomas and Scholer,
CIKM 2013; Moffat, Bailey, Scholer and Thomas, TOIS 2017).

What users find changes how they walk, but only a hit that gains is a find: from one find to the next a
model's V has a closed form.  So a walk is a sequence of *legs*, one to each find and one to the end, and
no other rank is ever visited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.arrays import before, running, sums

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["Legs", "Walk", "WeightedWalk", "square_tail"]


@dataclass(frozen=True, eq=False)
class Legs:
    """The stretches of a walk: from one find (at first: from rank 1) to the next, at last to the end.

    Attributes
    ----------
    begin, end
        float64 ``[legs]``: ranks; ``end`` is further down than ``begin``.
    gain
        float64 ``[legs]``: what was found at ``begin``.
    gained
        float64 ``[legs]``: everything found down to ``begin``.
    """

    begin: Floats
    end: Floats
    gain: Floats
    gained: Floats

    @property
    def length(self) -> Floats:
        """How many ranks a leg goes down, float64 ``[legs]``."""
        return self.end - self.begin


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A model of a user who may stop at any rank, depending on what was found."""

    #: C(i) (or V(i)) for a reader
    goes_on_by: ClassVar[str]
    #: whether the cutoff is where the user stops at the latest
    stops_at_k: ClassVar[bool] = False
    #: whether the average gain never falls when the better of two neighbours comes first (proven)
    ordered: ClassVar[bool] = False

    def onward(self, legs: Legs) -> Floats:
        """Return V(end) / V(begin), float64 ``[legs]``; nothing is found in between."""
        raise NotImplementedError

    def seen(self, legs: Legs) -> Floats:
        """Return the sum of V(i) / V(begin) over begin < i ≤ end, float64 ``[legs]``."""
        raise NotImplementedError

    def looked(self, hits: Hits, gain: Floats, depth: int, known: int) -> tuple[Floats, Floats]:
        """Say where the user looks.

        Parameters
        ----------
        hits
            Judged documents in the lists.
        gain
            float64 ``[hits]``: from 0 to 1.
        depth
            The walk ends there at the latest.
        known
            Nothing is found below this rank.

        Returns
        -------
        tuple of float64 arrays
            ``[hits]``: V where something is found (0 at other hits); ``[queries]``: ΣV, the ranks looked
            at on average.
        """
        finds = np.flatnonzero((gain > 0) & (hits.rank <= known))
        query = hits.query[finds]
        lengths = np.bincount(query, minlength=hits.queries) + 1
        of_find, opening = np.arange(len(finds)) + query, np.cumsum(lengths) - lengths
        end, picked = np.full(len(finds) + hits.queries, depth), np.zeros(len(finds) + hits.queries)
        end[of_find], picked[of_find] = hits.rank[finds], gain[finds]
        begin, found = np.concatenate(([1], end[:-1])), np.concatenate(([0.0], picked[:-1]))
        begin[opening], found[opening] = 1, 0.0
        far = np.flatnonzero(end > begin)
        gained = before(np.add, picked, lengths, 0.0)
        legs = Legs(begin[far] * 1.0, end[far] * 1.0, found[far], gained[far])
        onward, seen = np.ones(len(end)), np.zeros(len(end))
        onward[far], seen[far] = self.onward(legs), self.seen(legs)
        chance = np.zeros(len(hits.rank))
        chance[finds] = running(np.multiply, onward, lengths)[of_find]
        below = before(np.multiply, onward, lengths, 1.0) * seen
        return chance, 1.0 + sums(np.repeat(np.arange(hits.queries), lengths), below, hits.queries)


@dataclass(frozen=True, kw_only=True)
class WeightedWalk(Walk):
    """A model in which V depends on the rank alone, so tied documents may stand anywhere."""

    ordered: ClassVar[bool] = True

    def weight(self, rank: Ints) -> Floats:
        """Return V of each rank; 1 at the first."""
        raise NotImplementedError

    def mass(self, depth: int) -> float:
        """Return the sum of V over ranks 1 … depth."""
        raise NotImplementedError

    def looked(self, hits: Hits, gain: Floats, depth: int, known: int) -> tuple[Floats, Floats]:
        """Look V up."""
        chance = np.where(gain > 0, hits.at_rank(self.weight, known), 0.0)
        return chance, np.full(hits.queries, self.mass(depth))


def square_tail(x: Floats) -> Floats:
    """Return Σ_{i ≥ 0} 1 / (x + i)² for x > 0: ten terms, then the series of Euler and Maclaurin.

    >>> print(square_tail(np.array([1.0]))[0] * 6)  # π²
    9.869604401089358
    """
    head = np.zeros(len(x))
    for step in range(10):
        head += 1.0 / np.square(x + step)
    y = x + 10.0
    square = 1.0 / (y * y)
    bend = 5 / 66 - square * 691 / 2730
    for number in (1 / 30, 1 / 42, 1 / 30, 1 / 6):  # Bernoulli numbers, whose signs alternate
        bend = number - square * bend
    tail: Floats = head + 1.0 / y + square / 2 + square / y * bend
    return tail
