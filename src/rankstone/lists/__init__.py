"""Whole rankings beside each other: how alike two runs are, without any judgment.

Comes in: two runs.  Goes out: for every query how much their lists agree, by measures that are frozen
values like all others.  Runs are read and ordered by the same rules as for an evaluation.
"""

from __future__ import annotations

from rankstone.lists.base import Agreement, ListMeasure, Outcome
from rankstone.lists.comparison import diff
from rankstone.lists.orderings import similarity
from rankstone.lists.result import Similarity
from rankstone.lists.telling.derivation import Derivation

__all__ = ["Agreement", "Derivation", "ListMeasure", "Outcome", "Similarity", "diff", "similarity"]
