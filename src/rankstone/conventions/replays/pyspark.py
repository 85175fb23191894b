"""Spark's nDCG of graded relevance, whose ideal list stands in the order in which labels were handed over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.arrays import sums
from rankstone.measures.base import Contributions
from rankstone.measures.dcg import DCG
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats
    from rankstone.hits.ragged import Hits

__all__ = ["GradedNDCG"]


@dataclass(frozen=True, kw_only=True)
class GradedNDCG(DCG):
    """DCG over that of the judged documents, unsorted.

    >>> print(GradedNDCG(k=5))
    GradedNDCG@5
    """

    name: ClassVar[str] = "GradedNDCG"
    needs_relevant: ClassVar[bool] = True
    brings: ClassVar[frozenset[str]] = frozenset({"pool"})
    card: ClassVar[Card] = Card(
        sentence="How much do the first k gain, beside the first k labels in whatever order they came?",
        formula="Σ_{i ≤ k} (2^g_i − 1) / log2(i + 1)  /  Σ_{i ≤ k} (2^l_i − 1) / log2(i + 1)",
        symbols="g_i: grade at rank i; l_i: grade of the i-th label that was handed over",
        example="labels 0, 1 and the document of grade 1 first, k = 2: 1 / (0 + 1/log2(3)) = 1.585",
        sensitive="the order of the labels: sorted, best first, it is nDCG; otherwise it may exceed 1",
        use="to read the library's numbers; sort labels before they are handed over",
        citation="Spark 3.5, RankingMetrics.ndcgAt in Scala",
    )

    gain: str = parameter("exp2", "what a grade gains", "exp2")

    def contributions(self, hits: Hits) -> Contributions:
        """Divide the discounted gains by those of the judged documents as they come."""
        return Contributions(self.discounted(hits), self._unsorted(hits))

    def _unsorted(self, hits: Hits) -> Floats:
        pool, _ = hits.judged_documents()
        rank = np.arange(len(pool.query)) - pool.offsets[pool.query] + 1
        shares = self.worth(pool.grade) / self.divisor(rank)
        inside = rank <= self.k if self.k is not None else np.ones(len(rank), bool)
        return sums(pool.query, np.where(inside, shares, 0.0), pool.queries)
