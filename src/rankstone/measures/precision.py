"""Binary measures of what the first k ranks hold: P, R, F, Success, R-precision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.ideal import Ideal
from rankstone.measures.base import ANY_GAIN, Contributions, Measure, Threshold
from rankstone.measures.ideal_norm import IdealNorm
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Cutoff, Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["BinaryMeasure", "F", "P", "R", "Rprec", "Success"]


@dataclass(frozen=True, kw_only=True)
class BinaryMeasure(Measure):
    """A measure that only asks whether a document is relevant."""

    rel: Threshold = parameter(ANY_GAIN, 'relevant means grade ≥ rel; ">2" for strictly greater')

    def relevant_count(self, hits: Hits) -> Ints:
        """Return R, int64 ``[queries]``."""
        return hits.relevant_count(self.rel)

    def found(self, hits: Hits, limit: Cutoff | None) -> Floats:
        """Return 1 for relevant hits down to the limit (their chance to stand there when tied)."""
        inside = hits.at_rank(lambda rank: np.ones_like(rank, np.float64), limit)
        return np.where(hits.relevant(self.rel), inside, 0.0)

    def depth(self, hits: Hits) -> Ints:
        """Return the cutoff of each query, the list's length where there is none."""
        return hits.n if self.k is None else np.full(hits.queries, self.k)

    def ones(self, hits: Hits, depth: Ints | None = None, weight: float = 1.0) -> IdealNorm:
        """Return a multiple of R (of ``depth`` at most) as a sum over the ideal list."""
        known = Ideal(hits.ideal.offsets, self.rel(hits.ideal.grade).astype(np.float64))
        return IdealNorm(
            known, lambda grade: self.rel(grade).astype(np.float64), lambda r: np.full(len(r), weight), depth
        )


@dataclass(frozen=True, kw_only=True)
class P(BinaryMeasure):
    """Precision: the share of the first k ranks that is relevant.

    >>> print(P(k=10))
    P@10
    """

    name: ClassVar[str] = "P"
    family: ClassVar[str] = "binary"
    aliases: ClassVar[tuple[str, ...]] = ("Precision",)
    card: ClassVar[Card] = Card(
        sentence="Of the first k results, how many are relevant?",
        formula="P@k = h_k / k",
        symbols="h_k: relevant documents at ranks 1 … k",
        example="relevant at ranks 1, 2, 4 and 7: P@5 = 3/5, P@10 = 4/10",
        peers={
            "trec_eval P_k": "the same (k stays the denominator of short lists)",
            "trec_eval relative_P_k": "P(denom=min_R_k)@k",
            "LensKit, MLflow, CatBoost": "divide by min(k, n): P(denom=n)@k",
            "RecTools r_precision": "divides by min(k, R): P(denom=min_R_k)@k",
            "scikit-learn": "precision_score is no ranking measure",
        },
        sensitive="ties at the cutoff; unjudged documents (count as not relevant); lists shorter than k",
        use="when a user sees one screen of k results; the order inside the screen plays no part",
        scale="a step is a number of documents among the first k, the same anywhere",
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
        return Contributions(self.found(hits, self.limit(hits)), np.maximum(depth, 1.0))

    @property
    def bounds_by(self) -> str:
        """Add up relevant documents over a fixed depth, or over min(R, k)."""
        return "additive"

    @property
    def deeper_grades_matter(self) -> bool:
        """Hold where R is in the denominator."""
        return self.denom == "min_R_k"

    def ideal_norm(self, hits: Hits) -> IdealNorm | None:
        """Return min(R, k), where that is the denominator."""
        return self.ones(hits, self.depth(hits)) if self.denom == "min_R_k" else None


@dataclass(frozen=True, kw_only=True)
class R(BinaryMeasure):
    """Recall: the share of all relevant documents that the first k ranks hold.

    >>> print(R(k=100, rel=Threshold(2)))
    R(rel=2)@100
    """

    name: ClassVar[str] = "R"
    family: ClassVar[str] = "binary"
    aliases: ClassVar[tuple[str, ...]] = ("Recall",)
    card: ClassVar[Card] = Card(
        sentence="Of everything relevant, how much is among the first k results?",
        formula="R@k = h_k / R",
        symbols="h_k: relevant documents at ranks 1 … k; R: relevant documents judged, found or not",
        example="relevant at ranks 1, 3 and 5 of R = 5: R@5 = 3/5",
        peers={
            "trec_eval recall_k": "the same",
            "LensKit, BEIR R_cap": "divide by min(R, k): R(denom=min_R_k)@k",
            "tasks with one answer": "Success@k is often called recall@k",
            "pooled hit rate": "Σ hits / Σ R over users: R(agg=pooled)@k",
        },
        sensitive="ties at the cutoff; unknown relevant documents (R is what was judged)",
        use="first-stage retrieval, candidate generation, e-discovery",
        scale="within a query a step is a number of relevant documents, the same anywhere; between queries "
        "one of few weighs more than one of many",
        citation="Cleverdon, Aslib Proceedings, 1967",
    )

    denom: str = parameter("R", "what the hits are divided by", "R", "min_R_k")

    @property
    def grows_with_k(self) -> bool:
        """Hold where the denominator does not depend on k."""
        return self.denom == "R"

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits; divide by the relevant documents."""
        relevant = hits.relevant_count(self.rel)
        if self.denom == "min_R_k":
            relevant = np.minimum(relevant, self.depth(hits))
        return Contributions(self.found(hits, self.limit(hits)), relevant.astype(np.float64))

    @property
    def bounds_by(self) -> str:
        """Add up relevant documents over R or min(R, k)."""
        return "additive"

    def ideal_norm(self, hits: Hits) -> IdealNorm | None:
        """Return R or min(R, k)."""
        return self.ones(hits, self.depth(hits) if self.denom == "min_R_k" else None)


@dataclass(frozen=True, kw_only=True)
class F(BinaryMeasure):
    """F: precision and recall in one number, their weighted harmonic mean.

    >>> print(F(k=5, beta=2.0))
    F(beta=2)@5
    """

    name: ClassVar[str] = "F"
    family: ClassVar[str] = "binary"
    aliases: ClassVar[tuple[str, ...]] = ("F1", "SetF")
    card: ClassVar[Card] = Card(
        sentence="Precision and recall of the first k results in one number.",
        formula="F_β@k = (1 + β²) h_k / (k + β² R)  =  (1 + β²) P R / (β² P + R)",
        symbols="h_k: relevant in the first k; R: all relevant; β > 1 favours recall",
        example="3 relevant in the first 5, R = 4: F@5 = 2·3 / (5 + 4) = 2/3",
        peers={
            "trec_eval set_F_x": "x stands for β², over the whole list",
            "ir_measures SetF(beta=b)": "passes b as x: it is F with β² = b",
            "Evidently": "F of the mean P and the mean R, not the mean of F",
        },
        sensitive="ties at the cutoff; unjudged and unknown relevant documents",
        use="sets of fixed size; a ranking deserves a measure that looks at the order",
        citation="van Rijsbergen, Information Retrieval, 1979",
    )

    beta: float = parameter(1.0, "weight of recall against precision", above=0.0)

    def contributions(self, hits: Hits) -> Contributions:
        """Weigh each relevant hit by 1 + β²; divide by k + β² R."""
        square = float(self.beta) ** 2
        norm = np.maximum(self.depth(hits), 1) + square * hits.relevant_count(self.rel)
        return Contributions((1.0 + square) * self.found(hits, self.limit(hits)), norm)

    @property
    def bounds_by(self) -> str:
        """Add up relevant documents over k + β² R."""
        return "additive"

    def ideal_norm(self, hits: Hits) -> IdealNorm | None:
        """Return k + β² R."""
        relevant = self.ones(hits, weight=float(self.beta) ** 2)
        return replace(relevant, rest=np.maximum(self.depth(hits), 1).astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class Success(BinaryMeasure):
    """Success, hit rate: whether anything relevant is among the first k.

    >>> print(Success(k=5))
    Success@5
    """

    name: ClassVar[str] = "Success"
    family: ClassVar[str] = "binary"
    aliases: ClassVar[tuple[str, ...]] = ("HR", "HitRate", "Hit")
    card: ClassVar[Card] = Card(
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

    @property
    def grows_with_k(self) -> bool:
        """Hold: what is found stays found."""
        return True

    def contributions(self, hits: Hits) -> Contributions:
        """Give the first relevant hit 1."""
        relevant = hits.relevant(self.rel)
        first = hits.first_of(relevant, lambda rank: np.ones_like(rank, np.float64), self.limit(hits))
        return Contributions(first, np.ones(hits.queries))

    @property
    def bounds_by(self) -> str:
        """Look at the best placed relevant document."""
        return "first"

    @property
    def deeper_grades_matter(self) -> bool:
        """Fail: one hit settles it."""
        return False


@dataclass(frozen=True, kw_only=True)
class Rprec(BinaryMeasure):
    """R-precision: precision at the rank where a perfect list would stop being relevant.

    >>> print(Rprec())
    Rprec
    """

    name: ClassVar[str] = "Rprec"
    family: ClassVar[str] = "binary"
    aliases: ClassVar[tuple[str, ...]] = ("RPrec", "R-precision")
    takes_cutoff: ClassVar[bool] = False
    card: ClassVar[Card] = Card(
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
            raise BadParameter("Rprec(agg=pooled) would pool different cutoffs", fix="use agg=mean")

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits in the first R ranks (or a multiple of them); divide by as many."""
        cutoff = np.floor(self.multiple * hits.relevant_count(self.rel) + 0.9).astype(np.int64)
        return Contributions(self.found(hits, cutoff), cutoff.astype(np.float64))

    @property
    def bounds_by(self) -> str:
        """Count relevant documents down to a rank that R alone decides."""
        return "counts"
