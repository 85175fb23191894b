"""Rank correlation over the documents that both lists hold: Kendall's tau and Spearman's rho."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.lists.base import ListMeasure
from rankstone.measures.named import Card

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats
    from rankstone.lists.rankings import Couple

__all__ = ["FEW_COMMON", "NEEDS", "rho", "tau_a", "tau_b"]

FEW_COMMON = "fewer than two documents in common: no value (status few_common)"
NEEDS = "two rankings; only documents of both are looked at, and counted (n_common)"


@dataclass(frozen=True, kw_only=True)
class tau_a(ListMeasure):  # noqa: N801 - the name of the field
    """Kendall's tau-a: pairs in the same order less pairs in opposite order, as a share of all pairs.

    >>> print(tau_a())
    tau_a
    """

    name: ClassVar[str] = "tau_a"
    family: ClassVar[str] = "rank correlation"
    card: ClassVar[Card] = Card(
        sentence="Of all pairs of documents, how many more do both rankings order alike than not?",
        formula="tau_a = (C - D) / (n (n - 1) / 2)",
        symbols="C, D: pairs of common documents that both rankings order alike, or oppositely; "
        "n: common documents",
        example="abcd against bacd: C = 5, D = 1, tau_a = (5 - 1) / 6 = 2/3",
        needs=NEEDS,
        span=(-1.0, 1.0),
        undefined=FEW_COMMON,
        peers={"ircor tau_a": "the same, where it accepts the input: it refuses ties in the first ranking"},
        sensitive="ties count as neither, so that a ranking with ties does not reach 1 against itself; "
        "all ranks weigh the same; says nothing about documents that only one list holds",
        use="when a tie is a failure to decide; (1 + tau_a) / 2 is the share of pairs in the same order, "
        "where nothing ties",
        citation="Kendall, A New Measure of Rank Correlation, Biometrika 1938",
    )

    @property
    def corrected_for_ties(self) -> tau_b:
        """Tied pairs are among all pairs here, and tau_b leaves them out."""
        return tau_b(k=self.k, agg=self.agg)

    def ratio(self, couple: Couple) -> tuple[Floats, Floats]:
        """Count pairs; every pair is counted from both of its documents."""
        common = couple.common
        return (
            _agreeing_pairs(couple),
            (common.n * (common.n - 1)).astype(np.float64),
        )


@dataclass(frozen=True, kw_only=True)
class tau_b(ListMeasure):  # noqa: N801 - the name of the field
    """Kendall's tau-b: tau corrected for ties in either ranking.

    >>> print(tau_b(k=10))
    tau_b@10
    """

    name: ClassVar[str] = "tau_b"
    family: ClassVar[str] = "rank correlation"
    aliases: ClassVar[tuple[str, ...]] = ("tau", "kendall", "kendalltau")
    card: ClassVar[Card] = Card(
        sentence="Do both rankings order the documents alike, where they order them at all?",
        formula="tau_b = (C - D) / sqrt((n0 - n_x) (n0 - n_y))",
        symbols="C, D: pairs of common documents that both rankings order alike, or oppositely; "
        "n0 = n (n - 1) / 2 pairs; n_x, n_y: pairs that tie in the first, in the second ranking",
        example="scores 3, 2, 2 against 3, 2, 1: C = 2, D = 0, n_x = 1, tau_b = 2 / sqrt(2 · 3)",
        needs=NEEDS,
        span=(-1.0, 1.0),
        undefined=f"{FEW_COMMON}; all common documents tie in one of the lists (status constant)",
        peers={
            "scipy kendalltau": "the same; NaN where we have no value",
            "ircor tau_b": "the same",
        },
        sensitive="tied scores are ties; all ranks weigh the same, a swap at the bottom as much as one at "
        "the top; says nothing about documents that only one list holds",
        use="between orderings of systems, or of the same documents; for result lists, where the top "
        "matters and documents differ, use RBO or tau_ap",
        citation="Kendall, The Treatment of Ties in Ranking Problems, Biometrika 1945; "
        "Knight, A Computer Method for Calculating Kendall's Tau with Ungrouped Data, JASA 1966",
    )

    def ratio(self, couple: Couple) -> tuple[Floats, Floats]:
        """Count pairs; every pair is counted from both of its documents."""
        common = couple.common
        pairs = common.n * (common.n - 1)
        in_x = pairs - common.total(common.x_size - 1)
        in_y = pairs - common.total(common.y_size - 1)
        numerator = _agreeing_pairs(couple)
        couple.tell_steps(untied_a=in_x, untied_b=in_y)
        # one root of the product, not a product of roots: equal rankings then give exactly 1
        return numerator, np.sqrt(in_x.astype(np.float64) * in_y)


def _agreeing_pairs(couple: Couple) -> Floats:
    """Count pairs in the same order less pairs in opposite order, each from both of its documents."""
    common = couple.common
    counts = common.counts
    more = counts.agree - counts.differ
    numerator = common.total(more).astype(np.float64)
    couple.tell_common(total=numerator, same=counts.agree, opposite=counts.differ, contribution=more)
    return numerator


@dataclass(frozen=True, kw_only=True)
class rho(ListMeasure):  # noqa: N801 - the name of the field
    """Spearman's rho: the correlation of ranks, tied documents at their middle rank.

    >>> print(rho())
    rho
    """

    name: ClassVar[str] = "rho"
    family: ClassVar[str] = "rank correlation"
    aliases: ClassVar[tuple[str, ...]] = ("spearman", "spearmanr")
    card: ClassVar[Card] = Card(
        sentence="Do ranks in one list rise with ranks in the other?",
        formula="rho = sum (x_i - m)(y_i - m) / sqrt(sum (x_i - m)^2 · sum (y_i - m)^2)",
        symbols="x_i, y_i: ranks of document i among the common documents, tied ones at the middle of "
        "their ranks; m = (n + 1) / 2",
        example="abcd against bacd: rho = 1 - 6 · (1 + 1) / (4 · 15) = 4/5",
        needs=NEEDS,
        span=(-1.0, 1.0),
        undefined=f"{FEW_COMMON}; all common documents tie in one of the lists (status constant)",
        peers={"scipy spearmanr": "the same; NaN where we have no value"},
        sensitive="tied scores are ties; large displacements weigh by their square; says nothing about "
        "documents that only one list holds",
        use="when a document that moves far should count more than two that swap places",
        citation="Spearman, The Proof and Measurement of Association between Two Things, "
        "American Journal of Psychology 1904",
    )

    def ratio(self, couple: Couple) -> tuple[Floats, Floats]:
        """Correlate twice the centred ranks, which are whole numbers."""
        common = couple.common
        middle = (common.n + 1)[common.query]
        x, y = common.x_first + common.x_last - middle, common.y_first + common.y_last - middle
        of_x, of_y = common.total(x * x).astype(np.float64), common.total(y * y)
        products = x * y
        numerator = common.total(products).astype(np.float64)
        couple.tell_common(total=numerator, centred_a=x, centred_b=y, contribution=products)
        couple.tell_steps(squares_a=of_x, squares_b=of_y)
        return numerator, np.sqrt(of_x * of_y)
