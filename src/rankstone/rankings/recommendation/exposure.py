"""Exposure: does one group of items receive its due share of attention? DP, EUR, RUR.

Expected exposure: what items receive against what equally relevant ones deserve. EED, EER, EEL.

Groups of items, and what each group receives: shared ground of the fairness measures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankstone.errors import BadParameter, NotComparable, nearest, printable
from rankstone.hits.list_arrays import sums
from rankstone.measures.core.definition import Card, parameter
from rankstone.rankings.recommendation.list_frame import sums_by_item
from rankstone.rankings.recommendation.recommendation_measure import ANY, DISCOUNTS, Attention, OfRun, Parts

if TYPE_CHECKING:
    from rankstone.hits.list_arrays import Floats, Ints
    from rankstone.measures.core.definition import RelevantFrom
    from rankstone.rankings.recommendation.items import Sets
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


__all__ = ["GROUP", "GroupMeasure", "TwoGroups"]

GROUP = "column of --items; default: `group`, or the only one"


class Groups:
    """A mixin for measures with a parameter ``group``: the column of --items that tells groups."""

    group: str | None

    def sets(self, tables: Tables) -> Sets:
        """Return the groups; an item of several belongs to each in equal parts."""
        return tables.item_table.sets(self.column(tables))

    def column(self, tables: Tables) -> str:
        """Return the column that tells groups."""
        return tables.item_table.chosen(self.group, "group", str(self))[0]


@dataclass(frozen=True, kw_only=True)
class GroupMeasure(Groups, OfRun):
    """A measure of what groups of items receive over all lists of a run."""

    family: ClassVar[str] = "exposure fairness"
    needs: ClassVar[tuple[str, ...]] = ("items",)

    group: str | None = parameter(None, GROUP, word=True)

    def check(self, tables: Tables) -> None:
        """Refuse a column that is not there."""
        super().check(tables)
        self.column(tables)

    def size(self, tables: Tables) -> Floats:
        """Return how many items each group has, float64 ``[groups]``."""
        sets = self.sets(tables)
        return sets.shared_out(np.ones(len(sets.size)))


@dataclass(frozen=True, kw_only=True)
class TwoGroups(Attention, GroupMeasure):
    """A measure that sets one group of items against all others."""

    protected: str | None = parameter(
        None, "the group in the numerator; default: of two groups the smaller", word=True
    )
    scale: str = parameter("ratio", "the ratio, or its natural logarithm", "ratio", "log")
    discount: str = parameter("log2", "how attention falls with the rank", *DISCOUNTS)
    p: float | None = parameter(None, "discount=geometric: p^(i−1)", above=0.0, below=1.0)

    @property
    def span(self) -> tuple[float | None, float | None]:
        """At least 0 as a ratio; the logarithm has no bounds."""
        return (0.0 if self.scale == "ratio" else None, None)

    def check(self, tables: Tables) -> None:
        """Refuse groups that are not there."""
        super().check(tables)
        self.side(tables)

    def received(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return the attention each item of the table receives in all lists, float64 ``[table rows]``."""
        key = ("attention", self.discount, self.p, tables.known)
        found = lists.remember(key, lambda: lists.exposure(tables.known, self.attention))
        return found[tables.item_table.code]

    def side(self, tables: Tables) -> int:
        """Return the number of the group in the numerator."""
        sets = self.sets(tables)
        if self.protected is None:
            if len(sets.names) != 2:  # noqa: PLR2004 - one and the other
                raise BadParameter(
                    f"{self} does not say which group it is about",
                    given=f"{len(sets.names)} groups: {', '.join(map(printable, sets.names[:5]))}",
                    fix=f"{self.name}(protected=<group>)",
                )
            return int(np.argmin(self.size(tables)))
        if self.protected not in sets.names:
            close = nearest(self.protected, sets.names, n=1)
            raise NotComparable(
                f"{self}: no item is in group {printable(self.protected)}",
                given=f"groups {', '.join(map(printable, sets.names[:10]))}",
                fix=f"did you mean {printable(close[0])}?" if close else None,
            )
        return sets.names.index(self.protected)

    def compared(
        self, lists: ListFrame, tables: Tables, by_group: Floats, size: Floats | None
    ) -> tuple[float, float]:
        """Return a group's amount a unit of size, and that of all others; 0 where nothing can be said."""
        at = self.side(tables)
        mine, others = by_group[at], np.delete(by_group, at).sum()
        my_size, other_size = (1.0, 1.0) if size is None else (size[at], np.delete(size, at).sum())
        beside: dict[str, Any] = {} if size is None else {"members": size}
        mark = np.arange(len(by_group)) == at
        lists.record("group", self.sets(tables).names, received=by_group, **beside, protected=mark)
        if not (my_size > 0 and other_size > 0 and others > 0):
            return 0.0, 0.0
        return float(mine / my_size), float(others / other_size)

    def link(self, ratio: float) -> float:
        """Take the logarithm, where that is asked for; there is none of 0."""
        if self.scale == "ratio":
            return ratio
        return math.log(ratio) if ratio > 0 else math.nan


@dataclass(frozen=True, kw_only=True)
class RelevantGroups(TwoGroups):
    """A measure of two groups that knows what users found relevant."""

    needs: ClassVar[tuple[str, ...]] = ("items", "qrels")

    rel: RelevantFrom = parameter(ANY, 'relevant means grade ≥ rel; ">2" for strictly greater')

    def utility(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return how often items of each group were found relevant by the users of the lists."""
        by_item = tables.of_their_users(lists, tables.relevant(self.rel))
        return self.sets(tables).shared_out(by_item[tables.item_table.code])

    def clicks(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return the attention that relevant items of each group receive."""
        found = np.zeros(tables.known)
        for part in lists.chunks():
            values = self.attention(part.rank) * tables.is_relevant(part, self.rel)
            found += sums_by_item(part.item, values, tables.known)
        return self.sets(tables).shared_out(found[tables.item_table.code])


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


_SYMBOLS = (
    "ε_i: attention a(rank) of item i, mean over the run's lists; ε*_i: the same for ideal lists that show "
    "relevant items first in random order, then all others in random order; by=group: ε and ε* summed over "
    "the items of each group; a(r) is 0 below k"
)
_NEEDS = "a table of items (all of them; with a column that tells groups for by=group)"
_EXPECTED_SENSITIVE = "k: attention below it is zero; unjudged items count as not relevant"
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
    rel: RelevantFrom = parameter(ANY, 'relevant means grade ≥ rel; ">2" for strictly greater')

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

    def recorded(self, lists: ListFrame, tables: Tables, values: Floats, **columns: Any) -> Parts:  # noqa: ANN401
        """Return the values of items (or groups) as parts, and record what they are made of."""
        table = tables.item_table
        rows = table.code if self.by == "item" else table.sets(self._column(tables)).names
        lists.record(self.by, rows, **columns, contribution=values)
        return Parts(values, 1.0)


@dataclass(frozen=True, kw_only=True)
class EEL(_Expected):
    """Expected exposure loss: how far exposure is from what relevance deserves.

    >>> print(EEL(by="group", group="author", k=10))
    EEL(by=group, group=author)@10
    """

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
        sensitive=_EXPECTED_SENSITIVE,
        use="one number for fairness and merit; its parts EED and EER draw the trade-off",
        citation=_CITATION,
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Square each item's (or group's) difference."""
        received, due = self.received(lists, tables), self.due(lists, tables)
        return self.recorded(lists, tables, (received - due) ** 2, received=received, due=due)


@dataclass(frozen=True, kw_only=True)
class EED(_Expected):
    """Expected exposure disparity: how unevenly exposure falls, whatever the relevance.

    >>> print(EED(k=10))
    EED@10
    """

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
        sensitive=_EXPECTED_SENSITIVE,
        use="one axis of the trade-off with EER",
        citation=_CITATION,
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Square what each item (or group) receives."""
        received = self.received(lists, tables)
        return self.recorded(lists, tables, received**2, received=received)


@dataclass(frozen=True, kw_only=True)
class EER(_Expected):
    """Expected exposure relevance: how much of the exposure goes where relevance is.

    >>> print(EER(k=10))
    EER@10
    """

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
        sensitive=_EXPECTED_SENSITIVE,
        use="one axis of the trade-off with EED",
        citation=_CITATION,
    )

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Multiply what each item (or group) receives by what it deserves."""
        received, due = self.received(lists, tables), self.due(lists, tables)
        return self.recorded(lists, tables, 2.0 * received * due, received=received, due=due)
