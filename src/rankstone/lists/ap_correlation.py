"""AP correlation: how much of what one ranking puts above each document the other has above it, too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.arrays import sums
from rankstone.hits.pairs import ragged_range
from rankstone.lists.base import ListMeasure
from rankstone.lists.correlation import FEW_COMMON, NEEDS
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.lists.rankings import Couple

__all__ = ["tau_ap"]


@dataclass(frozen=True, kw_only=True)
class tau_ap(ListMeasure):  # noqa: N801 - the name of the field
    """AP correlation: tau that looks at every document of an estimate from the top down.

    >>> print(tau_ap(ties="b"))
    tau_ap(ties=b)
    """

    name: ClassVar[str] = "tau_ap"
    family: ClassVar[str] = "rank correlation"
    aliases: ClassVar[tuple[str, ...]] = ("tauap", "ap_correlation")
    card: ClassVar[Card] = Card(
        sentence="Of the documents above each one in a ranking, how many belong there by the reference?",
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
        "the top weigh more; says nothing about documents that only one list holds",
        use="between orderings of systems or documents when the top matters; ties=a when ties are "
        "undecided (the mean over all orders of tied documents), ties=b between two equals",
        citation="Yilmaz, Aslam and Robertson, A New Rank Correlation Coefficient for Information "
        "Retrieval, SIGIR 2008; Urbano and Marrero, The Treatment of Ties in AP Correlation, ICTIR 2017",
    )

    reference: str = parameter(
        "first", "the ranking that is right; both: the mean of either way", "first", "second", "both"
    )
    ties: str = parameter(
        "a",
        "a: mean over the orders of tied documents; b: agreement, symmetric, ties are no order; "
        "broken: as the alignment's rule puts them",
        *("a", "b", "broken"),
    )

    def __post_init__(self) -> None:
        """Refuse a second name for the same number."""
        super().__post_init__()
        if self.ties == "b" and self.reference != "first":
            raise BadParameter(
                f"tau_ap: ties=b has no reference={self.reference}: it is the mean of either way already",
                fix="leave reference out",
            )

    @property
    def symmetric(self) -> bool:
        """Whether neither ranking is the reference."""
        return self.ties == "b" or self.reference == "both"

    @property
    def corrected_for_ties(self) -> tau_ap | None:
        """The mean over the orders of ties pairs different orders of one list with each other, too."""
        return replace(self, ties="b", reference="first") if self.ties == "a" else None

    def ratio(self, couple: Couple) -> tuple[Floats, Floats]:
        """Take the value with either ranking as the estimate, or the mean of both."""
        couple = couple.broken() if self.ties == "broken" else couple
        common = couple.common
        one_way = _agreement if self.ties == "b" else _accuracy
        counts = common.counts
        ways = []
        if self.reference != "second":
            ways.append(("first", counts.above, counts.x_tied_above, common.y_first, common.y_size))
        if self.reference != "first" or self.ties == "b":
            ways.append(("second", counts.above, counts.y_tied_above, common.x_first, common.x_size))
        total, defined = np.zeros(couple.queries), np.ones(couple.queries, bool)
        for reference, *way in ways:
            numerator, norm = one_way(couple, f"{reference}_is_reference", *way)
            defined &= norm > 0
            value = np.divide(numerator, norm, out=np.zeros(couple.queries), where=norm > 0)
            couple.tell_steps(twice_less_norm=numerator, others=norm, way=value)
            total += value
        return total, np.where(defined, float(len(ways)), 0.0)


def _accuracy(
    couple: Couple, title: str, above: Ints, tied_above: Ints, first: Ints, size: Ints
) -> tuple[Floats, Floats]:
    """Return numerator and norm of the mean over all orders of tied documents.

    A document above is above in the reference, too, or ties with it there and is so in half of the
    orders; of the documents in its own tie block, half of those above it are.
    """
    common = couple.common
    right = above + tied_above / 2.0
    shares = np.where(size == 1, right / np.maximum(first - 1, 1), 0.0)
    tied = np.flatnonzero(size > 1)
    if len(tied):
        starts = common.offsets[common.query[tied]] + first[tied]
        _, members, of_block = np.unique(starts, return_index=True, return_inverse=True)
        lengths = size[tied][members]
        block = np.repeat(np.arange(len(members)), lengths)
        place = ragged_range(np.zeros(len(members), np.int64), lengths)
        ranks_above = np.maximum(first[tied][members][block] + place - 1, 1)
        inverse = np.bincount(block, 1.0 / ranks_above) / lengths
        inside = np.bincount(block, place / 2.0 / ranks_above) / lengths
        shares[tied] = right[tied] * inverse[of_block] + inside[of_block]
    summed = sums(common.query, shares, len(common.n))
    couple.tell_common(
        title=title, total=summed, right_above=right, above=lambda: first - 1, contribution=shares
    )
    others = np.maximum(common.n - 1.0, 0.0)
    return 2.0 * summed - others, others


def _agreement(
    couple: Couple, title: str, above: Ints, _tied_above: Ints, first: Ints, _size: Ints
) -> tuple[Floats, Floats]:
    """Return numerator and norm when documents of a tie block are no order at all.

    Each document is held against the blocks above its own; the first block has none.
    """
    common, below_top = couple.common, first > 1
    shares = np.where(below_top, above / np.maximum(first - 1, 1), 0.0)
    count = common.total(below_top.astype(np.int64)).astype(np.float64)
    summed = sums(common.query, shares, len(common.n))
    couple.tell_common(
        title=title, total=summed, right_above=above, above=lambda: first - 1, contribution=shares
    )
    return 2.0 * summed - count, count
