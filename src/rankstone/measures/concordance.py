"""Agreement of a ranking with the ideal order, pair by pair: RC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.measures.base import Contributions, Measure, Status
from rankstone.measures.ideal_orders import best_ideal
from rankstone.measures.named import Card, parameter
from rankstone.measures.parts import divisors
from rankstone.measures.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["RC"]

#: what a place weighs: the weight of a pair is the sum or the product of two of these
WEIGHTS: Final = ("uniform", "log2", "hyperbolic", "sqrt", "square", "cube", "geometric")
#: weights that fall slowly enough for two neighbours to be exchanged without regard to those above
_STEADY: Final = {
    "add": ("uniform", "log2", "hyperbolic", "sqrt", "square"),
    "multiply": ("log2", "sqrt"),
}


@dataclass(frozen=True, kw_only=True)
class RC(Measure):
    """Rank correlation: the share of pairs that the ranking orders as the nearest ideal order does.

    >>> print(RC(weight="hyperbolic", weight_on="ideal"))
    RC(weight=hyperbolic, weight_on=ideal)
    """

    name: ClassVar[str] = "RC"
    family: ClassVar[str] = "pairs"
    aliases: ClassVar[tuple[str, ...]] = ("RankCorrelation",)
    takes_cutoff: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False
    zero_norm: ClassVar[Status] = Status.undefined
    examples: ClassVar[tuple[str, ...]] = (
        "RC",
        "RC(ties=drop)",
        "RC(weight=hyperbolic)",
        "RC(weight=log2, combine=multiply)",
        "RC(weight=log2, combine=multiply, ties=drop)",
        "RC(weight=hyperbolic, weight_on=ideal)",
        "RC(weight=geometric, p=0.5, weight_on=ideal, combine=multiply)",
    )
    card: ClassVar[Card] = Card(
        sentence="How many pairs of documents does the ranking order as the ideal order nearest to it?",
        formula="RC = max_σ Σ_{u<v} w_uv (1 + sgn((π_u − π_v)(σ_u − σ_v))) / (2 Σ_{u<v} w_uv)",
        symbols="u, v: judged documents of the list; π: their places in it; σ: their places in an ideal "
        "order, best grade first, equal grades in any order; w_uv: 1, or f(i) + f(j) (combine=add), "
        "f(i) f(j) (multiply) for places i, j in π (weight_on=model) or in σ (ideal); f(i): log2 "
        "1/log2(i + 1), hyperbolic 1/i, sqrt 1/√i, square 1/i², cube 1/i³, geometric p^(i−1)",
        example="relevant, not, relevant: of 3 pairs one is in the wrong order, RC = 2/3; ties=drop leaves 2 "
        "pairs of unequal grade: 1/2",
        needs="judgments with at least two grades; documents nobody judged take no part",
        undefined="fewer than two judged documents in the list (ties=drop: of unequal grades): no value, "
        "counted as undefined. All grades equal: 1. A query the run does not answer scores 0. Where the best "
        "σ was searched for and not proven (weight_on=ideal), the status is lower_bound",
        peers={
            "Kendall's tau_a": "2 RC − 1, where all grades differ",
            "scikit-learn roc_auc_score": "RC(ties=drop) of two grades; RC = 1 − (1 − AUC) 2 R N / (n (n−1))",
            "scipy weightedtau": "2 RC − 1 with weight=hyperbolic and the places as rank, where all grades "
            "differ",
            "TF-Ranking OPAMetric": "RC(ties=drop) of one list; a tied pair counts nothing",
        },
        sensitive="which documents are judged, and no others. Tied documents count as the mean over their "
        "orders, whatever the alignment's ties says (weight_on=ideal: a tied pair of unequal grade counts "
        "one half)",
        use="learning to rank with fully labelled lists; a pair at the bottom counts as much as one at the "
        "top unless `weight` says otherwise",
        scale="within a query a step is a weight of pairs, the same anywhere; it starts above 0 unless "
        "ties=drop",
        citation="Liu, Learning to Rank for Information Retrieval, 2009; Kendall, Biometrika 1938; Vigna, "
        "WWW 2015",
    )

    weight: str = parameter("uniform", "what the place of a document weighs", *WEIGHTS)
    p: float | None = parameter(None, "persistence of weight=geometric, below 1", above=0.0)
    weight_on: str = parameter("model", "places in the ranking, or in the ideal order", "model", "ideal")
    combine: str = parameter("add", "what makes two weights the weight of a pair", "add", "multiply")
    ties: str = parameter("max", "pairs of equal grade: ideal as they are, or left out", "max", "drop")

    def __post_init__(self) -> None:
        """Refuse parameters that do not go together."""
        super().__post_init__()
        if (self.weight == "geometric") != (self.p is not None):
            raise BadParameter(
                "RC: weight=geometric and p go together", fix="write RC(weight=geometric, p=0.8)"
            )
        if self.p is not None and self.p >= 1:
            raise BadParameter(f"RC: p={self.p:g} is out of range", expected="0 < p < 1")
        if self.weight == "uniform" and (self.weight_on, self.combine) != ("model", "add"):
            raise BadParameter(
                "RC: weight=uniform weighs no place", fix="name one: weight=hyperbolic, weight=log2, …"
            )
        if self.weight_on == "ideal" and self.ties == "drop":
            raise BadParameter(
                "RC(weight_on=ideal) needs the pairs of equal grade: they decide where the ideal order puts "
                "each document",
                fix="use ties=max, or weight_on=model",
            )

    @property
    def closed_under_ties(self) -> bool:
        """Hold where the weight of a place, its mean over a tie block, enters once and undivided."""
        return self.weight == "uniform" or (
            (self.weight_on, self.combine, self.ties) == ("model", "add", "max")
        )

    @property
    def extremal_under_ties(self) -> bool:
        """Fail: tied documents count as the mean over their orders."""
        return False

    @property
    def proven_orders(self) -> frozenset[str]:
        """Best first, which is an ideal order; worst first, where moving a better document down never wins.

        It loses the pair itself, and wins of every document above at most the difference of two weights, as
        in :func:`~rankstone.measures.ideal_orders.exchange_never_loses`.
        """
        steady = self.weight in _STEADY[self.combine] and self.weight_on == "model"
        lowest = steady or (self.ties == "drop" and self.weight_on == "model")  # all pairs wrong: 0
        return frozenset({"best", "worst"} if lowest else {"best"})

    @property
    def promotion_helps(self) -> bool:
        """Hold unless the promoted document changes what pairs weigh, or which are left out."""
        return self.weight == "uniform"

    def of_place(self, place: Ints) -> Floats:
        """Return f of places from 1."""
        i = place.astype(np.float64)
        if self.weight == "geometric":
            return np.power(float(self.p or 0), i - 1)
        if self.weight == "log2":
            return 1.0 / divisors("log2", place)
        power = {"uniform": 0.0, "hyperbolic": 1.0, "sqrt": 0.5, "square": 2.0, "cube": 3.0}[self.weight]
        weight: Floats = i**-power
        return weight

    def _tell(self, hits: Hits, standing: Standing, weight: Floats) -> None:
        """Tell where each document stands, in the list and in the ideal order, and how its pairs stand."""
        drop = self.ties == "drop"

        def of_hits(values: Any) -> Callable[[], Any]:  # noqa: ANN401 - arrays in the order of `standing`
            def arranged() -> Any:  # noqa: ANN401 - the same in the order of hits
                own = values() if callable(values) else values
                return np.broadcast_to(own, len(weight))[np.argsort(standing.hit)]

            return arranged

        hits.tell(
            ideal_place=of_hits(lambda: standing.ideal + 1),
            weight=of_hits(weight),
            pairs_right=of_hits(lambda: standing.kept(drop=drop)),
            pairs_wrong=of_hits(
                lambda: standing.size - (standing.alike if drop else 1) - standing.kept(drop=drop)
            ),
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit its share in the pairs that are in the right order.

        That is its weight times the others it is right with (combine=multiply: times their weights); norm is
        the same over all pairs.  So every pair counts from both its sides.
        """
        standing, bounded, drop = Standing.of(hits), None, self.ties == "drop"
        if self.weight_on == "ideal":
            longest = int(np.diff(hits.offsets).max(initial=0))
            ideal, bounded = best_ideal(standing, self.of_place(np.arange(1, longest + 1)), self.combine)
            standing = standing if ideal is None else standing.with_ideal(ideal)
            weight = self.of_place(standing.ideal + 1)
        else:
            weight = standing.mean_in_block(self.of_place(standing.place + 1))
        if self.combine == "add":
            shares = weight * standing.kept(drop=drop)
            against = standing.size - (standing.alike if drop else 1)
            norm = hits.total(weight * against)
        else:
            shares = weight * standing.kept_weight(weight, drop=drop)
            norm = standing.weight_of_pairs(weight, drop=drop)
        self._tell(hits, standing, weight)
        of_hit = np.empty(len(shares))
        of_hit[standing.hit] = shares
        return Contributions(of_hit, np.where(hits.found, norm, 1.0), bounded=bounded)
