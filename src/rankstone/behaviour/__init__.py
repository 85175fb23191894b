"""What people do with rankings, from logs of what they did.

Comes in: tables of events, larger than memory if need be.  Goes out: results with frames, charts and pages;
judgments that rankings may be scored by.  Nothing here scores a ranking.
"""

from __future__ import annotations

from rankstone.behaviour.clicking import Clicks, clicks
from rankstone.behaviour.cohorts import Retention, retention
from rankstone.behaviour.experiments import Experiment, ab
from rankstone.behaviour.interleaving import Interleaved, Preference, interleave, interleaving_preference
from rankstone.behaviour.offpolicy import Counterfactual, counterfactual

__all__ = [
    "Clicks",
    "Counterfactual",
    "Experiment",
    "Interleaved",
    "Preference",
    "Retention",
    "ab",
    "clicks",
    "counterfactual",
    "interleave",
    "interleaving_preference",
    "retention",
]
