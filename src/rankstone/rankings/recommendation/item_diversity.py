"""Diversity inside a list: how different its items are from one another.

The contribution of a row is the sum of its distances to the other items of its list.  Where the distance
comes from an inner product, that needs no pairs: with S = Σ v_j, Σ_{j≠i} (1 − v_i·v_j) = n − 1 + v_i·v_i −
v_i·S.  Other distances are computed for pairs, by the difference of their ranks, for all lists at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.errors import BadParameter
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.rankings.recommendation.list_distances import (
    cosine_of_sets,
    cosine_of_vectors,
    euclidean,
    hamming,
    jaccard,
    squared_euclidean,
)
from rankstone.rankings.recommendation.recommendation_measure import PerListMeasure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables

    #: arrays ``[lists, longest, width]``
    Block = NDArray[Any]


_FEATURES = (
    "column of --items (several with +); default: the column `features`, or all columns"
)
_DISTANCES = ("cosine", "jaccard", "euclidean", "sqeuclidean", "hamming")


@dataclass(frozen=True, kw_only=True)
class _Pairs(PerListMeasure, family="diversity"):
    """A mean over the pairs of items in a list."""

    needs = ("items",)
    item_column = "features"

    features: str | None = parameter(None, _FEATURES, word=True)

    def kind(self) -> str:
        """Return the distance."""
        raise NotImplementedError

    def check(self, tables: Tables) -> None:
        """Refuse columns that have neither numbers nor, for sets, a single column."""
        super().check(tables)
        columns = self.columns(tables)
        if not self.as_sets(columns, tables):
            tables.item_table.check_numbers(columns)
        elif len(columns) > 1:
            raise BadParameter(
                f"{self} compares sets of one column", given=", ".join(columns)
            )

    def as_sets(self, columns: tuple[str, ...], tables: Tables) -> bool:
        """Return True if categories are compared instead of numbers."""
        kind = self.kind()
        return kind == "jaccard" or (
            kind == "cosine" and tables.item_table.is_text(columns)
        )

    def apart(self, lists: ListFrame, tables: Tables) -> tuple[Ints, Floats, Ints]:
        """Return the rows with known features, their sums of distances, and their number in each list."""
        table = tables.item_table
        columns = self.columns(tables)
        row = table.rows(lists)
        sets = table.sets(columns[0]) if self.as_sets(columns, tables) else None
        known = table.vectors(columns).known if sets is None else sets.known
        rows = np.flatnonzero((row >= 0) & known[row])
        n = np.bincount(lists.query[rows], minlength=len(lists))
        if sets is not None:
            of_sets = jaccard if self.kind() == "jaccard" else cosine_of_sets
            return rows, of_sets(n, row[rows], sets), n
        return (
            rows,
            _OF_VECTORS[self.kind()](n, row[rows], self._values(columns, tables)),
            n,
        )

    def by_row(self, lists: ListFrame, rows: Ints, values: Floats) -> Floats:
        """Return the values of rows with known features, 0 for the others."""
        spread = np.zeros(len(lists.item))
        spread[rows] = values
        lists.record_columns(known=lambda: np.isin(np.arange(len(spread)), rows))
        return spread

    def _values(self, columns: tuple[str, ...], tables: Tables) -> Floats:
        if self.kind() == "cosine":
            return tables.units(columns)
        if self.kind() == "sqeuclidean":
            return tables.centred(columns)
        return tables.item_table.vectors(columns).values


_OF_VECTORS = {
    "cosine": cosine_of_vectors,
    "euclidean": euclidean,
    "sqeuclidean": squared_euclidean,
    "hamming": hamming,
}


@dataclass(frozen=True, kw_only=True)
class ILD(_Pairs):
    """Intra-list diversity: the mean distance between two items of a list.

    >>> print(ILD(features="genres", distance="jaccard", k=10))
    ILD(features=genres, distance=jaccard)@10
    """

    aliases = ("IntraListDiversity", "IntraListDistance")
    card = Card(
        sentence="How different are the items of a list from one another?",
        formula="ILD@k(u) = 2 / (n (n − 1)) Σ_{i<j} d(i, j)",
        symbols="n: items of the list whose features are known; d: cosine 1 − v_i·v_j / (|v_i| |v_j|), of "
        "categories 1 − |A ∩ B| / √(|A| |B|); jaccard 1 − |A ∩ B| / |A ∪ B|; euclidean; sqeuclidean; "
        "hamming the number of features that differ; denom=n: the sum over pairs divided by n",
        example="genres {a}, {a, b}, {c}, jaccard: (1/2 + 1 + 1) / 3 = 5/6",
        needs="a table of items with numbers (vectors) or categories",
        span=(0.0, None),
        undefined="fewer than two items whose features are known (denom=n: none); lone=zero: a list of one "
        "item has 0",
        peers={
            "RecTools IntraListDiversity": "ILD(distance=hamming, lone=zero), its one distance",
            "recommenders diversity": "1 − mean cosine of feature vectors, or of co-occurrence in the "
            "history; unknown items are similar to no other",
            "Evidently Diversity": "ILD(denom=n): grows with the length of the list",
        },
        sensitive="items without features are left out of their lists; a zero vector is 1 away from all",
        use="filter bubbles inside a screen; needs no judgments, so report it with accuracy",
        citation="Smyth and McClave, ICCBR 2001; Ziegler et al., WWW 2005",
    )

    distance: str = parameter("cosine", "between two items", *_DISTANCES)
    denom: str = parameter(
        "pairs", "the denominator: the pairs, or the items", "pairs", "n"
    )
    lone: str = parameter(
        "undefined", "the value of a list of one item", "undefined", "zero"
    )

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Cosine up to 2, Jaccard up to 1, the rest unbounded, as is a sum that grows with the list."""
        return (
            0.0,
            {"cosine": 2.0, "jaccard": 1.0}.get(self.distance)
            if self.denom == "pairs"
            else None,
        )

    def kind(self) -> str:
        """Return the distance."""
        return self.distance

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its distances to the others; divide by the ordered pairs."""
        rows, apart, n = self.apart(lists, tables)
        distances = self.by_row(lists, rows, apart)
        # a pair counts from both sides
        norm = n * (n - 1) if self.denom == "pairs" else 2 * n
        if self.lone == "zero":
            norm = np.where(lists.n == 1, 1, norm)
        return Contributions(distances, norm.astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class ILS(_Pairs):
    """Intra-list similarity: the mean similarity of two items of a list.

    >>> print(ILS(features="genres", k=10))
    ILS(features=genres)@10
    """

    aliases = ("IntraListSimilarity",)
    card = Card(
        sentence="How similar are the items of a list?",
        formula="ILS@k(u) = 2 / (n (n − 1)) Σ_{i<j} s(i, j) = 1 − ILD@k(u)",
        symbols="n: items of the list whose features are known; s: cosine or jaccard, one minus the distance",
        example="genres {a}, {a, b}, {c}, jaccard: (1/2 + 0 + 0) / 3 = 1/6",
        needs="a table of items with numbers (vectors) or categories",
        span=(-1.0, 1.0),
        direction="lower",
        undefined="fewer than two items whose features are known",
        peers={
            "Ziegler et al.": "the sum over pairs instead of the mean: grows with the list"
        },
        sensitive="items without features are left out of their lists",
        use="the complement of ILD; use one of the two throughout",
        citation="Ziegler, McNee, Konstan and Lausen, WWW 2005",
    )

    similarity: str = parameter("cosine", "of two items", "cosine", "jaccard")

    def kind(self) -> str:
        """Return the distance, one minus the similarity."""
        return self.similarity

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its similarities to the others; divide by the ordered pairs."""
        rows, apart, n = self.apart(lists, tables)
        similarities = self.by_row(lists, rows, n[lists.query[rows]] - 1.0 - apart)
        return Contributions(similarities, (n * (n - 1)).astype(np.float64))
