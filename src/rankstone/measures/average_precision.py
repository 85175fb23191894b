"""Average precision, with every denominator the field has used, and on a scale without ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.measures.base import Contributions
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["AP", "PrecisionAtHits", "yaap"]


@dataclass(frozen=True, kw_only=True)
class PrecisionAtHits(BinaryMeasure):
    """A measure made of the precision at every relevant hit."""

    def precisions(self, hits: Hits) -> Floats:
        """Return the precision at the rank of each relevant hit, 0 for all others.

        In a tie block of s documents, m of them relevant, after r relevant ones, place j holds a
        relevant document with chance m/s and precision (r + 1 + (j−1)(m−1)/(s−1)) / rank
        (McSherry and Najork, 2008); a block of one is the textbook formula.
        """
        limit, relevant = self.limit(hits), hits.relevant(self.rel)
        above, inside, blocks = hits.earlier(relevant), hits.inside(relevant), hits.blocks
        hits.tell(found=lambda: hits.running_count(relevant))

        def precision(rank: Ints, block: Ints | slice) -> Floats:
            rise = (inside[block] - 1) / np.maximum(blocks.size[block] - 1, 1)
            return (above[block] + 1 + (rank - blocks.first[block]) * rise) / rank

        return hits.over_places(precision, limit, among=relevant)


@dataclass(frozen=True, kw_only=True)
class AP(PrecisionAtHits):
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
            "LensKit": "AP(denom=min_R_k_n)@k, AP(denom=min_R_n) without a cutoff",
            "torchmetrics": "AP(denom=hits)@k, and scores ≤ 0 count as not retrieved",
            "RecTools divide_by_k": "AP(denom=k)@k",
            "scikit-learn average_precision_score": "AP(tied=block) of the rows it is given",
            "Cornac MAP, scikit-learn LRAP": "AP(tied=block) of the items ranked",
            "Elliot MAP": "the mean of P@1 … P@k, hit or not: not average precision",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R)",
        use="binary relevance and patient users; the area under the uninterpolated precision–recall steps",
        scale="no equal steps: 1/AP is the distance in ranks of equally spaced relevant documents, 5 → 2.5 "
        "for 0.2 → 0.4 and 1.4 → 1.1 for 0.7 → 0.9",
        citation="Harman, TREC-1, 1992; Buckley and Voorhees, 2005",
    )

    denom: str = parameter(
        "R", "Z, what the sum is divided by", "R", "min_R_k", "min_R_n", "min_R_k_n", "hits", "k"
    )
    tied: str = parameter(
        "order", "tied documents: by the rule `ties`, or seen all at once", "order", "block"
    )

    def __post_init__(self) -> None:
        """Refuse a denominator that asks for a cutoff where there is none, and cutoffs inside a tie."""
        super().__post_init__()
        if self.tied == "block" and (self.k is not None or self.denom == "hits"):
            raise BadParameter(
                f"{self}: what is seen all at once cannot be cut", expected="AP(tied=block) of whole lists"
            )
        if self.denom in ("min_R_k", "min_R_k_n", "k") and self.k is None:
            raise BadParameter(
                f"AP(denom={self.denom}) needs a cutoff", fix=f"write AP(denom={self.denom})@10"
            )

    @property
    def closed_under_ties(self) -> bool:
        """Hold unless the denominator itself depends on the order."""
        return self.denom != "hits"

    @property
    def means_over_orders(self) -> bool:
        """Hold unless tied documents are seen all at once."""
        return self.closed_under_ties and self.tied == "order"

    @property
    def extremal_under_ties(self) -> bool:
        """Hold unless the denominator itself depends on the order."""
        return self.denom != "hits"

    @property
    def proven_orders(self) -> frozenset[str]:
        """Best first, where every precision at a hit is 1; worst first unless dividing by the hits."""
        return super().proven_orders or frozenset({"best"})

    @property
    def promotion_helps(self) -> bool:
        """Hold unless dividing by the hits: a new hit low in the list then lowers the mean."""
        return self.denom != "hits"

    @property
    def grows_with_k(self) -> bool:
        """Hold where Z does not depend on k."""
        return self.denom in ("R", "min_R_n")

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the precision at its rank, or at the end of its tie block; divide by Z."""
        shares = self.precisions(hits) if self.tied == "order" else self.thresholds(hits)
        return Contributions(shares, self._norm(hits, shares))

    def thresholds(self, hits: Hits) -> Floats:
        """Return the precision of everything scored as high as each relevant hit, 0 for all others."""
        hits = hits.with_open_ties()
        relevant, blocks = hits.relevant(self.rel), hits.blocks
        precision = (hits.earlier(relevant) + hits.inside(relevant)) / blocks.last
        return np.where(relevant, precision[blocks.of_hit], 0.0)

    @property
    def bounds_by(self) -> str:
        """Add precisions up, over what the number of relevant documents decides."""
        if self.tied == "block":
            return "enumeration"
        return "counts" if self.denom == "hits" else "precisions"

    @property
    def deeper_grades_matter(self) -> bool:
        """Hold where R is in the denominator."""
        return self.denom not in ("hits", "k")

    def _norm(self, hits: Hits, shares: Floats) -> Floats:
        if self.denom == "hits":
            return hits.count(shares > 0).astype(np.float64)
        if self.denom == "k":
            return np.full(hits.queries, float(self.k or 0))
        most = hits.relevant_count(self.rel)
        if self.denom in ("min_R_k", "min_R_k_n"):
            most = np.minimum(most, self.k or 0)
        if self.denom in ("min_R_n", "min_R_k_n"):
            most = np.minimum(most, hits.n)
        return most.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class yaap(PrecisionAtHits):  # noqa: N801 - the name of the field
    """Yet another average precision: AP on a scale without ends, so that its mean respects extremes.

    >>> print(yaap())
    yaap
    """

    name: ClassVar[str] = "yaap"
    family: ClassVar[str] = "average precision"
    card: ClassVar[Card] = Card(
        sentence="Average precision stretched, so that from 0.95 to 0.99 is as far as from 0.5 to 0.84.",
        formula="yaap@k = ln( (1 + S) / (1 + R − S) ),  S = Σ_{i ≤ k} b_i · P@i",
        symbols="b_i: 1 if the document at rank i is relevant; R: relevant documents, found or not",
        example="relevant at ranks 1 and 4, R = 2: S = 3/2, yaap = ln(2.5 / 1.5)",
        span=(None, None),
        peers={
            "trec_eval 10 yaap": "the same; a query missing under -c counts ln(1 / (1 + R)), as here",
            "trec_eval 9, pytrec_eval yaap": "the same, but a query missing under -c counts 0",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R)",
        use="averaging over queries of very different difficulty; a value means little by itself",
        citation="Robertson, On Smoothing Average Precision, ECIR 2012",
    )

    @property
    def closed_under_ties(self) -> bool:
        """Fail: the logarithm of a mean is not the mean of logarithms."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the precision at its rank; divide by R."""
        return Contributions(self.precisions(hits), hits.relevant_count(self.rel).astype(np.float64))

    def link(self, hits: Hits, ratio: Floats) -> Floats:
        """Return the logarithm of the odds, each side one document richer."""
        relevant = hits.relevant_count(self.rel)
        added = ratio * relevant
        stretched: Floats = np.log((1.0 + added) / (1.0 + relevant - added))
        return stretched

    @property
    def bounds_by(self) -> str:
        """Grow with the sum of precisions, where R is the same."""
        return "counts"
