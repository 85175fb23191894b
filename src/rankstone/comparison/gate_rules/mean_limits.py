"""The rules ``floor`` and ``ceiling``: limits of the candidate's mean, which may be reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstone.comparison.gate_rules import ROUNDING, GateRule, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.comparison.gate_rules import Candidate, Check
    from rankstone.comparison.score_matrix import Matrix


@dataclass(frozen=True)
class Floor(GateRule):
    """The lowest mean that the candidate may have."""

    name = "floor"
    example = "0.35"

    least: float

    def check(self, matrix: Matrix, candidate: Candidate) -> Iterator[Check]:
        """Compare the candidate's mean with its minimum."""
        mean = float(matrix.units.mean[1])
        passed = mean >= self.least - ROUNDING
        sentence = say("minimum", mean=f"{mean:.4f}", limit=f"{self.least:g}")
        numbers = {"mean": mean, "floor": self.least}
        yield self.outcome(matrix, candidate, sentence, passed=passed, **numbers)


@dataclass(frozen=True)
class Ceiling(GateRule):
    """The highest mean that the candidate may have."""

    name = "ceiling"
    example = "0.9"

    most: float

    def check(self, matrix: Matrix, candidate: Candidate) -> Iterator[Check]:
        """Compare the candidate's mean with its maximum."""
        mean = float(matrix.units.mean[1])
        passed = mean <= self.most + ROUNDING
        sentence = say("maximum", mean=f"{mean:.4f}", limit=f"{self.most:g}")
        numbers = {"mean": mean, "ceiling": self.most}
        yield self.outcome(matrix, candidate, sentence, passed=passed, **numbers)
