"""Measures for incomplete judgments: Bpref and inferred AP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.hits.extras.unjudged_places import PooledHoles
from rankstone.measures.auc import mean_negatives_above
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits

#: avoids 0/0, as in trec_eval
_EPSILON: Final = 0.00001


class Bpref(BinaryMeasure, family="incomplete judgments"):
    """Binary preference: whether relevant documents are above those judged not relevant.

    >>> print(Bpref())
    Bpref
    """

    card = Card(
        sentence="Looking at judged documents only: do the relevant ones come before the others?",
        formula="Bpref = (1/R) Σ_{relevant retrieved d} (1 − min(a_d, R) / min(N, R)), 1 where a_d = 0",
        symbols="R, N: documents judged relevant, and not; a_d: those judged not relevant above d, averaged "
        "over the orders of ties under ties=expected",
        example="relevant, not, relevant, not, not, and R = N = 3: (3/3 + 2/3 + 0) / 3 = 5/9",
        needs="judgments with documents that are not relevant",
        peers={
            "trec_eval from 8.0 on, pytrec_eval, ir_measures": "the same",
            "the article of 2004": "divides by R: the same wherever N ≥ R",
            "ranx bpref": "NaN where nothing is judged not relevant; there it is the recall here, as in "
            "trec_eval",
        },
        sensitive="which documents are judged; unjudged documents have no effect",
        use="judgments that were made for other systems; below 20 judgments a query it is noisy",
        citation="Buckley and Voorhees, SIGIR 2004; its denominator as corrected in trec_eval 8.0",
    )

    @property
    def claims(self) -> Claims:
        """Every relevant document adds to it; a cutoff decides which of the tied documents take part."""
        return Claims(
            reads_nonrelevant=True,
            closed_under_ties=self.k is None,
            grows_with_k=True,
            bounds_by="counts",
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the share of the first R non-relevant documents that are below it."""
        is_relevant = hits.relevant(self.rel)
        relevant = hits.relevant_count(self.rel)
        most = np.minimum(np.diff(hits.ideal.offsets) - relevant, relevant)
        of_hit = hits.blocks.of_hit
        above = hits.earlier(~is_relevant)[of_hit]
        tied = hits.inside(~is_relevant)[of_hit]
        passed = mean_negatives_above(above, tied, hits.spread(relevant))
        share = 1.0 - passed / np.maximum(hits.spread(most), 1)
        hits.record_columns(nonrelevant_above=passed)
        return Contributions(
            np.where(is_relevant, share, 0.0), relevant.astype(np.float64)
        )


class infAP(BinaryMeasure, family="incomplete judgments"):  # noqa: N801 - the name of the field
    """Inferred AP: average precision when only a random part of the pool was judged.

    >>> print(infAP())
    infAP
    """

    aliases = ("InfAP",)
    requires = frozenset({PooledHoles})
    card = Card(
        sentence="What would average precision be if the whole pool were judged, not only a sample?",
        formula="infAP = (1/R) Σ_{relevant d} (1/i + (i−1)/i · p_d/(i−1) · (r_d + ε) / (r_d + n_d + 2ε)), "
        "1 at i = 1",
        symbols="i: rank of d; p_d: documents of the pool above d; r_d, n_d: of these, judged relevant and "
        "not; ε = 0.00001; R: documents judged relevant",
        example="relevant, pooled, relevant and R = 2: (1 + (1/3 + 2/3 · 2/2 · (1+ε)/(1+2ε))) / 2 ≈ 1; were "
        "the middle one not pooled: (1 + (1/3 + 2/3 · 1/2 · (1+ε)/(1+2ε))) / 2 ≈ 5/6",
        needs="judgments; a grade below zero says that a document was pooled and not judged",
        peers={"trec_eval infAP, ir_measures": "the same, ε too"},
        sensitive="how the sample was drawn: judgments must be a random part of the pool",
        use="judgments sampled at random; where the whole pool is judged it is AP, except for ε",
        citation="Yilmaz and Aslam, CIKM 2006; trec_eval",
    )

    @property
    def claims(self) -> Claims:
        """A relevant document that moves up past a pooled one may lose.

        It does where (m + 1) (r_d + ε) / (r_d + n_d + 2ε) > 1, m the documents above both that were not
        pooled.  That takes two of these, or one and a relevant one: then it is at rank 4 or below.
        """
        short = self.k is not None and self.k <= 3  # noqa: PLR2004 - the ranks above
        return Claims(
            reads_nonrelevant=True,
            closed_under_ties=False,
            extremal_under_ties=short,
            promotion_helps=short,
            grows_with_k=True,
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the precision at its rank, inferred from the judgments above it."""
        pooled = hits.added(PooledHoles)
        is_relevant = hits.relevant(self.rel)
        relevant_above = hits.earlier(is_relevant)
        other_above = hits.earlier(~is_relevant)
        pool = relevant_above + other_above + pooled.above(hits.query, hits.rank)
        above = np.maximum(hits.rank - 1.0, 1.0)
        ratio = (relevant_above + _EPSILON) / (
            relevant_above + other_above + 2 * _EPSILON
        )
        share = 1.0 / hits.rank + ((hits.rank - 1) / hits.rank) * (pool / above) * ratio
        relevant = hits.relevant_count(self.rel)
        return Contributions(
            np.where(is_relevant, share, 0.0), relevant.astype(np.float64)
        )
