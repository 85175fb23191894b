"""Line charts for a terminal, drawn with braille dots: two across and four down in every character."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Final

from rankstone._basics import Record
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


#: letters that distinguish lines without colours, placed on their lines at intervals
MARKS: Final = "abcdefghijklmnopqrstuvwxyz"
COLOURS: Final = ("cyan", "yellow", "magenta", "green", "blue", "red")

_CODES: Final = {
    "red": 31,
    "green": 32,
    "yellow": 33,
    "blue": 34,
    "magenta": 35,
    "cyan": 36,
    "dim": 2,
}
#: the least and the largest width of a drawing, and its height
_NARROWEST, _WIDEST, _HEIGHT = 40, 100, 15
#: the longest name below a drawing
_NAME: Final = 40

_ACROSS, _DOWN = 2, 4
_BLANK: Final = 0x2800
#: bit of the dot in each row and column of a braille character
_BITS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
#: columns between two marks of one line
_APART: Final = 18
#: from this ratio of the last x to the first, the x axis is logarithmic
_WIDE: Final = 50.0

#: a piece of a drawn line, and its colour
Piece = tuple[str, str]


class Line(Record):
    """A line to draw: points from left to right, without gaps."""

    x: Sequence[float]
    y: Sequence[float]


class Drawing(Record):
    """Named lines that are drawn in a terminal, and omitted in other formats.

    Attributes
    ----------
    lines
        Name → its line.
    top
        The highest y; by default the largest one.
    logarithmic
        True if the x axis is logarithmic.
    named
        True if the names are shown below.
    """

    lines: Mapping[str, Line]
    top: float | None = None
    logarithmic: bool = False
    named: bool = True

    def rows(self, width: int, *, styled: bool = False) -> list[str]:
        """Return the rows of the drawing, as wide as the page within limits."""
        wide = min(max(width, _NARROWEST), _WIDEST)
        rows = drawn(
            list(self.lines.values()),
            wide,
            _HEIGHT,
            self.top,
            logarithmic=self.logarithmic,
        )
        if self.named:
            names = enumerate(self.lines)
            rows.append(
                [
                    (
                        f"{MARKS[at % len(MARKS)]} {printable(name, _NAME)}   ",
                        COLOURS[at % len(COLOURS)],
                    )
                    for at, name in names
                ]
            )
        return [
            "".join(_coloured(*piece) if styled else piece[0] for piece in row).rstrip()
            for row in rows
        ]


def _coloured(text: str, colour: str) -> str:
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if colour in _CODES else text


def is_logarithmic(x: Sequence[float]) -> bool:
    """Return True if a logarithmic x axis is better."""
    return len(x) > 0 and x[0] > 0 and x[-1] / x[0] >= _WIDE


def drawn(
    lines: Sequence[Line],
    width: int,
    height: int,
    top: float | None = None,
    *,
    logarithmic: bool = False,
) -> list[list[Piece]]:
    """Return rows of coloured pieces: the lines, the y axis with three labels, the x axis below.

    Parameters
    ----------
    lines
        Lines with one or more points each.
    width, height
        Characters including labels; rows without the x axis.
    top
        The highest y; by default the largest one.
    logarithmic
        True if the x axis is logarithmic.
    """
    place = math.log if logarithmic else float
    left = min(place(line.x[0]) for line in lines)
    right = max(place(line.x[-1]) for line in lines)
    high = top if top is not None else max(max(line.y) for line in lines)
    low = min(0.0, *(min(line.y) for line in lines))
    labels = [f"{low + (high - low) * share:.3g}" for share in (1.0, 0.5, 0.0)]
    margin = max(map(len, labels)) + 2
    canvas = _Canvas(max(width - margin, 10), height)
    for at, line in enumerate(lines):
        spots = [
            (_share(place(x), left, right), _share(y, low, high))
            for x, y in zip(line.x, line.y, strict=True)
        ]
        canvas.line(spots, at, len(lines))
    named = {0: labels[0], height // 2: labels[1], height - 1: labels[2]}
    rows = [
        [
            (f"{named.get(row, ''):>{margin - 2}} ", "dim"),
            ("┤" if row in named else "│", "dim"),
            *canvas.row(row),
        ]
        for row in range(height)
    ]
    ends = f"{lines[0].x[0]:g}", f"{lines[0].x[-1]:g}"
    gap = max(canvas.width - len(ends[0]) - len(ends[1]), 1)
    rows.append([(" " * (margin - 1) + "└" + "─" * canvas.width, "dim")])
    rows.append([(" " * margin + ends[0] + " " * gap + ends[1], "dim")])
    return rows


def _share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.0


class _Canvas:
    """Characters with their dots, marks, and the last line drawn there."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._dots = [[0] * width for _ in range(height)]
        self._mark = [[""] * width for _ in range(height)]
        self._of = [[0] * width for _ in range(height)]

    def line(self, spots: Sequence[tuple[float, float]], number: int, of: int) -> None:
        """Draw a line through points given as shares of width and height, and mark it among several."""
        wide = self.width * _ACROSS - 1
        tall = self.height * _DOWN - 1
        ends = [(round(x * wide), round(y * tall)) for x, y in spots]
        for (x0, y0), (x1, y1) in zip(ends, ends[1:] or ends, strict=False):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            for step in range(steps + 1):
                self._dot(
                    x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps, number
                )
        if of > 1:
            for column in range(_APART * number // of, self.width, _APART):
                self._put_mark(column, number)

    def _dot(self, x: float, y: float, number: int) -> None:
        across = round(x)
        up = round(y)
        column = across // _ACROSS
        row = self.height - 1 - up // _DOWN
        self._dots[row][column] |= _BITS[_DOWN - 1 - up % _DOWN][across % _ACROSS]
        self._of[row][column] = number

    def _put_mark(self, column: int, number: int) -> None:
        rows = [
            row
            for row in range(self.height)
            if self._dots[row][column] and self._of[row][column] == number
        ]
        if rows:
            self._mark[rows[len(rows) // 2]][column] = MARKS[number % len(MARKS)]

    def row(self, row: int) -> list[Piece]:
        """Return a row as pieces of one colour each; blanks belong to the piece before them."""
        shown = []
        colour = ""
        for dots, mark, number in zip(
            self._dots[row], self._mark[row], self._of[row], strict=True
        ):
            colour = COLOURS[number % len(COLOURS)] if dots else colour
            shown.append((mark or chr(_BLANK + dots) if dots else " ", colour))
        runs = groupby(shown, key=lambda piece: piece[1])
        return [
            ("".join(char for char, _ in pieces), colour) for colour, pieces in runs
        ]
