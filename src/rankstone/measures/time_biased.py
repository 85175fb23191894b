"""Gains that fade with the time or the text a user has spent: time-biased gain and the U-measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import ANY_GAIN, Contributions
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure
from rankstone.measures.unit_gain import SHARES, WORTH, UnitGain

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits
    from rankstone.measures.parts import GainTable

__all__ = ["TBG", "U"]


@dataclass(frozen=True, kw_only=True)
class TBG(BinaryMeasure):
    """Time-biased gain: relevant documents saved by users of whom half have left after 224 seconds.

    >>> print(TBG(words=500.0))
    TBG(words=500)
    """

    name: ClassVar[str] = "TBG"
    family: ClassVar[str] = "user models"
    aliases: ClassVar[tuple[str, ...]] = ("TimeBiasedGain",)
    needs_relevant: ClassVar[bool] = False
    examples: ClassVar[tuple[str, ...]] = ("TBG(words=500)", "TBG(words=300, half_life=120)@20")
    card: ClassVar[Card] = Card(
        sentence="How many relevant documents does a user save before time runs out?",
        formula="TBG = Σ_i b_i c(1) s · 2^(−T(i) / h),  T(i) = Σ_{j < i} (t_s + (a · words + b) c(b_j))",
        symbols="b_i: 1 if the document at rank i is relevant; c(1), c(0) = click_relevant, click: chance to "
        "be clicked; s = save: chance that a clicked relevant one is saved; T(i): seconds until rank i; "
        "t_s = summary, a = per_word, b = opening: times to read; h = half_life",
        example="relevant at ranks 1 and 2, words = 0: T(2) = 4.4 + 7.8 · 0.64 = 9.392: "
        "0.4928 · (1 + 2^(−9.392/224)) = 0.9715",
        needs="judgments, an average document length",
        span=(0.0, None),
        undefined="never",
        peers={
            "Smucker and Clarke": "the same with each document's own length; duplicates gain nothing there",
            "cwl_eval TBG": "the average of the gains, not their sum: CWL(model=TBG, half_life=…, cost=…)",
        },
        sensitive="ties, unjudged documents (not relevant), document lengths (one for all here)",
        use="to speak of documents per session instead of scores; state the constants when you change them",
        citation="Smucker and Clarke, SIGIR 2012",
    )

    words: float = parameter(
        None, "words of a document, on average", low=0.0, needed="measure your collection: TBG(words=500)"
    )
    half_life: float = parameter(224.0, "seconds after which half of the users have left", above=0.0)
    summary: float = parameter(4.4, "seconds to judge a summary", low=0.0)
    per_word: float = parameter(0.018, "seconds to read a word", low=0.0)
    opening: float = parameter(7.8, "seconds a clicked document takes beside its words", low=0.0)
    click_relevant: float = parameter(0.64, "chance to click a relevant document", low=0.0, high=1.0)
    click: float = parameter(0.39, "chance to click another", low=0.0, high=1.0)
    save: float = parameter(0.77, "chance to save a relevant document that was clicked", low=0.0, high=1.0)

    @property
    def closed_under_ties(self) -> bool:
        """Fail: the time of a document depends on what stands above it."""
        return False

    @property
    def grows_with_k(self) -> bool:
        """Hold: chances are added up."""
        return True

    @property
    def deeper_grades_matter(self) -> bool:
        """Fail: nothing below the cutoff is counted."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the chance that it is saved, halved every half-life."""
        relevant = hits.relevant(self.rel)
        finds = hits.running_count(relevant) - relevant
        document = self.per_word * self.words + self.opening
        wait = self.summary * (hits.rank - 1) + document * (
            self.click_relevant * finds + self.click * (hits.rank - 1 - finds)
        )
        saved = self.click_relevant * self.save * np.exp2(-wait / self.half_life)
        return Contributions(np.where(relevant, saved, 0.0), np.ones(hits.queries))


@dataclass(frozen=True, kw_only=True)
class U(UnitGain):
    """U-measure: gains that fade in a straight line with the text read.

    >>> print(U(L=2000.0, cost=200.0))
    U(L=2000, cost=200)
    """

    name: ClassVar[str] = "U"
    family: ClassVar[str] = "user models"
    aliases: ClassVar[tuple[str, ...]] = ("UMeasure", "U-measure")
    needs_relevant: ClassVar[bool] = False
    examples: ClassVar[tuple[str, ...]] = ("U(L=20)", "U(L=5000, cost=200, cost_relevant=1200)")
    card: ClassVar[Card] = Card(
        sentence="How much does a user gain whose interest fades with every line that is read?",
        formula="U = Σ_i g_i · max(0, 1 − pos_i / L)",
        symbols="g_i: gain at rank i, between 0 and 1; pos_i: text read to the end of rank i, `cost` for "
        "a document, `cost_relevant` for a relevant one; L: where interest ends",
        example="relevant at ranks 1 and 3, L = 10: (1 − 1/10) + (1 − 3/10) = 1.6",
        needs="judgments, what a document costs",
        span=(0.0, None),
        undefined="never",
        peers={
            "Sakai and Dou": "the same with their normaliser at 1; they know what each user really read",
            "cwl_eval U-measure": "position=start, and the average: CWL(model=U, L=…, cost=…)",
        },
        sensitive="ties, unjudged documents (gain 0), the costs (two for all documents here)",
        use="snippets, voice and chat, where text is the cost; any unit will do, if L has the same",
        citation="Sakai and Dou, SIGIR 2013",
    )

    gain: str | GainTable = parameter("binary", WORTH, SHARES)
    L: float = parameter(
        None, "where interest ends, in the unit of cost", above=0.0, needed="in documents: U(L=20)"
    )
    cost: float = parameter(1.0, "text read of a document", above=0.0)
    cost_relevant: float | None = parameter(None, "text read of a relevant one, if different", above=0.0)
    position: str = parameter("end", "which end of a document its position is", "end", "start")

    @property
    def closed_under_ties(self) -> bool:
        """Hold where all documents cost the same."""
        return self.cost_relevant in (None, self.cost)

    @property
    def grows_with_k(self) -> bool:
        """Hold: gains are added up."""
        return True

    @property
    def bounds_by(self) -> str:
        """Add gains up, unless relevant documents take longer."""
        return "additive" if self.closed_under_ties else "enumeration"

    @property
    def deeper_grades_matter(self) -> bool:
        """Fail: nothing below the cutoff is counted."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Weigh each gain by what interest is left at its position."""
        own = self.cost if self.cost_relevant is None else self.cost_relevant
        finds = hits.running_count(hits.relevant(self.rel or ANY_GAIN))
        longer = 0.0 if self.closed_under_ties else (own - self.cost) * finds
        shift = longer - (own if self.position == "start" else 0.0)
        left = hits.at_rank(
            lambda rank: np.maximum(0.0, 1.0 - (self.cost * rank + shift) / self.L), self.limit(hits)
        )
        return Contributions(self.gains_of(hits) * left, np.ones(hits.queries))
