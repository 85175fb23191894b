"""Diversity inside a list: how different its items are from one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.lists.beyond import distances
from rankstone.lists.beyond.measure import Contributions, OfLists
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables

__all__ = ["ILD", "ILS"]

_FEATURES = "column of --items (several with +); default: the column `features`, or all there are"
_DISTANCES = ("cosine", "jaccard", "euclidean", "sqeuclidean", "hamming")


@dataclass(frozen=True, kw_only=True)
class _Pairs(OfLists):
    """A mean over the pairs of items in a list."""

    needs: ClassVar[tuple[str, ...]] = ("items",)

    features: str | None = parameter(None, _FEATURES, word=True)

    def kind(self) -> str:
        """Return which distance is meant."""
        raise NotImplementedError

    def check(self, tables: Tables) -> None:
        """Refuse columns that are not there."""
        super().check(tables)
        columns = self.columns(tables)
        if not self.as_sets(columns, tables):
            tables.item_table.check_numbers(columns)
        elif len(columns) > 1:
            raise BadParameter(f"{self} compares sets of one column", given=", ".join(columns))

    def columns(self, tables: Tables) -> tuple[str, ...]:
        """Return the columns compared."""
        return tables.item_table.chosen(self.features, "features", str(self))

    def as_sets(self, columns: tuple[str, ...], tables: Tables) -> bool:
        """Say whether categories are compared instead of numbers."""
        kind = self.kind()
        return kind == "jaccard" or (kind == "cosine" and tables.item_table.is_text(columns))

    def apart(self, lists: ListFrame, tables: Tables) -> tuple[Ints, Floats, Ints]:
        """Return the rows whose features are known, what they sum to, and how many each list has."""
        table, columns = tables.item_table, self.columns(tables)
        row = table.rows(lists)
        sets = table.sets(columns[0]) if self.as_sets(columns, tables) else None
        known = table.vectors(columns).known if sets is None else sets.known
        rows = np.flatnonzero((row >= 0) & known[row])
        n = np.bincount(lists.list[rows], minlength=len(lists))
        if sets is not None:
            of_sets = distances.jaccard if self.kind() == "jaccard" else distances.cosine_of_sets
            return rows, of_sets(n, row[rows], sets), n
        return rows, _OF_VECTORS[self.kind()](n, row[rows], self._values(columns, tables)), n

    def _values(self, columns: tuple[str, ...], tables: Tables) -> Floats:
        if self.kind() == "cosine":
            return tables.units(columns)
        if self.kind() == "sqeuclidean":
            return tables.centred(columns)
        return tables.item_table.vectors(columns).values


_OF_VECTORS = {
    "cosine": distances.cosine_of_vectors,
    "euclidean": distances.straight,
    "sqeuclidean": distances.squared,
    "hamming": distances.hamming,
}


@dataclass(frozen=True, kw_only=True)
class ILD(_Pairs):
    """Intra-list diversity: the mean distance between two items of a list.

    >>> print(ILD(features="genres", distance="jaccard", k=10))
    ILD(features=genres, distance=jaccard)@10
    """

    name: ClassVar[str] = "ILD"
    family: ClassVar[str] = "diversity"
    aliases: ClassVar[tuple[str, ...]] = ("IntraListDiversity", "IntraListDistance")
    card: ClassVar[Card] = Card(
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
            "recommenders diversity": "1 − mean cosine of feature vectors, or of co-occurrence in the past; "
            "items of which nothing is known are unlike all others",
            "Evidently Diversity": "ILD(denom=n): grows with the length of the list",
        },
        sensitive="items without features are left out of their lists; a zero vector is 1 away from all",
        use="filter bubbles inside a screen; needs no judgment, so read it beside accuracy",
        citation="Smyth and McClave, ICCBR 2001; Ziegler et al., WWW 2005",
    )

    distance: str = parameter("cosine", "between two items", *_DISTANCES)
    denom: str = parameter("pairs", "what is divided by: the pairs, or the items", "pairs", "n")
    lone: str = parameter("undefined", "what a list of one item is worth", "undefined", "zero")

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Cosine up to 2, Jaccard up to 1, the rest unbounded, as is a sum that grows with the list."""
        return (0.0, {"cosine": 2.0, "jaccard": 1.0}.get(self.distance) if self.denom == "pairs" else None)

    def kind(self) -> str:
        """Return the distance."""
        return self.distance

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its distances to the others; divide by the ordered pairs."""
        rows, apart, n = self.apart(lists, tables)
        found = np.zeros(len(lists.item))
        found[rows] = apart
        lists.tell_columns(known=lambda: np.isin(np.arange(len(found)), rows))
        # a pair is met from both sides
        norm = n * (n - 1) if self.denom == "pairs" else 2 * n
        if self.lone == "zero":
            norm = np.where(lists.n == 1, 1, norm)
        return Contributions(found, norm.astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class ILS(_Pairs):
    """Intra-list similarity: the mean likeness of two items of a list.

    >>> print(ILS(features="genres", k=10))
    ILS(features=genres)@10
    """

    name: ClassVar[str] = "ILS"
    family: ClassVar[str] = "diversity"
    aliases: ClassVar[tuple[str, ...]] = ("IntraListSimilarity",)
    card: ClassVar[Card] = Card(
        sentence="How alike are the items of a list?",
        formula="ILS@k(u) = 2 / (n (n − 1)) Σ_{i<j} s(i, j) = 1 − ILD@k(u)",
        symbols="n: items of the list whose features are known; s: cosine or jaccard, one minus the distance",
        example="genres {a}, {a, b}, {c}, jaccard: (1/2 + 0 + 0) / 3 = 1/6",
        needs="a table of items with numbers (vectors) or categories",
        span=(-1.0, 1.0),
        direction="lower",
        undefined="fewer than two items whose features are known",
        peers={"Ziegler et al.": "the sum over pairs instead of the mean: grows with the list"},
        sensitive="items without features are left out of their lists",
        use="the other side of ILD; choose one of the two and stay with it",
        citation="Ziegler, McNee, Konstan and Lausen, WWW 2005",
    )

    similarity: str = parameter("cosine", "of two items", "cosine", "jaccard")

    def kind(self) -> str:
        """Return the distance that is one minus this likeness."""
        return self.similarity

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Give each item its likenesses to the others; divide by the ordered pairs."""
        rows, apart, n = self.apart(lists, tables)
        found = np.zeros(len(lists.item))
        found[rows] = n[lists.list[rows]] - 1.0 - apart
        lists.tell_columns(known=lambda: np.isin(np.arange(len(found)), rows))
        return Contributions(found, (n * (n - 1)).astype(np.float64))
