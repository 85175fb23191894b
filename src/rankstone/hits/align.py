"""The second station of the road: lay runs against judgments and see where the hits are.

Comes in: prepared judgments and a stream of tables.  Goes out: chunks of :class:`Hits`.  Knows no
measure and no file.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import polars as pl

from rankstone.errors import BadOption, DuplicateRows, NotComparable, printable
from rankstone.hits.arrays import descending_within
from rankstone.hits.audit import Tally, tally
from rankstone.hits.batches import Lists, Met, Scattered
from rankstone.hits.checks import RowCheck
from rankstone.hits.ideal import Ideal
from rankstone.hits.imputation import impute
from rankstone.hits.judgments import Judgments, SelfLabelled, ideal_of_lists
from rankstone.hits.pairs import BatchKeys, Matches, PairIndex
from rankstone.hits.pool import Places
from rankstone.hits.ragged import Hits
from rankstone.hits.ranking import in_order, rank, tie_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.hits.batches import Batch
    from rankstone.hits.options import Alignment
    from rankstone.hits.ranking import Ranks, Stand

__all__ = ["Aligner", "Chunk", "Stream"]

Result = TypeVar("Result")


class Stream(Protocol):
    """What alignment needs of a run: its tables, as often as asked, and where a row stands."""

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns there are: ``query_id``, ``doc_id``, ``score``, ``rank`` and so on."""

    def tables(self, columns: Sequence[pl.Expr]) -> Iterable[pl.DataFrame]:
        """Start the stream anew; each table has the given columns."""

    @property
    def unanswered(self) -> pl.Series | None:
        """Ids of queries whose lists are there and empty, where a source can say so."""

    def locate(self, row: int) -> str:
        """Say where a row of the stream stands, for a message."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """The hits of some queries.

    Attributes
    ----------
    names
        The queries' ids.
    codes
        int64 ``[queries]``: their numbers among the judged queries, -1 for unjudged ones.
    first_rows
        int64 ``[queries]``: the first row of each list in the stream.
    hits
        Where the judged documents landed.
    tally
        What there is to say about these lists in the audit; ``None`` for missing queries.
    undefined
        Whether these lists are empty and have no value for that.
    """

    names: pl.Series
    codes: Ints
    first_rows: Ints
    hits: Hits
    tally: Tally | None
    undefined: bool = False


@dataclass(frozen=True, eq=False)
class Aligner:
    """Lays runs against one set of judgments.

    Parameters
    ----------
    truth
        The judgments, or :class:`SelfLabelled` when the run carries its own labels.
    options
        The alignment options.
    exclude
        Pairs that are taken out of every list before ranks are given.
    collapse
        Turns a column of passage ids into one of document ids; the best passage then stands for
        its document.
    cutoffs
        The ranks at which the audit counts unjudged documents.
    brings
        What measures want beside hits: ``pool``, ``groups``, ``pooled``, ``holes``; ``rows`` for whoever
        wants to know which row of the run and of the judgments is behind a hit.
    threads
        Batches worked on at the same time.
    """

    truth: Judgments | SelfLabelled
    options: Alignment
    exclude: PairIndex | None = None
    collapse: Callable[[pl.Expr], pl.Expr] | None = None
    cutoffs: tuple[int, ...] = (10,)
    brings: frozenset[str] = frozenset()
    threads: int = 2

    def run(self, stream: Stream, each: Callable[[Chunk], Result]) -> tuple[list[Result], Lists]:
        """Call ``each`` for every chunk of hits and return the results in the stream's order.

        Judged queries that the run does not answer come last, in a chunk of their own that is empty
        where they are dropped.  The second value returned says which queries were met.
        """
        lists = self._lists(stream)
        try:
            results = self._work(lists, lists.contiguous(self._tables(stream)), stream, each)
        except Scattered:
            results = None
        if results is None:  # outside the handler, whose traceback would keep the first stream alive
            lists = self._lists(stream)
            results = self._work(lists, lists.regrouped(self._tables(stream)), stream, each)
        if isinstance(self.truth, Judgments):
            empty = self._empty_lists(self.truth, stream, lists)
            if len(empty) and self.options.no_results != "drop":
                results.append(each(self._answered(self._missing(self.truth, empty))))
            absent = np.flatnonzero(~lists.seen & (self.options.missing != "drop"))
            results.append(each(self._missing(self.truth, absent)))
        return results, lists

    def _empty_lists(self, truth: Judgments, stream: Stream, lists: Lists) -> Ints:
        """Return the judged queries that are answered with an empty list, and take note of them."""
        if stream.unanswered is None or self.options.no_results == "missing":
            return np.empty(0, np.int64)
        codes = truth.queries.codes(stream.unanswered)
        codes = np.unique(codes[codes >= 0])
        if len(codes) and self.options.no_results == "error":
            raise NotComparable(
                f"an empty list for query {printable(truth.queries.names[int(codes[0])])}",
                fix="choose what it is worth: no_results=missing, zero, undefined or drop",
            )
        lists.seen[codes] = True
        return codes

    def _answered(self, chunk: Chunk) -> Chunk:
        """Return queries without a list as queries with an empty one."""
        hits = replace(chunk.hits, found=np.ones(len(chunk.codes), bool), _memo={})
        counted = Tally(0, 0, 0, 0, 0, hits.n, hits.n, (0.0,) * len(self.cutoffs))
        return replace(chunk, hits=hits, tally=counted, undefined=self.options.no_results == "undefined")

    def _lists(self, stream: Stream) -> Lists:
        queries = self.truth.queries if isinstance(self.truth, Judgments) else None
        check = RowCheck(self.options, stream.locate)
        return Lists(queries, check, keep_extra=self.options.extra == "keep")

    def _work(
        self,
        lists: Lists,
        batches: Iterator[Callable[[], Met]],
        stream: Stream,
        each: Callable[[Chunk], Result],
    ) -> list[Result]:
        def job(read: Callable[[], Met]) -> tuple[Met, Result | None]:
            met = read()
            wanted = len(met.batch.lengths) > 0
            return met, each(self._chunk(met.batch, stream)) if wanted else None

        def finish(future: Future[tuple[Met, Result | None]]) -> None:
            met, result = future.result()
            lists.admit(met)
            if result is not None:
                results.append(result)

        results: list[Result] = []
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[Future[tuple[Met, Result | None]]] = deque()
            for read in batches:
                waiting.append(pool.submit(job, read))
                while len(waiting) > self.threads:
                    finish(waiting.popleft())
            while waiting:
                finish(waiting.popleft())
        lists.close()
        return results

    def _tables(self, stream: Stream) -> Iterable[pl.DataFrame]:
        """Start the stream with the ``key`` that orders lists and the documents' hashes."""
        by = self.options.order
        columns = [pl.col("query_id")]
        if "doc_id" in stream.columns:
            doc = pl.col("doc_id")
            doc = (self.collapse(doc) if self.collapse else doc).alias("doc_id")
            columns += [doc, doc.hash().alias("hash")]
        if by != "input":
            key = pl.col(by).cast(pl.Float64)
            columns.append((-key if by == "rank" else key).alias("key"))
        if isinstance(self.truth, SelfLabelled):
            columns.append(pl.col("relevance").cast(pl.Float64).alias("label"))
        return stream.tables(columns)

    def _chunk(self, batch: Batch, stream: Stream) -> Chunk:
        options = self.options
        if self.exclude is not None:
            batch = _without(batch, self.exclude)
        batch = in_order(batch, options)
        keys = None if batch.docs is None else BatchKeys(batch)
        twice = np.empty(0, np.int64) if keys is None else keys.duplicates()
        matches = self._match(batch, keys)
        grades = self.truth.grades(batch, matches)
        ideal = self.truth.ideal_of(batch, matches)
        judged = np.ones(len(grades), bool)
        if options.imputes:
            matches, grades, judged = impute(batch, matches, grades, self.truth, options)
        blocks = tie_blocks(batch, options)
        if self.collapse is not None:
            options = replace(options, duplicates="first_drop")
        others, in_pool = self._others(batch, keys, matches)
        try:
            ranks = rank(batch, blocks, twice, matches, grades, options, others)
        except DuplicateRows as error:
            error.where = _places_of(error, stream)
            raise
        _check_candidates(batch, ranks.n, options)
        hit = ranks.kept
        lists = matches.list[hit]
        if options.pool == "list":
            ideal = ideal_of_lists(lists, grades[hit], len(batch.lengths))
        elif options.imputes:
            ideal = _with_further(ideal, lists[~judged[hit]], grades[hit][~judged[hit]])
        elif options.duplicates == "keep_judged" and len(twice):
            again = _met_before(matches.pair[hit])
            ideal = _with_further(ideal, lists[again], grades[hit][again])
        if options.score_above is not None and batch.key is not None:
            scored = batch.key[matches.row] > options.score_above
            grades = np.where(scored, grades, np.minimum(grades, 0.0))
        counts = np.bincount(lists, minlength=len(batch.lengths))
        hits = Hits(
            offsets=np.concatenate(([0], np.cumsum(counts))),
            rank=ranks.rank,
            grade=grades[hit],
            first=ranks.first,
            last=ranks.last,
            judged=judged[hit],
            n=ranks.n,
            length=ranks.length,
            ideal=ideal,
            found=np.ones(len(batch.lengths), bool),
            expected=options.ties == "expected",
            lowest_grade=self.truth.lowest_grade,
            candidates=_candidates(options, len(batch.lengths)),
            **self._further(batch, matches, hit, others, in_pool, ranks),
        )
        counted = tally(batch, blocks, twice, hits, self.cutoffs)
        return Chunk(batch.names, batch.codes, _first_rows(batch), hits, counted)

    def _others(self, batch: Batch, keys: BatchKeys | None, matches: Matches) -> tuple[Ints | None, Bools]:
        """Return the rows without a grade whose ranks a measure wants, and which of them were pooled."""
        none = np.empty(0, np.int64)
        pooled = none
        if not self.brings & {"holes", "pooled"}:
            return None, none.astype(bool)
        if self.options.unjudged == "condensed_keep_rank":  # taken out, though ranks do not close up
            return none, none.astype(bool)
        if isinstance(self.truth, Judgments) and self.truth.pooled is not None and keys is not None:
            pooled = self.truth.pooled.find(batch, batch.codes, keys).row
            pooled = pooled[~np.isin(pooled, matches.row)]  # an imputed grade is a grade
        if "holes" not in self.brings and isinstance(self.truth, Judgments):
            return pooled, np.ones(len(pooled), bool)
        bare = np.ones(batch.height, bool)
        bare[matches.row] = False
        rows = np.flatnonzero(bare)
        labelled = isinstance(self.truth, SelfLabelled)  # whoever labels a list has seen all of it
        return rows, np.ones(len(rows), bool) if labelled else np.isin(rows, pooled)

    def _further(
        self,
        batch: Batch,
        matches: Matches,
        hit: Ints | slice,
        others: Ints | None,
        in_pool: Bools,
        ranks: Ranks,
    ) -> dict[str, Any]:
        """Return what measures want beside hits."""
        found: dict[str, Any] = {}
        if "rows" in self.brings:
            found["run_row"] = batch.table_rows(matches.row[hit])
            found["judgment_row"] = self.truth.rows_of(batch, matches.pair[hit])
        if self.brings & {"pool", "groups"} and isinstance(self.truth, Judgments):
            pool = self.truth.pool.take(batch.codes)
            lists, pair = matches.list[hit], matches.pair[hit]
            starts = self.truth.pairs.offsets[batch.codes[lists]]
            found["pool"] = pool
            found["member"] = np.where(pair >= 0, pool.offsets[lists] + pair - starts, -1)
        if others is not None and ranks.others is not None:
            rest, lists = ranks.others, batch.list_of_row[others[ranks.others.at]]
            rows = batch.table_rows(others[rest.at])
            found["holes"] = _places(rest, lists, rows, len(batch.lengths), np.ones(len(lists), bool))
            found["pooled"] = _places(rest, lists, rows, len(batch.lengths), in_pool[rest.at])
        return found

    def _match(self, batch: Batch, keys: BatchKeys | None) -> Matches:
        if isinstance(self.truth, SelfLabelled):
            return self.truth.match(batch, keys)
        assert keys is not None  # noqa: S101 - a run against judgments has documents
        return self.truth.match(batch, keys)

    def _missing(self, truth: Judgments, codes: Ints) -> Chunk:
        count = len(codes)
        ints, floats = np.empty(0, np.int64), np.empty(0)
        hits = Hits(
            offsets=np.zeros(count + 1, np.int64),
            rank=ints,
            grade=floats,
            first=ints,
            last=ints,
            judged=np.empty(0, bool),
            n=np.zeros(count, np.int64),
            length=np.zeros(count, np.int64),
            ideal=truth.ideal.take(codes if self.options.pool == "judged" else np.full(count, -1)),
            found=np.zeros(count, bool),
            expected=self.options.ties == "expected",
            lowest_grade=truth.lowest_grade,
            candidates=_candidates(self.options, count),
            run_row=ints,
            judgment_row=ints,
            member=ints,
            pool=truth.pool.take(codes) if self.brings & {"pool", "groups"} else None,
            pooled=_nowhere(count),
            holes=_nowhere(count),
        )
        names = truth.queries.names.gather(codes)
        return Chunk(names, codes, np.zeros(count, np.int64), hits, None)


def _nowhere(count: int) -> Places:
    """Return the places of queries without a list."""
    none = np.empty(0, np.int64)
    return Places(np.zeros(count + 1, np.int64), none, none, none, none)


def _places(stand: Stand, lists: Ints, rows: Ints, count: int, wanted: Bools) -> Places:
    offsets = np.concatenate(([0], np.cumsum(np.bincount(lists[wanted], minlength=count))))
    return Places(offsets, stand.rank[wanted], stand.first[wanted], stand.last[wanted], rows[wanted])


def _first_rows(batch: Batch) -> Ints:
    """Return the first row of every list in the whole stream; lists may have been emptied."""
    last = max(batch.height - 1, 0)
    return batch.table_rows(np.minimum(batch.starts, last)) if batch.height else batch.starts


def _without(batch: Batch, exclude: PairIndex) -> Batch:
    """Return the batch less the excluded pairs."""
    found = exclude.find(batch, exclude.queries.codes(batch.names), BatchKeys(batch))
    if not len(found.row):
        return batch
    stays = np.ones(batch.height, bool)
    stays[found.row] = False
    lengths = np.bincount(batch.list_of_row[stays], minlength=len(batch.lengths))
    return batch.rows_at(np.flatnonzero(stays), lengths)


def _places_of(error: DuplicateRows, stream: Stream) -> str:
    rows = [stream.locate(row) for row in error.rows[:3]]
    return ", ".join(rows)


def _met_before(pair: Ints) -> Bools:
    """Tell which hits are further copies of a judged document."""
    again = np.ones(len(pair), bool)
    again[np.unique(pair, return_index=True)[1]] = False
    return again


def _with_further(ideal: Ideal, lists: Ints, grades: Floats) -> Ideal:
    """Return the ideal lists with further grades sorted in."""
    query = np.concatenate((ideal.query, lists))
    grade = np.concatenate((ideal.grade, grades))
    order = np.argsort(query, kind="stable")
    counts = np.bincount(query, minlength=len(ideal.offsets) - 1)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    return Ideal(offsets, descending_within(query[order], grade[order]))


def _candidates(options: Alignment, queries: int) -> Ints | None:
    return None if options.candidates is None else np.full(queries, options.candidates)


def _check_candidates(batch: Batch, n: Ints, options: Alignment) -> None:
    if options.candidates is not None and len(n) and int(n.max()) > options.candidates:
        query = printable(batch.names[int(n.argmax())])
        raise BadOption(
            f"candidates={options.candidates}, but query {query} retrieves {int(n.max())} documents",
            expected="the number of documents a query could have retrieved",
        )


def no_overlap(truth: Judgments, lists: Lists, where: str) -> NotComparable:
    """Build the error for a run that answers none of the judged queries."""
    judged = ", ".join(printable(name) for name in truth.queries.names[:3])
    asked = ", ".join(printable(name) for name in lists.unjudged().sort()[:3])
    return NotComparable(
        "no query of the run is judged",
        where=where,
        given=f"judged queries {judged} …; queries of the run {asked} …",
        expected="the same query ids on both sides",
        fix="check that judgments and run belong together, and that ids are spelled alike",
    )
