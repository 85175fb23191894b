"""Batches of whole lists: a stream of tables, cut between lists, and the arrays of a batch."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, first_true
from rankstone.hits.list_arrays import list_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints


#: how many rows, and views into tables, may wait for the rest of their lists
_WAITING_ROWS: Final = 1 << 17
_WAITING_VIEWS: Final = 8
#: rows in which the search for a list's end begins
_NEAR: Final = 1 << 10


class Piece(Record):
    """Rows of whole lists, cut from the stream.

    Attributes
    ----------
    table
        The rows.
    rows
        Their row numbers in the stream; only the first where they are consecutive.
    """

    table: pl.DataFrame
    rows: Ints | int

    def row(self, place: int) -> int:
        """Return the row number in the stream of the piece's row ``place``."""
        if isinstance(self.rows, int):
            return self.rows + place
        return int(self.rows[place])


def pieces(tables: Iterable[pl.DataFrame]) -> Iterator[Piece]:
    """Cut a stream of tables again so that no piece ends inside a list.

    Lists inside one table become views.  The first and the last list of a table may continue in other tables:
    they are joined and gathered into pieces of their own.  A small table that is all there is stays whole.
    """
    gathered = _Gathered()
    row = 0
    stream = iter(tables)
    begin = list(islice(stream, 1))
    if begin and 0 < begin[0].height < _WAITING_ROWS:
        begin += islice(stream, 1)
        if len(begin) == 1:
            yield Piece(begin[0], 0)
            return
    for table in chain(begin, stream):
        if not table.height:
            continue
        head = head_of(table["query_id"])
        tail = (
            table.height - tail_of(table["query_id"]) if head < table.height else head
        )
        gathered.add(table[:head], row)
        if head < tail:
            yield Piece(table[head:tail], row + head)
        if gathered.is_full:
            yield from gathered.pieces(finished=False)
        gathered.add(table[tail:], row + tail)
        row += table.height
    yield from gathered.pieces(finished=True)


class _Gathered:
    """First and last lists of tables, which wait for the rest of their rows."""

    def __init__(self) -> None:
        self._whole: list[_Part] = []
        self._open: list[_Part] = []

    @property
    def is_full(self) -> bool:
        """True if many rows wait, or many views that keep their tables in memory."""
        return (
            len(self._whole) > _WAITING_VIEWS
            or sum(len(part.rows) for part in self._whole) > _WAITING_ROWS
        )

    def add(self, table: pl.DataFrame, first_row: int) -> None:
        """Add rows of one list, which may continue the list of the rows before."""
        if not table.height:
            return
        query = table["query_id"][0]
        if self._open and self._open[-1].query != query:
            self._whole += self._open
            self._open = []
        self._open.append(
            _Part(query, table, range(first_row, first_row + table.height))
        )

    def pieces(self, *, finished: bool) -> Iterator[Piece]:
        """Yield the gathered lists; unless the stream has ended, the last list waits for more rows."""
        parts = self._whole + self._open if finished else self._whole
        if parts:
            table = pl.concat([part.table for part in parts], rechunk=True)
            yield Piece(table, _numbers([part.rows for part in parts]))
        self._whole = []


class _Part(Record):
    """Rows of one list: the query, a view into the table, the row numbers."""

    query: object
    table: pl.DataFrame
    rows: range


def _numbers(rows: list[range]) -> Ints | int:
    """Return row numbers, only the first where they are consecutive."""
    if all(part.stop == after.start for part, after in pairwise(rows)):
        return rows[0].start
    return np.concatenate([np.arange(part.start, part.stop) for part in rows])


def head_of(ids: pl.Series) -> int:
    """Count the equal ids at the beginning of a series, reading no further than necessary."""
    near = _NEAR
    while True:
        other = first_true(ids[:near].ne_missing(ids[0]))
        if other:
            return other
        if near >= len(ids):
            return len(ids)
        near *= 8


def tail_of(ids: pl.Series) -> int:
    """Count the equal ids at the end of a series, reading no further than necessary."""
    near = _NEAR
    while True:
        other = ids[-near:].ne_missing(ids[-1]).arg_true()
        if len(other):
            return min(near, len(ids)) - 1 - int(other[-1])
        if near >= len(ids):
            return len(ids)
        near *= 8


class Batch(Record):
    """Rows of whole lists, one list after another.

    Attributes
    ----------
    names
        Query id of each list.
    codes
        int64 ``[lists]``: the query's index among the judged queries, -1 for unjudged ones.
    lengths
        int64 ``[lists]``: rows of each list.
    docs
        Document ids, indexed by ``take`` or else by row; ``None`` when the table has no such column.
    key
        float64 ``[rows]``: the key that orders the lists, larger first; ``None`` for input order.
    other
        float64 ``[rows]``: the other column that could order them, larger first, NaN where there is no value:
        scores for lists in order of ranks, ranks for lists in order of scores; ``None`` without such a
        column.
    label
        float64 ``[rows]``: grades of a labelled table, else ``None``.
    hash
        uint64 ``[rows]``: hash of each row's document.
    rows
        Row numbers of ``docs`` in the whole table; only the first where they are consecutive.
    take
        int64 ``[rows]``: the index of each row's document and row number; ``None`` for rows in their original
        order.
    costs
        float64 ``[rows]`` each: the columns that budgets read, by name.
    named, in_classes, own_hash
        Where ids are of chunks or copies: ids of their units like ``docs``, whose hash is ``hash``; True if
        units are classes of the documents in ``docs``; and uint64 ``[rows]``, the hash of each row's own id.
    """

    names: pl.Series
    codes: Ints
    lengths: Ints
    docs: pl.Series | None
    key: Floats | None = None
    label: Floats | None = None
    hash: NDArray[np.uint64] | None = None
    rows: Ints | int = 0
    take: Ints | None = None
    other: Floats | None = None
    costs: Mapping[str, Floats] = field(default_factory=dict)
    named: pl.Series | None = None
    in_classes: bool = False
    own_hash: NDArray[np.uint64] | None = None

    @property
    def height(self) -> int:
        """Rows in the batch."""
        return int(self.lengths.sum())

    @cached_property
    def starts(self) -> Ints:
        """First row of each list, int64 ``[lists]``."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def heads(self) -> Ints:
        """First row of each list that has any, int64."""
        return self.starts[self.lengths > 0]

    @cached_property
    def list_of_row(self) -> Ints:
        """The list of each row, int64 ``[rows]``."""
        return list_numbers(self.lengths)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Hash of each row's document, uint64 ``[rows]``."""
        assert self.hash is not None  # noqa: S101 - documents and their hashes come together
        return self.hash

    @property
    def own_hashes(self) -> NDArray[np.uint64]:
        """Hash of each row's own id, where ids are of chunks or copies, uint64 ``[rows]``."""
        assert self.own_hash is not None  # noqa: S101 - made with the ids of units
        return self.own_hash

    @property
    def documents(self) -> pl.Series:
        """The column of document ids; callers make sure that there is one."""
        assert self.docs is not None  # noqa: S101 - an internal promise, not user input
        return self.docs

    def ids(self, rows: Ints) -> pl.Series:
        """Return the document ids of some rows: of the units, where ids are of chunks."""
        ids = self.documents if self.named is None else self.named
        return ids[rows if self.take is None else self.take[rows]]

    def own_ids(self, rows: Ints) -> pl.Series:
        """Return the ids of some rows as they were given."""
        return self.documents[rows if self.take is None else self.take[rows]]

    def table_rows(self, rows: Ints) -> Ints:
        """Return the numbers of some rows in the whole table."""
        rows = rows if self.take is None else self.take[rows]
        return rows + self.rows if isinstance(self.rows, int) else self.rows[rows]

    def rows_at(self, rows: Ints, lengths: Ints) -> Batch:
        """Return the batch of the given rows, list by list."""
        return replace(
            self,
            lengths=lengths,
            key=None if self.key is None else self.key[rows],
            other=None if self.other is None else self.other[rows],
            label=None if self.label is None else self.label[rows],
            hash=None if self.hash is None else self.hash[rows],
            take=rows if self.take is None else self.take[rows],
            costs={name: values[rows] for name, values in self.costs.items()},
            own_hash=None if self.own_hash is None else self.own_hash[rows],
        )

    def without_rows(self, rows: Ints) -> Batch:
        """Return the batch without the given rows."""
        if not len(rows):
            return self
        kept = np.ones(self.height, bool)
        kept[rows] = False
        lengths = np.bincount(self.list_of_row[kept], minlength=len(self.lengths))
        return self.rows_at(np.flatnonzero(kept), lengths)
