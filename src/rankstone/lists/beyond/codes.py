"""Ids as small whole numbers, so that everything after reading is arithmetic on arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone.hits.arrays import Floats

    Numbers = NDArray[np.uint32]

__all__ = ["Codes", "sums_by_item"]


def sums_by_item(item: Numbers, values: Floats, items: int) -> Floats:
    """Sum values by item, in the order of rows, float64 ``[items]``."""
    return np.asarray(np.bincount(item, values, items), np.float64)


class Codes:
    """Numbers the distinct ids of one kind from 0 up, in any thread, and gives the ids back.

    Ids are compared as text: 7 and "7" are one id.

    >>> codes = Codes()
    >>> codes.of(pl.Series(["a", "b", "a"])).tolist()
    [0, 1, 0]
    >>> codes.ids(np.array([1], np.uint32)).to_list(), len(codes)
    (['b'], 2)
    """

    def __init__(self) -> None:
        self._kind = pl.Categorical(pl.Categories.random())
        # the numbering lives as long as a column that uses it
        self._column = pl.Series([], dtype=self._kind)
        self._tops: list[int] = []

    def column(self, name: str) -> pl.Expr:
        """Return the expression that numbers a column of ids while a table is read."""
        return pl.col(name).cast(pl.String).cast(self._kind)

    def of(self, ids: pl.Series) -> Numbers:
        """Return the number of each id, uint32; new ids receive the next ones."""
        known = ids if ids.dtype == self._kind else ids.cast(pl.String).cast(self._kind)
        numbers: Numbers = known.to_physical().to_numpy()
        if len(numbers):
            self._tops.append(int(numbers.max()))  # appending is safe in any thread
        return numbers

    def of_runs(self, ids: pl.Series) -> Numbers:
        """Return the number of each id; quick where equal ids stand together."""
        runs = ids.rle().struct.unnest()
        return np.repeat(self.of(runs["value"]), runs["len"].to_numpy())

    def ids(self, numbers: Numbers) -> pl.Series:
        """Return the ids behind some numbers, as text."""
        return pl.Series(numbers, dtype=pl.UInt32).cat.to(self._kind).cast(pl.String)

    def __len__(self) -> int:
        return max(self._tops, default=-1) + 1
