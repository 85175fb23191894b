"""The cascade model: a user reads until satisfied; ERR is the expected reciprocal rank of that document.

The four C/W/L measures nearest to ERR are named after their equations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.list_arrays import Ideal, before, descending_within
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.gains_and_discounts import GainTable
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import SHARES, WORTH, UnitGain
from rankstone.measures.cwl import EU, GAIN, TOOLS, OpenWalk, UserModel

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.claims import Claims


@dataclass(frozen=True, kw_only=True)
class ERR(UnitGain, family="user models"):
    """Expected reciprocal rank: one over the rank at which a reader of the cascade is satisfied.

    >>> print(ERR(max_grade=4, k=20))
    ERR(max_grade=4)@20
    """

    aliases: ClassVar[tuple[str, ...]] = ("ExpectedReciprocalRank",)
    examples = ("ERR(max_grade=4)@20", "ERR(gain=linear_plus1, max_grade=3)")
    card = Card(
        sentence="How early is a reader satisfied who stops at the first good enough document?",
        formula="ERR@k = Σ_{i ≤ k} (1/i) · R_i · Π_{j < i} (1 − R_j),  R_i = (2^{g_i} − 1) / 2^m",
        symbols="g_i: grade at rank i; R_i: probability that it satisfies; m: max_grade, the largest grade",
        example="grades 3, 2 of 0 … 3: R = 7/8, 3/8: ERR = 7/8 + 1/2 · 3/8 · 1/8 = 115/128",
        needs="judgments, the top of the grade scale",
        peers={
            "gdeval, ir_measures ERR@k": "ERR(max_grade=4)@k, to five decimals; a grade above 4 ends gdeval",
            "pyNTCIREVAL": "ERR(gain=linear_plus1, max_grade=m)",
            "RankLib": "ERR(max_grade=4)@k",
            "CatBoost ERR": "takes the label itself for R: ERR(gain=linear, max_grade=1)",
        },
        sensitive="ties, unjudged documents (satisfy no user), the top of the scale; hardly to depth",
        use="when one good answer is nearly enough; the scale changes the number, so it is part of the name",
        scale="no equal steps: it falls with one over the rank of the answer, as RR does",
        citation="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009",
    )

    gain: str | GainTable = parameter("exp2", WORTH, SHARES)

    @property
    def claims(self) -> Claims:
        """The sum of chances over ranks: a gain adds 1/i, and takes less away below."""
        return replace(
            super().claims,
            closed_under_ties=False,
            grows_with_k=True,
            bounds_by="uniform",
            deeper_grades_matter=False,
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit the probability that the user is satisfied there, over its rank."""
        satisfies = self.gains_of(hits)
        hits.record_columns(
            satisfies=satisfies,
            reached=lambda: before(
                np.multiply, 1.0 - satisfies, np.diff(hits.offsets), 1.0
            ),
        )
        share = satisfied_at(satisfies, hits.rank, np.diff(hits.offsets))
        return Contributions(share, np.ones(hits.queries))


class nERR(ERR):  # noqa: N801 - the name of the field
    """Normalised ERR: ERR as a share of what the ideal order of the judged documents would reach.

    >>> print(nERR(max_grade=4, k=20))
    nERR(max_grade=4)@20
    """

    aliases = ()
    examples = ("nERR(max_grade=4)@20", "nERR(gain=linear_plus1, max_grade=3)")
    card = Card(
        sentence="How close does ERR come to that of the ideal order of everything judged?",
        formula="nERR@k = ERR@k / ERR@k(ideal)",
        symbols="ideal: all judged documents, best grade first, to depth k",
        example="grades 2, 3 of 0 … 3: ERR = 3/8 + 1/2 · 7/8 · 5/8 = 83/128, ideal 115/128: nERR = 83/115",
        needs="judgments, the top of the grade scale",
        peers={"pyNTCIREVAL nERR@k": "nERR(gain=linear_plus1, max_grade=m)@k"},
        sensitive="ties, unjudged documents (satisfy no user), the top of the scale",
        use="to average over queries of which some have no top document",
        citation="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; Sakai and Song, SIGIR 2011",
    )

    ideal_has_costs = True

    @property
    def claims(self) -> Claims:
        """As ERR, but the ideal list grows with k and contains documents below the cutoff."""
        rule = "enumeration" if isinstance(self.gain, GainTable) else "multisets"
        return replace(
            super().claims,
            grows_with_k=False,
            bounds_by=rule,
            deeper_grades_matter=True,
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Divide by the ERR of the ideal list."""
        ideal = hits.best_list
        worth = self.worth(ideal.grade)
        if isinstance(self.gain, GainTable):
            worth = descending_within(ideal.query, worth)
        shares = satisfied_at(worth, ideal.rank, np.diff(ideal.offsets))
        if self.k is not None:
            shares = np.where(ideal.rank <= self.k, shares, 0.0)
        hits.record_ideal(Ideal(ideal.offsets, worth), contribution=shares)
        return Contributions(super().contributions(hits).hits, ideal.total(shares))


def satisfied_at(satisfies: Floats, rank: Ints, lengths: Ints) -> Floats:
    """Return the probability that a reader is satisfied at a hit and not before, over the rank.

    Parameters
    ----------
    satisfies
        float64 ``[hits]``: probability that each document satisfies.
    rank
        int64 ``[hits]``: ascending within each list.
    lengths
        int64 ``[lists]``: hits of each list.
    """
    return satisfies * before(np.multiply, 1.0 - satisfies, lengths, 1.0) / rank


class NERR8(UserModel):
    """Nearly ERR, equation 8: a user whom only gains stop, at k ranks at most.

    >>> print(NERR8(max_grade=3, k=10))
    NERR8(max_grade=3)@10
    """

    examples = ("NERR8(max_grade=3)@10", "NERR8(gain=binary)@10")
    card = Card(
        sentence="What gain per rank has a user whom only good documents stop?",
        formula=f"{EU},  C(i) = 1 − g_i for i < k, 0 from there",
        symbols=GAIN,
        example="gains 0.5, 0, 1, k = 10: V = 1, 0.5, 0.5, 0: EU = (0.5 + 0.5) / 2 = 1/2",
        needs="judgments, the top of the grade scale, a cutoff",
        peers={
            TOOLS: "the same down to rank 1000, their deepest",
            "ERR": "is no C/W/L measure: 1/i is a gain there, here ranks are",
        },
        sensitive="ties, unjudged documents (gain 0), the top of the scale",
        use="ERR's cascade with a weight for every rank; binary gains make it reciprocal rank",
        citation="Azzopardi, Mackenzie and Moffat, ICTIR 2021",
    )


class NERR9(UserModel):
    """Nearly ERR, equation 9: gains and, less and less, ranks stop the user, at k ranks at most.

    >>> print(NERR9(max_grade=3, k=10))
    NERR9(max_grade=3)@10
    """

    examples = ("NERR9(max_grade=3)@10", "NERR9(gain=binary)@10")
    card = replace(
        NERR8.card,
        sentence="What gain per rank has a user whom good documents and depth stop?",
        formula=f"{EU},  C(i) = i / (i + 1) · (1 − g_i) for i < k, 0 from there",
        example="gains 0.5, 0, 1, k = 10: V = 1, 1/4, 1/6, 0: EU = (1/2 + 1/6) / (17/12) = 8/17",
        use="the C/W/L measure nearest to ERR: V has its 1/i",
    )


@dataclass(frozen=True, kw_only=True)
class NERR10(OpenWalk):
    """Nearly ERR, equation 10: RBP whose user good documents stop, too.

    >>> print(NERR10(max_grade=3, p=0.8))
    NERR10(max_grade=3, p=0.8)
    """

    examples = ("NERR10(max_grade=3)", "NERR10(gain=binary, p=0.8)")
    card = replace(
        NERR8.card,
        sentence="What gain per rank has a user of persistence p whom good documents stop?",
        formula=f"{EU},  C(i) = p (1 − g_i)",
        symbols=f"{GAIN}; p: persistence; ranks 1 … n_max",
        example="gains 0.5, 1; p = 0.8: V = 1, 0.4, 0: EU = (0.5 + 0.4) / 1.4 = 9/14",
        needs="judgments, the top of the grade scale",
        use="RBP with ERR's cascade",
    )

    p: float = parameter(
        0.9, "probability to go on from a rank without a gain", above=0.0, below=1.0
    )


@dataclass(frozen=True, kw_only=True)
class NERR11(OpenWalk):
    """Nearly ERR, equation 11: INSQ whose user good documents stop, too.

    >>> print(NERR11(max_grade=3))
    NERR11(max_grade=3)
    """

    examples = ("NERR11(max_grade=3)", "NERR11(gain=binary, T=2)")
    card = replace(
        NERR8.card,
        sentence="What gain per rank has a user who came for about T documents and whom good ones stop?",
        formula=f"{EU},  C(i) = ((i + 2T − 1) / (i + 2T))² (1 − g_i)",
        symbols=f"{GAIN}; T: useful documents the user hopes for; ranks 1 … n_max",
        example="gains 0.5, 1; T = 1: V = 1, 2/9, 0: EU = (1/2 + 2/9) / (11/9) = 13/22",
        needs="judgments, the top of the grade scale",
        use="INSQ with ERR's cascade",
    )

    T: float = parameter(1.0, "useful documents the user hopes for", above=0.0)
