"""The second station of the road: lay runs against judgments and see where the hits are.

Comes in: prepared judgments and a stream of tables.  Goes out: chunks of :class:`Hits`.  Knows no
measure and no file.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
import polars as pl

from rankstone.errors import NotComparable, printable
from rankstone.hits.batches import Lists, Met, Scattered
from rankstone.hits.checks import RowCheck
from rankstone.hits.judgments import Judgments, SelfLabelled
from rankstone.hits.landing import Chunk, Landing
from rankstone.words import some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankstone.hits.arrays import Ints
    from rankstone.hits.exclusion import Exclusion
    from rankstone.hits.options import Alignment

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
    regroups
        Whether a run whose queries are scattered is brought together in memory; else :class:`Scattered` is
        raised.
    threads
        Batches worked on at the same time.
    """

    truth: Judgments | SelfLabelled
    options: Alignment
    exclude: Exclusion | None = None
    collapse: Callable[[pl.Expr], pl.Expr] | None = None
    cutoffs: tuple[int, ...] = (10,)
    brings: frozenset[str] = frozenset()
    regroups: bool = True
    threads: int = 2

    @cached_property
    def _landing(self) -> Landing:
        """What makes hits of batches: of the passages of a document only the best stays."""
        options = self.options if self.collapse is None else replace(self.options, duplicates="first_drop")
        return Landing(self.truth, options, self.exclude, self.cutoffs, self.brings)

    def run(self, stream: Stream, each: Callable[[Chunk], Result]) -> tuple[list[Result], Lists]:
        """Call ``each`` for every chunk of hits and return the results in the stream's order.

        Judged queries that the run does not answer come last, in a chunk of their own that is empty
        where they are dropped.  The second value returned says which queries were met.
        """
        lists = self._lists(stream)
        try:
            results = self._work(lists, lists.contiguous(self._tables(stream)), stream, each)
        except Scattered:
            if not self.regroups:
                raise
            results = None
        if results is None:  # outside the handler, whose traceback would keep the first stream alive
            lists = self._lists(stream)
            results = self._work(lists, lists.regrouped(self._tables(stream)), stream, each)
        if isinstance(self.truth, Judgments):
            names, codes = self._empty_lists(self.truth, stream, lists)
            if len(codes) and self.options.no_results != "drop":
                results.append(each(self._landing.empty(self.truth, codes, names)))
            absent = np.flatnonzero(~lists.seen & (self.options.missing != "drop"))
            results.append(each(self._landing.missing(self.truth, absent)))
        return results, lists

    def _empty_lists(self, truth: Judgments, stream: Stream, lists: Lists) -> tuple[pl.Series, Ints]:
        """Return the queries that count and are answered with an empty list, and take note of them."""
        if stream.unanswered is None or self.options.no_results == "missing":
            return truth.queries.names.clear(), np.empty(0, np.int64)
        names = stream.unanswered.unique(maintain_order=True)
        codes = truth.queries.codes(names)
        judged = codes >= 0
        if self.options.extra == "error" and not judged.all():
            stranger = names.filter(pl.Series(~judged))[0]
            raise NotComparable(
                f"an empty list for query {printable(stranger)}, which nobody judged",
                fix="leave it out, or choose what it is worth: extra=drop or keep",
            )
        # a query may have another list, which is not empty
        counted = np.where(judged, ~lists.seen[codes], self.options.extra == "keep")
        if len(others := lists.unjudged()):
            counted &= ~names.is_in(others.implode()).to_numpy()
        order = np.argsort(np.where(judged, codes, len(lists.seen)), kind="stable")
        order = order[counted[order]]
        names, codes = names.gather(order), codes[order]
        if len(codes) and self.options.no_results == "error":
            raise NotComparable(
                f"an empty list for query {printable(names[0])}",
                fix="choose what it is worth: no_results=missing, zero, undefined or drop",
            )
        lists.seen[codes[codes >= 0]] = True
        return names, codes

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
        landing = self._landing

        def job(read: Callable[[], Met]) -> tuple[Met, Result | None]:
            met = read()
            wanted = len(met.batch.lengths) > 0
            return met, each(landing.chunk(met.batch, stream.locate)) if wanted else None

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
            columns.append(_larger_first(by).alias("key"))
            other = "score" if by == "rank" else "rank"
            if other in stream.columns and isinstance(self.truth, Judgments):
                columns.append(_larger_first(other).alias("other"))
        if isinstance(self.truth, SelfLabelled):
            columns.append(pl.col("relevance").cast(pl.Float64).alias("label"))
        return stream.tables(columns)


def _larger_first(column: str) -> pl.Expr:
    number = pl.col(column).cast(pl.Float64)
    return -number if column == "rank" else number


def no_overlap(truth: Judgments, lists: Lists, where: str) -> NotComparable:
    """Build the error for a run that answers none of the judged queries."""
    return NotComparable(
        "no query of the run is judged",
        where=where,
        given=f"judged queries {some(truth.queries.names)}; "
        f"queries of the run {some(lists.unjudged().sort())}",
        expected="the same query ids on both sides",
        fix="check that judgments and run belong together, and that ids are spelled alike",
    )
