"""Rank-biased precision, and its residual: how much unjudged documents could add."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from rankstone.measures import user_walks
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import SHARES, WORTH, UnitGain

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.claims import Claims
    from rankstone.measures.core.gains_and_discounts import GainTable
    from rankstone.measures.user_walks import User

_USER: Final = user_walks.RBP()


@dataclass(frozen=True, kw_only=True)
class RBP(UnitGain, family="user models"):
    """Rank-biased precision: the gain per rank of a user who goes on with probability p at every rank.

    >>> print(RBP(p=0.8))
    RBP(p=0.8)
    """

    aliases = ("RankBiasedPrecision",)
    examples = ("RBP(p=0.8)", "RBP(gain=linear, max_grade=3, p=0.95)")
    card = Card(
        sentence="What gain per rank has a user who goes on to the next rank with probability p?",
        formula="RBP = (1 − p) Σ_i g_i p^(i − 1)",
        symbols="g_i: 1 if the document at rank i is relevant, or as `gain` says; p: persistence",
        example="relevant at ranks 1 and 3, p = 0.5: RBP = 0.5 · (1 + 0.25) = 0.625",
        peers={
            "ir_measures RBP(p, rel)": "the same over 1000 ranks: it is this over 1 − p^1000",
            "pyNTCIREVAL": "RBP(gain=linear, max_grade=m, p=…)",
            "LensKit": "divides by the weights of the list, or of what is achievable with normalize",
            "ranx rbp": "takes the grade for the gain and may exceed 1",
            "trec_eval 10 rbp": "rescales gains outside [0, 1] by bounds that are not initialised",
        },
        sensitive="ties, unjudged documents (gain 0): RBP_residual is how much they could add",
        use="always with the residual; p = 0.5 is an impatient user, 0.8 looks at 5 ranks, 0.95 at 20",
        scale="expected gain per document looked at: equal steps if p describes users; for p = 1/2 every"
        " list of relevant or not has a different value",
        citation="Moffat and Zobel, TOIS 2008",
    )

    gain: str | GainTable = parameter("binary", WORTH, SHARES)
    p: float = parameter(
        None, "persistence", above=0.0, below=1.0, needed="no default: write RBP(p=0.8)"
    )

    @property
    def claims(self) -> Claims:
        """A sum of gains; ranks below the cutoff do not count."""
        return replace(
            super().claims,
            grows_with_k=True,
            bounds_by="additive",
            deeper_grades_matter=False,
        )

    def weight(self, rank: Ints) -> Floats:
        """Return the probability that a rank is examined, by the user model of the same name."""
        return _USER.weight(cast("User", self), rank)

    def contributions(self, hits: Hits) -> Contributions:
        """Weight each gain with the probability that its rank is examined; divide by the ranks examined."""
        ranks = np.full(hits.queries, 1.0 / (1.0 - self.p))
        return Contributions(
            self.gains_of(hits) * hits.at_rank(self.weight, self.k), ranks
        )


class RBP_residual(RBP):  # noqa: N801 - the name of trec_eval
    """What RBP would gain if all unjudged and unretrieved documents had the largest gain.

    >>> print(RBP_residual(p=0.8))
    RBP_residual(p=0.8)
    """

    needs_relevant = False
    aliases = ("rbp_resid",)
    examples = ("RBP_residual(p=0.8)", "RBP_residual(p=0.8)@10")
    card = Card(
        sentence="How much higher could RBP be, given what is judged and retrieved?",
        formula="residual@k = (1 − p) Σ_{i ≤ m, unjudged} p^(i − 1) + p^m,  m = min(k, n)",
        symbols="p: persistence; n: length of the list; p^m: the weight of all ranks below it; where the "
        "largest gain is t < 1 (gain=exp2), t times as much",
        example="judged, unjudged, judged; p = 0.5: 0.5 · 0.5 + 0.125 = 0.375",
        direction="lower",
        undefined="never",
        peers={
            "trec_eval 10 rbp_resid": "0 as soon as nothing is unjudged, although the tail p^n remains",
            "cwl_eval ResEU": "the same over 1000 ranks: CWL(model=RBP, output=ResEU, p=…)",
        },
        sensitive="unjudged documents and depth: it measures them",
        use="together with RBP; overlapping intervals [RBP, RBP + residual] do not distinguish systems",
        citation="Moffat and Zobel, TOIS 2008",
    )

    @property
    def claims(self) -> Claims:
        """A judged document that moves up lowers the residual, whatever its grade."""
        return replace(
            super().claims,
            extremal_under_ties=False,
            promotion_helps=False,
            grows_with_k=False,
            bounds_by="nothing",
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Add the weights of ranks without a judged hit, and what imputed gains lack to the largest gain."""
        top = self.top
        ranks = np.full(hits.queries, 1.0 / (1.0 - self.p))
        lacks = np.where(hits.judged, 0.0, top - self.gains_of(hits))
        unknown = top * hits.vacant(
            lambda rank: self.weight(rank + 1) / (1.0 - self.p), self.k
        )
        return Contributions(
            lacks * hits.at_rank(self.weight, self.k), ranks, unjudged=unknown
        )
