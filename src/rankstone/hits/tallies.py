"""Counts of a batch for the audit of a run; those of several batches are added."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record
from rankstone.hits.ranks_and_ties import contradicted, near_ties

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import Ints
    from rankstone.hits.batches import Batch
    from rankstone.hits.hits import Hits
    from rankstone.hits.ranks_and_ties import TieBlocks


class Tally(Record):
    """Counts over one batch of lists.

    Attributes
    ----------
    rows
        Rows of the run in these lists.
    tied, tied_queries, tied_float32
        Rows in tie blocks, lists with any, and rows that tie only as float32.
    duplicates
        Rows whose document is in its list more than once.
    contradicted
        Lists in which a better rank goes with a lower score.
    single
        Lists with exactly one judged document.
    found, found_again
        Rows of relevant documents; those of them whose document is above in the same list.
    unanswerable, false_retrievals
        Lists of queries that have no answer; those with a document.
    rolled, chunks
        Rows before chunks roll up to documents, 0 where they do not; those with another id than their
        document.
    n, judged
        int64 per list: documents retrieved, judged documents among them.
    unjudged
        ``"10 7"`` → unjudged documents of all lists that have 7 documents down to rank 10; for each audited
        cutoff.  Whole numbers, so that shares do not depend on how a run is cut into batches.
    left_out
        int64: the excluded pair of each row that was removed from these lists.
    """

    rows: int
    tied: int
    tied_queries: int
    tied_float32: int
    duplicates: int
    contradicted: int
    single: int
    n: Ints
    judged: Ints
    unjudged: Counter[str]
    found: int = 0
    found_again: int = 0
    unanswerable: int = 0
    false_retrievals: int = 0
    rolled: int = 0
    chunks: int = 0
    left_out: Ints = field(default_factory=lambda: np.empty(0, np.int64))


def tally(
    batch: Batch, blocks: TieBlocks, copies: Ints, hits: Hits, cutoffs: Sequence[int]
) -> Tally:
    """Return the counts of a batch."""
    judged = _judged(hits)
    tied = np.searchsorted(batch.heads, blocks.start, side="right")
    return Tally(
        rows=batch.height,
        tied=int(blocks.size.sum()),
        tied_queries=int((np.diff(tied, prepend=0) > 0).sum()),
        tied_float32=near_ties(batch),
        duplicates=len(copies),
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
