"""Rows of the tables beside a run, as executors read them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from rankstone.hits.list_arrays import list_numbers, offsets_of, ragged_range
from rankstone.hits.pair_index import QueryIndex
from rankstone.spark.executor_task import Shipped


@dataclass(frozen=True, eq=False)
class SideRows(Shipped):
    """The judgments and excluded pairs of all queries, as sent to executors.

    Attributes
    ----------
    judged, excluded
        Judgments, and pairs to leave out.
    """

    judged: ByQuery
    excluded: ByQuery | None

    @cached_property
    def empty_list(self) -> pl.DataFrame:
        """An empty list with ids of the judgments' types."""
        return self.judged.none().select("query_id", "doc_id", "number")

    def of(self, names: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """Return the judgments and excluded pairs of distinct queries."""
        return self.judged.of(
            names
        ), None if self.excluded is None else self.excluded.of(names)


class ByQuery:
    """Rows of a table grouped by query, in their order within a query.

    Pickled as Arrow bytes, and opened once by each process that looks up rows.

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
        self._offsets = offsets_of(np.bincount(codes, minlength=len(self.queries)))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling."""
        packed = io.BytesIO()
        self._rows.drop("query_id").write_ipc(
            packed, compat_level=pl.CompatLevel.oldest()
        )
        return {
            "names": self.queries.names,
            "offsets": self._offsets,
            "rows": packed.getvalue(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state of :meth:`__getstate__`."""
        self.queries = QueryIndex(state["names"])
        self._offsets = state["offsets"]
        lengths = np.diff(self._offsets)
        ids = self.queries.names.gather(list_numbers(lengths))
        self._rows = pl.read_ipc(io.BytesIO(state["rows"])).insert_column(
            0, ids.alias("query_id")
        )

    def none(self) -> pl.DataFrame:
        """Return a table without rows."""
        return self._rows.clear()

    def of(self, names: pl.Series) -> pl.DataFrame:
        """Return the rows of distinct queries."""
        codes = self.queries.codes(names)
        codes = codes[codes >= 0]
        begins = self._offsets[codes]
        if len(codes) and bool((np.diff(codes) == 1).all()):
            return self._rows[int(begins[0]) : int(self._offsets[codes[-1] + 1])]
        return self._rows[ragged_range(begins, self._offsets[codes + 1] - begins)]
