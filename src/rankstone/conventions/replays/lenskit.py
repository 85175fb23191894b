"""LensKit's entropy of the categories inside a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.hits.list_arrays import sums
from rankstone.measures.core.measure import Contributions
from rankstone.rankings.recommendation.calibration import CategoryMeasure
from rankstone.rankings.recommendation.recommendation_measure import (
    PERSISTENCE,
    Attention,
    falling,
)

if TYPE_CHECKING:
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


#: the initial weight of every category
_START: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class CategoryEntropy(Replay, Attention, CategoryMeasure, family="diversity"):
    """The entropy of a list's categories, in bits.

    >>> print(CategoryEntropy(discount="geometric", p=0.85, k=10))
    entropy(discount=geometric, p=0.85)@10
    """

    name = "entropy"
    needs = ("items",)

    discount: str = falling("none")
    p: float | None = PERSISTENCE

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Sum over categories instead of items; all that are not in the list have the same term."""
        table = tables.item_table
        sets = self.sets(tables)
        m = len(sets.names)
        there, size, label = sets.spread(table.rows(lists))
        cell, place = np.unique(
            np.repeat(lists.query[there], size) * m + label, return_inverse=True
        )
        attention = np.repeat(self.attention(lists.rank)[there], size)
        weight = _START + sums(place, attention, len(cell))
        of = cell // max(m, 1)
        absent = (m - np.bincount(of, minlength=len(lists))).astype(np.float64)
        whole = sums(of, weight, len(lists)) + absent * _START
        known = np.where(whole > 0, whole, 1.0)
        share = weight / known[of]
        rest = _START / known
        bits = -sums(of, share * np.log2(share), len(lists)) - absent * rest * np.log2(
            rest
        )
        return Contributions(
            np.zeros(len(lists.item)), (whole > 0).astype(np.float64), missed=bits
        )
