"""The search for the lowest and the highest score: assignments of grades are proposed and scored.

A hole that receives a grade becomes a hit like any other, in the list and in the ideal list; so the measure
itself scores every assignment, and no formula is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from rankstone.diagnostics.lists_with_holes import chosen
from rankstone.hits.list_arrays import (
    Ideal,
    descending_within,
    list_numbers,
    ragged_range,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone._basics import Floats, Ints
    from rankstone.diagnostics.bound_questions import Question
    from rankstone.diagnostics.lists_with_holes import ListsWithHoles
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Measure, Scored


#: entries of filled lists per batch
_SLICE = 1 << 20


def filled(
    lists: ListsWithHoles, query: Ints, grade: Floats, *, ideal: bool = True
) -> Hits:
    """Return the hits of copies of queries in which every hole has a grade.

    Parameters
    ----------
    lists
        The lists.
    query
        int64 ``[copies]``: the query of each copy; a query may have many copies.
    grade
        float64: grades of the holes of each copy, one copy after another.
    ideal
        Whether the grades enter the ideal lists, too.
    """
    lengths = np.diff(lists.offsets)[query]
    holes = lists.holes[query]
    at = ragged_range(lists.offsets[query], lengths)
    hole = lists.hole[at]
    value = lists.grade[at]
    given = np.flatnonzero(hole >= 0)
    begin = np.repeat(np.cumsum(holes) - holes, lengths)
    value[given] = grade[begin[given] + hole[given]]
    known = lists.hits.ideal.take(query)
    if ideal:
        known = _with(known, list_numbers(holes), grade)
    return _shown(lists, query, at, lengths, value, known)


def scored(
    lists: ListsWithHoles, measure: Measure, query: Ints, grade: Floats
) -> Scored:
    """Score copies of queries in which every hole has a grade."""
    used = lists.for_measure(measure)
    sizes = np.diff(used.offsets) + np.diff(used.hits.ideal.offsets) + used.holes
    ends = np.concatenate(([0], np.cumsum(used.holes[query])))
    parts = [
        measure.score(
            filled(used, query[begin:end], grade[ends[begin] : ends[end]]), used.empty
        )
        for begin, end in slices(sizes[query])
    ]
    return parts[0].joined(parts, np.arange(len(query))) if len(parts) > 1 else parts[0]


def value_of_some(
    lists: ListsWithHoles,
    measure: Measure,
    query: Ints,
    first: Ints,
    count: Ints,
    grade: float,
) -> Floats:
    """Return values if some neighbouring holes have one grade and the others stay unjudged.

    Parameters
    ----------
    lists
        The lists.
    measure
        A measure that treats unjudged documents like those judged not relevant.
    query, first, count
        int64 ``[copies]``: the query of each copy, and which of its holes are given the grade.
    grade
        The grade.

    Returns
    -------
    numpy.ndarray
        float64 ``[copies]``.
    """
    used = lists.for_measure(measure)
    judged = np.diff(used.hits.offsets)[query]
    values = [
        measure.score(
            _some_filled(
                used, query[begin:end], first[begin:end], count[begin:end], grade
            ),
            used.empty,
        ).value
        for begin, end in slices(judged + count)
    ]
    return np.concatenate(values)


def slices(sizes: Ints, most: int = _SLICE) -> Iterator[tuple[int, int]]:
    """Cut copies into slices of bounded size, of one copy at least; always one slice."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes) or begin == 0:
        before = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, before + most, side="right")), begin + 1)
        yield begin, min(end, len(sizes))
        begin = end


def _some_filled(
    lists: ListsWithHoles, query: Ints, first: Ints, count: Ints, grade: float
) -> Hits:
    known = np.flatnonzero(lists.hole < 0)
    holes = np.flatnonzero(lists.hole >= 0)
    copies = np.arange(len(query))
    judged = np.diff(lists.hits.offsets)[query]
    begin = np.searchsorted(holes, lists.offsets)
    here = np.clip(np.diff(begin)[query] - first, 0, count)
    at = np.concatenate(
        (
            known[ragged_range(lists.hits.offsets[query], judged)],
            holes[ragged_range(begin[query] + first, here)],
        )
    )
    copy = np.concatenate((np.repeat(copies, judged), np.repeat(copies, here)))
    at = at[
        np.argsort(copy * len(lists.rank) + at, kind="stable")
    ]  # two sorted runs: a merge
    value = np.where(lists.hole[at] < 0, lists.grade[at], grade)
    added = np.repeat(copies, count)
    ideal = _with(lists.hits.ideal.take(query), added, np.full(len(added), grade))
    return _shown(lists, query, at, judged + here, value, ideal)


def _shown(
    lists: ListsWithHoles,
    query: Ints,
    at: Ints,
    lengths: Ints,
    grade: Floats,
    ideal: Ideal,
) -> Hits:
    """Return the hits of copies of queries with some of their entries."""
    return replace(
        chosen(lists.hits, query, ideal=ideal),
        offsets=np.concatenate(([0], np.cumsum(lengths))),
        rank=lists.rank[at],
        grade=grade,
        first=lists.first[at],
        last=lists.last[at],
        judged=np.ones(len(at), bool),
    )


def _with(ideal: Ideal, query: Ints, grade: Floats) -> Ideal:
    """Return ideal lists with further grades sorted in; ``query`` ascends."""
    judged = np.diff(ideal.offsets)
    added = np.bincount(query, minlength=len(judged))
    offsets = np.concatenate(([0], np.cumsum(judged + added)))
    together = np.empty(int(offsets[-1]))
    together[ragged_range(offsets[:-1], judged)] = ideal.grade
    together[ragged_range(offsets[:-1] + judged, added)] = grade
    rises = together[1:] > together[:-1]
    rises[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(together))] - 1] = (
        False
    )
    if not rises.any():
        return Ideal(offsets, together)
    group = list_numbers(judged + added)
    return Ideal(offsets, descending_within(group, together))


class Certificate(IntEnum):
    """The certainty of an interval.

    ``proven``: both ends are scores of assignments, and it is proven that none scores beyond them.
    ``enumerated``: the same, because every assignment was scored.  ``outer``: every assignment scores
    inside, but perhaps none reaches the ends.
    """

    proven = 0
    enumerated = 1
    outer = 2


@dataclass(eq=False)
class Search:
    """One measure's extremes over the proposed assignments.

    Attributes
    ----------
    question
        The problem, which computes values.
    measure
        The measure.
    scale
        float64 ``[grades]``: the grades a hole can have, ascending.
    most
        The maximum number of assignments tried per query.
    low, high
        float64 ``[queries]``: lowest and highest value found.
    certificate
        int64 ``[queries]``, as :class:`Certificate`.
    """

    question: Question
    measure: Measure
    scale: Floats
    most: int
    low: Floats = field(init=False)
    high: Floats = field(init=False)
    certificate: Ints = field(init=False)

    def __post_init__(self) -> None:
        """Begin with every hole at the lowest grade."""
        count = len(self.question.holes)
        self.low, self.high = np.full(count, np.nan), np.full(count, np.nan)
        self.certificate = np.full(count, Certificate.proven, np.int64)
        self.constant(self.every, self.scale[0])

    @property
    def every(self) -> Ints:
        """All queries, int64 ``[queries]``."""
        return np.arange(len(self.question.holes))

    # -- proposals ----------------------------------------------------------------------------------
    def record(self, query: Ints, value: Floats) -> None:
        """Keep the extremes of values of some queries."""
        np.fmin.at(self.low, query, value)
        np.fmax.at(self.high, query, value)

    def consider(self, query: Ints, grade: Floats) -> None:
        """Score assignments, one copy of a query each, and keep the extremes."""
        self.record(query, self.question.value(self.measure, query, grade))

    def constant(self, query: Ints, grade: float) -> None:
        """Give every hole of some queries the same grade."""
        self.consider(query, np.full(int(self.question.holes[query].sum()), grade))

    def steps(self, query: Ints, ends: tuple[float, float]) -> None:
        """Give the m topmost holes one grade and the others another, then the m bottommost, for every m."""
        for copy, top, bottom in stepped(self.question.holes, query, ends):
            self.consider(copy, top)
            self.consider(copy, bottom)

    def patterns(self, query: Ints, rows: Floats) -> None:
        """Give the holes of some queries with equal numbers of holes every row of grades in turn."""
        for begin, end in slices(
            np.full(len(query) * len(rows), max(rows.shape[1], 1))
        ):
            copy = np.arange(begin, end)
            self.consider(query[copy // len(rows)], rows[copy % len(rows)].ravel())

    # -- exhaustion ---------------------------------------------------------------------------------
    def enumerate(self, query: Ints, scale: Floats) -> Ints:
        """Try every assignment of grades from a scale; return the queries that have too many."""
        grades = len(scale)

        def rows(holes: int) -> list[Floats]:
            number = np.arange(grades**holes)[:, None]
            return [scale[number // grades ** np.arange(holes) % grades]]

        left = self._exhaust(query, lambda holes: grades**holes, rows)
        tried = query[
            ~np.isin(query, left) & (self.question.holes[query] > 0) & (grades > 1)
        ]
        self.certificate[tried] = Certificate.enumerated
        return left

    def multisets(self, query: Ints, scale: Floats) -> Ints:
        """Try every multiset of grades, best first and best last; return the queries that have too many."""
        steps = len(scale) - 1

        def rows(holes: int) -> list[Floats]:
            rising = list(combinations_with_replacement(scale.tolist(), holes))
            table = np.array(rising, np.float64).reshape(len(rising), holes)
            return [table, table[:, ::-1]]

        return self._exhaust(query, lambda holes: comb(holes + steps, steps), rows)

    def _exhaust(
        self,
        query: Ints,
        count: Callable[[int], int],
        tables: Callable[[int], list[Floats]],
    ) -> Ints:
        """Try all assignments for each number of holes that does not have too many."""
        holes = self.question.holes[query]
        left = [np.empty(0, np.int64)]
        for some in np.unique(holes).tolist():
            concerned = query[holes == some]
            if count(some) > self.most:
                left.append(concerned)
                continue
            for table in tables(some):
                self.patterns(concerned, table)
        return np.concatenate(left)

    def settle(self, query: Ints, low: Floats, high: Floats) -> None:
        """Replace what was found by an interval that certainly contains every value."""
        self.low[query] = low
        self.high[query] = high
        self.certificate[query] = Certificate.outer


def stepped(
    holes: Ints, query: Ints, ends: tuple[float, float]
) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Yield copies of queries in which 0, 1, … all holes have the second grade, the others the first.

    Yields
    ------
    tuple
        int64 ``[copies]``: the query of each; float64: the grades of their holes if those with
        the second one are the topmost, and if they are the bottommost.
    """
    for begin, end in slices(np.repeat(holes[query], holes[query] + 1)):
        last = np.cumsum(holes[query] + 1)
        number = np.arange(begin, end)
        run = np.searchsorted(last, number, side="right")
        copy = query[run]
        count = number - (last - holes[query] - 1)[run]
        size = holes[copy]
        place = ragged_range(np.zeros_like(size), size)
        top = np.where(place < np.repeat(count, size), ends[1], ends[0])
        bottom = np.where(place >= np.repeat(size - count, size), ends[1], ends[0])
        yield copy, top, bottom
