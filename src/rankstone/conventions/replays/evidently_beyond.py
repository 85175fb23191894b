"""Evidently's personalization and serendipity, as it computes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.lists.beyond import distances
from rankstone.lists.beyond.measure import ANY, Contributions, OfLists, OfRun, Parts
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables

__all__ = ["Personalization", "Serendipity"]


@dataclass(frozen=True, kw_only=True)
class Personalization(OfRun):
    """How little lists have in common, as if each of them had k items.

    >>> print(Personalization(k=10))
    Personalization@10
    """

    name: ClassVar[str] = "Personalization"
    family: ClassVar[str] = "catalogue"
    card: ClassVar[Card] = Card(
        sentence="How different are the lists of two users?",
        formula="Personalization@k = 1 − (Σ_i c_i² − k |U|) / (k |U| (|U| − 1))",
        symbols="c_i: lists that hold item i; U: lists",
        example="lists (a, b) and (a), k = 2: c = 2, 1: 1 − (5 − 4)/(2·2·1) = 3/4",
        needs="nothing beside the run",
        span=(None, None),
        undefined="one list",
        sensitive="lists shorter than k: every place they lack counts as a pair less, up to values above 1",
        use="to read Evidently's numbers; Personalization is the same where all lists have k items",
        citation="Evidently 0.7",
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Count for each item the pairs of lists that share it, a list with itself too."""
        users, k = len(lists), self.k or int(lists.n.max(initial=0))
        counts = lists.counts(tables.known).astype(np.float64)
        return Parts(np.append(counts * counts, -float(k * users)), float(k * users * (users - 1)))

    def link(self, ratio: float) -> float:
        """Turn likeness into difference."""
        return 1.0 - ratio


@dataclass(frozen=True, kw_only=True)
class Serendipity(OfLists):
    """One minus how much the relevant items of a list are like the past, summed over them.

    >>> print(Serendipity(k=10))
    Serendipity@10
    """

    name: ClassVar[str] = "Serendipity"
    family: ClassVar[str] = "novelty"
    needs: ClassVar[tuple[str, ...]] = ("qrels", "history", "items")
    card: ClassVar[Card] = Card(
        sentence="How unlike the past is what is relevant?",
        formula="Serendipity@k(u) = 1 − Σ_{relevant i ∈ L_u} (1/|H_u|) Σ_{j ∈ H_u} cos(i, j)",
        symbols="L_u: the first k items; H_u: distinct items u met; cos(i, i) = 1 even without any feature",
        example="two relevant items, like the past by 1/2 and 3/4: 1 − 5/4 = −1/4",
        needs="judgments, the past, a table of items with numbers",
        span=(None, None),
        undefined="no relevant item among the first k, or a user without a past: left out of the mean",
        sensitive="the number of relevant items shown: a sum is taken from one, so that more are worth less",
        use="to read Evidently's numbers; Serendipity(expected=history) takes a mean",
        citation="Evidently 0.7",
    )

    features: str | None = parameter(
        None,
        "column of --items (several with +); default: the column `features`, or all there are",
        word=True,
    )

    def check(self, tables: Tables) -> None:
        """Refuse columns that are not there, or hold no numbers."""
        super().check(tables)
        tables.item_table.check_numbers(self._columns(tables))

    def _columns(self, tables: Tables) -> tuple[str, ...]:
        return tables.item_table.chosen(self.features, "features", str(self))

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Take from one what each relevant item shares with the past."""
        table, columns, past = tables.item_table, self._columns(tables), tables.past.once
        units, known = tables.units(columns), table.vectors(columns).known
        count, pairs = past.of_lists(lists)
        row = table.rows_of(past.item[pairs])
        usable = (row >= 0) & known[row]
        whose = np.repeat(np.arange(len(lists)), count)[usable]
        sums = distances.sum_by_list(np.bincount(whose, minlength=len(lists)), row[usable], units)
        here, relevant = table.rows(lists), tables.is_relevant(lists, ANY)
        shown = np.flatnonzero((here >= 0) & known[here] & (relevant > 0))
        like = np.zeros(len(here))
        like[shown] = distances.dots_of_vectors(here[shown], units, lists.list[shown], sums)
        # an item is like itself even where its features are all zero
        itself = (past.find(lists)[shown] >= 0) & ~units[here[shown]].any(axis=1)
        like[shown[itself]] += 1.0
        counted = (lists.total(relevant) > 0) & (count > 0)
        norm = counted.astype(np.float64)
        return Contributions(-like / np.maximum(count, 1)[lists.list], norm, missed=norm)
