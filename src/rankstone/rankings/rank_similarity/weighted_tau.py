"""Weighted tau: Kendall's tau in which an exchange at the top counts more than one further down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.list_arrays import running, sums
from rankstone.hits.list_orders import weight_of_earlier_smaller
from rankstone.measures.core.definition import Card, parameter
from rankstone.rankings.rank_similarity.list_measure import ListMeasure
from rankstone.rankings.rank_similarity.rank_correlation import (
    FEW_COMMON,
    NEEDS,
    mean_of_ratios,
)

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.rankings.rank_similarity.paired_lists import CommonRanks, PairedLists


@dataclass(frozen=True, kw_only=True)
class wtau(ListMeasure, family="rank correlation"):  # noqa: N801 - as tau_b
    """Vigna's weighted tau with hyperbolic weights.

    >>> print(wtau(weights="multiplicative"))
    wtau(weights=multiplicative)
    """

    aliases = ("weightedtau", "tau_w")
    card = Card(
        sentence="Are documents in the same order in both rankings, mainly near the top?",
        formula="wtau = <x, y> / sqrt(<x, x> <y, y>), "
        "<x, y> = sum over pairs i < j of sgn(x_i - x_j) sgn(y_i - y_j) w_ij",
        symbols="w_ij = 1/r_i + 1/r_j (additive) or 1/(r_i r_j) (multiplicative); "
        "r_i: rank of document i in the ranking that gives the weights, ties there in the order of the "
        "other one; by default the mean of the values with either ranking's ranks",
        example="ab against ba: one pair, in opposite order: -1; abc against acb with the first one's "
        "ranks: weights ab 3/2, ac 4/3, bc 5/6: (3/2 + 4/3 - 5/6) / (3/2 + 4/3 + 5/6) = 6/11",
        needs=NEEDS,
        span=(-1.0, 1.0),
        undefined=f"{FEW_COMMON}; all common documents tie in one of the lists (status constant)",
        peers={"scipy weightedtau": "the same; NaN where we have no value"},
        sensitive="tied scores are ties; the top ranks decide; says nothing about documents of one list only",
        use="between rankings of the same documents with ties, when the top matters most",
        citation="Vigna, A Weighted Correlation Index for Rankings with Ties, WWW 2015",
    )

    weights: str = parameter(
        "additive", "how ranks weight a pair", "additive", "multiplicative"
    )
    ranks: str = parameter(
        "mean", "the ranking whose ranks weight", "mean", "first", "second"
    )

    @property
    def symmetric(self) -> bool:
        """True for the mean over both rankings."""
        return self.ranks == "mean"

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Weight pairs by one ranking, or by each of the two."""
        common = paired.common
        index = _additive if self.weights == "additive" else _multiplicative
        places = {
            "first": lambda: _places(common, common.x_first, common.y_first),
            "second": lambda: _places(common, common.y_first, common.x_first),
        }
        sources = ("first", "second") if self.ranks == "mean" else (self.ranks,)
        ratios = (
            index(paired, f"ranks_of_{source}", 1.0 / places[source]())
            for source in sources
        )
        return mean_of_ratios(paired, ratios, ("pairs_weighed", "norm"))


def _places(common: CommonRanks, by: Ints, then: Ints) -> Ints:
    """Return each document's rank by one ranking, ties in the order of the other, int64 ``[documents]``."""
    place = np.empty(len(by), np.int64)
    place[np.lexsort((then, by, common.query))] = np.arange(len(by))
    return place - common.offsets[common.query] + 1


def _additive(paired: PairedLists, title: str, weight: Floats) -> tuple[Floats, Floats]:
    """Sum 1/r_i + 1/r_j over pairs: the weight of each document times its number of pairs."""
    common = paired.common
    n = common.n[common.query]

    def total(times: Ints) -> Floats:
        return sums(common.query, weight * times, len(common.n))

    in_x = total(n - common.x_size)
    in_y = total(n - common.y_size)
    more = common.counts.agree - common.counts.differ
    numerator = total(more)
    paired.record_common(
        title=title,
        total=numerator,
        weight=weight,
        more_same=more,
        contribution=lambda: weight * more,
    )
    paired.record_steps(untied_a=in_x, untied_b=in_y)
    return numerator, np.sqrt(in_x * in_y)


def _multiplicative(
    paired: PairedLists, title: str, weight: Floats
) -> tuple[Floats, Floats]:
    """Sum 1/(r_i r_j) over pairs: the weight of each document times those above it."""
    common = paired.common
    order = np.lexsort((-common.y_first, common.x_first, common.query))
    weight_x = weight[order]
    y = common.y_first[order]
    agree = weight_of_earlier_smaller(common.offsets, y, weight_x)
    # with one ranking reversed, documents above in one and below in the other are above in both
    order_down = np.lexsort((common.y_first, common.x_first, common.query))
    upside = (common.n[common.query] - common.y_first)[order_down]
    differ = weight_of_earlier_smaller(common.offsets, upside, weight[order_down])
    queries = len(common.n)
    same = sums(common.query, weight_x * agree, queries)
    opposite = sums(common.query, weight[order_down] * differ, queries)
    _record_above(paired, f"{title}_same", order, weight, agree, same)
    _record_above(paired, f"{title}_opposite", order_down, weight, differ, opposite)
    numerator = same - opposite
    in_x = _untied_pair_weights(common, weight, common.x_first)
    in_y = _untied_pair_weights(common, weight, common.y_first)
    paired.record_steps(untied_a=in_x, untied_b=in_y)
    return numerator, np.sqrt(in_x * in_y)


def _record_above(
    paired: PairedLists,
    title: str,
    order: Ints,
    weight: Floats,
    above: Floats,
    total: Floats,
) -> None:
    """Record for each document, in some order, its weight and the weight above it."""
    common, (in_a, in_b) = paired.common, paired.shared
    paired.record(
        "document",
        (in_a[order], in_b[order]),
        title=title,
        total=total,
        place_a=lambda: ((common.x_first + common.x_last) / 2)[order],
        place_b=lambda: ((common.y_first + common.y_last) / 2)[order],
        weight=weight[order],
        weight_above=above,
        contribution=lambda: weight[order] * above,
    )


def _untied_pair_weights(common: CommonRanks, weight: Floats, first: Ints) -> Floats:
    """Sum the weights of all pairs that do not tie in one ranking, float64 ``[queries]``."""
    order = np.lexsort((first, common.query))
    ordered = weight[order]
    rank = first[order]
    through = np.concatenate(([0.0], running(np.add, ordered, common.n)))
    above = np.where(rank > 1, through[common.offsets[common.query] + rank - 1], 0.0)
    return sums(common.query, ordered * above, len(common.n))
