"""Sheets: the lines and tables that are shown of a result, before a format is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from rankstone.errors import printable
from rankstone.tables.drawing import Drawing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl


#: the content of a column: ids stay distinct however narrow the page is, texts wrap at words, verdicts are
#: words that a page of text may show as signs
Kind = Literal["number", "p", "interval", "id", "text", "verdict"]

#: digits after the point
_DIGITS: Final = 4
#: a smaller p is shown as being below this
_LEAST_P: Final = 0.0001
#: a smaller p has two figures, a larger one two decimals
_SMALL_P: Final = 0.1
#: floats from this one on are all whole
_WHOLE_FROM: Final = 1e15
#: characters of a text, and of a heading
_MAX_TEXT: Final = 300
_MAX_HEADING: Final = 40
#: columns of ids, whose whole numbers have no separators
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
_P_VALUES: Final = ("p", "p_adjusted", "p_sign", "p_randomisation")
_NO_NAMES: Final[Mapping[str, Any]] = MappingProxyType({})


def number(value: float | bool | None, digits: int = _DIGITS) -> str:  # noqa: FBT001 - values that measures record
    """Return a number as it is shown: whole ones whole, others with decimals.

    >>> number(2.0), number(0.63093), number(0.63093, 2), number(True), number(None), number(1e-7)
    ('2', '0.6309', '0.63', 'yes', '–', '1e-07')
    """
    if value is None or isinstance(value, bool):
        return cell(value)
    if value == int(value) and abs(value) < _WHOLE_FROM:
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
        return _fraction(value, name, digits)
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    if isinstance(value, int) and name not in _IDS:
        return f"{value:,}"
    return printable(value, _MAX_TEXT)


def _fraction(value: float, name: str, digits: int) -> str:
    if name == "difference":
        return f"{value:+.{digits}f}"
    if name not in _P_VALUES:
        return f"{value:.{digits}f}"
    if value < _LEAST_P:
        return f"<{_LEAST_P}"
    return f"{value:.2g}" if value < _SMALL_P else f"{value:.2f}"


def one_line(text: str) -> str:
    """Return a whole text with its control characters escaped."""
    return text if text.isprintable() else printable(text, 10 * len(text))


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
    signs
        Word of a verdict → the sign that a page of text shows for it, explained behind its title.
    is_signed
        Whether Markdown shows the sign before the word: a summary that is skimmed.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    kinds: tuple[Kind | bool, ...]
    total: int = 0
    best: frozenset[tuple[int, int]] = frozenset()
    starred: bool = False
    signs: Mapping[str, str] = field(default_factory=dict)
    is_signed: bool = False

    def __post_init__(self) -> None:
        """Escape control characters: names are untrusted, and no format may obey them."""
        object.__setattr__(self, "title", one_line(self.title))
        object.__setattr__(self, "head", tuple(map(one_line, self.head)))
        rows = tuple(tuple(map(one_line, row)) for row in self.rows)
        object.__setattr__(self, "rows", rows)

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
        head = []
        column_kinds = []
        for name, dtype in frame.schema.items():
            heading = names.get(name, name.replace("_", " "))
            head.append(printable(heading, _MAX_HEADING))
            column_kinds.append(kinds.get(name) or _kind(name, dtype))

        rows = []
        for values in frame.iter_rows():
            named = zip(values, frame.columns, strict=True)
            rows.append(tuple(cell(value, name, digits) for value, name in named))
        return cls(title, tuple(head), tuple(rows), tuple(column_kinds))

    @property
    def numeric(self) -> tuple[bool, ...]:
        """True for columns that are aligned to the right: numbers, p-values, intervals."""
        return tuple(
            kind not in ("id", "text", "verdict", False) for kind in self.kinds
        )

    def with_signs(self) -> tuple[Table, str]:
        """Return the table with signs in place of verdicts, and what explains those that occur."""
        places = [place for place, kind in enumerate(self.kinds) if kind == "verdict"]
        occurring = {row[place] for row in self.rows for place in places}
        if not occurring & {*self.signs}:
            return self, ""
        head = tuple(
            "" if kind == "verdict" else text
            for text, kind in zip(self.head, self.kinds, strict=True)
        )
        rows = tuple(
            tuple(
                self.signs.get(text, text) if place in places else text
                for place, text in enumerate(row)
            )
            for row in self.rows
        )
        key = [
            f"{sign} {word}" for word, sign in self.signs.items() if word in occurring
        ]
        return replace(self, head=head, rows=rows), f"({', '.join(key)})"

    def with_signed_words(self) -> Table:
        """Return the table with signs before the words of verdicts, where it is signed."""
        if not self.is_signed:
            return self
        words = {word: f"{sign} {word}" for word, sign in self.signs.items()}
        rows = tuple(tuple(words.get(text, text) for text in row) for row in self.rows)
        return replace(self, rows=rows)

    def marked(
        self, best: str, other: str = "{}", escape: Callable[[str], str] = str
    ) -> list[list[str]]:
        """Return the rows, with a format for the best cells and one for the others of their columns."""
        best_columns = {column for _, column in self.best}
        rows = []
        for row, texts in enumerate(self.rows):
            marked = []
            for column, text in enumerate(texts):
                template = other if column in best_columns else "{}"
                if (row, column) in self.best:
                    template = best
                marked.append(template.format(escape(text)))
            rows.append(marked)
        return rows


def _kind(name: str, dtype: pl.DataType) -> Kind:
    if name in _P_VALUES:
        return "p"
    if name in _IDS:
        return "id"
    return "number" if dtype.is_numeric() else "text"


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
    whole
        Draws the sheet with the rows that only some people want, where there are any.
    more
        What that sheet has beyond this one, in a line; empty where notes or tables say it.
    """

    title: str
    formula: str = ""
    symbols: str = ""
    parts: tuple[Part, ...] = ()
    notes: Sequence[str | Details] = ()
    brief: tuple[str, ...] = field(init=False)
    whole: Callable[[], Sheet] | None = None
    more: str = ""

    def __post_init__(self) -> None:
        """Escape control characters: a text is one line in every format, also in a comment of LaTeX."""
        for name in ("title", "formula", "symbols"):
            object.__setattr__(self, name, one_line(getattr(self, name)))

        parts: list[Part] = []
        for part in self.parts:
            if isinstance(part, tuple):
                title, lines = part
                parts.append((one_line(title), tuple(map(one_line, lines))))
            else:
                parts.append(part)
        object.__setattr__(self, "parts", tuple(parts))

        whole: list[str] = []
        brief: list[str] = []
        for note in self.notes:
            details = Details((note,), (note,)) if isinstance(note, str) else note
            whole += map(one_line, details.whole)
            brief += map(one_line, details.brief)
        object.__setattr__(self, "notes", tuple(whole))
        object.__setattr__(self, "brief", tuple(brief))

    def verbose(self) -> Sheet:
        """Return the same with all rows, and all notes in full."""
        return replace(self) if self.whole is None else self.whole().verbose()

    @property
    def readable(self) -> tuple[Table | tuple[str, tuple[str, ...]], ...]:
        """The parts that every format shows: all except drawings."""
        return tuple(part for part in self.parts if not isinstance(part, Drawing))
