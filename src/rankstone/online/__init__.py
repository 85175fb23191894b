"""Online evaluation: logs of what users were shown and did.

Clicks to judgments, interleaving, A/B tests, counterfactual estimates, retention.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "ab_test": ("Experiment", "ab"),
    "click_judgments": ("clicks",),
    "click_results": ("Clicks",),
    "cohort_retention": ("retention",),
    "counterfactual_estimates": ("Counterfactual", "counterfactual"),
    "interleaved_lists": ("Interleaved", "interleave"),
    "log_tables": ("OnlineResult",),
    "preference_test": ("Preference", "interleaving_preference"),
    "retention_result": ("Retention",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
