"""Impressions, counted: so many times a pair was shown there and had this value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.behaviour.clicking.log import portions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankstone.behaviour.clicking.lists import Lists
    from rankstone.behaviour.clicking.log import Log, Survey

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

__all__ = ["Cells", "cells", "counted_rows", "positions"]

_PAIR: Final = ["query_id", "doc_id"]
#: cells that are made at a time
_AT_ONCE: Final = 5_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of some pairs, in the order of query, document, position, value, propensity.

    Attributes
    ----------
    pairs
        ``query_id`` and ``doc_id``.
    pair
        The place of each cell's pair.
    count
        Impressions.
    value
        What a click there was worth, from 0 to 1.
    position, propensity
        Where it was shown, and the chance that it was looked at; ``None`` where nobody asks.
    """

    pairs: pl.DataFrame
    pair: Whole
    count: Floats
    value: Floats
    position: Whole | None = None
    propensity: Floats | None = None

    def total(self, of_cells: Floats) -> Floats:
        """Add up over the cells of each pair, from the first to the last."""
        return np.bincount(self.pair, of_cells, minlength=self.pairs.height).astype(np.float64, copy=False)


def counted_rows(log: Log, lists: Lists | None, policy: str, *, fractional: bool) -> pl.LazyFrame:
    """Return the rows that count, with ``value``; without the lists that are left out."""
    value = pl.col("clicked") if fractional else (pl.col("clicked") > 0).cast(pl.Float64)
    rows = log.rows.with_columns(value=value)
    if lists is None or policy != "drop" or not lists.bad.height:
        return rows
    return rows.join(lists.bad.lazy(), on=lists.bad.columns, how="anti")


def cells(log: Log, rows: pl.LazyFrame, found: Survey, further: Sequence[str]) -> Iterator[Cells]:
    """Count rows by pair, value and ``further`` columns, some queries at a time."""
    keys = [*_PAIR, *(name for name in ("position",) if name in further), "value"]
    keys += [name for name in ("propensity",) if name in further]
    for portion in portions("query_id", found.cells, _AT_ONCE):
        frame = log.events.collect(rows.filter(portion).group_by(keys).agg(count=pl.len())).sort(keys)
        if frame.height:
            yield _made(frame)


def _made(frame: pl.DataFrame) -> Cells:
    changes = pl.any_horizontal(pl.col(name) != pl.col(name).shift() for name in _PAIR).fill_null(value=True)
    begins = frame.select(changes).to_series()
    return Cells(
        pairs=frame.filter(begins).select(_PAIR),
        pair=np.cumsum(begins.to_numpy()) - 1,
        count=frame["count"].cast(pl.Float64).to_numpy(),
        value=frame["value"].to_numpy(),
        position=frame["position"].to_numpy() if "position" in frame.columns else None,
        propensity=frame["propensity"].to_numpy() if "propensity" in frame.columns else None,
    )


def positions(log: Log, rows: pl.LazyFrame) -> pl.DataFrame:
    """Return impressions and clicks by position; no row where the log tells no positions."""
    if "position" not in log.has:
        return pl.DataFrame(schema={"position": pl.Int64, "impressions": pl.Int64, "clicks": pl.Int64})
    by_position = rows.group_by("position").agg(
        pl.len().cast(pl.Int64).alias("impressions"),
        (pl.col("clicked") > 0).sum().cast(pl.Int64).alias("clicks"),
    )
    return log.events.collect(by_position).sort("position")
