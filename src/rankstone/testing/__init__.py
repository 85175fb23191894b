"""Laws that every measure must keep, also to check measures of your own.

>>> from rankstone.testing import check_measure
>>> len(check_measure("nDCG@3", queries=10)) > 5
True
"""

from __future__ import annotations

from rankstone.testing.laws import LawBroken, check_measure
from rankstone.testing.small_worlds import World, small_world

__all__ = ["LawBroken", "World", "check_measure", "small_world"]
