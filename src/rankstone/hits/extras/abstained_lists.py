"""Abstention: which lists have no document that is good enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import PerQuery

if TYPE_CHECKING:
    from rankstone._basics import Bools
    from rankstone.hits.matched_batch import MatchedBatch


class WhoAbstained(PerQuery):
    """True for lists without a document that is good enough, bool ``[queries]``."""

    abstained: Bools

    def without_documents(self, lists: Bools) -> Self:
        """Return that lists abstain, too, of which a cutoff leaves nothing."""
        return type(self)(abstained=self.abstained | lists)


class AbstainedLists(Extra[WhoAbstained]):
    """Adds which lists abstain."""

    counts_unanswerable = True
    grades_decide = False

    def attach(self, work: MatchedBatch) -> WhoAbstained:
        """Return the lists without a document that is good enough; who failed has not abstained."""
        return WhoAbstained(abstained=abstained(work) & np.logical_not(work.failed))


def abstained(work: MatchedBatch) -> Bools:
    """Return the lists without a document, or with none above ``score_above``, bool ``[lists]``."""
    none: Bools = work.ranks.n == 0
    batch = work.batch
    least = work.options.score_above
    if least is not None and batch.key is not None and batch.height:
        filled = batch.lengths > 0
        none[filled] |= np.maximum.reduceat(batch.key, batch.heads) <= least
    return none
