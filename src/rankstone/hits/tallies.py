"""Counts of a batch for the audit of a run; those of several batches are added."""

from __future__ import annotations

from collections import Counter
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone._basics import Record, counted
from rankstone.hits.ranks_and_ties import contradicted, near_ties, ranked_ties

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.hits import Hits
    from rankstone.hits.ranks_and_ties import TieBlocks


def _warning(sentence: str) -> dict[str, str]:
    return {"says": sentence, "warns": sentence}


class ListCounts(Record, kw_only=True):
    """What an audit counts in lists of a run: declared here, with what it says, and added up over batches.

    A count is set where it is counted.  From here it gets into the audit of a run, its text and JSON, through
    files and over machines; with a label ``count_NAME`` in the locales it is a column on pages, too.

    Attributes
    ----------
    rows
        Rows of the run in these lists.
    tied, tied_queries, tied_float32
        Rows in tie blocks, lists with any, and rows that tie only as float32.
    tied_ranked
        Rows with the score of the row before and another rank: ranks would break these ties.
    duplicates
        Rows whose document is in its list more than once.
    found, found_again
        Rows of relevant documents; those of them whose document is above in the same list.
    false_retrievals
        Lists of queries that have no answer, with a document.
    contradicted
        Lists in which a better rank has a lower score, where the run has both.
    """

    rows: int = 0
    tied: int = field(
        default=0,
        metadata={
            "says": "{tied:tied row} in {tied_queries:query}{broken_by}",
            "warns_if_many": "{tied:tied row}{broken_by}",
        },
    )
    tied_queries: int = 0
    tied_float32: int = field(
        default=0,
        metadata={"says": "{tied_float32:row} tied with the next only as float32"},
    )
    tied_ranked: int = 0
    duplicates: int = field(default=0, metadata=_warning("{duplicates:duplicate row}"))
    found: int = 0
    found_again: int = field(default=0, metadata=_warning("{inflation}"))
    false_retrievals: int = field(
        default=0,
        metadata=_warning(
            "{false_retrievals:unanswerable query} with something retrieved"
        ),
    )
    contradicted: int = field(
        default=0, metadata={"says": "ranks contradict scores in {contradicted:query}"}
    )

    @classmethod
    def counters(cls) -> list[str]:
        """Return the names of all that is counted."""
        return [declared.name for declared in fields(cls) if declared.type == "int"]

    def counts(self) -> dict[str, int]:
        """Return all that is counted, by name."""
        return {name: getattr(self, name) for name in self.counters()}

    @property
    def broken_by(self) -> str:
        """What would break the ties of a run that has scores and ranks, in brackets."""
        return " (ranks order them: order=rank)" if self.tied_ranked else ""

    @property
    def inflation(self) -> str:
        """What a count of rows would make of copies of relevant documents."""
        are = (
            "is a copy; counted, it makes"
            if self.found_again == 1
            else "are copies; counted, they make"
        )
        times = self.found / (self.found - self.found_again)
        copies = f"{self.found_again} of {counted(self.found, 'relevant document')} found {are}"
        return f"{copies} recall over all queries {times:.3g} × as high"


class Tally(ListCounts):
    """Counts over one batch of lists.

    Attributes
    ----------
    n, judged
        int64 per list: documents retrieved, judged documents among them.
    unjudged
        ``"10 7"`` → unjudged documents of all lists that have 7 documents down to rank 10; for each audited
        cutoff.  Whole numbers, so that shares do not depend on how a run is cut into batches.
    single
        Lists with exactly one judged document.
    unanswerable
        Lists of queries that have no answer.
    graded, varied
        Rows whose score is the grade of their document; 1 where the grades of the batch differ.
    rolled, chunks
        Rows before chunks roll up to documents, 0 where they do not; those with another id than their
        document.
    left_out
        int64: the excluded pair of each row that was removed from these lists.
    """

    n: Ints
    judged: Ints
    unjudged: Counter[str]
    single: int = 0
    unanswerable: int = 0
    graded: int = 0
    varied: int = 0
    rolled: int = 0
    chunks: int = 0
    left_out: Ints = field(default_factory=lambda: np.empty(0, np.int64))


def order_counts(batch: Batch, blocks: TieBlocks, copies: Ints) -> Counter[str]:
    """Return what is counted in lists whether they are judged or not, by the names of :class:`ListCounts`."""
    tied = np.searchsorted(batch.heads, blocks.start, side="right")
    return Counter(
        rows=batch.height,
        tied=int(blocks.size.sum()),
        tied_queries=int((np.diff(tied, prepend=0) > 0).sum()),
        duplicates=len(copies),
    )


def tally(
    batch: Batch,
    blocks: TieBlocks,
    copies: Ints,
    hits: Hits,
    cutoffs: Sequence[int],
    options: AlignmentOptions,
) -> Tally:
    """Return the counts of a batch."""
    judged = _judged(hits)
    return Tally(
        **dict[str, Any](order_counts(batch, blocks, copies)),
        tied_float32=near_ties(batch),
        tied_ranked=ranked_ties(batch, options),
        contradicted=contradicted(batch),
        single=int((judged == 1).sum()),
        n=hits.n,
        judged=judged,
        unjudged=Counter(
            {f"{k} {n}": count for k in cutoffs for n, count in _unjudged(hits, k)}
        ),
    )


def _judged(hits: Hits) -> Ints:
    """Count the judged hits of each query; nearly always all hits are judged."""
    return np.diff(hits.offsets) if hits.judged.all() else hits.count(hits.judged)


def _unjudged(hits: Hits, k: int) -> Iterator[tuple[int, int]]:
    """Yield numbers of documents down to rank k, and how many are unjudged in all lists with so many."""
    shown = np.minimum(hits.n, k)
    judged = (
        hits.count(hits.judged & (hits.rank <= k))
        if hits.expected
        else _judged(hits.down_to(k))
    )
    lengths, place = np.unique(shown, return_inverse=True)
    counts = np.bincount(place, shown - judged)
    return (
        (n, int(count))
        for n, count in zip(lengths.tolist(), counts.tolist(), strict=True)
        if count
    )
