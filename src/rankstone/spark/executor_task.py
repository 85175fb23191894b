"""The task that executors run: from the rows of some queries to their scores.

A task gets all rows of its queries, judgments and lists, and returns one row per query and a last row (the
trailer) with the sums and counts to add up over all tasks.  Objects sent to executors carry the version of
rankstone that pickled them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import RankstoneError, printable
from rankstone.evaluation.judged_rows import JudgedRows
from rankstone.evaluation.pipeline import Pipeline
from rankstone.evaluation.requested_side_inputs import (
    prepare_judgments,
    requested_side_inputs,
)
from rankstone.evaluation.scores import weights
from rankstone.evaluation.shares import Trailer, scored_share
from rankstone.hits.judgments import judged_queries
from rankstone.io import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rankstone._basics import Locate, NamedValues, Names
    from rankstone.evaluation.shares import ShareResult
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.grouped_judgments import Intents
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.measures.core.measure import Measure


class Shipped:
    """Base of objects sent to executors, which only the same version of rankstone unpickles."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to unpickle it."""
        return _unpack, (version(), type(self), dict(vars(self)))


def _unpack(packed_by: str, kind: type[Any], state: NamedValues) -> Any:  # noqa: ANN401 - of that kind
    if packed_by != version():
        raise ImportError(
            f"executors have rankstone {version()}, and this task was sent by rankstone {packed_by}"
        )
    instance = object.__new__(kind)
    vars(instance).update(state)
    return instance


def version() -> str:
    """Return the version of rankstone on this machine."""
    import rankstone

    return rankstone.__version__


#: kinds of rows
JUDGMENT, RETRIEVED, EXCLUDED = 0, 1, 2
#: the column that marks queries declared to have no relevant document
WITHOUT_RELEVANT: Final = "declared"
#: columns with one number per measure
NUMBERS: Final = ("value", "numerator", "denominator", "weight")


_RESULT_SCHEMA: Final[NamedValues] = {
    "judged": pl.Boolean,
    **dict.fromkeys(NUMBERS, pl.List(pl.Float64)),
    "status": pl.List(pl.Int8),
    "rows": pl.Binary,
    "trailer": pl.String,
}


def result_columns(query_id: str) -> str:
    """Return the schema of a task's result, in Spark's syntax.

    A row with a ``value`` is a scored query; if it also has ``rows``, its list may continue elsewhere.  A row
    with a ``trailer`` has sums and counts; any other row is the id of a query without judgments.
    """
    numbers = ", ".join(f"{name} array<double>" for name in NUMBERS)
    return f"query_id {query_id}, judged boolean, {numbers}, status array<tinyint>, rows binary, trailer string"


@dataclass(frozen=True, eq=False)
class Task(Shipped):
    """Everything a task needs besides rows.

    Attributes
    ----------
    measures, options, unit, queries, intents
        As for :class:`~rankstone.evaluation.pipeline.Pipeline`.
    further
        Columns of judgments that measures read in addition to the grade.
    lowest_grade
        The bottom of the grade scale; ``None`` to use that of the task's judgments.
    run
        The name of the run in messages.
    """

    measures: tuple[Measure, ...]
    options: AlignmentOptions
    unit: str | None
    queries: QueryTable | None
    intents: Intents | None
    further: Names
    lowest_grade: float | None
    run: str

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Turn Arrow batches of rows into Arrow batches of scores."""
        import pyarrow as pa

        batches_here = list(batches)
        if not batches_here:
            return
        rows: Any = pl.from_arrow(pa.Table.from_batches(batches_here))
        judged, listed, excluded = (
            rows.filter(kind=kind) for kind in (JUDGMENT, RETRIEVED, EXCLUDED)
        )
        yield from results(
            lambda: self.scored(judged, listed, excluded), rows.schema["query_id"]
        )

    def scored(
        self, judged: pl.DataFrame, listed: pl.DataFrame, excluded: pl.DataFrame | None
    ) -> tuple[pl.DataFrame, Trailer]:
        """Return one row per query, and the trailer with their sums.

        Parameters
        ----------
        judged, listed, excluded
            All rows of some queries: judgments, lists, and pairs to remove first.  A column ``position``
            gives their order.
        """
        judged = _in_given_order(judged)
        listed = _in_given_order(listed)
        arguments: dict[str, object] = {"unit": self.unit}
        share = None
        if excluded is not None and excluded.height:
            arguments["exclude"] = excluded.select("query_id", "doc_id")
            # only the pairs of this task's queries
            queries = pl.concat([judged["query_id"], listed["query_id"]]).unique()
            share = pl.col("query_id").is_in(queries.implode())
        side_inputs = requested_side_inputs((), arguments)
        judgments = prepare_judgments(
            self._judged_rows(judged, share), side_inputs, self.intents
        )
        if self.lowest_grade is not None:
            judgments = replace(judgments, lowest_grade=self.lowest_grade)

        pipeline = Pipeline(judgments, self.options, self.measures, self.queries)
        listed = listed.select("query_id", "doc_id", **{self._by: "number"})
        table = replace(
            read_run(listed, order=self.options.order, name=self.run),
            where=_row_namer(listed),
        )
        result = scored_share(pipeline, table)
        return self._frame(result), result.trailer

    @property
    def _by(self) -> str:
        return "rank" if self.options.order == "rank" else "score"

    def _judged_rows(self, judged: pl.DataFrame, share: pl.Expr | None) -> JudgedRows:
        """Return rows of judgments, without those that only declare their query."""
        declared = None
        if WITHOUT_RELEVANT in judged.columns:
            is_marked = pl.col(WITHOUT_RELEVANT).fill_null(value=False)
            declared = judged.filter(is_marked)["query_id"]
            judged = judged.filter(~is_marked)
        rows = judged.select(["query_id", "doc_id", *self.further], relevance="number")
        return JudgedRows(
            rows,
            judged_queries(rows, declared),
            self.options,
            _row_namer(rows, "judgments"),
            None if self.queries is None else self.queries.unanswerable(),
            share,
        )

    @staticmethod
    def _frame(share: ShareResult) -> pl.DataFrame:
        """Return one row per query, with lists of one number per measure."""
        scored = list(share.scores.by_measure.values())
        stacked = {
            name: np.stack([getattr(scores, name) for scores in scored], axis=1)
            for name in ("value", "numerator", "denominator", "status")
        }
        stacked["weight"] = np.stack([weights(scores) for scores in scored], axis=1)
        lists = {
            name: pl.Series(table).arr.to_list() for name, table in stacked.items()
        }
        return pl.DataFrame(
            {"query_id": share.scores.queries, "judged": share.judged, **lists}
        )


def results(
    score: Callable[[], tuple[pl.DataFrame, Trailer]],
    query_id: Any,  # noqa: ANN401 - of that kind
) -> Iterator[Any]:
    """Yield Arrow batches with scores and their trailer; a trailer with the error where there is one."""
    try:
        scores, trailer = score()
    except RankstoneError as error:
        scores = pl.DataFrame()
        trailer = Trailer.of_error(error)
    last = pl.DataFrame({"trailer": [json.dumps(trailer.to_json())]})
    yield from to_arrow_batches(pl.concat([scores, last], how="diagonal"), query_id)


def to_arrow_batches(frame: pl.DataFrame, query_id: Any) -> list[Any]:  # noqa: ANN401 - a type
    """Return Arrow batches with all columns of a task's result, null for columns that the frame lacks.

    Their types are those that Spark supports: lists and strings with 32-bit lengths.
    """
    import pyarrow as pa

    schema: NamedValues = {"query_id": query_id, **_RESULT_SCHEMA}
    whole = pl.concat(
        [
            pl.DataFrame(schema=schema),
            frame.cast({n: schema[n] for n in frame.columns}),
        ],
        how="diagonal",
    )
    table = whole.to_arrow(compat_level=pl.CompatLevel.oldest())
    known = {
        pl.String: pa.string(),
        pl.Int64: pa.int64(),
        pl.Boolean: pa.bool_(),
        pl.Binary: pa.binary(),
        pl.List(pl.Float64): pa.list_(pa.float64()),
        pl.List(pl.Int8): pa.list_(pa.int8()),
    }
    return table.cast(  # type: ignore[no-any-return]
        pa.schema({name: known[kind] for name, kind in schema.items()})
    ).to_batches()


def _in_given_order(rows: pl.DataFrame) -> pl.DataFrame:
    if "position" in rows.columns:
        return rows.sort("position", maintain_order=True)
    return rows


def _row_namer(rows: pl.DataFrame, name: str = "run") -> Locate:
    """Return a function that names a row by its ids, as rows of a cluster have no numbers."""

    def where(row: int) -> str:
        if row < 0:
            return name
        query, doc = rows.select("query_id", "doc_id").row(row)
        return f"{name}, query {printable(query)}, document {printable(doc)}"

    return where
