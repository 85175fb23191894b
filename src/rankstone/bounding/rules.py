"""How the extremes of one run are found, by what a measure says of itself (``Measure.bounds_by``).

Every rule proposes assignments of grades to holes and leaves scoring to the measure.  What each rule
takes for granted, and why its proposals hold the extremes, is proven in ``docs/bounds.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.bounding.additive import additive
from rankstone.bounding.claims import rule_of, sees_all
from rankstone.bounding.filling import value_of_some
from rankstone.bounding.question import Question
from rankstone.bounding.search import Search
from rankstone.measures.base import ANY_GAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.bounding.lists import Lists
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.measures.base import Measure
    from rankstone.measures.named import Span

__all__ = ["BINARY", "EXCHANGE", "extremes", "two_kinds"]

#: rules for measures that only ask whether a document is relevant
BINARY: Final = frozenset({"first", "counts", "precisions"})
#: rules for those of them in which the topmost holes are the best ones to be relevant, R being the same
EXCHANGE: Final = frozenset({"counts", "precisions"})


def extremes(lists: Lists, measure: Measure, scale: Floats, most: int) -> Search:
    """Return the lowest and highest value of a measure over the grades of the holes.

    Parameters
    ----------
    lists
        The run's lists.
    measure
        What is bounded.
    scale
        float64 ``[grades]``, ascending: the grades a hole can have.
    most
        Assignments of one query tried at most where only trying helps.
    """
    lists = lists if sees_all(measure) else lists.shown_to(measure)
    search = Search(Question.of(lists), measure, scale, most)
    left = _RULES[rule_of(measure)](search, lists)
    if len(left):
        _settle_by_span(search, left, measure.span_of(lists.hits))
    return search


def _settle_by_span(search: Search, query: Ints, span: Span) -> None:
    """Take the measure's range, unless assignments are known that reach both of its ends."""
    for grade in search.scale.tolist():
        search.constant(query, grade)
    low, high = -np.inf if span[0] is None else span[0], np.inf if span[1] is None else span[1]
    reached = (search.low[query] <= low) & (search.high[query] >= high)
    rest = query[~reached]
    search.settle(rest, np.full(len(rest), low), np.full(len(rest), high))


def two_kinds(measure: Measure, scale: Floats) -> Floats:
    """Return one grade that is not relevant and one that is, or the only kind there is."""
    relevant = (getattr(measure, "rel", None) or ANY_GAIN)(scale)
    return np.concatenate((scale[~relevant][:1], scale[relevant][-1:]))


def _uniform(search: Search, _lists: Lists) -> Ints:
    """Give all holes one grade: for measures in which holes help or harm whatever the others are."""
    for grade in search.scale[1:].tolist():
        search.constant(search.every, grade)
    return np.empty(0, np.int64)


def _first(search: Search, _lists: Lists) -> Ints:
    """Make no hole relevant, and all: for measures of the best placed relevant document."""
    search.constant(search.every, float(two_kinds(search.measure, search.scale)[-1]))
    return np.empty(0, np.int64)


def _multisets(search: Search, _lists: Lists) -> Ints:
    """Sort every multiset of grades: for measures in which exchanging two grades upwards never harms."""
    return search.multisets(search.every, search.scale)


def _counts(search: Search, lists: Lists) -> Ints:
    """Make the m topmost or bottommost holes relevant, for every m: the same for two kinds of grades."""
    kinds = two_kinds(search.measure, search.scale)
    few = lists.holes < search.most
    search.steps(np.flatnonzero(few), (float(kinds[0]), float(kinds[-1])))
    return np.flatnonzero(~few)


def _precisions(search: Search, lists: Lists) -> Ints:
    """Try the ends of gaps from the top, and look for the one valley from the bottom: AP."""
    kinds = two_kinds(search.measure, search.scale)
    search.constant(search.every, float(kinds[-1]))
    if len(kinds) > 1:
        query, count = _ends_of_gaps(lists.seen_by(search.measure))
        relevant = float(kinds[1])
        search.record(
            query, value_of_some(lists, search.measure, query, np.zeros_like(count), count, relevant)
        )
        _valley(search, lists, relevant)
    return np.empty(0, np.int64)


def _ends_of_gaps(lists: Lists) -> tuple[Ints, Ints]:
    """Return where runs of neighbouring holes end, as queries and numbers of holes down to there.

    Where ranks are open, the holes of a tie block are neighbours.
    """
    at = np.flatnonzero(lists.hole >= 0)
    query, rank, first, last = lists.query[at], lists.rank[at], lists.first[at], lists.last[at]
    near = rank[1:] == rank[:-1] + 1
    if lists.hits.expected:
        alone = first == last
        near = (near & alone[1:] & alone[:-1]) | (first[1:] == first[:-1])
    ends = np.ones(len(at), bool)
    ends[:-1] = ~(near & (query[1:] == query[:-1]))
    return query[ends], lists.hole[at][ends] + 1


def _valley(search: Search, lists: Lists, relevant: float) -> None:
    """Halve until one more relevant hole, counted from the bottom, no longer lowers the value."""

    def value(query: Ints, count: Ints) -> Floats:
        first = lists.holes[query] - count
        found = value_of_some(lists, search.measure, query, first, count, relevant)
        search.record(query, found)
        return found

    low, high = np.zeros(lists.queries, np.int64), lists.holes.copy()
    while len(query := np.flatnonzero(low < high)):
        middle = (low[query] + high[query]) // 2
        rises = value(query, middle + 1) >= value(query, middle)
        high[query[rises]] = middle[rises]
        low[query[~rises]] = middle[~rises] + 1


def _additive(search: Search, _lists: Lists) -> Ints:
    """Choose holes by what each adds: for sums over a norm that is fixed or a sum over the ideal list."""
    return search.enumerate(additive(search), search.scale)


def _enumeration(search: Search, _lists: Lists) -> Ints:
    """Try everything."""
    return search.enumerate(search.every, search.scale)


_RULES: Final[dict[str, Callable[[Search, Lists], Ints]]] = {
    "uniform": _uniform,
    "first": _first,
    "additive": _additive,
    "precisions": _precisions,
    "counts": _counts,
    "multisets": _multisets,
    "enumeration": _enumeration,
}
