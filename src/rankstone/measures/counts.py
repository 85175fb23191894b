"""Counts of documents and queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import Contributions
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits

__all__ = ["NumNonrelRet", "NumQ", "NumRel", "NumRelRet", "NumRet"]


@dataclass(frozen=True, kw_only=True)
class Count(BinaryMeasure):
    """A number of documents; queries are added up."""

    family: ClassVar[str] = "counts"
    needs_relevant: ClassVar[bool] = False
    takes_cutoff: ClassVar[bool] = False

    agg: str = parameter("sum", "how queries become one number", "mean", "sum", "median", "gmean", "pooled")


@dataclass(frozen=True, kw_only=True)
class NumRet(Count):
    """How many documents the list holds."""

    name: ClassVar[str] = "NumRet"
    card: ClassVar[Card] = Card(
        sentence="How many documents are retrieved?",
        formula="NumRet = n",
        symbols="n: length of the list",
        example="a list of 1000 documents: 1000",
        span=(0.0, None),
        undefined="never",
        peers={"trec_eval num_ret": "the same; its summary is the sum over queries, as here"},
        sensitive="depth",
        use="to check that runs are equally deep",
        citation="trec_eval",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count hits, and the unjudged documents between them."""
        ones = np.ones(len(hits.rank))
        between = hits.n - hits.total(ones)
        return Contributions(ones, np.ones(hits.queries), unjudged=between)

    @property
    def bounds_by(self) -> str:
        """Stay the same under every grade."""
        return "uniform"


@dataclass(frozen=True, kw_only=True)
class NumRel(Count):
    """How many relevant documents are known."""

    name: ClassVar[str] = "NumRel"
    card: ClassVar[Card] = Card(
        sentence="How many relevant documents are known?",
        formula="NumRel = R",
        symbols="R: relevant documents judged, retrieved or not",
        example="4 documents judged 1 or more: 4",
        span=(0.0, None),
        undefined="never",
        peers={"trec_eval num_rel": "the same; under -c it ignores -l there (a bug)"},
        sensitive="nothing in the run",
        use="to see how much there was to find",
        citation="trec_eval",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits, and the relevant documents that were missed."""
        found = hits.relevant(self.rel).astype(np.float64)
        missed = hits.relevant_count(self.rel) - hits.total(found)
        return Contributions(found, np.ones(hits.queries), missed=missed)

    @property
    def bounds_by(self) -> str:
        """Grow with every relevant document."""
        return "uniform"


@dataclass(frozen=True, kw_only=True)
class NumRelRet(Count):
    """How many relevant documents are retrieved."""

    name: ClassVar[str] = "NumRelRet"
    takes_cutoff: ClassVar[bool] = True
    card: ClassVar[Card] = Card(
        sentence="How many relevant documents are among the first k (or in the whole list)?",
        formula="NumRelRet@k = h_k",
        symbols="h_k: relevant documents at ranks 1 … k",
        example="relevant at ranks 1, 3 and 5: NumRelRet@4 = 2",
        span=(0.0, None),
        undefined="never",
        peers={"trec_eval num_rel_ret": "the same", "ranx hits": "the mean: NumRelRet(agg=mean)"},
        sensitive="ties at the cutoff, unjudged documents",
        use="to see what a recall is made of",
        citation="trec_eval",
    )

    @property
    def grows_with_k(self) -> bool:
        """Hold: what is found stays found."""
        return True

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits."""
        return Contributions(self.found(hits, self.limit(hits)), np.ones(hits.queries))

    @property
    def bounds_by(self) -> str:
        """Add up relevant documents."""
        return "additive"

    @property
    def deeper_grades_matter(self) -> bool:
        """Fail: nothing is divided."""
        return False


@dataclass(frozen=True, kw_only=True)
class NumNonrelRet(Count):
    """How many documents are retrieved that were judged and found not relevant."""

    name: ClassVar[str] = "NumNonrelRet"
    takes_cutoff: ClassVar[bool] = True
    card: ClassVar[Card] = Card(
        sentence="How many of the first k documents (or of the whole list) are known to be not relevant?",
        formula="NumNonrelRet@k = |{i ≤ k : d_i judged, not relevant}|",
        symbols="d_i: document at rank i",
        example="grades 1, 0, unjudged, 0: NumNonrelRet = 2",
        span=(0.0, None),
        direction="lower",
        undefined="never",
        peers={"trec_eval num_nonrel_judged_ret": "the same"},
        sensitive="ties at the cutoff, which documents are judged",
        use="to see how much of what was retrieved was judged at all, beside NumRelRet and NumRet",
        citation="trec_eval",
    )

    @property
    def reads_nonrelevant(self) -> bool:
        """Hold: it counts them."""
        return True

    @property
    def extremal_under_ties(self) -> bool:
        """Fail: best first puts a document judged 0 before an unjudged one."""
        return False

    @property
    def promotion_helps(self) -> bool:
        """Fail: it counts what should not be there."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Count judged hits that are not relevant."""
        inside = hits.at_rank(lambda rank: np.ones(len(rank)), self.limit(hits))
        bad = hits.judged & ~hits.relevant(self.rel)
        return Contributions(np.where(bad, inside, 0.0), np.ones(hits.queries))

    @property
    def bounds_by(self) -> str:
        """Add up documents that are not relevant."""
        return "additive"

    @property
    def deeper_grades_matter(self) -> bool:
        """Fail: nothing is divided."""
        return False


@dataclass(frozen=True, kw_only=True)
class NumQ(Count):
    """How many queries are averaged."""

    name: ClassVar[str] = "NumQ"
    card: ClassVar[Card] = Card(
        sentence="How many queries are averaged?",
        formula="NumQ = 1 for each query, added up",
        symbols="none",
        example="40 judged queries answered by the run, 10 not: 50; with missing=drop 40",
        span=(0.0, None),
        direction="neither",
        undefined="never",
        peers={"trec_eval num_q, ir_measures NumQ": "the same (50 of the example under -c)"},
        sensitive="the options `missing`, `extra` and `empty`, nothing else",
        use="to see what a mean is a mean of",
        citation="trec_eval",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count the query itself."""
        return Contributions(np.zeros(len(hits.rank)), np.ones(hits.queries), missed=np.ones(hits.queries))

    @property
    def bounds_by(self) -> str:
        """Stay the same under every grade."""
        return "uniform"
