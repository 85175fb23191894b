"""Shares of attention and of places: AWRF of a list; IAA, RSP and REO of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.rankings.recommendation.calibration import Mixes, cells
from rankstone.rankings.recommendation.exposure import GROUP, GroupMeasure, Groups
from rankstone.rankings.recommendation.list_frame import sums_by_item
from rankstone.rankings.recommendation.recommendation_measure import (
    ANY,
    DISCOUNTS,
    Attention,
    OfLists,
    OfRun,
    Parts,
    summed,
)

if TYPE_CHECKING:
    from rankstone.hits.list_arrays import Bools, Floats, Ints
    from rankstone.hits.trace import Rows
    from rankstone.measures.core.definition import RelevantFrom
    from rankstone.rankings.recommendation.items import Pairs, Sets
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


@dataclass(frozen=True, kw_only=True)
class AWRF(Groups, Attention, OfLists):
    """Attention-weighted rank fairness: how close groups' shares of attention are to a target.

    >>> print(AWRF(group="country", target="relevant", k=20))
    AWRF(group=country, target=relevant)@20
    """

    family: ClassVar[str] = "exposure fairness"
    needs: ClassVar[tuple[str, ...]] = ("items",)
    of_items: ClassVar[bool] = False
    card: ClassVar[Card] = Card(
        sentence="How close do the groups' shares of attention in a list come to their due shares?",
        formula="AWRF(u) = 1 − JSD₂(ε, p̂);  ε(g) = Σ_{i ∈ g} a(rank i) / Σ_i a(rank i)",
        symbols="a(r): attention, 1/log2(r + 1); p̂: the target, target=population the groups' shares of all "
        "items in the table, target=relevant of the items u found relevant, target=equal the same for all; "
        "JSD₂: Jensen-Shannon divergence in bits; distance=l1: 1 − Σ|ε − p̂|/2",
        example="attention 3/4 and 1/4, target 1/2 each, l1: 1 − (1/4 + 1/4)/2 = 3/4",
        needs="a table of items with a column that tells groups (an item of several counts for each in equal "
        "parts); judgments for target=relevant",
        undefined="no item of known group in the list; target=relevant: none among the user's relevant ones",
        peers={
            "Sapiezynski et al.": "two groups, the binomial or absolute difference",
            "TREC Fair Ranking 2021, 2022": "1 − JSD, for groups known in part; then multiplied by nDCG",
            "FairRankTune AWRF": "each group's mean attention over all rankings, combined by ratio or spread",
        },
        sensitive="short lists cannot reach a target of many groups; items of unknown group are left out",
        use="one list at a time; fairness over many lists is DP and EEL",
        citation="Sapiezynski et al., WWW companion 2019; Ekstrand et al., TREC 2021 and 2022 Fair Ranking",
    )

    group: str | None = parameter(None, GROUP, word=True)
    target: str = parameter("population", "the due shares", "population", "relevant", "equal")
    distance: str = parameter("jsd", "between shares and target", "jsd", "l1")
    discount: str = parameter("log2", "how attention falls with the rank", *DISCOUNTS)
    p: float | None = parameter(None, "discount=geometric: p^(i−1)", above=0.0, below=1.0)
    rel: RelevantFrom = parameter(
        ANY, 'target=relevant: relevant means grade ≥ rel; ">2" for strictly greater'
    )

    def needed(self) -> tuple[str, ...]:
        """Judgments are needed for the target that is made of them."""
        return ("items", "qrels") if self.target == "relevant" else ("items",)

    def check(self, tables: Tables) -> None:
        """Refuse a column that is not there."""
        super().check(tables)
        self.column(tables)

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Sum over groups instead of items: what each adds to the distance of its list."""
        sets = self.sets(tables)
        shown = cells(lists.list, tables.item_table.rows(lists), self.attention(lists.rank), sets)
        mixes = Mixes(len(lists), len(sets.names), shown, *self._wanted(lists, tables, sets))
        share, some = mixes.shares(0)
        target, due = self._target(mixes, sets, len(lists))
        apart = np.abs(share - target) / 2.0 if self.distance == "l1" else _jsd(share, target)
        # where nothing is shown, either distance is half the target; such cells need not be there
        beyond_half = apart - target / 2.0
        total = mixes.total(beyond_half)
        apart = 0.5 + total
        lists.record(
            "group",
            lambda: [sets.names[at] for at in mixes.category.tolist()],
            total=total,
            share=share,
            due=target,
            contribution=beyond_half,
        )
        lists.record_steps(apart=apart, closeness=1.0 - apart)
        known = some & due
        norm = known.astype(np.float64)
        return Contributions(np.zeros(len(lists.item)), norm, missed=np.where(known, 1.0 - apart, 0.0))

    def link(self, ratio: Floats) -> Floats:
        """Take rounding beyond the bounds away."""
        return np.clip(ratio, 0.0, 1.0)

    def _wanted(self, lists: ListFrame, tables: Tables, sets: Sets) -> list[tuple[Ints, Floats]]:
        """Return the groups of what each user found relevant, where that is the target."""
        if self.target != "relevant":
            return []
        pairs = tables.relevant(self.rel)
        count, theirs = pairs.of_lists(lists)
        row = tables.item_table.rows_of(pairs.item[theirs])
        return [cells(np.repeat(np.arange(len(lists)), count), row, np.ones(len(row)), sets)]

    def _target(self, mixes: Mixes, sets: Sets, lists: int) -> tuple[Floats, Bools]:
        """Return the due share of each cell, and which lists have any."""
        if self.target == "relevant":
            return mixes.shares(1)
        size = sets.shared_out(np.ones(len(sets.size)))
        due = size if self.target == "population" else np.ones(len(size))
        due = due / (due.sum() or 1.0)
        return due[mixes.category], np.ones(lists, bool)


def _jsd(p: Floats, q: Floats) -> Floats:
    """Return what each group adds to the Jensen-Shannon divergence, in bits."""
    terms = np.zeros(len(p))
    for side in (p, q):
        some = side > 0
        terms[some] += side[some] * np.log2(2.0 * side[some] / (p + q)[some]) / 2.0
    return terms


@dataclass(frozen=True, kw_only=True)
class IAA(Attention, OfRun):
    """Inequity of amortized attention: attention against relevance, summed over all lists.

    >>> print(IAA(discount="geometric", p=0.5, k=10))
    IAA(discount=geometric, p=0.5)@10
    """

    family: ClassVar[str] = "exposure fairness"
    needs: ClassVar[tuple[str, ...]] = ("qrels",)
    card: ClassVar[Card] = Card(
        sentence="Over all lists: is attention spread as relevance is?",
        formula="IAA = Σ_i |A_i − R_i|;  A_i = Σ_u a(rank_u(i)) / Σ_j Σ_u a(rank_u(j));  "
        "R_i = Σ_u rel_u(i) / Σ_j Σ_u rel_u(j)",
        symbols="a(r): attention, 1/log2(r + 1); rel_u(i): 1 if u, a user with a list, found i relevant; "
        "by=group: A and R of groups instead of items",
        example="attention 3/4, 1/4, 0; relevance 1/2, 0, 1/2: 1/4 + 1/4 + 1/2 = 1",
        needs="judgments; by=group a table of items with a column that tells groups",
        span=(0.0, 2.0),
        direction="lower",
        undefined="nothing relevant, or nothing shown",
        peers={"rank-fairness-metrics": "IAA(by=group), relevance from the scores of a model"},
        sensitive="sparse judgments: most attention falls on items nobody judged",
        use="individual fairness over time; 0: attention exactly as relevance",
        citation="Biega, Gummadi and Weikum, SIGIR 2018",
    )

    by: str = parameter("item", "whose attention: each item's, or each group's", "item", "group")
    group: str | None = parameter(None, "by=group: " + GROUP, word=True)
    discount: str = parameter("log2", "how attention falls with the rank", *DISCOUNTS)
    p: float | None = parameter(None, "discount=geometric: p^(i−1)", above=0.0, below=1.0)
    rel: RelevantFrom = parameter(ANY, 'relevant means grade ≥ rel; ">2" for strictly greater')

    def needed(self) -> tuple[str, ...]:
        """Return the tables; groups are told by that of items."""
        return ("qrels", "items") if self.by == "group" else ("qrels",)

    def check(self, tables: Tables) -> None:
        """Refuse a column that is not there."""
        super().check(tables)
        if self.by == "group":
            tables.item_table.chosen(self.group, "group", str(self))

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Give each item (or group) the difference of its two shares."""
        due = tables.of_their_users(lists, tables.relevant(self.rel))
        got = lists.exposure(tables.known, self.attention)
        rows: Rows = np.arange(tables.known)
        if self.by == "group":
            table = tables.item_table
            sets = table.sets(table.chosen(self.group, "group", str(self))[0])
            due, got = (sets.shared_out(values[table.code]) for values in (due, got))
            rows = sets.names
        all_due, all_got = summed(due), summed(got)
        if not all_due > 0 or not all_got > 0:
            return Parts(due, 0.0)
        share, just = got / all_got, due / all_due
        apart = np.abs(share - just)
        lists.record(self.by, rows, share=share, due=just, contribution=apart)
        return Parts(apart, 1.0)


@dataclass(frozen=True, kw_only=True)
class _Chances(GroupMeasure):
    """How far the groups' chances of a place in a list differ: their spread over their mean."""

    def chances(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return each group's chance, NaN where nothing could be shown."""
        raise NotImplementedError

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Divide the standard deviation of the chances by their mean."""
        chance = self.chances(lists, tables)
        if not len(chance) or np.isnan(chance).any():
            return 0.0, 0.0
        return float(chance.std()), float(chance.mean())

    def chance(self, lists: ListFrame, tables: Tables, placed: Floats, possible: Floats) -> Floats:
        """Divide the places of each group by those it could have had."""
        chance: Floats = np.divide(placed, possible, out=np.full(len(placed), np.nan), where=possible > 0)
        lists.record("group", self.sets(tables).names, placed=placed, possible=possible, chance=chance)
        return chance

    def placed(self, lists: ListFrame, tables: Tables, pairs: Pairs | None) -> Floats:
        """Count the places each group has, those of some pairs only where pairs are given."""
        found = np.zeros(tables.known)
        for part in lists.chunks():
            values = np.ones(len(part.item)) if pairs is None else (pairs.find(part) >= 0).astype(np.float64)
            found += sums_by_item(part.item, values, tables.known)
        return self.sets(tables).shared_out(found[tables.item_table.code])

    def of_pairs(self, lists: ListFrame, tables: Tables, pairs: Pairs) -> Floats:
        """Count the pairs of the lists' users by the group of their item."""
        by_item = tables.of_their_users(lists, pairs)
        return self.sets(tables).shared_out(by_item[tables.item_table.code])


@dataclass(frozen=True, kw_only=True)
class RSP(_Chances):
    """Ranking-based statistical parity: whether all groups of items have the same chance to be shown.

    >>> print(RSP(group="popularity", k=10))
    RSP(group=popularity)@10
    """

    card: ClassVar[Card] = Card(
        sentence="Do items of all groups have the same chance to be shown?",
        formula="RSP@k = std_g P(g) / mean_g P(g);  P(g) = Σ_u |L_u ∩ g| / Σ_u |g \\ H_u|",
        symbols="g: items of a group; H_u: what u met in the past (nothing without a past)",
        example="chances 0.3 and 0.1: 0.1 / 0.2 = 1/2",
        needs="a table of items with a column that tells groups; the past, if seen items are not recommended",
        span=(0.0, None),
        direction="lower",
        undefined="a group without items to show, or nothing shown",
        peers={"Elliot RSP": "the same"},
        sensitive="small groups; items of unknown group are left out",
        use="0 is parity, whatever the merit of items; REO asks about relevant ones only",
        citation="Zhu, Wang and Caverlee, SIGIR 2020",
    )

    def chances(self, lists: ListFrame, tables: Tables) -> Floats:
        """Divide the places of each group by those it could have had."""
        possible = self.size(tables) * len(lists)
        if tables.history is not None:
            possible = possible - self.of_pairs(lists, tables, tables.history.once)
        return self.chance(lists, tables, self.placed(lists, tables, None), possible)


@dataclass(frozen=True, kw_only=True)
class REO(_Chances):
    """Ranking-based equal opportunity: whether relevant items of all groups have the same chance.

    >>> print(REO(k=10))
    REO@10
    """

    needs: ClassVar[tuple[str, ...]] = ("items", "qrels")
    card: ClassVar[Card] = Card(
        sentence="Do relevant items of all groups have the same chance to be shown?",
        formula="REO@k = std_g P(g) / mean_g P(g);  P(g) = Σ_u |L_u ∩ g ∩ R_u| / Σ_u |(g ∩ R_u) \\ H_u|",
        symbols="R_u: items u found relevant; H_u: what u met in the past (nothing without a past)",
        example="recall 0.5 for one group and 0.3 for the other: 0.1 / 0.4 = 1/4",
        needs="a table of items with a column that tells groups; judgments; the past, if seen items are not "
        "recommended",
        span=(0.0, None),
        direction="lower",
        undefined="a group without relevant items, or no relevant item shown",
        peers={"Elliot REO": "the same"},
        sensitive="groups with few relevant items",
        use="equal recall for all groups; 0 is parity",
        citation="Zhu, Wang and Caverlee, SIGIR 2020",
    )
    rel: RelevantFrom = parameter(ANY, 'relevant means grade ≥ rel; ">2" for strictly greater')

    def chances(self, lists: ListFrame, tables: Tables) -> Floats:
        """Divide the relevant places of each group by those it could have had."""
        relevant = tables.relevant(self.rel)
        open_ = relevant
        if tables.history is not None:
            open_ = relevant.where(~np.isin(relevant.key, tables.history.once.key))
        possible = self.of_pairs(lists, tables, open_)
        return self.chance(lists, tables, self.placed(lists, tables, relevant), possible)
