"""Matching of one batch of lists with the judgments: its rows become hits.

It takes a few large steps over all rows, each of which leaves the interpreter free for other batches.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import DuplicateRows
from rankstone.hits.batches import Batch
from rankstone.hits.hits import Hits
from rankstone.hits.judgments import Judgments, SelfLabelled, ideal_of_lists
from rankstone.hits.list_arrays import Ideal, descending_within, offsets_of
from rankstone.hits.matched_batch import MatchedBatch
from rankstone.hits.pair_index import repeated
from rankstone.hits.ranks_and_ties import rank, sort_lists, tie_blocks
from rankstone.hits.tallies import Tally, tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone._basics import Bools, Floats, Ints, Locate, NamedValues
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.extras.extra import Extra


class Chunk(Record):
    """The hits of some queries.

    Attributes
    ----------
    names
        The queries' ids.
    codes
        int64 ``[queries]``: their indexes among the judged queries, -1 for unjudged ones.
    first_rows
        int64 ``[queries]``: the first row of each list in the stream.
    hits
        Their hits.
    tally
        Counts for the audit; ``None`` for missing queries, or without an audit.
    undefined
        True if these lists are empty and therefore have no value.
    """

    names: pl.Series
    codes: Ints
    first_rows: Ints
    hits: Hits
    tally: Tally | None
    undefined: bool = False


class Matcher(Record):
    """Turns batches into hits, for one set of judgments.

    Parameters
    ----------
    judgments, options, extras, cutoffs
        As for ``Aligner``; without ``cutoffs`` nothing is counted for the audit.
    """

    judgments: Judgments | SelfLabelled
    options: AlignmentOptions
    extras: tuple[Extra[Any], ...] = ()
    cutoffs: tuple[int, ...] | None = None

    def chunk(self, batch: Batch, locate: Locate) -> Chunk:
        """Return the hits of a batch; ``locate`` returns the place of a row for messages."""
        work = MatchedBatch(self.judgments, self.options, batch)
        try:
            self._rank(work)
        except DuplicateRows as error:
            error.where = ", ".join(locate(row) for row in error.rows[:3])
            raise
        hits = self._hits(work)
        counted = None if self.cutoffs is None else self._tally(work, hits)
        batch = work.batch
        return Chunk(batch.names, batch.codes, _first_rows(batch), hits, counted)

    def _sort(self, work: MatchedBatch) -> None:
        """Sort the lists, and find the documents that are in one more than once."""
        for extra in self.extras:
            extra.before_sort(work)
        work.batch = sort_lists(work.batch, self.options)
        for extra in self.extras:
            extra.after_sort(work)
        batch = work.batch
        copies = [rows for e in self.extras if (rows := e.copies(batch)) is not None]
        work.copies = copies[0] if copies else _copies(batch)
        forgiven = any(extra.forgives_copies(work) for extra in self.extras)
        if forgiven and self.options.duplicates == "error":
            work.options = replace(self.options, duplicates="first_keep_rank")

    def _grade(self, work: MatchedBatch) -> None:
        """Find the rows with a grade."""
        work.matches = self.judgments.match(work.batch)
        work.ideal = self.judgments.ideal_of(work.batch, work.matches)
        work.grade = self.judgments.grades(work.batch, work.matches)
        work.judged = np.ones(len(work.grade), bool)
        for extra in self.extras:
            extra.grade(work)

    def _rank(self, work: MatchedBatch) -> None:
        """Give rows with a grade their ranks, and others whose ranks are needed."""
        self._sort(work)
        self._grade(work)
        work.blocks = tie_blocks(work.batch, work.options)
        others = [rows for e in self.extras if (rows := e.rows(work)) is not None]
        work.others = reduce(np.union1d, others) if others else None
        try:
            work.ranks = rank(
                work.batch,
                work.blocks,
                work.copies,
                work.matches,
                work.grade,
                work.options,
                work.others,
                whole=any(extra.orders_all_rows for extra in self.extras),
            )
        except DuplicateRows as error:
            if not self._shares_judgments:
                error.expected = f"{error.expected}{_counted_recall(work)}"
            raise

    @property
    def _shares_judgments(self) -> bool:
        return any(extra.shares_judgments for extra in self.extras)

    def _hits(self, work: MatchedBatch) -> Hits:
        """Return the hits of a batch that is ranked."""
        ranks = work.ranks
        lengths = work.batch.lengths
        lists = work.hit_lists
        counts = lengths
        if len(lists) != work.batch.height:
            counts = np.bincount(lists, minlength=len(lengths))
        return Hits(
            offsets=offsets_of(counts),
            rank=ranks.rank,
            grade=_accepted_grades(work)[ranks.kept],
            first=ranks.first,
            last=ranks.last,
            judged=work.judged[ranks.kept],
            n=ranks.n,
            length=ranks.length,
            ideal=_ideal(work),
            found=np.ones(len(lengths), bool),
            expected=self.options.tie_rule.closed_form,
            lowest_grade=self.judgments.lowest_grade,
            extras={
                extra.key: value
                for extra in self.extras
                if (value := extra.attach(work)) is not None
            },
        )

    def _tally(self, work: MatchedBatch, hits: Hits) -> Tally:
        """Return the counts of a batch for the audit."""
        assert self.cutoffs is not None  # noqa: S101 - asked for with an audit only
        counts: NamedValues = {}
        if isinstance(self.judgments, Judgments):
            relevant = work.grade > 0
            again = np.empty(0, bool)
            if len(work.copies) and not self._shares_judgments:
                again = _repeated(work.matches.pair[relevant])
            counts["found"] = int(np.count_nonzero(relevant))
            counts["found_again"] = int(np.count_nonzero(again))
            if self.options.order == "score" and work.batch.key is not None:
                is_grade = work.batch.key[work.matches.row] == work.grade
                counts["graded"] = int(np.count_nonzero(is_grade))
                counts["varied"] = int(np.any(work.grade != work.grade[:1]))
        for extra in self.extras:
            counts |= extra.count(work, hits)
        counted = tally(
            work.batch, work.blocks, work.copies, hits, self.cutoffs, self.options
        )
        return replace(counted, **counts)

    def missing(
        self,
        judgments: Judgments,
        codes: Ints,
        failures: Mapping[str, str] | None = None,
        names: pl.Series | None = None,
    ) -> Chunk:
        """Return judged queries, by their indexes, that the run does not answer.

        ``failures`` are queries whose retrieval failed, which have not abstained.
        """
        if names is None:
            names = judgments.queries.names.gather(codes)
        none = np.zeros(len(codes), np.int64)
        hashes = np.empty(0, np.uint64)
        batch = Batch(
            names,
            codes,
            none,
            judgments.pairs.docs.clear(),
            key=np.empty(0),
            hash=hashes,
            own_hash=hashes,
            costs=defaultdict(lambda: np.empty(0)),
        )
        failed = names.cast(pl.String).is_in([*(failures or ())]).to_numpy()
        work = MatchedBatch(judgments, self.options, batch, failed)
        self._rank(work)
        hits = replace(self._hits(work), found=np.zeros(len(codes), bool))
        return Chunk(names, codes, none, hits, None)

    def empty(self, judgments: Judgments, codes: Ints, names: pl.Series) -> Chunk:
        """Return queries with an empty list; those without judgments have index -1."""
        chunk = self.missing(judgments, codes, names=names)
        hits = replace(chunk.hits, found=np.ones(len(codes), bool), _memo={})
        return replace(
            chunk,
            hits=hits,
            tally=Tally(hits.n, hits.n, Counter()),
            undefined=self.options.no_results == "undefined",
        )


def _copies(batch: Batch) -> Ints:
    """Return the rows whose document is in its list more than once."""
    if batch.docs is None:
        return np.empty(0, np.int64)
    return repeated(batch.hashes, batch.lengths, batch.ids)


def _accepted_grades(work: MatchedBatch) -> Floats:
    """Return the grades; with ``score_above``, rows with lower scores gain nothing."""
    least = work.options.score_above
    if least is None or work.batch.key is None:
        return work.grade
    scored = work.batch.key[work.matches.row] > least
    return np.where(scored, work.grade, np.minimum(work.grade, 0.0))


def _ideal(work: MatchedBatch) -> Ideal:
    """Return the ideal lists: the known ones, or with grades that the options add."""
    kept = work.ranks.kept
    grade = work.grade[kept]
    lists = work.hit_lists
    if work.options.pool == "list":
        return ideal_of_lists(lists, grade, len(work.batch.lengths))
    if work.options.imputes:
        further = ~work.judged[kept]
    elif work.options.duplicates == "keep_judged" and len(work.copies):
        further = _repeated(work.hit_pairs)
    else:
        return work.ideal
    return _with_additions(work.ideal, lists[further], grade[further])


def _counted_recall(work: MatchedBatch) -> str:
    """Return the recall that a count of rows gives the first list with copies, where it is above 1."""
    first = work.batch.list_of_row[work.copies.min()]
    ideal = work.ideal
    relevant = ideal.grade[ideal.offsets[first] : ideal.offsets[first + 1]] > 0
    rows = int(((work.matches.list == first) & (work.grade > 0)).sum())
    known = int(relevant.sum())
    return (
        f"; counting each row, recall would be {rows / known:.3g}"
        if rows > known > 0
        else ""
    )


def _first_rows(batch: Batch) -> Ints:
    """Return the first row of every list in the stream; lists may have become empty."""
    last = max(batch.height - 1, 0)
    return (
        batch.table_rows(np.minimum(batch.starts, last))
        if batch.height
        else batch.starts
    )


def _repeated(pair: Ints) -> Bools:
    """Return which hits are further copies of a judged document, bool ``[hits]``."""
    again = np.ones(len(pair), bool)
    again[np.unique(pair, return_index=True)[1]] = False
    return again


def _with_additions(ideal: Ideal, lists: Ints, grades: Floats) -> Ideal:
    """Return the ideal lists with further grades sorted in."""
    query = np.concatenate((ideal.query, lists))
    grade = np.concatenate((ideal.grade, grades))
    order = np.argsort(query, kind="stable")
    counts = np.bincount(query, minlength=len(ideal.offsets) - 1)
    offsets = offsets_of(counts)
    return Ideal(offsets, descending_within(query[order], grade[order]))
