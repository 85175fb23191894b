# Written by `make pages`: where each public name is defined.

from rankstone.online.ab_test import Experiment as Experiment
from rankstone.online.ab_test import ab as ab
from rankstone.online.click_judgments import clicks as clicks
from rankstone.online.click_results import Clicks as Clicks
from rankstone.online.cohort_retention import retention as retention
from rankstone.online.counterfactual_estimates import Counterfactual as Counterfactual
from rankstone.online.counterfactual_estimates import counterfactual as counterfactual
from rankstone.online.interleaved_lists import Interleaved as Interleaved
from rankstone.online.interleaved_lists import interleave as interleave
from rankstone.online.log_tables import OnlineResult as OnlineResult
from rankstone.online.preference_test import Preference as Preference
from rankstone.online.preference_test import interleaving_preference as interleaving_preference
from rankstone.online.retention_result import Retention as Retention

__all__ = [
    "Clicks",
    "Counterfactual",
    "Experiment",
    "Interleaved",
    "OnlineResult",
    "Preference",
    "Retention",
    "ab",
    "clicks",
    "counterfactual",
    "interleave",
    "interleaving_preference",
    "retention",
]
