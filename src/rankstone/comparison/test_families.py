"""Families: which questions are asked together, what each answer is, and how sure all of them are.

The verdict comes from the interval at the family's level, so interval and verdict cannot contradict each
other.

All pairs of systems at once: p-values and intervals that hold for every pair together.

Every procedure says what it assumes; docs/compare.md has how often each was wrong on scores of real systems.

Several runs of one system: seeds, folds.  What varies between them is part of what is not known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.comparison.verdict import Question, Statistics, sure, told, two_sided
from rankstone.errors import BadOption
from rankstone.stats.anova_and_friedman import hsd_reach, nemenyi, nemenyi_reach, tukey_hsd
from rankstone.stats.automatic_intervals import difference_estimate
from rankstone.stats.mean_intervals import RESAMPLED, Estimate, estimates
from rankstone.stats.multiple_testing import SIMULTANEOUS, adjusted, family_level
from rankstone.stats.paired_tests import PAIRED, sign_flips
from rankstone.stats.sampling_units import Units
from rankstone.stats.simultaneous_tests import MaxT, flipped_max_t, randomised_tukeys, resampled_max_t

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone.comparison.compare_systems import How
    from rankstone.comparison.score_matrix import Matrix
    from rankstone.stats.simultaneous_tests import RandomisedTukey

    Floats = NDArray[np.float64]
    Progress = Callable[[int], None]
    Keys = NDArray[np.uint64]

__all__ = ["ALL_PAIRS", "DRAWN", "AllPairs", "Family", "all_pairs", "answered", "concluded", "with_runs"]

#: procedure → who; what each assumes is said in ``words``
ALL_PAIRS: Final = {
    "robust_tukey": "randomised Tukey HSD (Carterette 2012) and max-|t| by sign flips (Westfall and Young "
    "1993), where both claim",
    "tukey": "randomised Tukey HSD (Carterette 2012)",
    "max_t": "max-|t| by the bootstrap (Romano and Wolf 2005)",
    "hsd": "Tukey's HSD blocked on queries",
    "nemenyi": "Nemenyi's test of mean ranks (1963)",
}
#: those that draw, and so look at all primary measures together
DRAWN: Final = ("robust_tukey", "tukey", "max_t")


@dataclass(frozen=True, eq=False)
class AllPairs:
    """What looking at all pairs at once says of a family.

    Attributes
    ----------
    p
        float64 ``[questions]``, corrected.
    ends
        Of simultaneous intervals, a question each: 0 is outside exactly where p is at most alpha.
    draws
        How many shuffles, flips or resamples were drawn.
    """

    p: Floats
    ends: list[tuple[float, float]]
    draws: int = 0


def all_pairs(
    families: Sequence[Sequence[Question]], how: How, correction: str, progress: Progress | None
) -> list[AllPairs]:
    """Look at all pairs of each family."""
    matrices = [list({id(q.matrix): q.matrix for q in questions}.values()) for questions in families]
    if correction not in DRAWN:
        return [_alone(*one, how, correction) for one in zip(families, matrices, strict=True)]
    tables = [_stacked(some) for some in matrices]
    if correction == "max_t":
        found = [_resampled(table, how, progress) for table in tables]
    else:
        found = _shuffled(tables, how, progress)
    if correction == "robust_tukey":
        found = [_both(one, _flipped(table, how, progress)) for one, table in zip(found, tables, strict=True)]
    return [_all_pairs(*one) for one in zip(families, matrices, found, strict=True)]


@dataclass(frozen=True, eq=False)
class _Cube:
    """What a procedure found, ``[systems, systems, measures]``: p, and the ends of intervals."""

    p: Floats
    low: Floats
    high: Floats
    draws: int


def _both(one: _Cube, other: _Cube) -> _Cube:
    """Return what both procedures claim: the larger p, and intervals that hold both."""
    p, low = np.maximum(one.p, other.p), np.minimum(one.low, other.low)
    return _Cube(p, low, np.maximum(one.high, other.high), max(one.draws, other.draws))


def _all_pairs(questions: Sequence[Question], matrices: Sequence[Matrix], found: _Cube) -> AllPairs:
    column = {id(matrix): number for number, matrix in enumerate(matrices)}
    places = [(q.one, q.other, column[id(q.matrix)]) for q in questions]
    ends = [(float(found.low[place]), float(found.high[place])) for place in places]
    return AllPairs(np.array([found.p[place] for place in places]), ends, found.draws)


def _stacked(matrices: Sequence[Matrix]) -> tuple[Floats, Floats]:
    units = [matrix.units for matrix in matrices]
    return np.stack([one.total for one in units], axis=2), np.stack([one.size for one in units], axis=1)


def _shuffled(tables: Sequence[tuple[Floats, Floats]], how: How, progress: Progress | None) -> list[_Cube]:
    """Shuffle systems within units; families of as many units share their shuffles."""
    shapes: dict[tuple[int, ...], list[int]] = {}
    for at, (totals, _) in enumerate(tables):
        shapes.setdefault(totals.shape[:2], []).append(at)
    found: dict[int, _Cube] = {}
    for (units, systems), places in shapes.items():
        some, count = [tables[at] for at in places], how.shuffles(units * systems)
        shuffled = randomised_tukeys(some, shuffles=count, seed=how.seed, progress=progress)
        found |= {at: _tukey_cube(one, how.alpha, count) for at, one in zip(places, shuffled, strict=True)}
    return [found[at] for at in range(len(tables))]


def _tukey_cube(found: RandomisedTukey, alpha: float, shuffles: int) -> _Cube:
    reach = found.critical(alpha)
    return _Cube(found.p, found.gap - reach, found.gap + reach, shuffles)


def _max_t_cube(found: MaxT) -> _Cube:
    return _Cube(found.p, found.low, found.high, len(found.largest))


def _flipped(table: tuple[Floats, Floats], how: How, progress: Progress | None) -> _Cube:
    flips = how.shuffles(table[0].shape[0] * table[0].shape[1])
    return _max_t_cube(flipped_max_t(*table, alpha=how.alpha, flips=flips, seed=how.seed, progress=progress))


def _resampled(table: tuple[Floats, Floats], how: How, progress: Progress | None) -> _Cube:
    draws = how.draws(len(table[0]))
    found = resampled_max_t(*table, alpha=how.alpha, resamples=draws, seed=how.seed, progress=progress)
    return _max_t_cube(found)


def _alone(questions: Sequence[Question], matrices: Sequence[Matrix], how: How, correction: str) -> AllPairs:
    """Look at the pairs of one measure by a procedure that draws nothing."""
    [matrix, *others] = matrices
    if others or matrix.cluster is not None or np.ptp(matrix.weight) > 0:
        raise BadOption(
            f"correction={correction!r} is for one primary measure of queries that stand alone and weigh the "
            "same",
            fix="correction='robust_tukey' takes several measures, clusters and weights",
        )
    if len(matrix) < 2:  # noqa: PLR2004 - one query
        raise BadOption("one query leaves no error to compare with", fix="compare over more queries")
    if correction == "nemenyi" and how.margin is not None:
        raise BadOption(
            "a margin is a difference of scores, and correction='nemenyi' compares mean ranks",
            fix="leave margin out, or use correction='robust_tukey'",
        )
    tested, reached = (tukey_hsd, hsd_reach) if correction == "hsd" else (nemenyi, nemenyi_reach)
    p, reach = tested(matrix.values), reached(matrix.values, how.alpha)
    mean = matrix.units.mean
    gaps = [float(mean[q.one] - mean[q.other]) for q in questions]
    return AllPairs(np.array([p[q.one, q.other] for q in questions]), [(g - reach, g + reach) for g in gaps])


def with_runs(found: Estimate, matrix: Matrix, one: int, other: int) -> Estimate:
    """Return an estimate whose error holds what varies between runs beside what varies between queries.

    Queries and runs are both drawn from many, and crossed: the squared error of a difference of means over
    runs is ``s²/n`` of the queries' differences plus ``s²/r`` of the runs' means, for each system that has
    several.  What both hold in common is counted twice, which errs on the safe side.  Degrees of
    freedom are those of Satterthwaite (1946).  A system with one run says nothing of how runs vary.

    Parameters
    ----------
    found
        The estimate over queries alone, by t.
    matrix
        The scores, and the means of runs.
    one, other
        Columns of the two systems.
    """
    means = [matrix.replicates.get(matrix.systems[at]) for at in (one, other)]
    parts = [(found.error**2, found.df)]
    parts += [(float(np.var(m, ddof=1)) / len(m), len(m) - 1) for m in means if m is not None]
    square = sum(part for part, _ in parts)
    if len(parts) == 1 or not square > 0:
        return found
    df = square**2 / sum(part**2 / freedom for part, freedom in parts)
    return replace(found, error=math.sqrt(square), df=df)


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
    by: tuple[str, ...] = (),
) -> list[tuple[Family, list[dict[str, Any]]]]:
    """Answer the questions of families, by name: a row each, with the columns ``by`` in front."""
    families = list(asked.values())
    every = all_pairs(families, how, correction, progress) if correction in ALL_PAIRS else [None] * len(asked)
    return [
        concluded(name, *_statistics(questions, how, progress), how, correction, together, by)
        for (name, questions), together in zip(asked.items(), every, strict=True)
    ]


def _statistics(
    questions: Sequence[Question], how: How, progress: Callable[[int], None] | None
) -> tuple[list[Statistics], int]:
    """Return what is known of every question, and how many permutations were drawn."""
    found = [_estimated(question, how) for question in questions]
    if how.interval in RESAMPLED:
        found = _drawn(questions, found, how, progress)
    p, drawn = _tested(questions, found, how, progress)
    known = [
        Statistics.of(question, one, raw, how.margin)
        for question, one, raw in zip(questions, found, p, strict=True)
    ]
    return known, drawn


def concluded(
    name: str,
    known: Sequence[Statistics],
    drawn: int,
    how: How,
    correction: str,
    every: AllPairs | None = None,
    by: tuple[str, ...] = (),
) -> tuple[Family, list[dict[str, Any]]]:
    """Return a family and the answers to its questions, wherever their statistics were added up.

    Parameters
    ----------
    name
        Of the family.
    known
        What is known of each question.
    drawn
        How many permutations the test drew.
    how, correction
        What was chosen, and the correction that follows from it.
    every
        What looking at all pairs at once found, for such a correction.
    by
        Columns that queries are grouped by.
    """
    found, p = [one.found for one in known], np.array([one.p for one in known])
    if every is not None:
        corrected, level, drawn = every.p, math.nan, max(drawn, every.draws)
        intervals, levels = every.ends, _levels(found, every.ends)
    else:
        corrected, level = adjusted(p, correction), family_level(p, correction, how.alpha)
        intervals, levels = [e.interval(1 - level) for e in found], [level] * len(found)
    test = "t, queries and runs" if any(one.replicated for one in known) else how.test
    family = Family(name, len(known), correction, test, how.alpha, level, drawn)
    return family, [
        {**dict(zip(by, one.segment, strict=True)), **told(one, how, ends, at, after, family)}
        for one, ends, at, after in zip(known, intervals, levels, corrected, strict=True)
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
