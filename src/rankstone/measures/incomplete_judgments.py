"""Measures made for incomplete judgments: Bpref and inferred AP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.measures.auc import passed_on_average
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card
from rankstone.measures.core.measure import Contributions
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits


@dataclass(frozen=True, kw_only=True)
class Bpref(BinaryMeasure):
    """Binary preference: whether relevant documents stand above those judged and found not relevant.

    >>> print(Bpref())
    Bpref
    """

    family: ClassVar[str] = "incomplete judgments"
    card: ClassVar[Card] = Card(
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
        sensitive="which documents are judged; nothing unjudged, wherever it stands",
        use="judgments that were made for other systems; below 20 judgments a query it is noisy",
        citation="Buckley and Voorhees, SIGIR 2004; its denominator as corrected in trec_eval 8.0",
    )

    @property
    def claims(self) -> Claims:
        """Every relevant document adds to it; a cutoff decides which of the tied documents take part."""
        return Claims(
            reads_nonrelevant=True, closed_under_ties=self.k is None, grows_with_k=True, bounds_by="counts"
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the share of the first R non-relevant documents that it stands above."""
        wanted = hits.relevant(self.rel)
        relevant = hits.relevant_count(self.rel)
        most = np.minimum(np.diff(hits.ideal.offsets) - relevant, relevant)
        of_hit = hits.blocks.of_hit
        above, tied = hits.earlier(~wanted)[of_hit], hits.inside(~wanted)[of_hit]
        passed = passed_on_average(above, tied, hits.spread(relevant))
        share = 1.0 - passed / np.maximum(hits.spread(most), 1)
        hits.record_columns(nonrelevant_above=passed)
        return Contributions(np.where(wanted, share, 0.0), relevant.astype(np.float64))


#: keeps a quotient of nothing and nothing away, as in trec_eval
_EPSILON: Final = 0.00001


@dataclass(frozen=True, kw_only=True)
class infAP(BinaryMeasure):  # noqa: N801 - the name of the field
    """Inferred AP: average precision when only a random part of the pool was judged.

    >>> print(infAP())
    infAP
    """

    family: ClassVar[str] = "incomplete judgments"
    aliases: ClassVar[tuple[str, ...]] = ("InfAP",)
    brings: ClassVar[frozenset[str]] = frozenset({"pooled"})
    card: ClassVar[Card] = Card(
        sentence="What would average precision be, had the whole pool been judged and not a sample of it?",
        formula="infAP = (1/R) Σ_{relevant d} (1/i + (i−1)/i · p_d/(i−1) · (r_d + ε) / (r_d + n_d + 2ε)), "
        "1 at i = 1",
        symbols="i: rank of d; p_d: documents of the pool above d; r_d, n_d: of these, judged relevant and "
        "not; ε = 0.00001; R: documents judged relevant",
        example="relevant, pooled, relevant and R = 2: (1 + (1/3 + 2/3 · 2/2 · (1+ε)/(1+2ε))) / 2 ≈ 1; were "
        "the middle one not pooled: (1 + (1/3 + 2/3 · 1/2 · (1+ε)/(1+2ε))) / 2 ≈ 5/6",
        needs="judgments; a grade below zero says that a document was pooled and not judged",
        peers={"trec_eval infAP, ir_measures": "the same, ε too"},
        sensitive="how the sample was drawn: judgments must be a random part of the pool",
        use="judgments sampled at random; where all of the pool is judged it is AP, but for ε",
        citation="Yilmaz and Aslam, CIKM 2006; trec_eval",
    )

    #: a pooled document above may help, as it may be relevant; so moving one above it may cost
    claims = Claims(
        reads_nonrelevant=True,
        closed_under_ties=False,
        extremal_under_ties=False,
        promotion_helps=False,
        grows_with_k=True,
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the precision at its rank, as inferred from what is judged above it."""
        assert hits.pooled is not None  # noqa: S101 - alignment brings it
        wanted = hits.relevant(self.rel)
        found = hits.earlier(wanted)
        other = hits.earlier(~wanted)
        pool = found + other + hits.pooled.above(hits.query, hits.rank)
        above = np.maximum(hits.rank - 1.0, 1.0)
        ratio = (found + _EPSILON) / (found + other + 2 * _EPSILON)
        share = 1.0 / hits.rank + ((hits.rank - 1) / hits.rank) * (pool / above) * ratio
        relevant = hits.relevant_count(self.rel)
        return Contributions(np.where(wanted, share, 0.0), relevant.astype(np.float64))
