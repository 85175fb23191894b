"""Overlap of the first k documents of two lists, and the overlap at every depth with ties, in O(n).

A document in a tie block of g documents from rank t on counts at depth d with the part (d - t + 1) / g, which
is 0 above the block and 1 below it.  At any depth each list has one open block.  So the overlap, a sum over
documents of products of parts, needs four counts per depth: documents complete in both lists, in the open
block of one of them, and in the open blocks of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.measures.core.definition import Card, parameter
from rankstone.rankings.rank_similarity.list_measure import ListMeasure

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.rankings.rank_similarity.paired_lists import PairedLists

_NEVER = "never: a query that both runs answer has documents"
_TIES = "ties at the cutoff: the rule for ties decides which documents are in; order inside does not count"


@dataclass(frozen=True, kw_only=True)
class Overlap(ListMeasure, family="overlap of rankings"):
    """The share of the first k documents that are in both lists.

    >>> print(Overlap(k=10))
    Overlap@10
    """

    conjoint = False
    card = Card(
        sentence="Of the first k documents, how many are in both lists?",
        formula="Overlap@k = |A_k ∩ B_k| / max(|A_k|, |B_k|)",
        symbols="A_k, B_k: the first k documents of each list, fewer where a list is shorter",
        example="abcd and bxay: Overlap@2 = 1/2, Overlap@4 = 2/4",
        needs="two rankings; documents of one list only count as not shared",
        undefined=_NEVER,
        peers={
            "agreement at depth k of Webber et al. 2010": "the same while a list reaches k"
        },
        sensitive=_TIES,
        use="as the simplest answer to `did the screen change?`; RBO does the same at all depths at once",
        citation="Webber, Moffat and Zobel, A Similarity Measure for Indefinite Rankings, TOIS 2010, "
        "section 3",
    )

    denom: str = parameter(
        "longer", "the denominator", "longer", "shorter", "k", needs_k=("k",)
    )

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Count shared documents."""
        norm = {
            "longer": np.maximum(paired.a.n, paired.b.n),
            "shorter": np.minimum(paired.a.n, paired.b.n),
            "k": np.full(paired.queries, self.k or 0),
        }[self.denom]
        _record_members(paired)
        return paired.n_common.astype(np.float64), norm.astype(np.float64)


class Jaccard(ListMeasure, family="overlap of rankings"):
    """The share of the documents of either list that are in both.

    >>> print(Jaccard(k=10))
    Jaccard@10
    """

    conjoint = False
    card = replace(
        Overlap.card,
        sentence="Of all documents in either list, how many are in both?",
        formula="Jaccard@k = |A_k ∩ B_k| / |A_k ∪ B_k|",
        example="abcd and bxay: Jaccard@2 = 1/3, Jaccard@4 = 2/6",
        peers={},
        use="when lists may differ in length; lower than Overlap unless the sets are equal: "
        "J = O / (2 - O) for lists of one length",
        citation="Jaccard, The Distribution of the Flora in the Alpine Zone, New Phytologist 1912",
    )

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Count shared documents and all documents."""
        common = paired.n_common
        _record_members(paired)
        return common.astype(np.float64), (paired.a.n + paired.b.n - common).astype(
            np.float64
        )


def _record_members(paired: PairedLists) -> None:
    """Record which of either list's documents are in both."""
    paired.record(
        "document",
        lambda: paired.either[1:],
        total=paired.n_common,
        rank_a=lambda: _ranks(paired.either[1]),
        rank_b=lambda: _ranks(paired.either[2]),
        contribution=lambda: ((paired.either[1] >= 0) & (paired.either[2] >= 0)).astype(
            np.float64
        ),
    )


def _ranks(row: Ints) -> Floats:
    """Return the ranks of rows of a list, NaN for documents that it lacks."""
    return np.where(row < 0, np.nan, row + 1.0)
