"""What is done for the rows of some queries on whatever machine they are: the road, from rows to scores.

Rows of judgments and of the run come together, those of a query all of them.  What goes back is a row for
each query, and one last row that tells what there is to add up over all tasks.

What travels to executors tells which version packed it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import RankstoneError, printable
from rankstone.evaluation.pipeline import Pipeline
from rankstone.evaluation.request import collapser
from rankstone.evaluation.scores import weights
from rankstone.evaluation.shares import Trailer, scored_share
from rankstone.hits.exclusion import Exclusion, pairs_of
from rankstone.hits.grouped_judgments import prepared
from rankstone.io import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rankstone.evaluation.shares import Share
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.grouped_judgments import Intents
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.hits.judgments import Judgments
    from rankstone.measures.core.measure import Measure


__all__ = [
    "DECLARED",
    "EXCLUDED",
    "JUDGMENT",
    "NUMBERS",
    "RETRIEVED",
    "Task",
    "Travelling",
    "as_spark_reads",
    "columns_given_back",
    "version",
]


class Travelling:
    """What is sent to executors: it is opened by the version that packed it, or not at all."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how it is opened."""
        return _opened, (version(), type(self), dict(vars(self)))


def _opened(packed_by: str, kind: type[Any], held: dict[str, Any]) -> Any:  # noqa: ANN401 - of that kind
    if packed_by != version():
        raise ImportError(f"executors have rankstone {version()}, and what they were sent is of {packed_by}")
    made = object.__new__(kind)
    vars(made).update(held)
    return made


def version() -> str:
    """Return the version of rankstone here."""
    import rankstone

    return rankstone.__version__


#: what a row is
JUDGMENT, RETRIEVED, EXCLUDED = 0, 1, 2
#: marks judgments that are none: queries that were declared to have no relevant document
DECLARED: Final = "declared"
#: what is told of each query, a number for each measure
NUMBERS: Final = ("value", "numerator", "denominator", "weight")


_GIVEN_BACK: Final[dict[str, Any]] = {
    "judged": pl.Boolean,
    **dict.fromkeys(NUMBERS, pl.List(pl.Float64)),
    "status": pl.List(pl.Int8),
    "rows": pl.Binary,
    "trailer": pl.String,
}


def columns_given_back(query_id: str) -> str:
    """Return the columns of what a task gives back, as Spark writes schemas.

    A row with a ``value`` is a query; with ``rows``, too, one whose list may go on elsewhere.  A row with a
    ``trailer`` is what there is to add up; any other is the id of a query that nobody judged.
    """
    numbers = ", ".join(f"{name} array<double>" for name in NUMBERS)
    return (
        f"query_id {query_id}, judged boolean, {numbers}, status array<tinyint>, rows binary, trailer string"
    )


@dataclass(frozen=True, eq=False)
class Task(Travelling):
    """Everything a task needs beside rows; it is sent to where they are.

    Attributes
    ----------
    measures, options, collapse, queries, intents
        As for :class:`~rankstone.evaluation.pipeline.Pipeline`.
    further
        Columns of judgments that measures read beside the grade.
    lowest_grade
        The bottom of the grade scale; ``None`` where that of a task's own judgments will do.
    run
        What to call the run in messages.
    """

    measures: tuple[Measure, ...]
    options: AlignmentOptions
    collapse: str | None
    queries: QueryTable | None
    intents: Intents | None
    further: tuple[str, ...]
    lowest_grade: float | None
    run: str

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Turn Arrow batches of rows into Arrow batches of scores."""
        import pyarrow as pa

        given = list(batches)
        if not given:
            return
        rows: Any = pl.from_arrow(pa.Table.from_batches(given))
        judged, listed, excluded = (rows.filter(kind=kind) for kind in (JUDGMENT, RETRIEVED, EXCLUDED))
        try:
            scores, trailer = self.scored(judged, listed, excluded)
        except RankstoneError as error:
            scores, trailer = None, Trailer.of_error(error)
        query_id = rows.schema["query_id"]
        if scores is not None:
            yield from as_spark_reads(scores, query_id)
        yield from as_spark_reads(pl.DataFrame({"trailer": [json.dumps(trailer.to_json())]}), query_id)

    def scored(
        self, judged: pl.DataFrame, listed: pl.DataFrame, excluded: pl.DataFrame | None
    ) -> tuple[pl.DataFrame, Trailer]:
        """Return a row for each query, and what they tell together.

        Parameters
        ----------
        judged, listed, excluded
            All rows of some queries: judgments, lists, and pairs that are taken out first.  Where they say
            in ``position`` where they stood, that is their order.
        """
        judged, listed = _as_they_stood(judged), _as_they_stood(listed)
        pairs = None
        if excluded is not None and excluded.height:  # those of the queries here, wherever the others are
            here = pl.concat([judged["query_id"], listed["query_id"]]).unique()
            pairs = pairs_of(excluded, judged.schema).filter(pl.col("query_id").is_in(here.implode()))
        judgments = self._judgments(judged, pairs)
        listed = listed.select("query_id", "doc_id", **{self._by: "number"})
        grades = judged.rename({"number": "relevance"})
        exclude = None if pairs is None else Exclusion.of(pairs, grades, self.options)
        road = Pipeline(
            judgments, self.options, self.measures, exclude, collapser(self.collapse), self.queries
        )
        table = replace(read_run(listed, order=self.options.order, name=self.run), where=_places(listed))
        share = scored_share(road, table)
        return self._frame(share), share.trailer

    @property
    def _by(self) -> str:
        return "rank" if self.options.order == "rank" else "score"

    def _judgments(self, judged: pl.DataFrame, excluded: pl.DataFrame | None) -> Judgments:
        declared = None
        if DECLARED in judged.columns:
            said = pl.col(DECLARED).fill_null(value=False)
            declared, judged = judged.filter(said)["query_id"], judged.filter(~said)
        rows = judged.select(["query_id", "doc_id", *self.further], relevance="number")
        where = _places(rows, "judgments")
        judgments = prepared(rows, self.options, where, self.intents, declared, excluded)
        lowest = self.lowest_grade
        return judgments if lowest is None else replace(judgments, lowest_grade=lowest)

    @staticmethod
    def _frame(share: Share) -> pl.DataFrame:
        """Return a row for each query, numbers in lists, one for each measure."""
        scored = list(share.scores.by_measure.values())
        stacked = {
            name: np.stack([getattr(one, name) for one in scored], axis=1)
            for name in ("value", "numerator", "denominator", "status")
        }
        stacked["weight"] = np.stack([weights(one) for one in scored], axis=1)
        lists = {name: pl.Series(table).arr.to_list() for name, table in stacked.items()}
        return pl.DataFrame({"query_id": share.scores.queries, "judged": share.judged, **lists})


def as_spark_reads(frame: pl.DataFrame, query_id: Any) -> list[Any]:  # noqa: ANN401 - a type
    """Return Arrow batches with all columns of what a task gives back, null where the frame has none.

    Their types are those that Spark knows: lists and texts of 32-bit lengths.
    """
    import pyarrow as pa

    schema: dict[str, Any] = {"query_id": query_id, **_GIVEN_BACK}
    whole = pl.concat(
        [pl.DataFrame(schema=schema), frame.cast({n: schema[n] for n in frame.columns})], how="diagonal"
    )
    table = whole.to_arrow(compat_level=pl.CompatLevel.oldest())
    known = {
        pl.String: pa.string(), pl.Int64: pa.int64(), pl.Boolean: pa.bool_(), pl.Binary: pa.binary(),
        pl.List(pl.Float64): pa.list_(pa.float64()), pl.List(pl.Int8): pa.list_(pa.int8()),
    }  # fmt: skip
    return table.cast(pa.schema({name: known[kind] for name, kind in schema.items()})).to_batches()  # type: ignore[no-any-return]


def _as_they_stood(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("position", maintain_order=True) if "position" in rows.columns else rows


def _places(rows: pl.DataFrame, name: str = "run") -> Callable[[int], str]:
    """Say which row it is by what stands in it: rows of a cluster have no numbers."""

    def where(row: int) -> str:
        if row < 0:
            return name
        query, doc = rows.select("query_id", "doc_id").row(row)
        return f"{name}, query {printable(query)}, document {printable(doc)}"

    return where
