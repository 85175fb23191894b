"""What other tools mean by the same names, as data: one file a library and version.

A convention translates a library's spelling of a measure into ours, and says under which options of
alignment the two print the same number.  Nothing here computes anything: no formula asks which library
it is for.
"""

from __future__ import annotations

from rankstone.conventions.convention import Convention, Entry, Grades, Reading
from rankstone.conventions.library import convention, conventions

__all__ = ["Convention", "Entry", "Grades", "Reading", "convention", "conventions"]
