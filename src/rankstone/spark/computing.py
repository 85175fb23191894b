"""How Spark computes one run: where its lists lie if they lie whole, else after a shuffle by query."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from rankstone.errors import BadOption
from rankstone.spark.by_query import Beside, ByQuery
from rankstone.spark.in_place import CutLists, InPlace, Told
from rankstone.spark.task import NUMBERS, columns_given_back
from rankstone.tasks import Trailer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.spark.frames import Given
    from rankstone.spark.task import Task

__all__ = ["BROADCAST", "Computed", "brought", "check_broadcast", "computed", "sized"]

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
            told.merge(Trailer.read(json.loads(text)))
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
                    whole.merge(Trailer.read(json.loads(text)))
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
