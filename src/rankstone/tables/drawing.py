"""Line charts for a terminal, drawn with braille dots: two across and four down in every character."""

from __future__ import annotations

import math
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from rankstone._basics import Record
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


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
_MIN_WIDTH: Final = 40
_MAX_WIDTH: Final = 100
_HEIGHT: Final = 15
#: characters of a name below a drawing, and the least width of the lines
_MAX_NAME: Final = 40
_MIN_CANVAS: Final = 10

#: dots of a character
_ACROSS: Final = 2
_DOWN: Final = 4
_BLANK: Final = 0x2800
#: bit of the dot in each row and column of a braille character
_BITS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
#: columns between two marks of one line
_MARK_DISTANCE: Final = 18
#: from this ratio of the last x to the first, the x axis is logarithmic
_LOGARITHMIC_FROM: Final = 50.0

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
        rows = drawn(
            list(self.lines.values()),
            min(max(width, _MIN_WIDTH), _MAX_WIDTH),
            _HEIGHT,
            self.top,
            logarithmic=self.logarithmic,
        )
        if self.named:
            names = []
            for number, name in enumerate(self.lines):
                text = f"{_mark(number)} {printable(name, _MAX_NAME)}   "
                names.append((text, _colour(number)))
            rows.append(names)

        write = _coloured if styled else itemgetter(0)
        return ["".join(map(write, row)).rstrip() for row in rows]


def _mark(number: int) -> str:
    return MARKS[number % len(MARKS)]


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _coloured(piece: Piece) -> str:
    text, colour = piece
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if colour in _CODES else text


def is_logarithmic(x: Sequence[float]) -> bool:
    """Return True if a logarithmic x axis is better."""
    return len(x) > 0 and x[0] > 0 and x[-1] / x[0] >= _LOGARITHMIC_FROM


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

    low = min(0.0, *(min(line.y) for line in lines))
    high = top
    if high is None:
        high = max(max(line.y) for line in lines)

    labels = {}
    for row, share in ((0, 1.0), (height // 2, 0.5), (height - 1, 0.0)):
        labels[row] = f"{low + (high - low) * share:.3g}"
    margin = max(map(len, labels.values())) + 2

    canvas = _Canvas(max(width - margin, _MIN_CANVAS), height)
    for number, line in enumerate(lines):
        across = [_share(place(x), left, right) for x in line.x]
        up = [_share(y, low, high) for y in line.y]
        canvas.draw(across, up, number)
        if len(lines) > 1:
            canvas.mark(number, len(lines))

    rows = []
    for row in range(height):
        label = f"{labels.get(row, ''):>{margin - 2}} "
        axis = "┤" if row in labels else "│"
        rows.append([(label, "dim"), (axis, "dim"), *canvas.row(row)])
    axis_lines = _x_axis(lines[0].x, margin, canvas.width)
    rows += [[(line, "dim")] for line in axis_lines]
    return rows


def _share(value: float, low: float, high: float) -> float:
    """Return how far a value is from ``low`` to ``high``; 0 where these are one."""
    return (value - low) / (high - low) if high > low else 0.0


def _x_axis(x: Sequence[float], margin: int, width: int) -> Iterator[str]:
    """Yield the axis, and the numbers at its ends."""
    indent = " " * margin
    first = f"{x[0]:g}"
    last = f"{x[-1]:g}"
    gap = " " * max(width - len(first) - len(last), 1)

    yield f"{indent[1:]}└{'─' * width}"
    yield indent + first + gap + last


class _Canvas:
    """Characters with their dots, marks, and the last line drawn there."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._dots = [[0] * width for _ in range(height)]
        self._marks = [[""] * width for _ in range(height)]
        self._numbers = [[0] * width for _ in range(height)]

    def draw(self, across: Sequence[float], up: Sequence[float], number: int) -> None:
        """Draw a line through points, which are given as shares of width and height."""
        right = self.width * _ACROSS - 1
        top = self.height * _DOWN - 1
        x = [round(share * right) for share in across]
        y = [round(share * top) for share in up]
        if len(x) == 1:
            self._dot(x[0], y[0], number)

        for (x0, x1), (y0, y1) in zip(pairwise(x), pairwise(y), strict=True):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            for step in range(steps + 1):
                dot_x = x0 + (x1 - x0) * step / steps
                dot_y = y0 + (y1 - y0) * step / steps
                self._dot(round(dot_x), round(dot_y), number)

    def _dot(self, x: int, y: int, number: int) -> None:
        row = self.height - 1 - y // _DOWN
        column = x // _ACROSS
        bits = _BITS[_DOWN - 1 - y % _DOWN]
        self._dots[row][column] |= bits[x % _ACROSS]
        self._numbers[row][column] = number

    def mark(self, number: int, lines: int) -> None:
        """Put the letter of a line, which is one of several, on it at intervals."""
        begin = _MARK_DISTANCE * number // lines
        for column in range(begin, self.width, _MARK_DISTANCE):
            rows = [
                row
                for row in range(self.height)
                if self._dots[row][column] and self._numbers[row][column] == number
            ]
            if rows:
                middle = rows[len(rows) // 2]
                self._marks[middle][column] = _mark(number)

    def row(self, row: int) -> list[Piece]:
        """Return a row as pieces of one colour each; blanks belong to the piece before them."""
        signs: list[Piece] = []
        colour = ""
        drawn_row = zip(
            self._dots[row], self._marks[row], self._numbers[row], strict=True
        )
        for dots, mark, number in drawn_row:
            sign = " "
            if dots:
                colour = _colour(number)
                sign = mark or chr(_BLANK + dots)
            signs.append((sign, colour))

        pieces = []
        for colour, run in groupby(signs, key=itemgetter(1)):
            pieces.append(("".join(sign for sign, _ in run), colour))
        return pieces
