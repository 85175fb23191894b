"""Gains discounted by the shortfall so far, instead of by the rank: binG and G."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.arrays import running
from rankstone.measures.averaged_ndcg import IdealGains
from rankstone.measures.base import Contributions
from rankstone.measures.named import Card
from rankstone.measures.parts import divisors
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats
    from rankstone.hits.ideal import Ideal
    from rankstone.hits.ragged import Hits

__all__ = ["G", "binG"]


@dataclass(frozen=True, kw_only=True)
class binG(BinaryMeasure):  # noqa: N801 - the name of the field
    """Binary G: relevant documents, each discounted by the rubbish above it.

    >>> print(binG(k=10))
    binG@10
    """

    name: ClassVar[str] = "binG"
    family: ClassVar[str] = "cumulated gain"
    card: ClassVar[Card] = Card(
        sentence="How little had to be waded through before each relevant document?",
        formula="binG@k = (1/R) Σ_{i ≤ k} b_i / log2(2 + u_i)",
        symbols="b_i: 1 if rank i holds a relevant document; u_i: others above it; R: all relevant",
        example="relevant at ranks 1 and 4, R = 2: (1/log2(2) + 1/log2(4)) / 2 = 0.75",
        peers={"trec_eval binG": "the same, without a cutoff"},
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R)",
        use="seldom: an experiment between AP and nDCG that kept its place in trec_eval",
        citation="Buckley, trec_eval, 2008",
    )

    @property
    def closed_under_ties(self) -> bool:
        """Fail: the rubbish above a document is an order's own."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Discount each relevant hit by the ranks above it that hold nothing relevant."""
        relevant = hits.relevant(self.rel)
        above = hits.rank - hits.running_count(relevant)
        shares = np.where(relevant, 1.0 / divisors("log2", above + 1), 0.0)
        inside = hits.at_rank(lambda rank: np.ones(len(rank)), self.limit(hits))
        return Contributions(shares * inside, hits.relevant_count(self.rel).astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class G(IdealGains):
    """G: gains, each discounted by how far the list has fallen behind the ideal one.

    >>> print(G())
    G
    """

    name: ClassVar[str] = "G"
    family: ClassVar[str] = "cumulated gain"
    card: ClassVar[Card] = Card(
        sentence="How much gain does the list bring, counting less what comes after lost chances?",
        formula="G@k = Σ_{i ≤ k} g_i / log2(2 + c_i − s_i)  /  Σ_{j ≤ k} ĝ_j,  c_i = Σ_{j ≤ i} max(ĝ_j, 1)",
        symbols="g_i: gain at rank i; s_i = g_1 + … + g_i; ĝ_j: gain at rank j of the ideal list, or 0",
        example="grades 0, 2 and nothing else judged: 2/log2(2 + 3 − 2) / 2 = 1/log2(3)",
        undefined="no gain at all: 0; no relevant document: the option `empty` decides (default 0, counted)",
        peers={"trec_eval G": "the same, without a cutoff; gains that differ by less than 1 mislead it"},
        sensitive="ties, unjudged documents (gain 0), the grade scale",
        use="seldom: an experiment between AP and nDCG; moving a better document up can lower it",
        citation="Buckley, trec_eval, 2008",
    )

    @property
    def closed_under_ties(self) -> bool:
        """Fail: how far a list has fallen behind is an order's own."""
        return False

    @property
    def extremal_under_ties(self) -> bool:
        """Hold for two grades only."""
        return self.gain == "binary"

    @property
    def promotion_helps(self) -> bool:
        """Hold for two grades only: late in a list, 4 before 5 can be worth more than 5 before 4."""
        return self.gain == "binary"

    def contributions(self, hits: Hits) -> Contributions:
        """Discount each gain by what the ideal list would have brought by then and this one did not."""
        ideal = self.ideal(hits)
        gain = self.worth(hits)
        brought = running(np.add, gain, np.diff(hits.offsets))
        behind = np.maximum(self._cost(ideal, hits) - brought, 0.0)
        inside = hits.at_rank(lambda rank: np.ones(len(rank)), self.limit(hits))
        counts = ideal.grade if self.k is None else np.where(ideal.rank <= self.k, ideal.grade, 0.0)
        return Contributions(gain / np.log2(2.0 + behind) * inside, ideal.total(counts))

    def _cost(self, ideal: Ideal, hits: Hits) -> Floats:
        """Return what the ideal list brings down to each hit's rank, at least 1 a rank."""
        lengths = np.diff(ideal.offsets)
        through = running(np.add, np.maximum(ideal.grade, 1.0), lengths)
        depth = np.minimum(hits.rank, hits.spread(lengths))
        some = depth > 0
        cost: Floats = (hits.rank - depth).astype(np.float64)
        cost[some] += through[hits.spread(ideal.offsets[:-1])[some] + depth[some] - 1]
        return cost
