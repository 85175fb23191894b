"""Evaluation on a Spark cluster: scoring in place if lists are complete, else after a shuffle by query.

Judgments and pairs to exclude are broadcast, grouped by query; means come from exact sums.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

import polars as pl

from rankstone._basics import is_path
from rankstone.errors import BadOption, BadParameter, UsageError, installed
from rankstone.evaluation.request import (
    checked,
    columns_read,
    of_rankings,
    open_intents,
    query_table,
    refuse_without_pairs,
)
from rankstone.evaluation.requested_side_inputs import (
    recorded_options,
    requested_side_inputs,
)
from rankstone.evaluation.shares import Trailer, pads, refuse_what_looks_at_others
from rankstone.evaluation.stored_scores import Origin, check_trailer
from rankstone.hits.budgets import STEPS
from rankstone.hits.judgments import lowest_under
from rankstone.io.columns import Renames, with_csv
from rankstone.measures.full_recall import FullRecall
from rankstone.spark.executor_task import NUMBERS, Task, result_columns
from rankstone.spark.in_place import CutLists, InPlace, PartitionReports
from rankstone.spark.parquet_files import ParquetFiles
from rankstone.spark.side_rows import ByQuery, SideRows
from rankstone.spark.spark_frames import Rows, SparkInputs, opened, session
from rankstone.spark.spark_scores import Computed, SparkScores, spark_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Columns
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.hits.alignment_options import AlignmentKeywords, AlignmentOptions
    from rankstone.measures.core.measure import Measures


#: the default limit on broadcast judgments
BROADCAST: Final = 5_000_000
#: partitions, also persisted ones, are merged to about 64 MB, not to one per processor; rows are passed to
#: Python a few megabytes at a time
_SIZED: Final = {
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",
}
_SCORES: Final = ("query_id", "judged", *NUMBERS, "status")


def check_broadcast(most: object) -> int:
    """Return the limit on broadcast judgments, or refuse a value that is not a count."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise BadOption(
            f"broadcast={most!r} is not a number of judgments",
            expected="a whole number: the most judgments to broadcast, 0 for none",
        )
    return most


def broadcast_side_rows(inputs: SparkInputs, most: int) -> Any | None:  # noqa: ANN401 - pyspark's Broadcast
    """Collect and broadcast judgments and excluded pairs; return ``None`` if there are too many."""
    # Spark Connect has no context
    context = getattr(inputs.listed.sparkSession, "sparkContext", None)
    if context is None or not most:
        return None
    frames = [
        frame
        for frame in (inputs.judged_files or inputs.judged, inputs.excluded)
        if frame is not None
    ]
    if sum(frame.count() for frame in frames) > most:
        return None
    tables = [ByQuery(_collected(frame)) for frame in frames]
    return context.broadcast(
        SideRows(tables[0], tables[1] if len(tables) > 1 else None)
    )


def _collected(rows: Any) -> pl.DataFrame:  # noqa: ANN401 - files, or pyspark's DataFrame
    if isinstance(rows, ParquetFiles):
        return pl.concat(
            piece for part in range(len(rows.parts)) for piece in rows.read(part)
        )
    return pl.from_arrow(rows.toArrow())  # type: ignore[return-value]


def compute_run(task: Task, inputs: SparkInputs, side_rows: Any | None) -> Computed:  # noqa: ANN401 - pyspark's Broadcast
    """Compute a run on the cluster.

    Parameters
    ----------
    task
        Scores the rows of complete lists.
    inputs
        All rows.
    side_rows
        The result of :func:`broadcast_side_rows`.
    """
    with merged_partitions(inputs.listed.sparkSession.conf):
        computed = None
        if side_rows is not None:
            computed = _compute_in_place(task, inputs, side_rows)

        return computed or _compute_after_shuffle(task, inputs)


def _compute_after_shuffle(task: Task, inputs: SparkInputs) -> Computed:
    """Score lists after a shuffle by query."""
    rows = inputs.together().repartition("query_id")
    persisted = rows.mapInArrow(task, result_columns(inputs.query_id)).persist()
    with _unpersisted_on_failure(persisted):
        totals = Trailer()
        for text in _trailers(persisted):
            totals.merge(Trailer.from_json(json.loads(text)))
    return Computed(_scores(persisted), totals, (persisted,), in_place=False)


def _compute_in_place(
    task: Task,
    inputs: SparkInputs,
    side_rows: Any,  # noqa: ANN401 - pyspark's
) -> Computed | None:
    """Score lists in place; return ``None`` if the rows of a query are not adjacent."""
    schema = result_columns(inputs.query_id)
    rows = inputs.listed
    score = InPlace(task, side_rows)
    if (files := inputs.listed_files) is not None:
        rows = rows.sparkSession.range(0, len(files.parts), 1, len(files.parts))
        score = replace(score, read=files)
    persisted = rows.mapInArrow(score, schema).persist()
    with _unpersisted_on_failure(persisted):
        reports = PartitionReports(
            _trailers(persisted), side_rows.value.judged.queries.names
        )
        unjudged = _count_unjudged(persisted) if reports.whole.extra else None
        if reports.scattered or (
            unjudged and unjudged.scattered and task.options.extra == "keep"
        ):
            persisted.unpersist()
            return None
        frame = _scores(persisted)
        whole = reports.whole
        more = tuple[Any, ...]()
        if reports.cut:
            frame = frame.where(~frame["query_id"].isin(list(reports.cut)))
        if reports.cut or len(reports.missing):
            rest = _remaining_rows(persisted, reports).repartition("query_id")
            later = rest.mapInArrow(
                CutLists(task, side_rows, reports.cut), schema
            ).persist()
            with _unpersisted_on_failure(later):
                for text in _trailers(later):
                    whole.merge(Trailer.from_json(json.loads(text)))
            frame = frame.unionByName(_scores(later))
            more = (later,)
        if unjudged:
            whole.extra = unjudged.queries
    return Computed(frame, whole, (persisted, *more), in_place=True)


def _remaining_rows(persisted: Any, reports: PartitionReports) -> Any:  # noqa: ANN401 - pyspark's DataFrames
    """Return the pieces of split lists, and judged queries that are not in the run."""
    from pyspark.sql import functions as fn

    pieces = persisted.where(persisted["query_id"].isin(list(reports.cut))).select(
        "query_id", "rows"
    )
    if not len(reports.missing):
        return pieces
    missing = persisted.sparkSession.createDataFrame(
        reports.missing.to_frame("query_id").to_arrow()
    )
    return pieces.unionByName(missing.withColumn("rows", fn.lit(None).cast("binary")))


class _UnjudgedQueries(NamedTuple):
    """The number of queries without judgments, and whether the rows of one are not adjacent."""

    queries: int
    scattered: bool


def _count_unjudged(persisted: Any) -> _UnjudgedQueries:  # noqa: ANN401 - pyspark's DataFrame
    from pyspark.sql import functions as fn

    places = fn.count("*").alias("places"), fn.count("rows").alias("ends")
    each = persisted.where("not judged").groupBy("query_id").agg(*places)
    row = each.agg(
        fn.count("*"), fn.max(fn.expr("places > 1 and ends < places"))
    ).first()
    return _UnjudgedQueries(row[0], bool(row[1]))


def _scores(persisted: Any) -> Any:  # noqa: ANN401 - pyspark's DataFrames
    return persisted.where("value is not null").select(*_SCORES)


def _trailers(persisted: Any) -> list[str]:  # noqa: ANN401 - pyspark's DataFrame
    """Return the trailers of all tasks; this starts the computation."""
    return [
        text
        for (text,) in persisted.where("trailer is not null")
        .select("trailer")
        .collect()
    ]


@contextmanager
def _unpersisted_on_failure(persisted: Any) -> Iterator[None]:  # noqa: ANN401 - pyspark's DataFrame
    try:
        yield
    except BaseException:
        persisted.unpersist()
        raise


@contextmanager
def merged_partitions(conf: Any) -> Iterator[None]:  # noqa: ANN401 - pyspark's RuntimeConfig
    """Have Spark merge small partitions up to its advised size, also of persisted results."""
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


def evaluate(
    qrels: Any,  # noqa: ANN401 - pyspark's DataFrame
    runs: Any,  # noqa: ANN401 - pyspark's DataFrame, or several by name
    measures: MeasuresLike,
    *,
    columns: Columns | None = None,
    exclude: Any = None,  # noqa: ANN401 - pyspark's DataFrame
    unit: str | None = None,
    queries: object = None,
    intents: object = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    broadcast: int = BROADCAST,
    **options: Unpack[AlignmentKeywords],
) -> SparkScores:
    """Score runs against judgments on a Spark cluster: the numbers of :func:`rankstone.evaluate`, bit by bit.

    Each task runs the same code as one machine does; means are exact sums rounded once, so partitions do not
    matter.  If the rows of each query are adjacent, as in nearly all files, lists are scored in place; that
    is checked, and otherwise the rows are shuffled by query first.  Executors need rankstone and PyArrow.

    Parameters
    ----------
    qrels
        A Spark DataFrame with ``query_id``, ``doc_id`` and ``relevance``; ids are strings or integers.
        Or a path that Spark can open, as for all tables here.
    runs
        A Spark DataFrame with ``query_id``, ``doc_id`` and ``score`` (or ``rank`` alone), or
        ``{name: DataFrame}``.  ``doc_id`` and ``score`` may be arrays; arrays of ids alone are ranked
        lists. Rows of a cluster have no order; options that need one (``ties="input"``) read a column
        ``position``.
    measures, columns, unit, format_in, csv_separator, decimal, **options
        As for :func:`rankstone.evaluate`; ``unit`` is a word or a regular expression.
    exclude
        A Spark DataFrame of pairs ``query_id`` and ``doc_id`` to remove from the lists first.
    queries, intents
        Tables that fit into memory, as for :func:`rankstone.evaluate`: they are sent to every task.
    broadcast
        The most judgments (and excluded pairs) to broadcast, some 40 bytes each in every Python process of
        an executor; with more, or with 0, the rows are shuffled by query.

    Returns
    -------
    SparkScores
        Means on the driver, scores of queries as a DataFrame on the cluster.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`, also for mistakes found on executors.

    Examples
    --------
    >>> import rankstone.spark
    >>> qrels, run = spark.read.parquet("qrels"), spark.read.parquet("run")  # doctest: +SKIP
    >>> rankstone.spark.evaluate(qrels, run, "nDCG@10 AP").to_dict()  # doctest: +SKIP
    {'run': {'nDCG@10': 0.41, 'AP': 0.29}}
    """
    require()
    requested = of_rankings(measures)
    _refuse_local_options(options, unit, requested)
    side_inputs = requested_side_inputs((), {"unit": unit})
    aligned = checked(options, requested)
    refuse_what_looks_at_others(aligned, requested)
    refuse_without_pairs(exclude, aligned)
    most = check_broadcast(broadcast)
    renamed = with_csv(columns, csv_separator, decimal) or {}
    exclude = _frame(exclude, format_in, renamed)
    excluded = None if exclude is None else Rows(exclude, "exclude", renamed)
    frames = _run_frames(runs, format_in, renamed)
    qrels = _frame(qrels, format_in, renamed)
    judged = Rows(qrels, "judgments", Renames.of_table(renamed, "qrels"))
    task = Task(
        requested,
        aligned,
        unit,
        query_table(queries, requested, renamed),
        open_intents(intents, renamed),
        columns_read(requested),
        _lowest_grade(judged.require("relevance"), aligned, requested),
        run="",
    )
    _refuse_answerable(judged)
    _refuse_open_choices(judged, requested)
    declared = None if task.queries is None else task.queries.judged()
    side_rows = None  # judgments are sent once for all runs
    computed: dict[str, Computed] = {}
    try:
        for name, frame in frames.items():
            with spark_errors(name):
                run = Rows(frame, name, Renames.of_table(renamed, "run"))
                _refuse_steps(run)
                run_options = replace(aligned, order=run.ordered_by(aligned.order))
                inputs = SparkInputs.of(
                    judged, run, excluded, run_options, task.further, declared
                )
                if not computed:
                    side_rows = broadcast_side_rows(inputs, most)
                run_task = replace(task, options=run_options, run=name)
                computed[name] = compute_run(run_task, inputs, side_rows)
            check_trailer(name, computed[name].totals, aligned)
    except BaseException:
        for result in computed.values():
            result.unpersist()
        raise
    origin = Origin("Spark")
    return SparkScores(
        measures=requested,
        trailers={name: result.totals for name, result in computed.items()},
        options=aligned,
        queries=task.queries,
        judged=origin,
        listed=dict.fromkeys(computed, origin),
        recorded=recorded_options(side_inputs),
        computed=computed,
    )


def _refuse_local_options(
    options: AlignmentKeywords, unit: object, measures: Measures
) -> None:
    """Refuse what only one machine computes."""
    if not (unit is None or isinstance(unit, str)):
        raise BadParameter(
            "unit must be a word or a regular expression on Spark",
            fix="join a mapping to the run beforehand",
        )
    for name in ("same_as", "documents", "corpus", "split"):
        if options.pop(name, None) is not None:  # type: ignore[misc] # no option of alignment
            raise BadParameter(
                f"{name} is not available on Spark", fix="use engine=local"
            )
    for measure in measures:
        kinds = measure.requires
        if any(kind.reads_run_columns or kind.side_input for kind in kinds):
            raise BadParameter(
                f"{measure} is not computed on Spark", fix="use engine=local"
            )
        if measure.budget is not None:
            raise BadParameter(
                f"{measure}: budgets are not computed on Spark", fix="use engine=local"
            )


def _refuse_answerable(judged: Rows) -> None:
    """Refuse a column that says which queries have no answer, which is read from the query table here."""
    if "answerable" in judged.types:
        raise BadParameter(
            "judgments with a column answerable are not read on Spark",
            fix="put it into the table of queries (queries=…), or use engine=local",
        )


def _refuse_open_choices(judged: Rows, measures: Measures) -> None:
    """Refuse measures that leave to the judgments what they count, for these are not looked at before."""
    for measure in measures:
        if not isinstance(measure, FullRecall) or measure.each is not None:
            continue
        if "subtopic" in judged.types:
            choices = [replace(measure, each=what) for what in ("subtopic", "document")]
            raise BadParameter(
                f"{measure} does not say what it counts, and the judgments have a column subtopic",
                fix=f"write {choices[0]}, or {choices[1]}",
            )


def _refuse_steps(run: Rows) -> None:
    """Refuse a run of several calls, whose order on one machine is that of the calls."""
    for step in STEPS:
        if step in run.types:
            raise BadParameter(
                f"a run with a column {step} is not scored on Spark: its {step}s have an order",
                fix=f"use engine=local, or leave the column {step} out",
            )


def _frame(
    table: Any,  # noqa: ANN401 - pyspark's DataFrame, a path, or nothing
    form: str | None,
    columns: Columns,
    *,
    run: bool = False,
) -> Any:  # noqa: ANN401 - the same
    """Return a table, opening paths."""
    if not is_path(table):
        return table
    return opened(session(), os.fspath(table), form, columns, run=run)


def _run_frames(
    runs: Any,  # noqa: ANN401 - pyspark's DataFrame, or several by name
    form: str | None,
    columns: Columns,
) -> dict[str, Any]:
    if not isinstance(runs, dict):
        runs = {"run": runs}
    if not runs:
        raise UsageError("there is no run")
    return {
        str(name): _frame(run, form, columns, run=True) for name, run in runs.items()
    }


def _lowest_grade(
    judged: Rows, options: AlignmentOptions, measures: Measures
) -> float | None:
    """Return the bottom of the grade scale, if a measure needs it."""
    if not pads(measures):
        return None
    from pyspark.sql import functions as fn

    grade = fn.col("relevance").cast("double")
    lowest_grade, from_zero = judged.frame.agg(
        fn.min(grade), fn.min(fn.when(grade >= 0, grade))
    ).first()
    return lowest_under(lowest_grade, from_zero, options.negative)


def require() -> None:
    """Refuse to start without the packages of the extra ``spark``."""
    for package in ("pyarrow", "pyspark"):
        installed(package, package, 'pip install "rankstone[spark]"')
