"""Compatibility: how much a list overlaps with the ideal order most like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import ANY_GAIN, Contributions, Measure
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Ints
    from rankstone.hits.ragged import Hits

__all__ = ["Compat"]


@dataclass(frozen=True, kw_only=True)
class Compat(Measure):
    """Compatibility: rank-biased overlap of the list with the ideal list, ties in its favour.

    >>> print(Compat(p=0.9))
    Compat(p=0.9)
    """

    name: ClassVar[str] = "Compat"
    family: ClassVar[str] = "user models"
    aliases: ClassVar[tuple[str, ...]] = ("Compatibility",)
    card: ClassVar[Card] = Card(
        sentence="How similar is the list to the ideal one, the top counting most?",
        formula="Compat = RBO(L, I) / RBO(I, I),  RBO(L, I) = Σ_{d ≤ D} p^(d − 1) |L_d ∩ I_d| / d",
        symbols="L_d: the first d documents; I: documents of grade > 0, best first, equal grades as in L; "
        "p: persistence; D: depth. A document of rank i and ideal rank j adds the sum of p^(d − 1) / d over "
        "max(i, j) ≤ d ≤ D",
        example="grades 0, 1 and nothing else relevant, p = 0.5, D = 2: (0.5/2) / (1 + 0.5/2) = 1/5",
        needs="judgments or preferences (any numbers above 0, larger is better)",
        peers={
            "Clarke's compatibility.py": "the same: D = 1000; ties in the run go to the smaller id "
            "(ties=docid_asc)",
            "ir_measures Compat": "Compat(depth=lists): D is the longer of list and ideal; equal grades in "
            "the order of scores, so those with tied or negative scores are not in the list's favour",
        },
        sensitive="ties, unjudged documents, depth of short lists; to the order of grades, not their size",
        use="preference judgments, or grades that should count by order alone",
        citation="Clarke, Vtyurina and Smucker, TOIS 2021",
    )

    p: float = parameter(0.95, "persistence", above=0.0, below=1.0)
    normalize: bool = parameter(True, "divide by the ideal list's overlap with itself")
    depth: float | str = parameter(
        1000, "D: a rank, or lists for the longer of list and ideal", "lists", low=1, high=10**6, whole=True
    )

    @property
    def closed_under_ties(self) -> bool:
        """Fail: the ideal list moves with the order of tied documents."""
        return False

    @property
    def grows_with_k(self) -> bool:
        """Hold where the depth does not depend on k."""
        return not isinstance(self.depth, str)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit what it adds from the depth on at which both lists hold it."""
        ideal, depth = hits.ideal, self._depth(hits)
        deepest = int(depth.max(initial=0))
        steps = self.p ** np.arange(deepest) / np.arange(1, deepest + 1)
        overlap = np.concatenate(([0.0], np.cumsum(steps)))
        down = overlap[depth]
        entry = np.minimum(np.maximum(hits.rank, _ideal_rank(hits)), depth[hits.query] + 1)
        adds = hits.spread(down) - overlap[entry - 1]
        share = np.where(hits.relevant(ANY_GAIN), adds, 0.0)
        if not self.normalize:
            return Contributions(share, (1.0 - np.power(self.p, depth * 1.0)) / (1.0 - self.p))
        entry = np.minimum(ideal.rank, depth[ideal.query] + 1)
        best = np.where(ideal.grade > 0, down[ideal.query] - overlap[entry - 1], 0.0)
        return Contributions(share, ideal.total(best))

    def _depth(self, hits: Hits) -> Ints:
        if not isinstance(self.depth, str):
            return np.full(hits.queries, int(self.depth))
        shown = hits.length if self.k is None else np.minimum(hits.length, self.k)
        return np.maximum(shown, hits.relevant_count(ANY_GAIN))


def _ideal_rank(hits: Hits) -> Ints:
    """Return each hit's rank in the ideal order: below better grades, and equal ones further up."""
    order = np.lexsort((hits.grade, hits.query))
    grade, query = hits.grade[order], hits.query[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (grade[1:] != grade[:-1]) | (query[1:] != query[:-1])
    starts = np.flatnonzero(fresh)
    nth = np.empty(len(order), np.int64)
    nth[order] = np.arange(len(order)) - starts[np.cumsum(fresh) - 1] + 1
    return hits.ideal.better(hits.query, hits.grade) + nth
