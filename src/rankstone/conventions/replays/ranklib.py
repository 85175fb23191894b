"""RankLib's best label, its cascade of any labels, and its reciprocal rank of no document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.cascade import ERR as SOUND
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.measure import Contributions, Measure

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.hits import Hits


class Best(Replay, Measure, family="cumulated gain"):
    """The highest label of the first k documents.

    >>> print(Best(k=5))
    Best@5
    """

    #: the mean of the best over orders has no formula here
    claims = Claims(closed_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give the first of the best documents its label."""
        label = np.where(hits.rank <= (self.k or hits.rank), hits.grade, 0.0)
        best = np.lexsort((hits.rank, -label, hits.query))
        first = best[np.append(True, np.diff(hits.query[best]) != 0)[: len(best)]]
        shares = np.zeros(len(label))
        shares[first] = label[first]
        return Contributions(shares, np.ones(hits.queries))


class ERR(SOUND):
    """Expected reciprocal rank in which labels above the scale are probabilities above 1.

    >>> print(ERR(max_grade=4, k=5))
    ERR(max_grade=4)@5
    """

    def worth(self, grade: Floats) -> Floats:
        """Return (2^g − 1) / 2^m, whatever the label."""
        worth: Floats = (np.exp2(grade) - 1.0) / np.exp2(self.max_grade or 0.0)
        return worth


class NoRR(Replay, Measure, family="reciprocal rank"):
    """Always 0: the reciprocal rank of the first relevant document among the first 0.

    >>> print(NoRR())
    NoRR
    """

    takes_cutoff = False

    def contributions(self, hits: Hits) -> Contributions:
        """Give every hit 0."""
        return Contributions(np.zeros(len(hits.rank)), np.ones(hits.queries))
