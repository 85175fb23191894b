"""Measures of what was retrieved as a set: unranked average precision, and utility."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.measures.base import Contributions
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits

__all__ = ["SetAP", "Utility"]

#: no price is beyond it
_MOST: Final = 1e9


@dataclass(frozen=True, kw_only=True)
class SetAP(BinaryMeasure):
    """Unranked average precision: precision times recall of what was retrieved.

    >>> print(SetAP())
    SetAP
    """

    name: ClassVar[str] = "SetAP"
    family: ClassVar[str] = "binary"
    card: ClassVar[Card] = Card(
        sentence="Average precision of a set: every relevant document found earns the set's precision.",
        formula="SetAP@k = P@k · R@k = (1/R) Σ_{relevant hits} h_k / k",
        symbols="h_k: relevant in the first k (in the whole list without a cutoff, k = n); R: all relevant",
        example="4 retrieved, 2 of them relevant, R = 3: (2/4 + 2/4) / 3 = 2/4 · 2/3",
        peers={"trec_eval set_map, ir_measures SetAP": "the same, without a cutoff"},
        sensitive="unjudged documents (not relevant); the size of the set; with a cutoff, ties at it",
        use="unranked retrieval whose sets differ in size; rankings deserve AP",
        citation="Buckley, trec_eval (set_map; before version 9 exact_unranked_avg_prec)",
    )

    @property
    def closed_under_ties(self) -> bool:
        """Hold for whole lists; at a cutoff the square of h_k has no short expectation."""
        return self.k is None

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the precision of the set; divide by R."""
        found = self.found(hits, self.limit(hits))
        precision = hits.total(found) / np.maximum(self.depth(hits), 1)
        relevant = hits.relevant_count(self.rel)
        return Contributions(found * hits.spread(precision), relevant.astype(np.float64))

    @property
    def bounds_by(self) -> str:
        """Grow with h_k, where R is the same."""
        return "counts"


@dataclass(frozen=True, kw_only=True)
class Utility(BinaryMeasure):
    """Utility: what every document shown or missed is worth to its reader, added up.

    >>> print(Utility(a=2.0))
    Utility(a=2)
    """

    name: ClassVar[str] = "Utility"
    family: ClassVar[str] = "binary"
    needs_relevant: ClassVar[bool] = False
    examples: ClassVar[tuple[str, ...]] = ("Utility", "Utility(a=2, b=-1)", "Utility@10")
    card: ClassVar[Card] = Card(
        sentence="What is a set worth when each kind of document has a price?",
        formula="Utility@k = a·h + b·(m − h) + c·(R − h) + d·(N − m − R + h)",
        symbols="h: relevant among the m = min(k, n) shown; R: all relevant; N: documents there are",
        example="10 shown, 4 relevant, R = 6, a = 1, b = −1: 4 − 6 = −2",
        needs="judgments; `candidates` (N) when d is not 0",
        span=(None, None),
        undefined="never",
        peers={
            "trec_eval utility.a,b,c,d": "the same; N comes from -N and is 0 without it",
            "TREC filtering tracks": "linear utilities T9U, T10U and others: choices of a and b",
        },
        sensitive="unjudged documents (priced as not relevant); the size of the set",
        use="filtering and alerting, where showing nothing is better than showing rubbish",
        citation="Lewis, TREC-4 filtering track, 1995; Hull and Robertson, TREC-8, 1999",
    )

    a: float = parameter(1.0, "worth of a relevant document shown", low=-_MOST, high=_MOST)
    b: float = parameter(-1.0, "worth of one shown that is not relevant", low=-_MOST, high=_MOST)
    c: float = parameter(0.0, "worth of a relevant document not shown", low=-_MOST, high=_MOST)
    d: float = parameter(0.0, "worth of one not shown that is not relevant", low=-_MOST, high=_MOST)

    @property
    def promotion_helps(self) -> bool:
        """Hold where exchanging a shown document for a relevant one is no loss."""
        return self.a - self.b >= self.c - self.d

    @property
    def extremal_under_ties(self) -> bool:
        """Hold where exchanging a shown document for a relevant one is no loss."""
        return self.promotion_helps

    def contributions(self, hits: Hits) -> Contributions:
        """Price judged hits one by one, unjudged and missed documents in two sums."""
        inside = hits.at_rank(lambda rank: np.ones(len(rank)), self.limit(hits))
        relevant = np.where(hits.relevant(self.rel), inside, 0.0)
        shown, found = np.minimum(self.depth(hits), hits.n), hits.total(relevant)
        missed = hits.relevant_count(self.rel) - found
        rest = 0.0 if self.d == 0 else self._candidates(hits) - shown - missed
        return Contributions(
            self.a * relevant + self.b * (inside - relevant),
            np.ones(hits.queries),
            missed=self.c * missed + self.d * rest,
            unjudged=self.b * (shown - hits.total(inside)),
        )

    def _candidates(self, hits: Hits) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        if hits.candidates is None:
            raise BadParameter(
                f"{self} prices documents that were not shown, and nobody said how many there are",
                fix="say candidates=… (--candidates), or leave d at 0",
            )
        return hits.candidates
