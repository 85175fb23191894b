"""Sheets as text for a page of a terminal or a pipe."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Final

from rankstone.tables.drawing import Drawing
from rankstone.tables.sheet import Table
from rankstone.tables.text_grid import grid
from rankstone.tables.wrapping import wrapped

if TYPE_CHECKING:
    from rankstone.tables.sheet import Part, Sheet

#: columns of a page that is not a terminal
_PAPER: Final = 80
_DIM: Final = "\x1b[2m"
_PLAIN: Final = "\x1b[0m"


def page_width() -> int:
    """Return the columns of a page: those of ``COLUMNS``, of the terminal, or 80 in a pipe."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return max(shutil.get_terminal_size((_PAPER, 24)).columns, 1)
    return _PAPER


def text(
    sheet: Sheet,
    width: int,
    *,
    notes: int | None = None,
    styled: bool = False,
    signs: bool = True,
) -> str:
    """Return a sheet as text for a page.

    Parameters
    ----------
    sheet
        The sheet.
    width
        Columns of the page.
    notes
        Columns for notes; by default those of the page.  Programs search for whole lines.
    styled
        True if heads are bold and notes are dim.
    signs
        False for the words of verdicts in place of their signs.
    """
    lines = wrapped(sheet.title, width) if sheet.title else []
    for line in filter(None, (sheet.formula, sheet.symbols)):
        lines += wrapped(line, width, "  ")

    for part in sheet.parts:
        if lines:
            lines.append("")
        lines += _part_lines(part, width, styled=styled, signs=signs)

    below = [*sheet.brief, *filter(None, [sheet.more])]
    if below and (sheet.title or len(sheet.parts) > 1):
        lines.append("")
    for note in below:
        for line in wrapped(note, notes or width):
            lines.append(f"{_DIM}{line}{_PLAIN}" if styled else line)
    return "\n".join(line.rstrip() for line in lines)


def _part_lines(part: Part, width: int, *, styled: bool, signs: bool) -> list[str]:
    """Return the lines of a drawing, of a table, or of texts under their heading."""
    if isinstance(part, Drawing):
        return part.rows(width, styled=styled)
    if isinstance(part, Table):
        key = ""
        if signs:
            part, key = part.with_signs()
        titles = (part.title, key)
        title = " ".join(filter(None, titles))
        heading = wrapped(title, width) if title else []
        return [*heading, *grid(part, width, styled=styled)]

    title, texts = part
    lines = [title] if title else []
    indent = "  " if title else ""
    for line in texts:
        lines += wrapped(line, width, indent)
    return lines
