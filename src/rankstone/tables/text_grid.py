"""Tables as lines of text: columns fitted to a page, in blocks where they are wider than it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from rankstone._basics import Record
from rankstone.tables.short_names import shortened
from rankstone.tables.wrapping import broken, wrapped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rankstone.tables.sheet import Kind, Table

#: the least width of a column of names or texts that are wider
_MIN_WIDTH: Final = 16
#: columns of numbers that may stand before the names
_MAX_BEFORE_NAMES: Final = 2
_BOLD: Final = "\x1b[1m"
_PLAIN: Final = "\x1b[0m"


class _Spacing(Record):
    """Blanks between two columns, and on each side of a line."""

    between: int
    side: int

    def around(self, columns: int) -> int:
        """Return how many blanks a line of so many columns has."""
        return self.between * (columns - 1) + 2 * self.side


_UNTITLED: Final = _Spacing(between=2, side=0)
_TITLED: Final = _Spacing(between=3, side=1)
#: of a titled table that is too wide for the page
_TIGHT: Final = _Spacing(between=1, side=0)


@dataclass
class _Column:
    """A column of a table while it is fitted to a page.

    Attributes
    ----------
    place
        Which column of the table it is.
    head, cells
        The lines of its heading and of each cell: one line each until they are broken.
    numeric
        True if it is aligned to the right; its numbers are never broken.
    width
        Characters that it takes.
    least
        Characters that it needs.
    """

    place: int
    head: list[str]
    cells: list[list[str]]
    numeric: bool
    width: int
    least: int

    @property
    def lacking(self) -> int:
        """How many characters wider the heading is."""
        return cell_len(self.head[0]) - self.width

    def break_lines(self) -> None:
        """Break heading and cells at the width: names are shortened, texts wrapped."""
        self.head = wrapped(self.head[0], self.width)
        if not self.numeric:
            self.cells = _fitted([text for (text,) in self.cells], self.width)
        self.width = max(map(cell_len, chain(self.head, *self.cells)), default=0)

    def padded(self, line: str) -> str:
        """Return a line with the blanks that align it."""
        blanks = " " * (self.width - cell_len(line))
        return blanks + line if self.numeric else line + blanks


def grid(table: Table, width: int, *, styled: bool) -> Iterator[str]:
    """Yield the lines of a table; one that is wider than the page is split into several blocks."""
    columns = _columns(table, starred=table.starred and not styled)
    needed = sum(column.least for column in columns)

    spacing = _TITLED if table.title else _UNTITLED
    if table.title and needed + spacing.around(len(columns)) > width:
        spacing = _TIGHT

    room = width - spacing.around(len(columns))
    repeated = _repeated(columns)
    if repeated < len(columns) and needed > room:
        blocks = _split(columns, repeated, room, width, spacing)
    else:
        _shrink(columns, room)
        _widen(columns, room)
        blocks = [columns]

    for column in columns:
        column.break_lines()
    for number, block in enumerate(blocks):
        if number:
            yield ""
        yield from _block(table, block, spacing, styled=styled)


def _columns(table: Table, *, starred: bool) -> list[_Column]:
    """Return the columns of a table, as wide as their texts; ``starred``: with stars at the best cells."""
    rows = table.marked("{}*", "{} ") if starred else table.rows
    texts = zip(table.head, *rows, strict=True)
    columns = []
    for place, (head, *cells) in enumerate(texts):
        numeric = table.numeric[place]
        head_width = _longest_word(head) if numeric else cell_len(head)
        width = max([head_width, *map(cell_len, cells)])

        least = width if numeric else _least(head, cells, width, table.kinds[place])
        lines = [[text] for text in cells]
        columns.append(_Column(place, [head], lines, numeric, width, least))
    return columns


def _least(head: str, cells: list[str], width: int, kind: Kind | bool) -> int:  # noqa: FBT001 - a kind
    """Return the least width of a column: the words of a text stay whole, names stay distinct."""
    names = []
    if kind != "text":
        names = [text for text in cells if " " not in text]
    short = shortened(names, _MIN_WIDTH).values()
    words = (_longest_word(text) for text in cells if text not in names)
    widths = [_longest_word(head), *words, *map(cell_len, short)]
    return min(width, max(_MIN_WIDTH, *widths))


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _repeated(columns: list[_Column]) -> int:
    """Return how many columns begin every block: the names, and ranks before them."""
    names = next((column.place for column in columns if not column.numeric), 0)
    if names > _MAX_BEFORE_NAMES:
        names = 0
    numbers = (column.place for column in columns[names:] if column.numeric)
    return next(numbers, len(columns))


def _split(
    columns: list[_Column], repeated: int, room: int, width: int, spacing: _Spacing
) -> list[list[_Column]]:
    """Return blocks that fit the page, all of which begin with the ``repeated`` first columns."""
    front = columns[:repeated]
    rest = columns[repeated:]
    widest = max(column.width for column in rest)
    _shrink(front, max(room - widest, width // 2))

    blocks = [front]
    for column in rest:
        block = [*blocks[-1], column]
        fits = _width(block) + spacing.around(len(block)) <= width
        if fits or len(block) == repeated + 1:
            blocks[-1] = block
        else:
            blocks.append([*front, column])
    return blocks


def _width(columns: list[_Column]) -> int:
    return sum(column.width for column in columns)


def _shrink(columns: list[_Column], room: int) -> None:
    """Narrow the widest of some columns until they fit."""
    while _width(columns) > room:
        narrower = [column for column in columns if column.width > column.least]
        if not narrower:
            return
        widest = max(narrower, key=lambda column: column.width)
        widest.width -= 1


def _widen(columns: list[_Column], room: int) -> None:
    """Widen columns to their headings where there is room, those that lack least first."""
    for column in sorted(columns, key=lambda column: column.lacking):
        if column.lacking <= room - _width(columns):
            column.width += max(column.lacking, 0)


def _fitted(cells: list[str], width: int) -> list[list[str]]:
    """Return the lines of each cell: single words are names that stay distinct, texts wrap."""
    short = shortened((text for text in cells if " " not in text), width)
    return [
        [short[text]] if text in short else _indented(text, width) for text in cells
    ]


def _indented(text: str, width: int) -> list[str]:
    """Return the lines of a text, each with the blanks that it begins with."""
    bare = text.lstrip()
    indent = text[: len(text) - len(bare)]
    lines = wrapped(bare, width, indent)
    return [piece for line in lines for piece in broken(line, width)]


def _block(
    table: Table, columns: list[_Column], spacing: _Spacing, *, styled: bool
) -> Iterator[str]:
    """Yield the lines of some columns: the head, a rule below it if the table has a title, the rows."""
    heads = [column.head for column in columns]
    for line in _row(columns, heads, spacing):
        yield f"{_BOLD}{line.rstrip()}{_PLAIN}" if styled else line
    if table.title:
        yield "─" * (_width(columns) + spacing.around(len(columns)))

    first_total = len(table.rows) - table.total
    for row in range(len(table.rows)):
        if row == first_total:
            yield ""
        cells = [column.cells[row] for column in columns]
        best = [c.place for c in columns if (row, c.place) in table.best]
        yield from _row(columns, cells, spacing, best if styled else ())


def _row(
    columns: list[_Column],
    cells: list[list[str]],
    spacing: _Spacing,
    bold: Collection[int] = (),
) -> Iterator[str]:
    """Yield the lines of a row: as many as its longest cell, with the columns at ``bold`` places in bold."""
    side = " " * spacing.side
    between = " " * spacing.between
    for line in zip_longest(*cells, fillvalue=""):
        texts = []
        for column, text in zip(columns, line, strict=True):
            padded = column.padded(text)
            if column.place in bold:
                padded = f"{_BOLD}{padded}{_PLAIN}"
            texts.append(padded)
        yield side + between.join(texts)
