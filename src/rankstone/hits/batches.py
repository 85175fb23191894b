"""Batches of whole lists: rows of a run in which every query is contiguous and complete.

A stream of tables is cut between lists.  Nearly all real files hold each query's rows together, so
:meth:`Lists.contiguous` reads them as they stream by.  That is checked, never assumed: a query whose rows
continue after another one began raises :class:`Scattered`, and the caller starts over with
:meth:`Lists.regrouped`, which first brings the rows of each query together.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from rankstone.hits.pair_index import QueryIndex


#: rows of a batch of regrouped data
_ROWS: Final = 1 << 18
#: pieces that are sorted into buckets at the same time
_THREADS: Final = 2
#: rows that are sorted into buckets at a time
_PART: Final = 1 << 17
#: buckets of queries; a bucket is one byte
_BUCKETS: Final = 1 << 8
#: how many numbers 16 bits can hold
_SMALL_NUMBERS: Final = 1 << 16
#: rows in which scattered queries are looked for before anything else
_LOOK: Final = 1 << 14
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
    rows: NDArray[np.int64] | int

    def row(self, at: int) -> int:
        """Return the row number in the stream of the piece's row ``at``."""
        return self.rows + at if isinstance(self.rows, int) else int(self.rows[at])


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
    """First and last lists of tables, which wait for the rest of their rows."""

    def __init__(self) -> None:
        self._whole: list[_Part] = []
        self._open: list[_Part] = []

    @property
    def is_full(self) -> bool:
        """True if many rows wait, or many views that keep their tables in memory."""
        return (
            len(self._whole) > _WAITING_VIEWS or sum(len(part.rows) for part in self._whole) > _WAITING_ROWS
        )

    def add(self, table: pl.DataFrame, first_row: int) -> None:
        """Add rows of one list, which may continue the list of the rows before."""
        if not table.height:
            return
        query = table["query_id"][0]
        if self._open and self._open[-1].query != query:
            self._whole += self._open
            self._open = []
        self._open.append(_Part(query, table, range(first_row, first_row + table.height)))

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


def _numbers(rows: list[range]) -> NDArray[np.int64] | int:
    """Return row numbers, only the first where they are consecutive."""
    if all(part.stop == after.start for part, after in pairwise(rows)):
        return rows[0].start
    return np.concatenate([np.arange(part.start, part.stop) for part in rows])


def head_of(ids: pl.Series) -> int:
    """Count the equal ids at the beginning of a series, reading no further than necessary."""
    near = _NEAR
    while True:
        other = ids[:near].ne_missing(ids[0]).arg_max() or 0
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
    other: NDArray[np.float64] | None = None

    @property
    def height(self) -> int:
        """Rows in the batch."""
        return int(self.lengths.sum())

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First row of each list, int64 ``[lists]``."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def heads(self) -> NDArray[np.int64]:
        """First row of each list that has any, int64."""
        return self.starts[self.lengths > 0]

    @cached_property
    def list_of_row(self) -> NDArray[np.int64]:
        """The list of each row, int64 ``[rows]``."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Hash of each row's document, uint64 ``[rows]``."""
        assert self.hash is not None  # noqa: S101 - documents and their hashes come together
        return self.hash

    @property
    def documents(self) -> pl.Series:
        """The column of document ids; callers make sure that there is one."""
        assert self.docs is not None  # noqa: S101 - an internal promise, not user input
        return self.docs

    def ids(self, rows: NDArray[np.int64]) -> pl.Series:
        """Return the document ids of some rows."""
        return self.documents[rows if self.take is None else self.take[rows]]

    def table_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of some rows in the whole table."""
        rows = rows if self.take is None else self.take[rows]
        return rows + self.rows if isinstance(self.rows, int) else self.rows[rows]

    def rows_at(self, rows: NDArray[np.int64], lengths: NDArray[np.int64]) -> Batch:
        """Return the batch of the given rows, list by list."""
        return replace(
            self,
            lengths=lengths,
            key=None if self.key is None else self.key[rows],
            other=None if self.other is None else self.other[rows],
            label=None if self.label is None else self.label[rows],
            hash=None if self.hash is None else self.hash[rows],
            take=rows if self.take is None else self.take[rows],
        )

    def without_rows(self, rows: NDArray[np.int64]) -> Batch:
        """Return the batch without the given rows."""
        if not len(rows):
            return self
        kept = np.ones(self.height, bool)
        kept[rows] = False
        lengths = np.bincount(self.list_of_row[kept], minlength=len(self.lengths))
        return self.rows_at(np.flatnonzero(kept), lengths)


class Scattered(Exception):
    """The rows of a query are not all together."""


class ReadBatch(Record):
    """A batch of the lists to score, with all queries that were read.

    Attributes
    ----------
    batch
        The lists to score.
    judged
        int64: indexes of the judged queries that were read.
    unjudged
        Ids of the other queries that were read.
    """

    batch: Batch
    judged: NDArray[np.int64]
    unjudged: pl.Series


class Lists:
    """Reads the lists of one run and records which queries it answers.

    The little that must be done in the order of the stream is done at once; the rest is returned as
    functions, which may be called in any thread.

    Parameters
    ----------
    queries
        The judged queries; ``None`` for a labelled table, which has its own labels.
    check
        Checks every piece of the stream first.
    keep_extra
        True if lists of unjudged queries are scored.

    Attributes
    ----------
    seen
        bool ``[judged queries]``: True for those that the run answers.
    """

    def __init__(
        self, queries: QueryIndex | None, check: Callable[[Piece], Piece], *, keep_extra: bool
    ) -> None:
        self._queries = queries
        self._check = check
        self._keep_unjudged = keep_extra or queries is None
        self.answered = np.zeros(0 if queries is None else len(queries), bool)
        self._unjudged: list[pl.Series] = []

    def contiguous(self, tables: Iterable[pl.DataFrame]) -> Iterator[Callable[[], ReadBatch]]:
        """Read batches from a stream in which every query's rows should be together.

        Parameters
        ----------
        tables
            Frames with ``query_id`` and, where present, ``doc_id`` and its ``hash``, ``key`` and ``other``
            (larger first) and ``label``.
        """
        for piece in pieces(tables):
            yield partial(self._read, piece)

    def regrouped(self, tables: Iterable[pl.DataFrame]) -> Iterator[Callable[[], ReadBatch]]:
        """Bring the rows of each query together, in their order, and read batches from that.

        The table is held in memory, in buckets of queries.  Each piece of the stream is sorted into buckets,
        then each bucket by query, so that both happen in the processor's cache; documents stay in place.
        """
        waiting: list[Future[list[_Bucketed]]] = []
        row, numbers = 0, _QueryNumbers(self._queries)
        with ThreadPoolExecutor(_THREADS) as pool:
            for table in tables:
                waiting.append(pool.submit(self._in_buckets, Piece(table, row), numbers))
                waiting[max(0, len(waiting) - _THREADS - 1)].result()  # few texts wait in memory
                row += table.height
        parts = [part for piece in waiting for part in piece.result()]
        if not parts:
            return
        docs = None if parts[0].docs is None else pl.concat([part.docs for part in parts if part.docs is not None])
        ends = np.sum([part.ends for part in parts], axis=0)

        def read(begin: int, end: int) -> ReadBatch:
            columns = {
                name: np.concatenate([p.columns[name][p.ends[begin] : p.ends[end]] for p in parts])
                for name in parts[0].columns
            }
            order = _together(columns["number"])
            columns = {name: column[order] for name, column in columns.items()}
            number, row = columns.pop("number"), columns.pop("row")
            heads = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
            names, codes = numbers.named(number[heads])
            none: dict[str, Any] = dict.fromkeys(("key", "label", "hash"))
            lengths = np.diff(np.append(heads, len(row)))
            return self._checked(Batch(names, codes, lengths, docs, take=row, **none | columns))

        for begin, end in _cuts(ends[1:], _ROWS):
            yield partial(read, begin, end)

    def _in_buckets(self, piece: Piece, numbers: _QueryNumbers) -> list[_Bucketed]:
        """Return parts of a piece with their numbers sorted into buckets."""
        return [
            _Bucketed.of(self._with_arrays(Piece(table, piece.row(at * _PART))).table, piece.row(at * _PART), numbers)
            for at, table in enumerate(piece.table.iter_slices(_PART))
        ]

    def admit(self, batch: ReadBatch) -> None:
        """Record the queries of a batch, in the order of the stream.

        Raises
        ------
        Scattered
            When one of them was read before: its rows are not all together.
        """
        if self.answered[batch.judged].any():
            raise Scattered
        self.answered[batch.judged] = True
        if len(batch.unjudged):
            self._unjudged.append(batch.unjudged)

    def close(self) -> None:
        """Check, at the end, that no unjudged query that is scored was read twice."""
        if self._keep_unjudged and len(self.unjudged()) < sum(map(len, self._unjudged)):
            raise Scattered

    def unjudged(self) -> pl.Series:
        """Return the distinct unjudged queries that were read."""
        return pl.concat(self._unjudged).unique() if self._unjudged else pl.Series([], dtype=pl.String)

    def _read(self, piece: Piece) -> ReadBatch:
        piece = self._with_arrays(piece)
        runs = piece.table["query_id"].rle().struct.unnest()
        names, lengths = runs["value"], runs["len"].to_numpy().astype(np.int64)
        return self._checked(_batch(piece.table, names, self._codes(names), lengths, piece.rows))

    def _with_arrays(self, piece: Piece) -> Piece:
        """Return a checked piece with its numbers as one array each; texts, of which few matter, stay in place."""
        parts = piece.table.get_columns()
        whole = pl.DataFrame([part if part.dtype == pl.String else part.rechunk() for part in parts])
        return self._check(replace(piece, table=whole))

    def _codes(self, names: pl.Series) -> NDArray[np.int64]:
        if self._queries is None:
            return np.full(len(names), -1, np.int64)
        return self._queries.codes(names)

    def _checked(self, batch: Batch) -> ReadBatch:
        judged = batch.codes >= 0
        codes = batch.codes[judged]
        if not _distinct(codes):
            raise Scattered
        if judged.all():
            return ReadBatch(batch, codes, batch.names[:0])
        unjudged = batch.names.filter(~judged)
        if self._keep_unjudged and unjudged.n_unique() < len(unjudged):
            raise Scattered
        if not self._keep_unjudged:
            rows = np.flatnonzero(np.repeat(judged, batch.lengths))
            batch = batch.rows_at(rows, batch.lengths[judged])
            batch = replace(batch, names=batch.names.filter(judged), codes=codes)
        return ReadBatch(batch, codes, unjudged)


def _distinct(codes: NDArray[np.int64]) -> bool:
    ordered = np.sort(codes)
    return not (ordered[1:] == ordered[:-1]).any()


class _Bucketed(Record):
    """A part of the stream: its documents by row, and numbers sorted into buckets of queries."""

    docs: pl.Series | None
    columns: dict[str, NDArray[Any]]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, table: pl.DataFrame, first_row: int, numbers: _QueryNumbers) -> _Bucketed:
        """Sort a table, whose rows fit into the processor's cache."""
        number = numbers.of(table["query_id"])
        bucket = _bucket_of(number)
        order = np.argsort(bucket, kind="stable")
        others = [name for name in table.columns if name not in ("query_id", "doc_id")]
        columns = {name: table[name].to_numpy()[order] for name in others}
        columns |= {"number": number[order], "row": order + first_row}
        ends = np.searchsorted(bucket[order], np.arange(_BUCKETS + 1))
        return cls(table["doc_id"] if "doc_id" in table.columns else None, columns, ends)


class _QueryNumbers:
    """Numbers of query ids: judged queries have their index, others follow; whole numbers without judgments count themselves."""

    def __init__(self, queries: QueryIndex | None) -> None:
        self._queries = queries
        self._judged = 0 if queries is None else len(queries)
        self._categories = pl.Categorical(pl.Categories.random())
        self._kept = pl.Series(dtype=self._categories)  # without a series of this type Polars forgets the texts
        self._kind: pl.DataType = pl.String()

    def of(self, ids: pl.Series) -> NDArray[np.int64]:
        """Return the number of each id."""
        self._kind = ids.dtype
        if self._queries is None and ids.dtype == pl.Int64:
            return ids.to_numpy()
        number = np.full(len(ids), -1) if self._queries is None else self._queries.codes(ids)
        others = np.flatnonzero(number < 0)
        if len(others):
            number[others] = self._judged + ids[others].cast(pl.String).cast(self._categories).to_physical().to_numpy()
        return number

    def named(self, number: NDArray[np.int64]) -> tuple[pl.Series, NDArray[np.int64]]:
        """Return the ids with these numbers, and their indexes among the judged queries, -1 for unjudged ones."""
        if self._queries is None and self._kind == pl.Int64:
            return pl.Series(number), np.full(len(number), -1)
        other = number >= self._judged
        physical = pl.Series((number[other] - self._judged).astype(np.uint32))
        names = physical.cat.to(self._categories).cast(pl.String).cast(self._kind)
        if self._queries is not None:
            order = np.argsort(np.append(np.flatnonzero(~other), np.flatnonzero(other)))
            names = pl.concat([self._queries.names[number[~other]], names])[order]
        return names, np.where(other, -1, number)


def _bucket_of(number: NDArray[Any]) -> NDArray[np.uint8]:
    """Return a bucket for each query's number; consecutive numbers are in different ones."""
    folded = number ^ (number >> 8) ^ (number >> 16) ^ (number >> 24)
    return folded.astype(np.uint8)


def _together(number: NDArray[Any]) -> NDArray[np.int64]:
    """Return the order that brings equal numbers of some buckets together, each one's rows in their order."""
    high, bucket = number >> 8, _bucket_of(number)  # these two determine a number
    low, first = int(high.min()), int(bucket.min())
    span = int(high.max()) - low + 1
    if span * (int(bucket.max()) - first + 1) <= _SMALL_NUMBERS:  # which NumPy sorts by counting
        small = (bucket - first).astype(np.uint16) * np.uint16(span) + (high - low).astype(np.uint16)
        return np.argsort(small, kind="stable")
    order = pl.DataFrame({"number": number}).select(pl.arg_sort_by("number", maintain_order=True)).to_series()
    return order.to_numpy().astype(np.int64)


def is_scattered(ids: pl.Series) -> bool:
    """Return True if rows at the beginning already show that those of a query are not all together."""
    head = ids[:_LOOK]
    return head.n_unique() < 1 + ((head[1:] != head[:-1]).sum() or 0)


def _cuts(ends: NDArray[np.int64], rows: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of lists that hold about ``rows`` rows each."""
    begin = 0
    while begin < len(ends):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + rows)))
        yield begin, end
        begin = end


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
        other=numbers("other"),
    )
