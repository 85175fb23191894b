"""The rule ``margin``: the interval of the difference has to exclude a loss larger than allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import percentage
from rankstone.comparison.comparison_words import percent
from rankstone.comparison.gate_rules import ROUNDING, Check, GateRule
from rankstone.errors import UsageError
from rankstone.stats.bounded_means import unseen_share
from rankstone.stats.sample_size import needed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.gate_rules import Candidate
    from rankstone.comparison.score_matrix import Matrix

#: power for which the number of queries of a rule is computed
_POWER: Final = 0.8
#: columns of a comparison whose values are numbers of the rule
_COLUMNS: Final = (
    *("mean", "mean_versus", "difference"),
    *("low", "high", "confidence", "n"),
)


@dataclass(frozen=True)
class AllowedLoss(GateRule):
    """The interval of the difference has to lie above ``-margin`` (below ``margin`` where lower is better)."""

    name = "margin"
    example = "0.005"

    margin: float

    def __post_init__(self) -> None:
        """Refuse a negative loss."""
        if self.margin < 0:
            raise UsageError(
                f"margin = {self.margin:g} is out of range", expected="0 or more"
            )

    def check(self, matrix: Matrix, candidate: Candidate) -> Iterator[Check]:
        """Yield the outcome over all queries, then in each segment; the same lists lose nothing."""
        comparison = candidate.comparison
        parts = {"measure": comparison.label(matrix.measure)}
        rows = comparison.table.filter(measure=matrix.measure)
        row = rows.row(0, named=True)
        changed = matrix.differences(1, 0).any()
        if not changed and candidate.same_lists(matrix.measure):
            numbers = {"difference": 0.0, "margin": self.margin, "n": row["n"]}
            yield Check("pass", ("same_lists",), numbers, parts)
            return

        yield self._in_row(row, matrix, comparison, parts, "title")
        if comparison.segments is None:
            return
        columns = comparison.segments.columns
        attributes = columns[: columns.index("measure")]
        rows = comparison.segments.filter(measure=matrix.measure)
        for row in rows.iter_rows(named=True):
            segment = [f"{name}={row[name]}" for name in attributes]
            parts["segment"] = ", ".join(segment)
            yield self._in_row(row, matrix, comparison, parts, "title_in_segment")

    def _in_row(
        self,
        row: dict[str, Any],
        matrix: Matrix,
        comparison: Comparison,
        parts: dict[str, str],
        title: str,
    ) -> Check:
        """Compare the interval of a difference with the margin."""
        known = row["low"] is not None
        low = math.nan
        high = math.nan
        if known:
            low, high = sorted(matrix.sign * row[end] for end in ("low", "high"))
        alpha = (1 - row["confidence"]) / 2
        most = matrix.span[1] - matrix.span[0]
        rare = unseen_share(row["units"], alpha)
        queries = self._queries_needed(row, alpha, most)
        numbers = {name: row[name] for name in _COLUMNS} | {
            "margin": self.margin,
            "false_release": alpha,
            "unseen_share": rare,
            "needed": queries,
        }

        # only the limit that assumes nothing about queries not seen bounds the risk
        bounded = comparison.settings.interval == "worst_case"
        sentence = "margin" if known else "margin_of_any_loss"
        risk = "risk_bounded" if bounded else "risk"
        further: list[tuple[str, ...]] = [(risk, "rare_losses")]
        verdict = "inconclusive"
        if low >= -self.margin - ROUNDING:
            verdict = "pass"
        elif high < -self.margin:
            verdict = "fail"
        elif queries is not None:
            further.append(("enough",))
        shown = {
            "level": percent(row["confidence"]),
            "most": most,
            "share": percentage(rare),
            **parts,
        }
        return Check(
            verdict=verdict,
            sentences=(sentence,),
            numbers=numbers,
            parts=shown,
            title=title,
            further=tuple(further),
        )

    def _queries_needed(
        self, row: dict[str, Any], alpha: float, most: float
    ) -> int | None:
        """Return how many queries an unchanged candidate needs to pass with 80 % power.

        By t, with the standard error for planning; where some query did not change, no fewer than a candidate
        without any change needs.
        """
        if not self.margin or row["spread"] is None:
            return None
        spread = row["spread"] * math.sqrt(row["units"])
        units = None
        if spread > 0 and row["ties"] < row["n"]:
            units = needed(self.margin / spread, alpha=2 * alpha, power=_POWER)
        if row["ties"] and self.margin < most:
            unchanged = math.log(alpha) / math.log1p(-self.margin / most)
            units = max(units or 0, math.ceil(unchanged))
        if units is None:
            return None
        queries_a_unit: float = row["n"] / row["units"]
        return math.ceil(units * queries_a_unit)
