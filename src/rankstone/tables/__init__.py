"""Tables: the common interface of results, and one writer for each format.

Results provide tables, which are written as text for a terminal, Markdown, LaTeX, HTML or CSV.  Nothing is
computed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.tables.sheet import Kind, Part, Sheet, Table, cell, number
__all__ = ["Kind", "Part", "Sheet", "Table", "cell", "number"]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {"sheet": ("Kind", "Part", "Sheet", "Table", "cell", "number")})
