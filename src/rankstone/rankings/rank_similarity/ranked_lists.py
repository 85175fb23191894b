"""The lists of one run with their ranks: read, ordered and checked as an evaluation does, without judgments."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import DuplicateRows, EmptyInput, TiedScores
from rankstone.hits.alignment import RowCheck, larger_first
from rankstone.hits.alignment_options import ORDERINGS
from rankstone.hits.list_arrays import list_numbers, offsets_of, ragged_range
from rankstone.hits.pair_index import Matches, repeated
from rankstone.hits.query_lists import Lists, read_lists
from rankstone.hits.ranks_and_ties import TieBlocks, rank, sort_lists, tie_blocks
from rankstone.hits.tallies import order_counts
from rankstone.rankings.rank_similarity.lists_audit import total

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from rankstone._basics import Bools, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.pair_index import QueryIndex
    from rankstone.io.input_table import Table

    #: ids as categories, whose numbers stand for them
    Marking = Callable[[pl.Series], pl.Series]

Result = TypeVar("Result")


class ListsByQuery:
    """Documents of several queries (or items of users), one list after another."""

    offsets: Ints

    @cached_property
    def n(self) -> Ints:
        """Documents of each query, int64 ``[queries]``."""
        return np.diff(self.offsets)

    @cached_property
    def query(self) -> Ints:
        """The query of each document, int64 ``[documents]``."""
        return list_numbers(self.n)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each document, from 1, ties broken, int64 ``[documents]``."""
        return np.arange(1, self.offsets[-1] + 1) - self.offsets[self.query]


class Ranked(ListsByQuery, Record):
    """The lists of one run, best first, one query after another.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``.
    first, last
        int64 ``[rows]``: first and last rank of the tie block of each document; both are its rank
        where nothing ties.
    """

    offsets: Ints
    first: Ints
    last: Ints

    def down_to(self, k: int) -> tuple[Ranked, Bools]:
        """Return the first ``k`` of every list, and which rows those are."""
        kept = self.rank <= k
        offsets = offsets_of(np.minimum(self.n, k))
        return Ranked(offsets, self.first[kept], np.minimum(self.last[kept], k)), kept

    def take(self, queries: Ints) -> tuple[Ranked, Ints]:
        """Return the lists of some queries, in that order, and their rows."""
        lengths = self.n[queries]
        rows = ragged_range(self.offsets[queries], lengths)
        return Ranked(offsets_of(lengths), self.first[rows], self.last[rows]), rows

    def part(self, begin: int, end: int) -> Ranked:
        """Return the lists of some queries that follow one another."""
        rows = slice(int(self.offsets[begin]), int(self.offsets[end]))
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        return Ranked(offsets, self.first[rows], self.last[rows])

    def without_ties(self) -> Ranked:
        """Return the lists without ties, every document at its rank."""
        return Ranked(self.offsets, self.rank, self.rank)


class LoadedRun(Record):
    """All lists of a run.

    Attributes
    ----------
    names
        Query ids.
    heads
        int64 ``[queries]``: the first row of each list in the run, which gives the order of queries.
    docs
        Document ids, one list after another, best first.
    ranked
        Their ranks and ties.
    tally
        Counts for the audit.
    """

    names: pl.Series
    heads: Ints
    docs: pl.Series
    ranked: Ranked
    tally: Counter[str]

    def to_frame(self) -> pl.DataFrame:
        """Return ``query_id``, ``doc_id`` and ``rank`` from 1, list after list, best first."""
        columns = {
            "query_id": self.names.gather(self.ranked.query),
            "doc_id": self.docs,
            "rank": self.ranked.rank,
        }
        return pl.DataFrame(columns)

    def in_order(self) -> LoadedRun:
        """Return the lists in the order of the run; those across two pieces of the stream came later."""
        if (self.heads[1:] > self.heads[:-1]).all():
            return self
        order = np.argsort(self.heads)
        ranked, rows = self.ranked.take(order)
        names = self.names.gather(order)
        docs = self.docs.gather(rows)
        return LoadedRun(names, self.heads[order], docs, ranked, self.tally)


class OrderedBatch(Record):
    """Some lists of a run: their rows in order, their ranks, counts for the audit, and marked ids."""

    batch: Batch
    heads: Ints
    ranked: Ranked
    tally: Counter[str]
    docs: pl.Series | None


def load_run(
    table: Table, options: AlignmentOptions, mark: Marking | None = None
) -> LoadedRun:
    """Read and sort a whole run; ``mark`` as for :func:`order_batch`."""

    def each(part: OrderedBatch) -> tuple[OrderedBatch, pl.Series]:
        return part, all_ids(part.batch) if part.docs is None else part.docs

    parts, _ = read_ranked(table, options, None, each, mark)
    batches = [part for part, _ in parts]
    lengths, first, last = (
        np.concatenate([getattr(part.ranked, name) for part in batches])
        for name in ("n", "first", "last")
    )
    return LoadedRun(
        names=pl.concat([part.batch.names for part in batches]),
        heads=np.concatenate([part.heads for part in batches]),
        docs=pl.concat([docs for _, docs in parts]),
        ranked=Ranked(offsets_of(lengths), first, last),
        tally=total(part.tally for part in batches),
    )


def read_ranked(
    table: Table,
    options: AlignmentOptions,
    queries: QueryIndex | None,
    each: Callable[[OrderedBatch], Result],
    mark: Marking | None = None,
) -> tuple[list[Result], Lists]:
    """Call ``each`` for batches of ordered lists, in any thread, and return the results in order.

    Parameters
    ----------
    table, options, mark
        The run, and as for :func:`order_batch`.
    queries
        The queries that lists are numbered by.
    each
        Called for some lists.

    Returns
    -------
    results, lists
        The second records which of the ``queries`` the run answers.
    """
    columns = [pl.col("query_id"), pl.col("doc_id")]
    if mark is None:
        columns.append(pl.col("doc_id").hash().alias("hash"))
    if options.order != "input":
        columns.append(larger_first(options.order).alias("key"))
    check = RowCheck(options, table.locate)
    results, lists = read_lists(
        lambda: Lists(queries, check, keep_extra=True),
        lambda: table.tables(columns),
        lambda batch: each(order_batch(batch, options, table, mark)),
    )
    if not results:
        raise EmptyInput("the run is empty", where=table.source)
    return results, lists


def order_batch(
    batch: Batch, options: AlignmentOptions, table: Table, mark: Marking | None = None
) -> OrderedBatch:
    """Sort every list of a batch, with ties and duplicates by the options.

    Parameters
    ----------
    batch, options, table
        The lists, how they are ordered, and the run.
    mark
        Returns ids as categories, for a reader that numbers them.  Rows below ``depth`` are then left out
        before ids are read: of ten of a hundred rows it is all that is read.
    """
    height = batch.height
    heads = batch.table_rows(batch.starts)
    batch = sort_lists(batch, options)
    blocks = tie_blocks(batch, options)
    docs = None
    if mark is not None:
        batch, blocks = _shortened(batch, blocks, options)
        docs = mark(all_ids(batch))
        hashes = docs.to_physical().to_numpy().astype(np.uint64)
        batch = replace(batch, hash=hashes << np.uint64(32))
    if options.depth is not None and batch.lengths.max() <= options.depth:
        # nothing is left to cut, and then ranks are row numbers
        options = replace(options, depth=None)
    copies = repeated(batch.hashes, batch.lengths, batch.ids)
    rows = np.arange(batch.height)
    every = Matches(rows, batch.list_of_row, rows)
    try:
        ranks = rank(batch, blocks, copies, every, np.empty(0), options)
    except (DuplicateRows, TiedScores) as error:
        places = [table.locate(row) for row in getattr(error, "rows", ())]
        error.where = ", ".join(places[:3]) or table.source
        option = "ties" if isinstance(error, TiedScores) else "duplicates"
        words = [word for word in ORDERINGS[option] if word != "error"]
        error.fix = f"choose what to do with them: {option}={', '.join(words)}"
        raise
    tally = order_counts(batch, blocks, copies)
    tally["rows"] = height
    if not isinstance(ranks.kept, slice):
        batch = batch.rows_at(ranks.kept, ranks.n)
        docs = None if docs is None else docs.gather(ranks.kept)
    ranked = Ranked(offsets_of(ranks.n), ranks.first, ranks.last)
    return OrderedBatch(batch, heads, ranked, tally, docs)


def all_ids(batch: Batch) -> pl.Series:
    """Return the document ids of all rows of a batch."""
    if batch.take is None:
        return batch.documents
    return batch.documents[batch.take]


def _shortened(
    batch: Batch, blocks: TieBlocks, options: AlignmentOptions
) -> tuple[Batch, TieBlocks]:
    """Return sorted lists down to ``depth`` and the end of the tie block there, unless rows move up."""
    if options.depth is None or options.duplicates != "error":
        return batch, blocks
    lists = np.searchsorted(batch.heads, blocks.start, side="right") - 1
    place = blocks.start - batch.starts[lists]
    reaching = place < options.depth
    lists = lists[reaching]
    place = place[reaching]
    size = blocks.size[reaching]

    lengths = np.minimum(batch.lengths, options.depth)
    np.maximum.at(lengths, lists, place + size)
    batch = batch.rows_at(ragged_range(batch.starts, lengths), lengths)
    start = batch.starts[lists] + place
    return batch, TieBlocks(start, start + size - 1)
