"""RecBole's measures of whole lists; its catalogue includes a padding item that is never recommended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.core.definition import parameter
from rankstone.measures.core.measure import Contributions
from rankstone.rankings.recommendation import catalogue_coverage as catalogue_measures
from rankstone.rankings.recommendation.recommendation_measure import (
    Parts,
    PerListMeasure,
    WholeRunMeasure,
)
from rankstone.rankings.recommendation.recommendation_tables import Catalogue

if TYPE_CHECKING:
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


class _Padded:
    """Mixin before a measure of the catalogue, which adds an item that is never shown."""

    def items(self, lists: ListFrame, tables: Tables) -> Catalogue:
        """Return the items of the catalogue, and one more."""
        catalogue: Catalogue = super().items(lists, tables)  # type: ignore[misc]
        return Catalogue(catalogue.size + 1, catalogue.code)


class ItemCoverage(_Padded, catalogue_measures.Coverage):
    """The share of the catalogue, padding included, that is in any list.

    >>> print(ItemCoverage(k=10))
    ItemCoverage@10
    """

    name = "ItemCoverage"


@dataclass(frozen=True, kw_only=True)
class GiniIndex(_Padded, catalogue_measures.Gini):
    """The inequality of recommendations over the items of the catalogue, padding included.

    >>> print(GiniIndex(k=10))
    GiniIndex@10
    """

    name = "GiniIndex"

    denom: str = parameter("m", "what the sum is divided by", "m_minus_1", "m")


class ShannonEntropy(Replay, WholeRunMeasure, family="catalogue"):
    """The entropy of recommended items, divided by their number.

    >>> print(ShannonEntropy(k=10))
    ShannonEntropy@10
    """

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Give each item −p ln p; divide by the items."""
        counts = lists.counts(tables.known)
        share = counts[counts > 0] / max(counts.sum(), 1)
        return Parts(-share * np.log(share), float(len(share)))


@dataclass(frozen=True, kw_only=True)
class TailPercentage(Replay, PerListMeasure, family="popularity"):
    """The share of a list that belongs to the least popular tenth of the items of the history.

    >>> print(TailPercentage(k=10))
    TailPercentage@10
    """

    needs = ("history",)

    tail_ratio: float = parameter(
        0.1, "share of the items of the history", above=0.0, high=1.0
    )

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Count 1 for each item of the tail."""
        place = tables.popularity_place("records")
        met = tables.items_met().size
        tail = max(int(met * self.tail_ratio), 1)
        shown = place[lists.item]
        rare = (shown >= met - tail) & (shown < met)
        return Contributions(rare.astype(np.float64), lists.n.astype(np.float64))
