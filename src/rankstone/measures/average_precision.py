"""Average precision, with every denominator the field has used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.measures.base import Contributions
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.ragged import Floats, Hits, Ints

__all__ = ["AP"]


@dataclass(frozen=True, kw_only=True)
class AP(BinaryMeasure):
    """Average precision: precision at every relevant hit, averaged over all relevant documents.

    >>> print(AP(denom="min_R_k", k=5))
    AP(denom=min_R_k)@5
    """

    name: ClassVar[str] = "AP"
    family: ClassVar[str] = "average precision"
    aliases: ClassVar[tuple[str, ...]] = ("MAP", "AveragePrecision")
    card: ClassVar[Card] = Card(
        sentence="How early do the relevant documents come, over the whole list?",
        formula="AP@k = (1/Z) Σ_{i ≤ k} b_i · P@i",
        symbols="b_i: 1 if the document at rank i is relevant; Z: R unless `denom` says otherwise",
        example="relevant at ranks 1, 2, 4 and 7, R = 4: (1/1 + 2/2 + 3/4 + 4/7) / 4 = 93/112",
        peers={
            "trec_eval map, map_cut_k": "the same: R, with a cutoff too",
            "Kaggle, recommenders, RecBole, Spark …At(k)": "AP(denom=min_R_k)@k",
            "LensKit": "AP(denom=min_R_n)",
            "torchmetrics": "AP(denom=hits)@k, and scores ≤ 0 count as not retrieved",
            "RecTools divide_by_k": "AP(denom=k)@k",
            "Elliot MAP": "the mean of P@1 … P@k, hit or not: not average precision",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R)",
        use="binary relevance and patient users; the area under the uninterpolated precision–recall steps",
        citation="Harman, TREC-1, 1992; Buckley and Voorhees, 2005",
    )

    denom: str = parameter("R", "Z, what the sum is divided by", "R", "min_R_k", "min_R_n", "hits", "k")

    def __post_init__(self) -> None:
        """Refuse a denominator that asks for a cutoff where there is none."""
        super().__post_init__()
        if self.denom in ("min_R_k", "k") and self.k is None:
            raise BadParameter(
                f"AP(denom={self.denom}) needs a cutoff", fix=f"write AP(denom={self.denom})@10"
            )

    @property
    def closed_under_ties(self) -> bool:
        """Hold unless the denominator itself depends on the order."""
        return self.denom != "hits"

    @property
    def extremal_under_ties(self) -> bool:
        """Hold unless the denominator itself depends on the order."""
        return self.denom != "hits"

    @property
    def promotion_helps(self) -> bool:
        """Hold unless dividing by the hits: a new hit low in the list then lowers the mean."""
        return self.denom != "hits"

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the precision at its rank.

        In a tie block of s documents, m of them relevant, after r relevant ones, place j holds a
        relevant document with chance m/s and precision (r + 1 + (j−1)(m−1)/(s−1)) / rank
        (McSherry and Najork, 2008); a block of one is the textbook formula.
        """
        limit, relevant = self.limit(hits), hits.relevant(self.rel)
        above, inside, blocks = hits.earlier(relevant), hits.inside(relevant), hits.blocks
        rise = (inside - 1) / np.maximum(blocks.size - 1, 1)

        def precision(rank: Ints, block: Ints) -> Floats:
            return (above[block] + 1 + (rank - blocks.first[block]) * rise[block]) / rank

        shares = np.where(relevant, hits.over_places(precision, limit), 0.0)
        return Contributions(shares, self._norm(hits, shares))

    def _norm(self, hits: Hits, shares: Floats) -> Floats:
        if self.denom == "hits":
            return hits.count(shares > 0).astype(np.float64)
        if self.denom == "k":
            return np.full(hits.queries, float(self.k or 0))
        most = hits.relevant_count(self.rel)
        if self.denom == "min_R_k":
            most = np.minimum(most, self.k or 0)
        elif self.denom == "min_R_n":
            most = np.minimum(most, hits.n)
        return most.astype(np.float64)
