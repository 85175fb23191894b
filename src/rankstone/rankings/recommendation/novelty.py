"""Novelty: how little known recommended items are; serendipity: how unexpected relevant items are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.list_arrays import list_numbers
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.rankings.recommendation import list_distances as distances
from rankstone.rankings.recommendation.recommendation_measure import (
    PERSISTENCE,
    RELEVANT_FROM,
    Attention,
    PerListMeasure,
    falling,
)

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.measures.core.definition import RelevantFrom, Threshold
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


def _lengths(measure: Novelty | Unexpectedness | Serendipity, n: Floats) -> Floats:
    """Return the lengths of lists, or for denom=k the cutoff for all that are not empty."""
    if measure.k is None or measure.denom == "n":
        return n
    return np.where(n > 0, float(measure.k), 0.0)


@dataclass(frozen=True, kw_only=True)
class Novelty(PerListMeasure, family="novelty"):
    """Novelty: the mean self-information of recommended items.

    >>> print(Novelty(k=10))
    Novelty@10
    """

    aliases = ("MSI", "MIUF", "MeanInvUserFreq", "SelfInformation")
    needs = ("history",)
    card = Card(
        sentence="How little known are the recommended items?",
        formula="Novelty@k(u) = (1/n) Σ_{i ∈ L_u} −log2(φ(i) / |U|)",
        symbols="φ(i): users of item i in the history; |U|: all its users; n: items in the list, at "
        "most k; count=records: interactions with i over all interactions; scale=share: divided by log2 |U|, "
        "the value of an item of one user; denom=k: k instead of n",
        example="4 users; items known to 1 and to 2 of them: (log2 4 + log2 2) / 2 = 3/2",
        needs="the history",
        span=(0.0, None),
        undefined="no item left in the list (cold=drop); scale=share with one user in the history",
        peers={
            "RecTools MeanInvUserFreq": "the same",
            "recommenders novelty": "Novelty(count=records, cold=zero), pooled over all rows: agg=pooled",
            "Evidently Novelty": "Novelty(cold=drop)",
            "RePlay Surprisal": "Novelty(scale=share, denom=k)",
            "RePlay Novelty": "the share of items new to the user: Unexpectedness(against=history)",
        },
        sensitive="cold items (without interactions: as if they had one, unless cold is set)",
        use="away from bestsellers; random items are most novel, so report it with accuracy",
        citation="Zhou et al., PNAS 2010; Castells, Vargas and Wang, DDR 2011",
    )

    count: str = parameter("users", "counts users, or interactions", "users", "records")
    cold: str = parameter(
        "one",
        "an item without interactions: as if it had one, left out, 0, or as novel as the most novel item",
        *("one", "drop", "zero", "rarest"),
    )
    scale: str = parameter(
        "bits", "bits, or a share of the largest possible value", "bits", "share"
    )
    denom: str = parameter(
        "n", "the denominator: the length of the list, or k", "n", "k", needs_k=("k",)
    )

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Up to 1 as a share."""
        return (0.0, 1.0 if self.scale == "share" else None)

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its self-information; divide by the items, or by their largest possible sum."""
        worth = tables.remember(
            ("novelty", self.count, self.cold, tables.known),
            lambda: self._worth(tables),
        )
        values = worth[lists.item]
        known = np.isfinite(values)
        lists.record_columns(
            popularity=lambda: tables.popularity(self.count)[lists.item]
        )
        left = lists.total((known | (self.cold != "drop")).astype(np.float64))
        norm = _lengths(self, left)
        most = np.log2(self._total(tables)) if self.scale == "share" else 1.0
        return Contributions(np.where(known, values, 0.0), norm * most)

    def _total(self, tables: Tables) -> int:
        if self.count == "users":
            return tables.user_count()
        return len(tables.past)

    def _worth(self, tables: Tables) -> Floats:
        met = tables.popularity(self.count)
        total = self._total(tables)
        value_of_cold = {
            "one": 1.0,
            "rarest": float(met[met > 0].min(initial=np.inf)),
            "zero": float(total),
        }
        counted = np.where(met > 0, met, value_of_cold.get(self.cold, np.nan))
        return -np.log2(counted / total)


@dataclass(frozen=True, kw_only=True)
class _Discovery(Attention, PerListMeasure):
    """Novelty weighted by attention and relevance, as a share of all attention."""

    needs = ("history",)

    relevance_by: str = parameter(
        "judged", "the items that count: judged relevant, or all", "judged", "all"
    )
    rel: RelevantFrom = RELEVANT_FROM
    discount: str = falling("log2")
    p: float | None = PERSISTENCE

    def needed(self) -> tuple[str, ...]:
        """Return the tables needed; judgments for relevance_by=judged."""
        if self.relevance_by == "judged":
            return (*self.needs, "qrels")
        return self.needs

    def relevance(self) -> Threshold | None:
        """Return when an item is relevant."""
        if self.relevance_by == "judged":
            return self.rel
        return None

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Weight the novelty of each item with attention and relevance; divide by all attention."""
        attention = self.attention(lists.rank)
        worth = tables.remember((self.name, tables.known), lambda: self.worth(tables))
        values = attention * worth[lists.item]
        lists.record_columns(attention=attention, novelty=lambda: worth[lists.item])
        if self.relevance_by == "judged":
            relevant = tables.is_relevant(lists, self.rel)
            lists.record_columns(relevant=lambda: relevant > 0)
            values = values * relevant
        return Contributions(values, lists.total(attention))

    def worth(self, tables: Tables) -> Floats:
        """Return the novelty of each item, float64 ``[known]``."""
        raise NotImplementedError


class EPC(_Discovery, family="novelty"):
    """Expected popularity complement: the share of users who do not know the recommended relevant items.

    >>> print(EPC(k=10))
    EPC@10
    """

    card = Card(
        sentence="How little known are the relevant items that a user sees?",
        formula="EPC@k(u) = Σ_r a(r) rel(i_r) (1 − φ(i_r)/|U|) / Σ_r a(r)",
        symbols="a(r): attention of rank r, 1/log2(r + 1); φ(i)/|U|: share of users with i in their history",
        example="one relevant item at rank 1 of 1, known to 1 of 4 users: 3/4",
        needs="the history; judgments, unless relevance_by=all",
        undefined="never; a user without a relevant item has 0",
        peers={"Elliot EPC": "the same; leaves out users without a relevant item"},
        sensitive="unjudged items count as not relevant; a cold item counts 1",
        use="novelty of relevant items; compare with nDCG, which it follows closely",
        citation="Vargas and Castells, RecSys 2011",
    )

    def worth(self, tables: Tables) -> Floats:
        """Return the share of users who do not know each item."""
        return 1.0 - tables.popularity("users") / tables.user_count()


class EFD(_Discovery, family="novelty"):
    """Expected free discovery: the self-information of the relevant items that are recommended.

    >>> print(EFD(k=10))
    EFD@10
    """

    card = replace(
        EPC.card,
        sentence="How informative are the relevant items that a user sees?",
        formula="EFD@k(u) = Σ_r a(r) rel(i_r) (−log2 p(i_r)) / Σ_r a(r)",
        symbols="a(r): attention of rank r, 1/log2(r + 1); p(i): i's share of the pairs of "
        "a user and an item in the history",
        example="one relevant item at rank 1 of 1, 1 of 4 pairs in the history: log2 4 = 2",
        span=(0.0, None),
        peers={"Elliot EFD": "the same; leaves out users without a relevant item"},
        sensitive="unjudged items count as not relevant; a cold item is as novel as the rarest known one",
        use="as EPC, with more weight on the long tail",
    )

    def worth(self, tables: Tables) -> Floats:
        """Return each item's self-information."""
        met = tables.popularity("users")
        counted = np.where(met > 0, met, met[met > 0].min(initial=np.inf))
        information: Floats = -np.log2(counted / met.sum())
        return information


@dataclass(frozen=True, kw_only=True)
class Unexpectedness(PerListMeasure, family="novelty"):
    """Unexpectedness: the share of a list that a simpler recommender would not have shown.

    >>> print(Unexpectedness(against="history", k=10))
    Unexpectedness(against=history)@10
    """

    card = Card(
        sentence="How much of the list was not expected?",
        formula="Unexpectedness@k(u) = 1 − |L_u ∩ E_u| / n",
        symbols="E_u: the expected items: against=popular the k most popular items (without a cutoff as "
        "many as the list has; equal ones by id, larger first), against=baseline the first k of another "
        "run's list, against=history u's history; n: items in the list (denom=k: k); a user "
        "without a list in the baseline has no value, absent=zero: 0",
        example="3 of 5 items are bestsellers: 2/5",
        needs="the history for against=popular and history; another run for against=baseline",
        undefined="against=baseline: the baseline has no list for the user, unless absent=zero",
        peers={
            "RePlay Unexpectedness": "Unexpectedness(against=baseline, denom=k, absent=zero): what a short "
            "list lacks counts as unexpected",
            "RePlay Novelty": "Unexpectedness(against=history), averaged over the users of the history: one "
            "without a list counts 1",
            "RecTools Intersection": "1 − Unexpectedness(against=baseline), 0 for users whom the baseline "
            "has no list for",
        },
        sensitive="the baseline: a weak one makes everything unexpected",
        use="how much a model adds to a list of bestsellers",
        citation="Ge, Delgado-Battenfeld and Jannach, RecSys 2010; Adamopoulos and Tuzhilin, TIST 2014",
    )

    against: str = parameter(
        "popular", "the expected items", "popular", "history", "baseline"
    )
    denom: str = parameter(
        "n", "the denominator: the length of the list, or k", "n", "k", needs_k=("k",)
    )
    absent: str = parameter(
        "undefined",
        "value of users without a list in the baseline",
        "undefined",
        "zero",
    )

    def needed(self) -> tuple[str, ...]:
        """Return the table of the expected items."""
        return {
            "popular": ("popularity",),
            "history": ("history",),
            "baseline": ("baseline",),
        }[self.against]

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Count 1 for each item that was not expected."""
        n = lists.n.astype(np.float64)
        norm = _lengths(self, n)
        if self.against == "popular":
            depth = self.k if self.k is not None else lists.n[lists.query]
            expected = tables.popularity_place()[lists.item] < depth
        elif self.against == "history":
            expected = tables.past.find(lists) >= 0
        else:
            return self._beyond_baseline(lists, tables, norm)
        lists.record_columns(expected=expected)
        return Contributions(
            (~expected).astype(np.float64), norm, missed=self._missing_items(norm, n)
        )

    def _beyond_baseline(
        self, lists: ListFrame, tables: Tables, norm: Floats
    ) -> Contributions:
        """Count 1 for each item that is not in the baseline's list of the user."""
        pairs = tables.expected(self.k)
        known = pairs.of_users(lists.user)[1] > 0
        beyond = (pairs.find(lists) < 0) & known[lists.query]
        lists.record_columns(expected=lambda: pairs.find(lists) >= 0)
        missing = self._missing_items(norm, lists.n.astype(np.float64))
        if self.absent == "undefined":
            norm = np.where(known, norm, 0.0)
        return Contributions(
            beyond.astype(np.float64),
            norm,
            missed=None if missing is None else np.where(known, missing, 0.0),
        )

    def _missing_items(self, norm: Floats, n: Floats) -> Floats | None:
        """Return how many items each list lacks to k, for denom=k."""
        if self.denom == "k":
            return np.where(norm > 0, norm - n, 0.0)
        return None


@dataclass(frozen=True, kw_only=True)
class Serendipity(PerListMeasure, family="novelty"):
    """Serendipity: the distance of relevant items from the expected items.

    >>> print(Serendipity(expected="history", features="vector", k=10))
    Serendipity(expected=history, features=vector)@10
    """

    card = Card(
        sentence="How many of the relevant items were not expected?",
        formula="expected=popular: (1/n) Σ_r max(s(r) − s(pop(i_r)), 0) rel(i_r), s(x) = (m + 1 − x)/m;  "
        "expected=history: (1/n) Σ_r (1 − mean_{j ∈ H_u} cos(i_r, j)) rel(i_r)",
        symbols="pop(i): the rank of i by popularity, equal ones share it and no rank is skipped (s = 0 "
        "for items without interactions); m: items in the catalogue; H_u: distinct items of u with features; "
        "n: items in the list (denom=k: k)",
        example="m = 4; relevant items at ranks 1 and 2, 2nd and 3rd by popularity: "
        "(4/4 − 3/4 + 3/4 − 2/4)/2 = 1/4",
        needs="judgments, the history; expected=popular: the number of items, =history: a table of items",
        span=(0.0, None),
        undefined="expected=history: no known item in the history",
        peers={
            "RecTools Serendipity": "Serendipity(count=records); its formula says k, its code n",
            "recommenders serendipity": "Serendipity(expected=history) over feature vectors; its other "
            "likeness is co-occurrence; all items are relevant by default",
            "Evidently Serendipity": "1 − Σ of the similarities of relevant items, not their mean",
        },
        sensitive="unjudged items count as not relevant; features with little information",
        use="two definitions under one name: always name the one used",
        citation="Murakami, Mori and Orihara, 2008; Zhang et al. (Auralist), WSDM 2012",
    )

    item_column = "features"

    expected: str = parameter("popular", "the expected items", "popular", "history")
    count: str = parameter(
        "users", "popularity counts users, or interactions", "users", "records"
    )
    features: str | None = parameter(
        None,
        "column of --items for expected=history (several with +); default: `features`, or all",
        word=True,
    )
    rel: RelevantFrom = RELEVANT_FROM
    denom: str = parameter(
        "n", "the denominator: the length of the list, or k", "n", "k"
    )

    def needed(self) -> tuple[str, ...]:
        """Return judgments, the history, and the table that relates items."""
        return (
            "qrels",
            "history",
            "catalogue" if self.expected == "popular" else "items",
        )

    def relevance(self) -> Threshold:
        """Return when an item is relevant."""
        return self.rel

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each relevant item its surprise."""
        norm = _lengths(self, lists.n.astype(np.float64))
        relevant = tables.is_relevant(lists, self.rel)
        if self.expected == "popular":
            surprise = self._beyond_popular(lists, tables)
            lists.record_columns(relevant=lambda: relevant > 0, surprise=surprise)
            return Contributions(relevant * surprise, norm)
        surprise, known = self._beyond_history(lists, tables)
        lists.record_columns(relevant=lambda: relevant > 0, surprise=surprise)
        return Contributions(relevant * surprise, np.where(known, norm, 0.0))

    def _beyond_popular(self, lists: ListFrame, tables: Tables) -> Floats:
        m = tables.catalogue(lists).size
        chance = tables.remember(
            ("chance", self.count, m, tables.known), lambda: self._chance(tables, m)
        )
        place = (m + 1.0 - lists.rank) / m
        return np.maximum(place - chance[lists.item], 0.0)

    def _chance(self, tables: Tables, m: int) -> Floats:
        met = tables.popularity(self.count)
        levels = np.unique(met[met > 0])[::-1]
        position = len(levels) - np.searchsorted(levels[::-1], met)
        return np.where(met > 0, (m + 1.0 - position) / m, 0.0)

    def _beyond_history(self, lists: ListFrame, tables: Tables) -> tuple[Floats, Ints]:
        """Return 1 − mean cosine to the items of the user's history, and the number of these items."""
        table = tables.item_table
        columns = self.columns(tables)
        text = table.is_text(columns)
        known = table.sets(columns[0]).known if text else table.vectors(columns).known
        past = tables.past.once
        count, pairs = past.of_lists(lists)
        row = table.rows_of(past.item[pairs])
        usable = (row >= 0) & known[row]
        whose = list_numbers(count)[usable]
        row = row[usable]
        met = np.bincount(whose, minlength=len(lists))
        here = table.rows(lists)
        shown = np.flatnonzero((here >= 0) & known[here] & (met > 0)[lists.query])
        of = lists.query[shown]
        if text:
            dots = distances.dots_of_sets(
                of, here[shown], whose, row, table.sets(columns[0])
            )
        else:
            units = tables.units(columns)
            sums = distances.sum_by_list(met, row, units)
            dots = distances.dots_of_vectors(here[shown], units, of, sums)
        like = np.zeros(len(here))
        like[shown] = dots / met[of]
        return 1.0 - like, met
