"""Elliot's measures of whole lists that nobody else has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.lists.beyond import catalogue_measures
from rankstone.lists.beyond.codes import sums_by_item
from rankstone.lists.beyond.measure import OfRun, Parts
from rankstone.measures.named import Card

if TYPE_CHECKING:
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables

__all__ = ["Gini", "SEntropy"]


@dataclass(frozen=True, kw_only=True)
class Gini(catalogue_measures.Gini):
    """How evenly recommendations fall on items: one minus the index.

    >>> print(Gini(among="past", k=10))
    Gini(among=past)@10
    """

    def link(self, ratio: float) -> float:
        """Turn unevenness into evenness."""
        return 1.0 - ratio


@dataclass(frozen=True, kw_only=True)
class SEntropy(OfRun):
    """The mean self-information of recommended items, by their share of all recommendations.

    >>> print(SEntropy(k=10))
    SEntropy@10
    """

    name: ClassVar[str] = "SEntropy"
    family: ClassVar[str] = "catalogue"
    card: ClassVar[Card] = Card(
        sentence="How evenly do recommendations fall on items, each list weighing the same?",
        formula="SEntropy@k = (1/|U|) Σ_u (1/n_u) Σ_{i ∈ L_u} −log2 p_i",
        symbols="p_i: the share of all recommendations that item i has; n_u: items in u's list; U: lists",
        example="lists (a, b) and (a): p = 2/3, 1/3: ((0.585 + 1.585)/2 + 0.585) / 2 = 0.835",
        needs="nothing beside the run",
        span=(0.0, None),
        undefined="nothing shown",
        sensitive="lists of different lengths: items of short ones weigh more; otherwise it is Entropy",
        use="to read Elliot's numbers",
        citation="Elliot 0.3",
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Give each item its self-information, weighed by the lists that show it."""
        counts = lists.counts(tables.known)
        weight = sums_by_item(lists.item, 1.0 / lists.n[lists.list], tables.known)
        some = counts > 0
        information = -np.log2(counts[some] / max(int(counts.sum()), 1))
        return Parts(weight[some] * information, float(len(lists)))
