"""User models by name: ours, and those that users register.

Users whose walk depends on what they find: a goal, a budget, satisfaction, time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.hits.list_arrays import running
from rankstone.measures.core.gains_and_discounts import Vocabulary
from rankstone.measures.user_walks import INSQ, RBP, SDCG, Legs, OwnWalk, P, U, Walk, square_tail

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Bools, Floats
    from rankstone.measures.user_walks import Continuation


__all__ = [
    "AP",
    "BPM",
    "INST",
    "MODELS",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "OWN_WALKS",
    "RR",
    "TBG",
    "WALKS",
    "register_continuation",
    "walk_of",
]

#: gains are sums of rounded fractions; a goal this little ahead is reached
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class INST(Walk):
    """A goal of T: C(i) = ((i + 2T − G_i − 1) / (i + 2T − G_i))², G_i the gain found down to rank i."""

    goes_on_by: ClassVar[str] = "((i + 2T − G_i − 1) / (i + 2T − G_i))²"

    T: float

    def onward(self, legs: Legs) -> Floats:
        """Multiply C over the leg: all but the first numerator and the last denominator cancels."""
        left = 2 * self.T - legs.gained
        return np.square((legs.begin + left - 1.0) / (legs.end + left - 1.0))

    def seen(self, legs: Legs) -> Floats:
        """Add up the squares of (begin + 2T − G − 1) / (i + 2T − G − 1)."""
        left = 2 * self.T - legs.gained
        tails = square_tail(legs.begin + left) - square_tail(legs.end + left)
        return np.square(legs.begin + left - 1.0) * tails


@dataclass(frozen=True, kw_only=True)
class Satisfiable(Walk):
    """A user whom any find may satisfy: C(i) = c(i) (1 − g_i), c falling with the rank or not at all.

    When neighbours of gains a < b change places, ΣVg grows by V(i) (b − a) (1 − c(i)), ΣV shrinks by
    V(i) c(i) (b − a), and V is the same below them: the average gain never falls.
    """

    ordered: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class NERR8(Satisfiable):
    """Stopping by what is found only: C(i) = 1 − g_i for i < k."""

    goes_on_by: ClassVar[str] = "1 − g_i for i < k"
    stops_at_k: ClassVar[bool] = True

    def onward(self, legs: Legs) -> Floats:
        """Pass the find; nothing else stops the user."""
        return 1.0 - legs.gain

    def seen(self, legs: Legs) -> Floats:
        """See every rank of the leg."""
        return (1.0 - legs.gain) * legs.length


@dataclass(frozen=True, kw_only=True)
class NERR9(Satisfiable):
    """As NERR8 and with the rank: C(i) = i / (i + 1) · (1 − g_i) for i < k."""

    goes_on_by: ClassVar[str] = "i / (i + 1) · (1 − g_i) for i < k"
    stops_at_k: ClassVar[bool] = True

    def onward(self, legs: Legs) -> Floats:
        """Multiply i / (i + 1) over the leg: begin / end."""
        return (1.0 - legs.gain) * legs.begin / legs.end

    def seen(self, legs: Legs) -> Floats:
        """Add up begin / i."""
        deepest = int(legs.end.max(initial=0.0))
        harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, deepest + 1))))
        between: Floats = harmonic[legs.end.astype(np.int64)] - harmonic[legs.begin.astype(np.int64)]
        return (1.0 - legs.gain) * legs.begin * between


@dataclass(frozen=True, kw_only=True)
class NERR10(Satisfiable):
    """As NERR8 and with persistence: C(i) = p (1 − g_i)."""

    goes_on_by: ClassVar[str] = "p (1 − g_i)"

    p: float

    def onward(self, legs: Legs) -> Floats:
        """Multiply p over the leg."""
        return (1.0 - legs.gain) * np.power(self.p, legs.length)

    def seen(self, legs: Legs) -> Floats:
        """Add up p^(i − begin)."""
        below: Floats = self.p / (1.0 - self.p) * (1.0 - np.power(self.p, legs.length))
        return (1.0 - legs.gain) * below


@dataclass(frozen=True, kw_only=True)
class NERR11(Satisfiable):
    """As NERR8 and as INSQ: C(i) = ((i + 2T − 1) / (i + 2T))² (1 − g_i)."""

    goes_on_by: ClassVar[str] = "((i + 2T − 1) / (i + 2T))² (1 − g_i)"

    T: float

    def onward(self, legs: Legs) -> Floats:
        """Multiply INSQ's C over the leg."""
        ahead = 2 * self.T - 1.0
        return (1.0 - legs.gain) * np.square((legs.begin + ahead) / (legs.end + ahead))

    def seen(self, legs: Legs) -> Floats:
        """Add up the squares of (begin + 2T − 1) / (i + 2T − 1)."""
        tails = square_tail(legs.begin + 2 * self.T) - square_tail(legs.end + 2 * self.T)
        return (1.0 - legs.gain) * np.square(legs.begin + 2 * self.T - 1.0) * tails


@dataclass(frozen=True, kw_only=True)
class BPM(Walk):
    """A goal and a budget: C(i) = 1 while G_i < T_i and i < K_i, and the first failure ends the walk.

    ``T_i = T + hb (G_{i−1} − (i − 1) gain_med)`` and ``K_i = k + hc (G_{i−1} − (i − 1) gain_med)``:
    finds above ``gain_med`` raise hopes, finds below it lower them.
    """

    goes_on_by: ClassVar[str] = "1 while G_i < T_i and i < K_i"

    k: int
    T: float
    hb: float
    hc: float
    gain_med: float

    def goes_on(self, rank: Floats, earlier: Floats, gained: Floats) -> Bools:
        """Tell whether a user at a rank goes on; ``earlier`` is the gain above it, ``gained`` with it."""
        surplus = earlier - (rank - 1.0) * self.gain_med
        hungry = gained < self.T + self.hb * surplus - _ROUNDING
        return hungry & (rank < self.k + self.hc * surplus - _ROUNDING)

    def onward(self, legs: Legs) -> Floats:
        """Go through the leg if nothing stops the user at its first or its last rank but one."""
        passes = self.goes_on(legs.begin, legs.gained - legs.gain, legs.gained)
        last = legs.end - 1
        passes &= (last == legs.begin) | self.goes_on(last, legs.gained, legs.gained)
        return passes.astype(np.float64)

    def seen(self, legs: Legs) -> Floats:
        """Count the ranks down to the first at which goal or budget is met; both are lines in the rank."""
        passes = self.goes_on(legs.begin, legs.gained - legs.gain, legs.gained)
        budget = (self.k + self.hc * (legs.gained + self.gain_med)) / (1.0 + self.hc * self.gain_med)
        slope, height = self.hb * self.gain_med, self.T + (self.hb - 1.0) * legs.gained
        goal = 1.0 + height / slope if slope > 0 else np.where(height > _ROUNDING, np.inf, 0.0)
        stop = np.ceil(np.minimum(goal, budget) - _ROUNDING)
        down: Floats = np.where(passes, np.clip(stop, legs.begin + 1, legs.end) - legs.begin, 0.0)
        return down


@dataclass(frozen=True, kw_only=True)
class RR(Walk):
    """The first find ends the walk: C(i) = 1 if g_i = 0, else 0."""

    goes_on_by: ClassVar[str] = "1 while G_i = 0"
    ordered: ClassVar[bool] = True

    def onward(self, legs: Legs) -> Floats:
        """Go on from where nothing was found."""
        return np.where(legs.gain > 0, 0.0, 1.0)

    def seen(self, legs: Legs) -> Floats:
        """See every rank of the leg."""
        return np.where(legs.gain > 0, 0.0, legs.length)


@dataclass(frozen=True, kw_only=True)
class AP(Walk):
    """One of the finds, each as likely as the other by its gain, is the last: V(i) ∝ Σ_{j ≥ i} g_j / j."""

    goes_on_by: ClassVar[str] = "V(i) ∝ Σ_{j ≥ i} g_j / j"

    def looked(self, hits: Hits, gain: Floats, depth: int, known: int) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Add g_j / j from the last hit upwards; a user who will find nothing looks at one rank."""
        lengths = np.diff(hits.offsets)
        worth = np.where(hits.rank <= known, gain, 0.0)
        upwards = running(np.add, (worth / hits.rank)[::-1], lengths[::-1])[::-1]
        whole = np.zeros(hits.queries)
        whole[lengths > 0] = upwards[hits.offsets[:-1][lengths > 0]]
        some = whole > 0
        whole[~some] = 1.0
        chance = np.where(worth > 0, upwards / hits.spread(whole), 0.0)
        return chance, np.where(some, hits.total(worth) / whole, 1.0)


@dataclass(frozen=True, kw_only=True)
class TBG(Walk):
    """Patience halves every ``half_life`` seconds: C(i) = 2^(−c_i / half_life), c_i the time rank i takes."""

    goes_on_by: ClassVar[str] = "2^(−c_i / half_life)"

    half_life: float
    cost: float
    cost_relevant: float | None = None

    def onward(self, legs: Legs) -> Floats:
        """Let the time of the find and of the ranks behind it pass."""
        return self._rest(legs) * np.exp2(-(legs.length - 1.0) * self.cost / self.half_life)

    def seen(self, legs: Legs) -> Floats:
        """Add a geometric series up."""
        step = math.log(2.0) * self.cost / self.half_life
        return self._rest(legs) * np.expm1(-step * legs.length) / math.expm1(-step)

    def _rest(self, legs: Legs) -> Floats:
        found = self.cost if self.cost_relevant is None else self.cost_relevant
        return np.exp2(-np.where(legs.gain > 0, found, self.cost) / self.half_life)


#: our models by name
WALKS: Final[dict[str, type[Walk]]] = {
    kind.__name__: kind
    for kind in (P, RBP, SDCG, RR, AP, INSQ, INST, BPM, NERR8, NERR9, NERR10, NERR11, TBG, U)
}

#: models that users have registered, by the word that names them
OWN_WALKS: Final[dict[str, type[Walk]]] = {}

#: names of user models: ours, and those that were registered
MODELS: Final = Vocabulary(tuple(WALKS), OWN_WALKS)


def walk_of(model: str) -> type[Walk]:
    """Return the kind of walk that a word names."""
    return WALKS[model] if model in WALKS else OWN_WALKS[model]


def register_continuation(word: str, continuation: Continuation) -> None:
    """Give a user model of your own a word: ``CWL(model=word, max_grade=3)``.

    Parameters
    ----------
    word
        Letters, digits and underscores; not in use yet.
    continuation
        Takes ranks from 1, the gain at each (0 to 1), and what has been gained down to it and with it, all
        float64 ``[n]``; returns the chance, 0 to 1, that a reader goes on to the next rank.

    Examples
    --------
    >>> import rankstone
    >>> register_continuation("fickle", lambda rank, gain, gained: 0.5 * (1 - gain))
    >>> rankstone.evaluate(
    ...     {"q": {"d": 1}}, {"q": ["c", "d"]}, "CWL(gain=binary, model=fickle, output=ED)"
    ... ).to_dict()  # rank 1, and half of the time rank 2
    {'run': {'CWL(gain=binary, model=fickle, output=ED)': 1.5}}
    >>> del OWN_WALKS["fickle"]
    """
    kind = type(word, (OwnWalk,), {"continuation": staticmethod(continuation), "goes_on_by": "your own"})
    MODELS.add(word, kind, "model")
