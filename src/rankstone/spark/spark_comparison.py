"""Which of several runs is better, on a cluster: sums are computed on the cluster, the verdict on the driver.

The rows of pairs are on the driver, the scores of queries stay on the cluster.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record
from rankstone.comparison.comparison_result import WrittenComparison
from rankstone.comparison.comparison_rows import comparison_frame
from rankstone.comparison.families import ALL_PAIRS
from rankstone.comparison.pairwise_tests import ComparisonLayout
from rankstone.comparison.score_matrix import NO_CLUSTER, systems_of
from rankstone.comparison.score_sources import check_means
from rankstone.comparison.settings import ComparisonSettings
from rankstone.comparison.test_families import family_results
from rankstone.comparison.verdict import PairStatistics, margins, p_or_one
from rankstone.errors import BadOption, NotComparable, UsageError, printable
from rankstone.evaluation.request import of_rankings
from rankstone.io.attributes import read_attributes
from rankstone.spark.score_sums import (
    SUMS_SCHEMA,
    CountingTask,
    DifferenceSums,
    DrawingTask,
    MeasureSpread,
    MeasureSums,
    MergingTask,
)
from rankstone.spark.spark_evaluation import evaluate, merged_partitions
from rankstone.spark.spark_scores import spark_errors
from rankstone.stats.mean_intervals import Estimate
from rankstone.stats.paired_tests import paired_t
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Columns, NamedValues, Names
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.hits.alignment_audit import Audit
    from rankstone.measures.core.definition import Span
    from rankstone.measures.core.measure import Measures
    from rankstone.spark.spark_scores import SparkScores


class SparkComparison(WrittenComparison, kw_only=True):
    """Which systems are better, with intervals and tests; scores of queries are on the cluster.

    Attributes
    ----------
    systems, baselines, primary, measures, families, settings, lang
        As of :class:`rankstone.comparison.comparison_result.Comparison`.
    table
        One row for each measure and pair, as in ``Comparison``, without ``es_hsd``.
    by_system
        One row for each system and measure, see :meth:`mean`.
    scores
        The scores; kept until ``scores.unpersist()``.
    """

    by_system: pl.DataFrame
    scores: SparkScores

    @property
    def audit(self) -> Audit:
        """The audit of the alignment."""
        return self.scores.audit

    @cached_property
    def conventions(self) -> NamedValues:
        """Every option and parameter the numbers depend on."""
        settings = {
            **self.settings.as_dict(),
            "correction": self.families[0].correction,
        }
        return {**self.scores.conventions, "comparison": settings}

    def mean(self) -> pl.DataFrame:
        """Return one row for each system and measure."""
        return self.by_system

    def report(self) -> NamedValues:
        """Return all data as plain dicts."""
        return self.reported(
            audit=self.audit, conventions=self.conventions, inputs=self.scores.inputs
        )


#: the test and the intervals that can be computed from sums
_TEST: Final = "t"
_INTERVALS: Final = ("poisson", "t")
#: rows of sums that are collected
_FEW: Final = 8


def compare(
    qrels: Any,  # noqa: ANN401 - pyspark's DataFrame
    runs: Mapping[str, Any],
    measures: MeasuresLike,
    *,
    baseline: str | Sequence[str] | None = None,
    primary: MeasuresLike | None = None,
    cluster: str | None = None,
    queries: object = None,
    columns: Columns | None = None,
    lang: str = "en",
    test: str = _TEST,
    interval: str = "poisson",
    correction: str | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    power: float = 0.8,
    resamples: int | None = None,
    seed: int = 0,
    **options: Any,  # noqa: ANN401 - checked by evaluate
) -> SparkComparison:
    """Compare runs, with scores that stay on the cluster.

    The numbers are those of ``rankstone.compare(…, test="t", interval="poisson")``, digit for digit, however
    rows are partitioned: sums are of integers, and how often a resample contains a query is drawn from
    the query's id (Hanley and MacGibbon 2006; Chamandy et al. 2012).

    Parameters
    ----------
    qrels, runs, measures, columns, **options
        As for :func:`rankstone.spark.evaluate`; at least two runs.
    baseline, primary, lang
        As for :func:`rankstone.compare`.
    cluster
        A column of ``queries``, such as the user or session: clusters are resampled and counted.
    queries
        As for :func:`rankstone.compare`: a table that fits into memory.
    test, interval
        ``t``; and ``poisson`` or ``t``: others need the scores of all queries at once.
    correction, confidence, margin, power, resamples, seed
        As for :class:`rankstone.comparison.settings.ComparisonSettings`.

    Returns
    -------
    SparkComparison
        One row for each pair and measure; the scores stay on the cluster.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.compare`.

    Examples
    --------
    >>> import rankstone.spark
    >>> comparison = rankstone.spark.compare(qrels, {"old": old, "new": new}, "nDCG@10")  # doctest: +SKIP
    >>> comparison.sentences()  # doctest: +SKIP
    ['new is better than old on nDCG@10: +0.0121, 95 % CI [+0.0104, +0.0139].']
    """
    check_language(lang)
    settings = ComparisonSettings(
        test=test,
        interval=interval,
        correction=correction,
        confidence=confidence,
        margin=margin,
        power=power,
        resamples=resamples,
        seed=seed,
    )
    parsed = of_rankings(measures)
    _check(settings, parsed)
    layout = ComparisonLayout.of(
        _systems(runs), tuple(map(str, parsed)), baseline, primary
    )
    correction = layout.correction(settings)
    clusters = _clusters(cluster, queries, columns)
    side_tables: NamedValues = {} if queries is None else {"queries": queries}
    scores = evaluate(
        qrels, dict(runs), parsed, columns=columns, **side_tables, **options
    )
    try:
        with spark_errors(", ".join(layout.systems)):
            counted, drawn = _summed(scores, layout.pairs, clusters, settings)
    except BaseException:
        scores.unpersist()
        raise
    summed = _Sums(layout, parsed, settings, counted, drawn, clusters is not None)
    families = [
        family_results(name, summed.statistics(group), 0, settings, correction)
        for name, group in layout.groups.items()
    ]
    return SparkComparison(
        systems=layout.systems,
        baselines=layout.baselines,
        primary=layout.primary,
        table=comparison_frame([row for _, rows in families for row in rows]),
        replicates={system: [system] for system in layout.systems},
        by_system=summed.means(),
        families=tuple(family for family, _ in families),
        settings=settings,
        scores=scores,
        lang=lang,
    )


def _check(settings: ComparisonSettings, measures: Measures) -> None:
    """Refuse settings that need the scores of all queries at once."""
    check_means(measures)
    sessions = next((measure for measure in measures if measure.unit is not None), None)
    if sessions is not None:
        raise BadOption(
            f"{sessions} is about sessions, whose queries may be in several tasks",
            fix=_COLLECT,
        )
    for name, known in (("test", (_TEST,)), ("interval", _INTERVALS)):
        if getattr(settings, name) not in known:
            raise BadOption(
                f"{name}={getattr(settings, name)} needs all queries at once",
                expected=" or ".join(known),
                fix=_COLLECT,
            )
    if settings.correction in ALL_PAIRS:
        raise BadOption(
            f"correction={settings.correction} needs all queries at once", fix=_COLLECT
        )


_COLLECT: Final = "scores = rankstone.spark.evaluate(…).collect(), then rankstone.compare_scores(scores, …)"


def _systems(runs: object) -> Names:
    if not isinstance(runs, dict) or len(runs) < 2:  # noqa: PLR2004 - two make a pair
        raise UsageError(
            "a comparison needs two runs or more, by name",
            expected='{"old": df, "new": df}',
        )
    systems = systems_of([str(name) for name in runs])
    if len(systems) < len(runs):
        several = next(
            name for name, replicates in systems.items() if len(replicates) > 1
        )
        raise BadOption(
            f"several runs of {printable(several)} are one system here", fix=_COLLECT
        )
    return tuple(systems)


def _clusters(
    cluster: str | None, queries: object, columns: Columns | None
) -> pl.DataFrame | None:
    """Return the cluster of each query."""
    if cluster is None:
        return None
    if queries is None:
        raise BadOption(
            f"{printable(cluster)} needs a table of queries",
            fix="--queries FILE (in Python queries={query: {column: value}})",
        )
    about = read_attributes(queries, "query_id", columns).collect(cluster)
    return about.select(
        pl.col("query_id").cast(pl.String), unit=pl.col(cluster).cast(pl.String)
    )


def _summed(
    scores: SparkScores,
    pairs: Sequence[tuple[int, int]],
    clusters: pl.DataFrame | None,
    settings: ComparisonSettings,
) -> tuple[list[MeasureSums], list[MeasureSpread]]:
    """Return the sums over queries, computed by tasks that each have all scores of their queries."""
    weighted = tuple(measure.agg == "weighted" for measure in scores.measures)
    layout = len(scores.frames), weighted, tuple(pairs)
    with merged_partitions(next(iter(scores.frames.values())).sparkSession.conf):
        rows = _side_by_side(scores, clusters).persist()
        try:
            counted = _added_up(rows, CountingTask(*layout), MeasureSums)
            if not counted:
                raise NotComparable("no query has a score")
            for measure, sums in zip(scores.measures, counted, strict=True):
                if not sums.n:
                    raise NotComparable(
                        f"no query has a value of {measure} for every system",
                        given=", ".join(map(printable, scores.frames)),
                        fix="do the query ids match?",
                    )
                if not sums.size > 0:
                    raise NotComparable(
                        f"the weights of the queries of {measure} add up to 0"
                    )
            means = tuple(tuple(sums.means(layout[0])[1]) for sums in counted)
            poisson = settings.interval == "poisson"
            resamples = [
                settings.draws(sums.units) if poisson and sums.units > 1 else 0
                for sums in counted
            ]
            largest = tuple(sums.largest for sums in counted)
            drawing = DrawingTask(
                *layout,
                means,
                largest,
                tuple(resamples),
                settings.seed,
                tuple(sums.size for sums in counted),
            )
            return counted, _added_up(rows, drawing, MeasureSpread)
        finally:
            rows.unpersist()


def _side_by_side(scores: SparkScores, clusters: pl.DataFrame | None) -> Any:  # noqa: ANN401 - pyspark's DataFrame
    """Return the scores of all runs, those of a unit in one partition."""
    from pyspark.sql import functions as fn

    whole = None
    for run, frame in enumerate(scores.frames.values()):
        query_id = fn.col("query_id").cast("string").alias("query_id")
        rows = frame.select(
            query_id, fn.lit(run).alias("run"), "value", "weight", "status"
        )
        whole = rows if whole is None else whole.unionByName(rows)
    assert whole is not None  # noqa: S101 - there are two runs or more
    if clusters is None:
        whole = whole.withColumn("unit", fn.col("query_id"))
    else:
        table = whole.sparkSession.createDataFrame(clusters.to_arrow())
        alone = fn.concat(fn.lit(NO_CLUSTER), fn.col("query_id"))
        whole = whole.join(table, "query_id", "left").withColumn(
            "unit", fn.coalesce("unit", alone)
        )
    return whole.repartition("unit")


def _span(declared: Span) -> tuple[float, float]:
    """Return the lowest and highest difference of a measure, infinite if it has no bound."""
    low, high = declared
    most = math.inf if low is None or high is None else high - low
    return -most, most


def _added_up(
    rows: Any,  # noqa: ANN401 - pyspark's
    task: CountingTask | DrawingTask,
    kind: type[Any],
) -> list[Any]:
    """Return the sums of each measure, merged on the cluster until few are left, then here."""
    merging = MergingTask(kind)
    few = (
        rows.mapInArrow(task, SUMS_SCHEMA)
        .repartition(_FEW)
        .mapInArrow(merging, SUMS_SCHEMA)
    )
    return merging.merged(text for (text,) in few.collect())


class _Sums(Record):
    """Computes statistics from the sums of the cluster."""

    layout: ComparisonLayout
    measures: Measures
    settings: ComparisonSettings
    counted: Sequence[MeasureSums]
    drawn: Sequence[MeasureSpread]
    clustered: bool

    def statistics(self, measures: Sequence[str]) -> list[PairStatistics]:
        """Return the statistics of all pairs by some measures."""
        names = [str(measure) for measure in self.measures]
        pairs = range(len(self.layout.pairs))
        return [
            self._pair(names.index(text), pair) for text in measures for pair in pairs
        ]

    def _pair(self, measure: int, pair: int) -> PairStatistics:
        """Return the statistics of a pair."""
        counted = self.counted[measure]
        drawn = self.drawn[measure]
        of_runs, between, sizes = counted.means(len(self.layout.systems))
        robust = None
        if self.clustered and counted.least < counted.most:
            robust = drawn.robust(pair)

        squares = drawn.squares[2 * pair].value()
        known = DifferenceSums(
            between[pair], squares, sizes[pair], counted.units, counted.size, robust
        )
        errors, df = known.robust_error()
        error = float(errors[0])
        span = _span(self.measures[measure].span)
        estimate = Estimate(known.value, error, len(known), df=df, span=span)
        if drawn.stream is not None:
            draws = drawn.stream.means()[:, pair]
            linear = float(replace(known, robust=None).robust_error()[0][0])
            estimate = Estimate(
                known.value, linear, len(known), "poisson", draws, span=span
            )
        system, versus = self.layout.pairs[pair]
        direction = self.measures[measure].card.direction
        wins, ties, losses = drawn.counts[pair].tolist()
        if direction == "lower":
            wins, losses = losses, wins

        p = p_or_one(paired_t(known))
        return PairStatistics(
            measure=str(self.measures[measure]),
            estimate=estimate,
            p=p,
            system=self.layout.systems[system],
            versus=self.layout.systems[versus],
            n=counted.n,
            units=counted.units,
            left_out=counted.left_out,
            mean=of_runs[system],
            mean_versus=of_runs[versus],
            wins=wins,
            ties=ties,
            losses=losses,
            direction=direction,
            p_t=p,
            margins=margins(estimate, self.settings.margin),
            guarded=estimate,
        )

    def means(self) -> pl.DataFrame:
        """Return one row for each system and measure."""
        rows = [
            (system, str(measure), mean, counted.n, 1, None, None)
            for measure, counted in zip(self.measures, self.counted, strict=True)
            for system, mean in zip(
                self.layout.systems,
                counted.means(len(self.layout.systems))[0],
                strict=True,
            )
        ]
        schema = {
            "system": pl.String,
            "measure": pl.String,
            "mean": pl.Float64,
            "n": pl.Int64,
        }
        rest = {"runs": pl.Int64, "sd": pl.Float64, "judged": pl.Float64}
        return pl.DataFrame(rows, {**schema, **rest}, orient="row")
