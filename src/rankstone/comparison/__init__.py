"""Comparison: which system is better, and how sure that is; release gates and sample sizes.

Takes judgments and runs, or saved scores per query, and returns a row for every pair of systems and measure:
difference, interval, verdict.  Scores come from ``evaluation``, statistics from ``stats``.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "compare_systems": ("compare", "compare_scores"),
    "comparison_result": ("Comparison",),
    "gate_config": ("Config", "Guards", "Rule"),
    "gate_result": ("Gate", "GateOutcome"),
    "gate_rules": ("GateRule",),
    "gate_rules.allowed_loss": ("AllowedLoss",),
    "gate_rules.mean_limits": ("Ceiling", "Floor"),
    "gate_rules.query_losses": ("Drops",),
    "grade_thresholds": ("Thresholds", "thresholds"),
    "query_planning": ("Plan", "power"),
    "release_gate": ("Margin", "gate", "plan"),
    "settings": ("ComparisonSettings",),
    "single_intervals": ("intervals",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
