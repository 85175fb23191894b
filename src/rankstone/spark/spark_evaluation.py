"""The conductor on a cluster: rows of a query together, the road in every task, means from exact sums.

How Spark computes one run: where its lists lie if they lie whole, else after a shuffle by query.

Rows by query, as they travel to every machine: judgments, and pairs to leave out.
"""

from __future__ import annotations

import io
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

import numpy as np
import polars as pl

from rankstone.errors import BadOption, BadParameter, MissingExtra, UsageError
from rankstone.evaluation.request import (
    checked,
    collapser,
    columns_read,
    of_rankings,
    open_intents,
    query_table,
    refuse_without_pairs,
)
from rankstone.evaluation.shares import Trailer, pads, refuse_what_looks_at_others
from rankstone.evaluation.stored_scores import check_trailer
from rankstone.hits.judgments import lowest_under
from rankstone.hits.list_arrays import ragged_range
from rankstone.hits.pair_index import QueryIndex
from rankstone.io.columns import with_csv
from rankstone.spark.executor_task import NUMBERS, Task, Travelling, columns_given_back
from rankstone.spark.in_place import CutLists, InPlace, Told
from rankstone.spark.spark_frames import Given, Rows, opened, session
from rankstone.spark.spark_scores import SparkScores, telling_failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone.hits.alignment_options import AlignmentKeywords, AlignmentOptions
    from rankstone.measures.core.measure import Measure

    Ints = NDArray[np.int64]


class ByQuery:
    """Rows of a table by query, those of a query in their order.

    It is pickled as Arrow's bytes, and opened once by each process that takes rows out.

    Parameters
    ----------
    rows
        A table with ``query_id``.

    Examples
    --------
    >>> rows = pl.DataFrame({"query_id": ["a", "b", "a"], "doc_id": ["x", "y", "z"]})
    >>> ByQuery(rows).of(pl.Series(["c", "a"])).rows()
    [('a', 'x'), ('a', 'z')]
    """

    def __init__(self, rows: pl.DataFrame) -> None:
        runs = rows["query_id"].rle().struct.unnest()
        self.queries = QueryIndex(runs["value"].unique(maintain_order=True))
        codes = np.repeat(self.queries.codes(runs["value"]), runs["len"].to_numpy())
        ordered = bool((codes[1:] >= codes[:-1]).all())
        self._rows = rows if ordered else rows[np.argsort(codes, kind="stable")]
        self._offsets = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=len(self.queries)))))

    def __getstate__(self) -> dict[str, Any]:
        """Return what it is rebuilt from."""
        packed = io.BytesIO()
        self._rows.drop("query_id").write_ipc(packed, compat_level=pl.CompatLevel.oldest())
        return {"names": self.queries.names, "offsets": self._offsets, "rows": packed.getvalue()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open what :meth:`__getstate__` packed."""
        self.queries = QueryIndex(state["names"])
        self._offsets = state["offsets"]
        lengths = np.diff(self._offsets)
        ids = self.queries.names.gather(np.repeat(np.arange(len(lengths)), lengths))
        self._rows = pl.read_ipc(io.BytesIO(state["rows"])).insert_column(0, ids.alias("query_id"))

    def none(self) -> pl.DataFrame:
        """Return a table without rows."""
        return self._rows.clear()

    def of(self, names: pl.Series) -> pl.DataFrame:
        """Return the rows of some queries, which are named once each."""
        codes = self.queries.codes(names)
        codes = codes[codes >= 0]
        begins = self._offsets[codes]
        if len(codes) and bool((np.diff(codes) == 1).all()):
            return self._rows[int(begins[0]) : int(self._offsets[codes[-1] + 1])]
        return self._rows[ragged_range(begins, self._offsets[codes + 1] - begins)]


@dataclass(frozen=True, eq=False)
class Beside(Travelling):
    """What lists are held against, wherever they are.

    Attributes
    ----------
    judged, excluded
        Judgments, and pairs to leave out.
    """

    judged: ByQuery
    excluded: ByQuery | None

    @cached_property
    def empty_list(self) -> pl.DataFrame:
        """A list without rows, its ids of the judgments' types."""
        return self.judged.none().select("query_id", "doc_id", "number")

    def of(self, names: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """Return the judgments and the excluded pairs of some queries, which are named once each."""
        return self.judged.of(names), None if self.excluded is None else self.excluded.of(names)


#: judgments that are sent to where lists are, unless another number is asked for
BROADCAST: Final = 5_000_000
#: partitions are merged to 64 MB or so, not to one for each processor, and those of what is kept, too; rows
#: go to Python by some megabytes at a time
_SIZED: Final = {
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",
}
_SCORES: Final = ("query_id", "judged", *NUMBERS, "status")


class Computed(NamedTuple):
    """One run, computed.

    Attributes
    ----------
    frame
        Spark's DataFrame with a row for each query.
    told
        What all tasks told together.
    kept
        What Spark keeps for it.
    in_place
        Whether lists were scored where they lay, without a shuffle of rows.
    """

    frame: Any
    told: Trailer
    kept: tuple[Any, ...]
    in_place: bool

    def unpersist(self) -> None:
        """Let Spark forget what it keeps."""
        for frame in self.kept:
            frame.unpersist()


def check_broadcast(most: object) -> int:
    """Return how many judgments may be sent at most, or refuse what is no number of them."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise BadOption(
            f"broadcast={most!r} is no number of judgments",
            expected="a whole number: so many are sent to where lists are, 0 for none",
        )
    return most


def brought(given: Given, most: int) -> Any | None:  # noqa: ANN401 - pyspark's Broadcast
    """Bring judgments and excluded pairs here, and send them everywhere; ``None`` if they are too many."""
    context = getattr(given.listed.sparkSession, "sparkContext", None)  # Spark Connect has none
    if context is None or not most:
        return None
    frames = [given.judged] if given.excluded is None else [given.judged, given.excluded]
    if sum(frame.count() for frame in frames) > most:
        return None
    tables = [ByQuery(pl.from_arrow(frame.toArrow())) for frame in frames]  # type: ignore[arg-type]
    return context.broadcast(Beside(tables[0], tables[1] if len(tables) > 1 else None))


def computed(task: Task, given: Given, beside: Any | None) -> Computed:  # noqa: ANN401 - pyspark's Broadcast
    """Let Spark compute a run.

    Parameters
    ----------
    task
        What is done for rows of whole lists.
    given
        All rows.
    beside
        What :func:`brought` returned.
    """
    with sized(given.listed.sparkSession.conf):
        found = None if beside is None else _in_place(task, given, beside)
        return found or _shuffled(task, given)


def _shuffled(task: Task, given: Given) -> Computed:
    """Bring the rows of each query together first."""
    rows = given.together().repartition("query_id")
    kept = rows.mapInArrow(task, columns_given_back(given.query_id)).persist()
    with _forgotten_on_failure(kept):
        told = Trailer()
        for text in _trailers(kept):
            told.merge(Trailer.from_json(json.loads(text)))
    return Computed(_scores(kept), told, (kept,), in_place=False)


def _in_place(task: Task, given: Given, beside: Any) -> Computed | None:  # noqa: ANN401 - pyspark's Broadcast
    """Score lists where they lie; ``None`` if rows of a query turn out to be scattered."""
    schema = columns_given_back(given.query_id)
    kept = given.listed.mapInArrow(InPlace(task, beside), schema).persist()
    with _forgotten_on_failure(kept):
        told = Told(_trailers(kept), beside.value.judged.queries.names)
        strangers = _strangers(kept) if told.whole.extra else None
        if told.scattered or (strangers and strangers.again and task.options.extra == "keep"):
            kept.unpersist()
            return None
        frame, whole, more = _scores(kept), told.whole, tuple[Any, ...]()
        if told.cut:
            frame = frame.where(~frame["query_id"].isin(list(told.cut)))
        if told.cut or len(told.missing):
            rest = _rest(kept, told).repartition("query_id")
            later = rest.mapInArrow(CutLists(task, beside, told.cut), schema).persist()
            with _forgotten_on_failure(later):
                for text in _trailers(later):
                    whole.merge(Trailer.from_json(json.loads(text)))
            frame, more = frame.unionByName(_scores(later)), (later,)
        if strangers:
            whole.extra = strangers.queries
    return Computed(frame, whole, (kept, *more), in_place=True)


def _rest(kept: Any, told: Told) -> Any:  # noqa: ANN401 - pyspark's DataFrames
    """Return the pieces of lists that were cut, and judged queries without a list."""
    from pyspark.sql import functions as fn

    pieces = kept.where(kept["query_id"].isin(list(told.cut))).select("query_id", "rows")
    if not len(told.missing):
        return pieces
    missing = kept.sparkSession.createDataFrame(told.missing.to_frame("query_id").to_arrow())
    return pieces.unionByName(missing.withColumn("rows", fn.lit(None).cast("binary")))


class _Strangers(NamedTuple):
    """Queries that nobody judged: how many, and whether one's rows are in two places that are no halves."""

    queries: int
    again: bool


def _strangers(kept: Any) -> _Strangers:  # noqa: ANN401 - pyspark's DataFrame
    from pyspark.sql import functions as fn

    places = fn.count("*").alias("places"), fn.count("rows").alias("ends")
    each = kept.where("not judged").groupBy("query_id").agg(*places)
    found = each.agg(fn.count("*"), fn.max(fn.expr("places > 1 and ends < places"))).first()
    return _Strangers(found[0], bool(found[1]))


def _scores(kept: Any) -> Any:  # noqa: ANN401 - pyspark's DataFrames
    return kept.where("value is not null").select(*_SCORES)


def _trailers(kept: Any) -> list[str]:  # noqa: ANN401 - pyspark's DataFrame
    """Return what tasks tell; computes."""
    return [text for (text,) in kept.where("trailer is not null").select("trailer").collect()]


@contextmanager
def _forgotten_on_failure(kept: Any) -> Iterator[None]:  # noqa: ANN401 - pyspark's DataFrame
    try:
        yield
    except BaseException:
        kept.unpersist()
        raise


@contextmanager
def sized(conf: Any) -> Iterator[None]:  # noqa: ANN401 - pyspark's RuntimeConfig
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
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    broadcast: int = BROADCAST,
    **options: Unpack[AlignmentKeywords],
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
        Or a path of a file that Spark opens, as every other table here.
    runs
        A Spark DataFrame with ``query_id``, ``doc_id`` and ``score`` (or ``rank`` alone), or
        ``{name: DataFrame}``.  ``doc_id`` and ``score`` may hold an array a row; arrays of ids alone are in
        the order of the ranking.  Rows of a cluster have no order; where one is asked for (``ties="input"``,
        say), a column ``position`` says where each row stood.
    measures, columns, collapse, format_in, csv_separator, decimal, **options
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
    renamed = with_csv(columns, csv_separator, decimal) or {}
    named = {str(name): run for name, run in runs.items()} if isinstance(runs, dict) else {"run": runs}
    if not named:
        raise UsageError("there is no run")
    exclude, named = (
        _frame(exclude, format_in, renamed),
        {name: _frame(run, format_in, renamed, run=True) for name, run in named.items()},
    )
    qrels = _frame(qrels, format_in, renamed)
    judged, further = Rows(qrels, "judgments", renamed), columns_read(wanted)
    excluded = None if exclude is None else Rows(exclude, "exclude", renamed)
    most, beside = check_broadcast(broadcast), None  # judgments are sent once for all runs
    lowest = _lowest_grade(judged.require("relevance"), aligned, wanted)
    about, meant = query_table(queries, wanted, renamed), open_intents(intents, renamed)
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
            check_trailer(name, found[name].told, aligned)
    except BaseException:
        for one in found.values():
            one.unpersist()
        raise
    return SparkScores.of(found, wanted, aligned, about)


def _frame(
    given: Any,  # noqa: ANN401 - pyspark's DataFrame, a path, or nothing
    form: str | None,
    columns: Mapping[str, str],
    *,
    run: bool = False,
) -> Any:  # noqa: ANN401 - the same
    """Return a table, opened where it is a path."""
    if not isinstance(given, (str, os.PathLike)):
        return given
    return opened(session(), os.fspath(given), form, columns, run=run)


def _lowest_grade(judged: Rows, options: AlignmentOptions, measures: Sequence[Measure]) -> float | None:
    """Return the bottom of the grade scale where a measure asks for it, and it is not any query's own."""
    if not pads(measures):
        return None
    from pyspark.sql import functions as fn

    grade = fn.col("relevance").cast("double")
    lowest, from_zero = judged.frame.agg(fn.min(grade), fn.min(fn.when(grade >= 0, grade))).first()
    return lowest_under(lowest, from_zero, options.negative)


def require() -> None:
    """Refuse to start without the packages of the extra."""
    for package in ("pyarrow", "pyspark"):
        try:
            import_module(package)
        except ImportError as error:
            raise MissingExtra(f"{package} is not installed", fix='pip install "rankstone[spark]"') from error
