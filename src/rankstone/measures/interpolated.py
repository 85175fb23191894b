"""Interpolated precision: the precision a list still reaches once it has found a share of everything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.measures.base import Contributions
from rankstone.measures.interpolation import INTERPOLATIONS, MOST_LEVELS, READINGS, Reached, levels_of
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits

__all__ = ["IAP", "IPrec", "InterpolatedMeasure"]


class InterpolatedMeasure(BinaryMeasure):
    """A measure made of the best precision at or below certain recall levels.

    No dataclass itself, so that a measure's own parameter comes before ``interp`` in its text.
    """

    family: ClassVar[str] = "interpolated precision"

    interp: str

    @property
    def recalls(self) -> tuple[float, ...]:
        """The recall levels looked at."""
        raise NotImplementedError

    @property
    def closed_under_ties(self) -> bool:
        """Fail: which precision is the highest depends on the order."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Credit each level's precision to the hit that has it, the first of equally good ones."""
        inside = hits.relevant(self.rel) & (hits.rank <= (self.k or math.inf))
        reached = Reached.of(hits, inside, self.interp)
        earned = np.zeros(len(hits.rank))
        for level in self.recalls:
            _, place = reached.at(level, hits.relevant_count(self.rel))
            earned[reached.hit[place]] += reached.precision[place]
        return Contributions(earned, np.full(hits.queries, float(len(self.recalls))))

    @property
    def bounds_by(self) -> str:
        """Grow with the precision at each relevant document, where R is the same."""
        return "counts"


@dataclass(frozen=True, kw_only=True)
class IPrec(InterpolatedMeasure):
    """Interpolated precision at one recall level.

    >>> print(IPrec(recall=0.1))
    IPrec(recall=0.1)
    """

    name: ClassVar[str] = "IPrec"
    examples: ClassVar[tuple[str, ...]] = ("IPrec(recall=0.1)", "IPrec(recall=0.5, interp=trec10)")
    card: ClassVar[Card] = Card(
        sentence="Once a share r of the relevant documents is found, how precise can the list still be?",
        formula="IPrec(r) = max {P@i : R@i ≥ r}, 0 where recall r is never reached",
        symbols="P@i, R@i: precision and recall of the first i ranks; r: recall level",
        example="relevant at ranks 1, 2 and 5 of R = 3: IPrec(0.5) = 2/2, IPrec(0.8) = 3/5",
        peers={
            "trec_eval 10 iprec_at_recall_r": "rounds r·R to whole documents: IPrec(recall=r, interp=trec10)",
            "trec_eval 9, ir_measures IPrec@r": "cut r·R + 0.9 off: IPrec(recall=r, interp=trec9)",
            "the difference": "R = 3, r = 0.7 on the example: 3/5 here, 2/2 in either version",
            "without interpolation": "the precision where recall r is first reached: interp=none",
        },
        sensitive="ties, unjudged documents (not relevant), and unknown relevant documents (R)",
        use="points of the classic recall–precision curve, averaged over queries",
        citation="van Rijsbergen, Information Retrieval, 1979; TREC proceedings, appendix on measures",
    )

    recall: float = parameter(
        None, "recall level, a share of R", low=0.0, high=1.0, needed="write IPrec(recall=0.1)"
    )
    interp: str = parameter("exact", READINGS, *INTERPOLATIONS)

    @property
    def recalls(self) -> tuple[float, ...]:
        """The one recall level."""
        return (self.recall,)


#: the curve's classic points 0, 0.1 … 1
_ELEVEN: Final = 11


@dataclass(frozen=True, kw_only=True)
class IAP(InterpolatedMeasure):
    """Interpolated average precision: the mean over recall levels, eleven of them by tradition.

    >>> print(IAP(levels=(0.25, 0.5, 0.75)))
    IAP(levels={0.25, 0.5, 0.75})
    """

    name: ClassVar[str] = "IAP"
    aliases: ClassVar[tuple[str, ...]] = ("11pt",)
    examples: ClassVar[tuple[str, ...]] = ("IAP", "IAP(levels=101)", "IAP(levels={0.25, 0.5, 0.75})")
    card: ClassVar[Card] = Card(
        sentence="How precise is the list on average, over recall levels from nothing to everything?",
        formula="IAP = (1/|L|) Σ_{r ∈ L} IPrec(r)",
        symbols="L: recall levels, 0, 0.1 … 1 unless `levels` says otherwise; IPrec: interpolated precision",
        example="relevant at ranks 1, 2 and 5 of R = 3: (1·7 + 3/5·4) / 11 = 9.4/11",
        peers={
            "trec_eval 10 11pt_avg": "IAP(interp=trec10)",
            "trec_eval 9, pytrec_eval 11pt_avg": "IAP(interp=trec9)",
            "COCO detection AP": "101 levels over boxes, not documents: IAP(levels=101)",
        },
        sensitive="ties, unjudged documents (not relevant), and unknown relevant documents (R)",
        use="comparing with results from before average precision; otherwise AP, which needs no levels",
        citation="TREC-1 … TREC-8 proceedings; Salton and McGill, Introduction to Modern IR, 1983",
    )

    levels: int | tuple[float, ...] = parameter(
        _ELEVEN, "how many evenly spaced levels, or {r, r, …}", low=0, high=MOST_LEVELS
    )
    interp: str = parameter("exact", READINGS, *INTERPOLATIONS)

    def __post_init__(self) -> None:
        """Refuse what is neither a number of levels nor distinct levels."""
        super().__post_init__()
        levels_of(self.levels, "IAP: levels")

    @property
    def recalls(self) -> tuple[float, ...]:
        """The recall levels, as given or evenly spaced."""
        return levels_of(self.levels, "IAP: levels")
