"""ranx's rank-biased precision: grades are the gains, whatever the scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.base import Contributions, Measure
from rankstone.measures.named import Card

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["RBP50", "RBP80", "RBP95"]


@dataclass(frozen=True, kw_only=True)
class _GradedRBP(Measure):
    """Rank-biased precision that takes the grade for the gain; each persistence has its class."""

    name: ClassVar[str] = "GradedRBP"
    family: ClassVar[str] = "user models"
    persistence: ClassVar[float] = 0.5
    card: ClassVar[Card] = Card(
        sentence="What does a rank bring to a user who goes on with chance p, grades being gains?",
        formula="(1 − p) Σ_i g_i p^(i − 1)",
        symbols="g_i: the grade at rank i where it is 1 or more; p: persistence",
        example="grade 3 at rank 1, p = 0.5: 0.5 · 3 = 1.5",
        sensitive="the grade scale: above grade 1 it leaves the range from 0 to 1",
        use="to read ranx's numbers; RBP(p=0.95) is rank-biased precision",
        citation="ranx 0.3",
    )

    def weight(self, rank: Ints) -> Floats:
        """Return (1 − p) p^(i − 1)."""
        found: Floats = (1.0 - self.persistence) * np.power(self.persistence, rank - 1.0)
        return found

    def contributions(self, hits: Hits) -> Contributions:
        """Weigh each grade by the chance that its rank is looked at."""
        gain = np.where(hits.grade >= 1.0, hits.grade, 0.0)
        return Contributions(gain * hits.at_rank(self.weight, self.k), np.ones(hits.queries))


class RBP50(_GradedRBP):
    """``rbp.5``."""

    persistence: ClassVar[float] = 0.5


class RBP80(_GradedRBP):
    """``rbp.8``."""

    persistence: ClassVar[float] = 0.8


class RBP95(_GradedRBP):
    """``rbp.95``."""

    persistence: ClassVar[float] = 0.95
