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
from rankstone.io.input_table import ROWS, Table, roots_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


#: lists in one piece of a stream, before they are unfolded
LISTS: Final = 1 << 12
#: columns that order documents
_ORDERS: Final = ("score", "rank")
_NUMBERS: Final = (*_ORDERS, "relevance")
#: columns by which the lists of a query are steps of an agent
_STEPS: Final = ("turn", "call")


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
    given = table.schema
    lists = [name for name, dtype in given.items() if dtype == pl.List]
    if not lists:
        return table
    anchor = next(name for name in ("doc_id", *_NUMBERS, *lists) if name in given)
    has_documents = anchor in lists
    single_orders = [n for n in _ORDERS if n in given and n not in lists]
    refused = single_orders if has_documents else lists
    unusable = {name: _mismatch(table, name, anchor) for name in refused}
    schema: dict[str, Any] = {
        name: dtype.inner if isinstance(dtype, pl.List) else dtype
        for name, dtype in given.items()
        if name not in refused
    }
    table = replace(table, unusable={**table.unusable, **unusable})
    if not has_documents:
        return replace(table, schema=schema)
    unfolding = Unfolding(table, tuple(dict.fromkeys((anchor, *lists))))
    numbers = {*schema, *table.unusable}.intersection(_NUMBERS)
    return replace(
        table,
        schema=schema,
        start=unfolding,
        where=unfolding.where,
        listed=not table.unused and not numbers,
        empty=unfolding.unanswered,
        extent=unfolding.extent,
    )


def _mismatch(table: Table, name: str, anchor: str) -> InputError:
    """Return the error for a column of lists next to single documents, or the other way round."""
    is_list = table.schema[name] == pl.List
    single, several = "one in each row", "a list in each row"
    own, other = (several, single) if is_list else (single, several)
    return InputError(
        f"{name} is {own}, but {anchor} is {other}",
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
        return replace(self, table=self.table.only(keep), _empty=None, _read=(0, 0))

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
        seen = list[pl.Series]()
        for piece in self.table.start([pl.col(name) for name in needed]):
            lengths = self._lengths(piece, names, lists)
            if "query_id" in needed:
                queries = piece["query_id"]
                if self.single:
                    # those beside each other now, as documents of both may be refused
                    hashes = queries.hash()
                    last = [part[-1:] for part in seen[-1:]]
                    self._refuse_second([*last, hashes])
                    seen.append(hashes)
                empty.append(queries.filter(lengths == 0))
            lists += piece.height
            rows += int(lengths.sum())
            self._read = lists, rows
            has_items = lengths > 0
            for part in _cut(piece.filter(has_items), lengths.filter(has_items)):
                yield part.explode(names).select(wanted)
        self._refuse_second(seen)
        if empty:
            self._empty = pl.concat(empty)

    def _refuse_second(self, hashes: Sequence[pl.Series]) -> None:
        """Refuse a second list of a query where two hashes of queries are equal."""
        if not hashes or not pl.concat(hashes).is_duplicated().any():
            return
        queries = self.table.collect("query_id")["query_id"]
        is_first = queries.is_first_distinct()
        later = (~is_first).arg_true()
        if later.is_empty():
            return
        second = int(later[0])
        query = queries[second]
        first = first_true(queries == query)
        raise DuplicateRows(
            f"query {printable(query, 60)} has two lists",
            where=self.table.locate(second),
            given=f"the first at {self.table.locate(first)}; "
            f"{counted(len(later), 'further list')} in all",
            expected="one list for each query: joined they are a list that nobody retrieved",
            fix="evaluate the first list of each query with duplicates=first_drop, the last with last_drop; "
            "or give each row an id of its own",
        )

    def _lengths(
        self, piece: pl.DataFrame, names: Sequence[str], row: int
    ) -> pl.Series:
        """Return the lengths of a piece's lists; refuse missing lists, and lists of different lengths."""
        has_queries = "query_id" in piece.columns
        for name in ("query_id", *names) if has_queries else names:
            is_missing = piece[name].is_null()
            if is_missing.any():
                a_list = "a list, [] where nothing was retrieved"
                raise BadValue(
                    f"a row without {name}",
                    where=self.table.locate(row + first_true(is_missing)),
                    expected="an id" if name == "query_id" else a_list,
                    fix="repair or remove the row",
                )
        anchor, *others = names
        lengths = piece[anchor].list.len()
        for name in others:
            other = piece[name].list.len()
            different = other != lengths
            if different.any():
                index = first_true(different)
                both = f"{lengths[index]} and {counted(int(other[index]), 'item')}"
                if has_queries:
                    both = f"query {printable(piece['query_id'][index])}, {both}"
                raise BadValue(
                    f"{anchor} and {name} are lists of different lengths",
                    where=self.table.locate(row + index),
                    given=both,
                    expected=f"one {name} for each {anchor}",
                )
        return lengths

    def where(self, row: int) -> str:
        """Return the place of a document for messages: the row of its list, and its index there."""
        lists = 0
        length = pl.col(self.lists[0]).list.len().fill_null(0)
        for piece in self.table.tables([length]):
            bounds = _bounds(piece.to_series())
            rows = int(bounds[-1])
            if row < rows:
                index = int(np.searchsorted(bounds, row, side="right")) - 1
                item = row - int(bounds[index]) + 1
                return f"{self.table.locate(lists + index)}, item {item}"
            lists += piece.height
            row -= rows
        return self.table.source

    def unanswered(self) -> pl.Series | None:
        """Return the queries with an empty list; read the stream if this has not been done."""
        if self._empty is None and "query_id" in self.table.schema:
            for _ in self([pl.col("query_id")]):
                pass
        if self._empty is None or self._empty.is_empty():
            return None
        return self._empty.unique()

    def extent(self) -> int | None:
        """Estimate the number of documents from the lengths of the lists so far."""
        every = self.table.extent()
        lists, rows = self._read
        if every is None or not lists:
            return None
        return round(every * rows / lists)


@dataclass(eq=False)
class OneOfEachQuery:
    """Restarts a table of lists with the first or the last list of each query."""

    table: Table
    duplicates: str

    def __call__(self, wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        """Restart the stream; the lists that stay are known before it starts."""
        is_kept = self._is_kept()
        row = 0
        for piece in self.table.start(wanted):
            yield piece.filter(is_kept[row : row + piece.height])
            row += piece.height

    def _is_kept(self) -> pl.Series:
        queries = self.table.collect("query_id")["query_id"]
        if self.duplicates == "first_drop":
            return queries.is_first_distinct()
        return queries.is_last_distinct()

    def where(self, row: int) -> str:
        """Return the place of a list that stayed."""
        kept_rows = self._is_kept().arg_true()
        return self.table.locate(int(kept_rows[row]))

    def notes(self) -> tuple[str, ...]:
        """Say how many lists were left out."""
        is_kept = self._is_kept()
        left_out = int((~is_kept).sum())
        if not left_out:
            return ()
        note = f"{counted(left_out, 'further list')} of queries left out: duplicates={self.duplicates}"
        return (note,)


def with_one_list_each(table: Table, duplicates: str) -> Table:
    """Return a run whose rows are lists with one list of each query; steps of an agent are lists that go together.

    Parameters
    ----------
    table
        A run; one without lists stays as it is.
    duplicates
        ``first_drop`` and ``last_drop`` keep the first or the last list; all others refuse a second while reading.
    """
    unfolding = table.start
    if not isinstance(unfolding, Unfolding) or "query_id" not in table.schema:
        return table
    if not {*_STEPS}.isdisjoint((*table.schema, *table.present)):
        return table
    lists = unfolding.table
    of_file = table.read_as
    notes = of_file
    if duplicates in ("first_drop", "last_drop"):
        chosen = OneOfEachQuery(lists, duplicates)
        lists = replace(lists, start=chosen, where=chosen.where)

        def notes() -> tuple[str, ...]:
            return (*of_file(), *chosen.notes())

    unfolding = Unfolding(lists, unfolding.lists, single=True)
    return replace(
        table,
        start=unfolding,
        where=unfolding.where,
        empty=unfolding.unanswered,
        extent=unfolding.extent,
        read_as=notes,
    )


def _cut(piece: pl.DataFrame, lengths: pl.Series) -> Iterator[pl.DataFrame]:
    """Cut lists into pieces that unfold to at most the rows of any piece of a stream; a list stays whole."""
    bounds = _bounds(lengths)
    begin = 0
    while begin < piece.height:
        largest = bounds[begin] + ROWS
        fitting = int(np.searchsorted(bounds, largest, side="right")) - 1
        end = max(begin + 1, fitting)
        yield piece[begin:end]
        begin = end


def _bounds(lengths: pl.Series) -> NDArray[np.int64]:
    """Return the row at which each list begins, and the one behind the last."""
    ends = lengths.cast(pl.Int64).to_numpy().cumsum()
    return np.insert(ends, 0, 0)


def fields_of_items(
    dtype: pl.DataType,
) -> Iterator[tuple[tuple[str, ...], pl.DataType, pl.Expr]]:
    """Yield path, type and values of every field of the objects in a list, and in lists within these."""
    for path, kind in leaves(dtype):
        value = field_of(pl.element(), path)
        if not isinstance(kind, pl.List):
            yield path, kind, value
            continue
        each = value.explode(empty_as_null=False, keep_nulls=False)
        for inner, leaf in (((), kind.inner), *leaves(kind.inner)):  # type: ignore[arg-type]
            yield (*path, *inner), leaf, field_of(each, inner)  # type: ignore[misc] # an instance
        length = value.list.len().fill_null(0)
        calls = pl.int_range(1, pl.len() + 1).repeat_by(length)
        yield (*path, "call"), pl.Int64(), calls.explode(empty_as_null=False)


def leaves(dtype: pl.DataType) -> Iterator[tuple[tuple[str, ...], pl.DataType]]:
    """Yield the path and the type of every field of an object, and of the objects in it."""
    if not isinstance(dtype, pl.Struct):
        return
    for member in dtype.fields:
        yield (member.name,), member.dtype  # type: ignore[misc] # an instance
        for path, kind in leaves(member.dtype):  # type: ignore[arg-type]
            yield (member.name, *path), kind


def field_of(value: pl.Expr, path: Sequence[str]) -> pl.Expr:
    """Return a field of objects, by the names that lead to it."""
    for name in path:
        value = value.struct.field(name)
    return value
