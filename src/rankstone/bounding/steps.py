"""The steps of a gain scale: which holes to raise on each, above and below the line of a fraction.

Split into steps both sides of the fraction fall apart: on each step the holes that gain most are raised
first, and how many of them is found by comparing all counts, for a price of the norm; the price is the
value reached, until that rises no more (Dinkelbach, 1967).  ``docs/bounds.md`` has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rankstone.bounding.filling import filled, scored, slices
from rankstone.bounding.question import less
from rankstone.hits.arrays import running
from rankstone.hits.pairs import ragged_range

if TYPE_CHECKING:
    from rankstone.bounding.lists import Lists
    from rankstone.bounding.question import Question
    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.measures.base import Measure
    from rankstone.measures.ideal_norm import IdealNorm

__all__ = ["Steps", "gained"]

#: a price that rises by less is the same price
_RISE = 1.0 + 1e-14


def gained(side: Lists, measure: Measure, grade: float) -> Floats:
    """Return what each hole contributes when all have the same grade, float64 ``[holes]``."""
    seen = side.seen_by(measure)
    shares = np.zeros(int(seen.starts[-1]))
    for begin, end in slices(np.diff(seen.offsets) + seen.holes):
        query = np.arange(begin, end)
        entries = slice(int(seen.offsets[begin]), int(seen.offsets[end]))
        holes = np.flatnonzero(seen.hole[entries] >= 0)
        at = (seen.starts[seen.query[entries]] + seen.hole[entries])[holes]
        hits = filled(seen, query, np.full(int(seen.holes[begin:end].sum()), grade), ideal=False)
        shares[at] = measure.contributions(hits).hits[holes]
    return shares


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of the gain scale, and what raising holes by one of them adds above and below the line.

    Attributes
    ----------
    question, measure, norm
        What is asked, and the norm as a sum over the ideal list.
    scale, worth
        float64 ``[grades]``: grades by what they gain, and what that is; both ends of each step.
    """

    question: Question
    measure: Measure
    norm: IdealNorm
    scale: Floats
    worth: Floats

    @cached_property
    def rise(self) -> Floats:
        """How much each step gains, float64 ``[steps]``."""
        return np.diff(self.worth)

    @cached_property
    def effect(self) -> Floats:
        """What a gain of 1 adds to the sum at each hole, float64 ``[holes]``."""
        ends = float(self.scale[0]), float(self.scale[-1])
        low, high = (
            self.question.by_hole([gained(side, self.measure, grade) for side in self.question.sides])
            for grade in ends
        )
        effect: Floats = (high - low) / (self.worth[-1] - self.worth[0])
        return effect

    @cached_property
    def inside(self) -> Ints:
        """How many holes enter the ideal list, int64 ``[queries]``."""
        side = self.question.sides[0]
        if self.norm.made_of == "judged":
            return side.holes
        if self.norm.made_of == "list":
            return side.listed
        seen = side.seen_by(self.measure)
        return np.bincount(seen.query[seen.hole >= 0], minlength=seen.queries)

    @cached_property
    def base(self) -> tuple[Floats, Floats]:
        """Sum and norm with all holes on the lowest grade, float64 ``[queries]`` each."""
        query = np.arange(len(self.question.holes))
        grade = np.full(len(self.question.query), self.scale[0])
        numerator = less([scored(side, self.measure, query, grade).numerator for side in self.question.sides])
        known = self.norm.gains
        shares = known.grade * self._weights[np.minimum(known.rank, len(self._weights)) - 1]
        if self.norm.depth is not None:
            shares[known.rank > np.broadcast_to(self.norm.depth, len(query))[known.query]] = 0.0
        lowest = self._raised(0.0, float(self.worth[0]), query, self.inside)
        return numerator, self.norm.rest + known.total(shares) + lowest

    # -- the norm -----------------------------------------------------------------------------------
    @cached_property
    def _weights(self) -> Floats:
        """Weights of the ideal ranks."""
        most = int((np.diff(self.norm.gains.offsets) + self.inside).max(initial=1))
        if self.norm.depth is not None:
            most = max(min(most, int(np.max(self.norm.depth, initial=1))), 1)
        return self.norm.weight(np.arange(1, most + 1))

    @property
    def falling(self) -> bool:
        """Whether deeper ideal ranks never count more, and none counts below nothing."""
        return bool((np.diff(self._weights) <= 0).all() and self._weights[-1] >= 0)

    def cost(self, step: int, query: Ints, raised: Ints) -> Floats:
        """Return what the norm grows by when so many holes of a query climb a step."""
        return self._raised(float(self.worth[step]), float(self.worth[step + 1]), query, raised)

    def _raised(self, low: float, high: float, query: Ints, raised: Ints) -> Floats:
        """Return what the norm grows by when so many holes rise from one gain to another."""
        table = np.concatenate(([0.0], np.cumsum(self._weights)))
        deepest: Ints = np.full(len(query), len(table) - 1)
        if self.norm.depth is not None:
            deepest = np.minimum(np.broadcast_to(self.norm.depth, len(self.inside))[query], deepest)
        known = self.norm.gains
        between = np.unique(known.grade[(known.grade > low) & (known.grade < high)]).tolist()
        grown = np.zeros(len(query))
        for lower, upper in pairwise((low, *between, high)):
            above = known.count(known.grade >= upper)[query]
            fresh = table[np.minimum(above + raised, deepest)] - table[np.minimum(above, deepest)]
            grown += (upper - lower) * fresh
        return grown

    # -- the optimum --------------------------------------------------------------------------------
    def highest(self, sign: float) -> Floats:
        """Return grades of the holes with which ``sign`` times the value is highest."""
        stops = _Stops.of(sign * self.effect, self.question.query, self.inside)
        query = stops.query
        costs = np.array([self.cost(s, query, stops.raised) for s in range(len(self.rise))])
        rest, norm = sign * self.base[0], self.base[1]
        sums, norms = rest[query] + self.rise.sum() * stops.gained, norm[query] + costs.sum(0)
        ratio = np.divide(sums, norms, out=np.full(len(sums), -np.inf), where=norms > 0)
        chosen = np.repeat(stops.best(ratio)[None], len(self.rise), axis=0)
        price = ratio[chosen[0]]
        while len(self.rise) > 1:  # a price below 0 never splits the steps
            lot = np.where(price > 0, price, 0.0)[query]
            fresh = np.array(
                [
                    stops.best(np.where(stops.gains, rise * stops.gained - lot * cost, -np.inf))
                    for rise, cost in zip(self.rise, costs, strict=True)
                ]
            )
            total = rest + (self.rise[:, None] * stops.gained[fresh]).sum(0)
            over = norm + np.take_along_axis(costs, fresh, axis=1).sum(0)
            reached = np.divide(total, over, out=np.full(len(total), -np.inf), where=over > 0)
            better = (price > 0) & (reached > price * _RISE)
            if not better.any():
                break
            chosen[:, better], price[better] = fresh[:, better], reached[better]
        climbed = (stops.place < stops.raised[chosen][:, self.question.query]).sum(0)
        grades: Floats = self.scale[climbed]
        return grades


@dataclass(frozen=True, eq=False)
class _Stops:
    """How many holes of a query may be raised: one more after the other, those with most effect first.

    Holes without effect are raised all together or not at all.

    Attributes
    ----------
    query
        int64 ``[stops]``.
    raised
        int64 ``[stops]``: holes raised.
    gained
        float64 ``[stops]``: their effects, added up.
    gains
        bool ``[stops]``: whether all holes raised have an effect above 0.
    place
        int64 ``[holes]``: how many holes of the query are raised before each.
    """

    query: Ints
    raised: Ints
    gained: Floats
    gains: Bools
    place: Ints

    @classmethod
    def of(cls, effect: Floats, query: Ints, inside: Ints) -> _Stops:
        """Order the holes of each query by their effect."""
        count = len(inside)
        some = np.flatnonzero(effect)
        some = some[np.lexsort((-effect[some], query[some]))]
        lengths = np.bincount(query[some], minlength=count)
        good = np.bincount(query[some[effect[some] > 0]], minlength=count)
        idle = inside - lengths
        starts = np.cumsum(lengths) - lengths
        added = running(np.add, effect[some], lengths)

        stops = lengths + 2
        of = np.repeat(np.arange(count), stops)
        number = ragged_range(np.zeros_like(stops), stops)
        behind = number > good[of]
        active = number - behind
        gained = np.zeros(len(of))
        moved = np.flatnonzero(active)
        gained[moved] = added[(starts[of] + active - 1)[moved]]

        place = np.full(len(effect), np.iinfo(np.int64).max)
        order = ragged_range(np.zeros_like(lengths), lengths)
        place[some] = order + np.where(order >= good[query[some]], idle[query[some]], 0)
        rest = np.flatnonzero(effect == 0)
        begin = np.searchsorted(query[rest], np.arange(count))
        number_of = np.arange(len(rest)) - begin[query[rest]]
        within = number_of < idle[query[rest]]
        place[rest[within]] = (good[query[rest]] + number_of)[within]
        return cls(of, active + np.where(behind, idle[of], 0), gained, ~behind, place)

    def best(self, value: Floats) -> Ints:
        """Return the first stop of each query at which a value is highest, int64 ``[queries]``."""
        count = int(self.query[-1]) + 1 if len(self.query) else 0
        most = np.full(count, -np.inf)
        np.maximum.at(most, self.query, value)
        reached = np.flatnonzero(value == most[self.query])
        at = np.zeros(count, np.int64)
        at[self.query[reached][::-1]] = reached[::-1]
        return at
