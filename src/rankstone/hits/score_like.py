"""Judgments whose grades look like the scores of a run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.hits.ideal import Ideal

__all__ = ["Grades"]

#: from so many judgments of a query on, grades of any usual scale repeat
_REPEATS: Final = 10
#: whole grades hardly repeat where so many of a query's differ; of fractions half of them will do, as
#: scores of short documents tie
_HARDLY: Final = 0.9
_QUARTERS: Final = 4


@dataclass(frozen=True)
class Grades:
    """Counts that tell grades from scores; those of several parts add up.

    Attributes
    ----------
    grades, fractional
        Grades, and those that are no multiples of a quarter.
    below, fractional_below
        The same of grades below zero.
    several, different
        Grades of queries with two judgments or more, and how many of them differ within their query.
    many, many_different
        The same of queries with so many judgments that grades have to repeat.
    """

    grades: int = 0
    fractional: int = 0
    below: int = 0
    fractional_below: int = 0
    several: int = 0
    different: int = 0
    many: int = 0
    many_different: int = 0

    @classmethod
    def of(cls, judged: Ideal) -> Grades:
        """Count grades, which are sorted within each query."""
        grade = judged.grade
        part = _QUARTERS * grade != np.floor(_QUARTERS * grade)  # half stars are grades
        lengths = np.diff(judged.offsets)
        fresh = np.ones(len(grade), bool)
        fresh[1:] = grade[1:] != grade[:-1]
        fresh[judged.offsets[:-1][lengths > 0]] = True
        running = np.concatenate(([0], np.cumsum(fresh)))
        differ = running[judged.offsets[1:]] - running[judged.offsets[:-1]]
        several, many = lengths > 1, lengths >= _REPEATS
        counts = (
            len(grade), part.sum(), (grade < 0).sum(), (part & (grade < 0)).sum(),
            lengths[several].sum(), differ[several].sum(), lengths[many].sum(), differ[many].sum(),
        )  # fmt: skip
        return cls(*map(int, counts))

    @classmethod
    def summed(cls, counts: Mapping[str, int]) -> Grades:
        """Return counts that were added up by name."""
        return cls(**{field.name: counts.get(field.name, 0) for field in fields(cls)})

    def doubts(self) -> tuple[str, ...]:
        """Say why these may be scores; nothing where they look like grades."""
        if 2 * self.fractional_below > self.below:
            why = "grades below zero are fractions"
        elif 2 * self.fractional > self.grades and 2 * self.different > self.several:
            why = "most grades are fractions that hardly repeat"
        elif self.many_different >= _HARDLY * self.many > 0:
            why = "grades hardly repeat within a query"
        else:
            return ()
        return (f"{why}, as scores do: are judgments and run in the right order?",)
