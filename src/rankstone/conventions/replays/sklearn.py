"""scikit-learn's errors of multilabel rankings, which are 0 if there is nothing to rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.core.measure import Contributions, Status
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.measures.positions import LastRel

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits


class LabelRankingLoss(Replay, BinaryMeasure, family="pairs"):
    """The share of pairs in the wrong order, tied pairs included.

    >>> print(LabelRankingLoss())
    label_ranking_loss
    """

    name = "label_ranking_loss"

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the others that are not below it; divide by all pairs."""
        hits = hits.with_open_ties()
        relevant = hits.relevant(self.rel)
        above = hits.earlier(~relevant) + hits.inside(~relevant)
        pairs = hits.count(relevant) * hits.count(~relevant)
        return Contributions(
            np.where(relevant, above[hits.blocks.of_hit], 0.0), pairs.astype(np.float64)
        )


class CoverageError(Replay, LastRel):
    """The rank of the last relevant document, 0 if there is none.

    >>> print(CoverageError())
    coverage_error
    """

    name = "coverage_error"
    needs_relevant = True
    zero_norm = Status.no_ideal
