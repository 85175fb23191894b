"""Reads a run into a :class:`ListFrame`, ordered and cut, with numbers for ids; measures its lists.

The stream is read in batches of whole lists, like that of an evaluation.  Most runs are sorted already, which
is checked by a comparison.  Only rows above the cutoff get numbers: with ten of a hundred items per list,
nine tenths of the ids are never read.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import DuplicateRows, EmptyInput, TiedScores, printable
from rankstone.evaluation.scores import RunScores
from rankstone.hits.alignment import larger_first
from rankstone.hits.list_arrays import list_numbers, offsets_of, ragged_range
from rankstone.hits.ranks_and_ties import ordered_ties, sort_lists, tie_blocks
from rankstone.measures.core.measure import Scored
from rankstone.rankings.rank_similarity.list_pairs import read_batches
from rankstone.rankings.recommendation.list_frame import ListFrame
from rankstone.rankings.recommendation.recommendation_measure import (
    PerListMeasure,
    WholeRunMeasure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankstone._basics import Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.ranks_and_ties import TieBlocks
    from rankstone.io.input_table import Table
    from rankstone.measures.core.definition import Named
    from rankstone.rankings.recommendation.list_frame import Codes, Numbers
    from rankstone.rankings.recommendation.recommendation_tables import Tables


class RunLists(Record):
    """The lists of one run, and counts for the audit.

    Attributes
    ----------
    source
        Where the run came from.
    frame
        The lists.
    rows
        Rows of the run.
    tied
        Rows in tie blocks that reach above the cutoff.
    dropped
        Rows dropped as duplicates.
    read_as
        What was guessed of how a file is written.
    """

    source: str
    frame: ListFrame
    rows: int
    tied: int
    dropped: int
    read_as: tuple[str, ...] = ()


def read_lists(
    table: Table,
    items: Codes,
    users: Codes,
    options: AlignmentOptions,
    k: int | None,
    before: Callable[[], object] = lambda: None,
) -> RunLists:
    """Read a run.

    Parameters
    ----------
    table
        The run.
    items, users
        The numbers of items and users; new ones are added.
    options
        How lists are ordered.
    k
        Lists are cut to their first ``k`` items; ``None`` keeps them whole.
    before
        Called once the run is read, before ids get numbers; waits for another thread that numbers ids.
    """
    if options.depth is not None:
        k = options.depth if k is None else min(k, options.depth)
    cutter = _Cutter(items, options, k, table)
    parts, _ = read_batches(table, options, None, cutter.cut, cutter.stream)
    if not parts:
        raise EmptyInput("the run is empty", where=table.source)
    names = pl.concat([part.names for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    item = np.concatenate([part.item for part in parts])
    first = np.concatenate([part.first for part in parts])
    if (
        first[1:] < first[:-1]
    ).any():  # lists across two pieces of the stream came later
        order = np.argsort(first)
        starts = np.cumsum(lengths) - lengths
        item = item[ragged_range(starts[order], lengths[order])]
        names = names.gather(order)
        lengths = lengths[order]
    offsets = offsets_of(lengths)
    before()
    frame = ListFrame(
        names.cast(pl.String), users.of(names), offsets, items.numbered(item)
    )
    rows, tied, dropped = (sum(part.tally[i] for part in parts) for i in range(3))
    return RunLists(table.source, frame, rows, tied, dropped, table.read_as())


class _Part(Record):
    """The lists of one batch: names, first rows, lengths, marks of items; rows read, tied and dropped."""

    names: pl.Series
    first: Ints
    lengths: Ints
    item: Numbers
    tally: tuple[int, int, int]


class _Cutter(Record):
    """Sorts and cuts the lists of a batch, and marks their items."""

    items: Codes
    options: AlignmentOptions
    k: int | None
    table: Table

    def stream(
        self,
        table: Table,
        options: AlignmentOptions,
        regroup: bool,  # noqa: FBT001
    ) -> Iterator[pl.DataFrame]:
        """Start the stream of a run, with the ``key`` that orders lists."""
        # rows that have to be brought together are numbered first: numbers are faster than texts
        columns = [
            pl.col("query_id"),
            self.items.column("doc_id") if regroup else pl.col("doc_id"),
        ]
        if options.order != "input":
            columns.append(larger_first(options.order).alias("key"))
        return table.tables(columns)

    def cut(self, batch: Batch) -> _Part:
        first = batch.table_rows(batch.starts)
        batch = sort_lists(batch, self.options)
        blocks = self._above_cutoff(batch, tie_blocks(batch, self.options))
        order = self._tie_order(batch, blocks)
        tied = int(blocks.size.sum())
        drops = self.options.duplicates in ("first_drop", "last_drop")
        lengths = (
            batch.lengths
            if self.k is None or drops
            else np.minimum(batch.lengths, self.k)
        )
        item = self.items.marks(self._counted_ids(batch, order, lengths))
        duplicates = _duplicate_rows(
            item, lengths, last=self.options.duplicates == "last_drop"
        )
        if not drops and len(duplicates):
            raise self._duplicate(batch, item, lengths, int(duplicates[0]))
        if drops:
            item, lengths = _drop(item, lengths, duplicates, self.k)
        return _Part(
            batch.names, first, lengths, item, (batch.height, tied, len(duplicates))
        )

    def _above_cutoff(self, batch: Batch, blocks: TieBlocks) -> TieBlocks:
        """Return the tie blocks that reach above the cutoff."""
        if self.k is None or not len(blocks) or self.options.duplicates != "error":
            return blocks
        reach = blocks.start - batch.starts[batch.list_of_row[blocks.start]] < self.k
        return replace(blocks, start=blocks.start[reach], end=blocks.end[reach])

    def _tie_order(self, batch: Batch, blocks: TieBlocks) -> Ints | None:
        """Return the row at each place; ``None`` where no row moves."""
        if not len(blocks):
            return None
        if self.options.tie_rule.refuses:
            query = printable(batch.names[int(batch.list_of_row[blocks.start[0]])])
            raise TiedScores(
                f"{int(blocks.size[0])} items tie",
                where=self.table.source,
                given=f"the list of {query}",
                fix='choose an order: ties="docid_desc", "input", …',
            )
        rows = ordered_ties(batch, blocks, self.options)
        if rows is None:
            return None
        order = np.arange(batch.height)
        order[ragged_range(blocks.start, blocks.size)] = rows
        return order

    def _counted_ids(
        self, batch: Batch, order: Ints | None, lengths: Ints
    ) -> pl.Series:
        """Return the ids of the rows above the cutoff, in their final order."""
        if order is None and batch.take is None and lengths is batch.lengths:
            return batch.documents
        places = ragged_range(batch.starts, lengths)
        return batch.ids(places if order is None else order[places])

    def _duplicate(
        self, batch: Batch, item: Numbers, lengths: Ints, row: int
    ) -> DuplicateRows:
        query = printable(
            batch.names[int(np.searchsorted(np.cumsum(lengths), row, side="right"))]
        )
        doc = printable(self.items.marked(item[row : row + 1])[0])
        return DuplicateRows(
            f"duplicate item {doc} in the list of {query}",
            where=self.table.source,
            expected="each item once in a list",
            fix="choose what to do with duplicates=first_drop or last_drop",
        )


def _duplicate_rows(item: Numbers, lengths: Ints, *, last: bool) -> Ints:
    """Return the rows whose item is earlier (with ``last``: later) in its list, too, ascending."""
    lists = np.repeat(
        np.arange(len(lengths), dtype=np.uint64) << np.uint64(32), lengths
    )
    key = lists | item
    ordered = np.sort(key)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.empty(0, np.int64)
    order = np.argsort(key, kind="stable")
    same = key[order[1:]] == key[order[:-1]]
    return np.sort(order[:-1][same] if last else order[1:][same])


def _drop(
    item: Numbers, lengths: Ints, drop: Ints, k: int | None
) -> tuple[Numbers, Ints]:
    """Return the lists without some rows, cut to their first ``k``."""
    remaining = np.ones(len(item), bool)
    remaining[drop] = False
    lists = list_numbers(lengths)
    left = np.bincount(lists[remaining], minlength=len(lengths))
    item = item[remaining]
    if k is None:
        return item, left
    kept = np.minimum(left, k)
    return item[ragged_range(np.cumsum(left) - left, kept)], kept


_MEASURING_THREADS: Final = 2
_COLUMNS: Final = ("numerator", "denominator", "value", "status")


def measure_lists(
    frame: ListFrame,
    tables: Tables,
    measures: Sequence[PerListMeasure | WholeRunMeasure],
) -> tuple[RunScores, dict[Named, float]]:
    """Return the scores of a run's lists, and the values of measures of the whole run."""
    of_lists = [m for m in measures if isinstance(m, PerListMeasure)]
    chunks = frame.chunks()
    first = next(chunks)
    with ThreadPoolExecutor(_MEASURING_THREADS) as pool:
        # what all chunks share is computed with the first, a measure at a time
        parts = [list(pool.map(lambda measure: measure.score(first, tables), of_lists))]
        rest = pool.map(
            lambda chunk: [measure.score(chunk, tables) for measure in of_lists], chunks
        )
        whole = {
            m: pool.submit(m.value, frame, tables)
            for m in measures
            if isinstance(m, WholeRunMeasure)
        }
        parts += rest
        values: dict[Named, float] = {
            measure: value.result() for measure, value in whole.items()
        }
    by_measure: dict[Any, Scored] = {}
    for at, measure in enumerate(of_lists):
        joined = (
            np.concatenate([getattr(part[at], name) for part in parts])
            for name in _COLUMNS
        )
        by_measure[measure] = Scored(*joined)
    return RunScores(frame.names, by_measure, _about(frame, tables)), values


def _about(frame: ListFrame, tables: Tables) -> pl.DataFrame | None:
    """Return the columns of the table of users, one row per list."""
    if tables.users is None:
        return None
    known = tables.users.collect(*tables.users.columns)
    names = frame.names.rename("query_id").to_frame()
    return names.join(known, on="query_id", how="left", maintain_order="left").drop(
        "query_id"
    )
