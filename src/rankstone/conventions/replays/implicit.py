"""Implicit's AUC, which takes every list for k items long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.measures import pairs
from rankstone.measures.base import Contributions

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits

__all__ = ["AUC"]


@dataclass(frozen=True, kw_only=True)
class AUC(pairs.AUC):
    """AUC of the first k against the catalogue; a rank without an item is one more negative there.

    An item shown twice is taken for two, and the items that are not among the first k all tie below them.

    >>> print(AUC(negatives="catalogue", k=5))
    AUC(negatives=catalogue)@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant item the negatives it passes among k ranks, and half of those behind."""
        assert self.k is not None  # noqa: S101 - the library's has a cutoff
        liked = hits.relevant(self.rel)
        relevant, shown = hits.relevant_count(self.rel), hits.count(liked)
        negatives = self.known(hits)
        behind = (negatives - (self.k - shown)) / 2
        passed = self.k - hits.rank - (hits.spread(shown) - hits.running_count(liked))
        return Contributions(
            np.where(liked, passed + hits.spread(behind), 0.0),
            relevant.astype(np.float64) * negatives,
            missed=relevant * behind,
        )
