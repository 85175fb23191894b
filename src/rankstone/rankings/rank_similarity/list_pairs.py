"""From two runs to pairs of lists and their values: one run is loaded, the other is streamed.

The documents of the loaded run are matched like judged documents, so both runs are read, ordered, checked and
matched by the code of an evaluation.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import DuplicateRows, EmptyInput
from rankstone.hits.alignment import RowCheck, larger_first
from rankstone.hits.list_arrays import offsets_of, ragged_range
from rankstone.hits.pair_index import Matches, PairIndex, QueryIndex, repeated
from rankstone.hits.query_lists import Lists, Scattered
from rankstone.hits.ranks_and_ties import rank, sort_lists, tie_blocks
from rankstone.rankings.rank_similarity.list_measure import (
    Agreement,
    ListMeasure,
    PairStatus,
)
from rankstone.rankings.rank_similarity.lists_audit import (
    ListsAudit,
    PairTally,
    RankingAudit,
)
from rankstone.rankings.rank_similarity.paired_lists import PairedLists
from rankstone.rankings.rank_similarity.ranked_lists import Ranked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankstone._basics import Bools, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.query_lists import ReadBatch
    from rankstone.io.input_table import Table

Result = TypeVar("Result")

#: batches worked on at the same time
_THREADS: Final = 2


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
    tally: PairTally

    def index(self) -> PairIndex:
        """Return the index for documents of the other run."""
        return PairIndex(QueryIndex(self.names), self.ranked.query, self.docs)

    def to_frame(self) -> pl.DataFrame:
        """Return ``query_id``, ``doc_id`` and ``rank`` from 1, list after list, best first."""
        columns = {
            "query_id": self.names.gather(self.ranked.query),
            "doc_id": self.docs,
            "rank": self.ranked.rank,
        }
        return pl.DataFrame(columns)


class StreamedLists(Record):
    """Some lists of the streamed run, without their documents.

    Attributes
    ----------
    codes
        int64 ``[queries]``: numbers in the loaded run of the queries that both runs have.
    others, others_heads, others_n
        Queries of the streamed run only, the first rows of their lists in it, and their lengths.
    n
        int64 ``[lists]``: lengths of all these lists.
    tally
        Counts for the audit.
    """

    codes: Ints
    others: pl.Series
    others_heads: Ints
    others_n: Ints
    n: Ints
    tally: PairTally


class PairChunk(Record):
    """Some lists of the streamed run, and for queries that both runs have the pairs of lists."""

    paired: PairedLists
    lists: StreamedLists


class _Ordered(Record):
    """A sorted batch: the rows that are kept, best first, and their tie blocks."""

    batch: Batch
    heads: Ints
    rows: Ints
    first: Ints
    last: Ints
    n: Ints
    tally: PairTally


def load_run(table: Table, options: AlignmentOptions) -> LoadedRun:
    """Read and sort a whole run."""

    def each(batch: Batch) -> tuple[pl.Series, pl.Series, _Ordered]:
        ordered = _ordered(batch, options, table)
        return batch.names, ordered.batch.ids(ordered.rows), ordered

    parts, _ = read_batches(table, options, None, each, _tables)
    if not parts:
        raise EmptyInput("the run is empty", where=table.source)
    return LoadedRun(
        names=pl.concat([names for names, _, _ in parts]),
        heads=np.concatenate([part.heads for *_, part in parts]),
        docs=pl.concat([docs for _, docs, _ in parts]),
        ranked=Ranked(
            offsets=offsets_of(np.concatenate([part.n for *_, part in parts])),
            first=np.concatenate([part.first for *_, part in parts]),
            last=np.concatenate([part.last for *_, part in parts]),
        ),
        tally=PairTally.total(part.tally for *_, part in parts),
    )


def stream_pairs(
    loaded: LoadedRun,
    table: Table,
    options: AlignmentOptions,
    each: Callable[[PairChunk], Result],
) -> tuple[list[Result], Lists]:
    """Stream a run, match it with the loaded one, and call ``each`` for every chunk, in order of the stream.

    The second value holds which queries of the loaded run are in the streamed one.
    """
    index = loaded.index()

    def work(batch: Batch) -> Result:
        return each(_chunk(loaded.ranked, index, _ordered(batch, options, table)))

    results, lists = read_batches(table, options, index.queries, work, _tables)
    if not results:
        raise EmptyInput("the run is empty", where=table.source)
    return results, lists


def read_batches(
    table: Table,
    options: AlignmentOptions,
    queries: QueryIndex | None,
    each: Callable[[Batch], Result],
    stream: Callable[[Table, AlignmentOptions, bool], Iterable[pl.DataFrame]],
) -> tuple[list[Result], Lists]:
    """Call ``each`` for batches of whole lists, two at a time, and return the results in order.

    Parameters
    ----------
    table, options
        The run, and how its lists are ordered.
    queries
        The queries that lists are numbered by.
    each
        Called for batches that have a list.
    stream
        Starts the stream of the table; its last argument is True where rows of a query are scattered and have
        to be brought together first.
    """
    for regroup in (False, True):
        lists = Lists(queries, RowCheck(options, table.locate), keep_extra=True)
        try:
            batches = (lists.regrouped if regroup else lists.contiguous)(
                stream(table, options, regroup)
            )
            return _work(lists, batches, each), lists
        except Scattered:
            if regroup:
                raise
    raise AssertionError  # pragma: no cover - the second round returns or raises


def _work(
    lists: Lists,
    batches: Iterator[Callable[[], ReadBatch]],
    each: Callable[[Batch], Result],
) -> list[Result]:
    def job(read: Callable[[], ReadBatch]) -> tuple[ReadBatch, Result | None]:
        met = read()
        return met, each(met.batch) if len(met.batch.lengths) else None

    def finish(future: Future[tuple[ReadBatch, Result | None]]) -> None:
        met, result = future.result()
        lists.admit(met)
        if result is not None:
            results.append(result)

    results: list[Result] = []
    with ThreadPoolExecutor(_THREADS) as pool:
        waiting: deque[Future[tuple[ReadBatch, Result | None]]] = deque()
        for read in batches:
            waiting.append(pool.submit(job, read))
            while len(waiting) > _THREADS:
                finish(waiting.popleft())
        while waiting:
            finish(waiting.popleft())
    lists.close()
    return results


def _tables(
    table: Table, options: AlignmentOptions, _regroup: object
) -> Iterator[pl.DataFrame]:
    """Start the stream with the ``key`` that orders lists and the documents' hashes."""
    columns = [
        pl.col("query_id"),
        pl.col("doc_id"),
        pl.col("doc_id").hash().alias("hash"),
    ]
    if options.order != "input":
        columns.append(larger_first(options.order).alias("key"))
    return table.tables(columns)


def _ordered(batch: Batch, options: AlignmentOptions, table: Table) -> _Ordered:
    """Sort every list of a batch, with ties and duplicates by the options."""
    heads = batch.table_rows(batch.starts)
    batch = sort_lists(batch, options)
    twice = repeated(batch.hashes, batch.lengths, batch.ids)
    blocks = tie_blocks(batch, options)
    rows = np.arange(batch.height)
    every = Matches(rows, batch.list_of_row, rows)
    try:
        ranks = rank(batch, blocks, twice, every, np.empty(0), options)
    except DuplicateRows as error:
        error.where = ", ".join(table.locate(row) for row in error.rows[:3])
        raise
    tally = PairTally(
        rows=batch.height,
        tied=int(blocks.size.sum()),
        tied_queries=len(np.unique(batch.list_of_row[blocks.start]))
        if len(blocks)
        else 0,
        duplicates=len(twice),
    )
    return _Ordered(
        batch, heads, rows[ranks.kept], ranks.first, ranks.last, ranks.n, tally
    )


def _chunk(loaded: Ranked, index: PairIndex, ordered: _Ordered) -> PairChunk:
    """Match the lists of a batch with those of the loaded run."""
    batch = ordered.batch
    known = batch.codes >= 0
    codes = batch.codes[known]
    is_known = known[batch.list_of_row[ordered.rows]]
    rows = ordered.rows[is_known]
    b = Ranked(
        offsets=offsets_of(ordered.n[known]),
        first=ordered.first[is_known],
        last=ordered.last[is_known],
    )
    lengths = loaded.offsets[codes + 1] - loaded.offsets[codes]
    offsets = offsets_of(lengths)
    taken = ragged_range(loaded.offsets[codes], lengths)
    a = Ranked(offsets, loaded.first[taken], loaded.last[taken])
    place = np.full(batch.height, -1)
    place[rows] = np.arange(len(rows))
    matches = index.find(batch, batch.codes)
    number = np.cumsum(known) - 1
    of_a = (
        matches.pair
        - loaded.offsets[batch.codes[matches.list]]
        + offsets[number[matches.list]]
    )
    to_b = np.full(len(taken), -1)
    kept = place[matches.row] >= 0
    to_b[of_a[kept]] = place[matches.row[kept]]
    lists = StreamedLists(
        codes=codes,
        others=batch.names.filter(pl.Series(~known, dtype=pl.Boolean)),
        others_heads=ordered.heads[~known],
        others_n=ordered.n[~known],
        n=ordered.n,
        tally=ordered.tally,
    )
    return PairChunk(PairedLists(a, b, to_b), lists)


#: rows measured together: they fit a processor's cache
_ROWS: Final = 1 << 15


class PairPart(Record):
    """The values of a chunk, whose documents are released.

    Attributes
    ----------
    lists
        The lists of the streamed run.
    values
        One entry per measure.
    documents
        How many documents the lists of the common queries have in either run, and in both.
    """

    lists: StreamedLists
    values: list[Agreement]
    documents: tuple[int, int, int]


def measure_chunk(chunk: PairChunk, measures: tuple[ListMeasure, ...]) -> PairPart:
    """Measure the pairs of lists of a chunk."""
    paired = chunk.paired
    pieces = [
        [measure.compare(piece) for measure in measures]
        for piece in paired.parts(_ROWS)
    ]
    values = [Agreement.joined(of_measure) for of_measure in zip(*pieces, strict=True)]
    return PairPart(
        chunk.lists,
        values,
        (len(paired.a.first), len(paired.b.first), int(paired.n_common.sum())),
    )


class JoinedParts:
    """All parts: queries in the order of the first run, then those of the second run only.

    Parameters
    ----------
    loaded
        The first run.
    parts
        The values of the second run.
    only_a
        bool ``[queries of the first run]``: those that are not in the second.
    """

    def __init__(self, loaded: LoadedRun, parts: list[PairPart], only_a: Bools) -> None:
        self._loaded, self._parts, self._lists = (
            loaded,
            parts,
            [part.lists for part in parts],
        )
        self._codes = np.concatenate([lists.codes for lists in self._lists])
        self._only_a = np.flatnonzero(only_a)
        self._others = pl.concat([lists.others for lists in self._lists])
        self._others_n = np.concatenate([lists.others_n for lists in self._lists])
        heads = np.concatenate([lists.others_heads for lists in self._lists])
        self._order = np.concatenate(
            (np.argsort(loaded.heads), len(loaded.names) + np.argsort(heads))
        )

    @property
    def queries(self) -> pl.Series:
        """All query ids."""
        return pl.concat([self._loaded.names, self._others]).gather(self._order)

    def agreement(self, at: int, measure: ListMeasure) -> Agreement:
        """Return the values of one measure for all queries."""
        count = len(self._loaded.names)
        deepest = np.iinfo(np.int64).max if measure.k is None else measure.k

        def column(name: str, only_a: Any, only_b: Any) -> Any:  # noqa: ANN401 - arrays or numbers
            values = np.concatenate(
                [getattr(part.values[at], name) for part in self._parts]
            )
            whole = np.empty(len(self._order), values.dtype)
            whole[self._codes] = values
            whole[self._only_a] = only_a
            whole[count:] = only_b
            return whole[self._order]

        return Agreement(
            value=column("value", np.nan, np.nan),
            status=column("status", PairStatus.only_a, PairStatus.only_b),
            n_a=column(
                "n_a", np.minimum(self._loaded.ranked.n[self._only_a], deepest), 0
            ),
            n_b=column("n_b", 0, np.minimum(self._others_n, deepest)),
            n_common=column("n_common", 0, 0),
        )

    def audit(self, names: tuple[str, str], a: Table, b: Table) -> ListsAudit:
        """Return the audit of both runs."""
        loaded = self._loaded
        queries = self.queries.cast(pl.String)
        status = np.zeros(len(self._order), np.int64)
        status[self._only_a] = PairStatus.only_a
        status[len(loaded.names) :] = PairStatus.only_b
        status = status[self._order]
        of_a, of_b, common = (
            sum(part.documents[i] for part in self._parts) for i in range(3)
        )
        n_b = np.concatenate([lists.n for lists in self._lists])
        tally_b = PairTally.total(lists.tally for lists in self._lists)
        return ListsAudit(
            names=names,
            a=RankingAudit.of(
                a.source, loaded.ranked.n, loaded.tally, a.comments(), a.read_as()
            ),
            b=RankingAudit.of(b.source, n_b, tally_b, b.comments(), b.read_as()),
            common_queries=len(self._codes),
            only_a=tuple(queries.filter(pl.Series(status == PairStatus.only_a))),
            only_b=tuple(queries.filter(pl.Series(status == PairStatus.only_b))),
            common_documents=common,
            documents_a=of_a,
            documents_b=of_b,
        )


def both_lists(
    query: str, a: tuple[Table, AlignmentOptions], b: tuple[Table, AlignmentOptions]
) -> pl.DataFrame:
    """Return both lists of a query as :meth:`~rankstone.rankings.Similarity.side_by_side` does."""
    first, second = (_one_list(query, *run) for run in (a, b))
    to = first.join(second, on="doc", how="left", maintain_order="left")["rank_right"]
    back = second.join(first, on="doc", how="left", maintain_order="left")["rank_right"]
    left = first.select("rank", a="doc", a_to=to, a_tied="tied")
    right = second.select("rank", b="doc", b_from=back, b_tied="tied")
    return left.join(right, on="rank", how="full", coalesce=True).sort("rank")


def _one_list(query: str, table: Table, options: AlignmentOptions) -> pl.DataFrame:
    """Return ``rank``, ``doc`` and ``tied`` of one query, no row where the run does not have it."""
    loaded = load_query(query, table, options)
    if loaded is None:
        return pl.DataFrame(
            schema={
                "rank": pl.Int64(),
                "doc": table.schema["doc_id"],
                "tied": pl.Boolean(),
            }
        )
    ranked = loaded.ranked
    rank = np.arange(1, len(loaded.docs) + 1)
    return pl.DataFrame(
        {"rank": rank, "doc": loaded.docs, "tied": ranked.first < ranked.last}
    )


def load_query(query: str, table: Table, options: AlignmentOptions) -> LoadedRun | None:
    """Return the list of one query, ``None`` where the run does not have it."""
    try:
        return load_run(rows_of_query(table, query), options)
    except EmptyInput:
        return None


def rows_of_query(table: Table, query: str) -> Table:
    """Return the rows of one query."""
    start = table.start

    def started(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for piece in start([pl.col(name) for name in table.schema]):
            yield piece.filter(pl.col("query_id").cast(pl.String) == query).select(
                columns
            )

    return replace(table, start=started)
