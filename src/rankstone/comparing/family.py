"""Families: which questions are asked together, what each answer is, and how sure all of them are.

The verdict comes from the interval at the family's level, so interval and verdict cannot contradict each
other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.comparing.all_pairs import ALL_PAIRS, AllPairs, all_pairs
from rankstone.comparing.answer import Answer, Pair, Question, sure, told, two_sided
from rankstone.comparing.replicates import with_runs
from rankstone.errors import BadOption
from rankstone.stats import (
    PAIRED,
    RESAMPLED,
    SIMULTANEOUS,
    Estimate,
    Units,
    adjusted,
    difference_estimate,
    estimates,
    family_level,
    sign_flips,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone.comparing.how import How

    Floats = NDArray[np.float64]
    Keys = NDArray[np.uint64]

__all__ = ["Family", "answered"]


@dataclass(frozen=True, eq=False)
class Family:
    """What was asked together, and how.

    Attributes
    ----------
    name
        ``primary``, the exploratory measure, or ``segments``.
    size
        How many questions.
    correction
        What was done about their being several.
    test
        Of one pair.
    alpha
        The chance of a false claim that the family as a whole may have.
    level
        Of each interval: ``1 - level`` is its confidence; NaN where all pairs were looked at together.
    permutations
        How many were drawn; 0 where none was.
    """

    name: str
    size: int
    correction: str
    test: str
    alpha: float
    level: float
    permutations: int

    @property
    def interval_kind(self) -> str:
        """What the intervals' confidence is of.

        ``simultaneous``: of all of them together; ``pointwise``: of each by itself.
        """
        together = self.correction in SIMULTANEOUS or self.correction in ALL_PAIRS
        return "simultaneous" if together and self.size > 1 else "pointwise"


def answered(
    asked: Mapping[str, Sequence[Question]],
    how: How,
    correction: str,
    progress: Callable[[int], None] | None = None,
) -> list[tuple[Family, list[Answer]]]:
    """Answer the questions of families, by name."""
    families = list(asked.values())
    every = all_pairs(families, how, correction, progress) if correction in ALL_PAIRS else None
    return [
        _answered(name, questions, how, correction, None if every is None else every[at], progress)
        for at, (name, questions) in enumerate(asked.items())
    ]


def _answered(
    name: str,
    questions: Sequence[Question],
    how: How,
    correction: str,
    every: AllPairs | None,
    progress: Callable[[int], None] | None,
) -> tuple[Family, list[Answer]]:
    found = [_estimated(question, how) for question in questions]
    if how.interval in RESAMPLED:
        found = _drawn(questions, found, how, progress)
    p, drawn = _tested(questions, found, how, progress)
    if every is not None:
        corrected, level, drawn = every.p, math.nan, max(drawn, every.draws)
        intervals, levels = every.ends, _levels(found, every.ends)
    else:
        corrected, level = adjusted(p, correction), family_level(p, correction, how.alpha)
        intervals, levels = [e.interval(1 - level) for e in found], [level] * len(found)
    test = "t, queries and runs" if any(q.matrix.replicates for q in questions) else how.test
    family = Family(name, len(questions), correction, test, how.alpha, level, drawn)
    return family, [
        Answer(q, told(Pair.of(q, e, how.margin), e, how, ends, at, raw, p_adjusted, family))
        for q, e, ends, at, raw, p_adjusted in zip(
            questions, found, intervals, levels, p, corrected, strict=True
        )
    ]


def _estimated(question: Question, how: How) -> Estimate:
    """Estimate the difference without resamples; where systems have several runs, these vary, too."""
    matrix, units = question.matrix, question.units
    if matrix.replicates and how.interval not in ("auto", "t"):
        raise BadOption(
            f"interval={how.interval!r} knows nothing of several runs of one system",
            fix="interval='t' takes queries and runs into account",
        )
    if not matrix.replicates and how.interval in ("auto", "worst_case"):
        return difference_estimate(units, matrix.span, how.interval)
    most = matrix.span[1] - matrix.span[0]
    return with_runs(estimates(units, span=(-most, most))[0], matrix, question.one, question.other)


def _by_matrix(questions: Sequence[Question]) -> list[list[int]]:
    """Return the places of questions that are about the same scores."""
    places: dict[int, list[int]] = {}
    for at, question in enumerate(questions):
        places.setdefault(id(question.matrix), []).append(at)
    return list(places.values())


def _side_by_side(questions: Sequence[Question]) -> Units:
    units = [question.units for question in questions]
    return Units(
        np.concatenate([one.total for one in units], axis=1), units[0].size, clustered=units[0].clustered
    )


def _drawn(
    questions: Sequence[Question],
    found: list[Estimate],
    how: How,
    progress: Callable[[int], None] | None,
) -> list[Estimate]:
    """Estimate by the bootstrap, all pairs of a measure from the same resamples."""
    found = list(found)
    for places in _by_matrix(questions):
        units = _side_by_side([questions[at] for at in places])
        keys = questions[places[0]].matrix.keys if how.interval == "poisson" else None
        draws = how.draws(len(units))
        several = estimates(units, how.interval, resamples=draws, seed=how.seed, keys=keys, progress=progress)
        for at, one in zip(places, several, strict=True):
            found[at] = replace(one, span=found[at].span)
    return found


def _tested(
    questions: Sequence[Question],
    found: Sequence[Estimate],
    how: How,
    progress: Callable[[int], None] | None,
) -> tuple[Floats, int]:
    """Return p of every question, and how many permutations were drawn at most."""
    p, most = np.ones(len(questions)), 0
    for places in _by_matrix(questions):
        asked = [questions[at] for at in places]
        if asked[0].matrix.replicates:
            p[places] = [two_sided(found[at]) for at in places]
        elif how.test != "randomisation":
            test = PAIRED[how.test]
            p[places] = [sure(test(question.units)) for question in asked]
        else:
            units = _side_by_side(asked)
            flips = sign_flips(units.total, flips=how.shuffles(len(units)), seed=how.seed, progress=progress)
            p[places] = [one.p for one in flips]
            most = max([most, *(one.flips for one in flips if not one.exact)])
    return p, most


def _levels(found: Sequence[Estimate], ends: Sequence[tuple[float, float]]) -> list[float]:
    """Return the level that a t interval as wide would have: what detectable differences are counted by."""
    reach = [(high - low) / 2 for low, high in ends]
    return [
        two_sided(replace(one, value=wide)) if one.error > 0 and math.isfinite(wide) else math.nan
        for one, wide in zip(found, reach, strict=True)
    ]
