# Written by `make pages`: where each public name is defined.

from rankstone.comparison.compare_systems import compare as compare
from rankstone.comparison.compare_systems import compare_scores as compare_scores
from rankstone.comparison.comparison_result import Comparison as Comparison
from rankstone.comparison.gate_config import Config as Config
from rankstone.comparison.gate_config import Guards as Guards
from rankstone.comparison.gate_config import Rule as Rule
from rankstone.comparison.gate_result import Gate as Gate
from rankstone.comparison.gate_result import GateOutcome as GateOutcome
from rankstone.comparison.gate_rules import GateRule as GateRule
from rankstone.comparison.gate_rules.allowed_loss import AllowedLoss as AllowedLoss
from rankstone.comparison.gate_rules.mean_limits import Ceiling as Ceiling
from rankstone.comparison.gate_rules.mean_limits import Floor as Floor
from rankstone.comparison.gate_rules.query_losses import Drops as Drops
from rankstone.comparison.grade_thresholds import Thresholds as Thresholds
from rankstone.comparison.grade_thresholds import thresholds as thresholds
from rankstone.comparison.query_planning import Plan as Plan
from rankstone.comparison.query_planning import power as power
from rankstone.comparison.release_gate import Margin as Margin
from rankstone.comparison.release_gate import gate as gate
from rankstone.comparison.release_gate import plan as plan
from rankstone.comparison.settings import ComparisonSettings as ComparisonSettings
from rankstone.comparison.single_intervals import intervals as intervals

__all__ = [
    "AllowedLoss",
    "Ceiling",
    "Comparison",
    "ComparisonSettings",
    "Config",
    "Drops",
    "Floor",
    "Gate",
    "GateOutcome",
    "GateRule",
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
