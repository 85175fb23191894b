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
from rankstone.hits.list_arrays import divided, list_numbers, ragged_range, running
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
        grades = np.full(count, grade)
        hits = filled(used, query, grades, ideal=False)
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
        sums = []
        for grade in (self.scale[0], self.scale[-1]):
            lowest = float(grade)
            shares = [
                gained(side, self.measure, lowest) for side in self.question.sides
            ]
            sums.append(self.question.by_hole(shares))
        low, high = sums
        reach = self.worth[-1] - self.worth[0]
        effect: Floats = (high - low) / reach
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
        query = used.query[used.hole >= 0]
        return np.bincount(query, minlength=used.queries)

    @cached_property
    def base(self) -> tuple[Floats, Floats]:
        """Sum and norm with all holes on the lowest grade, float64 ``[queries]`` each."""
        query = np.arange(len(self.question.holes))
        grade = np.full(len(self.question.query), self.scale[0])
        numerators = [
            scored(side, self.measure, query, grade).numerator
            for side in self.question.sides
        ]
        judged = self.norm.gains
        weighted = np.minimum(judged.rank, len(self._weights))
        shares = judged.grade * self._weights[weighted - 1]
        if self.norm.depth is not None:
            depth = np.broadcast_to(self.norm.depth, len(query))
            shares[judged.rank > depth[judged.query]] = 0.0
        least = float(self.worth[0])
        lowest = self._raised(0.0, least, query, self.inside)
        norm = self.norm.rest + judged.total(shares) + lowest
        return less(numerators), norm

    # -- the norm -----------------------------------------------------------------------------------
    @cached_property
    def _weights(self) -> Floats:
        """Weights of the ideal ranks."""
        lengths = np.diff(self.norm.gains.offsets) + self.inside
        most = int(lengths.max(initial=1))
        if self.norm.depth is not None:
            deepest = int(np.max(self.norm.depth, initial=1))
            most = max(min(most, deepest), 1)
        ranks = np.arange(1, most + 1)
        return self.norm.weight(ranks)

    @property
    def falling(self) -> bool:
        """True if weights of ideal ranks never increase and are not negative."""
        weights = self._weights
        never_rise = np.diff(weights) <= 0
        return bool(never_rise.all() and weights[-1] >= 0)

    def cost(self, step: int, query: Ints, raised: Ints) -> Floats:
        """Return the growth of the norm if this many holes of a query are raised by a step."""
        low, high = self.worth[step : step + 2].tolist()
        return self._raised(low, high, query, raised)

    def _raised(self, low: float, high: float, query: Ints, raised: Ints) -> Floats:
        """Return the growth of the norm if this many holes are raised from one gain to another."""
        added = np.cumsum(self._weights)
        weight_down_to = np.concatenate(([0.0], added))
        deepest: Ints = np.full(len(query), len(self._weights))
        if self.norm.depth is not None:
            depth = np.broadcast_to(self.norm.depth, len(self.inside))
            deepest = np.minimum(depth[query], deepest)

        # judged documents of a gain between these stay above the raised holes until they are passed
        judged = self.norm.gains
        is_between = (judged.grade > low) & (judged.grade < high)
        between = np.unique(judged.grade[is_between]).tolist()
        grown = np.zeros(len(query))
        for lower, upper in pairwise((low, *between, high)):
            above = judged.count(judged.grade >= upper)[query]
            before = weight_down_to[np.minimum(above, deepest)]
            after = weight_down_to[np.minimum(above + raised, deepest)]
            grown += (upper - lower) * (after - before)
        return grown

    # -- the optimum --------------------------------------------------------------------------------
    def highest(self, sign: float) -> Floats:
        """Return grades of the holes with which ``sign`` times the value is highest."""
        effect = sign * self.effect
        stops = _Stops.of(effect, self.question.query, self.inside)
        query = stops.query
        steps = range(len(self.rise))
        by_step = [self.cost(step, query, stops.raised) for step in steps]
        costs = np.array(by_step)
        numerator = sign * self.base[0]
        norm = self.base[1]

        # the same holes on all steps
        total = numerator[query] + self.rise.sum() * stops.gained
        whole = norm[query] + costs.sum(0)
        ratio = divided(total, whole, -np.inf)
        best = stops.best(ratio)
        chosen = np.repeat(best[None], len(self.rise), axis=0)
        price = ratio[best]

        # others on each step, at the price of the norm; a price below 0 never splits the steps
        while len(self.rise) > 1:
            fresh = self._best_at(price, stops, costs)
            rises = self.rise[:, None] * stops.gained[fresh]
            grown = np.take_along_axis(costs, fresh, axis=1)
            total = numerator + rises.sum(0)
            whole = norm + grown.sum(0)
            reached = divided(total, whole, -np.inf)
            better = (price > 0) & (reached > price * _RISE)
            if not better.any():
                break
            chosen[:, better] = fresh[:, better]
            price[better] = reached[better]

        raised = stops.raised[chosen][:, self.question.query]
        climbed = (stops.place < raised).sum(0)
        grades: Floats = self.scale[climbed]
        return grades

    def _best_at(self, price: Floats, stops: _Stops, costs: Floats) -> Ints:
        """Return the stop of each step and query at which gains exceed the priced norm most.

        Parameters
        ----------
        price
            float64 ``[queries]``: the ratio reached so far.
        stops, costs
            The stops, and float64 ``[steps, stops]``: what each adds to the norm.
        """
        priced = np.where(price > 0, price, 0.0)[stops.query]
        best = []
        for rise, cost in zip(self.rise, costs, strict=True):
            surplus = rise * stops.gained - priced * cost
            surplus[~stops.gains] = -np.inf
            best.append(stops.best(surplus))
        return np.array(best)


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
        queries = len(inside)
        active = np.flatnonzero(effect)
        order = np.lexsort((-effect[active], query[active]))
        active = active[order]
        query_of = query[active]
        lengths = np.bincount(query_of, minlength=queries)
        helps = effect[active] > 0
        good = np.bincount(query_of[helps], minlength=queries)
        neutral = inside - lengths

        # a stop after each active hole, one before all, one more after those without effect
        counts = lengths + 2
        stops = list_numbers(counts)
        number = ragged_range(np.zeros_like(counts), counts)
        with_neutral = number > good[stops]
        raised = number - with_neutral
        starts = np.cumsum(lengths) - lengths
        added = running(np.add, effect[active], lengths)
        gained = np.zeros(len(stops))
        moved = np.flatnonzero(raised)
        last = starts[stops] + raised - 1
        gained[moved] = added[last[moved]]

        never = np.iinfo(np.int64).max
        place = np.full(len(effect), never)
        order = ragged_range(np.zeros_like(lengths), lengths)
        is_behind = order >= good[query_of]
        before = np.where(is_behind, neutral[query_of], 0)
        place[active] = order + before

        rest = np.flatnonzero(effect == 0)
        query_of = query[rest]
        begin = np.searchsorted(query_of, np.arange(queries))
        order = np.arange(len(rest)) - begin[query_of]
        enters = order < neutral[query_of]
        place[rest[enters]] = (good[query_of] + order)[enters]

        raised += np.where(with_neutral, neutral[stops], 0)
        return cls(stops, raised, gained, ~with_neutral, place)

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
    possible = [measure.ideal_norm(side.hits) for side in question.sides]
    norms = [norm for norm in possible if norm is not None]
    if not norms:
        _propose_fixed(search)
        return np.flatnonzero(_gains_without_relevant(search))
    worth = norms[0].gain(search.scale)
    worth, order = np.unique(worth, return_index=True)
    scale = search.scale[order]
    steps = GainSteps(question, measure, norms[0], scale, worth)
    if worth.min() < 0 or not steps.falling:
        return search.every
    search.constant(search.every, float(steps.scale[0]))
    if len(order) > 1:
        for sign in (1.0, -1.0):
            search.consider(search.every, steps.highest(sign))
    uncertain = _divided(norms, len(search.every)) | _gains_without_relevant(search)
    return np.flatnonzero(uncertain)


def _propose_fixed(search: Search) -> None:
    """Give every hole the grade that adds most, and the one that adds least."""
    question = search.question
    measure = search.measure
    every = search.every
    lowest = np.full(len(question.query), search.scale[0])
    norms = []
    for side in question.sides:
        norm = scored(side, measure, every, lowest).denominator
        divisor = np.where(norm > 0, norm, 1.0)
        norms.append(divisor[question.query])

    chosen = np.array([lowest, lowest])
    most = np.full(chosen.shape, -np.inf)
    for grade in search.scale.tolist():
        shares = [
            gained(side, measure, grade) / norm
            for side, norm in zip(question.sides, norms, strict=True)
        ]
        added = question.by_hole(shares)
        for row, signed in enumerate((added, -added)):
            better = signed > most[row]
            most[row, better] = signed[better]
            chosen[row, better] = grade
    for grades in chosen:
        search.consider(every, grades)


def _divided(norms: Sequence[IdealNorm], queries: int) -> Bools:
    """Return the queries in which two runs have different norms, bool ``[queries]``."""
    differs = np.zeros(queries, bool)
    if len(norms) > 1:
        first, second = norms
        differs |= first.made_of != "judged"
        differs |= np.not_equal(first.rest, second.rest)
        if first.depth is not None and second.depth is not None:
            differs |= np.not_equal(first.depth, second.depth)
    return differs


def _gains_without_relevant(search: Search) -> Bools:
    """Return the queries in which documents may have a gain although none is relevant.

    The option ``empty`` then gives the score of the query, not the gains.
    """
    measure = search.measure
    sides = search.question.sides
    count = measure.relevant_count(sides[0].hits)
    has_gains = np.zeros(len(search.every), bool)
    if count is None or not measure.needs_relevant:
        return has_gains
    holes = sides[0].holes
    query = np.flatnonzero((count == 0) & (holes > 0))
    unjudged = int(holes[query].sum())
    for grade in search.scale.tolist():
        grades = np.full(unjudged, grade)
        relevant = measure.relevant_count(filled(sides[0], query, grades))
        none = np.asarray(relevant) == 0
        for side in sides:
            numerator = scored(side, measure, query, grades).numerator
            has_gains[query] |= none & (numerator != 0)
    return has_gains


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
    lowest = np.full(len(rest), low)
    highest = np.full(len(rest), high)
    search.settle(rest, lowest, highest)


def two_kinds(measure: Measure, scale: Floats) -> Floats:
    """Return a nonrelevant and a relevant grade, or only one if all grades are of one kind."""
    threshold = getattr(measure, "rel", None) or ANY_GAIN
    relevant = threshold(scale)
    lowest = scale[~relevant][:1]
    highest = scale[relevant][-1:]
    return np.concatenate((lowest, highest))


def _uniform(search: Search, _lists: ListsWithHoles) -> Ints:
    """Give all holes one grade: for measures in which the sign of a hole's effect is fixed."""
    for grade in search.scale[1:].tolist():
        search.constant(search.every, grade)
    return np.empty(0, np.int64)


def _first(search: Search, _lists: ListsWithHoles) -> Ints:
    """Make no hole relevant, then all: for measures of the first relevant document."""
    kinds = two_kinds(search.measure, search.scale)
    search.constant(search.every, float(kinds[-1]))
    return np.empty(0, np.int64)


def _multisets(search: Search, _lists: ListsWithHoles) -> Ints:
    """Sort every multiset of grades: for measures that never fall if a higher grade moves up."""
    return search.multisets(search.every, search.scale)


def _counts(search: Search, lists: ListsWithHoles) -> Ints:
    """Make the m topmost or bottommost holes relevant, for every m: multisets of two kinds of grades."""
    kinds = two_kinds(search.measure, search.scale)
    few = lists.holes < search.most
    ends = float(kinds[0]), float(kinds[-1])
    search.steps(np.flatnonzero(few), ends)
    return np.flatnonzero(~few)


def _precisions(search: Search, lists: ListsWithHoles) -> Ints:
    """Try the ends of gaps from the top, and find the only minimum from the bottom: AP."""
    kinds = two_kinds(search.measure, search.scale)
    search.constant(search.every, float(kinds[-1]))
    if len(kinds) > 1:
        measure = search.measure
        query, count = _ends_of_gaps(lists.for_measure(measure))
        top = np.zeros_like(count)
        relevant = float(kinds[1])
        values = value_with_holes_graded(lists, measure, query, top, count, relevant)
        search.record(query, values)
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
        values = value_with_holes_graded(
            lists, search.measure, query, first, count, relevant
        )
        search.record(query, values)
        return values

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
