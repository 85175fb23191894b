"""Lists in columns, unfolded: a row is a query, and its cells hold its documents, their scores, their grades.

What comes out is the table that has a row for each document.  Whole rows are never held back: a piece is
unfolded when it passes by, and cut so that few long lists are no larger than many short ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import BadValue, InputError, printable
from rankstone.io.input_table import ROWS, Table, roots_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


#: lists of one piece of a stream, before they are unfolded
LISTS: Final = 1 << 12
#: what each document of a list has one of
_ORDERS: Final = ("score", "rank")
_NUMBERS: Final = (*_ORDERS, "relevance")


def unfolded(table: Table) -> Table:
    """Return a table whose rows are documents; one without lists stays as it is.

    Lists of a row belong together, item by item; a cell beside them counts for all items of its row.  The
    order of a list is the ranking unless there is a list of scores or ranks.  Queries with an empty list
    are :attr:`~rankstone.io.input_table.Table.unanswered`.

    Raises
    ------
    BadValue
        While reading: a list that is missing, or lists of a row that differ in length.
    """
    lists = tuple(name for name, dtype in table.schema.items() if isinstance(dtype, pl.List))
    if not lists:
        return table
    anchor = next(name for name in ("doc_id", *_NUMBERS, *lists) if name in table.schema)
    alone = [name for name in _ORDERS if name in table.schema and name not in lists]
    refused = lists if anchor not in lists else alone
    unusable = {name: _unlike(table, name, anchor) for name in refused}
    schema: dict[str, Any] = {
        name: dtype.inner if isinstance(dtype, pl.List) else dtype
        for name, dtype in table.schema.items()
        if name not in refused
    }
    table = replace(table, unusable={**table.unusable, **unusable})
    if anchor not in lists:
        return replace(table, schema=schema)
    flow = _Unfolding(table, (anchor, *(name for name in lists if name != anchor)))
    return replace(
        table,
        schema=schema,
        start=flow,
        where=flow.where,
        listed=not {*schema, *table.unusable} & set(_NUMBERS),
        empty=flow.unanswered,
        extent=flow.extent,
    )


def _unlike(table: Table, name: str, anchor: str) -> InputError:
    """Return the error for a column of lists beside single documents, or the other way round."""
    told = ["a list a row" if isinstance(table.schema[n], pl.List) else "one a row" for n in (name, anchor)]
    return InputError(
        f"{name} is {told[0]}, and {anchor} {told[1]}",
        where=table.source,
        expected=f"one {name} for each {anchor}: lists in both columns, or in neither",
    )


@dataclass(eq=False)
class _Unfolding:
    """Unfolds a table's rows, and remembers which lists were empty."""

    table: Table
    lists: tuple[str, ...]
    _empty: pl.Series | None = None
    _seen: tuple[int, int] = field(default=(0, 0))

    def among(self, keep: pl.Expr) -> _Unfolding:
        """Return what unfolds only the rows for which an expression over ``query_id`` is true."""
        return _Unfolding(self.table.only(keep), self.lists)

    def __call__(self, wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        """Start the stream anew; each piece has the given columns."""
        roots = roots_of(wanted)
        asked = [name for name in self.lists if name in roots] or [self.lists[0]]
        needed = [n for n in self.table.schema if n in roots or n in asked or n == "query_id"]
        empty, lists, rows = list[pl.Series](), 0, 0
        for piece in self.table.start([pl.col(name) for name in needed]):
            lengths = self._lengths(piece, asked, lists)
            if "query_id" in needed:
                empty.append(piece["query_id"].filter(lengths == 0))
            lists, rows = lists + piece.height, rows + int(lengths.sum())
            self._seen = lists, rows
            for part in _cut(piece.filter(lengths > 0), lengths.filter(lengths > 0)):
                yield part.explode(asked).select(wanted)
        if empty:
            self._empty = pl.concat(empty)

    def _lengths(self, piece: pl.DataFrame, asked: Sequence[str], row: int) -> pl.Series:
        """Return how long the lists of a piece are; refuse rows without lists, and lists that do not fit."""
        for name in (name for name in ("query_id", *asked) if name in piece.columns):
            if piece[name].null_count():
                at = piece[name].is_null().arg_max() or 0
                raise BadValue(
                    f"a row without {name}",
                    where=self.table.locate(row + at),
                    expected="an id" if name == "query_id" else "a list, [] where nothing was found",
                    fix="repair or remove the row",
                )
        lengths = [piece[name].list.len() for name in asked]
        for name, other in zip(asked[1:], lengths[1:], strict=True):
            unlike = other != lengths[0]
            if unlike.any():
                at = unlike.arg_max() or 0
                query = f"query {printable(piece['query_id'][at])}, " if "query_id" in piece.columns else ""
                raise BadValue(
                    f"{asked[0]} and {name} are lists of different lengths",
                    where=self.table.locate(row + at),
                    given=f"{query}{lengths[0][at]} and {other[at]} items",
                    expected=f"one {name} for each {asked[0]}",
                )
        return lengths[0]

    def where(self, row: int) -> str:
        """Say where a row stands: the row of its list, and its place there."""
        lists = 0
        for piece in self.table.tables([pl.col(self.lists[0]).list.len()]):
            ends = piece.to_series().fill_null(0).cast(pl.Int64).to_numpy().cumsum()
            if len(ends) and row < ends[-1]:
                at = int(np.searchsorted(ends, row, side="right"))
                item = row - (int(ends[at - 1]) if at else 0)
                return f"{self.table.locate(lists + at)}, item {item + 1}"
            lists, row = lists + len(ends), row - (int(ends[-1]) if len(ends) else 0)
        return self.table.source

    def unanswered(self) -> pl.Series | None:
        """Return the queries with an empty list, once or again read to the end."""
        if self._empty is None and "query_id" in self.table.schema:
            for _ in self([pl.col("query_id")]):
                pass
        return None if self._empty is None or not len(self._empty) else self._empty.unique()

    def extent(self) -> int | None:
        """Return about how many rows there will be, from the length of the lists so far."""
        every, (lists, rows) = self.table.extent(), self._seen
        return None if every is None or not lists else round(every * rows / lists)


def _cut(piece: pl.DataFrame, lengths: pl.Series) -> Iterator[pl.DataFrame]:
    """Cut lists into pieces that unfold to no more rows than a piece of any stream; a list stays whole."""
    ends = lengths.cast(pl.Int64).to_numpy().cumsum()
    begin = 0
    while begin < piece.height:
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + ROWS, side="right")))
        yield piece[begin:end]
        begin = end
