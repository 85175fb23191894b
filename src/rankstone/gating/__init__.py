"""A gate for continuous integration, which says whether one run may replace another.

Comes in: a configuration that names both, rules and guards.  Goes out: a verdict for each, and an exit code.
The numbers are those of a comparison; nothing here computes a score or an interval.
"""

from __future__ import annotations

from rankstone.gating.conduct import gate, plan
from rankstone.gating.config import Config, Drops, Guards, Rule
from rankstone.gating.margins import Margin
from rankstone.gating.result import Gate, Outcome

__all__ = ["Config", "Drops", "Gate", "Guards", "Margin", "Outcome", "Rule", "gate", "plan"]
