"""Comparisons: which ranking is better, and how sure that is.

Comes in: what evaluation takes, or scores per query that somebody saved.  Goes out: a row for every pair and
measure with difference, interval and verdict.  Computes no score; knows arrays through ``stats``.
"""

from __future__ import annotations

from rankstone.comparing.conduct import compare, compare_scores
from rankstone.comparing.how import How
from rankstone.comparing.planning import Plan, power
from rankstone.comparing.result import Comparison
from rankstone.comparing.single import intervals

__all__ = ["Comparison", "How", "Plan", "compare", "compare_scores", "intervals", "power"]
