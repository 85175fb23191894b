"""The dialect of a CSV file: separator, encoding, the line above the header, blanks in the header.

Most files have commas and UTF-8 and are read as they are.  Spreadsheets of some countries write semicolons, a
line ``sep=;``, or tabs in UTF-16: this is detected in the first block and noted in the audit.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import islice
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import Record
from rankstone.errors import BadLine, EmptyInput, printable
from rankstone.io.column_suggestions import is_common_name
from rankstone.io.columns import CsvOptions, Renames, is_known
from rankstone.io.damaged_files import PACKED
from rankstone.io.exact_numbers import is_number
from rankstone.io.shapes.recognition import is_row
from rankstone.io.shapes.shape import known_shapes
from rankstone.io.sources import UTF16, as_utf8
from rankstone.io.trec_text import title_of
from rankstone.io.unreadable_files import no_utf8, reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rankstone._basics import Columns


#: formats of text with a header → their default separator
SEPARATORS: Final = {"csv": ",", "tsv": "\t"}
#: bytes at the beginning of a file, and rows among them, in which the dialect is detected
_BLOCK: Final = 1 << 16
_ROWS: Final = 50
#: rows at the top of a table among which the header is
TOP: Final = 5
#: columns whose common names show a header
_PAIR: Final = ("query_id", "doc_id")
#: bytes in which the end of a header is looked for
_HEADER: Final = 1 << 12
_SEPARATORS: Final = (",", ";", "\t")
_NAMES: Final = {"\t": "tab", " ": "blank"}
#: the end of a name as the reader names further copies of a column
_FURTHER: Final = r"_duplicated_\d+\b"


class Dialect(Record):
    """The dialect of one file.

    Attributes
    ----------
    source
        The file, or its content as UTF-8.
    title
        Its name in messages.
    separator
        The separator of cells.
    decimal
        The decimal separator; with ``None`` the first fraction decides.
    above
        Lines above the header.
    header
        False where the first row is data, and columns are named by their positions from 1.
    notes
        What was detected and a reader should know.
    head
        The first lines with the header.
    """

    source: Path | bytes
    title: str
    separator: str
    decimal: str | None = "."
    above: int = 0
    notes: tuple[str, ...] = ()
    head: str = ""
    header: bool = True

    def refuse_copies(
        self, header: Sequence[str], matters: Callable[[str], bool]
    ) -> None:
        """Refuse a header that has a column twice, if the column ``matters``."""
        where = f"{self.title}:{self.above + 1}"
        given = self.separator.join(header)
        refuse_copies(header, where, given, matters)

    def rows(self) -> list[list[str]]:
        """Return the cells of the first rows."""
        rows = _rows(self.head, self.separator)
        if self.header:
            return rows[1:]
        return rows

    def scan(self) -> pl.LazyFrame:
        """Open the file with all columns as text."""
        return pl.scan_csv(
            self.source,
            separator=self.separator,
            skip_lines=self.above,
            has_header=self.header,
            with_column_names=None if self.header else _positions,
            infer_schema=False,
            raise_if_empty=False,
            glob=False,
        )


def dialect_of(source: Path | bytes, name: str, kind: str, columns: Columns) -> Dialect:
    """Return the dialect of a file, from the settings and from its first block.

    Parameters
    ----------
    source
        The file, or its content.
    name
        The name of content in messages.
    kind
        ``csv`` or ``tsv``: the default separator.
    columns
        {their name: our name}; a :class:`~rankstone.io.columns.Renames` has the settings of CSV files.
    """
    title = title_of(source, name)
    settings = CsvOptions.of(columns)
    if isinstance(columns, Renames):
        columns.csv_files.append(title)
    with reading(title):
        source, encoding = as_utf8(source, title)
        block, whole = _first_block(source)
    text = _decoded(block, title, whole=whole)
    if "\r" in text and "\n" not in text:
        raise BadLine(
            "its lines end in carriage returns only, as on old Macs",
            where=title,
            expected="lines that end in newlines",
            fix="tr '\\r' '\\n' < FILE > NEW, or save it as another kind of CSV",
        )
    first, _, rest = text.partition("\n")
    named = re.fullmatch(r"(?i:sep=)(.)", first.rstrip("\r"))
    if named and not rest:
        raise EmptyInput("there is nothing below the line sep=", where=title)
    lines = text
    above = 0
    if named:
        lines = rest
        above = 1
    default = SEPARATORS[kind]
    separator = settings.separator or (named and named[1])
    if not separator:
        separator = _separator(text, default, columns)
    rows = _rows(lines, separator)
    header = settings.header and not _are_positions(columns, rows)
    if header:
        _refuse_titles(lines, separator, f"{title}:{above + 1}")
    notes = []
    if separator != default and settings.separator is None:
        note = f"separator {_NAMES.get(separator, repr(separator))}"
        notes.append(f"{note} (from its line sep=)" if named else note)
    further = (encoding, "" if header else "no header")
    notes += filter(None, further)
    usual_decimal = None
    if separator == ",":
        usual_decimal = "."
    decimal = settings.decimal or usual_decimal
    return Dialect(
        source, title, separator, decimal, above, tuple(notes), lines, header
    )


def _refuse_titles(lines: str, separator: str, where: str) -> None:
    """Refuse a title above the header, which may hide the separator."""
    refuse_title(_rows(lines, separator), where)
    first = lines.partition("\n")[0]
    if not re.search(r"[,;\t|]", first):
        for other in _SEPARATORS:
            refuse_title(_rows(lines, other), where)


def _positions(names: Sequence[str]) -> list[str]:
    """Return the names of the columns of a table without a header."""
    return [str(number) for number in range(1, len(names) + 1)]


def _are_positions(columns: Columns, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether columns are named by their positions, above a first row that is data."""
    if not columns.keys() or not all(theirs.isdigit() for theirs in columns):
        return False
    return bool(rows) and is_row(rows[0], is_known)


def _first_block(source: Path | bytes) -> tuple[bytes, bool]:
    """Return the first bytes of a source, unpacked, and True if there are no more."""
    if isinstance(source, bytes):
        return source[:_BLOCK], len(source) <= _BLOCK
    with source.open("rb") as file:
        block = file.read(_BLOCK + 1)
    if block.startswith(PACKED):
        text = pl.scan_lines(source, name="text", n_rows=_ROWS + 1, glob=False)
        lines = text.collect()["text"]
        return "\n".join(lines).encode(), len(lines) <= _ROWS
    return block[:_BLOCK], len(block) <= _BLOCK


def _decoded(block: bytes, title: str, *, whole: bool) -> str:
    """Return the first block as text, without a line that is cut off."""
    if not whole:
        end = block.rfind(b"\n") + 1
        block = block[:end]
    header, newline, rows = block.partition(b"\n")
    # names of columns that are not read may be invalid
    names = header.decode("utf-8-sig", "replace")
    try:
        return names + newline.decode() + rows.decode()
    except UnicodeDecodeError as error:
        line = block.count(b"\n", 0, len(header) + 1 + error.start)
        text = block.split(b"\n")[line]
        raise no_utf8(text, f"{title}:{line + 1}") from error


def _separator(text: str, default: str, columns: Columns) -> str:
    """Return the separator with the most known columns in the header and rows of the same length."""
    candidates = dict.fromkeys((default, *_SEPARATORS))
    return max(candidates, key=lambda separator: _fitness(text, separator, columns))


def _fitness(
    text: str, separator: str, columns: Columns
) -> tuple[int, bool, float, int]:
    header, *others = _rows(text, separator) or [[]]
    width = len(header)
    names = [name.strip() for name in header]
    known = sum(name in columns or is_known(name) for name in names)
    of_same_width = sum(len(row) == width for row in others)
    share = of_same_width / len(others) if others else 1.0
    return known, width > 1, share, width


def _rows(text: str, separator: str) -> list[list[str]]:
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=separator)
    try:
        return list(islice(rows, _ROWS))
    except csv.Error:
        return []


def table_in_text(
    source: Path | bytes, columns: Columns, *, any_names: bool = False
) -> str | None:
    """Return the format of a text whose first line is a header with a column of queries; ``None`` for others.

    Excel's “Unicode text” and “text (tab delimited)” are such tables.  With ``any_names`` every header
    counts whose names are no numbers.
    """
    block, _ = _first_block(source)
    head = block[:_HEADER]
    encoding = "utf-16" if head[:2] in UTF16 else "utf-8-sig"
    text = head.decode(encoding, "ignore")
    first = text.partition("\n")[0]
    for separator in _SEPARATORS:
        names = [name.strip().strip('"') for name in first.split(separator)]
        ours = [columns.get(name, name) for name in names]
        if len(names) > 1 and (
            _names_queries(ours) or (any_names and not any(map(is_number, names)))
        ):
            return "tsv" if separator == "\t" else "csv"
    return None


def _names_queries(names: Sequence[str]) -> bool:
    """Return whether names are those of a table: ours, or of a known shape."""
    if "query_id" in names:
        return True
    if any(map(is_number, names)):
        return False
    if all(any(is_common_name(n, [ours]) for n in names) for ours in _PAIR):
        return True
    return any(
        shape.columns and {*shape.columns} <= {*names} for shape in known_shapes()
    )


def clean_names(names: Sequence[str], columns: Columns) -> dict[str, str]:
    """Return {name: name without blanks around it} for the names of a header that have some.

    A name that is renamed as it is stays, and so does one that would occur twice.

    >>> clean_names(["Query ", "doc_id", " x", "x"], {})
    {'Query ': 'Query'}
    """
    bare = [name.strip() for name in names]
    return {
        name: clean
        for name, clean in zip(names, bare, strict=True)
        if name != clean and name not in columns and bare.count(clean) == 1
    }


def refuse_title(rows: Sequence[Sequence[str | None]], where: str) -> None:
    """Refuse a table whose first row is a title: a single text above a row of several, or texts above a header."""
    filled = [[cell for cell in row if cell] for row in rows[:TOP]]
    first, *others = [*filter(None, filled)] or [[]]
    is_title = len(first) == 1 < max(map(len, others[:1]), default=0)
    is_title |= not _names_queries(first) and any(map(_names_queries, others))
    # the index of a frame has no name
    if is_title and rows[0] and rows[0][0] and not is_known(rows[0][0]):
        raise BadLine(
            "the first row is a title, and no header",
            where=where,
            given=printable(", ".join(first), 60),
            expected="names of columns in the first row",
            fix="delete the rows above the header",
        )


def refuse_copies(
    names: Sequence[str], where: str, given: str, matters: Callable[[str], bool]
) -> None:
    """Refuse a header that has a column twice, blanks aside, if the column matters.

    Parameters
    ----------
    names
        The names in it.
    where
        Its place, for the message.
    given
        The header as it is.
    matters
        Returns True for columns that are read.
    """
    earlier: set[str] = set()
    for name in names:
        first = re.sub(_FURTHER, "", name)
        bare = (first if first in names else name).strip()
        if bare in earlier and matters(bare):
            raise BadLine(
                f"the header has {printable(bare)} twice",
                where=where,
                given=printable(re.sub(_FURTHER, "", given)),
                expected="each column once",
            )
        earlier.add(bare)
