"""Evidently's ranking metrics, which give tied items the middle rank of their block, rounded down.

Three tied items all have rank 2, and none has rank 1 or 3.  Without ties, all but average
precision and average recall are what their names say.

Evidently's personalization and serendipity, as it computes them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.hits.list_arrays import list_numbers, ragged_range
from rankstone.measures.core.definition import parameter
from rankstone.measures.core.measure import Contributions, Measure
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.measures.dcg import nDCG
from rankstone.rankings.recommendation import list_distances as distances
from rankstone.rankings.recommendation.recommendation_measure import (
    ANY,
    Parts,
    PerListMeasure,
    WholeRunMeasure,
)

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.claims import Claims
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


def middle(hits: Hits) -> Ints:
    """Return the rank each hit is given: the middle of its tie block, rounded down."""
    return (hits.first + hits.last) // 2


class Placed(Replay, Measure):
    """A measure that gives items the middle rank of their tie block."""

    @property
    def claims(self) -> Claims:
        """Evidently's rule resolves ties; an item below rank k may be given a rank above it."""
        return replace(super().claims, looks_deeper=True, closed_under_ties=False)


class ByMiddle(Placed, BinaryMeasure):
    """A binary measure in which items have the middle rank of their tie block."""

    def inside(self, hits: Hits) -> Bools:
        """Return which relevant hits have a middle rank of k or less."""
        return hits.relevant(self.rel) & (middle(hits) <= (self.k or math.inf))

    def first(self, hits: Hits) -> Bools:
        """Return the first relevant hit of each query, if its middle rank is k or less."""
        first: Bools = self.inside(hits) & (
            hits.running_count(hits.relevant(self.rel)) == 1
        )
        return first

    def shown(self, hits: Hits) -> Floats:
        """Return min(n, k), at least 1."""
        shown = hits.n if self.k is None else np.minimum(hits.n, self.k)
        return np.maximum(shown, 1).astype(np.float64)


class PrecisionTopK(ByMiddle):
    """Precision of the items whose middle rank is k or less.

    >>> print(PrecisionTopK(k=5))
    PrecisionTopK@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits; divide by min(k, n)."""
        return Contributions(self.inside(hits).astype(np.float64), self.shown(hits))


class RecallTopK(ByMiddle):
    """Recall of the items whose middle rank is k or less.

    >>> print(RecallTopK(k=5))
    RecallTopK@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits; divide by R."""
        return Contributions(
            self.inside(hits).astype(np.float64),
            hits.relevant_count(self.rel).astype(np.float64),
        )


class FBetaTopK(PrecisionTopK):
    """F of the mean precision and the mean recall of all users.

    >>> print(FBetaTopK(k=5))
    FBetaTopK@5
    """

    def query_weights(self, hits: Hits) -> Floats:
        """Return the recall of each query, which aggregation needs in addition to the precision."""
        relevant = hits.relevant_count(self.rel)
        return hits.count(self.inside(hits)) / np.maximum(relevant, 1)

    def aggregate(
        self, value: Floats, weight: Floats, numerator: Floats, denominator: Floats
    ) -> float:
        """Average precision and recall; return their harmonic mean."""
        precision = super().aggregate(value, weight, numerator, denominator)
        recall = super().aggregate(weight, weight, numerator, denominator)
        if precision + recall:
            return 2 * precision * recall / (precision + recall)
        return math.nan


class MRR(ByMiddle):
    """Reciprocal rank of the first relevant item.

    >>> print(MRR(k=5))
    MRR@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Give the first relevant hit the reciprocal of its middle rank."""
        return Contributions(
            np.where(self.first(hits), 1.0 / middle(hits), 0.0), np.ones(hits.queries)
        )


class HitRate(ByMiddle):
    """Whether a relevant item has a middle rank of k or less.

    >>> print(HitRate(k=5))
    HitRate@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Give the first relevant hit 1."""
        return Contributions(self.first(hits).astype(np.float64), np.ones(hits.queries))


class MAP(ByMiddle, family="average precision"):
    """Mean precision at ranks with a relevant last row; that of a short list is repeated down to k.

    >>> print(MAP(k=5))
    MAP@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Give the last hit at each middle rank, if it is relevant, all ranks down to the next one."""
        relevant = hits.relevant(self.rel)
        place = middle(hits)
        closing = np.flatnonzero(hits.rank == hits.last)
        query = hits.query[closing]
        start = place[closing]
        depth = np.full(
            len(closing), int(hits.n.max(initial=0)) if self.k is None else self.k
        )
        same = query[1:] == query[:-1]
        depth[:-1] = np.where(same, np.minimum(depth[:-1], start[1:] - 1), depth[:-1])
        lengths = np.where(relevant[closing], np.maximum(depth - start + 1, 0), 0)
        ranks = ragged_range(start, lengths)
        block = list_numbers(lengths)
        known = self.known(hits, relevant)[closing]
        shares = np.zeros(len(hits.rank))
        worth = self.worth(hits, known[block], ranks, query[block])
        shares[closing] = np.bincount(block, worth, len(closing))
        return Contributions(shares, hits.relevant_count(self.rel).astype(np.float64))

    def known(self, hits: Hits, relevant: Bools) -> Ints:
        """Count the relevant hits down to each hit."""
        return hits.running_count(relevant)

    def worth(self, hits: Hits, count: Ints, rank: Ints, query: Ints) -> Floats:
        """Return the precision at ranks."""
        return count / np.minimum(rank, hits.n[query])


class MAR(MAP):
    """Mean recall at ranks with a relevant last row; that of a short list is repeated down to k.

    >>> print(MAR(k=5))
    MAR@5
    """

    def worth(self, hits: Hits, count: Ints, rank: Ints, query: Ints) -> Floats:  # noqa: ARG002 - the rank does not matter
        """Return the recall at ranks."""
        return count / hits.relevant_count(self.rel)[query]


@dataclass(frozen=True, kw_only=True)
class NDCG(Placed, nDCG):
    """nDCG with the middle rank of each tie block.

    >>> print(NDCG(k=5))
    NDCG@5
    """

    aliases = ()

    gain: str = parameter("linear", "what a grade is worth", "linear")

    def discounted(self, hits: Hits) -> Floats:
        """Return the discounted gains of hits whose middle rank is k or less."""
        place = middle(hits)
        shares: Floats = self.worth(hits.grade) / self.divisor(place)
        if self.k is None:
            return shares
        return np.where(place <= self.k, shares, 0.0)


class Personalization(Replay, WholeRunMeasure, family="catalogue"):
    """How little lists have in common, as if each of them had k items.

    >>> print(Personalization(k=10))
    Personalization@10
    """

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Count for each item the pairs of lists that share it, including a list with itself."""
        users = len(lists)
        k = self.k or int(lists.n.max(initial=0))
        counts = lists.counts(tables.known).astype(np.float64)
        return Parts(
            np.append(counts * counts, -float(k * users)),
            float(k * users * (users - 1)),
        )

    def link(self, ratio: float) -> float:
        """Turn similarity into difference."""
        return 1.0 - ratio


@dataclass(frozen=True, kw_only=True)
class Serendipity(Replay, PerListMeasure, family="novelty"):
    """One minus the summed similarity of the relevant items of a list to the history.

    >>> print(Serendipity(k=10))
    Serendipity@10
    """

    needs = ("qrels", "history", "items")

    features: str | None = parameter(
        None,
        "column of --items (several with +); default: the column `features`, or all columns",
        word=True,
    )

    def check(self, tables: Tables) -> None:
        """Refuse missing columns and columns without numbers."""
        super().check(tables)
        tables.item_table.check_numbers(self._columns(tables))

    def _columns(self, tables: Tables) -> tuple[str, ...]:
        return tables.item_table.chosen(self.features, "features", str(self))

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Subtract from one the similarity of each relevant item to the history."""
        table = tables.item_table
        columns = self._columns(tables)
        past = tables.past.once
        units = tables.units(columns)
        known = table.vectors(columns).known
        count, pairs = past.of_lists(lists)
        row = table.rows_of(past.item[pairs])
        usable = (row >= 0) & known[row]
        whose = list_numbers(count)[usable]
        sums = distances.sum_by_list(
            np.bincount(whose, minlength=len(lists)), row[usable], units
        )
        here = table.rows(lists)
        relevant = tables.is_relevant(lists, ANY)
        shown = np.flatnonzero((here >= 0) & known[here] & (relevant > 0))
        like = np.zeros(len(here))
        like[shown] = distances.dots_of_vectors(
            here[shown], units, lists.query[shown], sums
        )
        # an item is similar to itself even if its features are all zero
        itself = (past.find(lists)[shown] >= 0) & ~units[here[shown]].any(axis=1)
        like[shown[itself]] += 1.0
        counted = (lists.total(relevant) > 0) & (count > 0)
        norm = counted.astype(np.float64)
        return Contributions(
            -like / np.maximum(count, 1)[lists.query], norm, missed=norm
        )
