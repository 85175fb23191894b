"""From two runs to couples of lists: one run is held, the other streams by.

The documents of the held run are found in the other as judged documents are found in a run, so both
runs are read, ordered, checked and matched by the code that serves an evaluation.

From chunks of couples to values of all queries, in the order of the runs.

The two lists of one query, rank by rank.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import polars as pl

from rankstone.errors import DuplicateRows, EmptyInput
from rankstone.hits.alignment import RowCheck
from rankstone.hits.batches import Lists, Scattered
from rankstone.hits.list_arrays import ragged_range
from rankstone.hits.pair_index import BatchKeys, Matches, PairIndex, QueryIndex
from rankstone.hits.ranks_and_ties import rank, sort_lists, tie_blocks
from rankstone.rankings.rank_similarity.list_measure import Agreement, ListMeasure, Outcome
from rankstone.rankings.rank_similarity.paired_lists import Couple, ListsAudit, Ranked, RankingAudit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch, ReadBatch
    from rankstone.hits.list_arrays import Bools, Ints
    from rankstone.io.input_table import Table


__all__ = ["Chunk", "Held", "Joined", "Part", "beside", "couples", "hold", "measured", "only"]

Result = TypeVar("Result")

#: batches worked on at the same time
_THREADS: Final = 2


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts over some lists: rows read, rows in tie blocks, lists that have any, duplicate rows."""

    rows: int = 0
    tied: int = 0
    tied_queries: int = 0
    duplicates: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Count both."""
        return Tally(
            self.rows + other.rows,
            self.tied + other.tied,
            self.tied_queries + other.tied_queries,
            self.duplicates + other.duplicates,
        )


@dataclass(frozen=True, eq=False)
class Held:
    """All lists of a run.

    Attributes
    ----------
    names
        Query ids.
    heads
        int64 ``[queries]``: the first row of each list in the run, by which queries are put in order.
    docs
        Document ids, list after list, best first.
    ranked
        Their ranks and ties.
    tally
        Counts for the audit.
    """

    names: pl.Series
    heads: Ints
    docs: pl.Series
    ranked: Ranked
    tally: Tally

    def index(self) -> PairIndex:
        """Return the index in which documents of the other run are looked up."""
        return PairIndex(QueryIndex(self.names), self.ranked.query, self.docs)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some lists of the streamed run, beside the held ones.

    Attributes
    ----------
    couple
        The lists of queries that both runs answer.
    codes
        int64 ``[queries]``: these queries' numbers in the held run.
    others, others_heads, others_n
        Queries that only the streamed run answers, the first rows of their lists in it, and their
        lengths.
    n
        int64 ``[lists]``: lengths of all these lists.
    tally
        Counts for the audit.
    """

    couple: Couple
    codes: Ints
    others: pl.Series
    others_heads: Ints
    others_n: Ints
    n: Ints
    tally: Tally


@dataclass(frozen=True, eq=False)
class _Ordered:
    """A batch in order: the rows that stay, best first, and their tie blocks."""

    batch: Batch
    keys: BatchKeys
    heads: Ints
    rows: Ints
    first: Ints
    last: Ints
    n: Ints
    tally: Tally


def hold(table: Table, options: AlignmentOptions) -> Held:
    """Read a whole run and order it."""

    def each(batch: Batch) -> tuple[pl.Series, pl.Series, _Ordered]:
        ordered = _ordered(batch, options, table)
        return batch.names, ordered.batch.ids(ordered.rows), ordered

    parts, _ = _through(table, options, None, each)
    if not parts:
        raise EmptyInput("the run is empty", where=table.source)
    return Held(
        names=pl.concat([names for names, _, _ in parts]),
        heads=np.concatenate([part.heads for *_, part in parts]),
        docs=pl.concat([docs for _, docs, _ in parts]),
        ranked=Ranked(
            offsets=np.concatenate(([0], np.cumsum(np.concatenate([part.n for *_, part in parts])))),
            first=np.concatenate([part.first for *_, part in parts]),
            last=np.concatenate([part.last for *_, part in parts]),
        ),
        tally=sum((part.tally for *_, part in parts), Tally()),
    )


def couples(
    held: Held, table: Table, options: AlignmentOptions, each: Callable[[Chunk], Result]
) -> tuple[list[Result], Lists]:
    """Stream a run by the held one and call ``each`` for every chunk, in the stream's order.

    The second value returned says which of the held run's queries were met.
    """
    index = held.index()

    def work(batch: Batch) -> Result:
        return each(_chunk(held.ranked, index, _ordered(batch, options, table)))

    results, lists = _through(table, options, index.queries, work)
    if not results:
        raise EmptyInput("the run is empty", where=table.source)
    return results, lists


def _through(
    table: Table, options: AlignmentOptions, queries: QueryIndex | None, each: Callable[[Batch], Result]
) -> tuple[list[Result], Lists]:
    """Call ``each`` for batches of whole lists; a run whose queries are scattered is regrouped first."""
    for regroup in (False, True):
        lists = Lists(queries, RowCheck(options, table.locate), keep_extra=True)
        batches = (lists.regrouped if regroup else lists.contiguous)(_tables(table, options))
        try:
            return _work(lists, batches, each), lists
        except Scattered:
            if regroup:
                raise
    raise AssertionError  # pragma: no cover - the second round returns or raises


def _work(
    lists: Lists, batches: Iterator[Callable[[], ReadBatch]], each: Callable[[Batch], Result]
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


def _tables(table: Table, options: AlignmentOptions) -> Iterator[pl.DataFrame]:
    """Start the stream with the ``key`` that orders lists and the documents' hashes."""
    columns = [pl.col("query_id"), pl.col("doc_id"), pl.col("doc_id").hash().alias("hash")]
    if options.order != "input":
        key = pl.col(options.order).cast(pl.Float64)
        columns.append((-key if options.order == "rank" else key).alias("key"))
    return table.tables(columns)


def _ordered(batch: Batch, options: AlignmentOptions, table: Table) -> _Ordered:
    """Order every list of a batch, ties and duplicates as the options say."""
    heads = batch.table_rows(batch.starts)
    batch = sort_lists(batch, options)
    keys = BatchKeys(batch)
    twice = keys.duplicates()
    blocks = tie_blocks(batch, options)
    rows = np.arange(batch.height)
    every = Matches(rows, batch.list_of_row, rows)
    try:
        ranks = rank(batch, blocks, twice, every, np.empty(0), options)
    except DuplicateRows as error:
        error.where = ", ".join(table.locate(row) for row in error.rows[:3])
        raise
    tally = Tally(
        rows=batch.height,
        tied=int(blocks.size.sum()),
        tied_queries=len(np.unique(batch.list_of_row[blocks.start])) if len(blocks) else 0,
        duplicates=len(twice),
    )
    return _Ordered(batch, keys, heads, rows[ranks.kept], ranks.first, ranks.last, ranks.n, tally)


def _chunk(held: Ranked, index: PairIndex, ordered: _Ordered) -> Chunk:
    """Lay the lists of a batch beside those of the held run."""
    batch = ordered.batch
    known = batch.codes >= 0
    codes = batch.codes[known]
    wanted = known[batch.list_of_row[ordered.rows]]
    rows = ordered.rows[wanted]
    b = Ranked(
        offsets=np.concatenate(([0], np.cumsum(ordered.n[known]))),
        first=ordered.first[wanted],
        last=ordered.last[wanted],
    )
    lengths = held.offsets[codes + 1] - held.offsets[codes]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    taken = ragged_range(held.offsets[codes], lengths)
    a = Ranked(offsets, held.first[taken], held.last[taken])
    place = np.full(batch.height, -1)
    place[rows] = np.arange(len(rows))
    found = index.find(batch, batch.codes, ordered.keys)
    number = np.cumsum(known) - 1
    of_a = found.pair - held.offsets[batch.codes[found.list]] + offsets[number[found.list]]
    to_b = np.full(len(taken), -1)
    stays = place[found.row] >= 0
    to_b[of_a[stays]] = place[found.row[stays]]
    return Chunk(
        couple=Couple(a, b, to_b),
        codes=codes,
        others=batch.names.filter(pl.Series(~known, dtype=pl.Boolean)),
        others_heads=ordered.heads[~known],
        others_n=ordered.n[~known],
        n=ordered.n,
        tally=ordered.tally,
    )


#: rows measured together: they fit a processor's cache
_ROWS: Final = 1 << 15


@dataclass(frozen=True, eq=False)
class Part:
    """What was found in a chunk, whose lists are let go.

    Attributes
    ----------
    codes, others, others_heads, others_n, n, tally
        As in :class:`~rankstone.rankings.rank_similarity.list_pairs.Chunk`.
    found
        Values, one entry a measure.
    documents
        Documents in the lists of queries that both runs answer: of either run, and in both.
    """

    codes: Ints
    others: pl.Series
    others_heads: Ints
    others_n: Ints
    n: Ints
    tally: Tally
    found: list[Agreement]
    documents: tuple[int, int, int]


def measured(chunk: Chunk, measures: tuple[ListMeasure, ...]) -> Part:
    """Measure the couples of a chunk."""
    couple = chunk.couple
    pieces = [[measure.compare(piece) for measure in measures] for piece in couple.parts(_ROWS)]
    return Part(
        codes=chunk.codes,
        others=chunk.others,
        others_heads=chunk.others_heads,
        others_n=chunk.others_n,
        n=chunk.n,
        tally=chunk.tally,
        found=[Agreement.joined(of_measure) for of_measure in zip(*pieces, strict=True)],
        documents=(len(couple.a.first), len(couple.b.first), int(couple.n_common.sum())),
    )


class Joined:
    """All parts: queries in the order of the first run, then those that only the second answers.

    Parameters
    ----------
    held
        The first run.
    parts
        What was found in the second.
    only_a
        bool ``[queries of the first run]``: those that the second does not answer.
    """

    def __init__(self, held: Held, parts: list[Part], only_a: Bools) -> None:
        self._held, self._parts = held, parts
        self._codes = np.concatenate([part.codes for part in parts])
        self._only_a = np.flatnonzero(only_a)
        self._others = pl.concat([part.others for part in parts])
        self._others_n = np.concatenate([part.others_n for part in parts])
        heads = np.concatenate([part.others_heads for part in parts])
        self._order = np.concatenate((np.argsort(held.heads), len(held.names) + np.argsort(heads)))

    @property
    def queries(self) -> pl.Series:
        """All query ids."""
        return pl.concat([self._held.names, self._others]).gather(self._order)

    def agreement(self, at: int, measure: ListMeasure) -> Agreement:
        """Return the values of one measure for all queries."""
        count = len(self._held.names)
        deepest = np.iinfo(np.int64).max if measure.k is None else measure.k

        def column(name: str, only_a: Any, only_b: Any) -> Any:  # noqa: ANN401 - arrays or numbers
            found = np.concatenate([getattr(part.found[at], name) for part in self._parts])
            whole = np.empty(len(self._order), found.dtype)
            whole[self._codes] = found
            whole[self._only_a] = only_a
            whole[count:] = only_b
            return whole[self._order]

        return Agreement(
            value=column("value", np.nan, np.nan),
            status=column("status", Outcome.only_a, Outcome.only_b),
            n_a=column("n_a", np.minimum(self._held.ranked.n[self._only_a], deepest), 0),
            n_b=column("n_b", 0, np.minimum(self._others_n, deepest)),
            n_common=column("n_common", 0, 0),
        )

    def audit(self, names: tuple[str, str], a: Table, b: Table) -> ListsAudit:
        """Return what was found in both runs."""
        parts, held, queries = self._parts, self._held, self.queries.cast(pl.String)
        status = np.zeros(len(self._order), np.int64)
        status[self._only_a] = Outcome.only_a
        status[len(held.names) :] = Outcome.only_b
        status = status[self._order]
        of_a, of_b, common = (sum(part.documents[i] for part in parts) for i in range(3))
        n_b = np.concatenate([part.n for part in parts])
        tally_b = sum((part.tally for part in parts), Tally())
        return ListsAudit(
            names=names,
            a=RankingAudit.of(a.source, held.ranked.n, held.tally, a.comments(), a.read_as()),
            b=RankingAudit.of(b.source, n_b, tally_b, b.comments(), b.read_as()),
            common_queries=len(self._codes),
            only_a=tuple(queries.filter(pl.Series(status == Outcome.only_a))),
            only_b=tuple(queries.filter(pl.Series(status == Outcome.only_b))),
            common_documents=common,
            documents_a=of_a,
            documents_b=of_b,
        )


def beside(query: str, a: tuple[Table, AlignmentOptions], b: tuple[Table, AlignmentOptions]) -> pl.DataFrame:
    """Return both lists of a query; see ``side_by_side``."""
    first, second = (_one_list(query, *run) for run in (a, b))
    to = first.join(second, on="doc", how="left", maintain_order="left")["rank_right"]
    back = second.join(first, on="doc", how="left", maintain_order="left")["rank_right"]
    left = first.select("rank", a="doc", a_to=to, a_tied="tied")
    right = second.select("rank", b="doc", b_from=back, b_tied="tied")
    return left.join(right, on="rank", how="full", coalesce=True).sort("rank")


def _one_list(query: str, table: Table, options: AlignmentOptions) -> pl.DataFrame:
    """Return ``rank``, ``doc`` and ``tied`` of one query, no row where the run does not answer it."""
    try:
        held = hold(only(table, query), options)
    except EmptyInput:
        return pl.DataFrame(schema={"rank": pl.Int64(), "doc": table.schema["doc_id"], "tied": pl.Boolean()})
    ranked = held.ranked
    rank = np.arange(1, len(held.docs) + 1)
    return pl.DataFrame({"rank": rank, "doc": held.docs, "tied": ranked.first < ranked.last})


def only(table: Table, query: str) -> Table:
    """Return the rows of one query."""
    start = table.start

    def chosen(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for piece in start([pl.col(name) for name in table.schema]):
            yield piece.filter(pl.col("query_id").cast(pl.String) == query).select(columns)

    return replace(table, start=chosen)
