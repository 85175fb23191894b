"""Binary measures of the first k ranks or the whole list as a set: P, R, F, Success, R-precision, utility."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, IdealNorm
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits

#: bound of the prices
_MOST: Final = 1e9


@dataclass(frozen=True, kw_only=True)
class P(BinaryMeasure):
    """Precision: the share of the first k ranks that is relevant.

    >>> print(P(k=10))
    P@10
    """

    aliases = ("Precision",)
    card = Card(
        sentence="Of the first k results, how many are relevant?",
        formula="P@k = h_k / k",
        symbols="h_k: relevant documents at ranks 1 … k",
        example="relevant at ranks 1, 2, 4 and 7: P@5 = 3/5, P@10 = 4/10",
        peers={
            "trec_eval P_k": "the same (k stays the denominator of short lists)",
            "trec_eval relative_P_k": "P(denom=min_R_k)@k",
            "LensKit, MLflow, CatBoost": "divide by min(k, n): P(denom=n)@k",
            "RecTools r_precision": "divides by min(k, R): P(denom=min_R_k)@k",
            "scikit-learn": "precision_score is not a ranking measure",
        },
        sensitive="ties at the cutoff; unjudged documents (count as not relevant); lists shorter than k",
        use="when a user sees one screen of k results; the order inside the screen does not count",
        scale="a step is a number of documents among the first k, the same everywhere",
        citation="van Rijsbergen, Information Retrieval, 1979",
    )

    denom: str = parameter("k", "what the hits are divided by", "k", "n", "min_R_k")

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits; divide by the depth."""
        depth = self.depth(hits)
        if self.denom == "n":
            depth = np.minimum(depth, hits.n)
        elif self.denom == "min_R_k":
            depth = np.minimum(depth, hits.relevant_count(self.rel))
        return Contributions(
            self.relevant_hits(hits, self.limit(hits)), np.maximum(depth, 1.0)
        )

    @property
    def claims(self) -> Claims:
        """Relevant documents are counted, over a fixed depth or min(R, k)."""
        return Claims(
            bounds_by="additive", deeper_grades_matter=self.denom == "min_R_k"
        )

    def ideal_norm(self, hits: Hits) -> IdealNorm | None:
        """Return min(R, k), where that is the denominator."""
        return (
            self.relevant_norm(hits, self.depth(hits))
            if self.denom == "min_R_k"
            else None
        )


@dataclass(frozen=True, kw_only=True)
class R(BinaryMeasure):
    """Recall: the share of all relevant documents that are among the first k ranks.

    >>> from rankstone.measures import Threshold
    >>> print(R(k=100, rel=Threshold(2)))
    R(rel=2)@100
    """

    aliases = ("Recall",)
    card = Card(
        sentence="Of everything relevant, how much is among the first k results?",
        formula="R@k = h_k / R",
        symbols="h_k: relevant documents at ranks 1 … k; R: relevant documents judged, retrieved or not",
        example="relevant at ranks 1, 3 and 5 of R = 5: R@5 = 3/5",
        peers={
            "trec_eval recall_k": "the same",
            "LensKit, BEIR R_cap": "divide by min(R, k): R(denom=min_R_k)@k",
            "tasks with one answer": "Success@k is often called recall@k",
            "pooled hit rate": "Σ hits / Σ R over users: R(agg=pooled)@k",
        },
        sensitive="ties at the cutoff; unknown relevant documents (R is what was judged)",
        use="first-stage retrieval, candidate generation, e-discovery",
        scale="within a query a step is a number of relevant documents, the same everywhere; between queries "
        "one of few weighs more than one of many",
        citation="Cleverdon, Aslib Proceedings, 1967",
    )

    takes_shares = True
    denom: str = parameter("R", "what the hits are divided by", "R", "min_R_k")

    @property
    def claims(self) -> Claims:
        """The count grows with k; the denominator may grow, too."""
        return Claims(grows_with_k=self.denom == "R", bounds_by="additive")

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits; divide by the relevant documents."""
        relevant = hits.relevant_count(self.rel)
        if self.denom == "min_R_k":
            relevant = np.minimum(relevant, self.depth(hits))
        return Contributions(
            self.relevant_hits(hits, self.limit(hits)), relevant.astype(np.float64)
        )

    def ideal_norm(self, hits: Hits) -> IdealNorm | None:
        """Return R or min(R, k)."""
        return self.relevant_norm(
            hits, self.depth(hits) if self.denom == "min_R_k" else None
        )


@dataclass(frozen=True, kw_only=True)
class F(BinaryMeasure):
    """F: precision and recall in one number, their weighted harmonic mean.

    >>> print(F(k=5, beta=2.0))
    F(beta=2)@5
    """

    aliases = ("F1", "SetF")
    card = Card(
        sentence="Precision and recall of the first k results in one number.",
        formula="F_β@k = (1 + β²) h_k / (k + β² R)  =  (1 + β²) P R / (β² P + R)",
        symbols="h_k: relevant in the first k; R: all relevant; β > 1 favours recall",
        example="3 relevant in the first 5, R = 4: F@5 = 2·3 / (5 + 4) = 2/3",
        peers={
            "trec_eval set_F_x": "x is β², over the whole list",
            "ir_measures SetF(beta=b)": "passes b as x: it is F with β² = b",
            "Evidently": "F of the mean P and the mean R, not the mean of F",
        },
        sensitive="ties at the cutoff; unjudged and unknown relevant documents",
        use="sets of fixed size; for rankings use a measure of the order",
        citation="van Rijsbergen, Information Retrieval, 1979",
    )

    beta: float = parameter(1.0, "weight of recall against precision", above=0.0)

    def contributions(self, hits: Hits) -> Contributions:
        """Weigh each relevant hit by 1 + β²; divide by k + β² R."""
        square = float(self.beta) ** 2
        norm = np.maximum(self.depth(hits), 1) + square * hits.relevant_count(self.rel)
        return Contributions(
            (1.0 + square) * self.relevant_hits(hits, self.limit(hits)), norm
        )

    #: relevant documents are counted, over k + β² R
    claims = Claims(bounds_by="additive")

    def ideal_norm(self, hits: Hits) -> IdealNorm | None:
        """Return k + β² R."""
        relevant = self.relevant_norm(hits, weight=float(self.beta) ** 2)
        return replace(
            relevant, rest=np.maximum(self.depth(hits), 1).astype(np.float64)
        )


class Success(BinaryMeasure):
    """Success, hit rate: whether anything relevant is among the first k.

    >>> print(Success(k=5))
    Success@5
    """

    aliases = ("HR", "HitRate", "Hit")
    card = Card(
        sentence="Is at least one of the first k results relevant?",
        formula="Success@k = 1 if h_k ≥ 1, else 0",
        symbols="h_k: relevant documents at ranks 1 … k",
        example="first relevant document at rank 3: Success@1 = 0, Success@5 = 1",
        peers={
            "recommendation": "called hit rate (HR); with one test item a user it equals recall",
            "pooled hit rate": "Σ hits / Σ test items over all users: R(agg=pooled)@k",
            "ranx hits": "the number of relevant hits: NumRelRet",
        },
        sensitive="ties around the first relevant document",
        use="one good answer is enough; compare systems with a test for proportions",
        scale="yes or no; a mean is a share of queries",
        citation="TREC question answering and web tracks",
    )

    #: the first relevant hit decides the value
    claims = Claims(grows_with_k=True, bounds_by="first", deeper_grades_matter=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give the first relevant hit 1."""
        relevant = hits.relevant(self.rel)
        first = hits.first_of(
            relevant, lambda rank: np.ones_like(rank, np.float64), self.limit(hits)
        )
        return Contributions(first, np.ones(hits.queries))


@dataclass(frozen=True, kw_only=True)
class Rprec(BinaryMeasure):
    """R-precision: precision at the rank where a perfect list would stop being relevant.

    >>> print(Rprec())
    Rprec
    """

    aliases = ("RPrec", "R-precision")
    takes_cutoff = False
    card = Card(
        sentence="With R relevant documents in all: how many of the first R results are relevant?",
        formula="Rprec = h_c / c,  c = R; with a multiple m: c = ⌊m·R + 0.9⌋",
        symbols="R: relevant documents judged; h_c: relevant ones at ranks 1 … c",
        example="R = 4, relevant at ranks 1, 2, 4 and 7: Rprec = 3/4, Rprec(multiple=2) = 4/8",
        peers={
            "trec_eval Rprec, Rprec_mult_m": "the same, its rounding of m·R included",
            "recommenders r_precision_at_k": "leaves out users without a hit",
        },
        sensitive="ties at rank R; unjudged documents; lists shorter than R keep R",
        use="a summary that adapts its cutoff to the query; highly correlated with AP",
        scale="within a query a step is a number of documents; between queries one of few weighs more",
        citation="Buckley and Voorhees, in TREC: Experiment and Evaluation, 2005",
    )

    multiple: float = parameter(1.0, "cut at this multiple of R", above=0.0, high=1e6)

    def __post_init__(self) -> None:
        """Refuse a cutoff: R is the cutoff."""
        super().__post_init__()
        if self.agg == "pooled":
            raise BadParameter(
                "Rprec(agg=pooled) would pool different cutoffs", fix="use agg=mean"
            )

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits in the first R ranks (or a multiple of them); divide by as many."""
        cutoff = np.floor(self.multiple * hits.relevant_count(self.rel) + 0.9).astype(
            np.int64
        )
        return Contributions(
            self.relevant_hits(hits, cutoff), cutoff.astype(np.float64)
        )

    #: relevant documents are counted down to a rank that depends on R alone
    claims = Claims(bounds_by="counts")


class SetAP(BinaryMeasure):
    """Unranked average precision: precision times recall of what was retrieved.

    >>> print(SetAP())
    SetAP
    """

    card = Card(
        sentence="Average precision of a set: each relevant document retrieved adds its precision.",
        formula="SetAP@k = P@k · R@k = (1/R) Σ_{relevant hits} h_k / k",
        symbols="h_k: relevant in the first k (in the whole list without a cutoff, k = n); R: all relevant",
        example="4 retrieved, 2 of them relevant, R = 3: (2/4 + 2/4) / 3 = 2/4 · 2/3",
        peers={"trec_eval set_map, ir_measures SetAP": "the same, without a cutoff"},
        sensitive="unjudged documents (not relevant); the size of the set; with a cutoff, ties at it",
        use="unranked retrieval whose sets differ in size; for rankings use AP",
        citation="Buckley, trec_eval (set_map; before version 9 exact_unranked_avg_prec)",
    )

    @property
    def claims(self) -> Claims:
        """It grows with h_k; at a cutoff the square of h_k has no closed expectation."""
        return Claims(closed_under_ties=self.k is None, bounds_by="counts")

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the precision of the set; divide by R."""
        retrieved = self.relevant_hits(hits, self.limit(hits))
        precision = hits.total(retrieved) / np.maximum(self.depth(hits), 1)
        relevant = hits.relevant_count(self.rel)
        return Contributions(
            retrieved * hits.spread(precision), relevant.astype(np.float64)
        )


@dataclass(frozen=True, kw_only=True)
class Utility(BinaryMeasure):
    """Utility: the sum of the values of all documents shown or missed.

    >>> print(Utility(a=2.0))
    Utility(a=2)
    """

    needs_relevant = False
    examples = ("Utility", "Utility(a=2, b=-1)", "Utility@10")
    card = Card(
        sentence="What is the value of a set if each kind of document has a price?",
        formula="Utility@k = a·h + b·(m − h) + c·(R − h) + d·(N − m − R + h)",
        symbols="h: relevant among the m = min(k, n) shown; R: all relevant; N: all documents",
        example="10 shown, 4 relevant, R = 6, a = 1, b = −1: 4 − 6 = −2",
        needs="judgments; `candidates` (N) when d is not 0",
        span=(None, None),
        undefined="never",
        peers={
            "trec_eval utility.a,b,c,d": "the same; N comes from -N and is 0 without it",
            "TREC filtering tracks": "linear utilities T9U, T10U and others: choices of a and b",
        },
        sensitive="unjudged documents (priced as not relevant); the size of the set",
        use="filtering and alerting, where showing nothing is better than showing irrelevant documents",
        citation="Lewis, TREC-4 filtering track, 1995; Hull and Robertson, TREC-8, 1999",
    )

    a: float = parameter(
        1.0, "worth of a relevant document shown", low=-_MOST, high=_MOST
    )
    b: float = parameter(
        -1.0, "worth of one shown that is not relevant", low=-_MOST, high=_MOST
    )
    c: float = parameter(
        0.0, "worth of a relevant document not shown", low=-_MOST, high=_MOST
    )
    d: float = parameter(
        0.0, "worth of one not shown that is not relevant", low=-_MOST, high=_MOST
    )

    @property
    def claims(self) -> Claims:
        """Exchanging a shown document for a relevant one is no loss if a − b ≥ c − d."""
        better = self.a - self.b >= self.c - self.d
        return Claims(extremal_under_ties=better, promotion_helps=better)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each judged hit its price; add those of unjudged and of missed documents as two sums."""
        inside = hits.above_cutoff(self.limit(hits))
        relevant = np.where(hits.relevant(self.rel), inside, 0.0)
        shown = np.minimum(self.depth(hits), hits.n)
        retrieved = hits.total(relevant)
        missed = hits.relevant_count(self.rel) - retrieved
        rest = 0.0 if self.d == 0 else self._candidates(hits) - shown - missed
        return Contributions(
            self.a * relevant + self.b * (inside - relevant),
            np.ones(hits.queries),
            missed=self.c * missed + self.d * rest,
            unjudged=self.b * (shown - hits.total(inside)),
        )

    def _candidates(self, hits: Hits) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        from rankstone.hits.extras.candidate_counts import (
            CandidateCounts,
            NumbersOfCandidates,
        )

        known: NumbersOfCandidates | None = hits.extras.get(CandidateCounts)
        if known is None:
            raise BadParameter(
                f"{self} needs to know how many documents there are, since d is not 0",
                fix="give --candidates N (in Python candidates=N), or leave d at 0",
            )
        return known.count
