"""Cutting a stream of tables between lists, so that every piece holds whole lists only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray


#: rows, and views into tables, that may wait for the other halves of their lists
_ROWS: Final = 1 << 17
_VIEWS: Final = 8
#: where the search for a list's end begins
_NEAR: Final = 1 << 10


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows of whole lists, cut from the stream.

    Attributes
    ----------
    table
        The rows.
    rows
        Their numbers in the stream; just the first where they follow one another.
    """

    table: pl.DataFrame
    rows: NDArray[np.int64] | int

    def row(self, at: int) -> int:
        """Return the number in the stream of the piece's row ``at``."""
        return self.rows + at if isinstance(self.rows, int) else int(self.rows[at])


def pieces(tables: Iterable[pl.DataFrame]) -> Iterator[Piece]:
    """Re-cut a stream of tables so that none ends inside a list.

    Lists that lie inside one table are handed on as views.  The first and the last list of a table
    may go on in others: they are put together and gathered until they make a piece of their own.
    """
    gathered = _Gathered()
    row = 0
    for table in tables:
        if not table.height:
            continue
        head = head_of(table["query_id"])
        tail = table.height - tail_of(table["query_id"]) if head < table.height else head
        gathered.add(table[:head], row)
        if head < tail:
            yield Piece(table[head:tail], row + head)
        if gathered.is_full:
            yield from gathered.pieces(finished=False)
        gathered.add(table[tail:], row + tail)
        row += table.height
    yield from gathered.pieces(finished=True)


class _Gathered:
    """First and last lists of tables, waiting for their other halves."""

    def __init__(self) -> None:
        self._whole: list[_Part] = []
        self._open: list[_Part] = []

    @property
    def is_full(self) -> bool:
        """Whether enough waits: many rows, or views that keep many tables in memory."""
        return len(self._whole) > _VIEWS or sum(len(part.rows) for part in self._whole) > _ROWS

    def add(self, table: pl.DataFrame, first_row: int) -> None:
        """Add rows of one list, which may go on with the list of the rows before."""
        if not table.height:
            return
        query = table["query_id"][0]
        if self._open and self._open[-1].query != query:
            self._whole += self._open
            self._open = []
        self._open.append(_Part(query, table, range(first_row, first_row + table.height)))

    def pieces(self, *, finished: bool) -> Iterator[Piece]:
        """Yield what is there; unless the stream has finished, the last list waits for more."""
        parts = self._whole + self._open if finished else self._whole
        if parts:
            table = pl.concat([part.table for part in parts], rechunk=True)
            yield Piece(table, _numbers([part.rows for part in parts]))
        self._whole = []


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows of one list: their query, a view into their table, their numbers."""

    query: object
    table: pl.DataFrame
    rows: range


def _numbers(rows: list[range]) -> NDArray[np.int64] | int:
    """Return row numbers, just the first where they follow one another."""
    if all(part.stop == after.start for part, after in pairwise(rows)):
        return rows[0].start
    return np.concatenate([np.arange(part.start, part.stop) for part in rows])


def head_of(ids: pl.Series) -> int:
    """Return how many equal ids the series begins with; looks no further than it must."""
    near = _NEAR
    while True:
        other = ids[:near].ne_missing(ids[0]).arg_max() or 0
        if other:
            return other
        if near >= len(ids):
            return len(ids)
        near *= 8


def tail_of(ids: pl.Series) -> int:
    """Return how many equal ids the series ends with; looks no further than it must."""
    near = _NEAR
    while True:
        other = ids[-near:].ne_missing(ids[-1]).arg_true()
        if len(other):
            return min(near, len(ids)) - 1 - int(other[-1])
        if near >= len(ids):
            return len(ids)
        near *= 8
