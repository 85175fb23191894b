"""Popularity: how much a run favours popular items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.list_arrays import divided, list_numbers, sums
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.rankings.recommendation.recommendation_measure import PerListMeasure

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


@dataclass(frozen=True, kw_only=True)
class Popularity(PerListMeasure, family="popularity"):
    """Average recommendation popularity: how popular a user's items are.

    >>> print(Popularity(scale="quantile", k=10))
    Popularity(scale=quantile)@10
    """

    aliases = ("ARP", "AvgRecPopularity", "AveragePopularity", "MeanPopRank")
    needs = ("popularity",)
    card = Card(
        sentence="How popular are the recommended items?",
        formula="Popularity@k(u) = (1/n) Σ_{i ∈ L_u} φ(i)",
        symbols="φ(i): users with i in their history (count=records: interactions); scale=share φ(i)/Σφ; "
        "scale=max φ(i)/max φ; scale=quantile the rank of i among known items, 1 the most popular, mean "
        "rank for ties, 0 without interactions; n: items in the list (cold=drop: with interactions)",
        example="items of 30 and 10 users: 20",
        needs="the history, or a column `popularity` of items",
        span=(0.0, None),
        direction="lower",
        undefined="never; cold=drop: no item with interactions",
        peers={
            "RecTools AvgRecPopularity": "Popularity(count=records)",
            "RecBole AveragePopularity": "Popularity(count=records), but in whole numbers until divided",
            "Elliot ARP": "the same",
            "Evidently PopularityBias": "Popularity(cold=drop), normalize_arp=True: and scale=max",
            "LensKit MeanPopRank": "Popularity(scale=quantile)",
        },
        sensitive="the size of the history, unless scaled; a cold item counts 0, unless left out",
        use="popularity bias of a run; compare with the users' own history by PopularityLift",
        citation="Yin et al., VLDB 2012; Abdollahpouri, Burke and Mobasher, FLAIRS 2019",
    )

    count: str = parameter("users", "counts users, or interactions", "users", "records")
    scale: str = parameter(
        "count",
        "counts, shares of all, shares of the largest count, or quantiles",
        *("count", "share", "max", "quantile"),
    )
    cold: str = parameter(
        "zero", "an item without interactions: 0, or left out", "zero", "drop"
    )

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Up to 1 for shares and quantiles."""
        return (0.0, None if self.scale == "count" else 1.0)

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its popularity."""
        worth = tables.remember(
            ("scaled", self.count, self.scale, tables.known),
            lambda: self._worth(tables),
        )
        values = worth[lists.item]
        lists.record_columns(
            popularity=lambda: tables.popularity(self.count)[lists.item]
        )
        if self.cold == "zero":
            return Contributions(values, lists.n.astype(np.float64))
        return Contributions(values, lists.total((values > 0).astype(np.float64)))

    def _worth(self, tables: Tables) -> Floats:
        met = tables.popularity(self.count)
        if self.scale in ("share", "max"):
            return met / (
                (met.sum() if self.scale == "share" else met.max(initial=0.0)) or 1.0
            )
        if self.scale == "quantile":
            return _quantile(met)
        return met


def _quantile(met: Floats) -> Floats:
    """Return the quantile of each item among those with interactions; equal items have their mean rank."""
    positive = met[met > 0]
    _, which, count = np.unique(positive, return_inverse=True, return_counts=True)
    place = np.cumsum(count) - (count - 1) / 2
    quantile = np.zeros(len(met))
    quantile[met > 0] = place[which] / max(len(positive), 1)
    return quantile


@dataclass(frozen=True, kw_only=True)
class _Tail(PerListMeasure):
    """A measure of the long tail, the items outside the head of popular items."""

    needs = ("popularity",)

    head: float = parameter(0.8, "the share that makes the head", above=0.0, below=1.0)
    by: str = parameter(
        "interactions",
        "the share is of all interactions, or of the items with interactions",
        *("interactions", "items"),
    )

    def tail(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return 1 for every row that shows an item of the tail."""
        is_tail = tables.remember(
            ("tail", self.head, self.by, tables.known), lambda: self._tail(tables)
        )
        lists.record_columns(popularity=lambda: tables.popularity("users")[lists.item])
        return is_tail[lists.item].astype(np.float64)

    def _tail(self, tables: Tables) -> Bools:
        met = tables.popularity("users")
        place = tables.popularity_place()
        order = np.empty(int((met > 0).sum()), np.int64)
        order[place[met > 0]] = np.flatnonzero(met > 0)
        if self.by == "items":
            heads = math.ceil(len(order) * self.head - 1e-9)
        else:  # the item that reaches the share is the last of the head
            heads = (
                int(
                    np.searchsorted(
                        np.cumsum(met[order]), self.head * met.sum() * (1 - 1e-12)
                    )
                )
                + 1
            )
        is_tail = np.ones(len(met), bool)
        is_tail[order[:heads]] = False
        return is_tail


_TAIL = (
    "the head: the most popular items (equal ones by id, larger first) that together have `head` of all "
    "interactions, the one that reaches it included; by=items: `head` of known items; the tail is the rest"
)


class APLT(_Tail, family="popularity"):
    """Average percentage of long-tail items in a list.

    >>> print(APLT(head=0.5, k=10))
    APLT(head=0.5)@10
    """

    aliases = ("TailPercentage", "LongTailShare")
    card = Card(
        sentence="What share of a list comes from the long tail?",
        formula="APLT@k(u) = |{i ∈ L_u : i in the tail}| / n",
        symbols=f"n: items in the list; {_TAIL}",
        example="2 of 5 items lie outside the head: 2/5",
        needs="the history, or a column `popularity` of items",
        undefined="never",
        peers={
            "Elliot APLT": "the same; a recommended item without interactions is in neither head nor tail",
            "RecBole TailPercentage": "APLT(by=items, head=0.9), at least one item in the tail; likewise for "
            "items without interactions",
            "share over all lists": "APLT(agg=pooled)",
        },
        sensitive="where the head ends; cold items belong to the tail",
        use="a run against popularity bias; it does not say whether the tail items are relevant",
        citation="Abdollahpouri, Burke and Mobasher, RecSys 2017 and FLAIRS 2019",
    )

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Count 1 for each item of the tail."""
        return Contributions(self.tail(lists, tables), lists.n.astype(np.float64))


class ACLT(_Tail, family="popularity"):
    """Average count of long-tail items in a list.

    >>> print(ACLT(k=10))
    ACLT@10
    """

    card = Card(
        sentence="How many items of a list come from the long tail?",
        formula="ACLT@k(u) = |{i ∈ L_u : i in the tail}|",
        symbols=_TAIL,
        example="2 of 5 items lie outside the head: 2",
        needs="the history, or a column `popularity` of items",
        span=(0.0, None),
        undefined="never",
        peers={
            "Elliot ACLT": "the same; a recommended item without interactions is in neither head nor tail"
        },
        sensitive="where the head ends; the lengths of lists",
        use="as APLT; with lists of one length it is k · APLT",
        citation="Abdollahpouri, Burke and Mobasher, FLAIRS 2019",
    )

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Count 1 for each item of the tail."""
        return Contributions(self.tail(lists, tables), np.ones(len(lists)))


@dataclass(frozen=True, kw_only=True)
class PopularityLift(PerListMeasure, family="popularity"):
    """Popularity lift: how much more popular recommendations are than the items of users' histories.

    >>> print(PopularityLift(k=10))
    PopularityLift@10
    """

    aliases = ("DeltaGAP",)
    needs = ("history",)
    card = Card(
        sentence="Are recommendations more popular than the items of users' histories?",
        formula="Lift = (GAP_L − GAP_P) / GAP_P;  GAP_X = mean_u (1/|X_u|) Σ_{i ∈ X_u} φ(i)",
        symbols="L_u: u's list; P_u: the distinct items of u's history; φ(i): users of i",
        example="lists with mean φ 30, profiles with mean φ 20: (30 − 20) / 20 = 1/2",
        needs="the history; for groups a table of users (--by)",
        span=(-1.0, None),
        direction="neither",
        undefined="a user without a history",
        peers={
            "agg=mean": "the mean of each user's own lift instead of the lift of the group's means"
        },
        sensitive="users with few items",
        use="by groups of users: do users of niche taste get bestsellers instead?",
        citation="Abdollahpouri, Mansoury, Burke and Mobasher, RMSE workshop at RecSys 2019",
    )

    agg: str = parameter(
        "pooled",
        "how users become one number",
        *("pooled", "mean", "median", "trimmed"),
    )

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its popularity over n; subtract that of the history, and divide by it."""
        met = tables.popularity("users")
        past = tables.past.once
        count, pairs = past.of_lists(lists)
        whose = list_numbers(count)
        theirs = past.item[pairs]
        summed = sums(whose, met[theirs], len(lists))
        profile = divided(summed, count)
        lists.record(
            "item", theirs, title="past", total=summed, contribution=lambda: met[theirs]
        )
        lists.record_steps(mean=profile)
        popularity = met[lists.item]
        lists.record_columns(popularity=popularity)
        return Contributions(
            popularity / lists.n[lists.query], profile, missed=-profile
        )
