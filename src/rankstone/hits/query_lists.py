"""The lists of one run: read as they stream by, or brought together first where their rows are scattered.

Nearly all real files hold each query's rows together, so :meth:`Lists.contiguous` reads them as they stream
by.  That is checked, never assumed: a query whose rows continue after another one began raises
:class:`Scattered`, and the caller starts over with :meth:`Lists.regrouped`.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.hits.batches import Batch, Piece, pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from rankstone._basics import Ints, NamedValues
    from rankstone.hits.pair_index import QueryIndex

Result = TypeVar("Result")

_IDS: Final = ("query_id", "doc_id", "named")
#: the beginning of the names of columns with costs
COST: Final = "cost:"
#: rows of a batch of regrouped data
_ROWS: Final = 1 << 18
#: pieces that are sorted into buckets at the same time
_THREADS: Final = 2
#: rows that are sorted into buckets at a time: they fit into the processor's cache
_PART: Final = 1 << 17
#: buckets of queries; a bucket is one byte
_BUCKETS: Final = 1 << 8
#: how many numbers 16 bits can hold, which NumPy sorts by counting
_SMALL_NUMBERS: Final = 1 << 16
#: rows in which scattered queries are looked for before anything else
_LOOK: Final = 1 << 14


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
    judged: Ints
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
    answered
        bool ``[judged queries]``: True for those that the run answers.
    """

    def __init__(
        self,
        queries: QueryIndex | None,
        check: Callable[[Piece], Piece],
        *,
        keep_extra: bool,
    ) -> None:
        self._queries = queries
        self._check = check
        self._keep_unjudged = keep_extra or queries is None
        self.answered = np.zeros(0 if queries is None else len(queries), bool)
        self._unjudged: list[pl.Series] = []

    def contiguous(
        self, tables: Iterable[pl.DataFrame]
    ) -> Iterator[Callable[[], ReadBatch]]:
        """Read batches from a stream in which every query's rows should be together.

        Parameters
        ----------
        tables
            Frames with ``query_id`` and, where present, ``doc_id`` and its ``hash``, ``key`` and ``other``
            (larger first) and ``label``.
        """
        for piece in pieces(tables):
            yield partial(self._read, piece)

    def _read(self, piece: Piece) -> ReadBatch:
        columns, texts = self._arrays(piece)
        runs = piece.table["query_id"].rle().struct.unnest()
        names = runs["value"]
        lengths = runs["len"].to_numpy().astype(np.int64)
        codes = (
            np.full(len(names), -1)
            if self._queries is None
            else self._queries.codes(names)
        )
        return self._checked(
            Batch(
                names, codes, lengths, **texts, rows=piece.rows, **_with_costs(columns)
            )
        )

    def regrouped(
        self, tables: Iterable[pl.DataFrame]
    ) -> Iterator[Callable[[], ReadBatch]]:
        """Bring the rows of each query together, in their order, and read batches from that.

        The table is held in memory, in buckets of queries.  Parts of the stream are sorted into buckets, then
        each bucket by query, so that both happen in the processor's cache; documents stay in place.
        """
        waiting: list[Future[list[_Bucketed]]] = []
        row = 0
        numbers = _QueryNumbers(self._queries)
        with ThreadPoolExecutor(_THREADS) as pool:
            for table in tables:
                waiting.append(pool.submit(self._in_buckets, table, row, numbers))
                # few texts wait in memory
                waiting[max(0, len(waiting) - _THREADS - 1)].result()
                row += table.height
        parts = [part for piece in waiting for part in piece.result()]
        if not parts:
            return
        columns = {
            name: [part.texts[name] for part in parts] for name in parts[0].texts
        }
        texts = {
            name: pl.concat(column)
            for name, column in columns.items()
            if column[0] is not None
        }
        for begin, end in _cuts(
            np.sum([part.ends[1:] for part in parts], axis=0), _ROWS
        ):
            yield partial(
                self._read_buckets, parts, {"docs": None} | texts, numbers, begin, end
            )

    def _in_buckets(
        self, piece: pl.DataFrame, row: int, numbers: _QueryNumbers
    ) -> list[_Bucketed]:
        """Return parts of a piece, each with its numbers sorted into buckets."""
        parts = []
        for table in piece.iter_slices(_PART):
            columns, texts = self._arrays(Piece(table, row))
            columns |= {
                "number": numbers.of(table["query_id"]),
                "row": np.arange(row, row + table.height),
            }
            bucket = _bucket_of(columns["number"])
            order = np.argsort(bucket, kind="stable")
            ends = np.searchsorted(bucket[order], np.arange(_BUCKETS + 1))
            parts.append(
                _Bucketed(
                    texts,
                    {name: column[order] for name, column in columns.items()},
                    ends,
                )
            )
            row += table.height
        return parts

    def _read_buckets(
        self,
        parts: list[_Bucketed],
        texts: NamedValues,
        numbers: _QueryNumbers,
        begin: int,
        end: int,
    ) -> ReadBatch:
        """Read buckets ``begin`` to ``end`` from all parts, and return their lists as a batch.

        Parameters
        ----------
        parts
            Parts of the stream, each sorted by bucket; ``ends`` are where its buckets begin, and its end.
        texts
            The ids of all parts together, by the names that a batch gives them; ``docs`` may be ``None``.
        numbers
            What knows the queries' ids and codes by their numbers in the stream.
        begin, end
            The buckets; each query is in one of them.
        """

        def column(name: str) -> NDArray[Any]:
            return np.concatenate(
                [p.columns[name][p.ends[begin] : p.ends[end]] for p in parts]
            )

        order = _together(column("number"))
        columns = {name: column(name)[order] for name in parts[0].columns}
        number = columns.pop("number")
        row = columns.pop("row")
        heads = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
        names, codes = numbers.named(number[heads])
        lengths = np.diff(np.append(heads, len(row)))
        return self._checked(
            Batch(names, codes, lengths, **texts, take=row, **_with_costs(columns))
        )

    def _arrays(self, piece: Piece) -> tuple[dict[str, NDArray[Any]], NamedValues]:
        """Return the numbers of a checked piece as arrays, and its ids, of which few are needed."""
        parts = [part if part.name in _IDS else part.rechunk() for part in piece.table]
        table = self._check(replace(piece, table=pl.DataFrame(parts))).table
        columns = {
            name: table[name].to_numpy() for name in table.columns if name not in _IDS
        }
        texts: NamedValues = {"docs": None, "named": None}
        for ours, name in (("docs", "doc_id"), ("named", "named")):
            if name in table.columns:
                texts[ours] = table[name]
        return columns, texts

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
        return (
            pl.concat(self._unjudged).unique()
            if self._unjudged
            else pl.Series([], dtype=pl.String)
        )

    def _checked(self, batch: Batch) -> ReadBatch:
        judged = batch.codes >= 0
        codes = batch.codes[judged]
        ordered = np.sort(codes)
        if (ordered[1:] == ordered[:-1]).any():
            raise Scattered
        if judged.all():
            return ReadBatch(batch, codes, batch.names[:0])
        unjudged = batch.names.filter(~judged) if judged.any() else batch.names
        if self._keep_unjudged and unjudged.n_unique() < len(unjudged):
            raise Scattered
        if not self._keep_unjudged:
            rows = np.flatnonzero(np.repeat(judged, batch.lengths))
            batch = batch.rows_at(rows, batch.lengths[judged])
            batch = replace(batch, names=batch.names.filter(judged), codes=codes)
        return ReadBatch(batch, codes, unjudged)


def read_lists(
    start_lists: Callable[[], Lists],
    start_tables: Callable[[], Iterable[pl.DataFrame]],
    each: Callable[[Batch], Result],
    *,
    regroups: bool = True,
    threads: int = _THREADS,
) -> tuple[list[Result], Lists]:
    """Call ``each`` for every batch of whole lists, and return the results in the stream's order.

    Parameters
    ----------
    start_lists
        Returns a reader that has read nothing.
    start_tables
        Starts the stream; called again where a query turns out to be scattered.
    each
        Called in any thread, for batches that have a list.
    regroups
        True if scattered queries are regrouped in memory; otherwise :class:`Scattered` is raised.
    threads
        How many batches are processed at the same time.

    Returns
    -------
    results, lists
        The second records which queries the run answers.
    """
    lists = start_lists()
    tables = iter(start_tables())
    begin = list(islice(tables, 1))
    if not (begin and is_scattered(begin[0]["query_id"])):
        try:
            batches = lists.contiguous(chain(begin, tables))
            return _results(lists, batches, each, threads), lists
        except Scattered:
            begin = []
    # outside the handler, whose traceback would keep the first stream alive
    if not regroups:
        raise Scattered
    tables = tables if begin else iter(start_tables())
    lists = start_lists()
    batches = lists.regrouped(chain(begin, tables))
    return _results(lists, batches, each, threads), lists


def _results(
    lists: Lists,
    batches: Iterator[Callable[[], ReadBatch]],
    each: Callable[[Batch], Result],
    threads: int,
) -> list[Result]:
    def job(read: Callable[[], ReadBatch]) -> tuple[ReadBatch, Result | None]:
        checked = read()
        if not len(checked.batch.lengths):
            return checked, None
        return checked, each(checked.batch)

    def finish(done: tuple[ReadBatch, Result | None]) -> None:
        checked, result = done
        lists.admit(checked)
        if result is not None:
            results.append(result)

    results: list[Result] = []
    begin = list(islice(batches, 2))
    if len(begin) == 1:  # one batch needs no other thread
        finish(job(begin.pop()))
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[tuple[ReadBatch, Result | None]]] = deque()
        for read in chain(begin, batches):
            waiting.append(pool.submit(job, read))
            while len(waiting) > threads:
                finish(waiting.popleft().result())
        while waiting:
            finish(waiting.popleft().result())
    lists.close()
    return results


def _with_costs(columns: dict[str, NDArray[Any]]) -> NamedValues:
    """Return the columns of a batch, those of costs in a dict of their own."""
    names = [name for name in columns if name.startswith(COST)]
    costs = {name.removeprefix(COST): columns.pop(name) for name in names}
    return {**columns, "costs": costs}


def is_scattered(ids: pl.Series) -> bool:
    """Return True if rows at the beginning already show that those of a query are not all together."""
    head = ids[:_LOOK]
    return head.n_unique() < 1 + ((head[1:] != head[:-1]).sum() or 0)


class _Bucketed(Record):
    """A part of the stream: its ids by row, and numbers sorted into buckets of queries."""

    texts: NamedValues
    columns: dict[str, NDArray[Any]]
    ends: Ints


class _QueryNumbers:
    """Numbers of query ids: judged queries have their index, others follow.

    Whole numbers without judgments count as themselves.
    """

    def __init__(self, queries: QueryIndex | None) -> None:
        self._queries = queries
        self._judged = 0 if queries is None else len(queries)
        self._categories = pl.Categorical(pl.Categories.random())
        # as long as there is one, Polars keeps the texts
        self._kept = pl.Series(dtype=self._categories)
        self._kind: pl.DataType = pl.String()

    def of(self, ids: pl.Series) -> Ints:
        """Return the number of each id."""
        self._kind = ids.dtype
        if self._queries is None and ids.dtype == pl.Int64:
            return ids.to_numpy()
        number = (
            np.full(len(ids), -1) if self._queries is None else self._queries.codes(ids)
        )
        others = np.flatnonzero(number < 0)
        if len(others):
            category = ids[others].cast(pl.String).cast(self._categories)
            number[others] = category.to_physical().to_numpy() + np.int64(self._judged)
        return number

    def named(self, number: Ints) -> tuple[pl.Series, Ints]:
        """Return the ids with these numbers, and their indexes among the judged queries, -1 for others."""
        if self._queries is None and self._kind == pl.Int64:
            return pl.Series(number), np.full(len(number), -1)
        other = number >= self._judged
        category = pl.Series((number[other] - self._judged).astype(np.uint32)).cat.to(
            self._categories
        )
        names = category.cast(pl.String).cast(self._kind)
        if self._queries is not None:
            order = np.argsort(np.append(np.flatnonzero(~other), np.flatnonzero(other)))
            names = pl.concat([self._queries.names[number[~other]], names])[order]
        return names, np.where(other, -1, number)


def _bucket_of(number: Ints) -> NDArray[np.uint8]:
    """Return a bucket for each query's number; consecutive numbers are in different ones."""
    return (number ^ (number >> 8) ^ (number >> 16) ^ (number >> 24)).astype(np.uint8)


def _together(number: Ints) -> Ints:
    """Return the order that brings equal numbers of some buckets together, each one's rows in their order."""
    # these two determine a number
    high = number >> 8
    bucket = _bucket_of(number)

    low = int(high.min())
    first = int(bucket.min())
    span = int(high.max()) - low + 1
    if span * (int(bucket.max()) - first + 1) <= _SMALL_NUMBERS:
        small = (bucket - first).astype(np.uint16) * np.uint16(span) + (
            high - low
        ).astype(np.uint16)
        return np.argsort(small, kind="stable")
    order = (
        pl.DataFrame({"number": number})
        .select(pl.arg_sort_by("number", maintain_order=True))
        .to_series()
    )
    return order.to_numpy().astype(np.int64)


def _cuts(ends: Ints, rows: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of buckets that hold about ``rows`` rows each."""
    begin = 0
    while begin < len(ends):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + rows)))
        if ends[min(end, len(ends)) - 1] > before:
            yield begin, min(end, len(ends))
        begin = end
