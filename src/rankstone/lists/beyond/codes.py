"""Ids as small whole numbers, so that everything after reading is arithmetic on arrays."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone.hits.arrays import Floats

    Numbers = NDArray[np.uint32]

__all__ = ["Codes", "sums_by_item"]

#: of a mark that has no number yet
_NONE: Final = np.uint32(2**32 - 1)


def sums_by_item(item: Numbers, values: Floats, items: int) -> Floats:
    """Sum values by item, in the order of rows, float64 ``[items]``."""
    return np.asarray(np.bincount(item, values, items), np.float64)


class Codes:
    """Numbers the distinct ids of one kind from 0 up, in the order in which they stand, and gives them back.

    Ids are compared as text: 7 and "7" are one id.  Threads that read meet ids in any order, so they give
    them marks (:meth:`marks`); numbers are given to marks when all stand in their order (:meth:`numbered`),
    by one thread at a time.

    >>> codes = Codes()
    >>> codes.of(pl.Series(["a", "b", "a"])).tolist()
    [0, 1, 0]
    >>> codes.ids(np.array([1], np.uint32)).to_list(), len(codes)
    (['b'], 2)
    """

    def __init__(self) -> None:
        self._kind = pl.Categorical(pl.Categories.random())
        # the marks live as long as a column that uses them
        self._column = pl.Series([], dtype=self._kind)
        self._number: Numbers = np.empty(0, np.uint32)
        self._mark: Numbers = np.empty(0, np.uint32)
        self._lock = Lock()

    def column(self, name: str) -> pl.Expr:
        """Return the expression that marks a column of ids while a table is read."""
        return pl.col(name).cast(pl.String).cast(self._kind)

    def marks(self, ids: pl.Series) -> Numbers:
        """Return the mark of each id, uint32, in any thread; who comes first gets the least."""
        known = ids if ids.dtype == self._kind else ids.cast(pl.String).cast(self._kind)
        found: Numbers = known.to_physical().to_numpy()
        return found

    def numbered(self, marks: Numbers) -> Numbers:
        """Return the number of each mark, uint32; new ones receive the next, in their order."""
        with self._lock:
            more = int(marks.max(initial=0)) + 1 - len(self._number)
            if more > 0:
                self._number = np.append(self._number, np.full(more, _NONE))
            fresh = marks[self._number[marks] == _NONE]
            if len(fresh):
                place = np.arange(len(fresh))
                first = np.empty(len(self._number), np.int64)
                # of a mark that stands several times, the last one written stays
                first[fresh[::-1]] = place[::-1]
                new = fresh[first[fresh] == place]
                self._number[new] = np.arange(len(self), len(self) + len(new))
                self._mark = np.append(self._mark, new)
            return self._number[marks]

    def of(self, ids: pl.Series) -> Numbers:
        """Return the number of each id, uint32; new ids receive the next ones."""
        return self.numbered(self.marks(ids))

    def of_runs(self, ids: pl.Series) -> Numbers:
        """Return the number of each id; quick where equal ids stand together."""
        runs = ids.rle().struct.unnest()
        return np.repeat(self.of(runs["value"]), runs["len"].to_numpy())

    def ids(self, numbers: Numbers) -> pl.Series:
        """Return the ids behind some numbers, as text."""
        return self.marked(self._mark[numbers])

    def marked(self, marks: Numbers) -> pl.Series:
        """Return the ids behind some marks, as text."""
        return pl.Series(marks, dtype=pl.UInt32).cat.to(self._kind).cast(pl.String)

    def __len__(self) -> int:
        return len(self._mark)
