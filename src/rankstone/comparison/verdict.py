"""The result of one pairwise comparison: effect sizes, interval, verdict, and the queries needed.

Pool bias: systems that retrieve more unjudged documents may be underestimated, so shares of judged documents
(Judged@k) are compared, too.  Where only relevant documents are judged, as in click logs, Judged@k equals
P@k: a difference then says that one system is better, and nothing about bias.
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

    from rankstone.comparison.compare_systems import ComparisonSettings
    from rankstone.comparison.score_matrix import Matrix
    from rankstone.comparison.test_families import Family
    from rankstone.evaluation.prepared import Prepared
    from rankstone.measures.core.measure import Measure


@dataclass(frozen=True, eq=False)
class Pair:
    """Two systems that are compared by one measure.

    Attributes
    ----------
    matrix
        The scores per query.
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


def two_sided(estimate: Estimate) -> float:
    """Return the two-sided p of an estimate by Student's t; 1 where its error is 0 or not known."""
    if not estimate.error > 0:
        return 1.0
    return min(1.0, 2 * t_tail(abs(estimate.value) / estimate.error, estimate.df))


def p_or_one(p: float) -> float:
    """Return p; 1 where a single query gives none."""
    return 1.0 if math.isnan(p) else p


@dataclass(frozen=True)
class PairStatistics:
    """The statistics that a verdict is based on; sums over queries are enough to compute them.

    Attributes
    ----------
    measure, system, versus
        What is compared: ``system`` with ``versus``.
    estimate
        The difference and its standard error.
    p
        The p-value of the test, before correction.
    n, units, left_out
        Numbers of queries, of independent units, and of queries without a value for some system.
    mean, mean_versus
        The means of both systems.
    wins, ties, losses
        Numbers of queries.
    direction
        ``higher`` or ``lower`` is better, or ``neither``.
    p_t
        The p-value of the paired t-test.
    margins
        p-values of two one-sided tests of the margin; ``None`` without a margin.
    es_hsd
        The difference over the residual standard deviation of a two-way analysis of variance.
    replicated
        True if systems have several runs.
    segment
        Values of the columns that queries are grouped by; empty for all queries.
    """

    measure: str
    system: str
    versus: str
    estimate: Estimate
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
    def of(cls, pair: Pair, estimate: Estimate, p: float, margin: float | None) -> PairStatistics:
        """Compute the statistics from scores per query."""
        matrix, units = pair.matrix, pair.units
        mean = matrix.units.mean
        differences = matrix.differences(pair.one, pair.other) * matrix.sign
        several = bool(matrix.replicates)
        return cls(
            measure=matrix.measure,
            system=matrix.systems[pair.one],
            versus=matrix.systems[pair.other],
            estimate=estimate,
            p=float(p),
            n=len(matrix),
            units=len(units),
            left_out=matrix.left_out,
            mean=float(mean[pair.one]),
            mean_versus=float(mean[pair.other]),
            wins=int((differences > 0).sum()),
            ties=int((differences == 0).sum()),
            losses=int((differences < 0).sum()),
            direction=matrix.direction,
            p_t=two_sided(estimate) if several else p_or_one(paired_t(units)),
            margins=margins(estimate, margin),
            es_hsd=_es_hsd(matrix, estimate.value),
            replicated=several,
            segment=pair.segment,
        )


#: statistics that are columns of the result
_COLUMNS: Final = (
    "measure", "system", "versus", "n", "units", "left_out", "mean", "mean_versus", "wins", "ties", "losses",
    "p", "p_t", "es_hsd",
)  # fmt: skip


def result_row(
    statistics: PairStatistics,
    settings: ComparisonSettings,
    ends: tuple[float, float],
    level: float,
    p_adjusted: float,
    family: Family,
) -> dict[str, Any]:
    """Return a row of the comparison's table.

    Parameters
    ----------
    statistics, settings, family
        Of the pair, of the comparison, and of the family that the pair belongs to.
    ends
        Both ends of the interval that the verdict follows from.
    level
        1 less the interval's confidence.
    p_adjusted
        The corrected p.
    """
    estimate, units = statistics.estimate, statistics.units
    deviation = estimate.error * math.sqrt(units)
    # more queries would not show how runs of one system vary
    planned = math.nan if statistics.replicated else estimate.spread * math.sqrt(units)
    queries_each = statistics.n / max(units, 1)
    effect = d_z(estimate.value, deviation) if deviation == deviation else None  # noqa: PLR0124 - NaN
    alone = estimate.interval(settings.confidence)
    word = verdict(ends, statistics.direction, settings.margin)
    if word == "inconclusive" and statistics.ties == statistics.n and not statistics.replicated:
        word = "identical"
    p_margins = statistics.margins
    cautious = planned * upper_deviation(units - 1)
    return {
        **{name: getattr(statistics, name) for name in _COLUMNS},
        "role": "primary" if family.name in ("primary", "segments") else "exploratory",
        "difference": estimate.value,
        "low": ends[0],
        "high": ends[1],
        "interval_kind": family.interval_kind,
        "confidence": 1 - (family.alpha if math.isnan(family.level) else family.level),
        "low_alone": alone[0],
        "high_alone": alone[1],
        "error": estimate.error,
        "spread": estimate.spread,
        "p_adjusted": float(p_adjusted),
        "family": family.size,
        "d_z": effect,
        "g": None if effect is None else effect * hedges(units),
        "detectable": _detectable(planned, units, level, settings.power),
        "p_not_worse": p_margins and p_margins[1 if statistics.direction == "lower" else 0],
        "p_equivalent": p_margins and max(p_margins),
        "verdict": word,
        "needed": _needed(word, estimate, planned, level, settings, queries_each),
        "needed_cautious": _needed(word, estimate, cautious, level, settings, queries_each),
    }


def margins(estimate: Estimate, margin: float | None) -> tuple[float, float] | None:
    """Return the p-values of two one-sided tests of a margin, by the method of the interval; or ``None``.

    The interval at ``1 - 2·alpha`` lies above ``-margin`` where the first is at most alpha, and below
    ``margin`` where the second is.
    """
    return None if margin is None else (estimate.p_above(-margin), estimate.p_below(margin))


def _es_hsd(matrix: Matrix, difference: float) -> float | None:
    """Return the difference over the residual standard deviation (Sakai 2018)."""
    error = 0.0 if matrix.anova is None else matrix.anova.error
    return difference / math.sqrt(error) if error > 0 else None


def _detectable(deviation: float, units: int, level: float, power: float) -> float | None:
    if not deviation > 0 or not 0 < level < power:
        return None
    return detectable(units, alpha=level, power=power) * deviation


def _needed(
    word: str,
    estimate: Estimate,
    deviation: float,
    level: float,
    settings: ComparisonSettings,
    queries_each: float,
) -> int | None:
    """Return how many queries would show a true difference as large as the observed one, if inconclusive."""
    if word != "inconclusive" or not deviation > 0 or not 0 < level < settings.power:
        return None
    distance, margin = abs(estimate.value), settings.margin
    if margin is not None and distance < margin:
        distance = margin - distance
    units = needed(distance / deviation, alpha=level, power=settings.power)
    return None if units is None else math.ceil(units * queries_each)


#: the cutoff of Judged@k where no measure has one
_CUTOFF: Final = 10
#: smaller differences of shares of judged documents do not matter, however many queries there are
_NEAR: Final = 0.01
#: fewer queries have no variance
_FEW: Final = 2


def with_judged(ready: Prepared, measures: Sequence[Measure]) -> Prepared:
    """Return the same with Judged@k added, at the cutoff of the first measure that has one."""
    k = next((measure.k for measure in measures if measure.k is not None), _CUTOFF)
    try:
        return ready.for_measures([*measures, Judged(k=k)])
    except BadOption:  # Judged@k has no meaning under some options of alignment
        return ready


def only_relevant_judged(ready: Prepared, measures: Sequence[Measure]) -> bool:
    """Return True if every judged document is relevant to every measure, so that Judged@k equals P@k."""
    grades = ready.judgments().grade
    marks = {ANY_GAIN, *(getattr(measure, "rel", None) or ANY_GAIN for measure in measures)}
    return bool(len(grades)) and all(bool(mark(grades).all()) for mark in marks)


def judged_share_counts(
    pairs: Sequence[tuple[str, str]], shares: Mapping[str, float]
) -> list[tuple[str, float, int, int]]:
    """Return a row per system: its share of judged documents, and how many systems have less and more.

    >>> judged_share_counts([("a", "b"), ("a", "c")], {"a": 0.5, "b": 0.7, "c": 0.2})
    [('b', 0.7, 1, 0), ('a', 0.5, 1, 1), ('c', 0.2, 0, 1)]
    """
    won = Counter(max(pair, key=shares.__getitem__) for pair in pairs)
    lost = Counter(min(pair, key=shares.__getitem__) for pair in pairs)
    systems = sorted({*won, *lost}, key=lambda system: (-shares[system], system))
    return [(system, shares[system], won[system], lost[system]) for system in systems]


def judged_scores(scores: Scores | pl.DataFrame) -> tuple[str, dict[str, pl.DataFrame]] | None:
    """Return the name of Judged@k and its values for each run; ``None`` where it was not computed."""
    frame = scores.per_query if isinstance(scores, Scores) else scores
    names = [name for name in frame["measure"].unique(maintain_order=True) if name.startswith("Judged@")]
    if not names:
        return None
    rows = frame.filter(measure=names[-1]).select("run", "query_id", "value").drop_nulls()
    parts = rows.partition_by("run", as_dict=True, include_key=False, maintain_order=True)
    return names[-1], {str(key[0]): part for key, part in parts.items()}


def judged_shares_differ(judged: Mapping[str, pl.DataFrame], one: str, other: str) -> bool:
    """Return True if two runs' shares of judged documents differ significantly (95 %), by more than 0.01.

    >>> import polars as pl
    >>> many = pl.DataFrame({"query_id": ["a", "b", "c", "d"], "value": [1.0, 1.0, 0.9, 1.0]})
    >>> judged_shares_differ({"x": many, "y": many.with_columns(value=pl.col("value") / 2)}, "x", "y")
    True
    """
    if one not in judged or other not in judged:
        return False
    both = judged[one].join(judged[other], on="query_id")
    if both.height < _FEW:
        return False
    estimate = estimates(Units.of((both["value"] - both["value_right"]).to_numpy()[:, None]))[0]
    low, high = estimate.interval()
    return abs(estimate.value) > _NEAR and (low > 0 or high < 0)
