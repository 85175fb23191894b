"""The two lists of one query, rank by rank."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import EmptyInput
from rankstone.lists.pairing import hold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone.hits.options import Alignment
    from rankstone.io import Table

__all__ = ["beside", "only"]


def beside(query: str, a: tuple[Table, Alignment], b: tuple[Table, Alignment]) -> pl.DataFrame:
    """Return both lists of a query; see :meth:`rankstone.lists.result.Similarity.side_by_side`."""
    first, second = (_one_list(query, *run) for run in (a, b))
    to = first.join(second, on="doc", how="left", maintain_order="left")["rank_right"]
    back = second.join(first, on="doc", how="left", maintain_order="left")["rank_right"]
    left = first.select("rank", a="doc", a_to=to, a_tied="tied")
    right = second.select("rank", b="doc", b_from=back, b_tied="tied")
    return left.join(right, on="rank", how="full", coalesce=True).sort("rank")


def _one_list(query: str, table: Table, options: Alignment) -> pl.DataFrame:
    """Return ``rank``, ``doc`` and ``tied`` of one query, no row where the run does not answer it."""
    try:
        held = hold(only(table, query), options)
    except EmptyInput:
        return pl.DataFrame(schema={"rank": pl.Int64(), "doc": table.schema["doc_id"], "tied": pl.Boolean()})
    ranked = held.ranked
    rank = np.arange(1, len(held.docs) + 1)
    return pl.DataFrame({"rank": rank, "doc": held.docs, "tied": ranked.first < ranked.last})


def only(table: Table, query: str) -> Table:
    """Return the rows of one query."""
    start = table.start

    def chosen(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for piece in start([pl.col(name) for name in table.schema]):
            yield piece.filter(pl.col("query_id").cast(pl.String) == query).select(columns)

    return replace(table, start=chosen)
