"""A walk by a user's function, which says at each rank how likely a reader is to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadValue
from rankstone.hits.arrays import offsets_of, running
from rankstone.hits.pairs import ragged_range
from rankstone.measures.walks import Legs, Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone.hits.arrays import Floats, Ints

    Continuation = Callable[[Floats, Floats, Floats], Floats]

__all__ = ["Continuation", "OwnWalk"]

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
