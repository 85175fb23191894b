"""Ranks of relevant documents: their mean, the last of them, and the work that a ranking saves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import counted
from rankstone.errors import BadOption
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.gains_and_discounts import gains
from rankstone.measures.core.measure import Contributions, OfWholeLists
from rankstone.measures.core.relevance import BinaryMeasure, GradedMeasure

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits

#: 0.95 · 20 may come out a little above 19
_ROUNDING = 1e-9


def places_below(hits: Hits, missing: Ints) -> Ints:
    """Count the documents of the catalogue below each list, int64 ``[queries]``."""
    from rankstone.hits.extras.candidate_counts import CandidateCounts

    candidates = hits.added(CandidateCounts).count
    below = candidates - hits.length
    if (below < missing).any():
        query = int((below < missing).argmax())
        raise BadOption(
            f"candidates={candidates[query]}: a query has a list of "
            f"{counted(int(hits.length[query]), 'document')} and "
            f"{counted(int(missing[query]), 'relevant one')} outside it",
            expected="the number of documents a query could have retrieved",
        )
    return below


@dataclass(frozen=True, kw_only=True)
class AvgRelPosition(OfWholeLists, GradedMeasure, family="positions"):
    """Average relevance position: the mean rank of what is relevant, weighted by how relevant it is.

    >>> print(AvgRelPosition(gain="binary"))
    AvgRelPosition(gain=binary)
    """

    aliases = ("AvgRelevancePosition",)
    card = Card(
        sentence="What is the mean rank of relevant documents?",
        formula="AvgRelPosition = Σ_i g_i i / Σ_i g_i",
        symbols="g_i: gain of the document at rank i, its grade unless `gain` says otherwise",
        example="grades 3, 0, 1: (3·1 + 1·3) / 4 = 3/2; gain=binary: (1 + 3) / 2 = 2",
        needs="judgments; unreturned=bottom_tied: how many documents there are (candidates)",
        span=(1.0, None),
        direction="lower",
        undefined="nothing of any gain in the list: no value, counted as undefined",
        peers={
            "TF-Ranking ARPMetric": "the same per list, then Σ over lists: AvgRelPosition(agg=pooled)",
            "ARP in recommendation": "average popularity of what is recommended: another thing",
        },
        sensitive="depth above all: a relevant document at rank 1000 outweighs everything before; one that "
        "was not returned is left out, unless unreturned=bottom_tied",
        use="as a training signal and for complete lists; the mean rank hides its outliers",
        citation="Pasumarthi et al. (TF-Ranking), KDD 2019",
    )

    unreturned: str = parameter(
        "exclude",
        "relevant documents that were not returned: left out, or in random order below the list",
        "exclude",
        "bottom_tied",
        needs_candidates=("bottom_tied",),
    )

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse grades below zero as weights, and a catalogue of unknown size."""
        if options.negative == "keep":
            raise BadOption(
                f"{self} weighs ranks by gains, and negative=keep makes some of them negative",
                fix="choose negative=unjudged or zero",
            )
        super().check_needs(options)

    def contributions(self, hits: Hits) -> Contributions:
        """Give every hit its gain times its rank; divide by the gains."""
        gain = gains(self.gain, self.threshold, hits.grade)
        shares = gain * hits.at_rank(lambda rank: rank.astype(np.float64))
        norm = hits.total(gain)
        if self.unreturned == "exclude":
            return Contributions(shares, norm)
        every = gains(self.gain, self.threshold, hits.ideal.grade)
        missing = hits.ideal.count(every > 0) - hits.count(gain > 0)
        middle = hits.length + (places_below(hits, missing) + 1) / 2
        lost = np.where(missing > 0, hits.ideal.total(every) - norm, 0.0)
        return Contributions(shares, norm + lost, missed=lost * middle)


@dataclass(frozen=True, kw_only=True)
class LastRel(OfWholeLists, BinaryMeasure, family="positions"):
    """Last relevant: the depth to which one must read to find every relevant document.

    >>> print(LastRel(unreturned="exclude"))
    LastRel(unreturned=exclude)
    """

    aliases = ("last_rel",)
    card = replace(
        AvgRelPosition.card,
        sentence="At which rank have all relevant documents been found?",
        formula="LastRel = max{i : b_i = 1}",
        symbols="b_i: 1 if the document at rank i is relevant",
        example="relevant at ranks 1, 4 and 9, R = 3: 9; with R = 4 there is no such rank",
        undefined="no relevant document, or one that was not returned: no value, counted as undefined",
        peers={
            "CLEF TAR tar_eval last_rel": "the last relevant one that was returned: unreturned=exclude"
        },
        sensitive="one single document: the worst placed of the relevant ones",
        use="technology-assisted review, where all must be found; only whole rankings answer it",
        citation="Kanoulas et al., CLEF eHealth TAR overview, 2017",
    )

    unreturned: str = parameter(
        "undefined",
        "when a relevant document was not returned: no value; the last of those that were; or they follow in "
        "random order below the list",
        "undefined",
        "exclude",
        "bottom_tied",
        needs_candidates=("bottom_tied",),
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give the last relevant hit its rank."""
        masked = hits.relevant(self.rel)
        retrieved = hits.count(masked)
        relevant = hits.relevant_count(self.rel)
        share, rank = hits.nth_of(masked, retrieved)
        last = share * rank
        if self.unreturned == "exclude":
            return Contributions(last, np.minimum(retrieved, 1.0))
        missing = relevant - retrieved
        if self.unreturned == "undefined":
            return Contributions(
                last, ((missing == 0) & (relevant > 0)).astype(np.float64)
            )
        place = missing * (places_below(hits, missing) + 1) / (missing + 1)
        lowest = np.where(missing > 0, hits.length + place, 0.0)
        return Contributions(
            np.where(hits.spread(missing) > 0, 0.0, last),
            np.minimum(relevant, 1.0),
            missed=lowest,
        )


@dataclass(frozen=True, kw_only=True)
class WSS(OfWholeLists, BinaryMeasure, family="positions"):
    """Work saved over sampling: reading left undone at a given recall, beyond what chance leaves undone.

    >>> print(WSS(recall=1.0))
    WSS(recall=1)
    """

    card = Card(
        sentence="How much reading does the ranking save, if 95 % of the relevant documents must be found?",
        formula="WSS = (N − i) / N − (1 − r) = r − i / N,  i = the first rank with recall ≥ r",
        symbols="r: the recall; N: documents to read, the list's length or the catalogue's (documents)",
        example="100 documents, R = 20, the 19th relevant one at rank 40: 0.95 − 40/100 = 0.55",
        needs="judgments; documents=catalogue: how many documents there are (candidates)",
        span=(-1.0, 1.0),
        undefined="no relevant document, or an empty list: no value, counted as undefined",
        peers={
            "CLEF TAR tar_eval wss_95, wss_100": "the same where r·R is whole; it rounds r·R, here i is the "
            "first rank at which the recall is reached",
            "Cohen et al.": "(TN + FN) / N − (1 − r): the same",
        },
        sensitive="the rank of one document; a list that never reaches the recall saves nothing: 0",
        use="screening for systematic reviews, e-discovery; not comparable between topics of different R / N",
        citation="Cohen et al., JAMIA 2006",
    )

    recall: float = parameter(
        0.95, "the recall that must be reached", above=0.0, high=1.0
    )
    documents: str = parameter(
        "list",
        "the documents to read: the list, or the catalogue",
        *("list", "catalogue"),
        needs_candidates=("catalogue",),
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give the hit that reaches the recall the unread documents, less those of a random order."""
        masked = hits.relevant(self.rel)
        relevant = hits.relevant_count(self.rel)
        documents: Ints | Floats = hits.length
        if self.documents == "catalogue":
            from rankstone.hits.extras.candidate_counts import CandidateCounts

            known = hits.extras.get(CandidateCounts)
            documents = documents if known is None else known.count
        share, rank = hits.nth_of(
            masked, np.ceil(self.recall * relevant - _ROUNDING).astype(np.int64)
        )
        saved = share * (self.recall * hits.spread(documents) - rank)
        norm = np.where(hits.found, documents, 1.0)  # without a list nothing is saved
        return Contributions(saved, np.where(relevant > 0, norm, 0.0))
