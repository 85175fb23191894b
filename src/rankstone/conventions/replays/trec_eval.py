"""trec_eval's rank-biased precision, scaled for each query, and its residual without a tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.core.definition import parameter
from rankstone.measures.core.measure import Contributions, Measure
from rankstone.measures.rank_biased_precision import RBP_residual

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.gains_and_discounts import GainTable


@dataclass(frozen=True, kw_only=True)
class QueryScaledRBP(Replay, Measure, family="user models"):
    """Rank-biased precision with grades divided by the query's highest one, if that is above 1.

    A query's highest gain is that of its highest judged grade, retrieved or not; gains given for grades
    that the query does not have count, too, as in trec_eval.

    >>> print(QueryScaledRBP(p=0.5))
    QueryScaledRBP(p=0.5)
    """

    takes_cutoff = False

    gain: GainTable | None = parameter(
        None, "gains of some grades; the others keep their grade"
    )
    p: float = parameter(
        None, "persistence", above=0.0, below=1.0, needed="write QueryScaledRBP(p=0.9)"
    )

    def weight(self, rank: Ints) -> Floats:
        """Return p^(i − 1)."""
        return np.power(self.p, rank.astype(np.float64) - 1.0)

    def contributions(self, hits: Hits) -> Contributions:
        """Weight each gain by the probability that its rank is examined; divide by the largest gain."""
        largest = np.maximum(self._largest(hits), 1.0)
        gain = np.where(hits.judged & (hits.grade >= 0), self._gains(hits.grade), 0.0)
        return Contributions(
            gain * hits.at_rank(self.weight, None), largest / (1.0 - self.p)
        )

    def _gains(self, grade: Floats) -> Floats:
        """Return the gains of grades: those given, or else the grades."""
        gains = np.array(grade, np.float64)
        for level, gain in self.gain.gains if self.gain is not None else ():
            gains[grade == level] = gain
        return gains

    def _largest(self, hits: Hits) -> Floats:
        """Return the largest gain of any level of the query from 0 up, and of the given gains."""
        gains = dict(self.gain.gains) if self.gain is not None else {}
        best = hits.ideal.best()
        while (
            gains and np.isin(best, list(gains)).any()
        ):  # the next lower level that keeps its grade
            best = np.where(np.isin(best, list(gains)), best - 1.0, best)
        return np.maximum(best, max(gains.values(), default=0.0))


class SeenResidual(RBP_residual):
    """The residual of RBP if the list has an unjudged document, else 0.

    >>> print(SeenResidual(p=0.5))
    SeenResidual(p=0.5)
    """

    name = "SeenResidual"

    def contributions(self, hits: Hits) -> Contributions:
        """Drop the weight of ranks below the list if all its documents are judged."""
        parts = super().contributions(hits)
        unjudged = hits.n > hits.count(hits.judged)
        assert parts.unjudged is not None  # noqa: S101 - RBP_residual sets it
        return Contributions(
            parts.hits, parts.norm, unjudged=np.where(unjudged, parts.unjudged, 0.0)
        )
