"""Exposure fairness: of a protected group (DP, EUR, RUR), and expected exposure (EED, EER, EEL)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankstone._basics import counted
from rankstone.errors import BadParameter, NotComparable, did_you_mean, printable
from rankstone.hits.list_arrays import divided, sums
from rankstone.measures.core.definition import Card, parameter
from rankstone.rankings.recommendation.recommendation_measure import (
    PERSISTENCE,
    RELEVANT_FROM,
    Attention,
    Parts,
    WholeRunMeasure,
    falling,
)

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.measures.core.definition import RelevantFrom
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables

GROUP = "column of --items; default: `group`, or the only one"


@dataclass(frozen=True, kw_only=True)
class GroupMeasure(WholeRunMeasure, family="exposure fairness"):
    """A measure of the exposure of groups of items over all lists of a run."""

    needs: ClassVar[tuple[str, ...]] = ("items",)
    item_column = "group"

    group: str | None = parameter(None, GROUP, word=True)

    def size(self, tables: Tables) -> Floats:
        """Return the number of items of each group, float64 ``[groups]``."""
        sets = self.sets(tables)
        return sets.split_sum(np.ones(len(sets.size)))


@dataclass(frozen=True, kw_only=True)
class TwoGroups(Attention, GroupMeasure):
    """A measure that compares one group of items with all others."""

    protected: str | None = parameter(
        None, "the group in the numerator; default: the smaller of two", word=True
    )
    scale: str = parameter(
        "ratio", "the ratio, or its natural logarithm", "ratio", "log"
    )
    discount: str = falling("log2")
    p: float | None = PERSISTENCE

    @property
    def span(self) -> tuple[float | None, float | None]:
        """At least 0 as a ratio; the logarithm has no bounds."""
        return (0.0 if self.scale == "ratio" else None, None)

    def check(self, tables: Tables) -> None:
        """Refuse a group that does not exist."""
        super().check(tables)
        self.protected_group(tables)

    def received(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return the attention each group receives in all lists, float64 ``[groups]``."""
        key = ("attention", self.discount, self.p, tables.known)
        exposure = lists.remember(
            key, lambda: lists.exposure(tables.known, self.attention)
        )
        return self.group_sums(tables, exposure)

    def protected_group(self, tables: Tables) -> int:
        """Return the number of the group in the numerator."""
        sets = self.sets(tables)
        if self.protected is None:
            if len(sets.names) != 2:  # noqa: PLR2004 - the protected group and the other
                raise BadParameter(
                    f"{self} needs the protected group",
                    given=f"{counted(len(sets.names), 'group')}: {', '.join(map(printable, sets.names[:5]))}",
                    fix=f"{self.name}(protected=<group>)",
                )
            return int(np.argmin(self.size(tables)))
        if self.protected not in sets.names:
            raise NotComparable(
                f"{self}: no item is in group {printable(self.protected)}",
                given=f"groups {', '.join(map(printable, sets.names[:10]))}",
                fix=did_you_mean(self.protected, sets.names),
            )
        return sets.names.index(self.protected)

    def compared(
        self, lists: ListFrame, tables: Tables, by_group: Floats, size: Floats | None
    ) -> tuple[float, float]:
        """Return the amount per unit of size of the group and of all others; 0 where it is undefined."""
        group = self.protected_group(tables)
        amount = by_group[group]
        others = np.delete(by_group, group).sum()
        own_size, other_size = (
            (1.0, 1.0) if size is None else (size[group], np.delete(size, group).sum())
        )
        members: dict[str, Any] = {} if size is None else {"members": size}
        mark = np.arange(len(by_group)) == group
        lists.record(
            "group",
            self.sets(tables).names,
            received=by_group,
            **members,
            protected=mark,
        )
        if not (own_size > 0 and other_size > 0 and others > 0):
            return 0.0, 0.0
        return float(amount / own_size), float(others / other_size)

    def link(self, ratio: float) -> float:
        """Return the logarithm for scale=log; NaN for 0."""
        if self.scale == "ratio":
            return ratio
        if ratio > 0:
            return math.log(ratio)
        return math.nan


@dataclass(frozen=True, kw_only=True)
class RelevantGroups(TwoGroups):
    """A measure of two groups that reads judgments."""

    needs = ("items", "qrels")

    rel: RelevantFrom = RELEVANT_FROM

    def utility(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return how often items of each group are relevant to the users of the lists."""
        by_item = tables.count_by_item(lists, tables.relevant(self.rel))
        return self.group_sums(tables, by_item)

    def clicks(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return the attention on relevant items of each group."""

        def clicked(part: ListFrame) -> Floats:
            return self.attention(part.rank) * tables.is_relevant(part, self.rel)

        return self.group_sums(tables, lists.by_item(tables.known, clicked))


_SENSITIVE = (
    "groups with few items or few relevant ones; items of unknown group are left out"
)
_RAJ_EKSTRAND = (
    "logarithms, exposure summed over a group whatever its size (per=group), 10⁻⁶ added to avoid zeros, and "
    "the weight of a rank taken as one over the position model"
)


@dataclass(frozen=True, kw_only=True)
class DP(TwoGroups):
    """Demographic parity: the exposure of one group of items over that of the others.

    >>> print(DP(group="gender", protected="female", scale="log", k=10))
    DP(group=gender, protected=female, scale=log)@10
    """

    aliases = ("DemographicParity", "ExposureParity")
    card = Card(
        sentence="Does an item of one group receive as much attention as one of the others?",
        formula="DP = Exp(G) / Exp(rest);  Exp(G) = (1/|G|) Σ_{i ∈ G} Σ_u a(rank_u(i))",
        symbols="G: items of the protected group; a(r): attention, 1/log2(r + 1); |G|: items of G in the "
        "table (per=group: 1)",
        example="one list: G at rank 1, the rest at 2 and 3, |G| = 1, |rest| = 2: 1/((.631 + .5)/2) = 1.768",
        needs="a table of items with a column of groups",
        span=(0.0, None),
        direction="neither",
        undefined="an empty group, no exposure for the rest; scale=log: none for the group either",
        peers={"Raj and Ekstrand's logDP": _RAJ_EKSTRAND},
        sensitive=_SENSITIVE,
        use="1 (log 0) is parity, whatever the merit of items; EUR considers merit",
        citation="Singh and Joachims, KDD 2018; Raj and Ekstrand, SIGIR 2022",
    )

    per: str = parameter(
        "item",
        "exposure of a group: of its mean item, or of all together",
        "item",
        "group",
    )

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Compare the attention the two groups receive."""
        by_group = self.received(lists, tables)
        return self.compared(
            lists, tables, by_group, self.size(tables) if self.per == "item" else None
        )


class EUR(RelevantGroups):
    """Exposed utility ratio: exposure per relevance of one group over that of the others.

    >>> print(EUR(k=10))
    EUR@10
    """

    aliases = ("DTR", "DisparateTreatmentRatio")
    card = replace(
        DP.card,
        sentence="Does a group receive attention in proportion to how relevant its items are?",
        formula="EUR = (Exp(G) / U(G)) / (Exp(rest) / U(rest))",
        symbols="Exp(G): attention of the items of G over all lists; U(G): how often users of these lists "
        "found an item of G relevant",
        example="exposure 2 and 3, relevant 1 and 3 times: (2/1) / (3/3) = 2",
        needs="a table of items with a column of groups; judgments",
        undefined="a group without relevant items, no exposure for the rest; scale=log: none for the group",
        peers={"Raj and Ekstrand's logEUR": _RAJ_EKSTRAND},
        use="1 (log 0): attention follows relevance",
        citation="Singh and Joachims, KDD 2018 (disparate treatment ratio); Raj and Ekstrand, SIGIR 2022",
    )

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Compare attention per relevance."""
        by_group = self.received(lists, tables)
        return self.compared(lists, tables, by_group, self.utility(lists, tables))


class RUR(RelevantGroups):
    """Realized utility ratio: expected clicks per relevance of one group over that of the others.

    >>> print(RUR(k=10))
    RUR@10
    """

    aliases = ("DIR", "DisparateImpactRatio")
    card = replace(
        EUR.card,
        sentence="Do the relevant items of a group receive their clicks?",
        formula="RUR = (Γ(G) / U(G)) / (Γ(rest) / U(rest));  Γ(G) = Σ_u Σ_{i ∈ G} a(rank_u(i)) rel_u(i)",
        symbols="Γ(G): attention on items of G that their user found relevant; U(G): how often users of "
        "these lists found an item of G relevant",
        example="relevant items at rank 1 (G) and 3 (rest), U = 1 and 1: 1 / 0.5 = 2",
        undefined="a group without relevant items, no clicks for the rest; scale=log: none for the group",
        peers={"Raj and Ekstrand's logRUR": _RAJ_EKSTRAND},
        sensitive=_SENSITIVE + "; unjudged items are not clicked",
        use="1 (log 0): relevant items of both sides are ranked equally high",
        citation="Singh and Joachims, KDD 2018 (disparate impact ratio); Raj and Ekstrand, SIGIR 2022",
    )

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Compare clicks per relevance."""
        return self.compared(
            lists, tables, self.clicks(lists, tables), self.utility(lists, tables)
        )


_SYMBOLS = (
    "ε_i: attention a(rank) of item i, mean over the run's lists; ε*_i: the same for ideal lists that show "
    "relevant items first in random order, then all others in random order; by=group: ε and ε* summed over "
    "the items of each group; a(r) is 0 below k"
)
_NEEDS = "a table of items (all of them; for by=group with a column of groups)"
_EXPECTED_SENSITIVE = (
    "k: attention below it is zero; unjudged items count as not relevant"
)
_CITATION = "Diaz, Mitra, Ekstrand, Biega and Carterette, CIKM 2020; over groups: Raj and Ekstrand, SIGIR 2022"


@dataclass(frozen=True, kw_only=True)
class ItemsOrGroups(Attention, WholeRunMeasure, family="exposure fairness"):
    """A measure of the attention on items, or on groups of them."""

    by: str = parameter("item", "the attention of items, or of groups", "item", "group")
    group: str | None = parameter(None, "by=group: " + GROUP, word=True)
    discount: str = falling("log2")
    p: float | None = PERSISTENCE
    rel: RelevantFrom = RELEVANT_FROM

    @property
    def item_column(self) -> str | None:  # type: ignore[override]
        """The parameter with the column of groups, for by=group."""
        if self.by == "group":
            return "group"
        return None


class _Expected(ItemsOrGroups):
    """A measure of expected exposure over all lists of a run."""

    needs: ClassVar[tuple[str, ...]] = ("items", "qrels")

    def received(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return ε, float64 ``[table rows]`` or ``[groups]``."""
        exposure = lists.exposure(tables.known, self.attention)[tables.item_table.code]
        return self._by(exposure / max(len(lists), 1), tables)

    def due(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return ε*, float64 ``[table rows]`` or ``[groups]``."""
        table = tables.item_table
        pairs = tables.relevant(self.rel)
        row = table.rows_of(pairs.item)
        pairs = pairs.where(row >= 0)
        row = row[row >= 0]
        count = pairs.of_users(lists.user)[1]
        relevant, other = self._places(count, len(table), int(lists.n.max(initial=0)))
        # the exposure of irrelevant items for all users, then the difference for relevant ones
        target = np.full(len(table), other.sum())
        order = np.argsort(lists.user)
        user_list = order[
            np.minimum(np.searchsorted(lists.user[order], pairs.user), len(order) - 1)
        ]
        theirs = lists.user[user_list] == pairs.user
        target += sums(row[theirs], (relevant - other)[user_list[theirs]], len(table))
        return self._by(target / max(len(lists), 1), tables)

    def _places(self, count: Ints, m: int, longest: int) -> tuple[Floats, Floats]:
        """Return the mean attention of relevant items and of others in each user's ideal list."""
        depth = min(self.k if self.k is not None else longest, m)
        attention = self.attention(np.arange(1, depth + 1))
        # summed from either end: a difference of sums would lose small numbers
        shown = np.minimum(count, depth)
        first = np.append(0.0, np.add.accumulate(attention))[shown]
        rest = np.append(np.add.accumulate(attention[::-1])[::-1], 0.0)[shown]
        return divided(first, count), divided(rest, m - count)

    def _by(self, values: Floats, tables: Tables) -> Floats:
        if self.by == "item":
            return values
        return self.sets(tables).split_sum(values)

    def recorded(
        self,
        lists: ListFrame,
        tables: Tables,
        values: Floats,
        **columns: Any,  # noqa: ANN401
    ) -> Parts:
        """Return the values of items (or groups) as parts, and record their terms."""
        rows = tables.item_table.code if self.by == "item" else self.sets(tables).names
        lists.record(self.by, rows, **columns, contribution=values)
        return Parts(values, 1.0)


class EEL(_Expected):
    """Expected exposure loss: the distance of exposure from that due to relevance.

    >>> print(EEL(by="group", group="author", k=10))
    EEL(by=group, group=author)@10
    """

    aliases = ("EE-L",)
    card = Card(
        sentence="How different is the attention items receive from that due to equally relevant items?",
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
        sensitive=_EXPECTED_SENSITIVE,
        use="one number for fairness and merit; its parts EED and EER draw the trade-off",
        citation=_CITATION,
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Square the difference of each item (or group)."""
        received = self.received(lists, tables)
        due = self.due(lists, tables)
        return self.recorded(
            lists, tables, (received - due) ** 2, received=received, due=due
        )


class EED(_Expected):
    """Expected exposure disparity: how unequal exposure is, whatever the relevance.

    >>> print(EED(k=10))
    EED@10
    """

    aliases = ("EE-D",)
    needs = ("items",)
    card = replace(
        EEL.card,
        sentence="How unequal is the attention on items, whatever their relevance?",
        formula="EED = Σ_i ε_i²",
        example="attention 1 and 0.631 for two items: 1 + 0.398 = 1.398",
        needs=_NEEDS,
        peers={"rank-fairness-metrics EED": "EED(by=group)"},
        use="one axis of the trade-off with EER",
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Square the exposure of each item (or group)."""
        received = self.received(lists, tables)
        return self.recorded(lists, tables, received**2, received=received)


class EER(_Expected):
    """Expected exposure relevance: how much of the exposure goes where relevance is.

    >>> print(EER(k=10))
    EER@10
    """

    aliases = ("EE-R",)
    card = Card(
        sentence="How much of the attention goes to relevant items?",
        formula="EER = 2 Σ_i ε_i ε*_i",
        symbols=_SYMBOLS,
        example="one list shows the one relevant item at rank 1, k = 1: 2·1·1 = 2",
        needs=f"{_NEEDS}; judgments",
        span=(0.0, None),
        undefined="never",
        peers={
            "rank-fairness-metrics EER": "EER(by=group), the target from the test items alone"
        },
        sensitive=_EXPECTED_SENSITIVE,
        use="one axis of the trade-off with EED",
        citation=_CITATION,
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Multiply the exposure of each item (or group) by the exposure due."""
        received = self.received(lists, tables)
        due = self.due(lists, tables)
        return self.recorded(
            lists, tables, 2.0 * received * due, received=received, due=due
        )
