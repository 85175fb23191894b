"""What is done for the rows of some queries on whatever machine they are: the road, from rows to scores.

Rows of judgments and of the run come together, those of a query all of them.  What goes back is a row for
each query, and one last row that tells what there is to add up over all tasks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.beside import collapser
from rankstone.errors import RankstoneError, printable
from rankstone.hits.grouping import grouped
from rankstone.hits.judgments import Judgments
from rankstone.hits.pairs import PairIndex, QueryIndex
from rankstone.io import read_run
from rankstone.road import Road
from rankstone.scores import weights
from rankstone.tasks import Trailer, scored_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rankstone.hits.intents import Intents
    from rankstone.hits.options import Alignment
    from rankstone.hits.query_table import QueryTable
    from rankstone.measures import Measure
    from rankstone.tasks import Share

__all__ = ["EXCLUDED", "JUDGMENT", "NUMBERS", "RETRIEVED", "Task", "columns_given_back"]

#: what a row is
JUDGMENT, RETRIEVED, EXCLUDED = 0, 1, 2
#: what is told of each query, a number for each measure
NUMBERS: Final = ("value", "numerator", "denominator", "weight")


def columns_given_back(query_id: str) -> str:
    """Return the columns of what a task gives back, as Spark writes schemas."""
    numbers = ", ".join(f"{name} array<double>" for name in NUMBERS)
    return f"query_id {query_id}, judged boolean, {numbers}, status array<tinyint>, trailer string"


@dataclass(frozen=True, eq=False)
class Task:
    """Everything a task needs beside rows; it is sent to where they are.

    Attributes
    ----------
    measures, options, collapse, queries, intents
        As for :class:`~rankstone.road.Road`.
    further
        Columns of judgments that measures read beside the grade.
    lowest_grade
        The bottom of the grade scale; ``None`` where that of a task's own judgments will do.
    positions
        Whether rows say where they stood.
    run
        What to call the run in messages.
    """

    measures: tuple[Measure, ...]
    options: Alignment
    collapse: str | None
    queries: QueryTable | None
    intents: Intents | None
    further: tuple[str, ...]
    lowest_grade: float | None
    positions: bool
    run: str

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Turn Arrow batches of rows into Arrow batches of scores."""
        import pyarrow as pa

        given = list(batches)
        if not given:
            return
        rows: Any = pl.from_arrow(pa.Table.from_batches(given))
        try:
            scores, trailer = self._scored(rows)
        except RankstoneError as error:
            scores, trailer = None, Trailer.of_error(error)
        schema = _schema(rows.schema["query_id"])
        whole = [] if scores is None else [scores]
        last = pl.DataFrame({"trailer": [json.dumps(trailer.told())]})
        told = pl.concat([pl.DataFrame(schema=schema), *whole, last], how="diagonal")
        yield from _as_spark_reads(told).to_batches()

    def _scored(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, Trailer]:
        if self.positions:
            rows = rows.sort("position", maintain_order=True)
        judged = rows.filter(kind=JUDGMENT).select(["query_id", "doc_id", *self.further], relevance="number")
        listed = rows.filter(kind=RETRIEVED).select("query_id", "doc_id", **{self._by: "number"})
        judgments = self._judgments(judged)
        exclude = _pairs(rows.filter(kind=EXCLUDED), judgments)
        road = Road(judgments, self.options, self.measures, exclude, collapser(self.collapse), self.queries)
        table = replace(read_run(listed, order=self.options.order, name=self.run), where=_places(listed))
        share = scored_share(road, table)
        return self._frame(share, rows.schema["query_id"]), share.trailer

    @property
    def _by(self) -> str:
        return "rank" if self.options.order == "rank" else "score"

    def _judgments(self, judged: pl.DataFrame) -> Judgments:
        where = _places(judged, "judgments")
        if "subtopic" in self.further and judged.height:
            judgments = grouped(judged, self.options, where, self.intents)
        else:
            queries = QueryIndex(judged["query_id"].unique(maintain_order=True))
            judgments = Judgments.of(judged, self.options, where, queries)
        lowest = self.lowest_grade
        return judgments if lowest is None else replace(judgments, lowest_grade=lowest)

    def _frame(self, share: Share, query_id: pl.DataType) -> pl.DataFrame:
        """Return a row for each query, numbers in lists, one for each measure."""
        scored = list(share.scores.by_measure.values())
        stacked = {
            name: np.stack([getattr(one, name) for one in scored], axis=1)
            for name in ("value", "numerator", "denominator", "status")
        }
        stacked["weight"] = np.stack([weights(one) for one in scored], axis=1)
        lists = {name: pl.Series(table).arr.to_list() for name, table in stacked.items()}
        schema = _schema(query_id)
        frame = pl.DataFrame({"query_id": share.scores.queries, "judged": share.judged, **lists})
        return frame.with_columns(trailer=pl.lit(None, pl.String)).cast(schema).select(list(schema))


def _as_spark_reads(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - pyarrow's Table
    """Return a frame as an Arrow table of the types that Spark knows: lists and texts of 32-bit lengths."""
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    known = {pl.String: pa.string(), pl.Int64: pa.int64(), pl.Boolean: pa.bool_()}
    of = {name: known.get(kind.base_type()) or pa.list_(_inner(kind)) for name, kind in frame.schema.items()}
    return table.cast(pa.schema(of))


def _inner(kind: Any) -> Any:  # noqa: ANN401 - types
    import pyarrow as pa

    return pa.int8() if kind.inner == pl.Int8 else pa.float64()


def _schema(query_id: pl.DataType) -> pl.Schema:
    numbers: dict[str, Any] = {name: pl.List(pl.Float64) for name in NUMBERS}
    rest = {"status": pl.List(pl.Int8), "trailer": pl.String}
    return pl.Schema({"query_id": query_id, "judged": pl.Boolean, **numbers, **rest})


def _pairs(rows: pl.DataFrame, judgments: Judgments) -> PairIndex | None:
    """Return the pairs that are taken out of lists."""
    if not rows.height:
        return None
    pairs = rows.select("query_id", "doc_id").unique()
    queries = QueryIndex(pairs["query_id"].unique(maintain_order=True))
    return PairIndex(
        queries, queries.codes(pairs["query_id"]), pairs["doc_id"].cast(judgments.pairs.docs.dtype)
    )


def _places(rows: pl.DataFrame, name: str = "run") -> Callable[[int], str]:
    """Say which row it is by what stands in it: rows of a cluster have no numbers."""

    def where(row: int) -> str:
        if row < 0:
            return name
        query, doc = rows.select("query_id", "doc_id").row(row)
        return f"{name}, query {printable(query)}, document {printable(doc)}"

    return where
