"""Agreement of a ranking with an ideal order: pair by pair (RC), and as overlap of the two lists (Compat)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.measures.core.claims import BEST, BEST_AND_WORST, Claims
from rankstone.measures.core.definition import ANY_GAIN, Card, parameter
from rankstone.measures.core.gains_and_discounts import check_persistence, divisors
from rankstone.measures.core.measure import Contributions, Measure, OfWholeLists
from rankstone.measures.ideal_orders import best_ideal
from rankstone.measures.order_comparison import OrderComparison

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits


#: weights of places; the weight of a pair is the sum or the product of two of these
WEIGHTS: Final = (
    "uniform",
    "log2",
    "hyperbolic",
    "sqrt",
    "square",
    "cube",
    "geometric",
)
#: weights that fall slowly enough for two neighbours to be exchanged without regard to documents above
_STEADY: Final = {
    "add": ("uniform", "log2", "hyperbolic", "sqrt", "square"),
    "multiply": ("log2", "sqrt"),
}


@dataclass(frozen=True, kw_only=True)
class RC(OfWholeLists, Measure, family="pairs"):
    """Rank correlation: the share of pairs that the ranking orders as the nearest ideal order does.

    >>> print(RC(weight="hyperbolic", weight_on="ideal"))
    RC(weight=hyperbolic, weight_on=ideal)
    """

    aliases: ClassVar[tuple[str, ...]] = ("RankCorrelation",)
    examples = (
        "RC",
        "RC(ties=drop)",
        "RC(weight=hyperbolic)",
        "RC(weight=log2, combine=multiply)",
        "RC(weight=log2, combine=multiply, ties=drop)",
        "RC(weight=hyperbolic, weight_on=ideal)",
        "RC(weight=geometric, p=0.5, weight_on=ideal, combine=multiply)",
    )
    card = Card(
        sentence="How many pairs of documents does the ranking order as the ideal order nearest to it?",
        formula="RC = max_σ Σ_{u<v} w_uv (1 + sgn((π_u − π_v)(σ_u − σ_v))) / (2 Σ_{u<v} w_uv)",
        symbols="u, v: judged documents of the list; π: their places in it; σ: their places in an ideal "
        "order, best grade first, equal grades in any order; w_uv: 1, or f(i) + f(j) (combine=add), "
        "f(i) f(j) (multiply) for places i, j in π (weight_on=model) or in σ (ideal); f(i): log2 "
        "1/log2(i + 1), hyperbolic 1/i, sqrt 1/√i, square 1/i², cube 1/i³, geometric p^(i−1)",
        example="relevant, not, relevant: of 3 pairs one is in the wrong order, RC = 2/3; ties=drop leaves 2 "
        "pairs of unequal grade: 1/2",
        needs="judgments with at least two grades; unjudged documents are left out",
        undefined="fewer than two judged documents in the list (ties=drop: of unequal grades): no value, "
        "counted as undefined. All grades equal: 1. A query without a list scores 0. If the best "
        "σ was searched for and not proven (weight_on=ideal), the status is lower_bound",
        peers={
            "Kendall's tau_a": "2 RC − 1, where all grades differ",
            "scikit-learn roc_auc_score": "RC(ties=drop) of two grades; RC = 1 − (1 − AUC) 2 R N / (n (n−1))",
            "scipy weightedtau": "2 RC − 1 with weight=hyperbolic and the places as rank, where all grades "
            "differ",
            "TF-Ranking OPAMetric": "RC(ties=drop) of one list; a tied pair counts nothing",
        },
        sensitive="which documents are judged. Tied documents count as the mean over their "
        "orders, whatever the alignment option ties is (weight_on=ideal: a tied pair of unequal grade counts "
        "one half)",
        use="learning to rank with fully labelled lists; a pair at the bottom counts as much as one at the "
        "top unless `weight` says otherwise",
        scale="within a query a step is a weight of pairs, the same everywhere; it starts above 0 unless "
        "ties=drop",
        citation="Liu, Learning to Rank for Information Retrieval, 2009; Kendall, Biometrika 1938; Vigna, "
        "WWW 2015",
    )

    weight: str = parameter("uniform", "the weight of a place", *WEIGHTS)
    p: float | None = parameter(
        None, "persistence of weight=geometric", above=0.0, below=1.0
    )
    weight_on: str = parameter(
        "model", "places in the ranking, or in the ideal order", "model", "ideal"
    )
    combine: str = parameter(
        "add", "how two weights make that of a pair", "add", "multiply"
    )
    ties: str = parameter(
        "max", "pairs of equal grade: counted as right, or left out", "max", "drop"
    )

    def __post_init__(self) -> None:
        """Refuse parameters that do not go together."""
        super().__post_init__()
        check_persistence(self, "weight", self.p)
        if self.weight == "uniform" and (self.weight_on, self.combine) != (
            "model",
            "add",
        ):
            raise BadParameter(
                "RC: weight_on and combine need weights of places",
                fix="choose one: weight=hyperbolic, weight=log2, …",
            )
        if self.weight_on == "ideal" and self.ties == "drop":
            raise BadParameter(
                "RC(weight_on=ideal) needs the pairs of equal grade, which decide the place of each document "
                "in the ideal order",
                fix="use ties=max, or weight_on=model",
            )

    @property
    def claims(self) -> Claims:
        """With weights of places, an exchange of two documents changes other pairs, too."""
        uniform = self.weight == "uniform"
        by_model = self.weight_on == "model"
        lowest = by_model and (
            self.weight in _STEADY[self.combine] or self.ties == "drop"
        )
        return Claims(
            closed_under_ties=uniform
            or (by_model and (self.combine, self.ties) == ("add", "max")),
            extremal_under_ties=False,
            proven_extremes=BEST_AND_WORST if lowest else BEST,
            promotion_helps=uniform,
        )

    def place_weight(self, place: Ints) -> Floats:
        """Return f of places from 1."""
        i = place.astype(np.float64)
        if self.weight == "geometric":
            return np.power(float(self.p or 0), i - 1)
        if self.weight == "log2":
            return 1.0 / divisors("log2", place)
        power = {
            "uniform": 0.0,
            "hyperbolic": 1.0,
            "sqrt": 0.5,
            "square": 2.0,
            "cube": 3.0,
        }[self.weight]
        return i**-power

    def _record(self, hits: Hits, comparison: OrderComparison, weight: Floats) -> None:
        """Record the ideal place of each document, and its right and wrong pairs."""
        drop = self.ties == "drop"

        def of_hits(values: Any) -> Callable[[], Any]:  # noqa: ANN401 - arrays in the order of `comparison`
            def arranged() -> Any:  # noqa: ANN401 - the same in the order of hits
                made = values() if callable(values) else values
                return np.broadcast_to(made, len(weight))[np.argsort(comparison.hit)]

            return arranged

        hits.record_columns(
            ideal_place=of_hits(lambda: comparison.ideal + 1),
            weight=of_hits(weight),
            pairs_right=of_hits(lambda: comparison.right_pairs(drop=drop)),
            pairs_wrong=of_hits(
                lambda: (
                    comparison.size
                    - (comparison.same_grade if drop else 1)
                    - comparison.right_pairs(drop=drop)
                )
            ),
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit its weight times the number of hits in the right order with it.

        With combine=multiply, times the sum of their weights.  The norm is the same over all pairs, so every
        pair counts from both sides.
        """
        comparison = OrderComparison.of(hits)
        bounded = None
        drop = self.ties == "drop"
        if self.weight_on == "ideal":
            longest = int(np.diff(hits.offsets).max(initial=0))
            ideal, bounded = best_ideal(
                comparison, self.place_weight(np.arange(1, longest + 1)), self.combine
            )
            comparison = comparison if ideal is None else comparison.with_ideal(ideal)
            weight = self.place_weight(comparison.ideal + 1)
        else:
            weight = comparison.mean_in_block(self.place_weight(comparison.place + 1))
        if self.combine == "add":
            shares = weight * comparison.right_pairs(drop=drop)
            against = comparison.size - (comparison.same_grade if drop else 1)
            norm = hits.total(weight * against)
        else:
            shares = weight * comparison.right_weights(weight, drop=drop)
            norm = comparison.weight_of_pairs(weight, drop=drop)
        self._record(hits, comparison, weight)
        of_hit = np.empty(len(shares))
        of_hit[comparison.hit] = shares
        return Contributions(of_hit, np.where(hits.found, norm, 1.0), bounded=bounded)


@dataclass(frozen=True, kw_only=True)
class Compat(Measure, family="user models"):
    """Compatibility: rank-biased overlap of the list with the ideal list, ties in its favour.

    >>> print(Compat(p=0.9))
    Compat(p=0.9)
    """

    aliases = ("Compatibility",)
    card = Card(
        sentence="How similar is the list to the ideal one, the top counting most?",
        formula="Compat = RBO(L, I) / RBO(I, I),  RBO(L, I) = Σ_{d ≤ D} p^(d − 1) |L_d ∩ I_d| / d",
        symbols="L_d: the first d documents; I: documents of grade > 0, best first, equal grades as in L; "
        "p: persistence; D: depth. A document of rank i and ideal rank j adds the sum of p^(d − 1) / d over "
        "max(i, j) ≤ d ≤ D",
        example="grades 0, 1 and nothing else relevant, p = 0.5, D = 2: (0.5/2) / (1 + 0.5/2) = 1/5",
        needs="judgments or preferences (any numbers above 0, larger is better)",
        peers={
            "Clarke's compatibility.py": "the same: D = 1000; ties in the run go to the smaller id "
            "(ties=docid_asc)",
            "ir_measures Compat": "Compat(depth=lists): D is the longer of list and ideal; equal grades in "
            "the order of scores, so those with tied or negative scores are not in the list's favour",
        },
        sensitive="ties, unjudged documents, depth of short lists; to the order of grades, not their size",
        use="preference judgments, or grades that should count by order alone",
        citation="Clarke, Vtyurina and Smucker, TOIS 2021",
    )

    p: float = parameter(0.95, "persistence", above=0.0, below=1.0)
    normalize: bool = parameter(True, "divide by the ideal list's overlap with itself")
    depth: float | str = parameter(
        1000,
        "D: a rank, or lists for the longer of list and ideal",
        "lists",
        low=1,
        high=10**6,
        whole=True,
    )

    @property
    def claims(self) -> Claims:
        """The ideal list depends on the order of tied documents, and on k if depth=lists."""
        return Claims(
            closed_under_ties=False, grows_with_k=not isinstance(self.depth, str)
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the weights of the depths at which it is in both lists."""
        ideal = hits.ideal
        depth = self._depth(hits)
        deepest = int(depth.max(initial=0))
        steps = self.p ** np.arange(deepest) / np.arange(1, deepest + 1)
        overlap = np.concatenate(([0.0], np.cumsum(steps)))
        down = overlap[depth]
        entry = np.minimum(
            np.maximum(hits.rank, _ideal_rank(hits)), depth[hits.query] + 1
        )
        adds = hits.spread(down) - overlap[entry - 1]
        share = np.where(hits.relevant(ANY_GAIN), adds, 0.0)
        if not self.normalize:
            return Contributions(
                share, (1.0 - np.power(self.p, depth * 1.0)) / (1.0 - self.p)
            )
        entry = np.minimum(ideal.rank, depth[ideal.query] + 1)
        best = np.where(ideal.grade > 0, down[ideal.query] - overlap[entry - 1], 0.0)
        return Contributions(share, ideal.total(best))

    def _depth(self, hits: Hits) -> Ints:
        if not isinstance(self.depth, str):
            return np.full(hits.queries, int(self.depth))
        shown = hits.length if self.k is None else np.minimum(hits.length, self.k)
        return np.maximum(shown, hits.relevant_count(ANY_GAIN))


def _ideal_rank(hits: Hits) -> Ints:
    """Return the rank of each hit in the ideal order: below better grades and equal ones further up."""
    order = np.lexsort((hits.grade, hits.query))
    grade = hits.grade[order]
    query = hits.query[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (grade[1:] != grade[:-1]) | (query[1:] != query[:-1])
    starts = np.flatnonzero(fresh)
    nth = np.empty(len(order), np.int64)
    nth[order] = np.arange(len(order)) - starts[np.cumsum(fresh) - 1] + 1
    return hits.ideal.better(hits.query, hits.grade) + nth
