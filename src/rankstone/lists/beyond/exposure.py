"""Exposure: does one group of items receive its due share of attention? DP, EUR, RUR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rankstone.lists.beyond.groups import RelevantGroups, TwoGroups
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables

__all__ = ["DP", "EUR", "RUR"]

_SENSITIVE = "groups with few items or few relevant ones; items of unknown group are left out"
_BOISE = (
    "logarithms, exposure summed over a group whatever its size (per=group), 10⁻⁶ added to avoid zeros, and "
    "the weight of a rank taken as one over the position model"
)


@dataclass(frozen=True, kw_only=True)
class DP(TwoGroups):
    """Demographic parity: the exposure of one group of items over that of the others.

    >>> print(DP(group="gender", protected="female", scale="log", k=10))
    DP(group=gender, protected=female, scale=log)@10
    """

    name: ClassVar[str] = "DP"
    aliases: ClassVar[tuple[str, ...]] = ("DemographicParity", "ExposureParity")
    card: ClassVar[Card] = Card(
        sentence="Does an item of one group receive as much attention as one of the others?",
        formula="DP = Exp(G) / Exp(rest);  Exp(G) = (1/|G|) Σ_{i ∈ G} Σ_u a(rank_u(i))",
        symbols="G: items of the protected group; a(r): attention, 1/log2(r + 1); |G|: items of G in the "
        "table (per=group: 1)",
        example="one list: G at rank 1, the rest at 2 and 3, |G| = 1, |rest| = 2: 1/((.631 + .5)/2) = 1.768",
        needs="a table of items with a column that tells groups",
        span=(0.0, None),
        direction="neither",
        undefined="an empty group, no exposure for the rest; scale=log: none for the group either",
        peers={"Raj and Ekstrand's logDP": _BOISE},
        sensitive=_SENSITIVE,
        use="1 (log 0) is parity, whatever the merit of items; EUR asks about merit",
        citation="Singh and Joachims, KDD 2018; Raj and Ekstrand, SIGIR 2022",
    )

    per: str = parameter("item", "exposure of a group: of its mean item, or of all together", "item", "group")

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Compare the attention the two groups receive."""
        by_group = self.sets(tables).shared_out(self.received(lists, tables))
        return self.compared(lists, tables, by_group, self.size(tables) if self.per == "item" else None)


@dataclass(frozen=True, kw_only=True)
class EUR(RelevantGroups):
    """Exposed utility ratio: exposure per relevance of one group over that of the others.

    >>> print(EUR(k=10))
    EUR@10
    """

    name: ClassVar[str] = "EUR"
    aliases: ClassVar[tuple[str, ...]] = ("DTR", "DisparateTreatmentRatio")
    card: ClassVar[Card] = Card(
        sentence="Does a group receive attention in proportion to how relevant its items are?",
        formula="EUR = (Exp(G) / U(G)) / (Exp(rest) / U(rest))",
        symbols="Exp(G): attention of the items of G over all lists; U(G): how often users of these lists "
        "found an item of G relevant",
        example="exposure 2 and 3, relevant 1 and 3 times: (2/1) / (3/3) = 2",
        needs="a table of items with a column that tells groups; judgments",
        span=(0.0, None),
        direction="neither",
        undefined="a group without relevant items, no exposure for the rest; scale=log: none for the group",
        peers={"Raj and Ekstrand's logEUR": _BOISE},
        sensitive=_SENSITIVE,
        use="1 (log 0): attention follows relevance",
        citation="Singh and Joachims, KDD 2018 (disparate treatment ratio); Raj and Ekstrand, SIGIR 2022",
    )

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Compare attention per relevance."""
        by_group = self.sets(tables).shared_out(self.received(lists, tables))
        return self.compared(lists, tables, by_group, self.utility(lists, tables))


@dataclass(frozen=True, kw_only=True)
class RUR(RelevantGroups):
    """Realized utility ratio: clicks to be expected per relevance, of one group over the others.

    >>> print(RUR(k=10))
    RUR@10
    """

    name: ClassVar[str] = "RUR"
    aliases: ClassVar[tuple[str, ...]] = ("DIR", "DisparateImpactRatio")
    card: ClassVar[Card] = Card(
        sentence="Do the relevant items of a group receive their clicks?",
        formula="RUR = (Γ(G) / U(G)) / (Γ(rest) / U(rest));  Γ(G) = Σ_u Σ_{i ∈ G} a(rank_u(i)) rel_u(i)",
        symbols="Γ(G): attention on items of G that their user found relevant; U(G): how often users of "
        "these lists found an item of G relevant",
        example="relevant items at rank 1 (G) and 3 (rest), U = 1 and 1: 1 / 0.5 = 2",
        needs="a table of items with a column that tells groups; judgments",
        span=(0.0, None),
        direction="neither",
        undefined="a group without relevant items, no clicks for the rest; scale=log: none for the group",
        peers={"Raj and Ekstrand's logRUR": _BOISE},
        sensitive=_SENSITIVE + "; unjudged items are not clicked",
        use="1 (log 0): relevant items of both sides stand equally high",
        citation="Singh and Joachims, KDD 2018 (disparate impact ratio); Raj and Ekstrand, SIGIR 2022",
    )

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Compare clicks per relevance."""
        return self.compared(lists, tables, self.clicks(lists, tables), self.utility(lists, tables))
