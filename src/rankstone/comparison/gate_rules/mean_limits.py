"""The rules ``floor`` and ``ceiling``: limits of the candidate's mean, which may be reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstone.comparison.gate_rules import ROUNDING, GateRule

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
        yield self.outcome(
            matrix,
            candidate,
            "floor",
            passed=mean >= self.least - ROUNDING,
            numbers={"mean": mean, "floor": self.least},
        )


@dataclass(frozen=True)
class Ceiling(GateRule):
    """The highest mean that the candidate may have."""

    name = "ceiling"
    example = "0.9"

    most: float

    def check(self, matrix: Matrix, candidate: Candidate) -> Iterator[Check]:
        """Compare the candidate's mean with its maximum."""
        mean = float(matrix.units.mean[1])
        yield self.outcome(
            matrix,
            candidate,
            "ceiling",
            passed=mean <= self.most + ROUNDING,
            numbers={"mean": mean, "ceiling": self.most},
        )
