"""Reciprocal rank: how far down the first good answer is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import Contributions
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits

__all__ = ["RR"]


@dataclass(frozen=True, kw_only=True)
class RR(BinaryMeasure):
    """Reciprocal rank: one over the rank of the first relevant (or the best-graded) document.

    >>> print(RR(k=10))
    RR@10
    """

    name: ClassVar[str] = "RR"
    family: ClassVar[str] = "reciprocal rank"
    aliases: ClassVar[tuple[str, ...]] = ("MRR", "ReciprocalRank")
    card: ClassVar[Card] = Card(
        sentence="How far down is the first relevant result?",
        formula="RR@k = 1 / min{i ≤ k : b_i = 1}, 0 if there is none",
        symbols="b_i: 1 if the document at rank i is relevant (target=best: has the best judged grade)",
        example="first relevant at rank 3: RR = 1/3; over queries with 1/3, 1/2 and 1/1: MRR = 11/18",
        peers={
            "trec_eval recip_rank": "the same; it has no cutoff",
            "MS MARCO MRR@10": "RR@10, over all reference queries",
            "ir_measures RR@k": "the same, ties in score to the smaller document id: ties=docid_asc "
            "(without a cutoff it asks trec_eval: docid_desc)",
            "allRank mrr, Liu (2009)": "the best-graded document: RR(target=best)",
            "the sum some texts give": "RR(agg=sum)",
        },
        sensitive="ties around the first relevant document; very much to rank 1 against 2",
        use="one answer is wanted; its steps are unequal, so look at the ranks themselves too",
        scale="no equal steps: rank 2 → 1 is worth 1/2, rank 3 → 2 is worth 1/6; whether to average it is "
        "disputed (Fuhr, SIGIR Forum 2017; Sakai, SIGIR Forum 2020)",
        citation="Kantor and Voorhees, 2000; Voorhees, TREC-8, 1999",
    )

    target: str = parameter("first", "which document counts", "first", "best")

    @property
    def grows_with_k(self) -> bool:
        """Hold: what is found stays found."""
        return True

    def contributions(self, hits: Hits) -> Contributions:
        """Give the first relevant (or best-graded relevant) hit one over its rank."""
        wanted = hits.relevant(self.rel)
        if self.target == "best":
            wanted = wanted & (hits.grade == hits.spread(hits.ideal.best()))
        share = hits.first_of(wanted, lambda rank: 1.0 / rank, self.limit(hits))
        return Contributions(share, np.ones(hits.queries))

    @property
    def bounds_by(self) -> str:
        """Look at the best placed relevant document, or at the best placed of the best grade."""
        return "first" if self.target == "first" else "multisets"

    @property
    def deeper_grades_matter(self) -> bool:
        """Hold where the best grade there is must be known."""
        return self.target == "best"
