"""From a run to a :class:`ListFrame`: ordered by the rules of evaluation, cut early, ids made numbers.

The stream is read in batches of whole lists, like an evaluation's.  The usual run is in order already;
that is checked and costs a comparison.  Only rows that count are given numbers: with ten of a hundred
items a list, nine tenths of the ids are never looked at.

Measuring a run's lists: chunk by chunk, and what is of the whole run, on two threads.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import DuplicateRows, EmptyInput, TiedScores, printable
from rankstone.evaluation.scores import RunScores
from rankstone.hits.alignment import RowCheck
from rankstone.hits.batches import Lists, ReadBatch, Scattered
from rankstone.hits.list_arrays import ragged_range
from rankstone.hits.ranks_and_ties import sort_lists, tie_blocks
from rankstone.measures.core.measure import Scored
from rankstone.rankings.recommendation.list_frame import ListFrame
from rankstone.rankings.recommendation.recommendation_measure import OfLists, OfRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.list_arrays import Ints
    from rankstone.hits.ranks_and_ties import TieBlocks
    from rankstone.io.input_table import Table
    from rankstone.measures.core.definition import Named
    from rankstone.rankings.recommendation.list_frame import Codes, Numbers
    from rankstone.rankings.recommendation.recommendation_tables import Tables


__all__ = ["Reading", "measure_lists", "read_lists"]

_THREADS: Final = 2


@dataclass(frozen=True, eq=False)
class Reading:
    """One run's lists and what was found while reading them.

    Attributes
    ----------
    source
        Where the run came from.
    frame
        The lists.
    rows
        Rows of the run.
    tied
        Rows in tie blocks that reach into the ranks that count.
    dropped
        Rows dropped as duplicates.
    """

    source: str
    frame: ListFrame
    rows: int
    tied: int
    dropped: int


def read_lists(
    table: Table,
    items: Codes,
    users: Codes,
    options: AlignmentOptions,
    k: int | None,
    before: Callable[[], object] = lambda: None,
) -> Reading:
    """Read a run.

    Parameters
    ----------
    table
        The run.
    items, users
        The numbers of items and users so far; new ones are added.
    options
        The rules of order.
    k
        Lists are cut to their first ``k`` items; ``None`` keeps them whole.
    before
        Called once all is read, before ids receive numbers: waits for a thread that numbers ids, too.
    """
    if options.depth is not None:
        k = options.depth if k is None else min(k, options.depth)
    cutter = _Cutter(items, options, k, table)
    by = () if options.order == "input" else (options.order,)
    try:
        parts = _parts(Lists.contiguous, table, by, cutter)
    except Scattered:
        parts = None
    if parts is None:  # outside the handler, whose traceback would keep the first stream alive
        parts = _parts(Lists.regrouped, table, by, cutter)
    if not parts:
        raise EmptyInput("the run is empty", where=table.source)
    names = pl.concat([part.names for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    item = np.concatenate([part.item for part in parts])
    first = np.concatenate([part.first for part in parts])
    if (first[1:] < first[:-1]).any():  # lists that lay across two pieces of the stream came later
        order = np.argsort(first)
        starts = np.cumsum(lengths) - lengths
        item = item[ragged_range(starts[order], lengths[order])]
        names, lengths = names.gather(order), lengths[order]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    before()
    frame = ListFrame(names.cast(pl.String), users.of(names), offsets, items.numbered(item))
    rows, tied, dropped = (sum(part.tally[i] for part in parts) for i in range(3))
    return Reading(table.source, frame, rows, tied, dropped)


def _parts(
    way: Callable[[Lists, Iterable[pl.DataFrame]], Iterator[Callable[[], ReadBatch]]],
    table: Table,
    by: tuple[str, ...],
    cutter: _Cutter,
) -> list[_Part]:
    """Read a stream one way, two batches at a time, in its order."""
    # rows that have to be brought together are numbered first: numbers are quicker to reach than texts
    scattered = way is Lists.regrouped
    columns = [pl.col("query_id"), cutter.items.column("doc_id") if scattered else pl.col("doc_id")]
    for name in by:
        key = pl.col(name).cast(pl.Float64)
        columns.append((-key if name == "rank" else key).alias("key"))
    lists = Lists(None, RowCheck(cutter.options, table.locate), keep_extra=True)
    parts: list[_Part] = []

    def job(read: Callable[[], ReadBatch]) -> tuple[ReadBatch, _Part]:
        met = read()
        return met, cutter.cut(met.batch)

    def finish(future: Future[tuple[ReadBatch, _Part]]) -> None:
        met, part = future.result()
        lists.admit(met)
        parts.append(part)

    with ThreadPoolExecutor(_THREADS) as pool:
        waiting: deque[Future[tuple[ReadBatch, _Part]]] = deque()
        for read in way(lists, table.tables(columns)):
            waiting.append(pool.submit(job, read))
            while len(waiting) > _THREADS:
                finish(waiting.popleft())
        while waiting:
            finish(waiting.popleft())
    lists.close()
    return parts


@dataclass(frozen=True, eq=False)
class _Part:
    """The lists of one batch: names, first rows, lengths, marks of items; rows read, tied and dropped."""

    names: pl.Series
    first: Ints
    lengths: Ints
    item: Numbers
    tally: tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class _Cutter:
    """Orders the lists of a batch, cuts them and marks their items."""

    items: Codes
    options: AlignmentOptions
    k: int | None
    table: Table

    def cut(self, batch: Batch) -> _Part:
        first = batch.table_rows(batch.starts)
        batch = sort_lists(batch, self.options)
        blocks = self._concerned(batch, tie_blocks(batch, self.options))
        order = self._settled(batch, blocks)
        tied = int(blocks.size.sum())
        drops = self.options.duplicates in ("first_drop", "last_drop")
        lengths = batch.lengths if self.k is None or drops else np.minimum(batch.lengths, self.k)
        item = self.items.marks(self._shown(batch, order, lengths))
        twice = _twice(item, lengths, last=self.options.duplicates == "last_drop")
        if not drops and len(twice):
            raise self._duplicate(batch, item, lengths, int(twice[0]))
        if drops:
            item, lengths = _without(item, lengths, twice, self.k)
        return _Part(batch.names, first, lengths, item, (batch.height, tied, len(twice)))

    def _concerned(self, batch: Batch, blocks: TieBlocks) -> TieBlocks:
        """Return the tie blocks that reach into the ranks that count."""
        if self.k is None or not len(blocks) or self.options.duplicates != "error":
            return blocks
        ahead = blocks.start - batch.starts[batch.list_of_row[blocks.start]]
        return blocks.part(np.flatnonzero(ahead < self.k))

    def _settled(self, batch: Batch, blocks: TieBlocks) -> Ints | None:
        """Return which row stands at each place; ``None`` where all stand where they are."""
        ties = self.options.ties
        if not len(blocks) or ties == "input":
            return None
        if ties == "error":
            query = printable(batch.names[int(batch.list_of_row[blocks.start[0]])])
            raise TiedScores(
                f"{int(blocks.size[0])} items tie",
                where=self.table.source,
                given=f"the list of {query}",
                fix='say who comes first: ties="docid_desc", "input", …',
            )
        places = ragged_range(blocks.start, blocks.size)
        block = np.repeat(np.arange(len(blocks)), blocks.size)
        by = pl.Series(places) if ties == "reverse_input" else batch.ids(places).cast(pl.String)
        frame = pl.DataFrame({"block": block, "by": by, "row": places})
        downwards = ties != "docid_asc"
        rows = frame.sort("block", "by", descending=[False, downwards], maintain_order=True)["row"]
        order = np.arange(batch.height)
        order[places] = rows.to_numpy()
        return order

    def _shown(self, batch: Batch, order: Ints | None, lengths: Ints) -> pl.Series:
        """Return the ids of the rows that count, in their final order."""
        if order is None and batch.take is None and lengths is batch.lengths:
            return batch.documents
        places = ragged_range(batch.starts, lengths)
        return batch.ids(places if order is None else order[places])

    def _duplicate(self, batch: Batch, item: Numbers, lengths: Ints, row: int) -> DuplicateRows:
        query = printable(batch.names[int(np.searchsorted(np.cumsum(lengths), row, side="right"))])
        doc = printable(self.items.marked(item[row : row + 1])[0])
        return DuplicateRows(
            f"item {doc} stands in the list of {query} twice",
            where=self.table.source,
            expected="each item once in a list",
            fix="choose what to do with duplicates=first_drop or last_drop",
        )


def _twice(item: Numbers, lengths: Ints, *, last: bool) -> Ints:
    """Return the rows whose item stands earlier (with ``last``: later) in its list, ascending."""
    lists = np.repeat(np.arange(len(lengths), dtype=np.uint64) << np.uint64(32), lengths)
    key = lists | item
    ordered = np.sort(key)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.empty(0, np.int64)
    order = np.argsort(key, kind="stable")
    same = key[order[1:]] == key[order[:-1]]
    return np.sort(order[:-1][same] if last else order[1:][same])


def _without(item: Numbers, lengths: Ints, drop: Ints, k: int | None) -> tuple[Numbers, Ints]:
    """Return the lists less some rows, cut to their first ``k``."""
    stays = np.ones(len(item), bool)
    stays[drop] = False
    lists = np.repeat(np.arange(len(lengths)), lengths)
    left = np.bincount(lists[stays], minlength=len(lengths))
    item = item[stays]
    if k is None:
        return item, left
    kept = np.minimum(left, k)
    return item[ragged_range(np.cumsum(left) - left, kept)], kept


_MEASURING_THREADS: Final = 2
_COLUMNS: Final = ("numerator", "denominator", "value", "status")


def measure_lists(
    frame: ListFrame, tables: Tables, measures: Sequence[OfLists | OfRun]
) -> tuple[RunScores, dict[Named, float]]:
    """Return the scores of a run's lists, and the values of measures of the whole run."""
    of_lists = [m for m in measures if isinstance(m, OfLists)]

    def score(chunk: ListFrame) -> list[Scored]:
        return [measure.score(chunk, tables) for measure in of_lists]

    chunks = frame.chunks()
    parts = [score(next(chunks))]  # what all chunks share is made with the first
    with ThreadPoolExecutor(_MEASURING_THREADS) as pool:
        rest = pool.map(score, chunks) if of_lists else ()
        whole = {m: pool.submit(m.value, frame, tables) for m in measures if isinstance(m, OfRun)}
        parts += rest
        values: dict[Named, float] = {measure: value.result() for measure, value in whole.items()}
    by_measure: dict[Any, Scored] = {}
    for at, measure in enumerate(of_lists):
        joined = (np.concatenate([getattr(part[at], name) for part in parts]) for name in _COLUMNS)
        by_measure[measure] = Scored(*joined)
    return RunScores(frame.names, by_measure, _about(frame, tables)), values


def _about(frame: ListFrame, tables: Tables) -> pl.DataFrame | None:
    """Return what is known of the users of the lists, a row each."""
    if tables.users is None:
        return None
    known = tables.users.collect(*tables.users.columns)
    names = frame.names.rename("query_id").to_frame()
    return names.join(known, on="query_id", how="left", maintain_order="left").drop("query_id")
