"""One question and what there is to say about it: sizes, intervals, verdict, what would decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankstone.stats import (
    Estimate,
    Units,
    d_z,
    detectable,
    hedges,
    needed,
    paired_t,
    upper_deviation,
    verdict,
)
from rankstone.stats.paired import t_tail

if TYPE_CHECKING:
    from rankstone.comparing.family import Family
    from rankstone.comparing.how import How
    from rankstone.comparing.matrix import Matrix

__all__ = ["Answer", "Pair", "Question", "margins", "sure", "told", "two_sided", "verdict"]


@dataclass(frozen=True, eq=False)
class Question:
    """The question whether one system is better than another, by one measure.

    Attributes
    ----------
    matrix
        The scores.
    one, other
        Columns of the two systems; the difference is ``one - other``.
    segment
        Values of the columns that queries are grouped by; empty for all queries.
    """

    matrix: Matrix
    one: int
    other: int
    segment: tuple[Any, ...] = ()

    @property
    def units(self) -> Units:
        """The differences of independent units."""
        return self.matrix.units.difference(self.one, self.other)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a question came to; see :attr:`rankstone.comparing.result.Comparison.table` for the columns."""

    question: Question
    values: dict[str, Any]


def two_sided(found: Estimate) -> float:
    """Return two-sided p of an estimate by t."""
    if math.isnan(found.error):
        return 1.0
    if found.error == 0:
        return 1.0
    return min(1.0, 2 * t_tail(abs(found.value) / found.error, found.df))


def sure(p: float) -> float:
    """Return p, 1 where a single query says nothing."""
    return 1.0 if math.isnan(p) else p


@dataclass(frozen=True)
class Pair:
    """What two systems' scores for the same queries come to, beside the difference.

    Attributes
    ----------
    n, units, left_out
        Queries, independent units of them, and queries that some system has no value for.
    mean, mean_versus
        Of both systems.
    wins, ties, losses
        Queries.
    direction
        ``higher`` or ``lower`` is better, or ``neither``.
    p_t
        Of the paired t-test.
    margins
        p of two one-sided tests of the margin; ``None`` where there is none.
    es_hsd
        The difference over what systems and queries leave unexplained.
    replicated
        Whether systems have several runs.
    """

    n: int
    units: int
    left_out: int
    mean: float
    mean_versus: float
    wins: int
    ties: int
    losses: int
    direction: str
    p_t: float
    margins: tuple[float, float] | None
    es_hsd: float | None = None
    replicated: bool = False

    @classmethod
    def of(cls, question: Question, found: Estimate, margin: float | None) -> Pair:
        """Look at a question's scores."""
        matrix, units = question.matrix, question.units
        mean = matrix.units.mean
        differences = matrix.differences(question.one, question.other) * matrix.sign
        several = bool(matrix.replicates)
        return cls(
            n=len(matrix),
            units=len(units),
            left_out=matrix.left_out,
            mean=float(mean[question.one]),
            mean_versus=float(mean[question.other]),
            wins=int((differences > 0).sum()),
            ties=int((differences == 0).sum()),
            losses=int((differences < 0).sum()),
            direction=matrix.direction,
            p_t=two_sided(found) if several else sure(paired_t(units)),
            margins=margins(found, margin),
            es_hsd=_es_hsd(matrix, found.value),
            replicated=several,
        )


def told(
    pair: Pair,
    found: Estimate,
    how: How,
    ends: tuple[float, float],
    level: float,
    p: float,
    p_adjusted: float,
    family: Family,
) -> dict[str, Any]:
    """Return everything there is to say about one question."""
    deviation = found.error * math.sqrt(pair.units)
    planned = (
        math.nan if pair.replicated else found.spread * math.sqrt(pair.units)
    )  # more queries say nothing more of how runs vary
    each = pair.n / max(pair.units, 1)
    effect = d_z(found.value, deviation) if deviation == deviation else None  # noqa: PLR0124 - NaN
    alone = found.interval(how.confidence)
    word = verdict(ends, pair.direction, how.margin)
    if word == "inconclusive" and pair.ties == pair.n and not pair.replicated:
        word = "identical"
    not_worse = None if pair.margins is None else pair.margins[1 if pair.direction == "lower" else 0]
    return {
        "n": pair.n,
        "units": pair.units,
        "mean": pair.mean,
        "mean_versus": pair.mean_versus,
        "difference": found.value,
        "low": ends[0],
        "high": ends[1],
        "interval_kind": family.interval_kind,
        "confidence": 1 - (family.alpha if math.isnan(family.level) else family.level),
        "low_alone": alone[0],
        "high_alone": alone[1],
        "error": found.error,
        "spread": found.spread,
        "p": float(p),
        "p_t": pair.p_t,
        "p_adjusted": float(p_adjusted),
        "family": family.size,
        "wins": pair.wins,
        "ties": pair.ties,
        "losses": pair.losses,
        "d_z": effect,
        "g": None if effect is None else effect * hedges(pair.units),
        "es_hsd": pair.es_hsd,
        "detectable": _detectable(planned, pair.units, level, how.power),
        "p_not_worse": not_worse,
        "p_equivalent": None if pair.margins is None else max(pair.margins),
        "verdict": word,
        "needed": _needed(word, found, planned, level, how, each),
        "needed_cautious": _needed(word, found, planned * upper_deviation(pair.units - 1), level, how, each),
        "left_out": pair.left_out,
    }


def margins(found: Estimate, margin: float | None) -> tuple[float, float] | None:
    """Return p of two one-sided tests of a margin, by the interval's own method; ``None`` without a margin.

    The interval at ``1 - 2·alpha`` lies above ``-margin`` where the first is at most alpha, and below
    ``margin`` where the second is.
    """
    return None if margin is None else (found.p_above(-margin), found.p_below(margin))


def _es_hsd(matrix: Matrix, difference: float) -> float | None:
    """Return the difference over the standard deviation that systems and queries leave (Sakai 2018)."""
    error = 0.0 if matrix.anova is None else matrix.anova.error
    return difference / math.sqrt(error) if error > 0 else None


def _detectable(deviation: float, units: int, level: float, power: float) -> float | None:
    if not deviation > 0 or not 0 < level < power:
        return None
    return detectable(units, alpha=level, power=power) * deviation


def _needed(
    word: str, found: Estimate, deviation: float, level: float, how: How, queries_each: float
) -> int | None:
    """Return how many queries would decide if what was seen were the truth; ``None`` where it is decided."""
    if word != "inconclusive" or not deviation > 0 or not 0 < level < how.power:
        return None
    inside = how.margin is not None and abs(found.value) < how.margin
    distance = how.margin - abs(found.value) if inside and how.margin is not None else abs(found.value)
    units = needed(distance / deviation, alpha=level, power=how.power)
    return None if units is None else math.ceil(units * queries_each)
