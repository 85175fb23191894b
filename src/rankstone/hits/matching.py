"""Matching of one batch of lists with the judgments: its rows become hits.

It takes a few large steps over all rows, each of which leaves the interpreter free for other batches.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import BadOption, DuplicateRows, printable
from rankstone.hits.budgets import (
    STEPS,
    Kept,
    Paid,
    by_steps,
    kept_within,
    repeats_in_step,
)
from rankstone.hits.exclusion import without_query_documents
from rankstone.hits.hits import Hits
from rankstone.hits.imputation import impute
from rankstone.hits.judged_pool import Places
from rankstone.hits.judgments import Judgments, SelfLabelled, ideal_of_lists
from rankstone.hits.list_arrays import Ideal, descending_within
from rankstone.hits.pair_index import Matches, repeated
from rankstone.hits.ranks_and_ties import duplicate, rank, sort_lists, tie_blocks
from rankstone.hits.tallies import Tally, tally
from rankstone.hits.text_spans import OFFSETS, Retrieved, Spans, numbered, overlapping
from rankstone.hits.units import by_all_chunks, by_best_chunk, in_classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone._basics import Bools, Floats, Ints, Locate
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.budgets import Budget
    from rankstone.hits.exclusion import Exclusion
    from rankstone.hits.ranks_and_ties import RankedRows, Ranks
    from rankstone.hits.units import RetrievalUnits


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


class _Graded(NamedTuple):
    """The rows of a batch with a grade: the matches, the grades, and which of these were judged."""

    matches: Matches
    grade: Floats
    judged: Bools


class Matcher(Record):
    """Turns batches into hits, for one set of judgments.

    Parameters
    ----------
    judgments, options, exclude, cutoffs, brings, budgets, units, costs, best_within
        As for ``Aligner``; without ``cutoffs`` nothing is counted for the audit.
    """

    judgments: Judgments | SelfLabelled
    options: AlignmentOptions
    exclude: Exclusion | None = None
    cutoffs: tuple[int, ...] | None = None
    brings: frozenset[str] = frozenset()
    budgets: tuple[Budget, ...] = ()
    units: RetrievalUnits | None = None
    costs: tuple[str, ...] = ()
    best_within: tuple[Budget, ...] = ()

    def chunk(self, batch: Batch, locate: Locate) -> Chunk:
        """Return the hits of a batch; ``locate`` returns the place of a row for messages."""
        options = self.options
        left_out = np.empty(0, np.int64)
        if self.exclude is not None:
            batch, left_out = self.exclude.without(batch)
        if options.identical_ids == "drop":
            batch = without_query_documents(batch)
        rolled = chunks = 0
        if (
            self.units is not None
            and self.units.document is not None
            and batch.own_hash is not None
        ):
            rolled = batch.height
            chunks = int(np.count_nonzero(batch.own_hash != batch.hashes))
        try:
            batch, twice = self._in_units(batch)
        except DuplicateRows as error:
            error.where = ", ".join(locate(row) for row in error.rows[:3])
            raise
        if (
            self.units is not None
            and options.duplicates == "error"
            and not self._of_spans
        ):  # the copies left have other ids
            options = replace(options, duplicates="first_keep_rank")
        if (
            len(twice)
            and options.duplicates == "error"
            and not repeats_in_step(batch, twice)
        ):
            options = replace(options, duplicates="first_keep_rank")
        matches = self.judgments.match(batch)
        ideal = self.judgments.ideal_of(batch, matches)
        retrieved = None
        if self._of_spans:
            batch, graded, retrieved = self._spans(batch, matches)
        else:
            graded = self._graded(batch, matches)
        matches = graded.matches
        blocks = tie_blocks(batch, options)
        others, in_pool = self._others(batch, matches)
        try:
            ranks = rank(
                batch,
                blocks,
                twice,
                matches,
                graded.grade,
                options,
                others,
                whole=bool(self.budgets or self.costs),
            )
        except DuplicateRows as error:
            error.where = ", ".join(locate(row) for row in error.rows[:3])
            more = (
                ""
                if self._of_spans
                else _counted_recall(batch, twice, matches, graded.grade, ideal)
            )
            error.expected = f"{error.expected}{more}"
            raise
        self._check_candidates(batch, ranks.n)
        hit = ranks.kept
        lists = matches.list[hit]
        every = len(lists) == batch.height
        counts = (
            batch.lengths if every else np.bincount(lists, minlength=len(batch.lengths))
        )
        hits = Hits(
            offsets=np.concatenate(([0], np.cumsum(counts))),
            rank=ranks.rank,
            grade=self._accepted_grades(batch, graded)[hit],
            first=ranks.first,
            last=ranks.last,
            judged=graded.judged[hit],
            n=ranks.n,
            length=ranks.length,
            ideal=self._ideal(ideal, graded, hit, len(batch.lengths), twice),
            found=np.ones(len(batch.lengths), bool),
            expected=options.tie_rule.closed_form,
            lowest_grade=self.judgments.lowest_grade,
            candidates=self._candidates(len(batch.lengths)),
            kept=kept_within(batch, ranks, matches.row[hit], lists, self.budgets)
            if self.budgets
            else {},
            attainable=self._attainable(batch.codes),
            retrieved=None if retrieved is None else retrieved.of(hit),
            score=batch.key[matches.row[hit]]
            if "scores" in self.brings and batch.key is not None
            else None,
            paid=Paid.of(batch, ranks, self._paid(batch)) if self.costs else None,
            unanswerable=self._unanswerable(batch.codes),
            abstained=self._abstained(batch, ranks.n)
            if "abstained" in self.brings
            else None,
            **self._additions(batch, matches, hit, others, in_pool, ranks),
        )
        counted = None
        if self.cutoffs is not None:
            counted = tally(batch, blocks, twice, hits, self.cutoffs)
            counted = replace(counted, left_out=left_out, rolled=rolled, chunks=chunks)
            counted = self._with_found(
                counted, graded, several=len(twice) > 0 and not self._of_spans
            )
            counted = self._with_false_retrievals(counted, hits, batch)
        return Chunk(batch.names, batch.codes, _first_rows(batch), hits, counted)

    def _with_found(self, counted: Tally, graded: _Graded, *, several: bool) -> Tally:
        """Return counts with the relevant documents found, and how many are there again."""
        if not isinstance(self.judgments, Judgments):
            return counted
        relevant = graded.grade > 0
        again = (
            _repeated(graded.matches.pair[relevant]) if several else np.empty(0, bool)
        )
        found = int(np.count_nonzero(relevant))
        return replace(counted, found=found, found_again=int(np.count_nonzero(again)))

    def _with_false_retrievals(self, counted: Tally, hits: Hits, batch: Batch) -> Tally:
        """Return counts with those of lists for queries that have no answer."""
        wrong = hits.unanswerable
        if self.options.empty == "unanswerable":
            wrong = (hits.ideal.count(hits.ideal.grade > 0) == 0) & (batch.codes >= 0)
        if wrong is None:
            return counted
        false = int((wrong & ~self._abstained(batch, hits.n)).sum())
        return replace(counted, unanswerable=int(wrong.sum()), false_retrievals=false)

    def _in_units(self, batch: Batch) -> tuple[Batch, Ints]:
        """Return the sorted batch, one row for each document, and the rows of units that occur again."""
        none = np.empty(0, np.int64)
        units = self.units
        score = self.options.unit_score
        if (
            self._of_spans
        ):  # each chunk stays a row; its document is where judged spans are looked up
            batch = sort_lists(by_steps(batch), self.options)
            return batch, repeated(batch.own_hashes, batch.lengths, batch.own_ids)
        if batch.docs is None:
            return sort_lists(by_steps(batch), self.options), none
        if units is None:
            batch = sort_lists(by_steps(batch), self.options)
            return batch, repeated(batch.hashes, batch.lengths, batch.ids)
        if self.options.duplicates == "error" and batch.own_hash is not None:
            again = repeated(batch.own_hash, batch.lengths, batch.own_ids)
            if len(again) and repeats_in_step(batch, again):
                raise duplicate(replace(batch, named=None), again)
        if units.document is not None and score != "max":
            batch = by_all_chunks(batch, score)
        batch = sort_lists(by_steps(batch), self.options)
        if units.document is not None and score == "max":
            batch = by_best_chunk(batch, self.options)
        batch = in_classes(batch, units)
        return batch, none if units.same is None else repeated(
            batch.hashes, batch.lengths, batch.ids
        )

    @property
    def _of_spans(self) -> bool:
        return "spans" in self.brings

    def _spans(
        self, batch: Batch, matches: Matches
    ) -> tuple[Batch, _Graded, Retrieved]:
        """Return a batch by the ids of its chunks, each with the best grade of the spans that it touches."""
        assert isinstance(self.judgments, Judgments)  # noqa: S101 - labelled tables are refused before
        assert self.judgments.spans is not None  # noqa: S101 - prepared for measures of spans
        pair = np.full(batch.height, -1)
        pair[matches.row] = matches.pair
        document = numbered(batch.ids(np.arange(batch.height)), pair)
        judged = self.judgments.spans.take(batch.codes)
        start, end = (batch.costs[name] for name in OFFSETS)
        chunk, span = overlapping(
            Spans(batch.list_of_row, document, start, end), judged.spans
        )
        grade = np.where(np.bincount(chunk, minlength=batch.height) > 0, -np.inf, 0.0)
        np.maximum.at(grade, chunk, judged.grade[span])
        every = Matches(np.arange(batch.height), batch.list_of_row, pair)
        graded = _Graded(every, grade, np.ones(batch.height, bool))
        batch = replace(batch, named=None, hash=batch.own_hash)
        return batch, graded, Retrieved(document, start, end, judged)

    def _graded(self, batch: Batch, matches: Matches) -> _Graded:
        """Return the rows with a grade: the judged ones, or all where grades are imputed."""
        grades = self.judgments.grades(batch, matches)
        if self.options.imputes:
            return _Graded(
                *impute(batch, matches, grades, self.judgments, self.options)
            )
        return _Graded(matches, grades, np.ones(len(grades), bool))

    def _accepted_grades(self, batch: Batch, graded: _Graded) -> Floats:
        """Return the grades; with ``score_above``, rows with lower scores gain nothing."""
        if self.options.score_above is None or batch.key is None:
            return graded.grade
        scored = batch.key[graded.matches.row] > self.options.score_above
        return np.where(scored, graded.grade, np.minimum(graded.grade, 0.0))

    def _ideal(
        self,
        known: Ideal,
        graded: _Graded,
        hit: Ints | slice,
        queries: int,
        twice: Ints,
    ) -> Ideal:
        """Return the ideal lists: the known ones, or with grades that the options add."""
        matches = graded.matches
        if self.options.pool == "list":
            return ideal_of_lists(matches.list[hit], graded.grade[hit], queries)
        if self.options.imputes:
            further = ~graded.judged[hit]
        elif self.options.duplicates == "keep_judged" and len(twice):
            further = _repeated(matches.pair[hit])
        else:
            return known
        return _with_additions(
            known, matches.list[hit][further], graded.grade[hit][further]
        )

    def _others(self, batch: Batch, matches: Matches) -> tuple[Ints | None, Bools]:
        """Return the ungraded rows whose ranks a measure needs, and which of them were pooled."""
        none = np.empty(0, np.int64)
        pooled = none
        if not self.brings & {"holes", "pooled"}:
            return None, none.astype(bool)
        if (
            self.options.unjudged == "condensed_keep_rank"
        ):  # removed, though ranks do not close up
            return none, none.astype(bool)
        if isinstance(self.judgments, Judgments) and self.judgments.pooled is not None:
            pooled = self.judgments.pooled.find(batch, batch.codes).row
            pooled = pooled[
                ~np.isin(pooled, matches.row)
            ]  # these have an imputed grade
        if "holes" not in self.brings and isinstance(self.judgments, Judgments):
            return pooled, np.ones(len(pooled), bool)
        bare = np.ones(batch.height, bool)
        bare[matches.row] = False
        rows = np.flatnonzero(bare)
        labelled = isinstance(
            self.judgments, SelfLabelled
        )  # in a labelled list all documents are in the pool
        return rows, np.ones(len(rows), bool) if labelled else np.isin(rows, pooled)

    def _additions(
        self,
        batch: Batch,
        matches: Matches,
        hit: Ints | slice,
        others: Ints | None,
        in_pool: Bools,
        ranks: Ranks,
    ) -> dict[str, Any]:
        """Return what measures need besides hits."""
        additions: dict[str, Any] = {}
        if "rows" in self.brings:
            additions["run_row"] = batch.table_rows(matches.row[hit])
            additions["judgment_row"] = self.judgments.rows_of(batch, matches.pair[hit])
        if self.brings & {"pool", "groups"} and isinstance(self.judgments, Judgments):
            pool = self.judgments.pool.take(batch.codes)
            lists = matches.list[hit]
            pair = matches.pair[hit]
            starts = self.judgments.pairs.offsets[batch.codes[lists]]
            additions["pool"] = pool
            additions["member"] = np.where(
                pair >= 0, pool.offsets[lists] + pair - starts, -1
            )
        if others is not None and ranks.others is not None:
            rest = ranks.others
            lists = batch.list_of_row[others[ranks.others.at]]
            rows = batch.table_rows(others[rest.at])
            additions["holes"] = _places(
                rest, lists, rows, len(batch.lengths), np.ones(len(lists), bool)
            )
            additions["pooled"] = _places(
                rest, lists, rows, len(batch.lengths), in_pool[rest.at]
            )
        return additions

    def _attainable(self, codes: Ints) -> dict[Budget, Ideal]:
        """Return the grades of the best lists within each budget, where the costs of judgments are known."""
        if not isinstance(self.judgments, Judgments):
            return {}
        ideals = {
            budget: self.judgments.attainable(budget) for budget in self.best_within
        }
        return {
            budget: ideal.take(codes)
            for budget, ideal in ideals.items()
            if ideal is not None
        }

    def missing(
        self,
        judgments: Judgments,
        codes: Ints,
        failures: Mapping[str, str] | None = None,
    ) -> Chunk:
        """Return judged queries, by their indexes, that the run does not answer.

        ``failures`` are queries whose retrieval failed, which have not abstained.
        """
        count = len(codes)
        failed = np.zeros(count, bool)
        if failures:
            failed = (
                judgments.queries.names.gather(codes)
                .cast(pl.String)
                .is_in([*failures])
                .to_numpy()
            )
        ints = np.empty(0, np.int64)
        floats = np.empty(0)
        hits = Hits(
            offsets=np.zeros(count + 1, np.int64),
            rank=ints,
            grade=floats,
            first=ints,
            last=ints,
            judged=np.empty(0, bool),
            n=np.zeros(count, np.int64),
            length=np.zeros(count, np.int64),
            ideal=judgments.ideal.take(
                codes if self.options.pool == "judged" else np.full(count, -1)
            ),
            found=np.zeros(count, bool),
            expected=self.options.tie_rule.closed_form,
            lowest_grade=judgments.lowest_grade,
            candidates=self._candidates(count),
            run_row=ints,
            judgment_row=ints,
            member=ints,
            score=floats if "scores" in self.brings else None,
            retrieved=self._nothing_retrieved(judgments, codes),
            paid=Paid.nothing(count, self.costs) if self.costs else None,
            unanswerable=self._unanswerable(codes),
            abstained=~failed if "abstained" in self.brings else None,
            pool=judgments.pool.take(codes)
            if self.brings & {"pool", "groups"}
            else None,
            pooled=_no_places(count),
            holes=_no_places(count),
            kept={budget: Kept.none(count) for budget in self.budgets},
            attainable=self._attainable(codes),
        )
        names = judgments.queries.names.gather(codes)
        return Chunk(names, codes, np.zeros(count, np.int64), hits, None)

    def _nothing_retrieved(self, judgments: Judgments, codes: Ints) -> Retrieved | None:
        none = np.empty(0)
        spans = judgments.spans
        return (
            None
            if spans is None
            else Retrieved(none.astype(np.int64), none, none, spans.take(codes))
        )

    def empty(self, judgments: Judgments, codes: Ints, names: pl.Series) -> Chunk:
        """Return queries with an empty list; those without judgments have index -1."""
        chunk = replace(self.missing(judgments, codes), names=names)
        hits = replace(chunk.hits, found=np.ones(len(codes), bool), _memo={})
        counted = Tally(hits.n, hits.n, Counter())
        return replace(
            chunk,
            hits=hits,
            tally=counted,
            undefined=self.options.no_results == "undefined",
        )

    def _paid(self, batch: Batch) -> list[str]:
        """Return the columns of costs, and those of steps where there are any."""
        return [*self.costs, *(name for name in STEPS if name in batch.costs)]

    def _unanswerable(self, codes: Ints) -> Bools | None:
        """Return which queries were declared unanswerable; those without judgments were not."""
        declared = (
            self.judgments.unanswerable
            if isinstance(self.judgments, Judgments)
            else None
        )
        return None if declared is None else (codes >= 0) & declared[codes]

    def _abstained(self, batch: Batch, n: Ints) -> Bools:
        """Return the lists without a document, or with none above ``score_above``."""
        none: Bools = n == 0
        if (
            self.options.score_above is not None
            and batch.key is not None
            and batch.height
        ):
            filled = batch.lengths > 0
            none[filled] |= (
                np.maximum.reduceat(batch.key, batch.heads) <= self.options.score_above
            )
        return none

    def _candidates(self, queries: int) -> Ints | None:
        candidates = self.options.candidates
        return None if candidates is None else np.full(queries, candidates)

    def _check_candidates(self, batch: Batch, n: Ints) -> None:
        """Refuse lists that are longer than the number of candidates."""
        candidates = self.options.candidates
        if candidates is not None and len(n) and int(n.max()) > candidates:
            query = printable(batch.names[int(n.argmax())])
            raise BadOption(
                f"candidates={candidates}, but query {query} retrieves {counted(int(n.max()), 'document')}",
                expected="the number of documents a query could have retrieved",
            )


def _counted_recall(
    batch: Batch, twice: Ints, matches: Matches, grade: Floats, ideal: Ideal
) -> str:
    """Return the recall that a count of rows gives the first list with copies, where it is above 1."""
    first = batch.list_of_row[twice.min()]
    relevant = ideal.grade[ideal.offsets[first] : ideal.offsets[first + 1]] > 0
    rows = int(((matches.list == first) & (grade > 0)).sum())
    known = int(relevant.sum())
    return (
        f"; counting each row, recall would be {rows / known:.3g}"
        if rows > known > 0
        else ""
    )


def _no_places(count: int) -> Places:
    """Return no places for queries without a list."""
    none = np.empty(0, np.int64)
    return Places(np.zeros(count + 1, np.int64), none, none, none, none)


def _places(
    ranked: RankedRows, lists: Ints, rows: Ints, count: int, wanted: Bools
) -> Places:
    offsets = np.concatenate(
        ([0], np.cumsum(np.bincount(lists[wanted], minlength=count)))
    )
    return Places(
        offsets,
        ranked.rank[wanted],
        ranked.first[wanted],
        ranked.last[wanted],
        rows[wanted],
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
    offsets = np.concatenate(([0], np.cumsum(counts)))
    return Ideal(offsets, descending_within(query[order], grade[order]))
