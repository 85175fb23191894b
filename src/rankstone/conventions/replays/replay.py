"""RePlay's RocAuc of the first k items alone, and its own measures of whole lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.rankings.recommendation import novelty
from rankstone.rankings.recommendation.calibration import CategoryMeasure
from rankstone.rankings.recommendation.recommendation_measure import (
    Parts,
    WholeRunMeasure,
)

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


class RocAuc(Replay, BinaryMeasure, family="pairs"):
    """The area under the ROC curve of the first k items, 1 if all of them are relevant.

    >>> print(RocAuc(k=5))
    RocAuc@5
    """

    #: which documents are among the first k decides what is counted
    claims = Claims(closed_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the share of the others that are below it; divide by the relevant hits."""
        relevant = hits.relevant(self.rel)
        retrieved = hits.count(relevant)
        others = hits.spread(np.minimum(self.depth(hits), hits.n) - retrieved)
        above = hits.rank - hits.running_count(relevant)
        shares = np.where(others > 0, (others - above) / np.maximum(others, 1), 1.0)
        return Contributions(
            np.where(relevant, shares, 0.0), np.maximum(retrieved, 1).astype(np.float64)
        )


class Novelty(Replay, WholeRunMeasure, family="novelty"):
    """The share of a list that is not in its user's history, averaged over all users of the history.

    >>> print(Novelty(k=10))
    Novelty@10
    """

    needs = ("history",)

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Give each user of the history the share of new items, 1 without a list."""
        users = tables.past.users
        fresh = lists.total(
            (tables.past.once.find(lists) < 0).astype(np.float64)
        ) / np.maximum(lists.n, 1)
        counted = fresh[np.isin(lists.user, users)]
        return Parts(
            np.concatenate((counted, np.ones(len(users) - len(counted)))),
            float(len(users)),
        )


class CategoricalDiversity(Replay, CategoryMeasure, family="diversity"):
    """The number of categories of the first k items, divided by k.

    >>> print(CategoricalDiversity(k=10))
    CategoricalDiversity@10
    """

    needs = ("items",)

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Count each category of a list once; divide by k."""
        table = tables.item_table
        sets = self.sets(tables)
        there, size, label = sets.spread(table.rows(lists))
        cell = np.unique(
            np.repeat(lists.query[there], size) * max(len(sets.names), 1) + label
        )
        count = np.bincount(cell // max(len(sets.names), 1), minlength=len(lists))
        return Contributions(
            np.zeros(len(lists.item)),
            np.full(len(lists), float(self.k or 1)),
            missed=count.astype(np.float64),
        )


class Surprisal(novelty.Novelty):
    """Novelty as a share; with one user in the history, unknown items score 1, others have no value.

    >>> print(Surprisal(scale="share", denom="k", k=10))
    Novelty(scale=share, denom=k)@10
    """

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its share; log2 of one user is 0, which is not divided by."""
        if tables.user_count() > 1:
            return super().contributions(lists, tables)
        met = tables.popularity(self.count)[lists.item] > 0
        without = lists.total(met.astype(np.float64)) > 0
        return Contributions(
            np.where(met, 0.0, 1.0), np.where(without, 0.0, float(self.k or 1))
        )
