"""Graded diversity: D-nDCG and D♯-nDCG, which rank documents by what they are worth to all intents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.hits.arrays import sums
from rankstone.measures.base import Contributions
from rankstone.measures.dcg import nDCG
from rankstone.measures.intents import StRecall
from rankstone.measures.named import Card, parameter
from rankstone.measures.novelty import RelevantSubtopics
from rankstone.measures.parts import gains

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats
    from rankstone.hits.ragged import Hits

__all__ = ["D_nDCG", "Dsharp_nDCG"]

_NEEDS: Final = "graded judgments by subtopic: TREC's second column, a column subtopic, nested dicts"
_UNDEFINED: Final = "no subtopic has a relevant document: the option `empty` decides (default 0, counted)"
_SYMBOLS: Final = (
    "GG_i = Σ_s P(s) g_is; g_is: gain of the document at rank i for subtopic s; P(s): weight of s, equal for "
    "all that have a relevant document unless a table of intents says otherwise; "
    "ideal: all judged documents by GG"
)


@dataclass(frozen=True, kw_only=True)
class D_nDCG(RelevantSubtopics):  # noqa: N801 - the name of the field
    """D-nDCG: nDCG whose gains are what a document is worth to all intents together.

    >>> print(D_nDCG(k=10))
    D_nDCG@10
    """

    name: ClassVar[str] = "D_nDCG"
    aliases: ClassVar[tuple[str, ...]] = ("D-nDCG",)
    card: ClassVar[Card] = Card(
        sentence="How close is the list to the order by what documents are worth to all intents together?",
        formula="D-nDCG@k = Σ_{i ≤ k} GG_i / log2(i + 1)  /  the same sum over the ideal order",
        symbols=_SYMBOLS,
        example="intents of weight .7 and .3; a: grades 1, 0; b: grades 0, 3; a before b: "
        "(.7 + .9/log2 3) / (.9 + .7/log2 3) = 0.9450",
        needs=_NEEDS,
        undefined=_UNDEFINED,
        peers={"NTCIREVAL": "MSnDCG of a list labelled with global gains (glabel, gcompute)"},
        sensitive="ties, unjudged documents (gain 0), depth, the weights",
        use="graded relevance and weighted intents; it does not ask for novelty, Dsharp_nDCG adds coverage",
        citation="Sakai and Song, SIGIR 2011",
    )

    gain: str = parameter("linear", "what a grade is worth", "linear", "exp2", "binary")

    def global_gains(self, hits: Hits) -> Floats:
        """Return what each judged document is worth to all intents, float64 ``[judged]``."""
        assert hits.pool is not None  # noqa: S101 - alignment brings it to measures that ask
        entries = hits.pool.entries
        worth = gains(self.gain, self.rel, np.maximum(entries.grade, 0.0))
        worth = np.where(self.rel(entries.grade), worth, 0.0)
        return sums(entries.doc, self.intents(hits)[entries.group] * worth, len(hits.pool.grade))

    def contributions(self, hits: Hits) -> Contributions:
        """Discount global gains; divide by those of the ideal order."""
        return nDCG(k=self.k).contributions(hits.regraded(self.global_gains(hits)))


@dataclass(frozen=True, kw_only=True)
class Dsharp_nDCG(D_nDCG):  # noqa: N801 - the name of the field
    """D♯-nDCG: intent recall and D-nDCG in one number.

    >>> print(Dsharp_nDCG(k=10))
    Dsharp_nDCG@10
    """

    name: ClassVar[str] = "Dsharp_nDCG"
    aliases: ClassVar[tuple[str, ...]] = ("D#-nDCG", "D♯-nDCG", "Dsharp-nDCG", "D#_nDCG")
    card: ClassVar[Card] = Card(
        sentence="Are all intents covered, and the documents worth most to them first?",
        formula="D♯-nDCG@k = γ · StRecall@k + (1 − γ) · D_nDCG@k",
        symbols=f"StRecall: share of subtopics covered (I-rec); {_SYMBOLS}",
        example="2 intents, both covered, D-nDCG@10 = 0.8: 0.5 · 1 + 0.5 · 0.8 = 0.9",
        needs=_NEEDS,
        undefined=_UNDEFINED,
        peers={
            "NTCIREVAL": "the same with γ = .5, its scripts' value; I-rec is divided by all intents given"
        },
        sensitive="ties, unjudged documents (gain 0), depth, the weights, how finely intents are cut",
        use="the NTCIR way to evaluate diversified lists; look at its two parts, too",
        citation="Sakai and Song, SIGIR 2011",
    )

    gamma: float = parameter(0.5, "weight of intent recall against D-nDCG", low=0.0, high=1.0)

    def contributions(self, hits: Hits) -> Contributions:
        """Add what a hit gives to intent recall to what it gives to D-nDCG."""
        recall = StRecall(rel=self.rel, k=self.k).contributions(hits)
        order = super().contributions(hits)

        def share(parts: Contributions, weight: float) -> Floats:
            norm, shares = hits.spread(parts.norm), np.zeros(len(parts.hits))
            np.divide(weight * parts.hits, norm, out=shares, where=norm > 0)
            return shares

        both = share(recall, self.gamma) + share(order, 1.0 - self.gamma)
        return Contributions(both, (recall.norm > 0).astype(np.float64))
