"""Ranges of query ids, and where to cut so that they hold about as many rows each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.io import Table

__all__ = ["QueryRange", "Survey", "ranges", "survey"]

#: ids that are looked at to find where to cut
_SAMPLE: Final = 200_000
_SEED: Final = 1


@dataclass(frozen=True)
class QueryRange:
    """Query ids from ``low`` on and below ``high``; ``None`` is no bound.

    Texts are ordered by their UTF-8 bytes.  Rows without an id belong to the range without a lower bound,
    where they are found out.
    """

    low: str | int | None = None
    high: str | int | None = None

    def keep(self) -> pl.Expr:
        """Say which rows belong to it."""
        query = pl.col("query_id")
        if self.low is None and self.high is None:
            return pl.lit(True)
        if self.low is None:
            return (query < self.high) | query.is_null()
        return query >= self.low if self.high is None else (query >= self.low) & (query < self.high)

    @property
    def whole(self) -> bool:
        """Whether every id belongs to it."""
        return self.low is None and self.high is None


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over the query ids of a table tells.

    Attributes
    ----------
    rows
        How many there are.
    stretches
        How often a row's query differs from that of the row before: the queries, if none is scattered.
    sample
        Ids of some rows, so many that quantiles are near enough.
    """

    rows: int
    stretches: int
    sample: pl.Series


def survey(table: Table) -> Survey:
    """Look at a table's query ids, without keeping them."""
    rows, stretches, kept = 0, 0, pl.Series("query_id", [], dtype=table.schema["query_id"])
    every = 1  # of the rows, one in so many is in the sample
    for piece in table.tables([pl.col("query_id")]):
        ids = piece["query_id"]
        stretches += int((ids != ids.shift(1)).sum()) + 1
        rows += len(ids)
        kept = kept.append(ids.gather_every(every).drop_nulls())
        while len(kept) > 2 * _SAMPLE:
            kept, every = kept.gather_every(2), 2 * every
    return Survey(rows, stretches, kept)


def ranges(samples: Sequence[pl.Series], count: int) -> list[QueryRange]:
    """Return about ``count`` ranges that hold about as many of the sampled rows each.

    >>> [(one.low, one.high) for one in ranges([pl.Series([1, 2, 3, 4])], 2)]
    [(None, 3), (3, None)]
    """
    ids = pl.concat([sample.sample(min(len(sample), _SAMPLE), seed=_SEED) for sample in samples]).sort()
    if not len(ids):
        return [QueryRange()]
    cuts = ids.gather([len(ids) * at // count for at in range(1, count)]).unique().sort().to_list()
    inner = [cut for cut in cuts if cut > ids[0]]
    return [QueryRange(low, high) for low, high in pairwise([None, *inner, None])]
