"""Ranks of retrieved documents without a grade, for measures and bounds that look at them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from rankstone._basics import Record
from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import HitValue
from rankstone.hits.judgments import SelfLabelled
from rankstone.hits.list_arrays import end_to_end, list_numbers, offsets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Ints
    from rankstone.hits.matched_batch import MatchedBatch


class Places(Record, HitValue):
    """Ranks of retrieved documents without a grade, in rank order within each query.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``.
    rank, first, last
        int64 ``[places]``: rank, and first and last rank of the tie block.
    run_row
        int64 ``[places]``: the row of the run of each.
    """

    offsets: Ints
    rank: Ints
    first: Ints
    last: Ints
    run_row: Ints

    @cached_property
    def query(self) -> Ints:
        """The query of each place, int64 ``[places]``."""
        return list_numbers(np.diff(self.offsets))

    def above(self, query: Ints, rank: Ints) -> Ints:
        """Count a query's places above each given rank, int64 like ``rank``."""
        deep = 1 + max(int(rank.max(initial=0)), int(self.rank.max(initial=0)))
        return (
            np.searchsorted(self.query * deep + self.rank, query * deep + rank)
            - self.offsets[query]
        )

    @classmethod
    def none(cls, queries: int) -> Self:
        """Return no places, of queries without a list."""
        none = np.empty(0, np.int64)
        return cls(np.zeros(queries + 1, np.int64), none, none, none, none)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join those of several parts."""
        columns = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("rank", "first", "last", "run_row")
        )
        return cls(end_to_end([part.offsets for part in parts]), *columns)


class Holes(Extra[Places]):
    """Adds the ranks of all retrieved documents without a grade."""

    looks_deeper = True

    def rows(self, work: MatchedBatch) -> Ints:
        """Return the rows of these documents; none where they are removed, though ranks do not close up."""
        rows = np.empty(0, np.int64)
        if work.options.unjudged != "condensed_keep_rank":
            bare = np.ones(work.batch.height, bool)
            bare[work.matches.row] = False
            rows = self._wanted(work, np.flatnonzero(bare))
        work.kept[type(self)] = rows
        return rows

    def _wanted(self, work: MatchedBatch, bare: Ints) -> Ints:  # noqa: ARG002 - all of them
        """Return those of the rows without a grade whose places are added."""
        return bare

    def attach(self, work: MatchedBatch) -> Places | None:
        """Return their ranks."""
        others = work.others
        ranked = work.ranks.others
        if others is None or ranked is None:
            return None
        rows = others[ranked.selected]
        wanted = np.isin(rows, work.kept[type(self)])
        lists = work.batch.list_of_row[rows[wanted]]
        return Places(
            offsets_of(np.bincount(lists, minlength=len(work.batch.lengths))),
            ranked.rank[wanted],
            ranked.first[wanted],
            ranked.last[wanted],
            work.batch.table_rows(rows[wanted]),
        )


class PooledHoles(Holes):
    """Adds the ranks of retrieved documents that were pooled but not judged."""

    def _wanted(self, work: MatchedBatch, bare: Ints) -> Ints:
        """Return the pooled rows; in a labelled list all documents are in the pool."""
        if isinstance(work.judgments, SelfLabelled):
            return bare
        pooled = work.judgments.pooled
        if pooled is None:
            return np.empty(0, np.int64)
        rows = pooled.find(work.batch, work.batch.codes).row
        # those with an imputed grade are hits
        return rows[np.isin(rows, bare)]
