"""RePlay's RocAuc of the first k items alone, and its own measures of whole lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.rankings.recommendation import novelty
from rankstone.rankings.recommendation.calibration import CategoryMeasure
from rankstone.rankings.recommendation.recommendation_measure import Parts, WholeRunMeasure

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


@dataclass(frozen=True, kw_only=True)
class RocAuc(BinaryMeasure):
    """The area under the ROC curve of the first k items, 1 if all of them are relevant.

    >>> print(RocAuc(k=5))
    RocAuc@5
    """

    family: ClassVar[str] = "pairs"
    card: ClassVar[Card] = Card(
        sentence="Among the first k items: how often is a relevant one above a nonrelevant one?",
        formula="RocAuc@k = (1 / (r f)) Σ_{relevant d} (f − a_d);  0 if r = 0, 1 if f = 0",
        symbols="r, f: relevant items and others among the first k; a_d: others above d",
        example="relevant, not, relevant, not; k = 4: (2 + 1) / (2·2) = 3/4",
        sensitive="documents below rank k, or not retrieved, have no effect",
        use="to read RePlay's numbers; AUC states its negatives",
        citation="RePlay 0.22",
    )

    #: which documents are among the first k decides what is counted
    claims = Claims(closed_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the share of the others that are below it; divide by the relevant hits."""
        relevant = hits.relevant(self.rel)
        found = hits.count(relevant)
        others = hits.spread(np.minimum(self.depth(hits), hits.n) - found)
        above = hits.rank - hits.running_count(relevant)
        shares = np.where(others > 0, (others - above) / np.maximum(others, 1), 1.0)
        return Contributions(np.where(relevant, shares, 0.0), np.maximum(found, 1).astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class Novelty(WholeRunMeasure):
    """The share of a list that is not in its user's history, averaged over all users of the history.

    >>> print(Novelty(k=10))
    Novelty@10
    """

    family: ClassVar[str] = "novelty"
    needs: ClassVar[tuple[str, ...]] = ("history",)
    card: ClassVar[Card] = Card(
        sentence="What share of the recommended items is not in the user's history?",
        formula="Novelty@k = (1/|U|) Σ_{u ∈ U} (1 − |L_u ∩ H_u| / n)",
        symbols="U: users of the history; L_u, n: the first k items and their number; H_u: u's history",
        example="a list (a, b) of a user whose history has a, and a user without a list: (1/2 + 1) / 2 = 3/4",
        needs="the history",
        undefined="never; a user of the history without a list scores 1; others do not count",
        sensitive="users without a list: the more, the better",
        use="to read RePlay's numbers; Unexpectedness(against=history) averages over the lists",
        citation="RePlay 0.22",
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Give each user of the history the share of new items, 1 without a list."""
        users = tables.past.users
        fresh = lists.total((tables.past.once.find(lists) < 0).astype(np.float64)) / np.maximum(lists.n, 1)
        counted = fresh[np.isin(lists.user, users)]
        return Parts(np.concatenate((counted, np.ones(len(users) - len(counted)))), float(len(users)))


@dataclass(frozen=True, kw_only=True)
class CategoricalDiversity(CategoryMeasure):
    """The number of categories of the first k items, divided by k.

    >>> print(CategoricalDiversity(k=10))
    CategoricalDiversity@10
    """

    family: ClassVar[str] = "diversity"
    needs: ClassVar[tuple[str, ...]] = ("items",)
    card: ClassVar[Card] = Card(
        sentence="How many categories does a list show?",
        formula="CategoricalDiversity@k(u) = |{c(i) : i ∈ L_u}| / k",
        symbols="c(i): the category of item i (of several, all); L_u: the first k items",
        example="categories a, a, b; k = 4: 2/4",
        needs="a table of items with categories",
        span=(0.0, None),
        undefined="never",
        sensitive="lists shorter than k; items without a category add none",
        use="to read RePlay's numbers",
        citation="RePlay 0.22",
    )

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Count each category of a list once; divide by k."""
        table, sets = tables.item_table, self.sets(tables)
        there, size, label = sets.spread(table.rows(lists))
        cell = np.unique(np.repeat(lists.list[there], size) * max(len(sets.names), 1) + label)
        count = np.bincount(cell // max(len(sets.names), 1), minlength=len(lists))
        return Contributions(
            np.zeros(len(lists.item)),
            np.full(len(lists), float(self.k or 1)),
            missed=count.astype(np.float64),
        )


@dataclass(frozen=True, kw_only=True)
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
        return Contributions(np.where(met, 0.0, 1.0), np.where(without, 0.0, float(self.k or 1)))
