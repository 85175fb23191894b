"""Average precision for graded relevance: the Q-measure and graded average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.arrays import descending_within, running
from rankstone.measures.base import Contributions
from rankstone.measures.graded import ByGain
from rankstone.measures.named import Card, parameter
from rankstone.measures.parts import GAINS, OWN_GAINS, GainTable, gains, never_falls
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["GAP", "Blended", "Q"]


@dataclass(frozen=True, kw_only=True)
class Blended(BinaryMeasure):
    """A measure of blended ratios: precision in which gains count beside hits."""

    gain: str | GainTable = parameter("linear", "what a grade is worth, or a table {grade: gain}", GAINS)
    beta: float = parameter(1.0, "how much gains count beside hits", low=0.0)

    @property
    def closed_under_ties(self) -> bool:
        """Fail: gains and hits of tied documents stand above and below the line."""
        return False

    def blended(self, hits: Hits) -> Floats:
        """Return (C_i + β cg_i) / (i + β cg*_i) at every hit, float64 ``[hits]``."""
        relevant, ideal = hits.relevant(self.rel), hits.ideal
        gained = running(np.add, gains(self.gain, self.rel, hits.grade), np.diff(hits.offsets))
        best = gains(self.gain, self.rel, ideal.grade)
        if not never_falls(self.gain):
            best = descending_within(ideal.query, best)
        best = running(np.add, best, np.diff(ideal.offsets))
        lowest = np.minimum(hits.rank, np.diff(ideal.offsets)[hits.query])
        ahead = best[ideal.offsets[hits.query] + lowest - 1]
        hits.tell(found=lambda: hits.running_count(relevant), gained=gained, ideal_gained=ahead)
        ratio: Floats = (hits.running_count(relevant) + self.beta * gained) / (hits.rank + self.beta * ahead)
        return ratio


@dataclass(frozen=True, kw_only=True)
class Q(ByGain, Blended):
    """Q-measure: average precision in which gains count beside hits.

    >>> print(Q(k=10, denom="min_R_k"))
    Q(denom=min_R_k)@10
    """

    name: ClassVar[str] = "Q"
    family: ClassVar[str] = "average precision"
    aliases: ClassVar[tuple[str, ...]] = ("QMeasure", "Q-measure")
    card: ClassVar[Card] = Card(
        sentence="How early do relevant documents come, and the better ones before the others?",
        formula="Q@k = (1/Z) Σ_{i ≤ k} b_i (C_i + β cg_i) / (i + β cg*_i)",
        symbols="b_i: 1 if the document at rank i is relevant; C_i: relevant ones down to rank i, cg_i their "
        "gains (grades, or as `gain` says), cg*_i those of the ideal list; Z: R, or as `denom` says",
        example="grades 1, 2 and nothing else judged: ((1 + 1) / (1 + 2) + (2 + 3) / (2 + 3)) / 2 = 5/6",
        peers={
            "pyNTCIREVAL Q-measure": "the same over the whole list; with a cutoff Q(denom=min_R_k)@k",
            "pyNTCIREVAL -g 1:4:9": "gain={1: 1, 2: 4, 3: 9}",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R), the gains",
        use="graded relevance where recall matters; β = 0 is AP, a large β counts gains almost alone",
        citation="Sakai, NTCIR-4, 2004; Sakai, SIGIR 2007",
    )

    denom: str = parameter("R", "Z, what the sum is divided by", "R", "min_R_k")

    def __post_init__(self) -> None:
        """Refuse a denominator that asks for a cutoff where there is none."""
        super().__post_init__()
        if self.denom == "min_R_k" and self.k is None:
            raise BadParameter("Q(denom=min_R_k) needs a cutoff", fix="write Q(denom=min_R_k)@10")

    @property
    def grows_with_k(self) -> bool:
        """Hold where Z does not depend on k."""
        return self.denom == "R" and self.gain not in OWN_GAINS

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the blended ratio at its rank."""
        most = hits.relevant_count(self.rel)
        if self.denom == "min_R_k":
            most = np.minimum(most, self.k or 0)
        shares = np.where(hits.relevant(self.rel), self.blended(hits), 0.0)
        return Contributions(shares, most.astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class GAP(BinaryMeasure):
    """Graded average precision: AP averaged over users who differ in what is relevant enough.

    >>> print(GAP(k=10))
    GAP@10
    """

    name: ClassVar[str] = "GAP"
    family: ClassVar[str] = "average precision"
    aliases: ClassVar[tuple[str, ...]] = ("GradedAveragePrecision",)
    card: ClassVar[Card] = Card(
        sentence="How early do relevant documents come for users some of whom want top grades only?",
        formula="GAP@k = Σ_{i ≤ k} (1/i) Σ_{j ≤ i} Γ(min(g_i, g_j)) / Σ_judged Γ(g)",
        symbols="g_i: grade at rank i; Γ(g): how many users a grade g satisfies, up to a factor; g itself "
        "(each step of the scale is as often the threshold), or as `gain` says",
        example="grades 1, 2 and nothing else judged: (1/1 + (1 + 2)/2) / (1 + 2) = 5/6",
        peers={
            "Infer.NET": "divides by the gains of the list, not of all judged documents",
            "MATTERS": "the same; it must be told the chances p_1, p_2, … that grade 1, 2, … is a user's "
            "threshold: gain={1: p_1, 2: p_1 + p_2, …}",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents",
        use="graded relevance without a threshold; on binary grades it is AP",
        citation="Robertson, Kanoulas and Yilmaz, SIGIR 2010",
    )

    gain: str | GainTable = parameter(
        "linear", "Γ, or a table {grade: share of users it satisfies}", "linear", "exp2"
    )

    def __post_init__(self) -> None:
        """Refuse a table in which a better grade satisfies fewer users."""
        super().__post_init__()
        if isinstance(self.gain, GainTable):
            steps = [gain for _, gain in self.gain.gains]
            if steps != sorted(steps):
                raise BadParameter(
                    "GAP: a better grade satisfies fewer users", given=str(self), expected="a rising table"
                )

    @property
    def grows_with_k(self) -> bool:
        """Hold: shares are added up."""
        return True

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit, over its rank, the users whom it and a document above it both satisfy.

        Among s tied documents another one stands above place j with chance (j − 1) / (s − 1).
        """
        worth, limit, blocks = gains(self.gain, self.rel, hits.grade), self.limit(hits), hits.blocks
        above, beside = self._shared(hits, worth)
        ahead = 1.0 / np.maximum(blocks.size - 1, 1)

        def chance(rank: Ints, block: Ints | slice) -> Floats:
            return (rank - blocks.first[block]) * ahead[block] / rank

        share = hits.discounted(worth + above, lambda rank: rank.astype(np.float64), limit)
        share = share + beside * hits.over_places(chance, limit)
        return Contributions(share, hits.ideal.total(gains(self.gain, self.rel, hits.ideal.grade)))

    @property
    def bounds_by(self) -> str:
        """Add average precisions up, one for each threshold."""
        return "multisets"

    def _shared(self, hits: Hits, worth: Floats) -> tuple[Floats, Floats]:
        """Add min(Γ, Γ) over the hits in blocks above, and over the others in the hit's own block.

        Level by level: a level that a query has nothing of adds exact zeros, so its bits do not
        depend on the queries it is measured with.
        """
        of_hit = hits.blocks.of_hit
        above, beside = np.zeros(len(worth)), np.zeros(len(worth))
        for level in np.unique(worth[worth > 0]):
            here, better = worth == level, worth >= level
            for mask, takes in ((here, worth > level), (better, here)):
                above += np.where(takes, level * hits.earlier(mask)[of_hit], 0.0)
                beside += np.where(takes, level * (hits.inside(mask)[of_hit] - mask), 0.0)
        return above, beside
