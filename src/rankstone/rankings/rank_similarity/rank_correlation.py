"""Rank correlation over common documents: Kendall's tau, Spearman's rho and AP correlation.

Pairs of documents are counted for many queries at once in O(n log n).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.list_arrays import divided, list_numbers, ragged_range, sums
from rankstone.measures.core.definition import Card, parameter
from rankstone.rankings.rank_similarity.list_measure import ListMeasure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone._basics import Floats, Ints
    from rankstone.rankings.rank_similarity.paired_lists import PairedLists

FEW_COMMON = "fewer than two documents in common: no value (status few_common)"
NEEDS = "two rankings; only common documents count (n_common)"


class tau_a(ListMeasure, family="rank correlation"):  # noqa: N801 - the name of the field
    """Kendall's tau-a: pairs in the same order less pairs in opposite order, as a share of all pairs.

    >>> print(tau_a())
    tau_a
    """

    card = Card(
        sentence="Of all pairs of documents, how many more are in the same order than in opposite order?",
        formula="tau_a = (C - D) / (n (n - 1) / 2)",
        symbols="C, D: pairs of common documents in the same order in both rankings, or in opposite order; "
        "n: common documents",
        example="abcd against bacd: C = 5, D = 1, tau_a = (5 - 1) / 6 = 2/3",
        needs=NEEDS,
        span=(-1.0, 1.0),
        undefined=FEW_COMMON,
        peers={
            "ircor tau_a": "the same, where it accepts the input: it refuses ties in the first ranking"
        },
        sensitive="ties count as neither, so that a ranking with ties does not reach 1 against itself; "
        "all ranks weigh the same; says nothing about documents of one list only",
        use="when a tie is a failure to decide; (1 + tau_a) / 2 is the share of pairs in the same order, "
        "where nothing ties",
        citation="Kendall, A New Measure of Rank Correlation, Biometrika 1938",
    )

    @property
    def corrected_for_ties(self) -> tau_b:
        """tau_b, which leaves out tied pairs."""
        return tau_b(k=self.k, agg=self.agg)

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Count pairs; every pair is counted from both of its documents."""
        common = paired.common
        return (_agreeing_pairs(paired), (common.n * (common.n - 1)).astype(np.float64))


class tau_b(ListMeasure, family="rank correlation"):  # noqa: N801 - the name of the field
    """Kendall's tau-b: tau corrected for ties in either ranking.

    >>> print(tau_b(k=10))
    tau_b@10
    """

    aliases = ("tau", "kendall", "kendalltau")
    card = Card(
        sentence="Are documents in the same order in both rankings, where both have an order?",
        formula="tau_b = (C - D) / sqrt((n0 - n_x) (n0 - n_y))",
        symbols="C, D: pairs of common documents in the same order in both rankings, or in opposite order; "
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
        "the top; says nothing about documents of one list only",
        use="between orderings of systems, or of the same documents; for result lists, where the top "
        "matters and documents differ, use RBO or tau_ap",
        citation="Kendall, The Treatment of Ties in Ranking Problems, Biometrika 1945; "
        "Knight, A Computer Method for Calculating Kendall's Tau with Ungrouped Data, JASA 1966",
    )

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Count pairs; every pair is counted from both of its documents."""
        common = paired.common
        pairs = common.n * (common.n - 1)
        in_x = pairs - common.total(common.x_size - 1)
        in_y = pairs - common.total(common.y_size - 1)
        numerator = _agreeing_pairs(paired)
        paired.record_steps(untied_a=in_x, untied_b=in_y)
        # the root of the product, and not the product of roots, so that equal rankings have exactly 1
        return numerator, np.sqrt(in_x.astype(np.float64) * in_y)


def _agreeing_pairs(paired: PairedLists) -> Floats:
    """Count pairs in the same order less pairs in opposite order, each from both of its documents."""
    common = paired.common
    counts = common.counts
    more = counts.agree - counts.differ
    numerator = common.total(more).astype(np.float64)
    paired.record_common(
        total=numerator, same=counts.agree, opposite=counts.differ, contribution=more
    )
    return numerator


class rho(ListMeasure, family="rank correlation"):  # noqa: N801 - the name of the field
    """Spearman's rho: the correlation of ranks, tied documents at their middle rank.

    >>> print(rho())
    rho
    """

    aliases = ("spearman", "spearmanr")
    card = replace(
        tau_b.card,
        sentence="Do ranks in one list increase with ranks in the other?",
        formula="rho = sum (x_i - m)(y_i - m) / sqrt(sum (x_i - m)^2 · sum (y_i - m)^2)",
        symbols="x_i, y_i: ranks of document i among the common documents, tied ones at the middle of "
        "their ranks; m = (n + 1) / 2",
        example="abcd against bacd: rho = 1 - 6 · (1 + 1) / (4 · 15) = 4/5",
        peers={"scipy spearmanr": "the same; NaN where we have no value"},
        sensitive="tied scores are ties; large displacements weigh by their square; says nothing about "
        "documents of one list only",
        use="if a document that moves many ranks should count more than two that swap",
        citation="Spearman, The Proof and Measurement of Association between Two Things, "
        "American Journal of Psychology 1904",
    )

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Correlate twice the centred ranks, which are whole numbers."""
        common = paired.common
        middle = (common.n + 1)[common.query]
        x = common.x_first + common.x_last - middle
        y = common.y_first + common.y_last - middle
        of_x = common.total(x * x).astype(np.float64)
        of_y = common.total(y * y)
        products = x * y
        numerator = common.total(products).astype(np.float64)
        paired.record_common(
            total=numerator, centred_a=x, centred_b=y, contribution=products
        )
        paired.record_steps(squares_a=of_x, squares_b=of_y)
        return numerator, np.sqrt(of_x * of_y)


@dataclass(frozen=True, kw_only=True)
class tau_ap(ListMeasure, family="rank correlation"):  # noqa: N801 - the name of the field
    """AP correlation: tau with more weight for the top of the estimate.

    >>> print(tau_ap(ties="b"))
    tau_ap(ties=b)
    """

    aliases = ("tauap", "ap_correlation")
    card = Card(
        sentence="Of the documents above each one in a ranking, how many are above it in the reference, too?",
        formula="tau_ap = 2 / (n - 1) · sum over i = 2 … n of C(i) / (i - 1) - 1",
        symbols="n: common documents; C(i): documents above rank i of the estimate that stand above that "
        "document in the reference, too",
        example="reference abcd, estimate bacd: C(2) = 0, C(3) = 2, C(4) = 3: "
        "2/3 · (0/1 + 2/2 + 3/3) - 1 = 1/3",
        needs=NEEDS,
        span=(-1.0, 1.0),
        undefined=f"{FEW_COMMON}; with ties=b, all common documents tie in one list (status constant)",
        peers={
            "ircor tauAP_a": "ties=a the same; it refuses ties in the reference, where we take the mean "
            "over their orders as well",
            "ircor tauAP_b": "ties=b the same",
        },
        sensitive="not symmetric: the first ranking is the reference, the second the estimate; errors near "
        "the top weigh more; says nothing about documents of one list only",
        use="between orderings of systems or documents when the top matters; ties=a when ties are "
        "undecided (the mean over all orders of tied documents), ties=b between two equals",
        citation="Yilmaz, Aslam and Robertson, A New Rank Correlation Coefficient for Information "
        "Retrieval, SIGIR 2008; Urbano and Marrero, The Treatment of Ties in AP Correlation, ICTIR 2017",
    )

    reference: str = parameter(
        "first",
        "the reference ranking; both: the mean of both directions",
        "first",
        "second",
        "both",
    )
    ties: str = parameter(
        "a",
        "a: mean over the orders of tied documents; b: agreement, symmetric, ties are no order; "
        "broken: as the alignment's rule puts them",
        *("a", "b", "broken"),
    )

    def __post_init__(self) -> None:
        """Refuse a reference for ties=b, which is symmetric."""
        super().__post_init__()
        if self.ties == "b" and self.reference != "first":
            raise BadParameter(
                f"tau_ap: ties=b has no reference={self.reference}, since it is the mean of both directions",
                fix="leave reference out",
            )

    @property
    def symmetric(self) -> bool:
        """True if neither ranking is the reference."""
        return self.ties == "b" or self.reference == "both"

    @property
    def corrected_for_ties(self) -> tau_ap | None:
        """ties=b; the mean over orders of ties compares different orders of one list, too."""
        if self.ties == "a":
            return replace(self, ties="b", reference="first")
        return None

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Return the value with either ranking as the estimate, or the sum of both and 2."""
        paired = paired.without_ties() if self.ties == "broken" else paired
        common = paired.common
        one_way = _agreement if self.ties == "b" else _accuracy
        counts = common.counts
        ways = {
            "first": (counts.x_tied_above, common.y_first, common.y_size),
            "second": (counts.y_tied_above, common.x_first, common.x_size),
        }
        references = ("first", "second") if self.symmetric else (self.reference,)
        ratios = (
            one_way(paired, f"{reference}_is_reference", *ways[reference])
            for reference in references
        )
        return mean_of_ratios(paired, ratios, ("twice_less_norm", "others"))


def mean_of_ratios(
    paired: PairedLists, ratios: Iterable[tuple[Floats, Floats]], names: tuple[str, str]
) -> tuple[Floats, Floats]:
    """Return the sum of ratios and their number, 0 where one of them has no value.

    Parameters
    ----------
    paired
        Where numerators, norms and ratios are recorded.
    ratios
        Numerators and norms.
    names
        Their names in the record.
    """
    total = np.zeros(paired.queries)
    count = 0.0
    defined = np.ones(paired.queries, bool)
    for numerator, norm in ratios:
        defined &= norm > 0
        value = divided(numerator, norm)
        paired.record_steps(
            **dict(zip(names, (numerator, norm), strict=True)), way=value
        )
        total += value
        count += 1.0
    return total, np.where(defined, count, 0.0)


def _accuracy(
    paired: PairedLists, title: str, tied_above: Ints, first: Ints, size: Ints
) -> tuple[Floats, Floats]:
    """Return numerator and norm of the mean over all orders of tied documents.

    A document above counts if it is above in the reference, too, and half if it ties there; of the documents
    in the same tie block, half of those above count.
    """
    common = paired.common
    right = common.counts.above + tied_above / 2.0
    shares = np.where(size == 1, right / np.maximum(first - 1, 1), 0.0)
    tied = np.flatnonzero(size > 1)
    if len(tied):
        starts = common.offsets[common.query[tied]] + first[tied]
        _, members, of_block = np.unique(starts, return_index=True, return_inverse=True)
        lengths = size[tied][members]
        block = list_numbers(lengths)
        place = ragged_range(np.zeros(len(members), np.int64), lengths)
        ranks_above = np.maximum(first[tied][members][block] + place - 1, 1)
        inverse = np.bincount(block, 1.0 / ranks_above) / lengths
        inside = np.bincount(block, place / 2.0 / ranks_above) / lengths
        shares[tied] = right[tied] * inverse[of_block] + inside[of_block]
    summed = sums(common.query, shares, len(common.n))
    paired.record_common(
        title=title,
        total=summed,
        right_above=right,
        above=lambda: first - 1,
        contribution=shares,
    )
    others = np.maximum(common.n - 1.0, 0.0)
    return 2.0 * summed - others, others


def _agreement(
    paired: PairedLists, title: str, _tied_above: Ints, first: Ints, _size: Ints
) -> tuple[Floats, Floats]:
    """Return numerator and norm where tied documents have no order.

    Each document is compared with the blocks above its block; the first block has none.
    """
    common = paired.common
    below_top = first > 1
    above = common.counts.above
    shares = np.where(below_top, above / np.maximum(first - 1, 1), 0.0)
    count = common.total(below_top.astype(np.int64)).astype(np.float64)
    summed = sums(common.query, shares, len(common.n))
    paired.record_common(
        title=title,
        total=summed,
        right_above=above,
        above=lambda: first - 1,
        contribution=shares,
    )
    return 2.0 * summed - count, count
