"""What is shown to people: sheets of lines and tables, and the formats they are written in."""

from __future__ import annotations

from rankstone.sheets.sheet import Sheet, ShowsSheet, Table, number

__all__ = ["Sheet", "ShowsSheet", "Table", "number"]
