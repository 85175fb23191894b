"""Counts, and how much of what was shown is judged at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import Contributions, Measure, Status
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits, Ints

__all__ = ["Judged", "NumRel", "NumRelRet", "NumRet"]


@dataclass(frozen=True, kw_only=True)
class Judged(Measure):
    """Judged@k: the share of the shown documents that anybody judged.

    >>> print(Judged(k=10))
    Judged@10
    """

    name: ClassVar[str] = "Judged"
    family: ClassVar[str] = "counts"
    needs_relevant: ClassVar[bool] = False
    zero_norm: ClassVar[Status] = Status.undefined
    card: ClassVar[Card] = Card(
        sentence="Of the first k results, how many has anybody judged?",
        formula="Judged@k = |{i ≤ min(k, n) : d_i judged}| / min(k, n)",
        symbols="d_i: document at rank i; n: length of the list",
        example="8 of the first 10 documents are judged: Judged@10 = 0.8",
        undefined="empty list: no value",
        peers={
            "ir_measures Judged@k": "the same",
            "BEIR hole@k": "1 − Judged@k",
            "trec_eval unj_k": "unjudged documents over k, also for shorter lists",
        },
        sensitive="depth",
        use="beside every other number: two systems with unequal Judged@k are not compared fairly",
        citation="Buckley and Voorhees, SIGIR 2004 (the problem)",
    )

    def relevant_count(self, hits: Hits) -> Ints | None:  # noqa: ARG002 - the base's signature
        """Relevance plays no part."""
        return None

    @property
    def extremal_under_ties(self) -> bool:
        """Fail: tied documents are ordered by grade, not by being judged."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Give every judged hit 1; divide by the documents shown."""
        limit = self.limit(hits)
        inside = hits.at_rank(lambda rank: np.ones(len(rank)), limit)
        shown = hits.n if limit is None else np.minimum(limit, hits.n)
        return Contributions(np.where(hits.judged, inside, 0.0), shown.astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class Count(BinaryMeasure):
    """A number of documents; queries are added up."""

    needs_relevant: ClassVar[bool] = False
    takes_cutoff: ClassVar[bool] = False

    agg: str = parameter("sum", "how queries become one number", "mean", "sum", "median", "gmean", "pooled")


@dataclass(frozen=True, kw_only=True)
class NumRet(Count):
    """How many documents the list holds."""

    name: ClassVar[str] = "NumRet"
    family: ClassVar[str] = "counts"
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


@dataclass(frozen=True, kw_only=True)
class NumRel(Count):
    """How many relevant documents are known."""

    name: ClassVar[str] = "NumRel"
    family: ClassVar[str] = "counts"
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


@dataclass(frozen=True, kw_only=True)
class NumRelRet(Count):
    """How many relevant documents are retrieved."""

    name: ClassVar[str] = "NumRelRet"
    family: ClassVar[str] = "counts"
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

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits."""
        return Contributions(self.found(hits, self.limit(hits)), np.ones(hits.queries))
