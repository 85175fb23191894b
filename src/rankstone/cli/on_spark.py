"""``--engine spark``: the same command on a cluster, or on Spark on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import judged_runs

if TYPE_CHECKING:
    from rankstone.spark import SparkScores

__all__ = ["scores_on_spark"]


def scores_on_spark(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    master: str | None,
    per_query: str | None,
    given: dict[str, Any],
) -> SparkScores:
    """Score files that Spark reads: local ones, or whatever else it has a file system for.

    Parameters
    ----------
    files
        Judgments and runs; ``name=PATH`` names a run.
    measures
        What to compute.
    master
        Spark's: ``local[2]``, ``spark://host:7077``; whatever spark-submit was told unless given.
    per_query
        A folder that Spark writes the scores of queries to, as Parquet.
    given
        Options as for :func:`rankstone.spark.evaluate`, and ``format_in``.
    """
    from rankstone.spark import evaluate, require
    from rankstone.spark.files import opened, session

    runs = judged_runs("eval", files, else_try="--engine spark takes judgments and runs")
    require()
    there = session(master)
    form, columns = given.pop("format_in"), given["columns"]

    def read(path: str, *, run: bool = False) -> Any:  # noqa: ANN401 - pyspark's DataFrame
        return opened(there, path, form, columns, run=run)

    if given["exclude"] is not None:
        given["exclude"] = read(given["exclude"])
    lists = {name: read(str(path), run=True) for name, path in runs.items()}
    scores = evaluate(read(files[0]), lists, list(measures), **given)
    if per_query is not None:
        scores.per_query.write.mode("errorifexists").parquet(per_query)
    return scores
