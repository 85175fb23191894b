"""What is shown to people, whatever shows it: a title, lines, tables of texts.

Numbers become texts here and nowhere before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["Sheet", "ShowsSheet", "Table", "number"]

#: digits after the point
_DIGITS: Final = 4


@dataclass(frozen=True)
class Table:
    """A table of texts; ``numeric`` says which columns are numbers, ``total`` how many last rows sum up."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    total: int = 0


@dataclass(frozen=True)
class Sheet:
    """Everything that is shown: a title, lines and tables in their order."""

    title: str
    formula: str
    symbols: str
    parts: tuple[Table | tuple[str, tuple[str, ...]], ...]


class ShowsSheet:
    """A result that people read as a sheet: in a terminal, a notebook, a document."""

    def sheet(self) -> Sheet:
        """Return what is shown."""
        raise NotImplementedError

    def text(self, width: int = 80) -> str:
        """Return it for a terminal of some width."""
        from rankstone.sheets.terminal import text

        return text(self.sheet(), width)

    def markdown(self) -> str:
        """Return it as Markdown."""
        from rankstone.sheets.markup import markdown

        return markdown(self.sheet())

    def latex(self) -> str:
        """Return it as LaTeX: put it into a document that uses booktabs and amsmath."""
        from rankstone.sheets.markup import latex

        return latex(self.sheet())

    def html(self) -> str:
        """Return it as a piece of HTML with its own style."""
        from rankstone.sheets.markup import html

        return html(self.sheet())

    _repr_html_ = html

    def __repr__(self) -> str:
        return self.text()


def number(value: float | bool | None) -> str:  # noqa: FBT001 - what measures tell
    """Return a number as it is shown: whole ones whole, others with four decimals.

    >>> number(2.0), number(0.63093), number(True), number(None), number(1e-7)
    ('2', '0.6309', 'yes', '–', '1e-07')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value == int(value) and abs(value) < 1e15:  # noqa: PLR2004 - whole as long as floats are
        return str(int(value))
    if abs(value) < 10**-_DIGITS:
        return f"{value:.0e}"
    return f"{value:.{_DIGITS}f}"
