"""Online evaluation: logs of what users were shown and did.

Clicks to judgments, interleaving, A/B tests, counterfactual estimates, retention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.online.ab_test import Experiment, ab
    from rankstone.online.click_judgments import clicks
    from rankstone.online.click_results import Clicks
    from rankstone.online.cohort_retention import retention
    from rankstone.online.counterfactual_estimates import Counterfactual, counterfactual
    from rankstone.online.interleaved_lists import Interleaved, interleave
    from rankstone.online.log_tables import OnlineResult
    from rankstone.online.preference_test import Preference, interleaving_preference
    from rankstone.online.retention_result import Retention
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
if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "ab_test": ("Experiment", "ab"),
            "click_judgments": ("clicks",),
            "click_results": ("Clicks",),
            "cohort_retention": ("retention",),
            "counterfactual_estimates": ("Counterfactual", "counterfactual"),
            "interleaved_lists": ("Interleaved", "interleave"),
            "log_tables": ("OnlineResult",),
            "preference_test": ("Preference", "interleaving_preference"),
            "retention_result": ("Retention",),
        },
    )
