"""RecTools' measures of whole lists: what two runs share, and how full lists are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.lists.beyond.measure import Contributions, OfLists
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables

__all__ = ["Intersection", "SufficientReco"]


@dataclass(frozen=True, kw_only=True)
class Intersection(OfLists):
    """The share of a list that another run shows as well.

    >>> print(Intersection(ref_k=20, k=10))
    Intersection(ref_k=20)@10
    """

    name: ClassVar[str] = "Intersection"
    family: ClassVar[str] = "novelty"
    needs: ClassVar[tuple[str, ...]] = ("baseline",)
    card: ClassVar[Card] = Card(
        sentence="How much of the list does another recommender show, too?",
        formula="Intersection@k(u) = |L_u ∩ B_u| / n",
        symbols="L_u: the first k items; n: how many these are; B_u: the first ref_k (k, unless said) of the "
        "other run's list",
        example="lists (a, b) and (b, c): 1/2",
        needs="another run, the baseline",
        direction="neither",
        undefined="never; a user whom the other run has no list for has 0",
        sensitive="ref_k",
        use="to read RecTools' numbers; Unexpectedness(against=baseline) is the rest",
        citation="RecTools 0.19",
    )

    ref_k: int | None = parameter(None, "cutoff of the other run", low=1, whole=True)

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Count 1 for each item that the other run shows."""
        shared = tables.expected(self.k if self.ref_k is None else int(self.ref_k)).find(lists) >= 0
        return Contributions(shared.astype(np.float64), lists.n.astype(np.float64))

    @property
    def deepest(self) -> int | None:
        """The deepest rank it looks at, in either run."""
        return None if self.k is None else max(self.k, int(self.ref_k or 0))


@dataclass(frozen=True, kw_only=True)
class SufficientReco(OfLists):
    """The share of a list's k places that are taken.

    >>> print(SufficientReco(k=10))
    SufficientReco@10
    """

    name: ClassVar[str] = "SufficientReco"
    family: ClassVar[str] = "catalogue"
    card: ClassVar[Card] = Card(
        sentence="How full are the lists?",
        formula="SufficientReco@k(u) = n / k",
        symbols="n: items among the first k",
        example="1 of 2: 1/2",
        needs="nothing beside the run",
        undefined="never",
        sensitive="k",
        use="to read RecTools' numbers with deep=True; UserCoverage(at_least=k, among=run) without it",
        citation="RecTools 0.19",
    )

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:  # noqa: ARG002 - needs none
        """Count 1 for each item there is."""
        return Contributions(np.ones(len(lists.item)), np.full(len(lists), float(self.k or 1)))
