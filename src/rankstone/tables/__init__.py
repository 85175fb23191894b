"""Tables: what all results have in common, and one writer a format.

A result gives tables; this room writes them for a terminal, as Markdown, LaTeX, HTML or CSV.  It knows no
result and computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.tables.sheet import Kind, Part, Sheet, Table, cell, number
__all__ = ["Kind", "Part", "Sheet", "Table", "cell", "number"]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {"sheet": ("Kind", "Part", "Sheet", "Table", "cell", "number")})
