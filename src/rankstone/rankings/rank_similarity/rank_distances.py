"""Distances between rankings: 0 for equal rankings, and 1 for the largest distance if normalised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.list_arrays import sums
from rankstone.measures.core.definition import Card, parameter
from rankstone.rankings.rank_similarity.list_measure import ListMeasure
from rankstone.rankings.rank_similarity.rank_correlation import FEW_COMMON, NEEDS

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.measures.core.definition import Span
    from rankstone.rankings.rank_similarity.paired_lists import PairedLists


_ALL = "two rankings; a document missing from a list is below all others there"
_NEVER = "never: a query of both runs has documents"


@dataclass(frozen=True, kw_only=True)
class Distance(ListMeasure, family="distance of rankings"):
    """A measure that is 0 for equal rankings and grows with their differences."""

    norm: str = parameter(
        "max",
        "max: as a share of the largest distance; none: unnormalised",
        "max",
        "none",
    )

    @property
    def span(self) -> Span:
        """From 0 to 1 if normalised; otherwise without an upper bound."""
        return (0.0, 1.0 if self.norm == "max" else None)

    def normed(self, distance: Floats, largest: Floats) -> tuple[Floats, Floats]:
        """Return numerator and norm."""
        return distance, largest if self.norm == "max" else np.where(
            largest > 0, 1.0, 0.0
        )


class footrule(Distance):  # noqa: N801 - as rho
    """Spearman's footrule: the sum over documents of the ranks that they move.

    >>> print(footrule(norm="none"))
    footrule(norm=none)
    """

    aliases = ("spearman_footrule",)
    card = Card(
        sentence="How many ranks do documents move from one list to the other, as a share of the most?",
        formula="footrule = sum |x_i - y_i| / floor(n^2 / 2)",
        symbols="x_i, y_i: ranks of document i among the n common documents, tied ones at the middle of "
        "their ranks",
        example="abcd against bacd: (1 + 1) / 8; abcd against dcba: (3 + 1 + 1 + 3) / 8 = 1",
        needs=NEEDS,
        direction="lower",
        undefined=FEW_COMMON,
        peers={},
        sensitive="tied scores are ties; all ranks have the same weight; says nothing about documents of one "
        "list only (Fagin_F does)",
        use="if the number of ranks matters that documents move; between once and twice Kendall's "
        "count of pairs",
        citation="Diaconis and Graham, Spearman's Footrule as a Measure of Disarray, JRSS B 1977",
    )

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Sum the moves of common documents."""
        common = paired.common
        moved = np.abs(common.x_first + common.x_last - common.y_first - common.y_last)
        distance = common.total(moved) / 2.0
        paired.record_common(total=distance, contribution=lambda: moved / 2.0)
        return self.normed(distance, (common.n**2 // 2).astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class Fagin_F(Distance):  # noqa: N801 - F with the author's name, since F is taken
    """Fagin's footrule for top-k lists: a document that a list lacks has a rank below it.

    >>> print(Fagin_F(k=10))
    Fagin_F@10
    """

    conjoint = False
    aliases = ("topk_footrule",)
    card = Card(
        sentence="How many ranks do documents move, including those that leave or enter the list?",
        formula="Fagin_F@k = sum over A_k ∪ B_k of |x_i - y_i| / F_max; F_max: the same sum for lists "
        "without a common document, k (k + 1) for two of length k",
        symbols="A_k, B_k: the first k documents of each list; x_i, y_i: rank of document i in either, "
        "tied ones at the middle of their ranks; `location` where the list lacks it",
        example="abc against bad, location 4: |1 - 2| + |2 - 1| + |3 - 4| + |4 - 3| = 4; 4/12 = 1/3",
        needs=_ALL,
        direction="lower",
        undefined=_NEVER,
        peers={},
        sensitive="tied scores are ties; if the cutoff is among tied documents, the alignment's rule decides",
        use="to compare result pages of which documents appear and vanish; a metric for location k + 1",
        citation="Fagin, Kumar and Sivakumar, Comparing Top k Lists, SIAM J. Discrete Mathematics 2003",
    )

    location: float | None = parameter(
        None,
        "rank of a document that a list lacks; by default one below the longer list",
        low=1,
    )

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Sum the moves of all documents."""
        union = paired.union
        n_a = paired.a.n
        n_b = paired.b.n
        below = np.maximum(n_a, n_b) + 1.0
        if self.location is not None:
            below = np.full(paired.queries, float(self.location))
        x = _middle_rank(
            union.x_first, union.x_last, n_a[union.query], below[union.query]
        )
        y = _middle_rank(
            union.y_first, union.y_last, n_b[union.query], below[union.query]
        )
        moves = np.abs(x - y)
        moved = sums(union.query, moves, paired.queries)
        paired.record(
            "document",
            lambda: paired.either[1:],
            total=moved,
            rank_a=x,
            rank_b=y,
            contribution=moves,
        )
        return self.normed(moved, _distance_to(n_a, below) + _distance_to(n_b, below))


def _middle_rank(first: Ints, last: Ints, n: Ints, below: Floats) -> Floats:
    """Return the middle rank of listed documents, and ``below`` for the others."""
    return np.where(first > n, below, (first + last) / 2.0)


def _distance_to(n: Ints, below: Floats) -> Floats:
    """Return the sum of |below - i| over ranks i = 1 … n."""
    over = np.minimum(n, np.floor(below))
    under = n - over
    beyond = (n * (n + 1) - over * (over + 1)) / 2.0 - under * below
    away: Floats = over * below - over * (over + 1) / 2.0 + beyond
    return away


@dataclass(frozen=True, kw_only=True)
class Fagin_K(Distance):  # noqa: N801 - as Fagin_F
    """Fagin's Kendall distance for top-k lists: pairs in opposite order, and p for pairs left open by one.

    >>> print(Fagin_K(p=0, k=10))
    Fagin_K(p=0)@10
    """

    conjoint = False
    aliases = ("topk_kendall",)
    card = replace(
        Fagin_F.card,
        sentence="How many pairs of documents do two top-k lists put in opposite order?",
        formula="Fagin_K@k = (D + p T) / K_max; K_max = m n + p (m (m - 1) + n (n - 1)) / 2, which is what "
        "two lists of lengths m and n without a common document have",
        symbols="D: pairs of documents of either list that the lists put in opposite order, a document "
        "being above all that its list lacks; T: pairs that one list orders and the other does not, "
        "since it lacks both or since they tie",
        example="abc against bad, p = 1/2: a and b change sides, c and d are each in one list only: "
        "D = 2, T = 0; 2 / (9 + 3) = 1/6",
        use="to compare result pages of which documents appear and vanish; p=0 is optimistic about pairs "
        "that one list leaves open, p=0.5 neutral",
        citation="Fagin, Kumar and Sivakumar, Comparing Top k Lists, SIAM J. Discrete Mathematics 2003; "
        "ties: Fagin et al., Comparing Partial Rankings, SIAM J. Discrete Mathematics 2006",
    )

    p: float = parameter(
        0.5, "penalty of a pair that one list leaves open", low=0, high=1
    )

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Count pairs; every pair is counted from both of its documents."""
        union = paired.union
        m = paired.a.n.astype(np.float64)
        n = paired.b.n
        opposite = union.total(union.counts.differ) / 2.0
        left_open = union.x_size + union.y_size - 2 * union.counts.tied_in_both
        open_in_one = union.total(left_open) / 2.0
        paired.record(
            "document",
            lambda: paired.either[1:],
            rank_a=lambda: _where_listed(union.x_first, union.x_last, paired.a.n),
            rank_b=lambda: _where_listed(union.y_first, union.y_last, paired.b.n),
            opposite=union.counts.differ,
            left_open=left_open,
        )
        paired.record_steps(pairs_opposite=opposite, pairs_open=open_in_one)
        largest = m * n + self.p * (m * (m - 1) + n * (n - 1)) / 2.0
        return self.normed(opposite + self.p * open_in_one, largest)


def _where_listed(first: Ints, last: Ints, n: Ints) -> Floats:
    """Return the middle rank of the listed documents of one query, NaN for the others."""
    return _middle_rank(
        first, last, np.repeat(n, len(first)), np.full(len(first), np.nan)
    )
