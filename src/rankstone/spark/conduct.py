"""The conductor on a cluster: rows of a query together, the road in every task, means from exact sums."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankstone.asked import checked, columns_read, of_rankings
from rankstone.beside import collapser, intents_of, query_table, refuse_without_pairs
from rankstone.errors import BadParameter, MissingExtra, UsageError
from rankstone.hits.grade_scale import lowest_settled
from rankstone.spark.computing import BROADCAST, Computed, brought, check_broadcast, computed
from rankstone.spark.failures import telling_failures
from rankstone.spark.frames import Given, Rows
from rankstone.spark.result import SparkScores
from rankstone.spark.task import Task
from rankstone.tasks import check_met, pads, refuse_what_looks_at_others

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.hits.options import Alignment
    from rankstone.measures import Measure

__all__ = ["evaluate", "require"]


def evaluate(
    qrels: Any,  # noqa: ANN401 - pyspark's DataFrame
    runs: Any,  # noqa: ANN401 - pyspark's DataFrame, or several by name
    measures: str | Measure | Sequence[str | Measure],
    *,
    columns: Mapping[str, str] | None = None,
    exclude: Any = None,  # noqa: ANN401 - pyspark's DataFrame
    collapse: str | None = None,
    queries: object = None,
    intents: object = None,
    broadcast: int = BROADCAST,
    **options: Any,  # noqa: ANN401 - checked by Alignment
) -> SparkScores:
    """Score runs against judgments on a Spark cluster: the numbers of :func:`rankstone.evaluate`, bit by bit.

    Every task takes its queries along the same road as one machine would; means are rounded once, at the
    end, whatever was summed where.  Where the rows of each query stand together, as in nearly all files,
    lists are scored where they lie; that is checked, and where it is not so the rows of each query are
    brought together first (one shuffle).  Executors need rankstone and PyArrow installed.

    Parameters
    ----------
    qrels
        A Spark DataFrame with ``query_id``, ``doc_id`` and ``relevance``; ids are texts or whole numbers.
    runs
        A Spark DataFrame with ``query_id``, ``doc_id`` and ``score`` (or ``rank`` alone), or
        ``{name: DataFrame}``.  ``doc_id`` and ``score`` may hold an array a row; arrays of ids alone are in
        the order of the ranking.  Rows of a cluster have no order; where one is asked for (``ties="input"``,
        say), a column ``position`` says where each row stood.
    measures, columns, collapse, **options
        As for :func:`rankstone.evaluate`; ``collapse`` is a regular expression.
    exclude
        A Spark DataFrame of pairs ``query_id`` and ``doc_id`` that are taken out of every list first.
    queries, intents
        Tables that fit into memory, as for :func:`rankstone.evaluate`: they are sent to every task.
    broadcast
        So many judgments (and excluded pairs) are brought here and sent to where the lists are; of more, and
        for 0, the rows of each query are brought together by a shuffle.  Each Python process on an executor
        holds them, some 40 bytes each.

    Returns
    -------
    SparkScores
        Means here, scores of queries as a DataFrame there.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`, wherever the mistake was found.

    Examples
    --------
    >>> import rankstone.spark
    >>> qrels, run = spark.read.parquet("qrels"), spark.read.parquet("run")  # doctest: +SKIP
    >>> rankstone.spark.evaluate(qrels, run, "nDCG@10 AP").to_dict()  # doctest: +SKIP
    {'run': {'nDCG@10': 0.41, 'AP': 0.29}}
    """
    require()
    wanted = of_rankings(measures)
    aligned = checked(options, wanted)
    refuse_what_looks_at_others(aligned, wanted)
    refuse_without_pairs(exclude, aligned)
    if not (collapse is None or isinstance(collapse, str)):
        raise BadParameter(
            "collapse is a regular expression here", fix="join a mapping to the run beforehand"
        )
    collapser(collapse)
    renamed = columns or {}
    named = {str(name): run for name, run in runs.items()} if isinstance(runs, dict) else {"run": runs}
    if not named:
        raise UsageError("there is no run")
    judged, further = Rows(qrels, "judgments", renamed), columns_read(wanted)
    excluded = None if exclude is None else Rows(exclude, "exclude", renamed)
    most, beside = check_broadcast(broadcast), None  # judgments are sent once for all runs
    lowest = _lowest_grade(judged.require("relevance"), aligned, wanted)
    about, meant = query_table(queries, wanted, renamed), intents_of(intents, renamed)
    declared = None if about is None else about.judged()
    found: dict[str, Computed] = {}
    try:
        for name, run in named.items():
            with telling_failures(name):
                listed = Rows(run, name, renamed)
                own = replace(aligned, order=listed.ordered_by(aligned.order))
                given = Given.of(judged, listed, excluded, own, further, declared)
                beside = beside if found else brought(given, most)
                task = Task(wanted, own, collapse, about, meant, further, lowest, name)
                found[name] = computed(task, given, beside)
            check_met(name, found[name].told, aligned)
    except BaseException:
        for one in found.values():
            one.unpersist()
        raise
    return SparkScores.of(found, wanted, aligned, about)


def _lowest_grade(judged: Rows, options: Alignment, measures: Sequence[Measure]) -> float | None:
    """Return the bottom of the grade scale where a measure asks for it, and it is not any query's own."""
    if not pads(measures):
        return None
    from pyspark.sql import functions as fn

    grade = fn.col("relevance").cast("double")
    lowest, from_zero = judged.frame.agg(fn.min(grade), fn.min(fn.when(grade >= 0, grade))).first()
    return lowest_settled(lowest, from_zero, options.negative)


def require() -> None:
    """Refuse to start without the packages of the extra."""
    for package in ("pyarrow", "pyspark"):
        try:
            import_module(package)
        except ImportError as error:
            raise MissingExtra(f"{package} is not installed", fix='pip install "rankstone[spark]"') from error
