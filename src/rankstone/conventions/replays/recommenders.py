"""Recommenders' R-precision, whose mean leaves out users without a hit, and its nDCG.

Recommenders' diversity and serendipity, from co-occurrence or features; unknown items are similar to none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.errors import BadValue, printable
from rankstone.hits.extras.row_numbers import RowNumbers
from rankstone.hits.list_arrays import (
    Ideal,
    descending_within,
    list_numbers,
    offsets_of,
)
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import parameter
from rankstone.measures.core.measure import Contributions, Status
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.measures.dcg import nDCG
from rankstone.rankings.recommendation import list_distances as distances
from rankstone.rankings.recommendation.items import Sets
from rankstone.rankings.recommendation.recommendation_measure import ANY, PerListMeasure

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Cutoff
    from rankstone.rankings.recommendation.list_frame import ListFrame, Numbers
    from rankstone.rankings.recommendation.recommendation_tables import Tables


class RPrecision(Replay, BinaryMeasure):
    """R-precision of the first k, without users who have no hit among their first min(R, k).

    >>> print(RPrecision(k=5))
    r_precision@5
    """

    name = "r_precision"
    zero_norm = Status.dropped

    #: whether there is a hit decides whether there is a value
    claims = Claims(closed_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits in the first min(R, k) ranks; divide by R."""
        relevant = hits.relevant_count(self.rel)
        shares = self.relevant_hits(
            hits, relevant if self.k is None else np.minimum(relevant, self.k)
        )
        return Contributions(
            shares, np.where(hits.total(shares) > 0, relevant, 0).astype(np.float64)
        )


class NDCG(nDCG):
    """nDCG over tables that are joined row by row: an item shown several times is joined with itself.

    >>> print(NDCG(k=5))
    nDCG@5
    """

    requires = frozenset({RowNumbers})

    @property
    def claims(self) -> Claims:
        """Copies below the cutoff count, and both list and ideal depend on which are among the first k."""
        return replace(
            super().claims,
            looks_deeper=True,
            closed_under_ties=False,
            bounds_by="enumeration",
            deeper_grades_matter=True,
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Let every copy among the first k gain once for each copy in the list."""
        item, copies = self._copies(hits)
        gain = self.worth(hits.grade) * copies[item]
        return Contributions(
            hits.discounted(gain, self.divisor, self.k), self._norm(hits)
        )

    @staticmethod
    def _copies(hits: Hits) -> tuple[Ints, Ints]:
        """Return the number of each hit's item, and how often each item is in its list."""
        _, item, copies = np.unique(
            hits.added(RowNumbers).judgment, return_inverse=True, return_counts=True
        )
        return item, copies

    def _ideal_gains(self, hits: Hits, _depth: Cutoff | None = None) -> Ideal:
        """Return the gains of all joined rows, best first; they depend on the cutoff."""
        item, copies = self._copies(hits)
        shown = np.bincount(
            item[hits.rank <= (self.k or np.inf)], minlength=len(copies)
        )
        first = np.unique(item, return_index=True)[1]
        further = np.maximum(shown * copies - 1, 0)
        query = np.concatenate(
            (hits.ideal.query, np.repeat(hits.query[first], further))
        )
        grade = np.concatenate(
            (hits.ideal.grade, np.repeat(hits.grade[first], further))
        )
        order = np.argsort(query, kind="stable")
        lengths = np.bincount(query, minlength=hits.queries)
        return Ideal(
            offsets_of(lengths),
            descending_within(query[order], self.worth(grade[order])),
        )


class AllNew(Replay, PerListMeasure, family="novelty"):
    """1 if a list has no item from its user's history, else 0.

    >>> print(AllNew())
    AllNew
    """

    needs = ("history",)

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each list 1 if none of its items is in the history."""
        met = lists.total((tables.past.once.find(lists) >= 0).astype(np.float64))
        fresh = (met == 0).astype(np.float64)
        return Contributions(
            np.zeros(len(lists.item)), np.ones(len(lists)), missed=fresh
        )


@dataclass(frozen=True, kw_only=True)
class _ByLikeness(Replay, PerListMeasure):
    """A measure from the similarity of items; unknown items are similar to none."""

    likeness: str = parameter(
        "cooccurrence",
        "cosine of items' sets of users, or of feature vectors",
        "cooccurrence",
        "features",
    )
    features: str | None = parameter(
        None,
        "column of --items (several with +); default: the column `features`, or all columns",
        word=True,
    )

    def needed(self) -> tuple[str, ...]:
        """Return the tables that the similarity needs."""
        if self.likeness == "cooccurrence":
            return ("history",)
        return ("history", "items")

    def check(self, tables: Tables) -> None:
        """Refuse missing columns and columns without numbers."""
        super().check(tables)
        if self.likeness == "features":
            tables.item_table.check_numbers(self._columns(tables))

    def _columns(self, tables: Tables) -> tuple[str, ...]:
        return tables.item_table.chosen(self.features, "features", str(self))

    def place(self, item: Numbers, tables: Tables) -> tuple[Ints, Bools]:
        """Return where each item's sets or vectors are, and whether it has any."""
        if self.likeness == "cooccurrence":
            return item.astype(np.int64), self.users(tables).known[item]
        row = tables.item_table.rows_of(item)
        return row, (row >= 0) & tables.item_table.vectors(self._columns(tables)).known[
            row
        ]

    def users(self, tables: Tables) -> Sets:
        """Return the users who interacted with each item."""

        def make() -> Sets:
            past = tables.past.once
            order = np.argsort(past.item, kind="stable")
            offsets = offsets_of(past.per_item(tables.known))
            return Sets(
                offsets,
                past.user[order].astype(np.int64),
                [""] * len(tables.user_codes),
            )

        return tables.remember(("users of items", tables.known), make)

    def units(self, tables: Tables) -> Floats:
        """Return features as vectors of length one; refuse zero vectors, as the library does."""
        columns = self._columns(tables)
        table = tables.item_table
        vectors = table.vectors(columns)
        null = vectors.known & ~vectors.values.any(axis=1)
        if null.any() or not vectors.known.any():
            item = tables.item_codes.ids(table.code[null][:1])
            raise BadValue(
                f"the features of item {printable(item[0])} are all zero"
                if len(item)
                else "no item has features",
                where=table.attributes.source,
                expected="vectors that are not zero, since Recommenders divides by their length",
                fix="leave out items without features: they count as similar to no other item",
            )
        return tables.units(columns)


class Diversity(_ByLikeness, family="diversity"):
    """One minus the mean similarity of two items of a list.

    >>> print(Diversity(likeness="features"))
    diversity(likeness=features)
    """

    name = "diversity"

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its distances to the others; divide by the ordered pairs."""
        place, known = self.place(lists.item, tables)
        rows = np.flatnonzero(known)
        counts = np.bincount(lists.query[rows], minlength=len(lists))
        distance = np.zeros(len(lists.item))
        if self.likeness == "cooccurrence":
            distance[rows] = distances.cosine_of_sets(
                counts, place[rows], self.users(tables)
            )
        else:
            distance[rows] = distances.cosine_of_vectors(
                counts, place[rows], self.units(tables)
            )
        pairs = lists.n * (lists.n - 1)
        of_known = counts * (counts - 1)
        return Contributions(
            distance,
            pairs.astype(np.float64),
            missed=(pairs - of_known).astype(np.float64),
        )


@dataclass(frozen=True, kw_only=True)
class Serendipity(_ByLikeness, family="novelty"):
    """The difference of a list from its user's history.

    >>> print(Serendipity(relevance_by="judged"))
    serendipity(relevance_by=judged)
    """

    name = "serendipity"

    relevance_by: str = parameter(
        "all", "which items count: all, or those judged relevant", "all", "judged"
    )

    def needed(self) -> tuple[str, ...]:
        """Return the tables that are needed, with judgments if these decide what counts."""
        return (
            *super().needed(),
            *(("qrels",) if self.relevance_by == "judged" else ()),
        )

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its difference from the history."""
        past = tables.past.once
        count, pairs = past.of_lists(lists)
        of = list_numbers(count)
        place, known = self.place(past.item[pairs], tables)
        like = self._likeness(lists, tables, of[known], place[known])
        apart = 1.0 - like / np.maximum(count, 1)[lists.query]
        if self.relevance_by == "judged":
            apart = apart * tables.is_relevant(lists, ANY)
        return Contributions(apart, np.where(count > 0, lists.n, 0).astype(np.float64))

    def _likeness(
        self, lists: ListFrame, tables: Tables, of: Ints, others: Ints
    ) -> Floats:
        """Sum the similarity of each item of the lists to other items of the same user."""
        here, known = self.place(lists.item, tables)
        rows = np.flatnonzero(known)
        similarity = np.zeros(len(lists.item))
        if self.likeness == "cooccurrence":
            sets = self.users(tables)
            similarity[rows] = distances.dots_of_sets(
                lists.query[rows], here[rows], of, others, sets
            )
            return similarity
        units = self.units(tables)
        counts = np.bincount(of, minlength=len(lists))
        sums = distances.sum_by_list(counts, others, units)
        similarity[rows] = distances.dots_of_vectors(
            here[rows], units, lists.query[rows], sums
        )
        return similarity
