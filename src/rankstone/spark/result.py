"""What a cluster computed: means here, scores of queries there."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.asked import choices
from rankstone.errors import EmptyInput, NotComparable
from rankstone.hits.audit import Audit, BesideAudit, JudgmentsAudit, RunAudit
from rankstone.measures import Status
from rankstone.measures.base import Scored
from rankstone.results import ShowsTable
from rankstone.scores import RunScores, Scores
from rankstone.spark.failures import telling_failures
from rankstone.spark.task import NUMBERS
from rankstone.spark.trailer import SUMMED, Trailer
from rankstone.words import queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.hits.options import Alignment
    from rankstone.hits.query_table import QueryTable
    from rankstone.measures import Measure

__all__ = ["SparkScores"]

_MEANS: Final[dict[str, Any]] = {
    "run": pl.String, "measure": pl.String, "value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64,
}  # fmt: skip
#: partitions are merged to 64 MB or so, not to one for each processor, and those of what is kept, too
_SIZED: Final = {
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
}


@dataclass(frozen=True, eq=False, repr=False)
class SparkScores(ShowsTable):
    """Scores of one or more runs, those of queries on the cluster.

    Attributes
    ----------
    frames
        Run name → Spark's DataFrame with a row for each query, kept by Spark until :meth:`unpersist`.
    measures
        The measures, in the order asked for.
    told
        Run name → what tasks told of their queries.
    conventions
        Every option and parameter the numbers depend on.
    """

    frames: Mapping[str, Any]
    measures: tuple[Measure, ...]
    told: Mapping[str, Trailer]
    options: Alignment
    queries: QueryTable | None = None

    @classmethod
    def of(
        cls,
        frames: Mapping[str, Any],
        measures: tuple[Measure, ...],
        options: Alignment,
        queries: QueryTable | None,
    ) -> SparkScores:
        """Let Spark compute, and add up what tasks tell."""
        told, kept = {}, {}
        try:
            for name, frame in frames.items():
                with telling_failures(name), _tasks_of_some_size(frame.sparkSession.conf):
                    kept[name] = frame.persist()
                    told[name] = _told(kept[name])
                _check_met(name, told[name], options)
        except BaseException:
            for frame in kept.values():
                frame.unpersist()
            raise
        return cls(kept, measures, told, options, queries)

    def unpersist(self) -> None:
        """Let Spark forget the scores of queries; whoever asks for them again has them computed again."""
        for frame in self.frames.values():
            frame.unpersist()

    @property
    def conventions(self) -> dict[str, Any]:
        """Every option and parameter the numbers depend on."""
        return choices(self.options, self.measures, one_group=False)

    # -- means ---------------------------------------------------------------------------------------
    @cached_property
    def _means(self) -> pl.DataFrame:
        rows = [
            (name, str(measure), self._value(name, at, measure), one.sums[at].n, one.sums[at].undefined)
            for name, one in self.told.items()
            for at, measure in enumerate(self.measures)
        ]
        return pl.DataFrame(rows, _MEANS, orient="row")

    def mean(self) -> pl.DataFrame:
        """Return one row per run and measure: ``run``, ``measure``, ``value``, ``n``, ``n_undefined``."""
        return self._means

    def _value(self, name: str, at: int, measure: Measure) -> float | None:
        """Return a mean from sums; where it takes all values, from these."""
        if measure.agg in SUMMED and measure.unit is None:
            return self.told[name].sums[at].value(measure)
        found = self._collected.mean().filter(run=name, measure=str(measure))["value"][0]
        return None if found is None else float(found)

    @cached_property
    def _collected(self) -> Scores:
        return self.collect()

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Return ``{run: {measure: mean}}``."""
        means: dict[str, dict[str, float | None]] = {}
        for run, measure, value, _, _ in self.mean().iter_rows():
            means.setdefault(run, {})[measure] = value
        return means

    def table(self) -> pl.DataFrame:
        """Return the means as one row per run and one column per measure."""
        return self.mean().pivot("measure", index="run", values="value", maintain_order=True)

    # -- queries -------------------------------------------------------------------------------------
    @cached_property
    def per_query(self) -> Any:  # noqa: ANN401 - pyspark's DataFrame
        """Spark's DataFrame with one row per run, query and measure.

        Columns ``run``, ``query_id``, ``measure``, ``value`` (null where undefined), ``numerator``,
        ``denominator``, ``weight`` and ``status``, as of :attr:`rankstone.Scores.per_query`.
        """
        from pyspark.sql import functions as fn

        names = fn.array(*(fn.lit(str(measure)) for measure in self.measures))
        words = fn.array(*(fn.lit(status.name) for status in Status))
        parts = []
        for run, frame in self.frames.items():
            zipped = fn.explode(fn.arrays_zip(names.alias("measure"), *NUMBERS, "status")).alias("one")
            rows = frame.where("trailer is null").select("query_id", zipped)
            value = fn.col("one.value")
            told = rows.where(fn.col("one.status") != int(Status.dropped)).select(
                fn.lit(run).alias("run"),
                fn.col("query_id").cast("string").alias("query_id"),
                fn.col("one.measure").alias("measure"),
                fn.when(~fn.isnan(value), value).alias("value"),
                *(fn.col(f"one.{name}").alias(name) for name in NUMBERS[1:]),
                fn.element_at(words, fn.col("one.status").cast("int") + 1).alias("status"),
            )
            parts.append(told)
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.unionByName(part)
        return whole

    def collect(self) -> Scores:
        """Return the same as one machine holds it; the scores of all queries must fit into its memory."""
        runs = {name: _run_scores(frame, self.measures, self.queries) for name, frame in self.frames.items()}
        return Scores(runs, self.measures, self.audit, self.conventions, self.inputs)

    # -- what was found --------------------------------------------------------------------------------
    @property
    def inputs(self) -> dict[str, Any]:
        """Where judgments and runs came from."""
        return {"judgments": "Spark", "runs": dict.fromkeys(self.frames, "Spark")}

    @cached_property
    def audit(self) -> Audit:
        """What alignment did."""
        first = next(iter(self.told.values()))
        judgments = JudgmentsAudit(source="Spark", comments=0, **first.judgments)
        runs = {name: self._audit(one) for name, one in self.told.items()}
        if self.queries is None:
            return Audit(judgments, runs)
        table = self.queries
        unknown = len(table.ids) - first.asked["known"]
        asked = BesideAudit(table.source, len(table.ids), unknown, first.asked["missing"])
        return Audit(judgments, runs, queries=asked)

    def _audit(self, told: Trailer) -> RunAudit:
        cutoffs = tuple(sorted({m.deepest for m in self.measures if m.deepest is not None})) or (10,)
        return RunAudit.of(
            "Spark",
            [told.tally()] if told.lengths else [],
            missing=told.missing,
            extra=told.extra,
            comments=0,
            cutoffs=cutoffs,
            deepest=max((m.deepest for m in self.measures if m.deepest is not None), default=None),
        )

    def report(self) -> dict[str, Any]:
        """Return everything but the scores of queries as plain dicts."""
        parts = {"runs": self.to_dict(), "audit": self.audit.to_dict()}
        return {**parts, "conventions": self.conventions, "inputs": self.inputs}


@contextmanager
def _tasks_of_some_size(conf: Any) -> Iterator[None]:  # noqa: ANN401 - pyspark's RuntimeConfig
    """Have Spark bring small partitions together, up to the size it advises, though the result is kept."""
    before = {name: conf.get(name, None) for name in _SIZED}
    for name, value in _SIZED.items():
        conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                conf.unset(name)
            else:
                conf.set(name, value)


def _told(frame: Any) -> Trailer:  # noqa: ANN401 - pyspark's DataFrame
    """Return what all tasks tell together; computes."""
    whole = Trailer()
    for (text,) in frame.where("trailer is not null").select("trailer").collect():
        whole.merge(Trailer.read(json.loads(text)))
    return whole


def _check_met(run: str, told: Trailer, options: Alignment) -> None:
    """Refuse what no task can see alone."""
    if not told.judgments["queries"]:
        raise EmptyInput("there are no judgments", where="judgments")
    if not told.lengths and not told.extra:
        raise EmptyInput("the run is empty", where=run)
    if told.missing == told.judgments["queries"]:
        raise NotComparable(
            "no query of the run is judged",
            where=run,
            given=f"queries of the run {', '.join(told.strangers)}",
            expected="the same query ids on both sides",
            fix="check that judgments and run belong together, and that ids are spelled alike",
        )
    if options.missing == "error" and told.missing:
        raise NotComparable(
            f"{queries(told.missing)} missing from the run", where=run, fix="missing=zero or drop"
        )
    if options.extra == "error" and told.extra:
        shown = ", ".join(told.strangers)
        raise NotComparable(
            f"{queries(told.extra)} of the run nobody judged",
            where=run,
            given=shown,
            fix="extra=drop or keep",
        )


def _run_scores(
    frame: Any,  # noqa: ANN401 - pyspark's DataFrame
    measures: tuple[Measure, ...],
    table: QueryTable | None,
) -> RunScores:
    """Return one run's scores, judged queries first, each kind by id: rows of a cluster have no order."""
    rows: Any = pl.from_arrow(frame.where("trailer is null").drop("trailer").toArrow())
    rows = rows.sort("judged", "query_id", descending=[True, False])
    columns = {name: _matrix(rows[name], len(measures)) for name in (*NUMBERS, "status")}
    by_measure = {
        measure: Scored(
            columns["numerator"][:, at],
            columns["denominator"][:, at],
            columns["value"][:, at],
            columns["status"][:, at].astype(np.int64),
            columns["weight"][:, at],
        )
        for at, measure in enumerate(measures)
    }
    names = rows["query_id"]
    return RunScores(names, by_measure, None if table is None else table.take(names))


def _matrix(lists: pl.Series, width: int) -> Any:  # noqa: ANN401 - an array
    return lists.explode().to_numpy().reshape(-1, width) if len(lists) else np.empty((0, width))
