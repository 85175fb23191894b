"""How much of what was shown is judged at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadOption
from rankstone.measures.base import Contributions, Measure, Status
from rankstone.measures.named import Card

if TYPE_CHECKING:
    from rankstone.hits.arrays import Ints
    from rankstone.hits.options import Alignment
    from rankstone.hits.ragged import Hits

__all__ = ["Judged", "Unjudged"]


@dataclass(frozen=True, kw_only=True)
class OfJudging(Measure):
    """A measure of which documents anybody judged, whatever the grade."""

    family: ClassVar[str] = "counts"
    needs_relevant: ClassVar[bool] = False
    zero_norm: ClassVar[Status] = Status.undefined

    def relevant_count(self, hits: Hits) -> Ints | None:  # noqa: ARG002 - the base's signature
        """Relevance plays no part."""
        return None

    @property
    def extremal_under_ties(self) -> bool:
        """Fail: tied documents are ordered by grade, not by being judged."""
        return False

    def check_needs(self, options: Alignment) -> None:
        """Refuse to count the documents among the first k ranks where some were taken out and left a gap."""
        for option, word in (("unjudged", "condensed_keep_rank"), ("duplicates", "first_keep_rank")):
            if self.k is not None and getattr(options, option) == word:
                raise BadOption(
                    f"{self} counts the documents among the first {self.k} ranks, and with {option}={word} "
                    "some ranks are empty",
                    fix=f"leave {option}={word} or {self} out",
                )


@dataclass(frozen=True, kw_only=True)
class Judged(OfJudging):
    """Judged@k: the share of the shown documents that anybody judged.

    >>> print(Judged(k=10))
    Judged@10
    """

    name: ClassVar[str] = "Judged"
    card: ClassVar[Card] = Card(
        sentence="Of the first k results, how many has anybody judged?",
        formula="Judged@k = |{i ≤ min(k, n) : d_i judged}| / min(k, n)",
        symbols="d_i: document at rank i; n: length of the list",
        example="8 of the first 10 documents are judged: Judged@10 = 0.8",
        undefined="empty list: no value",
        peers={
            "ir_measures Judged@k": "the same, ties in score to the smaller document id: ties=docid_asc",
            "BEIR hole@k": "1 − Judged@k",
            "trec_eval 10 unj_k": "unjudged documents over k, also for shorter lists: Unjudged@k",
        },
        sensitive="depth",
        use="beside every other number: two systems with unequal Judged@k are not compared fairly",
        scale="a step is a number of documents",
        citation="Buckley and Voorhees, SIGIR 2004 (the problem)",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give every judged hit 1; divide by the documents shown."""
        limit = self.limit(hits)
        inside = hits.at_rank(lambda rank: np.ones(len(rank)), limit)
        shown = hits.n if limit is None else np.minimum(limit, hits.n)
        return Contributions(np.where(hits.judged, inside, 0.0), shown.astype(np.float64))

    @property
    def bounds_by(self) -> str:
        """Speak of the judging itself: grades are not what is missing here."""
        return "nothing"


@dataclass(frozen=True, kw_only=True)
class Unjudged(OfJudging):
    """Unjudged@k: the share of the first k ranks that holds a document nobody judged.

    >>> print(Unjudged(k=10))
    Unjudged@10
    """

    name: ClassVar[str] = "Unjudged"
    card: ClassVar[Card] = Card(
        sentence="Of the first k ranks, how many hold a document nobody judged?",
        formula="Unjudged@k = |{i ≤ min(k, n) : d_i not judged}| / k",
        symbols="d_i: document at rank i; n: length of the list (k = n without a cutoff)",
        example="a list of 8 with 2 unjudged documents: Unjudged@10 = 0.2, Judged@10 = 6/8",
        direction="lower",
        undefined="empty list and no cutoff: no value",
        peers={"trec_eval 10 unj_k": "the same", "BEIR hole@k": "over min(k, n): 1 − Judged@k"},
        sensitive="depth; lists shorter than k (their empty ranks count as judged)",
        use="a red flag beside other numbers; Judged@k does not flatter short lists",
        citation="Soboroff, trec_eval, 2023",
    )

    @property
    def promotion_helps(self) -> bool:
        """Fail: a judged document that is moved up lowers it."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Count ranks without a judged hit; divide by k."""
        inside = hits.at_rank(lambda rank: np.ones(len(rank)), self.limit(hits))
        depth = hits.n if self.k is None else np.full(hits.queries, self.k)
        unjudged = np.minimum(depth, hits.n) - hits.total(np.where(hits.judged, inside, 0.0))
        return Contributions(np.zeros(len(inside)), depth.astype(np.float64), unjudged=unjudged)

    @property
    def bounds_by(self) -> str:
        """Speak of the judging itself: grades are not what is missing here."""
        return "nothing"
