"""The public names of golden sets, which are read where all files are."""

from __future__ import annotations

from rankstone.io.golden_sets import GoldenSet
from rankstone.io.golden_sets import golden_set as read

__all__ = ["GoldenSet", "read"]
