"""Calibration: whether the categories of a list have the shares of those in the user's history."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.list_arrays import list_numbers, sums
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.rankings.recommendation.recommendation_measure import (
    DISCOUNTS,
    PERSISTENCE,
    Attention,
    PerListMeasure,
)

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.rankings.recommendation.items import Sets
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables

#: the most cells of a table of lists by categories; of larger tables only the cells in use are stored
_CELLS: Final = 1 << 22


@dataclass(frozen=True, kw_only=True)
class CategoryMeasure(PerListMeasure):
    """A measure of the categories of the items of a list."""

    item_column = "category"

    category: str | None = parameter(
        None, "column of --items; default: `category`, or the only one", word=True
    )


def cells(of: Ints, row: Ints, weight: Floats, sets: Sets) -> tuple[Ints, Floats]:
    """Return (list, category) as one number for every category of every row, and its part of the weight.

    Parameters
    ----------
    of, row
        int64: the list of each row, and its row in the table of items (-1 without one).
    weight
        float64: the weight of each row, divided equally among its categories.
    sets
        The categories.
    """
    there, size, label = sets.spread(row)
    cell = of[there] * len(sets.names)
    share = weight[there] / size
    if sets.single:
        return cell + label, share
    return np.repeat(cell, size) + label, np.repeat(share, size)


class CategoryShares:
    """Several distributions over categories for the same lists.

    Parameters
    ----------
    lists, categories
        How many there are.
    *parts
        For each distribution its cells and their weights, as :func:`cells` returns them.

    Attributes
    ----------
    list, category
        int64 ``[cells]``: the list and the category of each cell.
    """

    def __init__(
        self, lists: int, categories: int, *parts: tuple[Ints, Floats]
    ) -> None:
        self._lists = lists
        if lists * categories <= _CELLS:
            used = np.arange(lists * categories)
            places = [cell for cell, _ in parts]
        else:
            used, place = np.unique(
                np.concatenate([cell for cell, _ in parts]), return_inverse=True
            )
            places = np.split(place, np.cumsum([len(cell) for cell, _ in parts])[:-1])
        self.list = used // max(categories, 1)
        self.category = used % max(categories, 1)
        self._amounts = [
            sums(cell, weight, len(used))
            for cell, (_, weight) in zip(places, parts, strict=True)
        ]

    def of_part(self, part: int) -> tuple[Floats, Bools]:
        """Return the shares of one part, float64 ``[cells]``, and which lists have any, ``[lists]``."""
        amount = self._amounts[part]
        whole = self.total(amount)
        has_any = whole > 0
        return amount / np.where(has_any, whole, 1.0)[self.list], has_any

    def total(self, values: Floats) -> Floats:
        """Sum the cells of each list, in the order of categories, float64 ``[lists]``."""
        return sums(self.list, values, self._lists)


@dataclass(frozen=True, kw_only=True)
class Calibration(Attention, CategoryMeasure, family="calibration"):
    """Calibration: the distance of the categories of a list from those of the user's history.

    >>> print(Calibration(category="genre", distance="js", k=10))
    Calibration(category=genre, distance=js)@10
    """

    aliases = ("Miscalibration", "CalibrationKL")
    needs = ("items", "history")
    of_items = False
    card = Card(
        sentence="How different are the category shares of a list from those of the user's history?",
        formula="C_KL(u) = Σ_c p(c) ln(p(c) / q̃(c)), q̃ = (1 − α) q + α p;  Hellinger √(Σ (√p − √q)² / 2);  "
        "JS (KL(p, m) + KL(q, m)) / 2, m = (p + q)/2",
        symbols="p(c): the share of category c in u's history, each interaction divided among the "
        "categories of its item; q(c): the same in the list, ranks weighted by `discount`; 0 where p = 0",
        example="past half a, half b, list all a, α = 0: distance=hellinger √(((√½ − 1)² + ½) / 2) = 0.541",
        needs="a table of items with categories, the history",
        span=(0.0, None),
        direction="lower",
        undefined="no item with a category in the history, or none in the list",
        peers={
            "Steck 2018": "the same; the history may be weighted, by recency for example: weight=<column>",
            "LensKit, RecTools": "have no such measure",
        },
        sensitive="short lists: q is coarse; α bounds what a missing category costs",
        use="users with several interests; 0 means equal shares",
        citation="Steck, RecSys 2018; da Silva, Manzato and Durão, ESWA 2021 (other distances)",
    )

    distance: str = parameter("kl", "between the two shares", "kl", "hellinger", "js")
    alpha: float = parameter(0.01, "share of p added to q, for kl", low=0.0, below=1.0)
    discount: str = parameter(
        "none", "how the weight of an item falls with its rank", *DISCOUNTS
    )
    p: float | None = PERSISTENCE
    weight: str | None = parameter(
        None, "column of --history with weights of interactions", word=True
    )

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Bounded by 1 (hellinger), ln 2 (js) and −ln α (kl)."""
        kl = -math.log(self.alpha) if self.alpha else None
        return (0.0, {"hellinger": 1.0, "js": math.log(2)}.get(self.distance, kl))

    def history_columns(self) -> tuple[str, ...]:
        """Return the column of weights, if there is one."""
        if self.weight is None:
            return ()
        return (self.weight,)

    def check(self, tables: Tables) -> None:
        """Refuse a missing column, and α = 0 for kl, where one missing category is infinite."""
        super().check(tables)
        if self.distance == "kl" and not self.alpha:
            raise BadParameter(
                "Calibration: kl is infinite with alpha=0",
                expected="a small α such as 0.01",
            )

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Sum the contributions of categories, instead of items, to the distance of the list."""
        shares = self._category_shares(lists, tables)
        (p, has_history), (q, has_list) = shares.of_part(0), shares.of_part(1)
        known = has_history & has_list
        terms = self._terms(p, q)
        total = shares.total(terms)
        names = self.sets(tables).names
        lists.record(
            "category",
            lambda: [names[category] for category in shares.category.tolist()],
            total=total,
            past_share=p,
            list_share=q,
            contribution=terms,
        )
        norm = known.astype(np.float64)
        return Contributions(
            np.zeros(len(lists.item)), norm, missed=np.where(known, total, 0.0)
        )

    def link(self, ratio: Floats) -> Floats:
        """Return the root for the Hellinger distance; rounding below zero is removed."""
        ratio = np.maximum(ratio, 0.0)
        if self.distance == "hellinger":
            return np.sqrt(ratio)
        return ratio

    def _terms(self, p: Floats, q: Floats) -> Floats:
        if self.distance == "hellinger":
            return (np.sqrt(p) - np.sqrt(q)) ** 2 / 2.0
        if self.distance == "js":
            return (_kl(p, (p + q) / 2.0) + _kl(q, (p + q) / 2.0)) / 2.0
        return _kl(p, (1.0 - self.alpha) * q + self.alpha * p)

    def _category_shares(self, lists: ListFrame, tables: Tables) -> CategoryShares:
        """Return the category shares of the user's history and of the list."""
        table = tables.item_table
        past = tables.past
        sets = self.sets(tables)
        count, pairs = past.of_lists(lists)
        before = list_numbers(count)
        weight = (
            np.ones(len(before))
            if self.weight is None
            else past.columns[self.weight][pairs]
        )
        old = cells(before, table.rows_of(past.item[pairs]), weight, sets)
        new = cells(lists.query, table.rows(lists), self.attention(lists.rank), sets)
        return CategoryShares(len(lists), len(sets.names), old, new)


def _kl(p: Floats, q: Floats) -> Floats:
    """Return p ln(p/q), 0 where p is."""
    positive = p > 0
    terms = np.zeros(len(p))
    terms[positive] = p[positive] * np.log(p[positive] / q[positive])
    return terms
