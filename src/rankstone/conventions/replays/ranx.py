"""ranx's rank-biased precision, whose gains are the grades, and its bpref."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.core.definition import parameter
from rankstone.measures.core.measure import Contributions, Measure, Status
from rankstone.measures.incomplete_judgments import Bpref as Sound

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits


@dataclass(frozen=True, kw_only=True)
class GradedRBP(Replay, Measure, family="user models"):
    """Rank-biased precision with the grade as gain.

    >>> print(GradedRBP(p=0.5))
    GradedRBP(p=0.5)
    """

    p: float = parameter(0.8, "persistence", above=0.0)

    def weight(self, rank: Ints) -> Floats:
        """Return (1 − p) p^(i − 1)."""
        weights: Floats = (1.0 - self.p) * np.power(self.p, rank - 1.0)
        return weights

    def contributions(self, hits: Hits) -> Contributions:
        """Weight each grade by the probability that its rank is examined."""
        gain = np.where(hits.grade >= 1.0, hits.grade, 0.0)
        return Contributions(
            gain * hits.at_rank(self.weight, self.k), np.ones(hits.queries)
        )


class Bpref(Sound):
    """bpref that has no value if all judged documents are relevant.

    >>> print(Bpref())
    Bpref
    """

    zero_norm = Status.undefined

    def contributions(self, hits: Hits) -> Contributions:
        """Set the norm to 0 if no judged document is nonrelevant."""
        parts = super().contributions(hits)
        others = np.diff(hits.ideal.offsets) - hits.relevant_count(self.rel)
        has_relevant = hits.total(hits.relevant(self.rel).astype(np.float64)) > 0
        only_relevant = has_relevant & (others == 0)
        return replace(parts, norm=np.where(only_relevant, 0.0, parts.norm))
