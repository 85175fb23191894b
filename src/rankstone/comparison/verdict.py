"""One question and what there is to say about it: sizes, intervals, verdict, what would decide.

Whether systems are judged alike: who retrieves more unjudged documents loses to the judgments.

Where only relevant documents are judged, as in logs of clicks, Judged@k is P@k: to say that a better
system has more of it would be to say twice that it is better.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import BadOption
from rankstone.evaluation.scores import Scores
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.measures.counts import Judged
from rankstone.stats.automatic_intervals import d_z, hedges, verdict
from rankstone.stats.mean_intervals import Estimate, estimates
from rankstone.stats.paired_tests import paired_t, t_tail
from rankstone.stats.sample_size import detectable, needed, upper_deviation
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from rankstone.comparison.compare_systems import How
    from rankstone.comparison.score_matrix import Matrix
    from rankstone.comparison.test_families import Family
    from rankstone.evaluation.prepared import Prepared
    from rankstone.measures.core.measure import Measure


__all__ = [
    "Question",
    "Statistics",
    "held_by_system",
    "judged_among",
    "judged_apart",
    "margins",
    "relevant_alone",
    "sure",
    "told",
    "two_sided",
    "verdict",
    "with_judged",
]


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
class Statistics:
    """What the verdict on one question follows from; sums over queries are enough to make it.

    Attributes
    ----------
    measure, system, versus
        The question: whether ``system`` is better than ``versus``.
    found
        The difference and its error.
    p
        Of the test, before any correction.
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
        True if systems have several runs.
    segment
        Values of the columns that queries are grouped by; empty for all queries.
    """

    measure: str
    system: str
    versus: str
    found: Estimate
    p: float
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
    segment: tuple[Any, ...] = ()

    @classmethod
    def of(cls, question: Question, found: Estimate, p: float, margin: float | None) -> Statistics:
        """Look at a question's scores."""
        matrix, units = question.matrix, question.units
        mean = matrix.units.mean
        differences = matrix.differences(question.one, question.other) * matrix.sign
        several = bool(matrix.replicates)
        return cls(
            measure=matrix.measure,
            system=matrix.systems[question.one],
            versus=matrix.systems[question.other],
            found=found,
            p=float(p),
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
            segment=question.segment,
        )


def told(
    pair: Statistics,
    how: How,
    ends: tuple[float, float],
    level: float,
    p_adjusted: float,
    family: Family,
) -> dict[str, Any]:
    """Return everything there is to say about one question."""
    found = pair.found
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
        "measure": pair.measure,
        "role": "primary" if family.name in ("primary", "segments") else "exploratory",
        "system": pair.system,
        "versus": pair.versus,
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
        "p": pair.p,
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


#: the cutoff where the measures have none
_CUTOFF: Final = 10
#: shares of judged documents that are so near do not matter, however many queries there are
_NEAR: Final = 0.01
#: queries that say something about spread
_FEW: Final = 2


def with_judged(ready: Prepared, measures: Sequence[Measure]) -> Prepared:
    """Return the same, ready to measure Judged@k, too, at the cutoff of the first measure that has one."""
    k = next((measure.k for measure in measures if measure.k is not None), _CUTOFF)
    try:
        return ready.for_measures([*measures, Judged(k=k)])
    except BadOption:  # some options of alignment leave it without a meaning
        return ready


def relevant_alone(ready: Prepared, measures: Sequence[Measure]) -> bool:
    """Return whether every judged document is relevant to every measure, so that Judged@k is P@k."""
    grades = ready.judgments().grade
    marks = {ANY_GAIN, *(getattr(measure, "rel", None) or ANY_GAIN for measure in measures)}
    return bool(len(grades)) and all(bool(mark(grades).all()) for mark in marks)


def held_by_system(
    pairs: Sequence[tuple[str, str]], shares: Mapping[str, float]
) -> list[tuple[str, float, int, int]]:
    """Return each system of pairs whose shares differ, with its share: of how many it has more, and less.

    >>> held_by_system([("a", "b"), ("a", "c")], {"a": 0.5, "b": 0.7, "c": 0.2})
    [('b', 0.7, 1, 0), ('a', 0.5, 1, 1), ('c', 0.2, 0, 1)]
    """
    won = Counter(max(pair, key=shares.__getitem__) for pair in pairs)
    lost = Counter(min(pair, key=shares.__getitem__) for pair in pairs)
    systems = sorted({*won, *lost}, key=lambda system: (-shares[system], system))
    return [(system, shares[system], won[system], lost[system]) for system in systems]


def judged_among(scores: Scores | pl.DataFrame) -> tuple[str, dict[str, pl.DataFrame]] | None:
    """Return the name of Judged@k, and its values of each run; ``None`` where it was not measured."""
    frame = scores.per_query if isinstance(scores, Scores) else scores
    names = [name for name in frame["measure"].unique(maintain_order=True) if name.startswith("Judged@")]
    if not names:
        return None
    rows = frame.filter(measure=names[-1]).select("run", "query_id", "value").drop_nulls()
    parts = rows.partition_by("run", as_dict=True, include_key=False, maintain_order=True)
    return names[-1], {str(key[0]): part for key, part in parts.items()}


def judged_apart(judged: Mapping[str, pl.DataFrame], one: str, other: str) -> bool:
    """Say whether two runs' shares of judged documents differ: surely (95 %), and by more than 0.01.

    >>> import polars as pl
    >>> many = pl.DataFrame({"query_id": ["a", "b", "c", "d"], "value": [1.0, 1.0, 0.9, 1.0]})
    >>> judged_apart({"x": many, "y": many.with_columns(value=pl.col("value") / 2)}, "x", "y")
    True
    """
    if one not in judged or other not in judged:
        return False
    both = judged[one].join(judged[other], on="query_id")
    if both.height < _FEW:
        return False
    found = estimates(Units.of((both["value"] - both["value_right"]).to_numpy()[:, None]))[0]
    low, high = found.interval()
    return abs(found.value) > _NEAR and (low > 0 or high < 0)
