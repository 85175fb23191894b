"""How users walk down a list: the C/W/L framework over hits.

A user looks at rank 1 and goes on from rank i to the next with probability C(i).  From that follow
the chance V(i) = C(1) · … · C(i − 1) that rank i is looked at, the share W(i) = V(i) / ΣV of all looking
it gets, and the chance L(i) = V(i) (1 − C(i)) that the user stops there (Moffat, Thomas and Scholer,
CIKM 2013; Moffat, Bailey, Scholer and Thomas, TOIS 2017).

What users find changes how they walk, but only a hit that gains is a find: from one find to the next a
model's V has a closed form.  So a walk is a sequence of *legs*, one to each find and one to the end, and
no other rank is ever visited.

A walk by a user's function, which says at each rank how likely a reader is to go on.

Users whom nothing they find delays or stops: V depends on the rank alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadValue
from rankstone.hits.list_arrays import before, offsets_of, ragged_range, running, sums
from rankstone.measures.core.gains_and_discounts import divisors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Floats, Ints

    Continuation = Callable[[Floats, Floats, Floats], Floats]

__all__ = [
    "INSQ",
    "RBP",
    "SDCG",
    "Continuation",
    "Legs",
    "OwnWalk",
    "P",
    "U",
    "Walk",
    "WeightedWalk",
    "square_tail",
]


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
    #: True if the cutoff is where the user stops at the latest
    stops_at_k: ClassVar[bool] = False
    #: True if the average gain never falls when the better of two neighbours comes first (proven)
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


#: ranks walked at a time
_STEPS: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class OwnWalk(Walk):
    """A walk whose C(i) a user's function computes: nothing is closed, every rank is visited."""

    continuation: ClassVar[Continuation]

    def onward(self, legs: Legs) -> Floats:
        """Multiply C over the leg."""
        return np.concatenate([chance[end] for chance, end, _ in self._walked(legs)])

    def seen(self, legs: Legs) -> Floats:
        """Add the running products up."""
        return np.concatenate([np.bincount(leg, chance, len(end)) for chance, end, leg in self._walked(legs)])

    def _walked(self, legs: Legs) -> Iterator[tuple[Floats, Ints, Ints]]:
        """Walk some legs at a time.

        Yields
        ------
        chance
            V(i) / V(begin) for begin < i ≤ end.
        end, leg
            Where among these each leg ends; the leg of each.
        """
        lengths = legs.length.astype(np.int64)
        through, low = offsets_of(lengths), 0
        while True:
            high = max(low + 1, int(np.searchsorted(through, through[low] + _STEPS, side="right")) - 1)
            part = slice(low, high)
            leg = np.repeat(np.arange(len(lengths[part])), lengths[part])
            rank = ragged_range(legs.begin[part].astype(np.int64), lengths[part]).astype(np.float64)
            gain = np.where(rank == legs.begin[part][leg], legs.gain[part][leg], 0.0)
            chance = running(np.multiply, self._goes_on(rank, gain, legs.gained[part][leg]), lengths[part])
            yield chance, np.cumsum(lengths[part]) - 1, leg
            low = high
            if low >= len(lengths):
                return

    def _goes_on(self, rank: Floats, gain: Floats, gained: Floats) -> Floats:
        name, chance = (
            type(self).__name__,
            np.asarray(type(self).continuation(rank, gain, gained), np.float64),
        )
        if chance.shape != rank.shape:
            raise BadValue(
                f"model={name} did not say for each rank how likely a reader is to go on",
                given=f"shape {chance.shape} for {len(rank)} ranks",
                expected="one number from 0 to 1 for each",
            )
        odd = np.flatnonzero(~((chance >= 0) & (chance <= 1)))
        if len(odd):
            at = odd[0]
            raise BadValue(
                f"model={name} goes on with chance {chance[at]:g} after rank {rank[at]:g}",
                given=f"gain {gain[at]:g} there, {gained[at]:g} down to it",
                expected="a number from 0 to 1",
            )
        return chance


@dataclass(frozen=True, kw_only=True)
class P(WeightedWalk):
    """Everybody looks at k ranks: C(i) = 1 for i < k."""

    goes_on_by: ClassVar[str] = "1 for i < k"
    stops_at_k: ClassVar[bool] = True

    def weight(self, rank: Ints) -> Floats:
        """Return ones."""
        return np.ones(len(rank))

    def mass(self, depth: int) -> float:
        """Return k."""
        return float(depth)


@dataclass(frozen=True, kw_only=True)
class RBP(WeightedWalk):
    """The same persistence everywhere: C(i) = p."""

    goes_on_by: ClassVar[str] = "p"

    p: float

    def weight(self, rank: Ints) -> Floats:
        """Return p^(i − 1)."""
        return np.power(self.p, rank.astype(np.float64) - 1.0)

    def mass(self, depth: int) -> float:
        """Return (1 − p^depth) / (1 − p)."""
        return (1.0 - self.p**depth) / (1.0 - self.p)


@dataclass(frozen=True, kw_only=True)
class SDCG(WeightedWalk):
    """Looking fades with the logarithm: C(i) = log2(i + 1) / log2(i + 2) for i < k."""

    goes_on_by: ClassVar[str] = "log2(i + 1) / log2(i + 2) for i < k"
    stops_at_k: ClassVar[bool] = True

    def weight(self, rank: Ints) -> Floats:
        """Return 1 / log2(i + 1)."""
        return 1.0 / divisors("log2", rank)

    def mass(self, depth: int) -> float:
        """Return the sum of 1 / log2(i + 1)."""
        return float(np.cumsum(self.weight(np.arange(1, depth + 1)))[-1])


@dataclass(frozen=True, kw_only=True)
class INSQ(WeightedWalk):
    """The longer on the way, the more persistent: C(i) = ((i + 2T − 1) / (i + 2T))²."""

    goes_on_by: ClassVar[str] = "((i + 2T − 1) / (i + 2T))²"

    T: float

    def weight(self, rank: Ints) -> Floats:
        """Return (2T / (i + 2T − 1))²."""
        return np.square(2 * self.T / (rank.astype(np.float64) + (2 * self.T - 1.0)))

    def mass(self, depth: int) -> float:
        """Return (2T)² Σ 1 / (i + 2T − 1)²."""
        ends = np.array([2 * self.T, depth + 2 * self.T])
        whole, tail = square_tail(ends)
        return float((2 * self.T) ** 2 * (whole - tail))


@dataclass(frozen=True, kw_only=True)
class U(WeightedWalk):
    """Looking fades in a straight line with the text read: V(i) = max(0, 1 − (i − 1) cost / L)."""

    goes_on_by: ClassVar[str] = "V(i) = max(0, 1 − (i − 1) cost / L)"

    L: float
    cost: float

    def weight(self, rank: Ints) -> Floats:
        """Return the height of the line."""
        return np.maximum(0.0, 1.0 - (rank.astype(np.float64) - 1.0) * self.cost / self.L)

    def mass(self, depth: int) -> float:
        """Return the sum down the line."""
        ranks = min(depth, int(np.ceil(self.L / self.cost)))
        return ranks - self.cost / self.L * ranks * (ranks - 1) / 2
