"""A/B tests of rankings: what users of either did, and whether that differs.

Comes in: a log of impressions by variant.  Goes out: rates by variant, differences, a check of how users were
dealt out.
"""

from __future__ import annotations

from rankstone.behaviour.experiments.conduct import ab
from rankstone.behaviour.experiments.result import Experiment

__all__ = ["Experiment", "ab"]
