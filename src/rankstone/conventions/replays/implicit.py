"""Implicit's measures, in which every stored entry is a like, and its AUC, which assumes lists of k items."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.measures import auc as pairs
from rankstone.measures import average_precision, precision
from rankstone.measures.core.measure import Contributions
from rankstone.measures.dcg import nDCG

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Scored


class _Entries:
    """Mixin before a measure: every entry of the matrix is a like, whatever its sign; 0 is none."""

    def score(self: Any, hits: Hits, empty: str = "zero") -> Scored:
        """Score the hits; every grade except 0 is relevant."""
        ideal = hits.ideal
        order = np.lexsort((ideal.grade == 0, ideal.query))
        liked = replace(ideal, grade=(ideal.grade[order] != 0).astype(np.float64))
        scored: Scored = super().score(  # type: ignore[misc]
            replace(
                hits, grade=(hits.grade != 0).astype(np.float64), ideal=liked, _memo={}
            ),
            empty,
        )
        return scored


class AP(_Entries, average_precision.AP):
    """Average precision over entries.

    >>> print(AP(k=5))
    AP@5
    """


class R(_Entries, precision.R):
    """Recall over entries.

    >>> print(R(k=5))
    R@5
    """


class NDCG(_Entries, nDCG):
    """nDCG over entries.

    >>> print(NDCG(gain="binary", k=5))
    nDCG(gain=binary)@5
    """


class AUC(_Entries, pairs.AUC):
    """AUC of the first k against the catalogue; a rank without an item counts as a negative.

    An item shown twice counts as two; all items that are not among the first k are tied below these.

    >>> print(AUC(negatives="catalogue", k=5))
    AUC(negatives=catalogue)@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant item the negatives below it among k ranks, and half of those behind."""
        assert self.k is not None  # noqa: S101 - the library always has a cutoff
        liked = hits.relevant(self.rel)
        relevant = hits.relevant_count(self.rel)
        shown = hits.count(liked)
        negatives = self.all_negatives(hits)
        behind = (negatives - (self.k - shown)) / 2
        passed = self.k - hits.rank - (hits.spread(shown) - hits.running_count(liked))
        return Contributions(
            np.where(liked, passed + hits.spread(behind), 0.0),
            relevant.astype(np.float64) * negatives,
            missed=relevant * behind,
        )
