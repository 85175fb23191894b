"""Files as Spark opens them, on whatever file system it knows: judgments, runs, pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import UnknownFormat
from rankstone.io.columns import CsvOptions, Renames
from rankstone.io.dialects import SEPARATORS
from rankstone.io.text import QRELS, RUN
from rankstone.spark.exact import exact
from rankstone.spark.failures import telling_failures

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["opened", "session"]

#: columns of TREC text by position
_QRELS: Final = {"query_id": 0, "doc_id": 2, "relevance": 3}
_RUN: Final = {"query_id": 0, "doc_id": 2, "rank": 3, "score": 4}
_NUMBERS: Final = ("relevance", "score", "rank", "position")
_SUFFIXES: Final = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl",
    ".ndjson": "jsonl", ".orc": "orc", ".txt": "trec", ".run": "trec", ".qrels": "trec", ".trec": "trec",
}  # fmt: skip
_FORMATS: Final = tuple(dict.fromkeys(_SUFFIXES.values()))


def session(master: str | None = None) -> Any:  # noqa: ANN401 - pyspark's SparkSession
    """Return the session there is, or a new one; ``master`` as spark-submit was told unless given."""
    import warnings

    from pyspark.sql import SparkSession

    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    building = SparkSession.builder.appName("rankstone").config("spark.ui.showConsoleProgress", "false")
    found = (building if master is None else building.master(master)).getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    return found


def opened(
    session: Any,  # noqa: ANN401 - pyspark's SparkSession
    path: str,
    form: str | None,
    columns: Mapping[str, str],
    *,
    run: bool,
) -> Any:  # noqa: ANN401 - pyspark's DataFrame
    """Open a file, a folder or a glob: in texts ids are texts, and what is to be a number is one.

    Parameters
    ----------
    session
        Spark's.
    path
        Whatever Spark can open.
    form
        Its format; by its suffix unless given, Parquet where it has none, text where it is packed.
    columns
        {their name: our name}: which columns are numbers; and what was said of CSV, where nothing is guessed.
    run
        Whether TREC text is a run, and not judgments.
    """
    from pyspark.sql import functions as fn

    usual = ".txt" if path.endswith(".gz") else ".parquet"
    suffix = next((one for one in _SUFFIXES if path.removesuffix(".gz").lower().endswith(one)), usual)
    kind = form or _SUFFIXES[suffix]
    if kind not in _FORMATS:
        raise UnknownFormat(f"Spark does not read {kind} here", where=path, expected=", ".join(_FORMATS))
    with telling_failures(path):
        if kind == "trec":
            parts = fn.split(fn.trim("value"), r"\s+")
            places = _RUN if run else _QRELS
            line, layout = fn.trim("value"), RUN if run else QRELS
            said = (line != "") & (~line.startswith("#") | line.rlike(layout.row))
            lines = session.read.text(path).where(said)
            frame = lines.select(
                *(fn.try_element_at(parts, fn.lit(at + 1)).alias(n) for n, at in places.items())
            )
        elif kind in ("csv", "tsv"):
            said = CsvOptions.of(columns)
            frame = session.read.csv(path, header=True, sep=said.separator or SEPARATORS[kind])
            if isinstance(columns, Renames):
                columns.csv_files.append(path)
        else:
            frame = session.read.format({"jsonl": "json"}.get(kind, kind)).load(path)
    texts = {name for name, of in frame.dtypes if of == "string" and columns.get(name, name) in _NUMBERS}
    if texts and kind in SEPARATORS and CsvOptions.of(columns).decimal == ",":  # a point is none then
        frame = frame.withColumns({name: fn.translate(name, ",.", ".,") for name in texts})
    return frame.withColumns({name: exact(name, "string") for name in texts}) if texts else frame
