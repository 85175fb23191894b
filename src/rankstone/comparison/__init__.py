"""Comparison: which system is better, and how sure that is; release gates and sample sizes.

Takes judgments and runs, or saved scores per query, and returns a row for every pair of systems and measure:
difference, interval, verdict.  Scores come from ``evaluation``, statistics from ``stats``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.comparison.compare_systems import ComparisonSettings, compare, compare_scores
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.gate_config import Config, Drops, Guards, Rule
    from rankstone.comparison.gate_rules import Gate, Outcome
    from rankstone.comparison.grade_thresholds import Thresholds, thresholds
    from rankstone.comparison.query_planning import Plan, power
    from rankstone.comparison.release_gate import Margin, gate, plan
    from rankstone.comparison.single_intervals import intervals
__all__ = [
    "Comparison",
    "ComparisonSettings",
    "Config",
    "Drops",
    "Gate",
    "Guards",
    "Margin",
    "Outcome",
    "Plan",
    "Rule",
    "Thresholds",
    "compare",
    "compare_scores",
    "gate",
    "intervals",
    "plan",
    "power",
    "thresholds",
]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "compare_systems": ("ComparisonSettings", "compare", "compare_scores"),
            "comparison_result": ("Comparison",),
            "gate_config": ("Config", "Drops", "Guards", "Rule"),
            "gate_rules": ("Gate", "Outcome"),
            "grade_thresholds": ("Thresholds", "thresholds"),
            "query_planning": ("Plan", "power"),
            "release_gate": ("Margin", "gate", "plan"),
            "single_intervals": ("intervals",),
        },
    )
