"""Rax's ordered pairs: what ties is in the wrong order, and nothing to order is 0."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import Contributions, Status
from rankstone.measures.concordance import RC
from rankstone.measures.named import Card
from rankstone.measures.standing import Standing

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits

__all__ = ["OPA"]


@dataclass(frozen=True, kw_only=True)
class OPA(RC):
    """Ordered pair accuracy: the share of pairs of unequal label with the better label strictly above.

    >>> print(OPA())
    OPA
    """

    name: ClassVar[str] = "OPA"
    aliases: ClassVar[tuple[str, ...]] = ()
    zero_norm: ClassVar[Status] = Status.no_ideal
    card: ClassVar[Card] = Card(
        sentence="How often does the better of two rows have the higher score?",
        formula="OPA = Σ_{y_i > y_j} [s_i > s_j] / Σ_{y_i > y_j} 1",
        symbols="y: labels; s: scores",
        example="labels 2, 0, 1 in the order of the scores: 2 of 3 pairs",
        undefined="no two labels differ: 0",
        sensitive="ties, which are in the wrong order",
        use="to read Rax's numbers; RC(ties=drop) counts a tied pair one half",
        citation="Rax 0.4",
    )

    ties: str = field(default="drop")

    def contributions(self, hits: Hits) -> Contributions:
        """Take from each hit what RC gives it for pairs that tie."""
        parts, standing = super().contributions(hits), Standing.of(hits)
        of_hit = np.empty(len(parts.hits))
        of_hit[standing.hit] = standing.tied_apart(np.ones(len(of_hit))) / 2
        return replace(parts, hits=parts.hits - of_hit)
