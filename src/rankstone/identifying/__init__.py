"""A stranger's number: which measure, under which conventions, prints as it.

Comes in: judgments, a run and a printed number.  Goes out: the ways to compute it.  Nothing here scores:
every value is one that a measure gave to hits, as everywhere.
"""

from __future__ import annotations

from rankstone.identifying.conduct import as_libraries, identify
from rankstone.identifying.printed import Printed
from rankstone.identifying.result import Identification
from rankstone.identifying.ways import Group, Way

__all__ = ["Group", "Identification", "Printed", "Way", "as_libraries", "identify"]
