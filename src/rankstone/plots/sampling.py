"""Which queries are shown where there are too many to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST", "thinned"]

#: queries that are all shown
MOST: Final = 10_000
_ENDS: Final = 500
_EVENLY: Final = 1_000


def thinned(rows: pl.DataFrame, most: int = MOST) -> pl.DataFrame:
    """Return all rows where there are few; else the ends, and rows at even steps between them.

    Parameters
    ----------
    rows
        A row a query, in the order of their ``difference``.
    most
        So many are all shown.

    >>> import polars as pl
    >>> len(thinned(pl.DataFrame({"difference": np.arange(20_000.0)})))
    2000
    """
    if rows.height <= most:
        return rows
    ends, evenly = min(_ENDS, most // 4), min(_EVENLY, most // 2)
    middle = np.linspace(ends, rows.height - ends - 1, evenly).round()
    places = np.concatenate([np.arange(ends), middle, np.arange(rows.height - ends, rows.height)])
    return rows[np.unique(places.astype(np.int64))]
