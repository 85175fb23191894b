"""Cornac's average precision: that of scikit-learn for every list, undefined if nothing relevant is found.

LightGBM's area under the curve: 1 if there is only one class.

Spark's nDCG of graded relevance, whose ideal list is in the given order of labels.

MLflow's nDCG, whose ideal list contains the repetitions of the list.

Rax's ordered pairs: ties are in the wrong order, and a list without pairs is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.hits.extras.pool_members import PoolMembers
from rankstone.hits.list_arrays import sums
from rankstone.measures.auc import AUC as SOUND
from rankstone.measures.average_precision import AP
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import parameter
from rankstone.measures.core.measure import Contributions, Status
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.measures.dcg import DCG
from rankstone.measures.ideal_agreement import RC
from rankstone.measures.order_comparison import OrderComparison

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.hits import Hits


class MAP(AP):
    """Average precision over the relevant items of the list; no value if there are none.

    >>> print(MAP(tied="block"))
    AP(tied=block)
    """

    zero_norm = Status.undefined

    def contributions(self, hits: Hits) -> Contributions:
        """Divide by the relevant items that are in the list."""
        retrieved = hits.total(hits.relevant(self.rel).astype(np.float64))
        return replace(super().contributions(hits), norm=retrieved)


class AUC(SOUND):
    """The area under the curve, 1 if all rows are relevant, or none is.

    >>> print(AUC(negatives="judged"))
    AUC(negatives=judged)
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Return 1 for lists of one class."""
        parts = super().contributions(hits)
        single_class = parts.norm == 0
        missed = np.zeros(len(single_class)) if parts.missed is None else parts.missed
        return replace(
            parts,
            norm=np.where(single_class, 1.0, parts.norm),
            missed=np.where(single_class, 1.0, missed),
        )


@dataclass(frozen=True, kw_only=True)
class GradedNDCG(Replay, DCG):
    """DCG over that of the judged documents, unsorted.

    >>> print(GradedNDCG(k=5))
    GradedNDCG@5
    """

    needs_relevant = True
    requires = frozenset({PoolMembers})

    gain: str = parameter("exp2", "what a grade gains", "exp2")

    def contributions(self, hits: Hits) -> Contributions:
        """Divide the discounted gains by those of the judged documents in the given order."""
        return Contributions(self.discounted(hits), self._unsorted(hits))

    def _unsorted(self, hits: Hits) -> Floats:
        pool = hits.added(PoolMembers).pool
        rank = np.arange(len(pool.query)) - pool.offsets[pool.query] + 1
        shares = self.worth(pool.grade) / self.divisor(rank)
        inside = rank <= self.k if self.k is not None else np.ones(len(rank), bool)
        return sums(pool.query, np.where(inside, shares, 0.0), pool.queries)


@dataclass(frozen=True, kw_only=True)
class OPA(Replay, RC):
    """Ordered pair accuracy: the share of pairs of unequal label with the better label strictly above.

    >>> print(OPA())
    OPA
    """

    aliases = ()
    zero_norm = Status.no_ideal

    ties: str = field(default="drop")

    def contributions(self, hits: Hits) -> Contributions:
        """Subtract from each hit what RC gives it for tied pairs."""
        parts = super().contributions(hits)
        order = OrderComparison.of(hits)
        of_hit = np.empty(len(parts.hits))
        of_hit[order.hit] = order.tied_other_grades(np.ones(len(of_hit))) / 2
        return replace(parts, hits=parts.hits - of_hit)


class LlamaIndexMRR(Replay, BinaryMeasure, family="reciprocal rank"):
    """The mean of 1 / rank over the relevant documents of a list, 0 if it has none.

    >>> print(LlamaIndexMRR())
    mrr(use_granular_mrr=True)
    """

    name = "mrr(use_granular_mrr=True)"
    claims = Claims(
        closed_under_ties=False, extremal_under_ties=False, promotion_helps=False
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit 1 / rank; divide by their number."""
        relevant = hits.relevant(self.rel)
        return Contributions(
            np.where(relevant, 1.0 / hits.rank, 0.0),
            np.maximum(hits.count(relevant), 1),
        )


class MLflowNDCG(Replay, BinaryMeasure, family="cumulated gain"):
    """Binary nDCG to the depth of the list; a repeated relevant document counts again, in the ideal list too.

    >>> print(MLflowNDCG(k=5))
    ndcg_at_k@5
    """

    name = "ndcg_at_k"
    requires = frozenset({PoolMembers})

    #: the ideal list depends on which documents are among the first k
    claims = Claims(closed_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit its discount; divide by those of the ideal list."""
        shares = np.where(hits.relevant(self.rel), 1.0 / np.log2(hits.rank + 1.0), 0.0)
        depth = np.minimum(
            hits.relevant_count(self.rel) + self._repeated(hits, shares > 0), hits.n
        )
        depth = depth if self.k is None else np.minimum(depth, self.k)
        ranks = np.arange(1, int(depth.max(initial=0)) + 1)
        ideal = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(ranks + 1.0))))
        return Contributions(shares, ideal[depth])

    def _repeated(self, hits: Hits, relevant: Bools) -> Ints:
        """Count the relevant hits that repeat an earlier one, int64 ``[queries]``."""
        member = hits.added(PoolMembers).member
        rows = np.flatnonzero(relevant)
        _, first = np.unique(member[rows], return_index=True)
        again = relevant.copy()
        again[rows[first]] = False
        return hits.count(again)
