"""Cutting a stream of tables between lists, so that every piece holds whole lists only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["Piece", "pieces"]

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
        head = _head(table["query_id"])
        tail = table.height - _tail(table["query_id"]) if head < table.height else head
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
        self._parts: list[pl.DataFrame] = []
        self._rows: list[NDArray[np.int64]] = []
        self._height = 0

    @property
    def is_full(self) -> bool:
        """Whether enough waits: many rows, or views that keep many tables in memory."""
        return self._height > _ROWS or len(self._parts) > _VIEWS

    def add(self, part: pl.DataFrame, first_row: int) -> None:
        if part.height:
            self._parts.append(part)
            self._rows.append(np.arange(first_row, first_row + part.height))
            self._height += part.height

    def pieces(self, *, finished: bool) -> Iterator[Piece]:
        """Yield what is there; unless the stream has finished, the last list waits for more."""
        if not self._parts:
            return
        table, row = pl.concat(self._parts, rechunk=True), np.concatenate(self._rows)
        self._parts, self._rows, self._height = [], [], 0
        stop = table.height
        if not finished:
            stop -= _tail(table["query_id"])
            self._parts, self._rows, self._height = [table[stop:]], [row[stop:]], table.height - stop
        if stop:
            yield Piece(table[:stop], row[:stop])


def _head(ids: pl.Series) -> int:
    """Return how many equal ids the series begins with; looks no further than it must."""
    near = _NEAR
    while True:
        other = (ids[:near] != ids[0]).arg_max() or 0
        if other:
            return other
        if near >= len(ids):
            return len(ids)
        near *= 8


def _tail(ids: pl.Series) -> int:
    """Return how many equal ids the series ends with; looks no further than it must."""
    near = _NEAR
    while True:
        other = (ids[-near:] != ids[-1]).arg_true()
        if len(other):
            return min(near, len(ids)) - 1 - int(other[-1])
        if near >= len(ids):
            return len(ids)
        near *= 8
