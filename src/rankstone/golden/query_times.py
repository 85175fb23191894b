"""When the queries of a golden set were asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.io.column_suggestions import time_among

if TYPE_CHECKING:
    import polars as pl

    from rankstone._basics import Columns
    from rankstone.io.golden_sets import GoldenSet


def query_times(golden: GoldenSet, columns: Columns | None) -> pl.Series | None:
    """Return the times of the queries in their order; ``None`` without a key of times."""
    attributes = golden.attributes
    key = time_among(attributes.columns, columns or {})
    return None if key is None else attributes[key]
