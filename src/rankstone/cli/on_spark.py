"""``--engine spark``: the same command on a cluster, or on Spark on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.arguments import judged_runs

if TYPE_CHECKING:
    from rankstone import Scores

__all__ = ["scores_on_spark"]

#: columns of TREC text by position
_JUDGMENTS: Final = {"query_id": 0, "doc_id": 2, "relevance": 3}
_RUN: Final = {"query_id": 0, "doc_id": 2, "rank": 3, "score": 4}
_NUMBERS: Final = ("relevance", "score", "rank", "position")
_SUFFIXES: Final = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl",
    ".ndjson": "jsonl", ".orc": "orc", ".txt": "trec", ".run": "trec", ".qrels": "trec", ".trec": "trec",
}  # fmt: skip
_FORMATS: Final = tuple(dict.fromkeys(_SUFFIXES.values()))


def scores_on_spark(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    master: str | None,
    per_query: str | None,
    given: dict[str, Any],
) -> Scores:
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

    runs = judged_runs("eval", files, else_try="--engine spark takes judgments and runs")
    require()
    session = _session(master)
    form, columns = given.pop("format_in"), given["columns"]

    def read(path: str, places: dict[str, int]) -> Any:  # noqa: ANN401 - pyspark's DataFrame
        return _read(session, path, form, places, columns)

    if given["exclude"] is not None:
        given["exclude"] = read(given["exclude"], _JUDGMENTS)
    lists = {name: read(str(path), _RUN) for name, path in runs.items()}
    scores = evaluate(read(files[0], _JUDGMENTS), lists, list(measures), **given)
    if per_query is not None:
        scores.per_query.write.mode("errorifexists").parquet(per_query)
    return scores.collect()


def _session(master: str | None) -> Any:  # noqa: ANN401 - pyspark's SparkSession
    from pyspark.sql import SparkSession

    building = SparkSession.builder.appName("rankstone").config("spark.ui.showConsoleProgress", "false")
    session = (building if master is None else building.master(master)).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _read(session: Any, path: str, form: str | None, places: dict[str, int], columns: dict[str, str]) -> Any:  # noqa: ANN401
    """Open files as Spark does; in texts ids are texts, and what is to be a number is one."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as fn

    from rankstone.errors import InputError, UnknownFormat, printable

    suffix = next((one for one in _SUFFIXES if path.removesuffix(".gz").lower().endswith(one)), ".parquet")
    kind = form or _SUFFIXES[suffix]
    if kind not in _FORMATS:
        raise UnknownFormat(f"Spark does not read {kind} here", where=path, expected=", ".join(_FORMATS))
    try:
        if kind == "trec":
            parts = fn.split(fn.trim("value"), r"\s+")
            lines = session.read.text(path).where("trim(value) != '' and trim(value) not like '#%'")
            frame = lines.select(
                *(fn.try_element_at(parts, fn.lit(at + 1)).alias(n) for n, at in places.items())
            )
        elif kind in ("csv", "tsv"):
            frame = session.read.csv(path, header=True, sep="," if kind == "csv" else "\t")
        else:
            frame = session.read.format({"jsonl": "json"}.get(kind, kind)).load(path)
    except AnalysisException as error:
        said = printable(str(error).splitlines()[0])
        raise InputError("Spark cannot open this", where=printable(path), given=said) from None
    texts = {name for name, of in frame.dtypes if of == "string" and columns.get(name, name) in _NUMBERS}
    return frame.withColumns({name: fn.col(name).try_cast("double") for name in texts}) if texts else frame
