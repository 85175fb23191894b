"""How users walk down a list: the C/W/L framework over hits, and models in which the rank alone decides.

A user looks at rank 1 and goes on from rank i to the next with probability C(i).  From that follow
the probability V(i) = C(1) · … · C(i − 1) that rank i is examined, its share W(i) = V(i) / ΣV of all
examinations, and the probability L(i) = V(i) (1 − C(i)) that the user stops there (Moffat, Thomas and
Scholer, CIKM 2013; Moffat, Bailey, Scholer and Thomas, TOIS 2017).

Only documents with a gain change how a user walks; between two of them V has a closed form in each model.
So a walk is cut into *legs*, one down to each gain and one to the end, and no other rank is visited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Protocol

import numpy as np

from rankstone._basics import Record, counted
from rankstone.errors import BadValue
from rankstone.hits.list_arrays import before, offsets_of, ragged_range, running, sums
from rankstone.measures.core.gains_and_discounts import divisors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits

    class User(Protocol):
        """The measure, with those of these parameters that a model reads."""

        k: int
        p: float
        T: float
        L: float
        hb: float
        hc: float
        gain_med: float
        half_life: float
        cost: float
        cost_relevant: float | None

    Continuation = Callable[[Floats, Floats, Floats], Floats]

#: ranks walked at a time
_STEPS: Final = 1 << 20


class Legs(Record):
    """The legs of walks: from one document with a gain (at first: from rank 1) to the next, or to the end.

    Attributes
    ----------
    begin, end
        float64 ``[legs]``: ranks; ``end`` is further down than ``begin``.
    gain
        float64 ``[legs]``: the gain at ``begin``.
    gained
        float64 ``[legs]``: the sum of gains down to ``begin``, that one included.
    """

    begin: Floats
    end: Floats
    gain: Floats
    gained: Floats

    @property
    def length(self) -> Floats:
        """How many ranks a leg goes down, float64 ``[legs]``."""
        return self.end - self.begin


class Walk:
    """A model of a user who may stop at any rank, depending on the gains so far.

    A model has no state.  Its methods are given ``user``, the measure, and read the model's
    :attr:`parameters` there.
    """

    #: C(i) (or V(i)) as a text
    continuation_formula: ClassVar[str]
    #: names of the measure's parameters that the model reads
    parameters: ClassVar[tuple[str, ...]] = ()
    #: True if the user stops at the cutoff at the latest
    stops_at_k: ClassVar[bool] = False
    #: True if gains shorten the walk (proven): none raises a C(i), and where the better of two neighbours
    #: comes first, ΣVg is no smaller and ΣV no larger, so that the average gain does not fall
    gains_shorten: ClassVar[bool] = False

    def onward(self, user: User, legs: Legs) -> Floats:
        """Return V(end) / V(begin), float64 ``[legs]``; there is no gain in between."""
        raise NotImplementedError

    def examined(self, user: User, legs: Legs) -> Floats:
        """Return the sum of V(i) / V(begin) over begin < i ≤ end, float64 ``[legs]``."""
        raise NotImplementedError

    def examination(
        self, user: User, hits: Hits, gain: Floats, depth: int, last_gain: int
    ) -> tuple[Floats, Floats]:
        """Return which hits the user examines, and how many ranks in all.

        Parameters
        ----------
        user
            The measure, whose parameters are the model's.
        hits
            Judged documents in the lists.
        gain
            float64 ``[hits]``: from 0 to 1.
        depth
            The walk ends at this rank at the latest.
        last_gain
            Gains below this rank do not count.

        Returns
        -------
        tuple of float64 arrays
            ``[hits]``: V of hits with a gain (0 for other hits); ``[queries]``: ΣV, the mean number of ranks
            examined.
        """
        gaining = np.flatnonzero((gain > 0) & (hits.rank <= last_gain))
        query = hits.query[gaining]
        lengths = np.bincount(query, minlength=hits.queries) + 1
        leg_of_hit = np.arange(len(gaining)) + query
        opening = np.cumsum(lengths) - lengths
        count = len(gaining) + hits.queries
        end = np.full(count, depth)
        gain_at_end = np.zeros(count)
        end[leg_of_hit], gain_at_end[leg_of_hit] = hits.rank[gaining], gain[gaining]
        begin = np.concatenate(([1], end[:-1]))
        gain_at_begin = np.concatenate(([0.0], gain_at_end[:-1]))
        begin[opening], gain_at_begin[opening] = 1, 0.0
        moving = np.flatnonzero(end > begin)
        gained = before(np.add, gain_at_end, lengths, 0.0)
        legs = Legs(
            begin[moving] * 1.0,
            end[moving] * 1.0,
            gain_at_begin[moving],
            gained[moving],
        )
        onward = np.ones(count)
        examined = np.zeros(count)
        onward[moving], examined[moving] = (
            self.onward(user, legs),
            self.examined(user, legs),
        )
        chance = np.zeros(len(hits.rank))
        chance[gaining] = running(np.multiply, onward, lengths)[leg_of_hit]
        below = before(np.multiply, onward, lengths, 1.0) * examined
        return chance, 1.0 + sums(
            np.repeat(np.arange(hits.queries), lengths), below, hits.queries
        )


class RankWalk(Walk):
    """A model in which V depends on the rank alone, so tied documents may stand in any order."""

    gains_shorten = True

    def weight(self, user: User, rank: Ints) -> Floats:
        """Return V of each rank; 1 at the first."""
        raise NotImplementedError

    def mass(self, user: User, depth: int) -> float:
        """Return the sum of V over ranks 1 … depth."""
        raise NotImplementedError

    def examination(
        self, user: User, hits: Hits, gain: Floats, depth: int, last_gain: int
    ) -> tuple[Floats, Floats]:
        """Return V of the ranks of hits, and its sum over all ranks."""
        weights = hits.at_rank(lambda rank: self.weight(user, rank), last_gain)
        return np.where(gain > 0, weights, 0.0), np.full(
            hits.queries, self.mass(user, depth)
        )


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
    # Bernoulli numbers, whose signs alternate
    for number in (1 / 30, 1 / 42, 1 / 30, 1 / 6):
        bend = number - square * bend
    return head + 1.0 / y + square / 2 + square / y * bend


class CustomWalk(Walk):
    """A walk whose C(i) a user's function computes: there is no closed form, so every rank is visited.

    Parameters
    ----------
    name
        The word it was registered under, for messages.
    continuation
        As for :func:`~rankstone.measures.register_continuation`.
    """

    def __init__(self, name: str, continuation: Continuation) -> None:
        self._name = name
        self._continuation = continuation

    def onward(self, _user: User, legs: Legs) -> Floats:
        """Multiply C over the leg."""
        return np.concatenate([chance[end] for chance, end, _ in self._ranks(legs)])

    def examined(self, _user: User, legs: Legs) -> Floats:
        """Add the running products up."""
        return np.concatenate(
            [
                np.bincount(leg, chance, len(end))
                for chance, end, leg in self._ranks(legs)
            ]
        )

    def _ranks(self, legs: Legs) -> Iterator[tuple[Floats, Ints, Ints]]:
        """Visit every rank of the legs, some legs at a time.

        Yields
        ------
        chance
            V(i) / V(begin) for begin < i ≤ end.
        end, leg
            Where among these each leg ends; the leg of each.
        """
        lengths = legs.length.astype(np.int64)
        through = offsets_of(lengths)
        low = 0
        while True:
            high = max(
                low + 1,
                int(np.searchsorted(through, through[low] + _STEPS, side="right")) - 1,
            )
            part = slice(low, high)
            leg = np.repeat(np.arange(len(lengths[part])), lengths[part])
            rank = ragged_range(
                legs.begin[part].astype(np.int64), lengths[part]
            ).astype(np.float64)
            gain = np.where(rank == legs.begin[part][leg], legs.gain[part][leg], 0.0)
            chance = running(
                np.multiply,
                self._chances(rank, gain, legs.gained[part][leg]),
                lengths[part],
            )
            yield chance, np.cumsum(lengths[part]) - 1, leg
            low = high
            if low >= len(lengths):
                return

    def _chances(self, rank: Floats, gain: Floats, gained: Floats) -> Floats:
        """Call the function, and check that it returned probabilities."""
        chance = np.asarray(self._continuation(rank, gain, gained), np.float64)
        if chance.shape != rank.shape:
            raise BadValue(
                f"model={self._name} did not return one probability for each rank",
                given=f"shape {chance.shape} for {counted(len(rank), 'rank')}",
                expected="one number from 0 to 1 for each rank",
            )
        outside = np.flatnonzero(~((chance >= 0) & (chance <= 1)))
        if len(outside):
            hit = outside[0]
            raise BadValue(
                f"model={self._name} returned probability {chance[hit]:g} after rank {rank[hit]:g}",
                given=f"gain {gain[hit]:g} at that rank, {gained[hit]:g} down to it",
                expected="a number from 0 to 1",
            )
        return chance


class P(RankWalk):
    """The user examines k ranks: C(i) = 1 for i < k."""

    continuation_formula = "1 for i < k"
    stops_at_k = True

    def weight(self, _user: User, rank: Ints) -> Floats:
        """Return ones."""
        return np.ones(len(rank))

    def mass(self, _user: User, depth: int) -> float:
        """Return k."""
        return float(depth)


class RBP(RankWalk):
    """The same persistence at every rank: C(i) = p."""

    continuation_formula = "p"
    parameters = ("p",)

    def weight(self, user: User, rank: Ints) -> Floats:
        """Return p^(i − 1)."""
        return np.power(user.p, rank.astype(np.float64) - 1.0)

    def mass(self, user: User, depth: int) -> float:
        """Return (1 − p^depth) / (1 − p)."""
        return (1.0 - user.p**depth) / (1.0 - user.p)


class SDCG(RankWalk):
    """Examination falls with the logarithm of the rank: C(i) = log2(i + 1) / log2(i + 2) for i < k."""

    continuation_formula = "log2(i + 1) / log2(i + 2) for i < k"
    stops_at_k = True

    def weight(self, _user: User, rank: Ints) -> Floats:
        """Return 1 / log2(i + 1)."""
        return 1.0 / divisors("log2", rank)

    def mass(self, user: User, depth: int) -> float:
        """Return the sum of 1 / log2(i + 1)."""
        return float(np.cumsum(self.weight(user, np.arange(1, depth + 1)))[-1])


class INSQ(RankWalk):
    """Persistence grows with the rank: C(i) = ((i + 2T − 1) / (i + 2T))²."""

    continuation_formula = "((i + 2T − 1) / (i + 2T))²"
    parameters = ("T",)

    def weight(self, user: User, rank: Ints) -> Floats:
        """Return (2T / (i + 2T − 1))²."""
        return np.square(2 * user.T / (rank.astype(np.float64) + (2 * user.T - 1.0)))

    def mass(self, user: User, depth: int) -> float:
        """Return (2T)² Σ 1 / (i + 2T − 1)²."""
        ends = np.array([2 * user.T, depth + 2 * user.T])
        whole, tail = square_tail(ends)
        return float((2 * user.T) ** 2 * (whole - tail))


class U(RankWalk):
    """Examination falls in a straight line with the text read: V(i) = max(0, 1 − (i − 1) cost / L)."""

    continuation_formula = "V(i) = max(0, 1 − (i − 1) cost / L)"
    parameters = ("L", "cost")

    def weight(self, user: User, rank: Ints) -> Floats:
        """Return the height of the line at each rank."""
        return np.maximum(
            0.0, 1.0 - (rank.astype(np.float64) - 1.0) * user.cost / user.L
        )

    def mass(self, user: User, depth: int) -> float:
        """Return the sum over the ranks above zero."""
        ranks = min(depth, int(np.ceil(user.L / user.cost)))
        return ranks - user.cost / user.L * ranks * (ranks - 1) / 2
