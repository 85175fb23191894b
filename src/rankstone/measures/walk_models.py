"""User models by name: those in which gains change the walk, and those that users register."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.hits.list_arrays import running
from rankstone.measures.core.gains_and_discounts import Vocabulary
from rankstone.measures.user_walks import (
    INSQ,
    RBP,
    SDCG,
    CustomWalk,
    Legs,
    P,
    U,
    Walk,
    square_tail,
)

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats
    from rankstone.hits.hits import Hits
    from rankstone.measures.user_walks import Continuation, User

#: gains are sums of rounded fractions; a goal missed by less than this counts as reached
_ROUNDING: Final = 1e-9
#: the continuation functions that users have registered, by name
CUSTOM_WALKS: Final[dict[str, Continuation]] = {}


class INST(Walk):
    """A goal of T: C(i) = ((i + 2T − G_i − 1) / (i + 2T − G_i))², G_i the gain found down to rank i.

    When neighbours of gains a < b change places at rank i, where V(i) is 1, C(i + 1) and all C below stay.
    With x = i + 2T − G_i for gain a, C(i) is C = ((x − 1)/x)² before and C′ = ((y − 1)/y)² after, where
    y = x − (b − a) ≥ 1, as T ≥ ½.  So ΣV does not grow.  ΣVg grows by (b − a)(1 − C) − (C − C′)(a + h), h
    what ranks below i + 1 bring once that is examined: at most z²/(2z + 1), z = x − b, as if all had gain 1.
    As 1 − C = (2x − 1)/x², and C − C′ is (b − a)/(xy) times 2 − 1/x − 1/y ≤ 2(x − 1)/x, ΣVg does not shrink
    if (x − 1)(a + h) ≤ (x − ½) y.  For a given b − a, a + h grows with a, so let b be 1; then the right side
    less the left falls as b − a grows, so let a be 0: (x − 1)²/(2x − 1) ≤ x − ½ is true.
    """

    continuation_formula = "((i + 2T − G_i − 1) / (i + 2T − G_i))²"
    gains_shorten = True
    parameters = ("T",)

    def onward(self, user: User, legs: Legs) -> Floats:
        """Multiply C over the leg: all but the first numerator and the last denominator cancels."""
        left = 2 * user.T - legs.gained
        return np.square((legs.begin + left - 1.0) / (legs.end + left - 1.0))

    def examined(self, user: User, legs: Legs) -> Floats:
        """Add up the squares of (begin + 2T − G − 1) / (i + 2T − G − 1)."""
        left = 2 * user.T - legs.gained
        tails = square_tail(legs.begin + left) - square_tail(legs.end + left)
        return np.square(legs.begin + left - 1.0) * tails


class Satisfiable(Walk):
    """A user whom any gain may satisfy: C(i) = c(i) (1 − g_i), c falling with the rank or not at all.

    When neighbours of gains a < b change places, ΣVg grows by V(i) (b − a) (1 − c(i)), ΣV shrinks by
    V(i) c(i) (b − a), and V is the same below them.
    """

    gains_shorten = True


class NERR8(Satisfiable):
    """Only gains stop the user: C(i) = 1 − g_i for i < k."""

    continuation_formula = "1 − g_i for i < k"
    stops_at_k = True

    def onward(self, _user: User, legs: Legs) -> Floats:
        """Return the probability that the first gain does not stop the user."""
        return 1.0 - legs.gain

    def examined(self, _user: User, legs: Legs) -> Floats:
        """Count the ranks of the leg."""
        return (1.0 - legs.gain) * legs.length


class NERR9(Satisfiable):
    """As NERR8 and with the rank: C(i) = i / (i + 1) · (1 − g_i) for i < k."""

    continuation_formula = "i / (i + 1) · (1 − g_i) for i < k"
    stops_at_k = True

    def onward(self, _user: User, legs: Legs) -> Floats:
        """Multiply i / (i + 1) over the leg: begin / end."""
        return (1.0 - legs.gain) * legs.begin / legs.end

    def examined(self, _user: User, legs: Legs) -> Floats:
        """Add up begin / i."""
        deepest = int(legs.end.max(initial=0.0))
        harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, deepest + 1))))
        between: Floats = (
            harmonic[legs.end.astype(np.int64)] - harmonic[legs.begin.astype(np.int64)]
        )
        return (1.0 - legs.gain) * legs.begin * between


class NERR10(Satisfiable):
    """As NERR8 and with persistence: C(i) = p (1 − g_i)."""

    continuation_formula = "p (1 − g_i)"
    parameters = ("p",)

    def onward(self, user: User, legs: Legs) -> Floats:
        """Multiply p over the leg."""
        return (1.0 - legs.gain) * np.power(user.p, legs.length)

    def examined(self, user: User, legs: Legs) -> Floats:
        """Add up p^(i − begin)."""
        below: Floats = user.p / (1.0 - user.p) * (1.0 - np.power(user.p, legs.length))
        return (1.0 - legs.gain) * below


class NERR11(Satisfiable):
    """As NERR8 and as INSQ: C(i) = ((i + 2T − 1) / (i + 2T))² (1 − g_i)."""

    continuation_formula = "((i + 2T − 1) / (i + 2T))² (1 − g_i)"
    parameters = ("T",)

    def onward(self, user: User, legs: Legs) -> Floats:
        """Multiply INSQ's C over the leg."""
        ahead = 2 * user.T - 1.0
        return (1.0 - legs.gain) * np.square((legs.begin + ahead) / (legs.end + ahead))

    def examined(self, user: User, legs: Legs) -> Floats:
        """Add up the squares of (begin + 2T − 1) / (i + 2T − 1)."""
        tails = square_tail(legs.begin + 2 * user.T) - square_tail(
            legs.end + 2 * user.T
        )
        return (1.0 - legs.gain) * np.square(legs.begin + 2 * user.T - 1.0) * tails


class BPM(Walk):
    """A goal and a budget: C(i) = 1 while G_i < T_i and i < K_i, and the first failure ends the walk.

    ``T_i = T + hb (G_{i−1} − (i − 1) gain_med)`` and ``K_i = k + hc (G_{i−1} − (i − 1) gain_med)``:
    gains above ``gain_med`` raise both, gains below it lower them.
    """

    continuation_formula = "1 while G_i < T_i and i < K_i"
    parameters = ("k", "T", "hb", "hc", "gain_med")

    def _continues(
        self, user: User, rank: Floats, earlier: Floats, gained: Floats
    ) -> Bools:
        """Return where the user goes on; ``earlier`` is the gain above the rank, ``gained`` includes it."""
        surplus = earlier - (rank - 1.0) * user.gain_med
        unsatisfied = gained < user.T + user.hb * surplus - _ROUNDING
        return unsatisfied & (rank < user.k + user.hc * surplus - _ROUNDING)

    def onward(self, user: User, legs: Legs) -> Floats:
        """Return 1 where nothing stops the user at the first or the last rank but one of the leg."""
        passes = self._continues(user, legs.begin, legs.gained - legs.gain, legs.gained)
        last = legs.end - 1
        passes &= (last == legs.begin) | self._continues(
            user, last, legs.gained, legs.gained
        )
        return passes.astype(np.float64)

    def examined(self, user: User, legs: Legs) -> Floats:
        """Count the ranks down to the first at which goal or budget is met; both are linear in the rank."""
        passes = self._continues(user, legs.begin, legs.gained - legs.gain, legs.gained)
        budget = (user.k + user.hc * (legs.gained + user.gain_med)) / (
            1.0 + user.hc * user.gain_med
        )
        slope = user.hb * user.gain_med
        height = user.T + (user.hb - 1.0) * legs.gained
        goal = (
            1.0 + height / slope
            if slope > 0
            else np.where(height > _ROUNDING, np.inf, 0.0)
        )
        stop = np.ceil(np.minimum(goal, budget) - _ROUNDING)
        return np.where(
            passes, np.clip(stop, legs.begin + 1, legs.end) - legs.begin, 0.0
        )


class RR(Walk):
    """The first gain ends the walk: C(i) = 1 if g_i = 0, else 0."""

    continuation_formula = "1 while G_i = 0"
    gains_shorten = True

    def onward(self, _user: User, legs: Legs) -> Floats:
        """Return 1 where there is no gain at the begin of the leg."""
        return np.where(legs.gain > 0, 0.0, 1.0)

    def examined(self, _user: User, legs: Legs) -> Floats:
        """Count the ranks of the leg."""
        return np.where(legs.gain > 0, 0.0, legs.length)


class AP(Walk):
    """The walk ends at a document with probability in proportion to its gain: V(i) ∝ Σ_{j ≥ i} g_j / j."""

    continuation_formula = "V(i) ∝ Σ_{j ≥ i} g_j / j"

    def examination(
        self, _user: User, hits: Hits, gain: Floats, _depth: int, last_gain: int
    ) -> tuple[Floats, Floats]:
        """Add g_j / j from the last hit upwards; a list without a gain is examined at one rank."""
        lengths = np.diff(hits.offsets)
        worth = np.where(hits.rank <= last_gain, gain, 0.0)
        upwards = running(np.add, (worth / hits.rank)[::-1], lengths[::-1])[::-1]
        whole = np.zeros(hits.queries)
        whole[lengths > 0] = upwards[hits.offsets[:-1][lengths > 0]]
        has_gain = whole > 0
        whole[~has_gain] = 1.0
        chance = np.where(worth > 0, upwards / hits.spread(whole), 0.0)
        return chance, np.where(has_gain, hits.total(worth) / whole, 1.0)


class TBG(Walk):
    """Patience halves every ``half_life`` seconds: C(i) = 2^(−c_i / half_life), c_i the time rank i takes.

    Neighbours that change places keep C, and V below them.  Gains shorten the walk if they take no less time.
    """

    gains_shorten = True
    continuation_formula = "2^(−c_i / half_life)"
    parameters = ("half_life", "cost", "cost_relevant")

    def onward(self, user: User, legs: Legs) -> Floats:
        """Return the probability to go on after the time of the first rank and of those behind it."""
        return self._after_first(user, legs) * np.exp2(
            -(legs.length - 1.0) * user.cost / user.half_life
        )

    def examined(self, user: User, legs: Legs) -> Floats:
        """Add a geometric series up."""
        step = math.log(2.0) * user.cost / user.half_life
        return (
            self._after_first(user, legs)
            * np.expm1(-step * legs.length)
            / math.expm1(-step)
        )

    def _after_first(self, user: User, legs: Legs) -> Floats:
        """Return the patience left after the first rank of each leg."""
        relevant = user.cost if user.cost_relevant is None else user.cost_relevant
        return np.exp2(-np.where(legs.gain > 0, relevant, user.cost) / user.half_life)


#: the models of the package by name
WALKS: Final[dict[str, Walk]] = {
    kind.__name__: kind()
    for kind in (
        P,
        RBP,
        SDCG,
        RR,
        AP,
        INSQ,
        INST,
        BPM,
        NERR8,
        NERR9,
        NERR10,
        NERR11,
        TBG,
        U,
    )
}


#: names of user models: those of the package, and registered ones
MODELS: Final = Vocabulary(tuple(WALKS), CUSTOM_WALKS)


def walk_of(model: str) -> Walk:
    """Return the model of a name."""
    return WALKS[model] if model in WALKS else CustomWalk(model, CUSTOM_WALKS[model])


def register_continuation(word: str, continuation: Continuation) -> None:
    """Register a user model of your own under a word: ``CWL(model=word, max_grade=3)``.

    Parameters
    ----------
    word
        Letters, digits and underscores; not in use yet.
    continuation
        Takes ranks from 1, the gain at each (0 to 1), and the sum of gains down to it, that one included, all
        float64 ``[n]``; returns the probability, 0 to 1, that a reader goes on to the next rank.

    Examples
    --------
    >>> import rankstone
    >>> register_continuation("fickle", lambda rank, gain, gained: 0.5 * (1 - gain))
    >>> rankstone.evaluate(
    ...     {"q": {"d": 1}}, {"q": ["c", "d"]}, "CWL(gain=binary, model=fickle, output=ED)"
    ... ).to_dict()  # rank 1, and half of the time rank 2
    {'run': {'CWL(gain=binary, model=fickle, output=ED)': 1.5}}
    >>> del CUSTOM_WALKS["fickle"]
    """
    MODELS.add(word, continuation, "model")
