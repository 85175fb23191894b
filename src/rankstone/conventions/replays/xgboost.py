"""XGBoost's areas under the curves of a group: one that counts pairs of equal label, one by formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.hits.extras.row_numbers import RowNumbers
from rankstone.hits.list_orders import earlier_smaller
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.measure import Contributions, Measure, OfWholeLists
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits


class AUC(Replay, OfWholeLists, Measure, family="pairs"):
    """The share of pairs that scores order as the labels do; equal labels in the order of rows.

    >>> print(AUC())
    AUC
    """

    requires = frozenset({RowNumbers})

    #: a tied pair counts one half
    claims = Claims(extremal_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each row the higher scores before it, half of the equal ones; divide by all pairs."""
        rows = hits.added(RowNumbers).run  # there is none for empty lists
        by_label = np.lexsort((rows, -hits.grade, hits.query))
        lengths = np.diff(hits.offsets)
        share = np.empty(len(by_label))
        share[by_label] = earlier_smaller(hits.offsets, hits.first[by_label])
        share += (hits.last - hits.first) / 4
        return Contributions(
            share,
            np.where(lengths < 3, 0.0, lengths * (lengths - 1) / 2),  # noqa: PLR2004
        )


class AUCPR(Replay, OfWholeLists, BinaryMeasure, family="average precision"):
    """Area under precision over recall, drawn between tie blocks as a continuous curve.

    >>> print(AUCPR())
    AUCPR
    """

    #: a tie block counts as a whole
    claims = Claims(extremal_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Share the area over each tie block among its relevant rows; divide by R."""
        hits = hits.with_open_ties()
        relevant = hits.relevant(self.rel)
        blocks = hits.blocks
        above = hits.earlier(relevant)
        inside = hits.inside(relevant)
        divisor = np.maximum(inside, 1)
        rise = blocks.size / divisor  # rows for each relevant one
        start = (
            blocks.first - 1 - rise * above
        )  # rows above the first relevant one, at the same slope
        bend = start / rise * np.log(blocks.last / np.maximum(blocks.first - 1, 1))
        area = (divisor - bend) / rise
        share = np.where(relevant, (area / divisor)[blocks.of_hit], 0.0)
        known = hits.relevant_count(self.rel)
        return Contributions(
            share, np.where(known < hits.n, known, 0).astype(np.float64)
        )
