"""The rule ``drops``: how many single queries may lose how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.comparison.gate_rules import ROUNDING, GateRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.comparison.gate_rules import Candidate, Check
    from rankstone.comparison.score_matrix import Matrix

#: queries with the largest losses that are named
_NAMED: Final = 3


@dataclass(frozen=True, kw_only=True)
class Drops(GateRule):
    """A limit on losses of single queries: at most ``most`` queries may lose more than ``by``."""

    name = "drops"
    example = "{ by = 0.5, most = 3 }"

    by: float
    most: int = 0

    def check(self, matrix: Matrix, candidate: Candidate) -> Iterator[Check]:
        """Count the queries that lose more than ``by``, and name the worst."""
        loss = -matrix.sign * matrix.differences(1, 0)
        places = np.flatnonzero(loss > self.by + ROUNDING)
        worst = places[np.argsort(-loss[places], kind="stable")][:_NAMED]

        count = len(places)
        sentences = ["drops"]
        if count > len(worst):
            sentences.append("worst_and_more")
        elif count:
            sentences.append("worst")
        yield self.outcome(
            matrix,
            candidate,
            *sentences,
            passed=count <= self.most,
            numbers={"drops": count},
            names=", ".join(str(matrix.queries[int(place)]) for place in worst),
        )
