"""The second station of the road: lay runs against judgments and see where the hits are.

Comes in: prepared judgments and a stream of tables.  Goes out: chunks of :class:`Hits`.  Knows no
measure and no file.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import polars as pl

from rankstone.errors import BadOption, BadValue, DuplicateRows, NotComparable, printable
from rankstone.hits.audit import Tally, tally
from rankstone.hits.batches import Lists, Scattered
from rankstone.hits.imputation import impute
from rankstone.hits.judgments import Judgments, SelfLabelled
from rankstone.hits.pairs import BatchKeys, Matches, PairIndex
from rankstone.hits.ragged import Hits, Ideal, descending_within
from rankstone.hits.ranking import in_order, rank, tie_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankstone.hits.batches import Batch
    from rankstone.hits.options import Alignment
    from rankstone.hits.ragged import Floats, Ints

__all__ = ["Aligner", "Chunk", "Stream"]

Result = TypeVar("Result")


class Stream(Protocol):
    """What alignment needs of a run: its tables, as often as asked, and where a row stands."""

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns there are: ``query_id``, ``doc_id``, ``score``, ``rank`` and so on."""

    def tables(self, columns: Sequence[pl.Expr]) -> Iterable[pl.DataFrame]:
        """Start the stream anew; each table has the given columns."""

    def locate(self, row: int) -> str:
        """Say where a row of the stream stands, for a message."""


@dataclass(frozen=True, slots=True)
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
    """

    names: pl.Series
    codes: Ints
    first_rows: Ints
    hits: Hits
    tally: Tally | None


@dataclass(frozen=True, slots=True)
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
    threads
        Batches worked on at the same time.
    """

    truth: Judgments | SelfLabelled
    options: Alignment
    exclude: PairIndex | None = None
    collapse: Callable[[pl.Expr], pl.Expr] | None = None
    cutoffs: tuple[int, ...] = (10,)
    threads: int = 2

    def run(self, stream: Stream, each: Callable[[Chunk], Result]) -> tuple[list[Result], Lists]:
        """Call ``each`` for every chunk of hits and return the results in the stream's order.

        Judged queries that the run does not answer come last, in a chunk of their own.  The second
        value returned says which queries were met.
        """
        try:
            lists = self._lists()
            results = self._work(lists.contiguous(self._keyed(stream)), stream, each)
        except Scattered:
            lists = self._lists()
            results = self._work(lists.regrouped(self._keyed(stream)), stream, each)
        if isinstance(self.truth, Judgments):
            results.append(each(self._missing(self.truth, np.flatnonzero(~lists.seen))))
        return results, lists

    def _lists(self) -> Lists:
        queries = self.truth.queries if isinstance(self.truth, Judgments) else None
        return Lists(queries, keep_extra=self.options.extra == "keep")

    def _work(
        self, batches: Iterator[Batch], stream: Stream, each: Callable[[Chunk], Result]
    ) -> list[Result]:
        def job(batch: Batch) -> Result:
            return each(self._chunk(batch, stream))

        results: list[Result] = []
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[Any] = deque()
            for batch in batches:
                waiting.append(pool.submit(job, batch))
                while len(waiting) > self.threads:
                    results.append(waiting.popleft().result())
            results.extend(future.result() for future in waiting)
        return results

    def _keyed(self, stream: Stream) -> Iterator[pl.DataFrame]:
        """Yield the stream's tables with the ``key`` that orders lists and documents' hashes."""
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
        row = 0
        for table in stream.tables(columns):
            _check(table, by, row, stream)
            yield _settled(table, row, stream, self.options) if "label" in table.columns else table
            row += table.height

    def _chunk(self, batch: Batch, stream: Stream) -> Chunk:
        options = self.options
        if self.exclude is not None:
            batch = _without(batch, self.exclude)
        batch = in_order(batch, options)
        keys = None if batch.docs is None else BatchKeys(batch)
        twice = np.empty(0, np.int64) if keys is None else keys.duplicates()
        matches = self._match(batch, keys)
        grades = self.truth.grades(batch, matches)
        rows = self.truth.rows_of(batch, matches)
        ideal = self.truth.ideal_of(batch, matches)
        judged = np.ones(len(grades), bool)
        if options.imputes:
            matches, grades, rows, judged = impute(batch, matches, grades, rows, self.truth, options)
        blocks = tie_blocks(batch, options)
        if self.collapse is not None:
            options = replace(options, duplicates="first_drop")
        try:
            ranks = rank(batch, blocks, twice, matches, grades, options)
        except DuplicateRows as error:
            error.where = _places_of(error, stream)
            raise
        _check_candidates(batch, ranks.n, options)
        hit = ranks.kept
        lists = matches.list[hit]
        if options.imputes:
            ideal = _with_imputed(ideal, lists[~judged[hit]], grades[hit][~judged[hit]])
        counts = np.bincount(lists, minlength=len(batch.lengths))
        hits = Hits(
            offsets=np.concatenate(([0], np.cumsum(counts))),
            rank=ranks.rank,
            grade=grades[hit],
            first=ranks.first,
            last=ranks.last,
            judged=judged[hit],
            n=ranks.n,
            ideal=ideal,
            found=np.ones(len(batch.lengths), bool),
            expected=options.ties == "expected",
            lowest_grade=self.truth.lowest_grade,
            candidates=_candidates(options, len(batch.lengths)),
            run_row=batch.table_rows(matches.row[hit]),
            judgment_row=rows[hit],
        )
        counted = tally(batch, blocks, twice, hits, self.cutoffs)
        return Chunk(batch.names, batch.codes, _first_rows(batch), hits, counted)

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
            ideal=truth.ideal.take(codes),
            found=np.zeros(count, bool),
            expected=self.options.ties == "expected",
            lowest_grade=truth.lowest_grade,
            candidates=_candidates(self.options, count),
            run_row=ints,
            judgment_row=ints,
        )
        names = truth.queries.names.gather(codes)
        return Chunk(names, codes, np.zeros(count, np.int64), hits, None)


def _check(table: pl.DataFrame, by: str, first_row: int, stream: Stream) -> None:
    """Refuse rows without an id, or whose score, rank or label is missing or not a number."""
    for column in ("query_id", "doc_id"):
        if column in table.columns and table[column].null_count():
            at = table[column].is_null().arg_max() or 0
            raise BadValue(
                f"a row without {column}",
                where=stream.locate(first_row + at),
                expected="an id",
                fix="repair or remove the row",
            )
    for column, name in (("key", by), ("label", "relevance")):
        if column in table.columns:
            bad = np.isnan(table[column].to_numpy())
            if bad.any():
                raise _no_number(table, column, name, first_row, int(bad.argmax()), stream)


def _no_number(
    table: pl.DataFrame, column: str, name: str, first_row: int, at: int, stream: Stream
) -> BadValue:
    query = printable(table["query_id"][at])
    doc = f", document {printable(table['doc_id'][at])}" if "doc_id" in table.columns else ""
    return BadValue(
        f"the {name} is {'missing' if table[column][at] is None else 'NaN'}",
        where=stream.locate(first_row + at),
        given=f"query {query}{doc}",
        expected="a number",
        fix="repair the row or leave it out",
    )


def _settled(table: pl.DataFrame, first_row: int, stream: Stream, options: Alignment) -> pl.DataFrame:
    """Apply ``negative`` to the labels; NaN then marks a row that counts as unjudged."""
    below = table["label"].to_numpy() < 0
    if not below.any() or options.negative == "keep":
        return table
    if options.negative == "error":
        raise BadValue(
            "a label below zero",
            where=stream.locate(first_row + int(below.argmax())),
            fix="choose a meaning: negative=unjudged, zero or keep",
        )
    meant = 0.0 if options.negative == "zero" else float("nan")
    return table.with_columns(label=np.where(below, meant, table["label"].to_numpy()))


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


def _with_imputed(ideal: Ideal, lists: Ints, grades: Floats) -> Ideal:
    """Return the ideal lists with the imputed grades sorted in."""
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
