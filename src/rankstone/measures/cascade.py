"""The cascade: a user who reads until satisfied, and the rank at which that happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.arrays import before, descending_within
from rankstone.hits.ideal import Ideal
from rankstone.measures.base import Contributions
from rankstone.measures.named import Card, parameter
from rankstone.measures.parts import GainTable
from rankstone.measures.unit_gain import SHARES, WORTH, UnitGain

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["ERR", "nERR"]


@dataclass(frozen=True, kw_only=True)
class ERR(UnitGain):
    """Expected reciprocal rank: one over the rank at which a reader of the cascade is satisfied.

    >>> print(ERR(max_grade=4, k=20))
    ERR(max_grade=4)@20
    """

    name: ClassVar[str] = "ERR"
    family: ClassVar[str] = "user models"
    aliases: ClassVar[tuple[str, ...]] = ("ExpectedReciprocalRank",)
    examples: ClassVar[tuple[str, ...]] = ("ERR(max_grade=4)@20", "ERR(gain=linear_plus1, max_grade=3)")
    card: ClassVar[Card] = Card(
        sentence="How early is a reader satisfied who stops at the first good enough document?",
        formula="ERR@k = Σ_{i ≤ k} (1/i) · R_i · Π_{j < i} (1 − R_j),  R_i = (2^{g_i} − 1) / 2^m",
        symbols="g_i: grade at rank i; R_i: chance that it satisfies; m: max_grade, the top of the scale",
        example="grades 3, 2 of 0 … 3: R = 7/8, 3/8: ERR = 7/8 + 1/2 · 3/8 · 1/8 = 115/128",
        needs="judgments, the top of the grade scale",
        peers={
            "gdeval, ir_measures ERR@k": "ERR(max_grade=4)@k, to five decimals; a grade above 4 ends gdeval",
            "pyNTCIREVAL": "ERR(gain=linear_plus1, max_grade=m)",
            "RankLib": "ERR(max_grade=4)@k",
            "CatBoost ERR": "takes the label itself for R: ERR(gain=linear, max_grade=1)",
        },
        sensitive="ties, unjudged documents (satisfy nobody), the top of the scale; hardly to depth",
        use="few good answers are wanted: one top document almost settles it; the scale moves the number, so "
        "it is part of the name",
        scale="no equal steps: it falls with one over the rank of the answer, as RR does",
        citation="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009",
    )

    gain: str | GainTable = parameter("exp2", WORTH, SHARES)

    @property
    def closed_under_ties(self) -> bool:
        """Fail: the mean over orders of a product is not worked out."""
        return False

    @property
    def grows_with_k(self) -> bool:
        """Hold: shares are added up."""
        return True

    @property
    def bounds_by(self) -> str:
        """Move with every grade: what satisfies here is worth 1/i, what it takes away below less."""
        return "uniform"

    @property
    def deeper_grades_matter(self) -> bool:
        """Fail: nothing below the cutoff is counted."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit the chance that it is the one that satisfies, over its rank."""
        satisfies = self.gains_of(hits)
        hits.tell(
            satisfies=satisfies,
            reached=lambda: before(np.multiply, 1.0 - satisfies, np.diff(hits.offsets), 1.0),
        )
        share = satisfied(satisfies, hits.rank, np.diff(hits.offsets))
        return Contributions(share, np.ones(hits.queries))


@dataclass(frozen=True, kw_only=True)
class nERR(ERR):  # noqa: N801 - the name of the field
    """Normalised ERR: ERR as a share of what the ideal order of the judged documents would reach.

    >>> print(nERR(max_grade=4, k=20))
    nERR(max_grade=4)@20
    """

    name: ClassVar[str] = "nERR"
    aliases: ClassVar[tuple[str, ...]] = ()
    examples: ClassVar[tuple[str, ...]] = ("nERR(max_grade=4)@20", "nERR(gain=linear_plus1, max_grade=3)")
    card: ClassVar[Card] = Card(
        sentence="How close does ERR come to that of the ideal order of everything judged?",
        formula="nERR@k = ERR@k / ERR@k(ideal)",
        symbols="ideal: all judged documents, best grade first, to depth k",
        example="grades 2, 3 of 0 … 3: ERR = 3/8 + 1/2 · 7/8 · 5/8 = 83/128, ideal 115/128: nERR = 83/115",
        needs="judgments, the top of the grade scale",
        peers={"pyNTCIREVAL nERR@k": "nERR(gain=linear_plus1, max_grade=m)@k"},
        sensitive="ties, unjudged documents (satisfy nobody), the top of the scale",
        use="to average over queries of which some have no top document",
        citation="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; Sakai and Song, SIGIR 2011",
    )

    @property
    def grows_with_k(self) -> bool:
        """Fail: the ideal list grows, too."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Divide by the ERR of the ideal list."""
        ideal = hits.ideal
        worth = self.worth(ideal.grade)
        if isinstance(self.gain, GainTable):
            worth = descending_within(ideal.query, worth)
        shares = satisfied(worth, ideal.rank, np.diff(ideal.offsets))
        if self.k is not None:
            shares = np.where(ideal.rank <= self.k, shares, 0.0)
        hits.tell_ideal(Ideal(ideal.offsets, worth), contribution=shares)
        return Contributions(super().contributions(hits).hits, ideal.total(shares))

    @property
    def bounds_by(self) -> str:
        """Grow as better documents move up, where the ideal list is the same."""
        return "enumeration" if isinstance(self.gain, GainTable) else "multisets"

    @property
    def deeper_grades_matter(self) -> bool:
        """Hold: they are in the ideal list."""
        return True


def satisfied(satisfies: Floats, rank: Ints, lengths: Ints) -> Floats:
    """Return the chance that a reader is satisfied here and not before, over the rank.

    Parameters
    ----------
    satisfies
        float64 ``[hits]``: chance that each document satisfies.
    rank
        int64 ``[hits]``: ascending within each list.
    lengths
        int64 ``[lists]``: hits of each list.
    """
    share: Floats = satisfies * before(np.multiply, 1.0 - satisfies, lengths, 1.0) / rank
    return share
