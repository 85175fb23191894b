"""Scores computed on a cluster; Spark's failures as clear errors; exact conversion of numbers to float64."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from rankstone.errors import InputError, MissingExtra, RankstoneError, printable
from rankstone.evaluation.scores import RunScores, Scores
from rankstone.evaluation.stored_scores import SummedScores
from rankstone.io.exact_numbers import DIGITS, LARGEST, too_long
from rankstone.measures.core.measure import Scored, Status
from rankstone.spark.executor_task import NUMBERS, version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone._basics import NamedValues
    from rankstone.errors import BadValue
    from rankstone.evaluation.shares import Trailer
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.measures.core.measure import Measure


class SparkScores(SummedScores):
    """Scores of one or more runs, with the scores of queries on the cluster.

    Attributes
    ----------
    computed
        {run: its result}, kept by Spark until :meth:`unpersist`.
    """

    computed: Mapping[str, Computed]

    @property
    def frames(self) -> NamedValues:
        """{run: Spark's DataFrame with one row per query and arrays of one number per measure}."""
        return {name: computed.frame for name, computed in self.computed.items()}

    def unpersist(self) -> None:
        """Release the scores of queries; using them again recomputes them."""
        for computed in self.computed.values():
            computed.unpersist()

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
            zipped = fn.explode(
                fn.arrays_zip(names.alias("measure"), *NUMBERS, "status")
            ).alias("one")
            rows = frame.select("query_id", zipped)
            value = fn.col("one.value")
            known = rows.where(fn.col("one.status") != int(Status.dropped)).select(
                fn.lit(run).alias("run"),
                fn.col("query_id").cast("string").alias("query_id"),
                fn.col("one.measure").alias("measure"),
                fn.when(~fn.isnan(value), value).alias("value"),
                *(fn.col(f"one.{name}").alias(name) for name in NUMBERS[1:]),
                fn.element_at(words, fn.col("one.status").cast("int") + 1).alias(
                    "status"
                ),
            )
            parts.append(known)
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.unionByName(part)
        return whole

    def collect(self) -> Scores:
        """Return the scores as :class:`rankstone.Scores`; those of all queries must fit into memory."""
        runs = {
            name: _run_scores(frame, self.measures, self.queries)
            for name, frame in self.frames.items()
        }
        return Scores(runs, self.measures, self.audit, self.conventions, self.inputs)


def _run_scores(
    frame: Any,  # noqa: ANN401 - pyspark's DataFrame
    measures: tuple[Measure, ...],
    table: QueryTable | None,
) -> RunScores:
    """Return one run's scores sorted by query, judged queries first, as cluster rows have no order."""
    rows: Any = pl.from_arrow(frame.toArrow())
    rows = rows.sort("judged", "query_id", descending=[True, False])
    columns = {
        name: _matrix(rows[name], len(measures)) for name in (*NUMBERS, "status")
    }
    by_measure = {
        measure: Scored(
            columns["numerator"][:, index],
            columns["denominator"][:, index],
            columns["value"][:, index],
            columns["status"][:, index].astype(np.int8),
            columns["weight"][:, index],
        )
        for index, measure in enumerate(measures)
    }
    names = rows["query_id"]
    return RunScores(names, by_measure, None if table is None else table.take(names))


def _matrix(lists: pl.Series, width: int) -> Any:  # noqa: ANN401 - an array
    if len(lists):
        return lists.explode().to_numpy().reshape(-1, width)
    return np.empty((0, width))


#: the message of a job that failed on an inexact number
_INEXACT: Final = re.compile(r"rankstone: the (\w+) ([-+.\d]+) has more digits")


def exact(name: str, kind: str) -> Any:  # noqa: ANN401 - pyspark's Column
    """Return a column as float64; integers and decimals that float64 cannot represent are an error.

    Parameters
    ----------
    name
        The name of the column.
    kind
        Its type; strings that are not numbers become null.
    """
    from pyspark.sql import functions as fn

    column = fn.col(name)
    number = column.try_cast("double")
    if kind not in ("bigint", "string") and not kind.startswith("decimal"):
        return number
    text = column.cast("string")
    written = fn.regexp_extract(text, r"^\s*[+-]?(\d+(?:\.\d*)?)\s*$", 1)
    digits = fn.length(
        fn.regexp_replace(fn.regexp_replace(written, r"\.", ""), "^0+|0+$", "")
    )
    whole = fn.regexp_extract(written, r"^(\d+)(?:\.0*)?$", 1).try_cast("bigint")
    same = fn.coalesce(whole == fn.abs(number).try_cast("bigint"), fn.lit(False))
    bad = (fn.abs(number) >= float(LARGEST)) & (digits > DIGITS) & ~same
    said = fn.concat(
        fn.lit(f"rankstone: the {name} "), fn.trim(text), fn.lit(" has more digits")
    )
    return fn.when(bad, fn.raise_error(said).cast("double")).otherwise(number)


def inexact_number_error(said: str, where: str) -> BadValue | None:
    """Return the error of a job that failed on an inexact number, else ``None``."""
    match = _INEXACT.search(said)
    if match is None:
        return None
    return too_long(match[1], match[2], where)


#: the most characters to quote of Spark's messages
_SAID = 300
#: the message of a Python process on an executor without a package
_MISSING: Final = re.compile(
    r"No module named '(rankstone|polars|numpy|pyarrow)['.]|(PyArrow) >?=? ?[\d.]+ must be installed"
)
#: the message if its version of rankstone differs from the one that sent the task
_OTHER: Final = re.compile(
    r"executors have rankstone [^\n]+"
    r"|No module named 'rankstone\.[^\n]+"
    r"|(?:Can't get attribute|cannot import name|has no attribute)[^\n]*rankstone[^\n]*"
)
_PYTHON: Final = re.compile(r"PYTHON_VERSION_MISMATCH\][^\n]*")
_ENDED: Final = re.compile(
    r"Python worker exited unexpectedly|Python worker failed to connect back|ExecutorLostFailure"
)
_INSTALL: Final = (
    f"if this Python has it, set PYSPARK_PYTHON={printable(sys.executable)} before the session starts; else "
    'pip install "rankstone[spark]=={version}" where executors run, or send an environment (docs/spark.md)'
)


@contextmanager
def spark_errors(where: str) -> Iterator[None]:
    """Turn Spark's errors, such as an invalid Parquet file, into errors of rankstone that name ``where``."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
            raise
        java = getattr(error, "java_exception", None)
        said = str(error), None if java is None else str(java.toString())
        raise inexact_number_error(
            "\n".join(filter(None, said)), where
        ) or _driver_error(where, *said) from error


def _driver_error(where: str, said: str, java: str | None) -> RankstoneError:
    """Return the error for a message of Spark.

    >>> print(_driver_error("run", "ModuleNotFoundError: No module named 'rankstone'", None).what)
    executors have no rankstone
    """
    whole = f"{said}\n{java or ''}"
    place = printable(where)
    install = _INSTALL.format(version=version())
    if match := _OTHER.search(whole):
        return MissingExtra(
            "executors have another version of rankstone",
            where=place,
            given=printable(match[0], _SAID),
            expected=f"rankstone {version()}",
            fix=install,
        )
    if match := _MISSING.search(whole):
        package = (match[1] or match[2]).lower()
        return MissingExtra(f"executors have no {package}", where=place, fix=install)
    if match := _PYTHON.search(whole):
        return MissingExtra(
            "executors run another version of Python",
            where=place,
            given=printable(match[0], _SAID),
            fix="set PYSPARK_PYTHON to a Python of the same minor version as here",
        )
    if match := _ENDED.search(whole):
        return RankstoneError(
            "a process on an executor ended before its task did",
            where=place,
            given=printable(_line(said, match[0]), _SAID),
            fix="if memory ran out: raise spark.executor.memoryOverhead, use more partitions, or use "
            "broadcast=0, which sends no judgments to executors",
        )
    if "Traceback (most recent call last)" in said:
        return RankstoneError(
            "a Python function failed on an executor",
            where=place,
            given=printable(_last_of_traceback(said), _SAID),
            fix="check your own Python functions in the plan of the frames; otherwise please report it with "
            "the traceback above",
        )
    lines = (java or said).strip().splitlines()
    return InputError(
        "Spark cannot open or read this",
        where=place,
        given=printable(lines[0] if lines else "", _SAID),
        fix="check that it is complete and that its suffix matches its format, or give format_in",
    )


def _line(text: str, part: str) -> str:
    return next((line.strip() for line in text.splitlines() if part in line), part)


def _last_of_traceback(text: str) -> str:
    r"""Return the line that names the error of the last Python traceback.

    >>> _last_of_traceback("Traceback (most recent call last):\n  File x\n    f()\nValueError: no\n at org.x")
    'ValueError: no'
    """
    stack = text[text.rindex("Traceback (most recent call last)") :].splitlines()[1:]
    return next((line for line in stack if line and not line[0].isspace()), "")


class Computed(NamedTuple):
    """One run as computed by Spark.

    Attributes
    ----------
    frame
        Spark's DataFrame with one row per query.
    totals
        The sums and counts of all tasks.
    persisted
        The DataFrames that Spark keeps for it.
    in_place
        True if lists were scored in place, without a shuffle.
    """

    frame: Any
    totals: Trailer
    persisted: tuple[Any, ...]
    in_place: bool

    def unpersist(self) -> None:
        """Release the DataFrames that Spark keeps."""
        for frame in self.persisted:
            frame.unpersist()
