"""What a cluster computed: means here, scores of queries there."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.measures import Status
from rankstone.measures.base import Scored
from rankstone.scores import RunScores, Scores
from rankstone.spark.failures import telling_failures
from rankstone.spark.task import NUMBERS
from rankstone.tasks import Origin, SummedScores, Trailer, check_met

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.hits.options import Alignment
    from rankstone.hits.query_table import QueryTable
    from rankstone.measures import Measure

__all__ = ["SparkScores"]

#: partitions are merged to 64 MB or so, not to one for each processor, and those of what is kept, too
_SIZED: Final = {
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
}


@dataclass(frozen=True, eq=False, repr=False)
class SparkScores(SummedScores):
    """Scores of one or more runs, those of queries on the cluster.

    Attributes
    ----------
    frames
        Run name → Spark's DataFrame with a row for each query, kept by Spark until :meth:`unpersist`.
    """

    frames: Mapping[str, Any]

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
                check_met(name, told[name], options)
        except BaseException:
            for frame in kept.values():
                frame.unpersist()
            raise
        there = Origin("Spark")
        return cls(measures, told, options, queries, there, dict.fromkeys(kept, there), kept)

    def unpersist(self) -> None:
        """Let Spark forget the scores of queries; whoever asks for them again has them computed again."""
        for frame in self.frames.values():
            frame.unpersist()

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
            columns["status"][:, at].astype(np.int8),
            columns["weight"][:, at],
        )
        for at, measure in enumerate(measures)
    }
    names = rows["query_id"]
    return RunScores(names, by_measure, None if table is None else table.take(names))


def _matrix(lists: pl.Series, width: int) -> Any:  # noqa: ANN401 - an array
    return lists.explode().to_numpy().reshape(-1, width) if len(lists) else np.empty((0, width))
