"""Abstention: which lists have no document that is good enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import QueryArrays

if TYPE_CHECKING:
    from rankstone._basics import Bools, Ints
    from rankstone.hits.matched_batch import MatchedBatch


class WhoAbstained(QueryArrays):
    """Which lists abstain.

    Attributes
    ----------
    below, failed
        bool ``[queries]``: True for lists without a document, or with none that is good enough; for queries
        whose retrieval failed, which have not abstained.
    """

    below: Bools
    failed: Bools

    def among(self, n: Ints) -> Bools:
        """Return the lists that abstain, where a cutoff leaves ``n`` documents of each, bool ``[queries]``."""
        none: Bools = self.below | (n == 0)
        return none & ~self.failed


class AbstainedLists(Extra[WhoAbstained]):
    """Adds which lists abstain."""

    counts_unanswerable = True
    grades_decide = False

    def attach(self, work: MatchedBatch) -> WhoAbstained:
        """Return the lists without a document that is good enough, and those that failed."""
        below = abstained(work)
        return WhoAbstained(below=below, failed=np.zeros_like(below) | work.failed)


def abstained(work: MatchedBatch) -> Bools:
    """Return the lists without a document, or with none above ``score_above``, bool ``[lists]``."""
    none: Bools = work.ranks.n == 0
    batch = work.batch
    least = work.options.score_above
    if least is not None and batch.key is not None and batch.height:
        filled = batch.lengths > 0
        none[filled] |= np.maximum.reduceat(batch.key, batch.heads) <= least
    return none
