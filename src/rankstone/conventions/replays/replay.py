"""RePlay's RocAuc, which knows the first k of a list and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import Contributions
from rankstone.measures.named import Card
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits

__all__ = ["RocAuc"]


@dataclass(frozen=True, kw_only=True)
class RocAuc(BinaryMeasure):
    """The area under the ROC curve of the first k items, worth 1 where all of them are relevant.

    >>> print(RocAuc(k=5))
    RocAuc@5
    """

    name: ClassVar[str] = "RocAuc"
    family: ClassVar[str] = "pairs"
    card: ClassVar[Card] = Card(
        sentence="Among the first k items: how often does a relevant one stand above one that is not?",
        formula="RocAuc@k = (1 / (r f)) Σ_{relevant d} (f − a_d);  0 if r = 0, 1 if f = 0",
        symbols="r, f: relevant items and others among the first k; a_d: others above d",
        example="relevant, not, relevant, not; k = 4: (2 + 1) / (2·2) = 3/4",
        sensitive="what is below rank k, or was not retrieved, plays no part",
        use="to read RePlay's numbers; AUC says which negatives it means",
        citation="RePlay 0.22",
    )

    @property
    def closed_under_ties(self) -> bool:
        """Fail: who is among the first k decides what is counted."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the others below it, as a share of them; divide by the relevant hits."""
        relevant = hits.relevant(self.rel)
        found = hits.count(relevant)
        others = hits.spread(np.minimum(self.depth(hits), hits.n) - found)
        above = hits.rank - hits.running_count(relevant)
        shares = np.where(others > 0, (others - above) / np.maximum(others, 1), 1.0)
        return Contributions(np.where(relevant, shares, 0.0), np.maximum(found, 1).astype(np.float64))
