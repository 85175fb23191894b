"""Serendipity: relevant items that were not to be expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.lists.beyond import distances
from rankstone.lists.beyond.measure import ANY, Contributions, OfLists
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables
    from rankstone.measures.base import Threshold

__all__ = ["Serendipity"]


@dataclass(frozen=True, kw_only=True)
class Serendipity(OfLists):
    """Serendipity: how far relevant items lie from what was to be expected.

    >>> print(Serendipity(expected="history", features="vector", k=10))
    Serendipity(expected=history, features=vector)@10
    """

    name: ClassVar[str] = "Serendipity"
    family: ClassVar[str] = "novelty"
    card: ClassVar[Card] = Card(
        sentence="How much of what is relevant was not to be expected?",
        formula="expected=popular: (1/n) Σ_r max(s(r) − s(pop(i_r)), 0) rel(i_r), s(x) = (m + 1 − x)/m;  "
        "expected=history: (1/n) Σ_r (1 − mean_{j ∈ H_u} cos(i_r, j)) rel(i_r)",
        symbols="pop(i): the place of i by popularity, equal ones share it and none is passed over (s = 0 "
        "for items nobody met); m: items in the catalogue; H_u: distinct items u met, with features; "
        "n: items in the list (denom=k: k)",
        example="m = 4; relevant items at ranks 1 and 2, 2nd and 3rd by popularity: "
        "(4/4 − 3/4 + 3/4 − 2/4)/2 = 1/4",
        needs="judgments, the past; expected=popular the number of items, expected=history a table of items",
        span=(0.0, None),
        undefined="expected=history: no known item in the past",
        peers={
            "RecTools Serendipity": "Serendipity(count=records); its formula says k, its code n",
            "recommenders serendipity": "Serendipity(expected=history) over feature vectors; its other "
            "likeness is co-occurrence; all items relevant unless told",
            "Evidently Serendipity": "1 − Σ of likenesses of relevant items to the past, not their mean",
        },
        sensitive="unjudged items count as not relevant; features that say little",
        use="two definitions under one name: always print which",
        citation="Murakami, Mori and Orihara, 2008; Zhang et al. (Auralist), WSDM 2012",
    )

    expected: str = parameter("popular", "what was to be expected", "popular", "history")
    count: str = parameter("users", "popularity counts users, or interactions", "users", "records")
    features: str | None = parameter(
        None,
        "column of --items for expected=history (several with +); default: `features`, or all",
        word=True,
    )
    rel: Threshold = parameter(ANY, 'relevant means grade ≥ rel; ">2" for strictly greater')
    denom: str = parameter("n", "what is divided by: the list's length, or k", "n", "k")

    def needed(self) -> tuple[str, ...]:
        """Judgments, the past, and what says how items are related."""
        return ("qrels", "history", "catalogue" if self.expected == "popular" else "items")

    def check(self, tables: Tables) -> None:
        """Refuse columns that are not there."""
        super().check(tables)
        if self.expected == "history":
            tables.item_table.chosen(self.features, "features", str(self))

    def relevance(self) -> Threshold:
        """Return when an item is relevant."""
        return self.rel

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each relevant item what makes it surprising."""
        norm = lists.n if self.denom == "n" or self.k is None else np.full(len(lists), self.k)
        relevant = tables.is_relevant(lists, self.rel)
        if self.expected == "popular":
            surprise = self._beyond_popular(lists, tables)
            lists.tell_columns(relevant=lambda: relevant > 0, surprise=surprise)
            return Contributions(relevant * surprise, norm.astype(np.float64))
        surprise, known = self._beyond_history(lists, tables)
        lists.tell_columns(relevant=lambda: relevant > 0, surprise=surprise)
        return Contributions(relevant * surprise, np.where(known, norm, 0).astype(np.float64))

    def _beyond_popular(self, lists: ListFrame, tables: Tables) -> Floats:
        m = tables.catalogue(lists).size
        chance = tables.remember(("chance", self.count, m, tables.known), lambda: self._chance(tables, m))
        own = (m + 1.0 - lists.rank) / m
        return np.maximum(own - chance[lists.item], 0.0)

    def _chance(self, tables: Tables, m: int) -> Floats:
        met = tables.popularity(self.count)
        levels = np.unique(met[met > 0])[::-1]
        place = len(levels) - np.searchsorted(levels[::-1], met)
        return np.where(met > 0, (m + 1.0 - place) / m, 0.0)

    def _beyond_history(self, lists: ListFrame, tables: Tables) -> tuple[Floats, Ints]:
        """Return 1 − mean cosine to the user's past, and of how many known items that is the mean."""
        table = tables.item_table
        columns = table.chosen(self.features, "features", str(self))
        text = table.is_text(columns)
        known = table.sets(columns[0]).known if text else table.vectors(columns).known
        past = tables.past.once
        count, pairs = past.of_lists(lists)
        row = table.rows_of(past.item[pairs])
        usable = (row >= 0) & known[row]
        whose, row = np.repeat(np.arange(len(lists)), count)[usable], row[usable]
        met = np.bincount(whose, minlength=len(lists))
        here = table.rows(lists)
        shown = np.flatnonzero((here >= 0) & known[here] & (met > 0)[lists.list])
        of = lists.list[shown]
        if text:
            dots = distances.dots_of_sets(of, here[shown], whose, row, table.sets(columns[0]))
        else:
            units = tables.units(columns)
            sums = distances.sum_by_list(met, row, units)
            dots = distances.dots_of_vectors(here[shown], units, of, sums)
        like = np.zeros(len(here))
        like[shown] = dots / met[of]
        return 1.0 - like, met
