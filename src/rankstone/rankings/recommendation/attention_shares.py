"""Shares of attention and of places: AWRF of a list; IAA, RSP and REO of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.list_arrays import divided, list_numbers
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.rankings.recommendation.calibration import CategoryShares, cells
from rankstone.rankings.recommendation.exposure import (
    GROUP,
    GroupMeasure,
    ItemsOrGroups,
)
from rankstone.rankings.recommendation.recommendation_measure import (
    ANY,
    PERSISTENCE,
    RELEVANT_FROM,
    Attention,
    Parts,
    PerListMeasure,
    falling,
    summed,
)

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.trace import Rows
    from rankstone.measures.core.definition import RelevantFrom
    from rankstone.rankings.recommendation.items import Pairs, Sets
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


@dataclass(frozen=True, kw_only=True)
class AWRF(Attention, PerListMeasure, family="exposure fairness"):
    """Attention-weighted rank fairness: how close groups' shares of attention are to a target.

    >>> print(AWRF(group="country", target="relevant", k=20))
    AWRF(group=country, target=relevant)@20
    """

    needs = ("items",)
    item_column = "group"
    of_items = False
    card = Card(
        sentence="How close do the groups' shares of attention in a list come to their target shares?",
        formula="AWRF(u) = 1 − JSD₂(ε, p̂);  ε(g) = Σ_{i ∈ g} a(rank i) / Σ_i a(rank i)",
        symbols="a(r): attention, 1/log2(r + 1); p̂: the target, target=population the groups' shares of all "
        "items in the table, target=relevant of the items u found relevant, target=equal the same for all; "
        "JSD₂: Jensen-Shannon divergence in bits; distance=l1: 1 − Σ|ε − p̂|/2",
        example="attention 3/4 and 1/4, target 1/2 each, l1: 1 − (1/4 + 1/4)/2 = 3/4",
        needs="a table of items with a column of groups (an item of several counts for each in equal "
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
    target: str = parameter(
        "population", "the target shares", "population", "relevant", "equal"
    )
    distance: str = parameter("jsd", "between shares and target", "jsd", "l1")
    discount: str = falling("log2")
    p: float | None = PERSISTENCE
    rel: RelevantFrom = parameter(
        ANY, 'target=relevant: means grade ≥ rel; ">2" for strictly greater'
    )

    def needed(self) -> tuple[str, ...]:
        """Return the tables needed, with judgments for target=relevant."""
        if self.target == "relevant":
            return ("items", "qrels")
        return ("items",)

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Sum the contributions of groups, instead of items, to the distance of the list."""
        sets = self.sets(tables)
        shown = cells(
            lists.query, tables.item_table.rows(lists), self.attention(lists.rank), sets
        )
        shares = CategoryShares(
            len(lists),
            len(sets.names),
            shown,
            *self._relevant_cells(lists, tables, sets),
        )
        share, has_list = shares.of_part(0)
        target, due = self._target(shares, sets, len(lists))
        apart = (
            np.abs(share - target) / 2.0
            if self.distance == "l1"
            else _jsd(share, target)
        )
        # without items either distance is half the target, so such cells may be left out
        beyond_half = apart - target / 2.0
        total = shares.total(beyond_half)
        apart = 0.5 + total
        lists.record(
            "group",
            lambda: [sets.names[group] for group in shares.category.tolist()],
            total=total,
            share=share,
            due=target,
            contribution=beyond_half,
        )
        lists.record_steps(apart=apart, closeness=1.0 - apart)
        known = has_list & due
        norm = known.astype(np.float64)
        return Contributions(
            np.zeros(len(lists.item)), norm, missed=np.where(known, 1.0 - apart, 0.0)
        )

    def link(self, ratio: Floats) -> Floats:
        """Clip rounding outside the range."""
        return np.clip(ratio, 0.0, 1.0)

    def _relevant_cells(
        self, lists: ListFrame, tables: Tables, sets: Sets
    ) -> list[tuple[Ints, Floats]]:
        """Return the groups of the items relevant to each user, for target=relevant."""
        if self.target != "relevant":
            return []
        pairs = tables.relevant(self.rel)
        count, theirs = pairs.of_lists(lists)
        row = tables.item_table.rows_of(pairs.item[theirs])
        return [cells(list_numbers(count), row, np.ones(len(row)), sets)]

    def _target(
        self, shares: CategoryShares, sets: Sets, lists: int
    ) -> tuple[Floats, Bools]:
        """Return the target share of each cell, and which lists have one."""
        if self.target == "relevant":
            return shares.of_part(1)
        size = sets.split_sum(np.ones(len(sets.size)))
        due = size if self.target == "population" else np.ones(len(size))
        due = due / (due.sum() or 1.0)
        return due[shares.category], np.ones(lists, bool)


def _jsd(p: Floats, q: Floats) -> Floats:
    """Return the contribution of each group to the Jensen-Shannon divergence, in bits."""
    terms = np.zeros(len(p))
    for side in (p, q):
        positive = side > 0
        terms[positive] += (
            side[positive] * np.log2(2.0 * side[positive] / (p + q)[positive]) / 2.0
        )
    return terms


class IAA(ItemsOrGroups):
    """Inequity of amortized attention: attention against relevance, summed over all lists.

    >>> print(IAA(discount="geometric", p=0.5, k=10))
    IAA(discount=geometric, p=0.5)@10
    """

    needs = ("qrels",)
    card = Card(
        sentence="Is attention distributed like relevance over all lists?",
        formula="IAA = Σ_i |A_i − R_i|;  A_i = Σ_u a(rank_u(i)) / Σ_j Σ_u a(rank_u(j));  "
        "R_i = Σ_u rel_u(i) / Σ_j Σ_u rel_u(j)",
        symbols="a(r): attention, 1/log2(r + 1); rel_u(i): 1 if u, a user with a list, found i relevant; "
        "by=group: A and R of groups instead of items",
        example="attention 3/4, 1/4, 0; relevance 1/2, 0, 1/2: 1/4 + 1/4 + 1/2 = 1",
        needs="judgments; by=group a table of items with a column of groups",
        span=(0.0, 2.0),
        direction="lower",
        undefined="nothing relevant, or nothing shown",
        peers={
            "rank-fairness-metrics": "IAA(by=group), relevance from the scores of a model"
        },
        sensitive="sparse judgments: most attention falls on unjudged items",
        use="individual fairness over time; 0: attention exactly as relevance",
        citation="Biega, Gummadi and Weikum, SIGIR 2018",
    )

    def needed(self) -> tuple[str, ...]:
        """Return the tables needed; the table of items has the groups."""
        if self.by == "group":
            return ("qrels", "items")
        return ("qrels",)

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Give each item (or group) the difference of its two shares."""
        due = tables.count_by_item(lists, tables.relevant(self.rel))
        received = lists.exposure(tables.known, self.attention)
        rows: Rows = np.arange(tables.known)
        if self.by == "group":
            due = self.group_sums(tables, due)
            received = self.group_sums(tables, received)
            rows = self.sets(tables).names
        all_due = summed(due)
        all_received = summed(received)
        if not all_due > 0 or not all_received > 0:
            return Parts(due, 0.0)
        share = received / all_received
        target = due / all_due
        apart = np.abs(share - target)
        lists.record(self.by, rows, share=share, due=target, contribution=apart)
        return Parts(apart, 1.0)


class PlacementChances(GroupMeasure):
    """The spread of the probabilities of groups to be recommended, over their mean."""

    def chances(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return the probability of each group, NaN where it has no possible place."""
        raise NotImplementedError

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Divide the standard deviation of the probabilities by their mean."""
        chance = self.chances(lists, tables)
        if not len(chance) or np.isnan(chance).any():
            return 0.0, 0.0
        return float(chance.std()), float(chance.mean())

    def chance(
        self, lists: ListFrame, tables: Tables, placed: Floats, possible: Floats
    ) -> Floats:
        """Divide the places of each group by its possible places."""
        chance = divided(placed, possible, np.nan)
        lists.record(
            "group",
            self.sets(tables).names,
            placed=placed,
            possible=possible,
            chance=chance,
        )
        return chance

    def placed(self, lists: ListFrame, tables: Tables, pairs: Pairs | None) -> Floats:
        """Count the places of each group; with ``pairs`` those of these pairs only."""
        if pairs is None:
            places = lists.counts(tables.known).astype(np.float64)
        else:
            places = lists.by_item(tables.known, pairs.has)
        return self.group_sums(tables, places)

    def of_pairs(self, lists: ListFrame, tables: Tables, pairs: Pairs) -> Floats:
        """Count the pairs of the lists' users by the group of their item."""
        by_item = tables.count_by_item(lists, pairs)
        return self.group_sums(tables, by_item)


class RSP(PlacementChances):
    """Ranking-based statistical parity: whether all groups of items have the same probability to be shown.

    >>> print(RSP(group="popularity", k=10))
    RSP(group=popularity)@10
    """

    card = Card(
        sentence="Do items of all groups have the same probability to be shown?",
        formula="RSP@k = std_g P(g) / mean_g P(g);  P(g) = Σ_u |L_u ∩ g| / Σ_u |g \\ H_u|",
        symbols="g: items of a group; H_u: u's history",
        example="chances 0.3 and 0.1: 0.1 / 0.2 = 1/2",
        needs="a table of items with a column of groups; the history, if seen items are not recommended",
        span=(0.0, None),
        direction="lower",
        undefined="a group without items to show, or nothing shown",
        peers={"Elliot RSP": "the same"},
        sensitive="small groups; items of unknown group are left out",
        use="0 is parity, whatever the merit of items; REO is about relevant ones only",
        citation="Zhu, Wang and Caverlee, SIGIR 2020",
    )

    def chances(self, lists: ListFrame, tables: Tables) -> Floats:
        """Divide the places of each group by its possible places."""
        possible = self.size(tables) * len(lists)
        if tables.history is not None:
            possible = possible - self.of_pairs(lists, tables, tables.history.once)
        return self.chance(lists, tables, self.placed(lists, tables, None), possible)


@dataclass(frozen=True, kw_only=True)
class REO(PlacementChances):
    """Ranking-based equal opportunity: whether relevant items of all groups have the same probability.

    >>> print(REO(k=10))
    REO@10
    """

    needs = ("items", "qrels")
    card = replace(
        RSP.card,
        sentence="Do relevant items of all groups have the same probability to be shown?",
        formula="REO@k = std_g P(g) / mean_g P(g);  P(g) = Σ_u |L_u ∩ g ∩ R_u| / Σ_u |(g ∩ R_u) \\ H_u|",
        symbols="R_u: items u found relevant; H_u: u's history",
        example="recall 0.5 for one group and 0.3 for the other: 0.1 / 0.4 = 1/4",
        needs="a table of items with a column of groups; judgments; the history, if seen items are not "
        "recommended",
        undefined="a group without relevant items, or no relevant item shown",
        peers={"Elliot REO": "the same"},
        sensitive="groups with few relevant items",
        use="equal recall for all groups; 0 is parity",
    )
    rel: RelevantFrom = RELEVANT_FROM

    def chances(self, lists: ListFrame, tables: Tables) -> Floats:
        """Divide the relevant places of each group by its possible places."""
        relevant = tables.relevant(self.rel)
        candidates = relevant
        if tables.history is not None:
            candidates = relevant.where(~np.isin(relevant.key, tables.history.once.key))
        possible = self.of_pairs(lists, tables, candidates)
        return self.chance(
            lists, tables, self.placed(lists, tables, relevant), possible
        )
