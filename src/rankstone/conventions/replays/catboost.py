"""CatBoost's cascades, its mean label, and its areas under the curve, which are always defined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.hits.list_arrays import before
from rankstone.measures.auc import AUC
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.measure import Contributions, Measure, Status
from rankstone.measures.ideal_agreement import RC

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.hits import Hits


#: the probability that the user of PFound goes on
_DECAY = 0.85


class PFound(Replay, Measure, family="user models"):
    """The probability that a user who may stop at every row is satisfied.

    >>> print(PFound(k=5))
    PFound@5
    """

    needs_relevant = False

    #: the mean of a product over orders has no formula here
    claims = Claims(closed_under_ties=False)

    def worth(self, hits: Hits) -> Floats:
        """Return the value of satisfaction at the rank of each hit."""
        worth: Floats = np.power(_DECAY, hits.rank - 1.0)
        return worth

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit the probability that it satisfies the user, times its value."""
        looked = before(np.multiply, 1.0 - hits.grade, np.diff(hits.offsets), 1.0)
        return Contributions(
            hits.grade * looked * self.worth(hits), np.ones(hits.queries)
        )


class ERR(PFound):
    """Expected reciprocal rank with labels as probabilities.

    >>> print(ERR(k=5))
    ERR@5
    """

    def worth(self, hits: Hits) -> Floats:
        """Return one over the rank."""
        return 1.0 / hits.rank


class AverageGain(Replay, Measure, family="cumulated gain"):
    """The mean label of the first k rows.

    >>> print(AverageGain(k=5))
    AverageGain@5
    """

    needs_relevant = False

    def contributions(self, hits: Hits) -> Contributions:
        """Add up the labels; divide by the rows."""
        shown = np.minimum(hits.n, self.k or hits.n)
        gain = hits.grade * hits.above_cutoff(self.k)
        return Contributions(gain, np.maximum(shown, 1.0))


@dataclass(frozen=True, kw_only=True)
class QueryAUC(AUC):
    """AUC in which a label of 0.3 is three tenths relevant; 0 if there is only one class.

    >>> print(QueryAUC())
    QueryAUC
    """

    name = "QueryAUC"
    aliases = ()
    zero_norm = Status.no_ideal

    negatives: str = field(default="judged")

    def contributions(self, hits: Hits) -> Contributions:
        """Give each label the negative weight below it, half of what is tied with it; divide by all pairs."""
        label = hits.grade
        every = hits.total(hits.grade)
        others = hits.n - every
        starts = np.append(
            True, (np.diff(hits.query) != 0) | (np.diff(hits.first) != 0)
        )[: len(label)]
        block = np.cumsum(starts) - 1
        head = np.flatnonzero(starts)
        passed = before(np.add, label, np.diff(hits.offsets), 0.0)[head][block]
        tied = hits.last - hits.first + 1 - np.bincount(block, label)[block]
        below = hits.spread(others) - (hits.first - 1 - passed) - tied
        return Contributions(label * (below + tied / 2), every * others)


@dataclass(frozen=True, kw_only=True)
class RankingAUC(RC):
    """The share of pairs of unequal label in the right order, 0 without such pairs.

    >>> print(RankingAUC())
    RankingAUC
    """

    name = "RankingAUC"
    aliases = ()
    zero_norm = Status.no_ideal

    ties: str = field(default="drop")
