"""Calibration: whether a list mirrors the interests its user has shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.lists.beyond.measure import DISCOUNTS, Attention, Contributions
from rankstone.lists.beyond.mixes import Mixes, OfCategories, cells
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables

__all__ = ["Calibration"]


@dataclass(frozen=True, kw_only=True)
class Calibration(Attention, OfCategories):
    """Calibration: how far the categories of a list are from those of the user's past.

    >>> print(Calibration(category="genre", distance="js", k=10))
    Calibration(category=genre, distance=js)@10
    """

    name: ClassVar[str] = "Calibration"
    family: ClassVar[str] = "calibration"
    aliases: ClassVar[tuple[str, ...]] = ("Miscalibration", "CalibrationKL")
    needs: ClassVar[tuple[str, ...]] = ("items", "history")
    of_items: ClassVar[bool] = False
    card: ClassVar[Card] = Card(
        sentence="How far is the mix of categories in a list from the mix in the user's past?",
        formula="C_KL(u) = Σ_c p(c) ln(p(c) / q̃(c)), q̃ = (1 − α) q + α p;  Hellinger √(Σ (√p − √q)² / 2);  "
        "JS (KL(p, m) + KL(q, m)) / 2, m = (p + q)/2",
        symbols="p(c): the share of category c in u's past, each interaction shared equally over the item's "
        "categories; q(c): the same in the list, ranks weighed by `discount`; terms with p = 0 are 0",
        example="past half a, half b, list all a, α = 0: distance=hellinger √(((√½ − 1)² + ½) / 2) = 0.541",
        needs="a table of items with categories, the past",
        span=(0.0, None),
        direction="lower",
        undefined="no item with a category in the past, or none in the list",
        peers={
            "Steck 2018": "the same; the past may be weighed, by recency say: weight=<column>",
            "LensKit, RecTools": "have no such measure",
        },
        sensitive="short lists: q is coarse; α bounds what a missing category costs",
        use="users with several interests; 0 is a perfect mirror",
        citation="Steck, RecSys 2018; da Silva, Manzato and Durão, ESWA 2021 (other distances)",
    )

    distance: str = parameter("kl", "between the two mixes", "kl", "hellinger", "js")
    alpha: float = parameter(0.01, "share of p mixed into q, for kl", low=0.0, below=1.0)
    discount: str = parameter("none", "how a rank weighs in the list's mix", *DISCOUNTS)
    p: float | None = parameter(None, "discount=geometric: p^(i−1)", above=0.0, below=1.0)
    weight: str | None = parameter(None, "column of --history that weighs interactions", word=True)

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Bounded by 1 (hellinger), ln 2 (js) and −ln α (kl)."""
        kl = -math.log(self.alpha) if self.alpha else None
        return (0.0, {"hellinger": 1.0, "js": math.log(2)}.get(self.distance, kl))

    def history_columns(self) -> tuple[str, ...]:
        """Return the column of weights, where there is one."""
        return () if self.weight is None else (self.weight,)

    def check(self, tables: Tables) -> None:
        """Refuse a column that is not there, and α = 0 for kl, where one missing category is infinite."""
        super().check(tables)
        if self.distance == "kl" and not self.alpha:
            raise BadParameter("Calibration: alpha=0 makes kl infinite", expected="a small α such as 0.01")

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Sum over categories instead of items: what each adds to the distance of its list."""
        mixes = self._mixes(lists, tables)
        (p, before), (q, now) = mixes.shares(0), mixes.shares(1)
        known = before & now
        terms = self._terms(p, q)
        total = mixes.total(terms)
        names = self.categories(tables).names
        lists.tell(
            "category",
            lambda: [names[at] for at in mixes.category.tolist()],
            total=total,
            past_share=p,
            list_share=q,
            contribution=terms,
        )
        norm = known.astype(np.float64)
        return Contributions(np.zeros(len(lists.item)), norm, missed=np.where(known, total, 0.0))

    def link(self, ratio: Floats) -> Floats:
        """Take the root that the Hellinger distance has, and rounding below zero away."""
        ratio = np.maximum(ratio, 0.0)
        return np.sqrt(ratio) if self.distance == "hellinger" else ratio

    def _terms(self, p: Floats, q: Floats) -> Floats:
        if self.distance == "hellinger":
            return (np.sqrt(p) - np.sqrt(q)) ** 2 / 2.0
        if self.distance == "js":
            return (_kl(p, (p + q) / 2.0) + _kl(q, (p + q) / 2.0)) / 2.0
        return _kl(p, (1.0 - self.alpha) * q + self.alpha * p)

    def _mixes(self, lists: ListFrame, tables: Tables) -> Mixes:
        """Return the categories of each user's past, and those of the list."""
        table, past, sets = tables.item_table, tables.past, self.categories(tables)
        count, pairs = past.of_lists(lists)
        before = np.repeat(np.arange(len(lists)), count)
        weight = np.ones(len(before)) if self.weight is None else past.columns[self.weight][pairs]
        old = cells(before, table.rows_of(past.item[pairs]), weight, sets)
        new = cells(lists.list, table.rows(lists), self.attention(lists.rank), sets)
        return Mixes(len(lists), len(sets.names), old, new)


def _kl(p: Floats, q: Floats) -> Floats:
    """Return p ln(p/q), 0 where p is."""
    some = p > 0
    terms = np.zeros(len(p))
    terms[some] = p[some] * np.log(p[some] / q[some])
    return terms
