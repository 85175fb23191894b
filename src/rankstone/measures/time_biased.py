"""Gains that fade with the time or the text a user has spent: time-biased gain and the U-measure.

Gains discounted by the shortfall down to a rank, instead of by the rank: binG and G.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.list_arrays import running
from rankstone.measures.averaged_ndcg import IdealGains
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import ANY_GAIN, Card, parameter
from rankstone.measures.core.gains_and_discounts import divisors
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import SHARES, WORTH, BinaryMeasure, UnitGain

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Ideal
    from rankstone.measures.core.gains_and_discounts import GainTable


@dataclass(frozen=True, kw_only=True)
class TBG(BinaryMeasure, family="user models"):
    """Time-biased gain: relevant documents saved by users of whom half have left after 224 seconds.

    >>> print(TBG(words=500.0))
    TBG(words=500)
    """

    aliases = ("TimeBiasedGain",)
    needs_relevant = False
    examples = ("TBG(words=500)", "TBG(words=300, half_life=120)@20")
    card = Card(
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
        None,
        "words of a document, on average",
        low=0.0,
        needed="measure your collection: TBG(words=500)",
    )
    half_life: float = parameter(
        224.0, "seconds after which half of the users have left", above=0.0
    )
    summary: float = parameter(4.4, "seconds to judge a summary", low=0.0)
    per_word: float = parameter(0.018, "seconds to read a word", low=0.0)
    opening: float = parameter(
        7.8, "seconds for a clicked document in addition to its words", low=0.0
    )
    click_relevant: float = parameter(
        0.64, "chance to click a relevant document", low=0.0, high=1.0
    )
    click: float = parameter(0.39, "chance to click another", low=0.0, high=1.0)
    save: float = parameter(
        0.77, "chance to save a relevant document that was clicked", low=0.0, high=1.0
    )

    #: chances are added up; the time of a document depends on the documents above it
    claims = Claims(
        closed_under_ties=False, grows_with_k=True, deeper_grades_matter=False
    )

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
class U(UnitGain, family="user models"):
    """U-measure: gains that fade in a straight line with the text read.

    >>> print(U(L=2000.0, cost=200.0))
    U(L=2000, cost=200)
    """

    aliases = ("UMeasure", "U-measure")
    needs_relevant = False
    examples = ("U(L=20)", "U(L=5000, cost=200, cost_relevant=1200)")
    card = Card(
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
        None, "where interest ends, as cost", above=0.0, needed="in documents: U(L=20)"
    )
    cost: float = parameter(1.0, "text read of a document", above=0.0)
    cost_relevant: float | None = parameter(
        None, "text read of a relevant one, if different", above=0.0
    )
    position: str = parameter(
        "end", "which end of a document its position is", "end", "start"
    )

    @property
    def claims(self) -> Claims:
        """Gains are added up; closed where all documents cost the same."""
        same_cost = self.cost_relevant in (None, self.cost)
        return replace(
            super().claims,
            closed_under_ties=same_cost,
            grows_with_k=True,
            bounds_by="additive" if same_cost else "enumeration",
            deeper_grades_matter=False,
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Weigh each gain by what interest is left at its position."""
        own = self.cost if self.cost_relevant is None else self.cost_relevant
        finds = hits.running_count(hits.relevant(self.rel or ANY_GAIN))
        longer = 0.0 if self.claims.closed_under_ties else (own - self.cost) * finds
        shift = longer - (own if self.position == "start" else 0.0)
        left = hits.at_rank(
            lambda rank: np.maximum(0.0, 1.0 - (self.cost * rank + shift) / self.L),
            self.limit(hits),
        )
        return Contributions(self.gains_of(hits) * left, np.ones(hits.queries))


class binG(BinaryMeasure, family="cumulated gain"):  # noqa: N801 - the name of the field
    """Binary G: relevant documents, each discounted by the rubbish above it.

    >>> print(binG(k=10))
    binG@10
    """

    card = Card(
        sentence="How little had to be waded through before each relevant document?",
        formula="binG@k = (1/R) Σ_{i ≤ k} b_i / log2(2 + u_i)",
        symbols="b_i: 1 if the document at rank i is relevant; u_i: others above it; R: all relevant",
        example="relevant at ranks 1 and 4, R = 2: (1/log2(2) + 1/log2(4)) / 2 = 0.75",
        peers={"trec_eval binG": "the same, without a cutoff"},
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R)",
        use="seldom: an experiment between AP and nDCG that kept its place in trec_eval",
        citation="Buckley, trec_eval, 2008",
    )

    #: the rubbish above a document is an order's own
    claims = Claims(closed_under_ties=False, grows_with_k=True)

    def contributions(self, hits: Hits) -> Contributions:
        """Discount each relevant hit by the nonrelevant documents above it."""
        relevant = hits.relevant(self.rel)
        above = hits.rank - hits.running_count(relevant)
        shares = np.where(relevant, 1.0 / divisors("log2", above + 1), 0.0)
        inside = hits.above_cutoff(self.limit(hits))
        return Contributions(
            shares * inside, hits.relevant_count(self.rel).astype(np.float64)
        )


class G(IdealGains):
    """G: gains, each discounted by how much the list has fallen behind the ideal one.

    >>> print(G())
    G
    """

    card = Card(
        sentence="How much gain does the list bring, counting less what comes after lost chances?",
        formula="G@k = Σ_{i ≤ k} g_i / log2(2 + c_i − s_i)  /  Σ_{j ≤ k} ĝ_j,  c_i = Σ_{j ≤ i} max(ĝ_j, 1)",
        symbols="g_i: gain at rank i; s_i = g_1 + … + g_i; ĝ_j: gain at rank j of the ideal list, or 0",
        example="grades 0, 2 and nothing else judged: 2/log2(2 + 3 − 2) / 2 = 1/log2(3)",
        undefined="no gain at all: 0; no relevant document: the option `empty` decides (default 0, counted)",
        peers={
            "trec_eval G": "the same, without a cutoff; gains that differ by less than 1 mislead it"
        },
        sensitive="ties, unjudged documents (gain 0), the grade scale",
        use="seldom: an experiment between AP and nDCG; moving a better document up can lower it",
        citation="Buckley, trec_eval, 2008",
    )

    @property
    def claims(self) -> Claims:
        """The shortfall depends on the order; late in a list, 4 before 5 can give a higher value."""
        binary = self.gain == "binary"
        return replace(
            super().claims,
            closed_under_ties=False,
            extremal_under_ties=binary,
            promotion_helps=binary,
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Discount each gain by what the ideal list would have brought by then and this one did not."""
        ideal = self.ideal(hits)
        gain = self.worth(hits)
        brought = running(np.add, gain, np.diff(hits.offsets))
        behind = np.maximum(self._cost(ideal, hits) - brought, 0.0)
        inside = hits.above_cutoff(self.limit(hits))
        counts = (
            ideal.grade
            if self.k is None
            else np.where(ideal.rank <= self.k, ideal.grade, 0.0)
        )
        return Contributions(gain / np.log2(2.0 + behind) * inside, ideal.total(counts))

    def _cost(self, ideal: Ideal, hits: Hits) -> Floats:
        """Return what the ideal list brings down to each hit's rank, at least 1 a rank."""
        lengths = np.diff(ideal.offsets)
        through = running(np.add, np.maximum(ideal.grade, 1.0), lengths)
        depth = np.minimum(hits.rank, hits.spread(lengths))
        inside = depth > 0
        cost: Floats = (hits.rank - depth).astype(np.float64)
        begin = hits.spread(ideal.offsets[:-1])
        cost[inside] += through[(begin + depth)[inside] - 1]
        return cost
