"""Recommenders' R-precision, whose mean leaves out everybody who found nothing, and its nDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.arrays import descending_within, offsets_of
from rankstone.hits.ideal import Ideal
from rankstone.measures.base import Contributions, Status
from rankstone.measures.dcg import nDCG
from rankstone.measures.named import Card
from rankstone.measures.precision import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.arrays import Ints
    from rankstone.hits.ragged import Hits

__all__ = ["NDCG", "RPrecision"]


@dataclass(frozen=True, kw_only=True)
class RPrecision(BinaryMeasure):
    """R-precision of the first k, without users who have no hit among their first min(R, k).

    >>> print(RPrecision(k=5))
    r_precision@5
    """

    name: ClassVar[str] = "r_precision"
    family: ClassVar[str] = "binary"
    zero_norm: ClassVar[Status] = Status.dropped
    card: ClassVar[Card] = Card(
        sentence="Of the first R results, how many are relevant for users who find anything there?",
        formula="r_precision@k = h_c / R,  c = min(R, k);  no value where h_c = 0",
        symbols="R: relevant items of the user; h_c: relevant ones at ranks 1 … c",
        example="R = 8, relevant at ranks 1 and 2, k = 3: 2/8; a second user without a hit changes nothing",
        undefined="no hit among the first min(R, k): left out of the mean",
        sensitive="how many users find nothing: the more, the better the rest looks",
        use="to read the library's numbers; Rprec averages over all users",
        citation="Recommenders 1.2",
    )

    @property
    def closed_under_ties(self) -> bool:
        """Fail: whether there is a hit decides whether there is a value."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits in the first min(R, k) ranks; divide by R."""
        relevant = hits.relevant_count(self.rel)
        shares = self.found(hits, relevant if self.k is None else np.minimum(relevant, self.k))
        return Contributions(shares, np.where(hits.total(shares) > 0, relevant, 0).astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class NDCG(nDCG):
    """nDCG over tables that are joined row by row: an item shown several times meets itself.

    >>> print(NDCG(k=5))
    nDCG@5
    """

    brings: ClassVar[frozenset[str]] = frozenset({"rows"})

    @property
    def looks_deeper(self) -> bool:
        """Hold: copies below the cutoff count."""
        return True

    @property
    def closed_under_ties(self) -> bool:
        """Fail: which copies are among the first k decides twice."""
        return False

    def contributions(self, hits: Hits) -> Contributions:
        """Let every copy among the first k gain once for each copy in the list."""
        item, copies = self._copies(hits)
        gain = self.worth(hits.grade) * copies[item]
        return Contributions(hits.discounted(gain, self.divisor, self.k), self._norm(hits))

    @staticmethod
    def _copies(hits: Hits) -> tuple[Ints, Ints]:
        """Return the number of each hit's item, and how often each item stands in its list."""
        assert hits.judgment_row is not None  # noqa: S101 - alignment brings it to measures that ask
        _, item, copies = np.unique(hits.judgment_row, return_inverse=True, return_counts=True)
        return item, copies

    def _ideal_gains(self, hits: Hits) -> Ideal:
        """Return the gains of all rows the joins make, best first; other cutoffs have others."""
        item, copies = self._copies(hits)
        shown = np.bincount(item[hits.rank <= (self.k or np.inf)], minlength=len(copies))
        first = np.unique(item, return_index=True)[1]
        further = np.maximum(shown * copies - 1, 0)
        query = np.concatenate((hits.ideal.query, np.repeat(hits.query[first], further)))
        grade = np.concatenate((hits.ideal.grade, np.repeat(hits.grade[first], further)))
        order = np.argsort(query, kind="stable")
        lengths = np.bincount(query, minlength=hits.queries)
        return Ideal(offsets_of(lengths), descending_within(query[order], self.worth(grade[order])))
