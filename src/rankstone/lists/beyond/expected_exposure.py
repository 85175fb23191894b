"""Expected exposure: what items receive against what equally relevant ones deserve. EED, EER, EEL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankstone.hits.arrays import sums
from rankstone.lists.beyond.groups import GROUP
from rankstone.lists.beyond.measure import ANY, DISCOUNTS, Attention, OfRun, Parts
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables
    from rankstone.measures.base import Threshold

__all__ = ["EED", "EEL", "EER"]

_SYMBOLS = (
    "ε_i: attention a(rank) of item i, mean over the run's lists; ε*_i: the same for ideal lists that show "
    "relevant items first in random order, then all others in random order; by=group: ε and ε* summed over "
    "the items of each group; a(r) is 0 below k"
)
_NEEDS = "a table of items (all of them; with a column that tells groups for by=group)"
_SENSITIVE = "k: attention below it is zero; unjudged items count as not relevant"
_CITATION = (
    "Diaz, Mitra, Ekstrand, Biega and Carterette, CIKM 2020; over groups: Raj and Ekstrand, SIGIR 2022"
)


@dataclass(frozen=True, kw_only=True)
class _Expected(Attention, OfRun):
    """A measure of expected exposure over all lists of a run."""

    family: ClassVar[str] = "exposure fairness"
    needs: ClassVar[tuple[str, ...]] = ("items", "qrels")

    by: str = parameter("item", "whose exposure: each item's, or each group's", "item", "group")
    group: str | None = parameter(None, "by=group: " + GROUP, word=True)
    discount: str = parameter("log2", "how attention falls with the rank", *DISCOUNTS)
    p: float | None = parameter(None, "discount=geometric: p^(i−1)", above=0.0, below=1.0)
    rel: Threshold = parameter(ANY, 'relevant means grade ≥ rel; ">2" for strictly greater')

    def check(self, tables: Tables) -> None:
        """Refuse a column that is not there."""
        super().check(tables)
        if self.by == "group":
            tables.item_table.chosen(self.group, "group", str(self))

    def received(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return ε, float64 ``[table rows]`` or ``[groups]``."""
        found = lists.exposure(tables.known, self.attention)[tables.item_table.code]
        return self._by(found / max(len(lists), 1), tables)

    def due(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return ε*, float64 ``[table rows]`` or ``[groups]``."""
        table = tables.item_table
        pairs = tables.relevant(self.rel)
        row = table.rows_of(pairs.item)
        pairs, row = pairs.where(row >= 0), row[row >= 0]
        count = pairs.of_users(lists.user)[1]
        relevant, other = self._places(count, len(table), int(lists.n.max(initial=0)))
        # everybody's share for items that are not relevant, then what relevance adds to it
        found = np.full(len(table), other.sum())
        order = np.argsort(lists.user)
        at = order[np.minimum(np.searchsorted(lists.user[order], pairs.user), len(order) - 1)]
        theirs = lists.user[at] == pairs.user
        found += sums(row[theirs], (relevant - other)[at[theirs]], len(table))
        return self._by(found / max(len(lists), 1), tables)

    def _places(self, count: Ints, m: int, longest: int) -> tuple[Floats, Floats]:
        """Return the mean attention of relevant items and of others in each user's ideal list."""
        depth = min(self.k if self.k is not None else longest, m)
        attention = self.attention(np.arange(1, depth + 1))
        # summed from either end: a difference of sums would lose the small rest
        first = np.array([0.0, *np.add.accumulate(attention)])[np.minimum(count, depth)]
        rest = np.array([*np.add.accumulate(attention[::-1])[::-1], 0.0])[np.minimum(count, depth)]
        return (
            np.divide(first, count, out=np.zeros(len(count)), where=count > 0),
            np.divide(rest, m - count, out=np.zeros(len(count)), where=m > count),
        )

    def _by(self, values: Floats, tables: Tables) -> Floats:
        if self.by == "item":
            return values
        table = tables.item_table
        return table.sets(self._column(tables)).shared_out(values)

    def _column(self, tables: Tables) -> str:
        return tables.item_table.chosen(self.group, "group", str(self))[0]

    def told(self, lists: ListFrame, tables: Tables, values: Floats, **columns: Any) -> Parts:  # noqa: ANN401
        """Return the values of items (or groups) as parts, and tell what they are made of."""
        table = tables.item_table
        rows = table.code if self.by == "item" else table.sets(self._column(tables)).names
        lists.tell(self.by, rows, **columns, contribution=values)
        return Parts(values, 1.0)


@dataclass(frozen=True, kw_only=True)
class EEL(_Expected):
    """Expected exposure loss: how far exposure is from what relevance deserves.

    >>> print(EEL(by="group", group="author", k=10))
    EEL(by=group, group=author)@10
    """

    name: ClassVar[str] = "EEL"
    aliases: ClassVar[tuple[str, ...]] = ("EE-L",)
    card: ClassVar[Card] = Card(
        sentence="How far is the attention items receive from what equally relevant items deserve?",
        formula="EEL = Σ_i (ε_i − ε*_i)² = EED − EER + Σ_i ε*_i²",
        symbols=_SYMBOLS,
        example="two items, one list, k = 1, item 1 shown, item 2 relevant: (1 − 0)² + (0 − 1)² = 2",
        needs=f"{_NEEDS}; judgments",
        span=(0.0, None),
        direction="lower",
        undefined="never",
        peers={
            "Diaz et al.": "of one query with several rankings: make each query's rankings one run",
            "rank-fairness-metrics EEL": "EEL(by=group), the target from the test items alone",
        },
        sensitive=_SENSITIVE,
        use="one number for fairness and merit; its parts EED and EER draw the trade-off",
        citation=_CITATION,
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Square each item's (or group's) difference."""
        received, due = self.received(lists, tables), self.due(lists, tables)
        return self.told(lists, tables, (received - due) ** 2, received=received, due=due)


@dataclass(frozen=True, kw_only=True)
class EED(_Expected):
    """Expected exposure disparity: how unevenly exposure falls, whatever the relevance.

    >>> print(EED(k=10))
    EED@10
    """

    name: ClassVar[str] = "EED"
    aliases: ClassVar[tuple[str, ...]] = ("EE-D",)
    needs: ClassVar[tuple[str, ...]] = ("items",)
    card: ClassVar[Card] = Card(
        sentence="How unevenly does attention fall on items, whatever their relevance?",
        formula="EED = Σ_i ε_i²",
        symbols=_SYMBOLS,
        example="attention 1 and 0.631 for two items: 1 + 0.398 = 1.398",
        needs=_NEEDS,
        span=(0.0, None),
        direction="lower",
        undefined="never",
        peers={"rank-fairness-metrics EED": "EED(by=group)"},
        sensitive=_SENSITIVE,
        use="one axis of the trade-off with EER",
        citation=_CITATION,
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Square what each item (or group) receives."""
        received = self.received(lists, tables)
        return self.told(lists, tables, received**2, received=received)


@dataclass(frozen=True, kw_only=True)
class EER(_Expected):
    """Expected exposure relevance: how much of the exposure goes where relevance is.

    >>> print(EER(k=10))
    EER@10
    """

    name: ClassVar[str] = "EER"
    aliases: ClassVar[tuple[str, ...]] = ("EE-R",)
    card: ClassVar[Card] = Card(
        sentence="How much of the attention goes to what deserves it?",
        formula="EER = 2 Σ_i ε_i ε*_i",
        symbols=_SYMBOLS,
        example="one list shows the one relevant item at rank 1, k = 1: 2·1·1 = 2",
        needs=f"{_NEEDS}; judgments",
        span=(0.0, None),
        undefined="never",
        peers={"rank-fairness-metrics EER": "EER(by=group), the target from the test items alone"},
        sensitive=_SENSITIVE,
        use="one axis of the trade-off with EED",
        citation=_CITATION,
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Multiply what each item (or group) receives by what it deserves."""
        received, due = self.received(lists, tables), self.due(lists, tables)
        return self.told(lists, tables, 2.0 * received * due, received=received, due=due)
