"""Batches of whole lists: rows of a run in which every query is contiguous and complete.

Nearly all real files hold each query's rows together, so :meth:`Lists.contiguous` cuts them into
batches as they stream by.  That is checked, never assumed: a query that comes back after another
one began raises :class:`Scattered`, and the caller starts over with :meth:`Lists.regrouped`, which
brings the rows of each query together first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from rankstone.hits.pairs import QueryIndex

__all__ = ["Batch", "Lists", "Scattered"]

#: rows that regrouped data is cut into: a batch's keys then stay inside the processor's cache
_ROWS = 1 << 17
#: views into tables that may wait for their other halves
_PARTS = 8


@dataclass(frozen=True)
class Batch:
    """Rows of whole lists, one list after another.

    Attributes
    ----------
    names
        Query id of each list.
    codes
        int64 ``[lists]``: the query's number among the judged queries, -1 when nobody judged it.
    lengths
        int64 ``[lists]``: rows of each list.
    docs
        Document ids that ``take`` (or, without one, the row number) points into; ``None`` when the
        table has no such column.
    key
        float64 ``[rows]``: what the lists are ordered by, larger first; ``None`` for input order.
    label
        float64 ``[rows]``: grades of a labelled table, else ``None``.
    hash
        uint64: hash of every document in ``docs``.
    rows
        Row numbers of ``docs`` in the whole table; just the first where they follow one another.
    take
        int64 ``[rows]``: where each row's document, hash and number in the table are; ``None`` for
        rows that lie as they came.
    """

    names: pl.Series
    codes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    docs: pl.Series | None
    key: NDArray[np.float64] | None
    label: NDArray[np.float64] | None
    hash: NDArray[np.uint64] | None
    rows: NDArray[np.int64] | int = 0
    take: NDArray[np.int64] | None = None

    @property
    def height(self) -> int:
        """Rows in the batch."""
        return int(self.lengths.sum())

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First row of each list, int64 ``[lists]``."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def list_of_row(self) -> NDArray[np.int64]:
        """The list each row belongs to, int64 ``[rows]``."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Hash of each row's document, uint64 ``[rows]``."""
        assert self.hash is not None  # noqa: S101 - documents and their hashes come together
        return self.hash if self.take is None else self.hash[self.take]

    @property
    def documents(self) -> pl.Series:
        """The column of document ids; calling code has made sure that there is one."""
        assert self.docs is not None  # noqa: S101 - an internal promise, not user input
        return self.docs

    def ids(self, rows: NDArray[np.int64]) -> pl.Series:
        """Return the document ids of some rows."""
        return self.documents.gather(rows if self.take is None else self.take[rows])

    def table_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of some rows in the whole table."""
        rows = rows if self.take is None else self.take[rows]
        return rows + self.rows if isinstance(self.rows, int) else self.rows[rows]

    def rows_at(self, rows: NDArray[np.int64], lengths: NDArray[np.int64]) -> Batch:
        """Return the batch made of the given rows, which keep their lists together."""
        return replace(
            self,
            lengths=lengths,
            key=None if self.key is None else self.key[rows],
            label=None if self.label is None else self.label[rows],
            take=rows if self.take is None else self.take[rows],
        )


class Scattered(Exception):
    """A query's rows are not all together."""


class Lists:
    """Reads the lists of one run, batch by batch, and remembers which queries it met.

    Parameters
    ----------
    queries
        The judged queries; ``None`` for a labelled table, whose queries judge themselves.
    keep_extra
        Whether lists of queries that nobody judged are wanted.

    Attributes
    ----------
    seen
        bool ``[judged queries]``: which of them the run answers.
    """

    def __init__(self, queries: QueryIndex | None, *, keep_extra: bool) -> None:
        self._queries = queries
        self._keep_unjudged = keep_extra or queries is None
        self.seen = np.zeros(0 if queries is None else len(queries), bool)
        self._unjudged: list[pl.Series] = []

    def contiguous(self, tables: Iterable[pl.DataFrame]) -> Iterator[Batch]:
        """Cut a stream of tables into batches of whole lists.

        Parameters
        ----------
        tables
            Frames with ``query_id`` and, as far as there are such columns, ``doc_id`` and its
            ``hash``, ``key`` (larger first) and ``label``.

        Raises
        ------
        Scattered
            When a query's rows are not all together.
        """
        for piece in _whole(tables):
            codes = self._codes(piece.names)
            yield from self._wanted(_batch(piece.table, piece.names, codes, piece.lengths, piece.rows))
        if self._keep_unjudged and len(self.unjudged()) < sum(map(len, self._unjudged)):
            raise Scattered

    def regrouped(self, tables: Iterable[pl.DataFrame]) -> Iterator[Batch]:
        """Bring the rows of each query together, in their order, and cut them into batches.

        The table is held in memory; documents stay where they are, reached through row numbers.
        """
        table = pl.concat(list(tables), rechunk=True)
        group, names = _group_numbers(table["query_id"])
        codes = self._codes(names)
        lengths = np.bincount(group, minlength=len(names))
        take = _together(group)
        del group
        whole = _batch(table.drop("query_id"), names[:0], codes[:0], lengths[:0], 0)
        ends = np.cumsum(lengths)
        for begin, end in _cuts(ends, _ROWS):
            rows = take[ends[begin] - lengths[begin] : ends[end - 1]]
            part = whole.rows_at(rows, lengths[begin:end])
            yield from self._wanted(replace(part, names=names[begin:end], codes=codes[begin:end]))

    def unjudged(self) -> pl.Series:
        """Return the distinct queries met that nobody judged."""
        return pl.concat(self._unjudged).unique() if self._unjudged else pl.Series([], dtype=pl.String)

    def _codes(self, names: pl.Series) -> NDArray[np.int64]:
        if self._queries is None:
            return np.full(len(names), -1, np.int64)
        return self._queries.codes(names)

    def _wanted(self, batch: Batch) -> Iterator[Batch]:
        judged = batch.codes >= 0
        codes = batch.codes[judged]
        if self.seen[codes].any() or len(np.unique(codes)) < len(codes):
            raise Scattered
        self.seen[codes] = True
        if not judged.all():
            self._unjudged.append(batch.names.filter(~judged))
        if self._keep_unjudged or judged.all():
            yield batch
        elif judged.any():
            rows = np.flatnonzero(np.repeat(judged, batch.lengths))
            part = batch.rows_at(rows, batch.lengths[judged])
            yield replace(part, names=batch.names.filter(judged), codes=codes)


def _together(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row numbers ordered by group, each group's rows in their order."""
    rows = np.arange(len(group), dtype=np.uint64)
    row_bits = np.uint64(max(len(group) - 1, 1).bit_length())
    packed = (group.astype(np.uint64) << row_bits) | rows
    packed.sort()
    packed &= (np.uint64(1) << row_bits) - np.uint64(1)
    return packed.astype(np.int64)


def _cuts(ends: NDArray[np.int64], rows: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of lists that hold about ``rows`` rows each."""
    begin = 0
    while begin < len(ends):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + rows)))
        yield begin, end
        begin = end


@dataclass(frozen=True)
class _Piece:
    """Rows of whole lists, cut from the stream, with their runs of equal queries."""

    table: pl.DataFrame
    rows: NDArray[np.int64] | int
    names: pl.Series
    lengths: NDArray[np.int64]


def _whole(tables: Iterable[pl.DataFrame]) -> Iterator[_Piece]:
    """Re-cut a stream of tables so that none ends inside a list.

    Lists that lie inside one table are handed on as views.  The first and the last list of a table
    may go on in others: they are put together and gathered until they make a piece of their own.
    """
    gathered = _Gathered()
    row = 0
    for table in tables:
        if not table.height:
            continue
        names, lengths = _runs(table["query_id"])
        head, tail = int(lengths[0]), table.height - int(lengths[-1]) if len(lengths) > 1 else table.height
        gathered.add(table[:head], row)
        if head < tail:
            yield _Piece(table[head:tail], row + head, names[1:-1], lengths[1:-1])
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
        return self._height > _ROWS or len(self._parts) > _PARTS

    def add(self, part: pl.DataFrame, first_row: int) -> None:
        if part.height:
            self._parts.append(part)
            self._rows.append(np.arange(first_row, first_row + part.height))
            self._height += part.height

    def pieces(self, *, finished: bool) -> Iterator[_Piece]:
        """Yield what is there; unless the stream has finished, the last list waits for more."""
        if not self._parts:
            return
        table, row = pl.concat(self._parts, rechunk=True), np.concatenate(self._rows)
        self._parts, self._rows, self._height = [], [], 0
        names, lengths = _runs(table["query_id"])
        if not finished:
            stop = table.height - int(lengths[-1])
            self._parts, self._rows, self._height = [table[stop:]], [row[stop:]], int(lengths[-1])
            table, row, names, lengths = table[:stop], row[:stop], names[:-1], lengths[:-1]
        if len(names):
            yield _Piece(table, row, names, lengths)


def _runs(ids: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    runs = ids.rle().struct.unnest()
    return runs["value"], runs["len"].to_numpy().astype(np.int64)


def _group_numbers(ids: pl.Series) -> tuple[NDArray[np.int64], pl.Series]:
    """Return each row's number and the distinct ids, numbered by their first appearance."""
    numbered = ids.unique(maintain_order=True)
    if ids.dtype == pl.String:
        physical = ids.cast(pl.Enum(numbered)).to_physical()
        return physical.to_numpy().astype(np.int64), numbered
    names = pl.DataFrame({"id": numbered, "number": np.arange(len(numbered))})
    joined = pl.DataFrame({"id": ids}).join(names, on="id", how="left", maintain_order="left")
    return joined["number"].to_numpy(), numbered


def _batch(
    table: pl.DataFrame,
    names: pl.Series,
    codes: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64] | int,
) -> Batch:
    def numbers(column: str) -> NDArray[Any] | None:
        return table[column].to_numpy() if column in table.columns else None

    return Batch(
        names=names,
        codes=codes,
        lengths=lengths,
        docs=table["doc_id"] if "doc_id" in table.columns else None,
        key=numbers("key"),
        label=numbers("label"),
        hash=numbers("hash"),
        rows=rows,
    )
