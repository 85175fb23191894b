"""Mixes of categories: the share that each category has in each list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.hits.arrays import sums
from rankstone.lists.beyond.measure import OfLists
from rankstone.measures.named import parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.lists.beyond.items import Sets
    from rankstone.lists.beyond.tables import Tables

__all__ = ["Mixes", "OfCategories", "cells"]

#: cells of a table of lists by categories; beyond it only the cells in use get a place
_CELLS: Final = 1 << 22


@dataclass(frozen=True, kw_only=True)
class OfCategories(OfLists):
    """A measure of the categories that the items of a list have."""

    category: str | None = parameter(
        None, "column of --items; default: `category`, or the only one", word=True
    )

    def check(self, tables: Tables) -> None:
        """Refuse a column that is not there."""
        super().check(tables)
        tables.item_table.chosen(self.category, "category", str(self))

    def categories(self, tables: Tables) -> Sets:
        """Return the categories of each item in the table."""
        table = tables.item_table
        return table.sets(table.chosen(self.category, "category", str(self))[0])


def cells(of: Ints, row: Ints, weight: Floats, sets: Sets) -> tuple[Ints, Floats]:
    """Return (list, category) as one number for every category of every row, and its part of the weight.

    Parameters
    ----------
    of, row
        int64: the list of each row, and its row in the table of items (-1 is none).
    weight
        float64: what each row weighs, shared equally by its categories.
    sets
        The categories.
    """
    there, size, label = sets.spread(row)
    cell, share = of[there] * len(sets.names), weight[there] / size
    if sets.single:
        return cell + label, share
    return np.repeat(cell, size) + label, np.repeat(share, size)


class Mixes:
    """Several mixes of the same lists, laid beside each other.

    Parameters
    ----------
    lists, categories
        How many there are.
    *parts
        For each mix its cells and their weights, as :func:`cells` returns them.

    Attributes
    ----------
    list, category
        int64 ``[cells]``: what each cell stands for.
    """

    def __init__(self, lists: int, categories: int, *parts: tuple[Ints, Floats]) -> None:
        self._lists = lists
        if lists * categories <= _CELLS:
            used = np.arange(lists * categories)
            places = [cell for cell, _ in parts]
        else:
            used, place = np.unique(np.concatenate([cell for cell, _ in parts]), return_inverse=True)
            places = np.split(place, np.cumsum([len(cell) for cell, _ in parts])[:-1])
        self.list = used // max(categories, 1)
        self.category = used % max(categories, 1)
        self._amounts = [sums(at, weight, len(used)) for at, (_, weight) in zip(places, parts, strict=True)]

    def shares(self, part: int) -> tuple[Floats, Bools]:
        """Return one mix' share of each cell, float64 ``[cells]``, and which lists have any, ``[lists]``."""
        amount = self._amounts[part]
        whole = self.total(amount)
        some = whole > 0
        return amount / np.where(some, whole, 1.0)[self.list], some

    def total(self, values: Floats) -> Floats:
        """Sum the cells of each list, in the order of categories, float64 ``[lists]``."""
        return sums(self.list, values, self._lists)
