"""RePlay's measures of whole lists that nobody else has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.lists.beyond import novelty
from rankstone.lists.beyond.measure import Contributions, OfRun, Parts
from rankstone.lists.beyond.mixes import OfCategories
from rankstone.measures.named import Card

if TYPE_CHECKING:
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables

__all__ = ["CategoricalDiversity", "Novelty", "Surprisal"]


@dataclass(frozen=True, kw_only=True)
class Novelty(OfRun):
    """The share of a list that its user has not met, averaged over all users of the past.

    >>> print(Novelty(k=10))
    Novelty@10
    """

    name: ClassVar[str] = "Novelty"
    family: ClassVar[str] = "novelty"
    needs: ClassVar[tuple[str, ...]] = ("history",)
    card: ClassVar[Card] = Card(
        sentence="How much of what users are shown have they not met before?",
        formula="Novelty@k = (1/|U|) Σ_{u ∈ U} (1 − |L_u ∩ H_u| / n)",
        symbols="U: users of the past; L_u, n: the first k items and how many these are; H_u: what u met",
        example="a list (a, b) of a user who met a, and a user without a list: (1/2 + 1) / 2 = 3/4",
        needs="the past",
        undefined="never; a user of the past without a list counts 1, one without a past not at all",
        sensitive="users without a list: the more, the better",
        use="to read RePlay's numbers; Unexpectedness(against=history) averages over the lists",
        citation="RePlay 0.22",
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Give each user of the past the share of new items, 1 without a list."""
        users = tables.past.users
        fresh = lists.total((tables.past.once.find(lists) < 0).astype(np.float64)) / np.maximum(lists.n, 1)
        counted = fresh[np.isin(lists.user, users)]
        return Parts(np.concatenate((counted, np.ones(len(users) - len(counted)))), float(len(users)))


@dataclass(frozen=True, kw_only=True)
class CategoricalDiversity(OfCategories):
    """How many categories the first k items have, over k.

    >>> print(CategoricalDiversity(k=10))
    CategoricalDiversity@10
    """

    name: ClassVar[str] = "CategoricalDiversity"
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
        table, sets = tables.item_table, self.categories(tables)
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
    """Novelty as a share; with one user in the past, what nobody met counts 1, and the rest has no value.

    >>> print(Surprisal(scale="share", denom="k", k=10))
    Novelty(scale=share, denom=k)@10
    """

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its share; log2 of one user is 0, and nothing is divided by it."""
        if tables.user_count() > 1:
            return super().contributions(lists, tables)
        met = tables.popularity(self.count)[lists.item] > 0
        without = lists.total(met.astype(np.float64)) > 0
        return Contributions(np.where(met, 0.0, 1.0), np.where(without, 0.0, float(self.k or 1)))
