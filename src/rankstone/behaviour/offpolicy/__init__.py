"""What another ranking would have earned, from a log of the one that was shown.

Comes in: a log with rewards and propensities, and what the other ranking would do.  Goes out: estimates of
its value by importance weights, by a model, and by both, with intervals and what makes them doubtful.
"""

from __future__ import annotations

from rankstone.behaviour.offpolicy.conduct import counterfactual
from rankstone.behaviour.offpolicy.result import Counterfactual

__all__ = ["Counterfactual", "counterfactual"]
