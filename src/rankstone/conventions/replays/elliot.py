"""Elliot's means of precision and recall over all ranks, and its AUC with one negative too many.

Elliot's own measures of whole lists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.core.definition import Threshold, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.rankings.recommendation import catalogue_coverage as catalogue_measures
from rankstone.rankings.recommendation.list_frame import sums_by_item
from rankstone.rankings.recommendation.recommendation_measure import (
    Parts,
    WholeRunMeasure,
)

if TYPE_CHECKING:
    from rankstone._basics import Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.claims import Claims
    from rankstone.measures.core.definition import RelevantFrom
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


@dataclass(frozen=True, kw_only=True)
class _Binary(Replay, BinaryMeasure):
    """A measure in which relevant means at least the relevance threshold, 1 here."""

    rel: RelevantFrom = parameter(Threshold(1.0), "relevant means grade ≥ rel")


class MAP(_Binary):
    """The mean of P@1 … P@k, hit or not.

    >>> print(MAP(k=5))
    MAP@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit its share of the precisions from its rank down to k; divide by k."""
        tail = np.concatenate(
            (np.cumsum(1.0 / np.arange(self.k or 0, 0, -1))[::-1], [0.0])
        )
        shares = hits.at_rank(lambda rank: tail[np.minimum(rank, len(tail)) - 1])
        relevant = hits.relevant(self.rel)
        return Contributions(
            np.where(relevant, shares, 0.0), np.full(hits.queries, float(self.k or 0))
        )


class MAR(_Binary):
    """The mean of R@1 … R@k.

    >>> print(MAR(k=5))
    MAR@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the ranks from its own down to k; divide by k R."""
        k = self.k or 0
        ranks = hits.at_rank(lambda rank: np.maximum(k + 1.0 - rank, 0.0))
        norm = k * hits.relevant_count(self.rel).astype(np.float64)
        return Contributions(np.where(hits.relevant(self.rel), ranks, 0.0), norm)


class GAUC(_Binary, family="pairs"):
    """AUC of each user, with one negative too many.

    >>> print(GAUC())
    GAUC
    """

    @property
    def claims(self) -> Claims:
        """Ranks are what is counted."""
        return replace(super().claims, closed_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the share of negatives below it; divide by those that could earn one."""
        relevant = hits.relevant(self.rel)
        negatives = hits.n - hits.relevant_count(self.rel) + 1.0
        above = hits.rank - hits.running_count(relevant)
        whole = hits.spread(np.maximum(negatives, 1.0))
        shares = np.where(relevant, (whole - above) / whole, 0.0)
        return Contributions(shares, self.most(hits).astype(np.float64))

    def most(self, hits: Hits) -> Ints:
        """Return how many relevant items could earn something: all."""
        return hits.relevant_count(self.rel)


class LAUC(GAUC):
    """GAUC of the relevant items among the first k.

    >>> print(LAUC(k=5))
    LAUC@5
    """

    name = "LAUC"

    def most(self, hits: Hits) -> Ints:
        """Return how many relevant items could earn something: k at most."""
        return np.minimum(super().most(hits), self.k or 0)


@dataclass(frozen=True, kw_only=True)
class AUC(GAUC):
    """GAUC of all ranked relevant items, pooled over users.

    >>> print(AUC())
    AUC
    """

    name = "AUC"

    agg: str = parameter("pooled", "how queries become one number", "pooled")

    def most(self, hits: Hits) -> Ints:
        """Return how many relevant items are ranked."""
        return hits.count(hits.relevant(self.rel))


class Gini(catalogue_measures.Gini):
    """The evenness of recommendations over items: one minus the Gini index.

    >>> print(Gini(among="past", k=10))
    Gini(among=past)@10
    """

    def link(self, ratio: float) -> float:
        """Turn inequality into equality."""
        return 1.0 - ratio


class SEntropy(Replay, WholeRunMeasure, family="catalogue"):
    """The mean self-information of recommended items, by their share of all recommendations.

    >>> print(SEntropy(k=10))
    SEntropy@10
    """

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Give each item its self-information, weighted by the lists that show it."""
        counts = lists.counts(tables.known)
        weight = sums_by_item(lists.item, 1.0 / lists.n[lists.query], tables.known)
        shown = counts > 0
        information = -np.log2(counts[shown] / max(int(counts.sum()), 1))
        return Parts(weight[shown] * information, float(len(lists)))
