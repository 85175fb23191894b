"""Whole lists as arrays of small whole numbers, one for each item, and the numbering of ids.

The lists of users (or queries) follow one another; rows ``offsets[u]`` … ``offsets[u + 1] - 1`` are list
``u`` in rank order.  Measures of whole lists read this and tables, never ids.
"""

from __future__ import annotations

from dataclasses import field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.hits.list_arrays import offsets_of, ragged_range, spans, sums
from rankstone.hits.remembering import Remembering
from rankstone.hits.trace import Traced
from rankstone.rankings.rank_similarity.ranked_lists import ListsByQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints
    from rankstone.hits.trace import Trace

    Numbers = NDArray[np.uint32]

#: the number of marks without one
_NONE: Final = np.uint32(2**32 - 1)


def sums_by_item(item: Numbers, values: Floats, items: int) -> Floats:
    """Sum values by item, in the order of rows, float64 ``[items]``."""
    return np.asarray(np.bincount(item, values, items), np.float64)


class Codes:
    """Numbers distinct ids from 0 in the order of their first occurrence, and returns ids for numbers.

    Ids are compared as text: 7 and "7" are one id.  Threads read ids in any order, so they first get marks
    (:meth:`categories`); marks get numbers when their order is known (:meth:`of`), by one thread at a time.

    >>> codes = Codes()
    >>> codes.of(pl.Series(["a", "b", "a"])).tolist()
    [0, 1, 0]
    >>> codes.ids(np.array([1], np.uint32)).to_list(), len(codes)
    (['b'], 2)
    """

    def __init__(self) -> None:
        self._kind = pl.Categorical(pl.Categories.random())
        # marks exist as long as a column that uses them
        self._column = pl.Series([], dtype=self._kind)
        self._number: Numbers = np.empty(0, np.uint32)
        self._mark: Numbers = np.empty(0, np.uint32)
        self._lock = Lock()

    def column(self, name: str) -> pl.Expr:
        """Return the expression that marks a column of ids while a table is read."""
        return pl.col(name).cast(pl.String).cast(self._kind)

    def categories(self, ids: pl.Series) -> pl.Series:
        """Return ids as categories, in any thread; earlier ids get smaller marks."""
        if ids.dtype == self._kind:
            return ids
        return ids.cast(pl.String).cast(self._kind)

    def of(self, ids: pl.Series) -> Numbers:
        """Return the number of each id, uint32; new ids get the next ones, in order."""
        marks: Numbers = self.categories(ids).to_physical().to_numpy()
        with self._lock:
            more = int(marks.max(initial=0)) + 1 - len(self._number)
            if more > 0:
                self._number = np.append(self._number, np.full(more, _NONE))
            fresh = marks[self._number[marks] == _NONE]
            if len(fresh):
                place = np.arange(len(fresh))
                first = np.empty(len(self._number), np.int64)
                # of a mark that occurs several times, the last one written stays
                first[fresh[::-1]] = place[::-1]
                new = fresh[first[fresh] == place]
                self._number[new] = np.arange(len(self), len(self) + len(new))
                self._mark = np.append(self._mark, new)
            return self._number[marks]

    def of_runs(self, ids: pl.Series) -> Numbers:
        """Return the number of each id; fast where equal ids are contiguous."""
        runs = ids.rle().struct.unnest()
        return np.repeat(self.of(runs["value"]), runs["len"].to_numpy())

    def ids(self, numbers: Numbers) -> pl.Series:
        """Return the ids of numbers, as text."""
        marks = pl.Series(self._mark[numbers], dtype=pl.UInt32)
        return marks.cat.to(self._kind).cast(pl.String)

    def __len__(self) -> int:
        return len(self._mark)


#: rows of one chunk, which fit into the processor's cache
_ROWS: Final = 1 << 17


class ListFrame(ListsByQuery, Remembering, Traced, Record):
    """The lists of one run.

    Attributes
    ----------
    names
        The user of each list.
    user
        uint32 ``[lists]``: the numbers of these users.
    offsets
        int64 ``[lists + 1]``: rows of list ``u`` are ``offsets[u]:offsets[u + 1]``.
    item
        uint32 ``[rows]``: the number of the item at each rank.
    trace
        The trace in which measures record their terms; ``None`` without one.

    Examples
    --------
    >>> import polars as pl
    >>> names, none = pl.Series(["u1", "u2"]), np.array([0, 1], np.uint32)
    >>> frame = ListFrame(names, none, np.array([0, 2, 3]), np.array([4, 0, 4], np.uint32))
    >>> frame.rank.tolist(), frame.query.tolist(), frame.down_to(1).counts(5).tolist()
    ([1, 2, 1], [0, 0, 1], [0, 0, 0, 0, 2])
    """

    names: pl.Series
    user: Numbers
    offsets: Ints
    item: Numbers
    trace: Trace | None = field(default=None, repr=False)
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def empty(cls) -> ListFrame:
        """Return a frame without lists."""
        none = np.empty(0, np.uint32)
        return cls(pl.Series([], dtype=pl.String), none, np.zeros(1, np.int64), none)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def down_to(self, k: int | None) -> ListFrame:
        """Return the lists cut to their first ``k`` items."""
        if k is None or int(self.n.max(initial=0)) <= k:
            return self
        return self.remember(("down to", k), lambda: self._down_to(k))

    def _down_to(self, k: int) -> ListFrame:
        lengths = np.minimum(self.n, k)
        rows = ragged_range(self.offsets[:-1], lengths)
        offsets = offsets_of(lengths)
        return ListFrame(self.names, self.user, offsets, self.item[rows], self.trace)

    def chunks(self) -> Iterator[ListFrame]:
        """Yield the lists in order, as views of about as many rows as fit into a cache."""
        for begin, end in spans(self.offsets, _ROWS):
            yield self.part(begin, end)

    def part(self, begin: int, end: int) -> ListFrame:
        """Return lists ``begin`` … ``end - 1``."""
        first = self.offsets[begin]
        last = self.offsets[end]
        offsets = self.offsets[begin : end + 1] - first
        return ListFrame(
            self.names[begin:end], self.user[begin:end], offsets, self.item[first:last]
        )

    # -- sums --------------------------------------------------------------------------------------
    def total(self, values: Floats) -> Floats:
        """Sum within each list, strictly in rank order, float64 ``[lists]``."""
        return sums(self.query, values, len(self))

    def counts(self, items: int) -> Ints:
        """Count the lists that hold each item, int64 ``[items]``."""

        def count() -> Ints:
            lists = np.zeros(items, np.int64)
            for start in range(0, len(self.item), _ROWS):
                lists += np.bincount(self.item[start : start + _ROWS], minlength=items)
            return lists

        return self.remember(("counts", items), count)

    def exposure(self, items: int, weight: Callable[[Ints], Floats]) -> Floats:
        """Sum the attention of the ranks of each item, float64 ``[items]``.

        Parameters
        ----------
        items
            The number of items.
        weight
            The attention of ranks.
        """
        table = weight(np.arange(1, int(self.n.max(initial=0)) + 1))
        return self.by_item(items, lambda part: table[part.rank - 1])

    def by_item(self, items: int, values: Callable[[ListFrame], Floats]) -> Floats:
        """Sum the values of the rows of each item, float64 ``[items]``.

        Parameters
        ----------
        items
            The number of items.
        values
            Returns the values of the rows of a chunk.
        """
        amount = np.zeros(items)
        for part in self.chunks():
            amount += sums_by_item(part.item, values(part), items)
        return amount
