"""Sheets for a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from rankstone.sheets.sheet import Table

if TYPE_CHECKING:
    from rankstone.sheets.sheet import Sheet

__all__ = ["text"]

#: the least that is left of a name
_NAME: Final = 8


def text(sheet: Sheet, width: int) -> str:
    """Return a sheet that fits a width."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(file=io.StringIO(), width=width, highlight=False, color_system=None)
    console.print(Text(sheet.title))
    for line in filter(None, (sheet.formula, sheet.symbols)):
        console.print(Padding(Text(line), (0, 0, 0, 2)))
    for part in sheet.parts:
        console.print()
        if isinstance(part, Table):
            console.print(Text(part.title))
            console.print(_table(part, width))
        else:
            title, lines = part
            console.print(Text(title))
            for line in lines:
                console.print(Padding(Text(line), (0, 0, 0, 2)))
    assert isinstance(console.file, io.StringIO)  # noqa: S101 - made above
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def _table(part: Table, width: int) -> object:
    """Draw a table; numbers keep their width, and names take what is left of it."""
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    columns = list(zip(*part.rows, strict=True)) or [()] * len(part.head)
    needed = [
        max([_longest_word(head) if numeric else cell_len(head), *map(cell_len, cells)])
        for head, cells, numeric in zip(part.head, columns, part.numeric, strict=True)
    ]
    taken = sum(need for need, numeric in zip(needed, part.numeric, strict=True) if numeric)
    names = max(len(part.numeric) - sum(part.numeric), 1)
    tight = taken + names * _NAME + 3 * len(part.head) > width  # a blank at either side, and one between
    padding = (0, 0) if tight else (0, 1)
    left = max((width - taken - (1 if tight else 3) * len(part.head)) // names, _NAME)
    drawn = Drawn(box=box.SIMPLE_HEAD, padding=padding, show_edge=False)
    for head, need, numeric in zip(part.head, needed, part.numeric, strict=True):
        if numeric:
            drawn.add_column(Text(head), justify="right", width=need)
        else:
            drawn.add_column(Text(head), overflow="ellipsis", no_wrap=True, width=min(need, left))
    last = len(part.rows) - part.total
    for at, row in enumerate(part.rows):
        if at == last:
            drawn.add_section()
        drawn.add_row(*map(Text, row))
    return drawn


def _longest_word(head: str) -> int:
    return max((cell_len(word) for word in head.split()), default=0)
