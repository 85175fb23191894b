"""Sheets: the lines and tables that are shown of a result, fitted to a page of a terminal or a pipe."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass, field, replace
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.cells import cell_len

from rankstone.errors import printable
from rankstone.tables.drawing import Drawing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl


#: the content of a column: ids stay distinct however narrow the page is, texts wrap at words
Kind = Literal["number", "p", "interval", "id", "text"]

#: digits after the point
_DIGITS: Final = 4
#: a smaller p is shown as being below this
_LEAST: Final = 0.0001
_IDS: Final = frozenset(
    [
        "run",
        "system",
        "versus",
        "query_id",
        "doc_id",
        "user",
        "item",
        "unit",
        "a",
        "b",
        "other",
    ]
)
_P: Final = ("p", "p_adjusted", "p_sign", "p_randomisation")
_NO_NAMES: Final[Mapping[str, Any]] = MappingProxyType({})
#: the least number of characters of a name
_SHORTEST: Final = 8
#: the least number of characters of its end
_END: Final = 3
#: separators of the parts of a name
_PART: Final = re.compile(r"[-_./:\\ ]")
#: columns of a page that is not a terminal
_PAPER: Final = 80
#: the least width of a column of names or texts, and how many numbers may stand before names
_NAME, _BEFORE = 8, 2
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True)
class Table:
    """A table of text, and the kinds of its columns.

    Attributes
    ----------
    title
        Its heading; empty for the only table.
    head
        Names of the columns.
    rows
        Cells as they are shown; ids are untrusted text, which every format escapes.
    kinds
        The content of each column, see :data:`Kind`; ``True`` for a number and ``False`` for a text.
    total
        How many of the last rows are totals.
    best
        Row and column of the cells that are set in bold, and have a star in plain text if ``starred``.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    kinds: tuple[Kind | bool, ...]
    total: int = 0
    best: frozenset[tuple[int, int]] = frozenset()
    starred: bool = False

    def __post_init__(self) -> None:
        """Escape control characters: names are untrusted, and no format may obey them."""
        object.__setattr__(self, "title", one_line(self.title))
        object.__setattr__(self, "head", tuple(map(one_line, self.head)))
        rows = tuple(tuple(map(one_line, row)) for row in self.rows)
        object.__setattr__(self, "rows", rows)

    def marked(
        self, best: str, other: str = "{}", escape: Callable[[str], str] = str
    ) -> list[list[str]]:
        """Return the rows, with a format for the best cells and one for the others of their columns."""
        formats = {column: other for _, column in self.best} | dict.fromkeys(
            self.best, best
        )
        return [
            [
                formats.get((at, column), formats.get(column, "{}")).format(escape(one))
                for column, one in enumerate(row)
            ]
            for at, row in enumerate(self.rows)
        ]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """True for columns that are aligned to the right: numbers, p-values, intervals."""
        return tuple(kind not in ("id", "text", False) for kind in self.kinds)

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        title: str = "",
        *,
        digits: int = _DIGITS,
        names: Mapping[str, str] = _NO_NAMES,
        kinds: Mapping[str, Kind] = _NO_NAMES,
    ) -> Table:
        """Return a frame as a table.

        Parameters
        ----------
        frame
            The rows.
        title
            The heading of the table.
        digits
            Decimals.
        names
            Column → its heading, where that is not its name.
        kinds
            Column → its content, where name and type do not show it.

        Examples
        --------
        >>> import polars as pl
        >>> Table.of(pl.DataFrame({"run": ["bm25"], "p_adjusted": [0.00001], "n": [1200]})).rows
        (('bm25', '<0.0001', '1,200'),)
        """
        by_name = {
            name: kinds.get(name) or _kind(name, dtype)
            for name, dtype in frame.schema.items()
        }
        rows = tuple(
            tuple(
                cell(value, name, digits)
                for name, value in zip(by_name, row, strict=True)
            )
            for row in frame.iter_rows()
        )
        head = tuple(
            printable(names.get(name, name.replace("_", " ")), 40) for name in by_name
        )
        return cls(title, head, rows, tuple(by_name.values()))


def _kind(name: str, dtype: pl.DataType) -> Kind:
    if name in _P:
        return "p"
    return "id" if name in _IDS else "number" if dtype.is_numeric() else "text"


def one_line(text: str) -> str:
    """Return a whole text with its control characters escaped."""
    return text if text.isprintable() else printable(text, 10 * len(text))


#: a table, lines under a heading, or a drawing for a terminal
Part = Table | tuple[str, tuple[str, ...]] | Drawing


@dataclass(frozen=True)
class Details:
    """Lines of which a few words are shown unless all of them are wanted."""

    whole: tuple[str, ...]
    brief: tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """Everything that is shown of a result.

    Attributes
    ----------
    title
        The heading; empty for a single table.
    formula, symbols
        Lines below the title.
    parts
        Tables, lines under a heading, and drawings, in their order.
    notes
        Lines below: the audit, and the options that the numbers depend on; of :class:`Details` the whole.
    brief
        The same with :class:`Details` in brief, which is what people see unless they ask for more.
    """

    title: str
    formula: str = ""
    symbols: str = ""
    parts: tuple[Part, ...] = ()
    notes: Sequence[str | Details] = ()
    brief: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Escape control characters: a text is one line in every format, also in a comment of LaTeX."""
        for name in ("title", "formula", "symbols"):
            object.__setattr__(self, name, one_line(getattr(self, name)))
        parts = [
            (one_line(part[0]), tuple(map(one_line, part[1])))
            if isinstance(part, tuple)
            else part
            for part in self.parts
        ]
        object.__setattr__(self, "parts", tuple(parts))
        notes = [
            Details((one,), (one,)) if isinstance(one, str) else one
            for one in self.notes
        ]
        for name, of in (("notes", "whole"), ("brief", "brief")):
            lines = tuple(
                one_line(line) for note in notes for line in getattr(note, of)
            )
            object.__setattr__(self, name, lines)

    def verbose(self) -> Sheet:
        """Return the same with all notes in full."""
        return replace(self)

    @property
    def readable(self) -> tuple[Table | tuple[str, tuple[str, ...]], ...]:
        """The parts that every format shows: all except drawings."""
        return tuple(part for part in self.parts if not isinstance(part, Drawing))


def number(value: float | bool | None, digits: int = _DIGITS) -> str:  # noqa: FBT001 - values that measures record
    """Return a number as it is shown: whole ones whole, others with decimals.

    >>> number(2.0), number(0.63093), number(0.63093, 2), number(True), number(None), number(1e-7)
    ('2', '0.6309', '0.63', 'yes', '–', '1e-07')
    """
    if value is None or isinstance(value, bool):
        return cell(value)
    if value == int(value) and abs(value) < 1e15:  # noqa: PLR2004 - whole as long as floats are
        return str(int(value))
    if abs(value) < 10 ** -max(digits, 1):
        return f"{value:.0e}"
    return f"{value:.{digits}f}"


def cell(value: object, name: str = "", digits: int = _DIGITS) -> str:
    r"""Return a value as it is shown: ids and dates unchanged, – for none, differences with their sign.

    Parameters
    ----------
    value
        The value.
    name
        The name of its column: p-values have two figures.
    digits
        Decimals of fractions.

    Examples
    --------
    >>> cell(0.5), cell(0.031234, "p"), cell(0.5, "difference", 2), cell(1200), cell(None), cell("a\n")
    ('0.5000', '0.031', '+0.50', '1,200', '–', 'a\\n')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if name in _P:
            return (
                f"<{_LEAST}"
                if value < _LEAST
                else f"{value:.2g}"
                if value < 0.1  # noqa: PLR2004 - of titled tables with room
                else f"{value:.2f}"
            )
        return f"{value:+.{digits}f}" if name == "difference" else f"{value:.{digits}f}"
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return (
        f"{value:,}"
        if isinstance(value, int) and name not in _IDS
        else printable(value, 300)
    )


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Shorten names to ``width`` characters: a common beginning is dropped, the middle cut, the end kept.

    Different names stay different; where ``width`` characters are not enough for that, they are longer.

    >>> shortened(["run.large.bm25-k1=0.9", "run.large.bm25-k1=1.2"], 12)
    {'run.large.bm25-k1=0.9': '…k1=0.9', 'run.large.bm25-k1=1.2': '…k1=1.2'}
    >>> shortened(["a dense retriever of 2024", "bm25"], 12)["a dense retriever of 2024"]
    'a d… of 2024'
    """
    known = list(dict.fromkeys(names))
    longest = max(map(len, known), default=0)
    if longest <= width:
        return {name: name for name in known}
    shared = _common_prefix(min(known), max(known)) if len(known) > 1 else ""
    parts = [found.end() for found in _PART.finditer(shared)]
    dropped = parts[-1] if parts else len(shared)
    rest = {name: f"…{name[dropped:]}" if dropped > 1 else name for name in known}
    for most in range(max(width, _SHORTEST), longest + 1):
        for begin in range((most - 1) // 3, most - _END):
            short = {name: _cut(text, most, begin) for name, text in rest.items()}
            if len({*short.values()}) == len(known):
                return short
    return {name: name for name in known}


def _common_prefix(one: str, other: str) -> str:
    """Return the common beginning of two texts; of the first and the last of many, that of all."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(sign for sign, _ in same)


def _cut(text: str, most: int, begin: int) -> str:
    """Cut the middle of a text, ``begin`` characters from its beginning."""
    return text if len(text) <= most else f"{text[:begin]}…{text[begin + 1 - most :]}"


def page_width() -> int:
    """Return the columns of a page: those of ``COLUMNS``, of the terminal, or 80 in a pipe."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return max(shutil.get_terminal_size((_PAPER, 24)).columns, 1)
    return _PAPER


def text(
    sheet: Sheet, width: int, *, notes: int | None = None, styled: bool = False
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
    """
    lines = [part for part in (sheet.title,) if part for part in wrapped(part, width)]
    for line in filter(None, (sheet.formula, sheet.symbols)):
        lines += wrapped(line, width, "  ")
    for part in sheet.parts:
        lines += [""] if lines else []
        if isinstance(part, Drawing):
            lines += part.rows(width, styled=styled)
            continue
        title, *_ = (part.title,) if isinstance(part, Table) else part
        heading = wrapped(title, width) if isinstance(part, Table) else [title]
        lines += heading if title else []
        if isinstance(part, Table):
            lines += _grid(part, width, styled=styled)
        else:
            indent = "  " if title else ""
            lines += [row for line in part[1] for row in wrapped(line, width, indent)]
    notes_below = [row for line in sheet.brief for row in wrapped(line, notes or width)]
    if notes_below and (sheet.title or len(sheet.parts) > 1):
        lines.append("")
    lines += (
        [f"{_DIM}{line}{_PLAIN}" for line in notes_below] if styled else notes_below
    )
    return "\n".join(line.rstrip() for line in lines)


def wrapped(line: str, width: int, indent: str = "") -> list[str]:
    """Wrap a line at ``width`` columns, at blanks; words stay whole, except in Chinese.

    >>> wrapped("alpha beta gamma", 11)
    ['alpha beta', 'gamma']
    """
    lines = []
    now = ""
    room = width - len(indent)
    for word in _words(line):
        if now.strip() and cell_len(now + word.rstrip()) > room:
            lines.append(indent + now.rstrip())
            now = word.lstrip()
        else:
            now += word
    return [*lines, indent + now.rstrip()]


def _words(line: str) -> Iterator[str]:
    """Yield pieces after which a line may break: words with the blanks after them, and wide characters."""
    word = ""
    for sign, after in zip(line, [*line[1:], " "], strict=False):
        word += sign
        if (sign == " " and after != " ") or (
            cell_len(sign) > 1 and after not in "，。；：、）"
        ):
            yield word
            word = ""
    yield word


def _grid(table: Table, width: int, *, styled: bool) -> Iterator[str]:
    """Yield the lines of a table; one that is wider than the page is split into several blocks."""
    rows = table.marked("{}*", "{} ") if table.starred and not styled else table.rows
    columns = [[head, *cells] for head, *cells in zip(table.head, *rows, strict=True)]
    numeric = table.numeric
    need = [
        max([_longest_word(head) if number else cell_len(head), *map(cell_len, cells)])
        for (head, *cells), number in zip(columns, numeric, strict=True)
    ]
    gap = 3 if table.title else 2
    sides = 2 if table.title else 0
    soft = [at for at, number in enumerate(numeric) if not number]
    fixed = sum(need[at] for at in range(len(need)) if numeric[at])
    least = {at: _least(columns[at], need[at], table.kinds[at]) for at in soft}
    if table.title and fixed + sum(least.values()) + gap * len(need) - 1 > width:
        gap = 1
        sides = 0
    room = width - sides - gap * (len(need) - 1)
    # every block begins with the names, and with ranks before them
    names = soft[0] if soft and soft[0] <= _BEFORE else 0
    first = next((at for at in range(names, len(numeric)) if numeric[at]), len(numeric))
    if (
        first < len(need) and fixed + sum(least.values()) > room
    ):  # then numbers are split into blocks
        front = [*range(first)]
        left = room - max((need[at] for at in range(first, len(need))), default=0)
        taken = sum(need[at] for at in range(names))
        _shrink(need, least, front[names:], max(left, width // 2) - taken)
        blocks: list[list[int]] = []
        for at in range(first, len(need)):
            taken = sum(
                need[other] + gap for other in (*front, *(blocks[-1] if blocks else ()))
            )
            if not blocks or taken + need[at] + sides > width:
                blocks.append([])
            blocks[-1].append(at)
    else:
        front = []
        blocks = [[*range(len(need))]]
        _shrink(need, least, soft, room - fixed)
        _widen(need, [cell_len(head) for head, *_ in columns], room)
    fitted = [
        [[line] for line in cells] if numeric[at] else _fitted(cells, need[at])
        for at, (_, *cells) in enumerate(columns)
    ]
    for place, block in enumerate(blocks):
        if place:
            yield ""
        yield from _block(table, [*front, *block], fitted, need, gap, styled=styled)


def _block(
    table: Table,
    shown: Sequence[int],
    cells: list[list[list[str]]],
    need: list[int],
    gap: int,
    *,
    styled: bool,
) -> Iterator[str]:
    """Yield the lines of some columns."""
    heads = {at: wrapped(table.head[at], need[at]) for at in shown}
    lines_of = {
        at: [*heads[at], *(line for lines in cells[at] for line in lines)]
        for at in shown
    }
    wide = {at: max(map(cell_len, lines), default=0) for at, lines in lines_of.items()}
    side = " " if gap == 3 else ""  # noqa: PLR2004 - of titled tables with room
    between = " " * gap

    def filled(column: int, one: str, *, bold: bool) -> str:
        room = " " * (wide[column] - cell_len(one))
        text = room + one if table.numeric[column] else one + room
        return f"{_BOLD}{text}{_PLAIN}" if bold else text

    def row(parts: dict[int, list[str]], at: int = -1) -> Iterator[str]:
        for line in range(max(map(len, parts.values()), default=0)):
            yield side + between.join(
                filled(
                    column,
                    lines[line] if line < len(lines) else "",
                    bold=styled and (at, column) in table.best,
                )
                for column, lines in parts.items()
            )

    for head in row(heads):
        yield f"{_BOLD}{head.rstrip()}{_PLAIN}" if styled else head
    rule = "─" * (sum(wide.values()) + gap * (len(shown) - 1) + 2 * len(side))
    if table.title:
        yield rule
    for at in range(len(table.rows)):
        if table.total and at == len(table.rows) - table.total:
            yield ""
        yield from row({column: cells[column][at] for column in shown}, at)


def _least(column: list[str], need: int, kind: object) -> int:
    """Return the least width of a column: the words of a text stay whole, names stay distinct."""
    names = shortened((one for one in column[1:] if " " not in one), _NAME).values()
    words = map(_longest_word, column) if kind == "text" else map(cell_len, names)
    return min(need, max([_NAME, *words]))


def _shrink(
    need: list[int], least: dict[int, int], soft: Sequence[int], room: int
) -> None:
    """Narrow the widest of some columns until they fit."""
    while sum(need[at] for at in soft) > room:
        narrower = [at for at in soft if need[at] > least[at]]
        if not narrower:
            return
        need[max(narrower, key=lambda at: need[at])] -= 1


def _widen(need: list[int], heads: Sequence[int], room: int) -> None:
    """Widen columns of numbers to their headings where there is room, those that lack least first."""
    for at in sorted(range(len(need)), key=lambda at: heads[at] - need[at]):
        need[at] += (
            max(heads[at] - need[at], 0)
            if heads[at] - need[at] <= room - sum(need)
            else 0
        )


def _fitted(cells: list[str], width: int) -> list[list[str]]:
    """Return the lines of each cell: single words are names that stay distinct, texts wrap."""
    short = shortened((one for one in cells if " " not in one), width)
    return [[short[one]] if one in short else _indented(one, width) for one in cells]


def _indented(one: str, width: int) -> list[str]:
    bare = one.lstrip()
    lines = wrapped(bare, width, one[: len(one) - len(bare)])
    return [part for line in lines for part in _broken(line, width)]


def _broken(line: str, width: int) -> Iterator[str]:
    """Yield a line, split where a word is wider than the column."""
    while cell_len(line) > width:
        at = max(
            (n for n in range(1, len(line)) if cell_len(line[:n]) <= width), default=1
        )
        yield line[:at]
        line = line[at:]
    yield line


def _longest_word(head: str) -> int:
    return max((cell_len(word) for word in head.split()), default=0)
