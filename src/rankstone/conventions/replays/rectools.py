"""RecTools' AUC-like measures: lists are taken to go on until they hold k negatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import Contributions
from rankstone.measures.named import Card
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["PAP", "PartialAUC"]


@dataclass(frozen=True, kw_only=True)
class PartialAUC(BinaryMeasure):
    """The relevant items against the first k others of the list, as if there always were k.

    >>> print(PartialAUC(k=5))
    PartialAUC@5
    """

    name: ClassVar[str] = "PartialAUC"
    family: ClassVar[str] = "pairs"
    card: ClassVar[Card] = Card(
        sentence="How often does a relevant item stand above one of the first k others?",
        formula="PartialAUC@k = (1 / (R k)) Σ_{relevant d} max(k − a_d, 0)",
        symbols="R: relevant items; a_d: others in the list above d. k counts others, not ranks",
        example="relevant, not, relevant, not; k = 4: (4 + 3) / (2·4) = 7/8",
        sensitive="lists that hold fewer than k others: those that are missing count as beaten",
        use="to read RecTools' numbers; pAUC(negatives=catalogue, unreturned=bottom) counts those there are",
        citation="RecTools 0.19",
    )

    @property
    def looks_deeper(self) -> bool:
        """Hold: k counts negatives, not ranks."""
        return True

    @property
    def closed_under_ties(self) -> bool:
        """Fail: ranks are given, ties unknown."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit those of the first k others that stand below it."""
        k, relevant = self.k or 0, hits.relevant(self.rel)
        above = hits.rank - hits.running_count(relevant)
        counted = relevant & self.counted(hits, relevant)
        return Contributions(
            np.where(counted, np.maximum(k - above, 0), 0.0), self.most(hits).astype(np.float64) * k
        )

    def counted(self, hits: Hits, relevant: Bools) -> Bools:  # noqa: ARG002 - for those that look at less
        """Return which relevant hits count: all of them."""
        return relevant

    def most(self, hits: Hits) -> Ints:
        """Return how many relevant items could count."""
        return hits.relevant_count(self.rel)


@dataclass(frozen=True, kw_only=True)
class PAP(PartialAUC):
    """The first k relevant items against the first k others of the list.

    >>> print(PAP(k=5))
    PAP@5
    """

    name: ClassVar[str] = "PAP"
    card: ClassVar[Card] = Card(
        sentence="How often does one of the first k relevant items stand above one of the first k others?",
        formula="PAP@k = (1 / (min(R, k) k)) Σ_{first k relevant d} max(k − a_d, 0)",
        symbols="R: relevant items; a_d: others in the list above d. k counts items, not ranks",
        example="relevant, not, relevant, not; k = 1: 1 / (1·1) = 1; k = 4: (4 + 3) / (2·4) = 7/8",
        sensitive="lists that hold fewer than k others: those that are missing count as beaten",
        use="to read RecTools' numbers; no average precision in spite of its name",
        citation="RecTools 0.19",
    )

    def counted(self, hits: Hits, relevant: Bools) -> Bools:
        """Return which relevant hits count: the first k."""
        first: Bools = hits.running_count(relevant) <= (self.k or 0)
        return first

    def most(self, hits: Hits) -> Ints:
        """Return how many relevant items could count: k at most."""
        return np.minimum(super().most(hits), self.k or 0)
