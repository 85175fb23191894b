"""What a cluster computed: means here, scores of queries there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.measures import Status
from rankstone.measures.base import Scored
from rankstone.scores import RunScores, Scores
from rankstone.spark.task import NUMBERS
from rankstone.tasks import Origin, SummedScores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.hits.options import Alignment
    from rankstone.hits.query_table import QueryTable
    from rankstone.measures import Measure
    from rankstone.spark.computing import Computed

__all__ = ["SparkScores"]


@dataclass(frozen=True, eq=False, repr=False)
class SparkScores(SummedScores):
    """Scores of one or more runs, those of queries on the cluster.

    Attributes
    ----------
    computed
        Run name → what Spark computed, and keeps until :meth:`unpersist`.
    """

    computed: Mapping[str, Computed]

    @classmethod
    def of(
        cls,
        computed: Mapping[str, Computed],
        measures: tuple[Measure, ...],
        options: Alignment,
        queries: QueryTable | None,
    ) -> SparkScores:
        """Make scores of what Spark computed."""
        there = Origin("Spark")
        told = {name: one.told for name, one in computed.items()}
        return cls(measures, told, options, queries, there, dict.fromkeys(computed, there), computed)

    @property
    def frames(self) -> dict[str, Any]:
        """Run name → Spark's DataFrame with a row for each query, numbers in arrays, one for each measure."""
        return {name: one.frame for name, one in self.computed.items()}

    def unpersist(self) -> None:
        """Let Spark forget the scores of queries; whoever asks for them again has them computed again."""
        for one in self.computed.values():
            one.unpersist()

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
            rows = frame.select("query_id", zipped)
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


def _run_scores(
    frame: Any,  # noqa: ANN401 - pyspark's DataFrame
    measures: tuple[Measure, ...],
    table: QueryTable | None,
) -> RunScores:
    """Return one run's scores, judged queries first, each kind by id: rows of a cluster have no order."""
    rows: Any = pl.from_arrow(frame.toArrow())
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
