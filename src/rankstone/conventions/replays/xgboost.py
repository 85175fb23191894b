"""XGBoost's areas under the curves of a group: one that counts pairs of equal label, one by formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.list_orders import earlier_smaller
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card
from rankstone.measures.core.measure import Contributions, Measure, Status
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits


@dataclass(frozen=True, kw_only=True)
class AUC(Measure):
    """The share of pairs that scores order as the labels do; equal labels in the order of rows.

    >>> print(AUC())
    AUC
    """

    family: ClassVar[str] = "pairs"
    takes_cutoff: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False
    zero_norm: ClassVar[Status] = Status.undefined
    brings: ClassVar[frozenset[str]] = frozenset({"rows"})
    card: ClassVar[Card] = Card(
        sentence="With rows sorted by label: how often does an earlier row have the higher score?",
        formula="AUC = (2 / (n (n − 1))) Σ_{i < j} ([s_i > s_j] + [s_i = s_j] / 2)",
        symbols="i, j: places after sorting by label, best first, equal labels in row order; s: scores",
        example="labels 0, 1, 0 with scores 3, 2, 1: pairs (1, 0), (1, 0) and (0, 0): (0 + 1 + 1) / 3",
        undefined="fewer than three rows: no value, counted as undefined",
        sensitive="the order of the rows, which decides pairs of equal label",
        use="to read XGBoost's numbers; AUC(negatives=judged) counts pairs of unequal label only",
        citation="XGBoost 3.2",
    )

    #: a tied pair counts one half
    claims = Claims(extremal_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each row the higher scores before it, half of the equal ones; divide by all pairs."""
        rows = np.empty(0) if hits.run_row is None else hits.run_row  # there is none for empty lists
        by_label, lengths = np.lexsort((rows, -hits.grade, hits.query)), np.diff(hits.offsets)
        share = np.empty(len(by_label))
        share[by_label] = earlier_smaller(hits.offsets, hits.first[by_label])
        share += (hits.last - hits.first) / 4
        return Contributions(share, np.where(lengths < 3, 0.0, lengths * (lengths - 1) / 2))  # noqa: PLR2004


@dataclass(frozen=True, kw_only=True)
class AUCPR(BinaryMeasure):
    """Area under precision over recall, drawn between tie blocks as a continuous curve.

    >>> print(AUCPR())
    AUCPR
    """

    family: ClassVar[str] = "average precision"
    takes_cutoff: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False
    zero_norm: ClassVar[Status] = Status.undefined
    card: ClassVar[Card] = Card(
        sentence="How precise is the list at every share of the relevant rows, between rows too?",
        formula="AUCPR = (1/R) Σ_b ∫ (t + x) / (t + f + x (1 + h)) dx, x from 0 to m",
        symbols="b: tie blocks with m > 0 relevant rows; t, f: relevant rows and others above it; h: others "
        "in it for each relevant one",
        example="not, relevant; R = 1: ∫ x / (1 + x) dx = 1 − ln 2",
        undefined="no relevant row, or no other: no value, counted as undefined",
        sensitive="ties",
        use="to read XGBoost's numbers",
        citation="Boyd, Eng and Page, 2013; Keilwagen, Grosse and Grau, 2014; XGBoost 3.2",
    )

    #: a tie block counts as a whole
    claims = Claims(extremal_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Share the area over each tie block among its relevant rows; divide by R."""
        hits = hits.with_open_ties()
        relevant, blocks = hits.relevant(self.rel), hits.blocks
        above, inside = hits.earlier(relevant), hits.inside(relevant)
        some = np.maximum(inside, 1)
        rise = blocks.size / some  # rows for each relevant one
        start = blocks.first - 1 - rise * above  # rows above the first relevant one, at the same slope
        bend = start / rise * np.log(blocks.last / np.maximum(blocks.first - 1, 1))
        area = (some - bend) / rise
        share = np.where(relevant, (area / some)[blocks.of_hit], 0.0)
        known = hits.relevant_count(self.rel)
        return Contributions(share, np.where(known < hits.n, known, 0).astype(np.float64))
