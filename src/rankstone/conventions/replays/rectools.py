"""RecTools' AUC-like measures: lists are assumed to continue until they have k negatives.

RecTools' measures of whole lists: what two runs share, and how full lists are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import parameter
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.rankings.recommendation.recommendation_measure import PerListMeasure

if TYPE_CHECKING:
    from rankstone._basics import Bools, Ints
    from rankstone.hits.hits import Hits
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


class PartialAUC(Replay, BinaryMeasure, family="pairs"):
    """The relevant items against the first k others of the list, as if there were always k.

    >>> print(PartialAUC(k=5))
    PartialAUC@5
    """

    #: k counts negatives, not ranks; ranks are given, ties unknown
    claims = Claims(looks_deeper=True, closed_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit those of the first k others that are below it."""
        k = self.k or 0
        relevant = hits.relevant(self.rel)
        above = hits.rank - hits.running_count(relevant)
        counted = relevant & self.counted(hits, relevant)
        return Contributions(
            np.where(counted, np.maximum(k - above, 0), 0.0),
            self.most(hits).astype(np.float64) * k,
        )

    def counted(self, hits: Hits, relevant: Bools) -> Bools:  # noqa: ARG002 - for subclasses that count fewer
        """Return which relevant hits count: all of them."""
        return relevant

    def most(self, hits: Hits) -> Ints:
        """Return how many relevant items could count."""
        return hits.relevant_count(self.rel)


class PAP(PartialAUC):
    """The first k relevant items against the first k others of the list.

    >>> print(PAP(k=5))
    PAP@5
    """

    def counted(self, hits: Hits, relevant: Bools) -> Bools:
        """Return which relevant hits count: the first k."""
        return hits.running_count(relevant) <= (self.k or 0)

    def most(self, hits: Hits) -> Ints:
        """Return how many relevant items could count: k at most."""
        return np.minimum(super().most(hits), self.k or 0)


@dataclass(frozen=True, kw_only=True)
class Intersection(Replay, PerListMeasure, family="novelty"):
    """The share of a list that another run also has.

    >>> print(Intersection(ref_k=20, k=10))
    Intersection(ref_k=20)@10
    """

    needs = ("baseline",)

    ref_k: int | None = parameter(None, "cutoff of the other run", low=1, whole=True)

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Count 1 for each item that the other run has."""
        shared = (
            tables.expected(self.k if self.ref_k is None else int(self.ref_k)).find(
                lists
            )
            >= 0
        )
        return Contributions(shared.astype(np.float64), lists.n.astype(np.float64))

    @property
    def deepest(self) -> int | None:
        """The deepest rank it looks at, in either run."""
        if self.k is None:
            return None
        return max(self.k, int(self.ref_k or 0))


class SufficientReco(Replay, PerListMeasure, family="catalogue"):
    """The share of the k ranks that have an item.

    >>> print(SufficientReco(k=10))
    SufficientReco@10
    """

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:  # noqa: ARG002 - needs none
        """Count 1 for each item."""
        return Contributions(
            np.ones(len(lists.item)), np.full(len(lists), float(self.k or 1))
        )
