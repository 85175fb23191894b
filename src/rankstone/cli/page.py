"""What a person reads: drawings, tables, and sentences below them."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Final

from rankstone.cli.drawing import COLOURS, MARKS, Line, drawn
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["Page"]

#: what is no terminal may be this wide; a drawing on it is as wide as paper
_ENDLESS, _NO_PAPER, _PAPER = 10_000, 1_000, 80
#: how wide drawings are, at least and at most, and how high
_NARROWEST, _WIDEST, _HEIGHT = 40, 100, 15
#: letters of a name in a legend
_NAME: Final = 40


class Page:
    """A page as wide as the terminal, or as it needs to be where there is none.

    Its text is ``str(page)``, which ends in a newline.
    """

    def __init__(self) -> None:
        from rich.console import Console

        self._terminal = sys.stdout.isatty()
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=None if self._terminal or "COLUMNS" in os.environ else _ENDLESS,
            force_terminal=self._terminal,
            highlight=False,
            no_color="NO_COLOR" in os.environ,
        )

    def table(
        self, head: Sequence[str], rows: Iterable[Sequence[str]], texts: Collection[int] = (0,)
    ) -> Page:
        """Add a table; the columns of ``texts`` begin, all others end below one another."""
        from rich.table import Table
        from rich.text import Text

        shown = Table(box=None, pad_edge=False, header_style="bold")
        for at, name in enumerate(head):
            shown.add_column(Text(name), justify="left" if at in texts else "right", overflow="fold")
        for cells in rows:
            shown.add_row(*map(Text, cells))
        self._console.print(shown)
        return self

    def lines(self, lines: Mapping[str, Line], top: float | None = None, *, named: bool = True) -> Page:
        """Draw named lines of points, a legend below where there is more than one name to tell."""
        from rich.text import Text

        width = _PAPER if self._console.width > _NO_PAPER else self._console.width
        picture = drawn(list(lines.values()), min(max(width, _NARROWEST), _WIDEST), _HEIGHT, top)
        if named:
            picture.append(
                [
                    (f"{MARKS[at % len(MARKS)]} {printable(name, _NAME)}   ", COLOURS[at % len(COLOURS)])
                    for at, name in enumerate(lines)
                ]
            )
        for row in picture:
            self._console.print(Text.assemble(*row, no_wrap=True))
        return self.space()

    def heading(self, text: str) -> Page:
        """Add a line that stands out."""
        return self._said(text, "bold")

    def space(self) -> Page:
        """Add an empty line."""
        self._console.print()
        return self

    def notes(self, sentences: Iterable[str]) -> Page:
        """Add sentences, a line each."""
        for sentence in sentences:
            self._said(sentence, "dim")
        return self

    def _said(self, text: str, style: str) -> Page:
        from rich.text import Text

        self._console.print(Text(text, style=style), soft_wrap=not self._terminal)
        return self

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self._out.getvalue().splitlines()) + "\n"
