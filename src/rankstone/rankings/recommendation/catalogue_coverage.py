"""Coverage and concentration: how much of the catalogue is recommended, to how many users, how evenly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import counted
from rankstone.errors import NotComparable
from rankstone.measures.core.definition import Card, parameter
from rankstone.rankings.recommendation.recommendation_measure import (
    ANY,
    PERSISTENCE,
    Attention,
    Parts,
    WholeRunMeasure,
    falling,
)
from rankstone.rankings.recommendation.recommendation_tables import Catalogue

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.rankings.recommendation.list_frame import ListFrame, Numbers
    from rankstone.rankings.recommendation.recommendation_tables import Tables


_NEEDS_CATALOGUE = (
    "the number of items: a table of items, catalogue_size, or at least the history"
)


@dataclass(frozen=True, kw_only=True)
class CatalogueMeasure(WholeRunMeasure):
    """A measure over the items of a catalogue."""

    needs = ("catalogue",)

    among: str = parameter(
        "catalogue", "the items: all, or those of the history", "catalogue", "past"
    )
    outside: str = parameter(
        "drop",
        "items shown that are not in it: left out, or counted like the others",
        "drop",
        "count",
    )

    def needed(self) -> tuple[str, ...]:
        """Return the table that defines the catalogue."""
        if self.among == "past":
            return ("history",)
        return self.needs

    def items(self, lists: ListFrame, tables: Tables) -> Catalogue:
        """Return the catalogue; only its size if items outside count, too."""
        catalogue = (
            tables.items_met() if self.among == "past" else tables.catalogue(lists)
        )
        if self.outside == "count":
            return Catalogue(catalogue.size, None)
        return catalogue


@dataclass(frozen=True, kw_only=True)
class Coverage(CatalogueMeasure, family="catalogue"):
    """Coverage: the share of the catalogue that is in any list.

    >>> print(Coverage(k=10))
    Coverage@10
    """

    aliases = ("CatalogCoverage", "ItemCoverage", "AggregateDiversity")
    card = Card(
        sentence="How much of the catalogue is recommended at all?",
        formula="Coverage@k = |{i : c_i > 0}| / m",
        symbols="c_i: lists with item i among the first k; m: items in the catalogue; among=past: items "
        "of the history; outside=count: items shown that are not among these count too",
        example="lists (a, b) and (a, c), catalogue a … e: 3/5",
        needs=_NEEDS_CATALOGUE,
        undefined="never",
        peers={
            "RecTools CatalogCoverage": "Coverage(outside=count, scale=count); normalize=True: the share",
            "RecBole ItemCoverage": "the same; its catalogue has one padding item more",
            "recommenders catalog_coverage": "Coverage(among=past, outside=count): cold items can lift it "
            "over 1",
            "RePlay Coverage": "Coverage(among=past)",
            "Elliot ItemCoverage": "Coverage(outside=count, scale=count)",
        },
        sensitive="the number of lists and k: compare runs with the same users only; items outside the "
        "catalogue are not counted, unless outside=count",
        use="is the long tail reachable at all? One showing is enough, so look at Gini too",
        citation="Herlocker et al., TOIS 2004; Ge, Delgado-Battenfeld and Jannach, RecSys 2010",
    )

    scale: str = parameter(
        "share", "share of the catalogue, or number of items", "share", "count"
    )

    def needed(self) -> tuple[str, ...]:
        """Return no table for a count of all items shown."""
        if (self.scale, self.outside) == ("count", "count"):
            return ()
        return super().needed()

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Count 1 for each item shown."""
        counts = lists.counts(tables.known)
        if not self.needed():
            shown = counts > 0
            lists.record(
                "item", lambda: np.arange(len(shown)), lists=counts, contribution=shown
            )
            return Parts(shown.astype(np.float64), 1.0)
        items = self.items(lists, tables)
        shown = items.of(counts) > 0
        lists.record(
            "item",
            lambda: items.codes(counts),
            lists=lambda: items.of(counts),
            contribution=shown,
        )
        return Parts(
            shown.astype(np.float64),
            float(items.size) if self.scale == "share" else 1.0,
        )

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Between 0 and 1 as a share, if items outside do not count."""
        return (0.0, 1.0 if (self.scale, self.outside) == ("share", "drop") else None)


@dataclass(frozen=True, kw_only=True)
class UserCoverage(WholeRunMeasure, family="catalogue"):
    """User coverage: the share of users that receive a list, or a full one.

    >>> print(UserCoverage(at_least="k", k=10))
    UserCoverage(at_least=k)@10
    """

    aliases = ("CoveredUsers",)
    card = Card(
        sentence="How many of the users get a recommendation?",
        formula="UserCoverage@k = |{u : n_u ≥ 1}| / |U|; at_least=k: n_u ≥ k",
        symbols="n_u: items in u's list; U: the users of the first of these tables that is given: users, "
        "judgments, history; without any, those of the run; among=run: always those of the run; "
        "among=relevant: users with a relevant item; scale=count: not divided",
        example="3 users, lists of 2, 1 and 0 items: 2/3; with at_least=k, k = 2: 1/3",
        needs="who the users are: a table of users, judgments or the history; else it is 1 for at_least=one",
        undefined="never",
        peers={
            "Elliot UserCoverage": "UserCoverage(among=run, scale=count), UserCoverageAtN with at_least=k",
            "RecTools CoveredUsers": "UserCoverage(among=relevant)",
            "RecTools SufficientReco": "UserCoverage(at_least=k, among=run)",
        },
        sensitive="who counts as a user, which a note states",
        use="models that cannot serve every user: thresholds, filters, cold users",
        citation="Ge, Delgado-Battenfeld and Jannach, RecSys 2010",
    )

    at_least: str = parameter(
        "one", "how long a list must be", "one", "k", needs_k=("k",)
    )
    among: str = parameter(
        "known",
        "the users: of the first table, of the run, or those with a relevant item",
        *("known", "run", "relevant"),
    )
    scale: str = parameter("share", "share of the users, or how many", "share", "count")

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Between 0 and 1 as a share."""
        return (0.0, 1.0 if self.scale == "share" else None)

    def needed(self) -> tuple[str, ...]:
        """Judgments are needed to know who has a relevant item."""
        if self.among == "relevant":
            return ("qrels",)
        return ()

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Count 1 for each user with a list that is long enough."""
        users = self._users(lists, tables)
        enough = lists.n >= (
            self.k if self.at_least == "k" and self.k is not None else 1
        )
        covered = (enough & np.isin(lists.user, users)).astype(np.float64)
        lists.record(
            "user", np.arange(len(lists)), length=lists.n, contribution=covered
        )
        return Parts(covered, float(len(users)) if self.scale == "share" else 1.0)

    def _users(self, lists: ListFrame, tables: Tables) -> Numbers:
        """Return the users."""
        if self.among == "relevant":
            return tables.relevant(ANY).users
        known = tables.audience() if self.among == "known" else None
        if known is None:
            return lists.user
        return known


@dataclass(frozen=True, kw_only=True)
class Gini(Attention, CatalogueMeasure, family="catalogue"):
    """Gini: how unequally recommendations are distributed over the catalogue.

    >>> print(Gini(discount="geometric", p=0.85, k=10))
    Gini(discount=geometric, p=0.85)@10
    """

    aliases = ("GiniIndex", "ListGini")
    card = Card(
        sentence="How unequally are recommendations distributed over the catalogue?",
        formula="Gini@k = Σ_j (2j − m − 1) c_(j) / ((m − 1) Σ_j c_(j))",
        symbols="c_(1) ≤ … ≤ c_(m): how often each of the m items is shown, never-shown ones included; with "
        "a discount, the attention each receives; denom=m divides by m instead of m − 1; among=past: items "
        "of the history, among=shown: items shown; outside=count: items shown that are not among these, too",
        example="shown 0, 1 and 3 times: (−2·0 + 0·1 + 2·3) / (2·4) = 3/4",
        needs=_NEEDS_CATALOGUE,
        direction="lower",
        undefined="nothing shown, or one item in the catalogue",
        peers={
            "RecBole GiniIndex": "Gini(denom=m); its catalogue has one padding item more",
            "LensKit ListGini": "Gini(outside=count, denom=m)",
            "LensKit ExposureGini": "Gini(outside=count, discount=geometric, p=0.85, denom=m), summed in "
            "single precision",
            "Evidently PopularityBias": "Gini(among=shown), as if items never shown did not exist",
            "Elliot Gini": "1 − Gini(outside=count): higher is more even",
        },
        sensitive="the size of the catalogue; items outside it are not counted, unless outside=count",
        use="concentration; 0: every item equally often, 1: always the same item (with the default denom)",
        citation="Gini, 1912; Fleder and Hosanagar, Management Science 2009; Adomavicius and Kwon, TKDE 2012",
    )

    among: str = parameter(
        "catalogue",
        "the items of the catalogue: all, those of the history, or those shown",
        "catalogue",
        "past",
        "shown",
    )
    discount: str = falling("none")
    p: float | None = PERSISTENCE
    denom: str = parameter("m_minus_1", "the denominator", "m_minus_1", "m")

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Weight the amount of each item with its rank, smallest first."""
        items = self.items(lists, tables)
        received = self.received(lists, tables.known)
        m = items.size
        shown = np.sort(items.of(received))
        if len(shown) > m:
            raise NotComparable(
                f"{self}: {counted(len(shown), 'distinct item')} in the lists, more than the catalogue has",
                given=counted(m, "item"),
                fix=f"{replace(self, outside='drop')} leaves out items that are not in it",
            )
        place = np.arange(m - len(shown) + 1, m + 1)
        whole = float(shown.sum())
        values = (2.0 * place - m - 1) * shown / (whole or 1.0)
        lists.record(
            "item",
            lambda: tables.by_worth(items.codes(received), items.of(received)),
            received=shown,
            place=place,
            contribution=values,
        )
        return Parts(
            values, 0.0 if not whole else float(m if self.denom == "m" else m - 1)
        )

    def needed(self) -> tuple[str, ...]:
        """Return the table that defines the catalogue."""
        if self.among == "shown":
            return ()
        return super().needed()

    def items(self, lists: ListFrame, tables: Tables) -> Catalogue:
        """Return the catalogue."""
        if self.among == "shown":
            return Catalogue(int((lists.counts(tables.known) > 0).sum()), None)
        return super().items(lists, tables)

    def received(self, lists: ListFrame, items: int) -> Floats | Ints:
        """Return how often each item is shown, or its attention."""
        if self.discount == "none":
            return lists.counts(items)
        return lists.exposure(items, self.attention)


@dataclass(frozen=True, kw_only=True)
class Entropy(WholeRunMeasure, family="catalogue"):
    """Entropy: how evenly recommendations are distributed over items, in bits.

    >>> print(Entropy(scale="effective", k=10))
    Entropy(scale=effective)@10
    """

    aliases = ("ShannonEntropy", "DistributionalCoverage")
    card = Card(
        sentence="How many yes/no questions identify the item of a random recommendation?",
        formula="H@k = −Σ_i p_i log2 p_i;  scale=share: H / log2 m;  scale=effective: 2^H",
        symbols="p_i: the share of recommendations that item i has; m: items in the catalogue",
        example="shares 1/2, 1/4, 1/4: H = 1/2·1 + 1/4·2 + 1/4·2 = 3/2 bits; effective 2^1.5 = 2.83 items",
        needs="nothing but the run; scale=share the number of items",
        span=(0.0, None),
        undefined="nothing shown; scale=share with one item in the catalogue",
        peers={
            "recommenders distributional_coverage": "the same, over the items recommended",
            "RecBole ShannonEntropy": "natural logarithm, divided by the number of distinct items shown",
            "Elliot SEntropy": "lists weigh the same; Entropy where they have one length",
            "LensKit entropy": "something else: categories inside one list",
        },
        sensitive="the number of lists; items outside the catalogue count, except for scale=share",
        use="effective reads best: as varied as if so many items were shown equally often",
        citation="Shannon, 1948; Shani and Gunawardana, Recommender Systems Handbook, 2011",
    )

    scale: str = parameter(
        "bits",
        "bits, share of the most, or effective items",
        *("bits", "share", "effective"),
    )

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Up to 1 as a share, at least one effective item."""
        return {"bits": (0.0, None), "share": (0.0, 1.0), "effective": (1.0, None)}[
            self.scale
        ]

    def needed(self) -> tuple[str, ...]:
        """Only a share needs the number of items."""
        if self.scale == "share":
            return ("catalogue",)
        return ()

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Give each item −p log2 p."""
        counts = lists.counts(tables.known)
        item = np.arange(len(counts))
        norm = 1.0
        if self.scale == "share":
            catalogue = tables.catalogue(lists)
            item = catalogue.codes(counts)
            counts = catalogue.of(counts).astype(np.int64)
            norm = float(np.log2(catalogue.size)) if catalogue.size else 0.0
        share = counts[counts > 0] / max(counts.sum(), 1)
        bits = -share * np.log2(share)
        lists.record(
            "item",
            lambda: item[counts > 0],
            lists=lambda: counts[counts > 0],
            share=share,
            contribution=bits,
        )
        return Parts(bits, norm if len(share) else 0.0)

    def link(self, ratio: float) -> float:
        """Return 2^bits, the number of equally frequent items, for scale=effective."""
        if self.scale == "effective":
            return float(2.0**ratio)
        return ratio


@dataclass(frozen=True, kw_only=True)
class Personalization(WholeRunMeasure, family="catalogue"):
    """Personalization: how different the lists of two users are.

    >>> print(Personalization(k=10))
    Personalization@10
    """

    aliases = ("InterListDiversity", "InterUserDiversity")
    card = Card(
        sentence="How different are the lists of two users?",
        formula="Personalization@k = 1 − mean_{u≠v} |L_u ∩ L_v| / k "
        "= 1 − Σ_i c_i (c_i − 1) / (k |U| (|U| − 1))",
        symbols="c_i: lists with item i; U: lists; k: the cutoff, by default the longest list; "
        "similarity=cosine divides each overlap by √(n_u n_v)",
        example="lists (a, b), (a, c), (b, d): c = 2, 2, 1, 1: 1 − (2 + 2)/(2·3·2) = 2/3",
        needs="nothing but the run",
        undefined="fewer than two lists",
        peers={
            "recmetrics personalization": "Personalization(similarity=cosine), of a dense matrix",
            "Zhou et al.": "the Hamming distance of lists of one length L, averaged: the same",
            "Evidently Personalization": "the same where all lists have k items; shorter ones lift it",
        },
        sensitive="lists of different lengths: shorter ones look more personal; similarity=cosine does not",
        use="do all users get the same bestsellers? No table needed; summed over items, not pairs of users",
        citation="Zhou et al., PNAS 2010",
    )

    similarity: str = parameter("overlap", "of two lists", "overlap", "cosine")

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Count for each item the pairs of lists that share it."""
        users = len(lists)
        if self.similarity == "cosine":
            shared = _squares(lists, tables.known)
            norm = float(users * (users - 1))
        else:
            counts = lists.counts(tables.known).astype(np.float64)
            k = self.k or int(lists.n.max(initial=0))
            shared = counts * (counts - 1)
            norm = float(k * users * (users - 1))
        lists.record(
            "item",
            lambda: np.arange(len(shared)),
            lists=lambda: lists.counts(tables.known),
            contribution=shared,
        )
        return Parts(shared, norm)

    def link(self, ratio: float) -> float:
        """Return one minus the similarity."""
        return 1.0 - ratio


def _squares(lists: ListFrame, items: int) -> Floats:
    """Return Σ_{u≠v} 1/√(n_u n_v) over the lists that share each item."""
    once = np.zeros(items)
    twice = np.zeros(items)
    for part in lists.chunks():
        n = part.n.astype(np.float64)[part.query]
        once += np.bincount(part.item, 1.0 / np.sqrt(n), items)
        twice += np.bincount(part.item, 1.0 / n, items)
    return once * once - twice
