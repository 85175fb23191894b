"""What is asked: the value of one run, or the difference of two, under any grades of the holes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankstone.bounding.filling import scored
from rankstone.hits.pairs import ragged_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.bounding.lists import Lists
    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.measures.base import Measure

__all__ = ["Question", "less", "numbered"]


@dataclass(frozen=True, eq=False)
class Question:
    """One run's lists, or two runs' lists of the same queries and the difference of their values.

    Attributes
    ----------
    sides
        The lists of each run.  All have the same holes: what one run alone retrieves is, for the
        other, a hole outside its list.
    places
        int64 ``[holes]`` for each side: the number within its query that each hole has there.  Holes
        are laid end to end, query by query, in the order of the first side.
    """

    sides: tuple[Lists, ...]
    places: tuple[Ints, ...]

    @classmethod
    def of(cls, lists: Lists) -> Question:
        """Ask for the value of one run."""
        return cls((lists,), (ragged_range(np.zeros_like(lists.holes), lists.holes),))

    def shown_to(self, measure: Measure) -> Question:
        """Ask only for the holes that a measure looks at in either list."""
        sides = [side.shown_to(measure) for side in self.sides]
        inside = [places < side.holes[self.query] for side, places in zip(sides, self.places, strict=True)]
        kept = np.flatnonzero(np.logical_or.reduce(inside))
        query = self.query[kept]
        counts = np.bincount(query, minlength=len(self.holes))
        return Question(
            tuple(replace(side, holes=counts) for side in sides),
            tuple(
                numbered(places[kept], ~shown[kept], query, side.holes)
                for side, places, shown in zip(sides, self.places, inside, strict=True)
            ),
        )

    @property
    def holes(self) -> Ints:
        """Holes of each query, int64 ``[queries]``."""
        return self.sides[0].holes

    @cached_property
    def starts(self) -> Ints:
        """Where each query's holes begin, int64 ``[queries + 1]``."""
        return np.concatenate(([0], np.cumsum(self.holes)))

    @cached_property
    def query(self) -> Ints:
        """The query of each hole, int64 ``[holes]``."""
        return np.repeat(np.arange(len(self.holes)), self.holes)

    def value(self, measure: Measure, query: Ints, grade: Floats) -> Floats:
        """Return the values of copies of queries whose holes have been given grades, float64 ``[copies]``."""
        holes = self.holes[query]
        begin = np.repeat(np.cumsum(holes) - holes, holes)
        hole = ragged_range(self.starts[query], holes)
        values: list[Floats] = []
        for side, places in zip(self.sides, self.places, strict=True):
            arranged = np.empty(len(grade))
            arranged[begin + places[hole]] = grade
            values.append(scored(side, measure, query, arranged).value)
        return less(values)

    def by_hole(self, numbers: Sequence[Floats]) -> Floats:
        """Return each hole's number, less that of the other side where there are two; as they are there."""
        at = np.repeat(self.starts[:-1], self.holes)
        return less([found[at + places] for found, places in zip(numbers, self.places, strict=True)])

    def alike(self, measure: Measure) -> Bools:
        """Return the queries in which a measure sees the same in both lists, bool ``[queries]``.

        The same documents at the same ranks (judged ones with the same grades) have the same value under
        every assignment.
        """
        one, other = (side.seen_by(measure) for side in self.sides)
        lengths = np.diff(one.offsets)
        same: Bools = lengths == np.diff(other.offsets)
        for name in ("n", "length", "found"):
            same &= np.equal(getattr(one.hits, name), getattr(other.hits, name))
        queries = np.flatnonzero(same)
        entries = [ragged_range(side.offsets[queries], lengths[queries]) for side in (one, other)]
        differs = np.zeros(len(entries[0]), bool)
        for columns in zip(self._shown(one, 0, entries[0]), self._shown(other, 1, entries[1]), strict=True):
            differs |= columns[0] != columns[1]
        same[np.repeat(queries, lengths[queries])[differs]] = False
        return same

    def _shown(self, side: Lists, which: int, entries: Ints) -> tuple[Ints | Floats, ...]:
        """Return what entries show: where they stand, the judged grade, or which hole they are."""
        number = np.empty(len(self.query), np.int64)
        number[self.starts[self.query] + self.places[which]] = np.arange(len(self.query))
        hole = side.hole[entries]
        at = self.starts[side.query[entries]] + hole
        document = np.where(hole < 0, -1, number[np.where(hole < 0, 0, at)] if len(number) else -1)
        grade = np.where(hole < 0, side.grade[entries], 0.0)
        return side.rank[entries], side.first[entries], side.last[entries], grade, document


def less(sides: Sequence[Floats]) -> Floats:
    """Return the first side's numbers, less the second's where there are two."""
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def numbered(places: Ints, outside: Bools, query: Ints, listed: Ints) -> Ints:
    """Return the numbers of a side's holes: those in its list as they are, the others behind them.

    Parameters
    ----------
    places, outside, query
        For each hole, queries ascending: its number, whether it stands outside the list (the number
        then says nothing), and its query.
    listed
        int64 ``[queries]``: holes in the list.
    """
    number = places.copy()
    query = query[outside]
    begin = np.searchsorted(query, np.arange(len(listed)))
    number[outside] = listed[query] + np.arange(len(query)) - begin[query]
    return number
