"""Evidently's ranking metrics, which place tied items at the middle of their block, rounded down.

Of three tied items each stands at rank 2 and none at 1 or 3.  Where nothing is tied, all but average
precision and average recall are what their names say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.hits.pairs import ragged_range
from rankstone.measures.base import Contributions
from rankstone.measures.dcg import nDCG
from rankstone.measures.named import Card, parameter
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["MAP", "MAR", "MRR", "NDCG", "FBetaTopK", "HitRate", "PrecisionTopK", "RecallTopK"]

_CITATION: Final = "Evidently 0.7.23"
_RANK: Final = "m_d: the middle of the tie block of item d, rounded down (its rank where nothing is tied)"
_TIES: Final = "ties: items of one block stand at one rank, and the ranks beside it are empty"
_USE: Final = "to read Evidently's numbers"


def middle(hits: Hits) -> Ints:
    """Return the rank each hit is given: the middle of its tie block, rounded down."""
    return (hits.first + hits.last) // 2


class Placed:
    """What holds of every measure that places items at the middle of their tie block."""

    @property
    def looks_deeper(self) -> bool:
        """Hold: an item below rank k may be placed above it."""
        return True

    @property
    def closed_under_ties(self) -> bool:
        """Fail: ties are settled by the rule that is replayed."""
        return False


@dataclass(frozen=True, kw_only=True)
class ByMiddle(Placed, BinaryMeasure):
    """A measure over items that stand at the middle of their tie block."""

    family: ClassVar[str] = "binary"

    def inside(self, hits: Hits) -> Bools:
        """Return which relevant hits are placed down to k."""
        found: Bools = hits.relevant(self.rel) & (middle(hits) <= (self.k or math.inf))
        return found

    def first(self, hits: Hits) -> Bools:
        """Return the first relevant hit of each query, if it is placed down to k."""
        found: Bools = self.inside(hits) & (hits.running_count(hits.relevant(self.rel)) == 1)
        return found

    def shown(self, hits: Hits) -> Floats:
        """Return min(n, k), at least 1."""
        shown = hits.n if self.k is None else np.minimum(hits.n, self.k)
        return np.maximum(shown, 1).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class PrecisionTopK(ByMiddle):
    """Precision of the items placed down to k.

    >>> print(PrecisionTopK(k=5))
    PrecisionTopK@5
    """

    name: ClassVar[str] = "PrecisionTopK"
    card: ClassVar[Card] = Card(
        sentence="Of the first k results, how many are relevant?",
        formula="PrecisionTopK@k = #{relevant d : m_d ≤ k} / min(k, n)",
        symbols=f"{_RANK}; n: items of the user",
        example="two relevant items tied at the top, k = 1: both stand at rank 1, 2/1",
        span=(0.0, None),
        sensitive=_TIES,
        use=_USE,
        citation=_CITATION,
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits; divide by what is shown."""
        return Contributions(self.inside(hits).astype(np.float64), self.shown(hits))


@dataclass(frozen=True, kw_only=True)
class RecallTopK(ByMiddle):
    """Recall of the items placed down to k.

    >>> print(RecallTopK(k=5))
    RecallTopK@5
    """

    name: ClassVar[str] = "RecallTopK"
    card: ClassVar[Card] = Card(
        sentence="Of the relevant items among a user's rows, how many are among the first k?",
        formula="RecallTopK@k = #{relevant d : m_d ≤ k} / R",
        symbols=f"{_RANK}; R: relevant items of the user",
        example="three items tied, two of them relevant: 0 at k = 1, 2/2 at k = 2",
        sensitive=_TIES,
        use=_USE,
        citation=_CITATION,
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits; divide by R."""
        return Contributions(
            self.inside(hits).astype(np.float64), hits.relevant_count(self.rel).astype(np.float64)
        )


@dataclass(frozen=True, kw_only=True)
class FBetaTopK(PrecisionTopK):
    """F of the mean precision and the mean recall of all users.

    >>> print(FBetaTopK(k=5))
    FBetaTopK@5
    """

    name: ClassVar[str] = "FBetaTopK"
    card: ClassVar[Card] = replace(
        PrecisionTopK.card,
        sentence="Mean precision and mean recall of the first k results in one number.",
        formula="FBetaTopK@k = 2 P R / (P + R),  P, R: PrecisionTopK@k and RecallTopK@k, averaged over users",
        example="precision 1 and ½, recall ½ and ½: P = ¾, R = ½, 2 · ¾ · ½ / (¾ + ½) = 3/5",
        use=f"{_USE}; it has no value for one user: what is told of each is the precision",
    )

    def query_weights(self, hits: Hits) -> Floats:
        """Return the recall of each query, which aggregation needs beside the precision."""
        relevant = hits.relevant_count(self.rel)
        return hits.count(self.inside(hits)) / np.maximum(relevant, 1)

    def aggregate(self, value: Floats, weight: Floats, numerator: Floats, denominator: Floats) -> float:
        """Average precision and recall; return their harmonic mean."""
        precision = super().aggregate(value, weight, numerator, denominator)
        recall = super().aggregate(weight, weight, numerator, denominator)
        return 2 * precision * recall / (precision + recall) if precision + recall else math.nan


@dataclass(frozen=True, kw_only=True)
class MRR(ByMiddle):
    """Reciprocal rank of the first relevant item.

    >>> print(MRR(k=5))
    MRR@5
    """

    name: ClassVar[str] = "MRR"
    card: ClassVar[Card] = replace(
        RecallTopK.card,
        sentence="How far down is the first relevant item?",
        formula="MRR@k = 1 / min{m_d ≤ k : d relevant}, 0 if there is none",
        symbols=_RANK,
        example="three items tied, one of them relevant: 1/2",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give the first relevant hit one over its place."""
        return Contributions(np.where(self.first(hits), 1.0 / middle(hits), 0.0), np.ones(hits.queries))


@dataclass(frozen=True, kw_only=True)
class HitRate(ByMiddle):
    """Whether a relevant item is placed down to k.

    >>> print(HitRate(k=5))
    HitRate@5
    """

    name: ClassVar[str] = "HitRate"
    card: ClassVar[Card] = replace(
        MRR.card,
        sentence="Is at least one of the first k items relevant?",
        formula="HitRate@k = 1 if some relevant d has m_d ≤ k, else 0",
        example="three items tied, all of them relevant: 0 at k = 1, 1 at k = 2",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give the first relevant hit 1."""
        return Contributions(self.first(hits).astype(np.float64), np.ones(hits.queries))


@dataclass(frozen=True, kw_only=True)
class MAP(ByMiddle):
    """Precision at every rank of whose items the last row is relevant, and that again below the list.

    >>> print(MAP(k=5))
    MAP@5
    """

    name: ClassVar[str] = "MAP"
    family: ClassVar[str] = "average precision"
    card: ClassVar[Card] = Card(
        sentence="How early do the relevant items come, the last item of a short list counting to rank k?",
        formula="MAP@k = (1/R) Σ_{i ≤ k} l_i h_i / min(i, n)",
        symbols=f"h_i: relevant items with m_d ≤ i; l_i: 1 if the last row of all with m_d ≤ i is relevant; "
        f"n, R: items of the user, and relevant ones. {_RANK}",
        example="one item, relevant; k = 3: (1 + 1 + 1) / 1 = 3, as rank 1 is counted again at 2 and 3",
        span=(0.0, None),
        sensitive=f"lists shorter than k, which score above 1; {_TIES}",
        use=f"{_USE}; AP@k where no list is shorter than k and nothing is tied",
        citation=_CITATION,
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give the last hit of each place, where it is relevant, all ranks down to the next place."""
        relevant, place = hits.relevant(self.rel), middle(hits)
        closing = np.flatnonzero(hits.rank == hits.last)
        query, start = hits.query[closing], place[closing]
        depth = np.full(len(closing), int(hits.n.max(initial=0)) if self.k is None else self.k)
        same = query[1:] == query[:-1]
        depth[:-1] = np.where(same, np.minimum(depth[:-1], start[1:] - 1), depth[:-1])
        lengths = np.where(relevant[closing], np.maximum(depth - start + 1, 0), 0)
        ranks, at = ragged_range(start, lengths), np.repeat(np.arange(len(closing)), lengths)
        known = self.known(hits, relevant)[closing]
        shares = np.zeros(len(hits.rank))
        shares[closing] = np.bincount(at, self.worth(hits, known[at], ranks, query[at]), len(closing))
        return Contributions(shares, hits.relevant_count(self.rel).astype(np.float64))

    def known(self, hits: Hits, relevant: Bools) -> Ints:
        """Count the relevant hits down to each hit."""
        return hits.running_count(relevant)

    def worth(self, hits: Hits, found: Ints, rank: Ints, query: Ints) -> Floats:
        """Return the precision at ranks."""
        return found / np.minimum(rank, hits.n[query])


@dataclass(frozen=True, kw_only=True)
class MAR(MAP):
    """Recall at every rank of whose items the last row is relevant, and that again below the list.

    >>> print(MAR(k=5))
    MAR@5
    """

    name: ClassVar[str] = "MAR"
    card: ClassVar[Card] = replace(
        MAP.card,
        sentence="What is the recall at the relevant items, the last of a short list counting to rank k?",
        formula="MAR@k = (1/R) Σ_{i ≤ k} l_i h_i / R",
        example="relevant at ranks 1 and 3, R = 2, k = 3: (1/2 + 2/2) / 2 = 3/4",
        use=_USE,
    )

    def worth(self, hits: Hits, found: Ints, rank: Ints, query: Ints) -> Floats:  # noqa: ARG002 - ranks are all alike
        """Return the recall at ranks."""
        return found / hits.relevant_count(self.rel)[query]


@dataclass(frozen=True, kw_only=True)
class NDCG(Placed, nDCG):
    """nDCG of items that stand at the middle of their tie block.

    >>> print(NDCG(k=5))
    NDCG@5
    """

    name: ClassVar[str] = "NDCG"
    aliases: ClassVar[tuple[str, ...]] = ()
    card: ClassVar[Card] = Card(
        sentence="How close does the list come to the ideal order of a user's rows?",
        formula="NDCG@k = (1 / IDCG@k) Σ_{d : m_d ≤ k} g_d / log2(m_d + 1)",
        symbols=f"g_d: the grade of d; IDCG@k: the same of the rows in the ideal order, untied. {_RANK}",
        example="three items tied, one of them relevant, k = 3: 1 / log2(3) = 0.6309",
        span=(0.0, None),
        sensitive=_TIES,
        use=_USE,
        citation=_CITATION,
    )

    gain: str = parameter("linear", "what a grade is worth", "linear")

    def discounted(self, hits: Hits) -> Floats:
        """Return the discounted gains of hits placed down to k."""
        place = middle(hits)
        shares: Floats = self.worth(hits.grade) / self.divisor(place)
        return shares if self.k is None else np.where(place <= self.k, shares, 0.0)
