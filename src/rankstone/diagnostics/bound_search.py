"""The search for the lowest and the highest score: assignments of grades are proposed and scored.

A hole that receives a grade becomes a hit like any other, in the list and in the ideal list; so the measure
itself scores every assignment, and no formula is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from rankstone.diagnostics.filled_lists import slices
from rankstone.hits.list_arrays import ragged_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone._basics import Floats, Ints
    from rankstone.diagnostics.bound_questions import Question
    from rankstone.measures.core.measure import Measure


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
        self.low = np.full(count, np.nan)
        self.high = np.full(count, np.nan)
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
        value = self.question.value(self.measure, query, grade)
        self.record(query, value)

    def constant(self, query: Ints, grade: float) -> None:
        """Give every hole of some queries the same grade."""
        holes = int(self.question.holes[query].sum())
        self.consider(query, np.full(holes, grade))

    def steps(self, query: Ints, ends: tuple[float, float]) -> None:
        """Give the m topmost holes one grade and the others another, then the m bottommost, for every m."""
        for copy, top, bottom in stepped(self.question.holes, query, ends):
            self.consider(copy, top)
            self.consider(copy, bottom)

    def patterns(self, query: Ints, rows: Floats) -> None:
        """Give the holes of some queries with equal numbers of holes every row of grades in turn."""
        count, holes = rows.shape
        sizes = np.full(len(query) * count, max(holes, 1))
        for begin, end in slices(sizes):
            copy = np.arange(begin, end)
            grades = rows[copy % count]
            self.consider(query[copy // count], grades.ravel())

    # -- exhaustion ---------------------------------------------------------------------------------
    def enumerate(self, query: Ints, scale: Floats) -> Ints:
        """Try every assignment of grades from a scale; return the queries that have too many."""
        grades = len(scale)

        def rows(holes: int) -> list[Floats]:
            number = np.arange(grades**holes)[:, None]
            digits = number // grades ** np.arange(holes) % grades
            return [scale[digits]]

        left = self._exhaust(query, lambda holes: grades**holes, rows)
        holes = self.question.holes[query]
        has_choices = (holes > 0) & (grades > 1)
        tried = query[has_choices & ~np.isin(query, left)]
        self.certificate[tried] = Certificate.enumerated
        return left

    def multisets(self, query: Ints, scale: Floats) -> Ints:
        """Try every multiset of grades, best first and best last; return the queries that have too many."""
        steps = len(scale) - 1

        def rows(holes: int) -> list[Floats]:
            rising = list(combinations_with_replacement(scale.tolist(), holes))
            table = np.array(rising, np.float64)
            table = table.reshape(len(rising), holes)
            return [table, table[:, ::-1]]

        def count(holes: int) -> int:
            return comb(holes + steps, steps)

        return self._exhaust(query, count, rows)

    def _exhaust(
        self,
        query: Ints,
        count: Callable[[int], int],
        tables: Callable[[int], list[Floats]],
    ) -> Ints:
        """Try all assignments for each number of holes that does not have too many.

        Parameters
        ----------
        query
            The queries.
        count, tables
            Number of holes → number of assignments, and these as rows of grades.

        Returns
        -------
        numpy.ndarray
            The queries that have too many.
        """
        holes = self.question.holes[query]
        left = [np.empty(0, np.int64)]
        for number in np.unique(holes).tolist():
            concerned = query[holes == number]
            if count(number) > self.most:
                left.append(concerned)
                continue
            for table in tables(number):
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
    sizes = holes[query]
    last = np.cumsum(sizes + 1)
    start = last - sizes - 1
    for begin, end in slices(np.repeat(sizes, sizes + 1)):
        number = np.arange(begin, end)
        run = np.searchsorted(last, number, side="right")
        count = number - start[run]
        size = sizes[run]
        place = ragged_range(np.zeros_like(size), size)
        is_top = place < np.repeat(count, size)
        is_bottom = place >= np.repeat(size - count, size)
        first, second = ends
        top = np.where(is_top, second, first)
        bottom = np.where(is_bottom, second, first)
        yield query[run], top, bottom
