# Written by `make pages`: where each public name is defined.

from rankstone.comparison.compare_systems import ComparisonSettings as ComparisonSettings
from rankstone.comparison.compare_systems import compare as compare
from rankstone.comparison.compare_systems import compare_scores as compare_scores
from rankstone.comparison.comparison_result import Comparison as Comparison
from rankstone.comparison.gate_config import Config as Config
from rankstone.comparison.gate_config import Drops as Drops
from rankstone.comparison.gate_config import Guards as Guards
from rankstone.comparison.gate_config import Rule as Rule
from rankstone.comparison.gate_rules import Gate as Gate
from rankstone.comparison.gate_rules import GateOutcome as GateOutcome
from rankstone.comparison.grade_thresholds import Thresholds as Thresholds
from rankstone.comparison.grade_thresholds import thresholds as thresholds
from rankstone.comparison.query_planning import Plan as Plan
from rankstone.comparison.query_planning import power as power
from rankstone.comparison.release_gate import Margin as Margin
from rankstone.comparison.release_gate import gate as gate
from rankstone.comparison.release_gate import plan as plan
from rankstone.comparison.single_intervals import intervals as intervals

__all__ = [
    "Comparison",
    "ComparisonSettings",
    "Config",
    "Drops",
    "Gate",
    "GateOutcome",
    "Guards",
    "Margin",
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
