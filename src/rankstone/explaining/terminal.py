"""Explanations for a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rankstone.explaining.sheets import Sheet, Table, of_comparison, of_explanation

if TYPE_CHECKING:
    from rankstone.explaining.derivation import Explanation
    from rankstone.explaining.versus import Comparison

__all__ = ["comparison", "text"]


def text(one: Explanation, width: int) -> str:
    """Return an explanation that fits a width."""
    return _written(of_explanation(one), width)


def comparison(both: Comparison, width: int) -> str:
    """Return a comparison that fits a width."""
    return _written(of_comparison(both), width)


def _written(sheet: Sheet, width: int) -> str:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(file=io.StringIO(), width=width, highlight=False, color_system=None)
    console.print(Text(sheet.title))
    console.print(Padding(Text(sheet.formula), (0, 0, 0, 2)))
    console.print(Padding(Text(sheet.symbols), (0, 0, 0, 2)))
    for part in sheet.parts:
        console.print()
        if isinstance(part, Table):
            console.print(Text(part.title))
            console.print(_table(part))
        else:
            title, lines = part
            console.print(Text(title))
            for line in lines:
                console.print(Padding(Text(line), (0, 0, 0, 2)))
    assert isinstance(console.file, io.StringIO)  # noqa: S101 - made above
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def _table(part: Table) -> object:
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for head, numeric in zip(part.head, part.numeric, strict=True):
        if numeric:
            drawn.add_column(Text(head), justify="right", overflow="fold")
        else:
            drawn.add_column(Text(head), overflow="ellipsis", no_wrap=True)
    last = len(part.rows) - part.total
    for at, row in enumerate(part.rows):
        if at == last:
            drawn.add_section()
        drawn.add_row(*map(Text, row))
    return drawn
