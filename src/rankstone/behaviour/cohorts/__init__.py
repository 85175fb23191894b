"""Retention: how many of those who come at a time come back later.

Comes in: events, a row each with a user and a time.  Goes out: new, returning and login users of every
period, the triangle of cohorts, the curve over ages, differences of segments.  Events are read in one
streaming pass into one bit a user and period; everything is counted from these.
"""

from __future__ import annotations

from rankstone.behaviour.cohorts.conduct import retention
from rankstone.behaviour.cohorts.result import Retention

__all__ = ["Retention", "retention"]
