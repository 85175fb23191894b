"""Cornac's average precision: that of scikit-learn for every list, undefined if nothing relevant is found.

LightGBM's area under the curve: 1 if there is only one class.

Spark's nDCG of graded relevance, whose ideal list is in the given order of labels.

Rax's ordered pairs: ties are in the wrong order, and a list without pairs is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.list_arrays import sums
from rankstone.measures.auc import AUC as SOUND
from rankstone.measures.average_precision import AP
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, Status
from rankstone.measures.dcg import DCG
from rankstone.measures.ideal_agreement import RC, OrderComparison

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Floats


@dataclass(frozen=True, kw_only=True)
class MAP(AP):
    """Average precision over the relevant items of the list; no value if there are none.

    >>> print(MAP(tied="block"))
    AP(tied=block)
    """

    zero_norm: ClassVar[Status] = Status.undefined

    def contributions(self, hits: Hits) -> Contributions:
        """Divide by the relevant items that are in the list."""
        found = hits.total(hits.relevant(self.rel).astype(np.float64))
        return replace(super().contributions(hits), norm=found)


@dataclass(frozen=True, kw_only=True)
class AUC(SOUND):
    """The area under the curve, 1 if all rows are relevant, or none is.

    >>> print(AUC(negatives="judged"))
    AUC(negatives=judged)
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Return 1 for lists of one class."""
        parts = super().contributions(hits)
        one = parts.norm == 0
        missed = np.zeros(len(one)) if parts.missed is None else parts.missed
        return replace(parts, norm=np.where(one, 1.0, parts.norm), missed=np.where(one, 1.0, missed))


@dataclass(frozen=True, kw_only=True)
class GradedNDCG(DCG):
    """DCG over that of the judged documents, unsorted.

    >>> print(GradedNDCG(k=5))
    GradedNDCG@5
    """

    needs_relevant: ClassVar[bool] = True
    brings: ClassVar[frozenset[str]] = frozenset({"pool"})
    card: ClassVar[Card] = Card(
        sentence="How much do the first k gain, compared with the first k labels in their given order?",
        formula="Σ_{i ≤ k} (2^g_i − 1) / log2(i + 1)  /  Σ_{i ≤ k} (2^l_i − 1) / log2(i + 1)",
        symbols="g_i: grade at rank i; l_i: grade of the i-th label as passed",
        example="labels 0, 1 and the document of grade 1 first, k = 2: 1 / (0 + 1/log2(3)) = 1.585",
        sensitive="the order of the labels: sorted, best first, it is nDCG; otherwise it may exceed 1",
        use="to read the library's numbers; sort labels before they are passed",
        citation="Spark 3.5, RankingMetrics.ndcgAt in Scala",
    )

    gain: str = parameter("exp2", "what a grade gains", "exp2")

    def contributions(self, hits: Hits) -> Contributions:
        """Divide the discounted gains by those of the judged documents in the given order."""
        return Contributions(self.discounted(hits), self._unsorted(hits))

    def _unsorted(self, hits: Hits) -> Floats:
        pool, _ = hits.judged_documents()
        rank = np.arange(len(pool.query)) - pool.offsets[pool.query] + 1
        shares = self.worth(pool.grade) / self.divisor(rank)
        inside = rank <= self.k if self.k is not None else np.ones(len(rank), bool)
        return sums(pool.query, np.where(inside, shares, 0.0), pool.queries)


@dataclass(frozen=True, kw_only=True)
class OPA(RC):
    """Ordered pair accuracy: the share of pairs of unequal label with the better label strictly above.

    >>> print(OPA())
    OPA
    """

    aliases: ClassVar[tuple[str, ...]] = ()
    zero_norm: ClassVar[Status] = Status.no_ideal
    card: ClassVar[Card] = Card(
        sentence="How often does the better of two rows have the higher score?",
        formula="OPA = Σ_{y_i > y_j} [s_i > s_j] / Σ_{y_i > y_j} 1",
        symbols="y: labels; s: scores",
        example="labels 2, 0, 1 in the order of the scores: 2 of 3 pairs",
        undefined="no two labels differ: 0",
        sensitive="ties, which are in the wrong order",
        use="to read Rax's numbers; RC(ties=drop) counts a tied pair one half",
        citation="Rax 0.4",
    )

    ties: str = field(default="drop")

    def contributions(self, hits: Hits) -> Contributions:
        """Subtract from each hit what RC gives it for tied pairs."""
        parts, order = super().contributions(hits), OrderComparison.of(hits)
        of_hit = np.empty(len(parts.hits))
        of_hit[order.hit] = order.tied_other_grades(np.ones(len(of_hit))) / 2
        return replace(parts, hits=parts.hits - of_hit)
