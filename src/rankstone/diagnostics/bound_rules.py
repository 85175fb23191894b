"""The rules for the extremes of one run, chosen by the measure's claims (``Claims.bounds_by``).

Every rule proposes assignments of grades to holes and leaves scoring to the measure.  ``docs/bounds.md``
states what each rule assumes, and proves that its proposals contain the extremes.

Sums over documents, divided by a fixed norm or by a sum over the ideal list: P, R, F, DCG, nDCG.

With a fixed norm, every hole takes the grade that adds most.  With an ideal list in the norm, a grade
also raises the norm, and the rule compares both effects.

The steps of a gain scale: which holes to raise on each, above and below the line of a fraction.

Divided into steps, numerator and norm are sums over steps: on each step the holes that gain most are raised
first, and their number is found by comparing all counts, for a given price of the norm; the price is the
value reached, until it no longer rises (Dinkelbach, 1967).  ``docs/bounds.md`` has the proof.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.diagnostics.bound_questions import (
    Question,
    all_grades_matter,
    less,
    rule_of,
)
from rankstone.diagnostics.bound_search import Search
from rankstone.diagnostics.filled_lists import (
    filled,
    scored,
    slices,
    value_with_holes_graded,
)
from rankstone.hits.list_arrays import list_numbers, ragged_range, running
from rankstone.measures.core.definition import ANY_GAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.diagnostics.lists_with_holes import ListsWithHoles
    from rankstone.measures.core.definition import Span
    from rankstone.measures.core.measure import IdealNorm, Measure


#: a relative rise below this is rounding
_RISE = 1.0 + 1e-14


def gained(side: ListsWithHoles, measure: Measure, grade: float) -> Floats:
    """Return the contribution of each hole if all have the same grade, float64 ``[holes]``."""
    used = side.for_measure(measure)
    shares = np.zeros(int(used.starts[-1]))
    for begin, end in slices(np.diff(used.offsets) + used.holes):
        query = np.arange(begin, end)
        first = int(used.offsets[begin])
        last = int(used.offsets[end])
        hole = used.hole[first:last]
        place = used.starts[used.query[first:last]] + hole
        is_hole = hole >= 0

        count = int(used.holes[begin:end].sum())
        hits = filled(used, query, np.full(count, grade), ideal=False)
        contributions = measure.contributions(hits).hits
        shares[place[is_hole]] = contributions[is_hole]
    return shares


class GainSteps(Record):
    """The steps of the gain scale, and what raising holes by a step adds to numerator and denominator.

    Attributes
    ----------
    question, measure, norm
        The problem, and the norm as a sum over the ideal list.
    scale, worth
        float64 ``[grades]``: grades in the order of their gains, and the gains; both ends of each step.
    """

    question: Question
    measure: Measure
    norm: IdealNorm
    scale: Floats
    worth: Floats

    @cached_property
    def rise(self) -> Floats:
        """The gain of each step, float64 ``[steps]``."""
        return np.diff(self.worth)

    @cached_property
    def effect(self) -> Floats:
        """The effect of a gain of 1 at each hole on the sum, float64 ``[holes]``."""
        ends = float(self.scale[0]), float(self.scale[-1])
        low, high = (
            self.question.by_hole(
                [gained(side, self.measure, grade) for side in self.question.sides]
            )
            for grade in ends
        )
        effect: Floats = (high - low) / (self.worth[-1] - self.worth[0])
        return effect

    @cached_property
    def inside(self) -> Ints:
        """The number of holes that enter the ideal list, int64 ``[queries]``."""
        side = self.question.sides[0]
        if self.norm.made_of == "judged":
            return side.holes
        if self.norm.made_of == "list":
            return side.listed
        used = side.for_measure(self.measure)
        return np.bincount(used.query[used.hole >= 0], minlength=used.queries)

    @cached_property
    def base(self) -> tuple[Floats, Floats]:
        """Sum and norm with all holes on the lowest grade, float64 ``[queries]`` each."""
        query = np.arange(len(self.question.holes))
        grade = np.full(len(self.question.query), self.scale[0])
        numerator = less(
            [
                scored(side, self.measure, query, grade).numerator
                for side in self.question.sides
            ]
        )
        known = self.norm.gains
        shares = (
            known.grade * self._weights[np.minimum(known.rank, len(self._weights)) - 1]
        )
        if self.norm.depth is not None:
            shares[
                known.rank > np.broadcast_to(self.norm.depth, len(query))[known.query]
            ] = 0.0
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
        """True if weights of ideal ranks never increase and are not negative."""
        return bool((np.diff(self._weights) <= 0).all() and self._weights[-1] >= 0)

    def cost(self, step: int, query: Ints, raised: Ints) -> Floats:
        """Return the growth of the norm if this many holes of a query are raised by a step."""
        return self._raised(
            float(self.worth[step]), float(self.worth[step + 1]), query, raised
        )

    def _raised(self, low: float, high: float, query: Ints, raised: Ints) -> Floats:
        """Return the growth of the norm if this many holes are raised from one gain to another."""
        table = np.concatenate(([0.0], np.cumsum(self._weights)))
        deepest: Ints = np.full(len(query), len(table) - 1)
        if self.norm.depth is not None:
            deepest = np.minimum(
                np.broadcast_to(self.norm.depth, len(self.inside))[query], deepest
            )
        known = self.norm.gains
        between = np.unique(
            known.grade[(known.grade > low) & (known.grade < high)]
        ).tolist()
        grown = np.zeros(len(query))
        for lower, upper in pairwise((low, *between, high)):
            above = known.count(known.grade >= upper)[query]
            fresh = (
                table[np.minimum(above + raised, deepest)]
                - table[np.minimum(above, deepest)]
            )
            grown += (upper - lower) * fresh
        return grown

    # -- the optimum --------------------------------------------------------------------------------
    def highest(self, sign: float) -> Floats:
        """Return grades of the holes with which ``sign`` times the value is highest."""
        stops = _Stops.of(sign * self.effect, self.question.query, self.inside)
        query = stops.query
        steps = range(len(self.rise))
        costs = np.array([self.cost(step, query, stops.raised) for step in steps])
        rest = sign * self.base[0]
        norm = self.base[1]
        sums = rest[query] + self.rise.sum() * stops.gained
        norms = norm[query] + costs.sum(0)
        ratio = np.divide(sums, norms, out=np.full(len(sums), -np.inf), where=norms > 0)
        chosen = np.repeat(stops.best(ratio)[None], len(self.rise), axis=0)
        price = ratio[chosen[0]]
        while len(self.rise) > 1:  # a price below 0 never splits the steps
            priced = np.where(price > 0, price, 0.0)[query]
            best = []
            for rise, cost in zip(self.rise, costs, strict=True):
                surplus = rise * stops.gained - priced * cost
                surplus[~stops.gains] = -np.inf
                best.append(stops.best(surplus))
            fresh = np.array(best)
            total = rest + (self.rise[:, None] * stops.gained[fresh]).sum(0)
            over = norm + np.take_along_axis(costs, fresh, axis=1).sum(0)
            reached = np.divide(
                total, over, out=np.full(len(total), -np.inf), where=over > 0
            )
            better = (price > 0) & (reached > price * _RISE)
            if not better.any():
                break
            chosen[:, better] = fresh[:, better]
            price[better] = reached[better]
        climbed = (stops.place < stops.raised[chosen][:, self.question.query]).sum(0)
        grades: Floats = self.scale[climbed]
        return grades


class _Stops(Record):
    """The possible numbers of raised holes of a query; holes with the largest effect are raised first.

    Holes without effect are raised together or not at all.

    Attributes
    ----------
    query
        int64 ``[stops]``.
    raised
        int64 ``[stops]``: holes raised.
    gained
        float64 ``[stops]``: their effects, added up.
    gains
        bool ``[stops]``: True if all raised holes have an effect above 0.
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
        neutral = inside - lengths
        starts = np.cumsum(lengths) - lengths
        added = running(np.add, effect[some], lengths)

        stops = lengths + 2
        of = list_numbers(stops)
        number = ragged_range(np.zeros_like(stops), stops)
        behind = number > good[of]
        active = number - behind
        gained = np.zeros(len(of))
        moved = np.flatnonzero(active)
        gained[moved] = added[(starts[of] + active - 1)[moved]]

        place = np.full(len(effect), np.iinfo(np.int64).max)
        order = ragged_range(np.zeros_like(lengths), lengths)
        place[some] = order + np.where(
            order >= good[query[some]], neutral[query[some]], 0
        )
        rest = np.flatnonzero(effect == 0)
        begin = np.searchsorted(query[rest], np.arange(count))
        number_of = np.arange(len(rest)) - begin[query[rest]]
        within = number_of < neutral[query[rest]]
        place[rest[within]] = (good[query[rest]] + number_of)[within]
        return cls(
            of, active + np.where(behind, neutral[of], 0), gained, ~behind, place
        )

    def best(self, value: Floats) -> Ints:
        """Return the first stop of each query at which a value is highest, int64 ``[queries]``."""
        query = self.query
        count = int(query[-1]) + 1 if len(query) else 0
        most = np.full(count, -np.inf)
        np.maximum.at(most, query, value)

        # written from the last to the first, so that the first one stays
        reached = np.flatnonzero(value == most[query])[::-1]
        stop = np.zeros(count, np.int64)
        stop[query[reached]] = reached
        return stop


def additive(search: Search) -> Ints:
    """Propose the extremes of an additive measure; return the queries for which they are not certain."""
    question = search.question
    measure = search.measure
    norms = [
        norm
        for side in question.sides
        if (norm := measure.ideal_norm(side.hits)) is not None
    ]
    if not norms:
        _propose_fixed(search)
        return np.flatnonzero(_gains_without_relevant(search))
    worth = norms[0].gain(search.scale)
    order = np.unique(worth, return_index=True)[1]
    steps = GainSteps(question, measure, norms[0], search.scale[order], worth[order])
    if worth.min() < 0 or not steps.falling:
        return search.every
    search.constant(search.every, float(steps.scale[0]))
    if len(order) > 1:
        for sign in (1.0, -1.0):
            search.consider(search.every, steps.highest(sign))
    return np.flatnonzero(
        _divided(norms, len(search.every)) | _gains_without_relevant(search)
    )


def _propose_fixed(search: Search) -> None:
    """Give every hole the grade that adds most, and the one that adds least."""
    question = search.question
    measure = search.measure
    every = search.every
    lowest = np.full(len(question.query), search.scale[0])
    norms = [
        scored(side, measure, every, lowest).denominator for side in question.sides
    ]
    chosen = np.array([lowest, lowest])
    most = np.full(chosen.shape, -np.inf)
    for grade in search.scale.tolist():
        shares = question.by_hole(
            [
                gained(side, measure, grade)
                / np.where(norm > 0, norm, 1.0)[question.query]
                for side, norm in zip(question.sides, norms, strict=True)
            ]
        )
        for row, sign in enumerate((1.0, -1.0)):
            better = sign * shares > most[row]
            most[row, better], chosen[row, better] = sign * shares[better], grade
    for row in chosen:
        search.consider(every, row)


def _divided(norms: Sequence[IdealNorm], queries: int) -> Bools:
    """Return the queries in which two runs have different norms, bool ``[queries]``."""
    one = norms[0]
    other = norms[-1]
    differs = np.zeros(queries, bool)
    if len(norms) > 1:
        differs |= one.made_of != "judged"
        differs |= np.not_equal(one.rest, other.rest)
        if one.depth is not None and other.depth is not None:
            differs |= np.not_equal(one.depth, other.depth)
    return differs


def _gains_without_relevant(search: Search) -> Bools:
    """Return the queries in which documents may have a gain although none is relevant.

    The option ``empty`` then gives the score of the query, not the gains.
    """
    measure = search.measure
    sides = search.question.sides
    count = measure.relevant_count(sides[0].hits)
    found = np.zeros(len(search.every), bool)
    if count is None or not measure.needs_relevant:
        return found
    query = np.flatnonzero((count == 0) & (sides[0].holes > 0))
    for grade in search.scale.tolist():
        grades = np.full(int(sides[0].holes[query].sum()), grade)
        none = np.asarray(measure.relevant_count(filled(sides[0], query, grades))) == 0
        for side in sides:
            found[query] |= none & (scored(side, measure, query, grades).numerator != 0)
    return found


#: rules for measures of binary relevance
BINARY: Final = frozenset({"first", "counts", "precisions"})
#: those of them for which, with the same R, relevant holes are best at the top
EXCHANGE: Final = frozenset({"counts", "precisions"})


def extremes(
    lists: ListsWithHoles, measure: Measure, scale: Floats, most: int
) -> Search:
    """Return the lowest and highest value of a measure over the grades of the holes.

    Parameters
    ----------
    lists
        The run's lists.
    measure
        The measure.
    scale
        float64 ``[grades]``, ascending: the grades a hole can have.
    most
        The maximum number of assignments of a query that are tried.
    """
    lists = lists if all_grades_matter(measure) else lists.cut_for_measure(measure)
    search = Search(Question.of(lists), measure, scale, most)
    left = _RULES[rule_of(measure)](search, lists)
    if len(left):
        _settle_by_span(search, left, measure.span_of(lists.hits))
    return search


def _settle_by_span(search: Search, query: Ints, span: Span) -> None:
    """Take the measure's range, unless constant grades reach both of its ends."""
    for grade in search.scale.tolist():
        search.constant(query, grade)
    least, most = span
    low = -np.inf if least is None else least
    high = np.inf if most is None else most
    reaches_low = search.low[query] <= low
    reaches_high = search.high[query] >= high
    rest = query[~(reaches_low & reaches_high)]
    count = len(rest)
    search.settle(rest, np.full(count, low), np.full(count, high))


def two_kinds(measure: Measure, scale: Floats) -> Floats:
    """Return a nonrelevant and a relevant grade, or only one if all grades are of one kind."""
    relevant = (getattr(measure, "rel", None) or ANY_GAIN)(scale)
    return np.concatenate((scale[~relevant][:1], scale[relevant][-1:]))


def _uniform(search: Search, _lists: ListsWithHoles) -> Ints:
    """Give all holes one grade: for measures in which the sign of a hole's effect is fixed."""
    for grade in search.scale[1:].tolist():
        search.constant(search.every, grade)
    return np.empty(0, np.int64)


def _first(search: Search, _lists: ListsWithHoles) -> Ints:
    """Make no hole relevant, then all: for measures of the first relevant document."""
    search.constant(search.every, float(two_kinds(search.measure, search.scale)[-1]))
    return np.empty(0, np.int64)


def _multisets(search: Search, _lists: ListsWithHoles) -> Ints:
    """Sort every multiset of grades: for measures that never fall if a higher grade moves up."""
    return search.multisets(search.every, search.scale)


def _counts(search: Search, lists: ListsWithHoles) -> Ints:
    """Make the m topmost or bottommost holes relevant, for every m: multisets of two kinds of grades."""
    kinds = two_kinds(search.measure, search.scale)
    few = lists.holes < search.most
    search.steps(np.flatnonzero(few), (float(kinds[0]), float(kinds[-1])))
    return np.flatnonzero(~few)


def _precisions(search: Search, lists: ListsWithHoles) -> Ints:
    """Try the ends of gaps from the top, and find the only minimum from the bottom: AP."""
    kinds = two_kinds(search.measure, search.scale)
    search.constant(search.every, float(kinds[-1]))
    if len(kinds) > 1:
        query, count = _ends_of_gaps(lists.for_measure(search.measure))
        relevant = float(kinds[1])
        search.record(
            query,
            value_with_holes_graded(
                lists, search.measure, query, np.zeros_like(count), count, relevant
            ),
        )
        _minimum(search, lists, relevant)
    return np.empty(0, np.int64)


def _ends_of_gaps(lists: ListsWithHoles) -> tuple[Ints, Ints]:
    """Return where runs of neighbouring holes end, as queries and numbers of holes down to there.

    With tied ranks, the holes of a tie block are neighbours.
    """
    holes = np.flatnonzero(lists.hole >= 0)
    query = lists.query[holes]
    rank = lists.rank[holes]
    first = lists.first[holes]
    last = lists.last[holes]
    near = rank[1:] == rank[:-1] + 1
    if lists.hits.expected:
        alone = first == last
        near &= alone[1:] & alone[:-1]
        near |= first[1:] == first[:-1]
    near &= query[1:] == query[:-1]
    ends = np.ones(len(holes), bool)
    ends[:-1] = ~near
    number = lists.hole[holes]
    return query[ends], number[ends] + 1


def _minimum(search: Search, lists: ListsWithHoles, relevant: float) -> None:
    """Bisect the number of relevant holes, counted from the bottom, for the lowest value."""

    def value(query: Ints, count: Ints) -> Floats:
        first = lists.holes[query] - count
        found = value_with_holes_graded(
            lists, search.measure, query, first, count, relevant
        )
        search.record(query, found)
        return found

    low = np.zeros(lists.queries, np.int64)
    high = lists.holes.copy()
    while True:
        query = np.flatnonzero(low < high)
        if not len(query):
            return
        middle = (low[query] + high[query]) // 2
        rises = value(query, middle + 1) >= value(query, middle)
        high[query[rises]] = middle[rises]
        low[query[~rises]] = middle[~rises] + 1


def _additive(search: Search, _lists: ListsWithHoles) -> Ints:
    """Choose holes by their effects: for sums with a norm that is fixed or a sum over the ideal list."""
    return search.enumerate(additive(search), search.scale)


def _enumeration(search: Search, _lists: ListsWithHoles) -> Ints:
    """Try every assignment."""
    return search.enumerate(search.every, search.scale)


_RULES: Final[dict[str, Callable[[Search, ListsWithHoles], Ints]]] = {
    "uniform": _uniform,
    "first": _first,
    "additive": _additive,
    "precisions": _precisions,
    "counts": _counts,
    "multisets": _multisets,
    "enumeration": _enumeration,
}
