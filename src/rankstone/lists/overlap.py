"""What the first k documents of two lists have in common, whatever their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.lists.base import ListMeasure
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.lists.rankings import Couple

__all__ = ["Jaccard", "Overlap"]

_NEVER = "never: a query that both runs answer has documents"
_TIES = "ties at the cutoff: the alignment's rule says which documents are in; order inside plays no part"


@dataclass(frozen=True, kw_only=True)
class Overlap(ListMeasure):
    """The share of the first k documents that both lists hold.

    >>> print(Overlap(k=10))
    Overlap@10
    """

    name: ClassVar[str] = "Overlap"
    family: ClassVar[str] = "overlap of rankings"
    conjoint: ClassVar[bool] = False
    card: ClassVar[Card] = Card(
        sentence="Of the first k documents, how many do both lists show?",
        formula="Overlap@k = |A_k ∩ B_k| / max(|A_k|, |B_k|)",
        symbols="A_k, B_k: the first k documents of each list, fewer where a list is shorter",
        example="abcd and bxay: Overlap@2 = 1/2, Overlap@4 = 2/4",
        needs="two rankings; documents of one list only count as not shared",
        undefined=_NEVER,
        peers={"agreement at depth k of Webber et al. 2010": "the same while a list reaches k"},
        sensitive=_TIES,
        use="as the simplest answer to `did the screen change?`; RBO does the same at all depths at once",
        citation="Webber, Moffat and Zobel, A Similarity Measure for Indefinite Rankings, TOIS 2010, "
        "section 3",
    )

    denom: str = parameter("longer", "what the shared documents are divided by", "longer", "shorter", "k")

    def __post_init__(self) -> None:
        """Refuse a division by a cutoff that is not there."""
        super().__post_init__()
        if self.denom == "k" and self.k is None:
            raise BadParameter(
                "Overlap(denom=k) needs a cutoff", fix="write it behind an @: Overlap(denom=k)@10"
            )

    def ratio(self, couple: Couple) -> tuple[Floats, Floats]:
        """Count shared documents."""
        norm = {
            "longer": np.maximum(couple.a.n, couple.b.n),
            "shorter": np.minimum(couple.a.n, couple.b.n),
            "k": np.full(couple.queries, self.k or 0),
        }[self.denom]
        _tell_members(couple)
        return couple.n_common.astype(np.float64), norm.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class Jaccard(ListMeasure):
    """The share of the documents of either list that both hold.

    >>> print(Jaccard(k=10))
    Jaccard@10
    """

    name: ClassVar[str] = "Jaccard"
    family: ClassVar[str] = "overlap of rankings"
    conjoint: ClassVar[bool] = False
    card: ClassVar[Card] = Card(
        sentence="Of all documents that either list shows, how many do both show?",
        formula="Jaccard@k = |A_k ∩ B_k| / |A_k ∪ B_k|",
        symbols="A_k, B_k: the first k documents of each list, fewer where a list is shorter",
        example="abcd and bxay: Jaccard@2 = 1/3, Jaccard@4 = 2/6",
        needs="two rankings; documents of one list only count as not shared",
        undefined=_NEVER,
        peers={},
        sensitive=_TIES,
        use="when lists may differ in length; lower than Overlap unless the sets are equal: "
        "J = O / (2 - O) for lists of one length",
        citation="Jaccard, The Distribution of the Flora in the Alpine Zone, New Phytologist 1912",
    )

    def ratio(self, couple: Couple) -> tuple[Floats, Floats]:
        """Count shared documents and all documents."""
        common = couple.n_common
        _tell_members(couple)
        return common.astype(np.float64), (couple.a.n + couple.b.n - common).astype(np.float64)


def _tell_members(couple: Couple) -> None:
    """Tell of either list's documents which are in both."""
    couple.tell(
        "document",
        lambda: couple.either[1:],
        total=couple.n_common,
        rank_a=lambda: _ranks(couple.either[1]),
        rank_b=lambda: _ranks(couple.either[2]),
        contribution=lambda: ((couple.either[1] >= 0) & (couple.either[2] >= 0)).astype(np.float64),
    )


def _ranks(row: Ints) -> Floats:
    """Return the ranks of one list's rows, NaN for what it lacks."""
    ranks: Floats = np.where(row < 0, np.nan, row + 1.0)
    return ranks
