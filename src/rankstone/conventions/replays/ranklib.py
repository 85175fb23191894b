"""RankLib's reciprocal rank without a cutoff, which looks at no document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import Contributions, Measure
from rankstone.measures.named import Card

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits

__all__ = ["NoRR"]


@dataclass(frozen=True, kw_only=True)
class NoRR(Measure):
    """Nothing: the reciprocal rank of the first relevant document among the first none.

    >>> print(NoRR())
    NoRR
    """

    name: ClassVar[str] = "NoRR"
    family: ClassVar[str] = "reciprocal rank"
    takes_cutoff: ClassVar[bool] = False
    card: ClassVar[Card] = Card(
        sentence="Where is the first relevant document of those not looked at?",
        formula="NoRR = 0",
        symbols="none",
        example="relevant, not: 0",
        sensitive="nothing",
        use="to read RankLib's numbers",
        citation="RankLib 2",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give every hit nothing."""
        return Contributions(np.zeros(len(hits.rank)), np.ones(hits.queries))
