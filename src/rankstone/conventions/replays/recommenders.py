"""Recommenders' R-precision, whose mean leaves out everybody who found nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import Contributions, Status
from rankstone.measures.named import Card
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits

__all__ = ["RPrecision"]


@dataclass(frozen=True, kw_only=True)
class RPrecision(BinaryMeasure):
    """R-precision of the first k, without users who have no hit among their first min(R, k).

    >>> print(RPrecision(k=5))
    r_precision@5
    """

    name: ClassVar[str] = "r_precision"
    family: ClassVar[str] = "binary"
    zero_norm: ClassVar[Status] = Status.dropped
    card: ClassVar[Card] = Card(
        sentence="Of the first R results, how many are relevant for users who find anything there?",
        formula="r_precision@k = h_c / R,  c = min(R, k);  no value where h_c = 0",
        symbols="R: relevant items of the user; h_c: relevant ones at ranks 1 … c",
        example="R = 8, relevant at ranks 1 and 2, k = 3: 2/8; a second user without a hit changes nothing",
        undefined="no hit among the first min(R, k): left out of the mean",
        sensitive="how many users find nothing: the more, the better the rest looks",
        use="to read the library's numbers; Rprec averages over all users",
        citation="Recommenders 1.2",
    )

    @property
    def closed_under_ties(self) -> bool:
        """Fail: whether there is a hit decides whether there is a value."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits in the first min(R, k) ranks; divide by R."""
        relevant = hits.relevant_count(self.rel)
        shares = self.found(hits, relevant if self.k is None else np.minimum(relevant, self.k))
        return Contributions(shares, np.where(hits.total(shares) > 0, relevant, 0).astype(np.float64))
