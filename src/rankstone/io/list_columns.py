"""Columns of lists: a row is a query, and its cells hold lists of documents, scores and grades.

They are unfolded into a table with a row for each document, piece by piece as they stream, in pieces of about
the same size however long the lists are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import counted, first_true
from rankstone.errors import BadValue, DuplicateRows, InputError, printable
from rankstone.io.advice import Advice
from rankstone.io.column_suggestions import is_id
from rankstone.io.input_table import ROWS, Table, roots_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


#: lists in one piece of a stream, before they are unfolded
LISTS: Final = 1 << 12
#: columns that order documents
_ORDERS: Final = ("score", "rank")
_NUMBERS: Final = (*_ORDERS, "relevance")


def unfolded(table: Table) -> Table:
    """Return a table with a row for each document; one without lists stays as it is.

    Lists in a row belong together item by item; other cells apply to all items of their row.  The order of a
    list is the ranking unless there is a list of scores or ranks.  Queries with an empty list are
    :attr:`~rankstone.io.input_table.Table.unanswered`.

    Raises
    ------
    BadValue
        While reading: a list that is missing, or lists of a row that differ in length.
    """
    table = table.without_empty_records()
    lists = tuple(
        name for name, dtype in table.schema.items() if isinstance(dtype, pl.List)
    )
    if not lists:
        return table
    anchor = next(
        name for name in ("doc_id", *_NUMBERS, *lists) if name in table.schema
    )
    alone = [name for name in _ORDERS if name in table.schema and name not in lists]
    refused = lists if anchor not in lists else alone
    unusable = {name: _mismatch(table, name, anchor) for name in refused}
    schema: dict[str, Any] = {
        name: dtype.inner if isinstance(dtype, pl.List) else dtype
        for name, dtype in table.schema.items()
        if name not in refused
    }
    table = replace(table, unusable={**table.unusable, **unusable})
    if anchor not in lists:
        return replace(table, schema=schema)
    unfolding = Unfolding(table, (anchor, *(name for name in lists if name != anchor)))
    return replace(
        table,
        schema=schema,
        start=unfolding,
        where=unfolding.where,
        listed=not table.unused and not {*schema, *table.unusable} & set(_NUMBERS),
        empty=unfolding.unanswered,
        extent=unfolding.extent,
    )


def _mismatch(table: Table, name: str, anchor: str) -> InputError:
    """Return the error for a column of lists next to single documents, or the other way round."""
    shapes = [
        "a list in each row"
        if isinstance(table.schema[n], pl.List)
        else "one in each row"
        for n in (name, anchor)
    ]
    return InputError(
        f"{name} is {shapes[0]}, but {anchor} is {shapes[1]}",
        where=table.source,
        expected=f"one {name} for each {anchor}: lists in both columns, or in neither",
    )


@dataclass(eq=False)
class Unfolding:
    """Unfolds a table's rows, and records which lists were empty."""

    table: Table
    lists: tuple[str, ...]
    #: True if a query may have one list only
    single: bool = False
    _empty: pl.Series | None = None
    _read: tuple[int, int] = field(default=(0, 0))

    def among(self, keep: pl.Expr) -> Unfolding:
        """Return the same for the rows for which an expression over ``query_id`` is true."""
        return Unfolding(self.table.only(keep), self.lists, self.single)

    def __call__(self, wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        """Restart the stream; each piece has the given columns."""
        roots = roots_of(wanted)
        names = [name for name in self.lists if name in roots] or [self.lists[0]]
        needed = [
            n for n in self.table.schema if n in roots or n in names or n == "query_id"
        ]
        empty = list[pl.Series]()
        lists = 0
        rows = 0
        seen: dict[object, int] = {}
        for piece in self.table.start([pl.col(name) for name in needed]):
            lengths = self._lengths(piece, names, lists)
            if self.single and "query_id" in needed:
                self._refuse_second(seen, piece["query_id"], lists)
            if "query_id" in needed:
                empty.append(piece["query_id"].filter(lengths == 0))
            lists = lists + piece.height
            rows = rows + int(lengths.sum())
            self._read = lists, rows
            for part in _cut(piece.filter(lengths > 0), lengths.filter(lengths > 0)):
                yield part.explode(names).select(wanted)
        if empty:
            self._empty = pl.concat(empty)

    def _refuse_second(self, seen: dict[object, int], ids: pl.Series, row: int) -> None:
        """Refuse a second list of a query; ``seen`` has the row of each query so far."""
        for at, query in enumerate(ids.to_list(), row):
            if seen.setdefault(query, at) != at:
                error = DuplicateRows(
                    f"query {printable(query)} has two lists",
                    where=self.table.locate(at),
                    given=f"the first at {self.table.locate(seen[query])}",
                    expected="one list for each query",
                    fix="give each row an id of its own",
                )
                names = [name for name in self.table.present if is_id(name)]
                raise error.proposing(*(Advice({name: "query_id"}) for name in names))

    def _lengths(
        self, piece: pl.DataFrame, names: Sequence[str], row: int
    ) -> pl.Series:
        """Return the lengths of a piece's lists; refuse missing lists, and lists of different lengths."""
        for name in (name for name in ("query_id", *names) if name in piece.columns):
            if piece[name].null_count():
                at = first_true(piece[name].is_null())
                raise BadValue(
                    f"a row without {name}",
                    where=self.table.locate(row + at),
                    expected="an id"
                    if name == "query_id"
                    else "a list, [] where nothing was retrieved",
                    fix="repair or remove the row",
                )
        lengths = [piece[name].list.len() for name in names]
        for name, other in zip(names[1:], lengths[1:], strict=True):
            different = other != lengths[0]
            if different.any():
                at = first_true(different)
                query = (
                    f"query {printable(piece['query_id'][at])}, "
                    if "query_id" in piece.columns
                    else ""
                )
                raise BadValue(
                    f"{names[0]} and {name} are lists of different lengths",
                    where=self.table.locate(row + at),
                    given=f"{query}{lengths[0][at]} and {counted(int(other[at]), 'item')}",
                    expected=f"one {name} for each {names[0]}",
                )
        return lengths[0]

    def where(self, row: int) -> str:
        """Return the place of a document for messages: the row of its list, and its index there."""
        lists = 0
        for piece in self.table.tables([pl.col(self.lists[0]).list.len()]):
            ends = piece.to_series().fill_null(0).cast(pl.Int64).to_numpy().cumsum()
            if len(ends) and row < ends[-1]:
                at = int(np.searchsorted(ends, row, side="right"))
                item = row - (int(ends[at - 1]) if at else 0)
                return f"{self.table.locate(lists + at)}, item {item + 1}"
            lists = lists + len(ends)
            row = row - (int(ends[-1]) if len(ends) else 0)
        return self.table.source

    def unanswered(self) -> pl.Series | None:
        """Return the queries with an empty list; read the stream if this has not been done."""
        if self._empty is None and "query_id" in self.table.schema:
            for _ in self([pl.col("query_id")]):
                pass
        return (
            None
            if self._empty is None or not len(self._empty)
            else self._empty.unique()
        )

    def extent(self) -> int | None:
        """Estimate the number of documents from the lengths of the lists so far."""
        every, (lists, rows) = self.table.extent(), self._read
        return None if every is None or not lists else round(every * rows / lists)


def _cut(piece: pl.DataFrame, lengths: pl.Series) -> Iterator[pl.DataFrame]:
    """Cut lists into pieces that unfold to at most the rows of any piece of a stream; a list stays whole."""
    ends = lengths.cast(pl.Int64).to_numpy().cumsum()
    begin = 0
    while begin < piece.height:
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + ROWS, side="right")))
        yield piece[begin:end]
        begin = end


def fields_of_items(
    dtype: pl.DataType,
) -> Iterator[tuple[tuple[str, ...], pl.DataType, pl.Expr]]:
    """Yield path, type and values of every field of the objects in a list, and in lists within these."""
    for path, kind in leaves(dtype):
        value = field_of(pl.element(), path)
        if not isinstance(kind, pl.List):
            yield path, kind, value
        else:
            each = value.explode(empty_as_null=False, keep_nulls=False)
            for inner, leaf in (((), kind.inner), *leaves(kind.inner)):  # type: ignore[arg-type]
                yield (*path, *inner), leaf, field_of(each, inner)  # type: ignore[misc] # an instance
            place = pl.int_range(1, pl.len() + 1).repeat_by(
                value.list.len().fill_null(0)
            )
            yield (*path, "call"), pl.Int64(), place.explode(empty_as_null=False)


def leaves(dtype: pl.DataType) -> Iterator[tuple[tuple[str, ...], pl.DataType]]:
    """Yield the path and the type of every field of an object, and of the objects in it."""
    for one in dtype.fields if isinstance(dtype, pl.Struct) else ():
        yield (one.name,), one.dtype  # type: ignore[misc] # an instance
        yield from (((one.name, *path), kind) for path, kind in leaves(one.dtype))  # type: ignore[arg-type]


def field_of(value: pl.Expr, path: Sequence[str]) -> pl.Expr:
    """Return a field of objects, by the names that lead to it."""
    for name in path:
        value = value.struct.field(name)
    return value
