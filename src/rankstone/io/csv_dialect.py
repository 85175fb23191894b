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
from rankstone.io.damaged_files import PACKED, no_utf8
from rankstone.io.input_table import reading
from rankstone.io.python_rows import is_number
from rankstone.io.shapes.recognition import is_row
from rankstone.io.shapes.shape import known_shapes
from rankstone.io.sources import UTF16, as_utf8
from rankstone.io.trec_text import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


#: formats of text with a header → their default separator
SEPARATORS: Final = {"csv": ",", "tsv": "\t"}
#: bytes at the beginning of a file, and rows among them, in which the dialect is detected
_BLOCK: Final = 1 << 16
_ROWS: Final = 50
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
        refuse_copies(
            header,
            f"{self.title}:{self.above + 1}",
            self.separator.join(header),
            matters,
        )

    def rows(self) -> list[list[str]]:
        """Return the cells of the first rows."""
        return _rows(self.head, self.separator)[self.header :]

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


def dialect_of(
    source: Path | bytes, name: str, kind: str, columns: Mapping[str, str]
) -> Dialect:
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
    above = int(
        first.lower().startswith("sep=") and len(first.rstrip("\r")) == len("sep=;")
    )
    if above and not rest:
        raise EmptyInput("there is nothing below the line sep=", where=title)
    default = SEPARATORS[kind]
    separator = settings.separator or (
        first[4] if above else _separator(text, default, columns)
    )
    lines = rest if above else text
    header = settings.header and not _are_positions(columns, _rows(lines, separator))
    hidden = not re.search(r"[,;\t|]", lines.partition("\n")[0])  # by a title
    for other in (separator, *(_SEPARATORS if hidden else ())) if header else ():
        refuse_title(_rows(lines, other), f"{title}:{above + 1}")
    notes = []
    if separator != default and settings.separator is None:
        name = _NAMES.get(separator, repr(separator))
        notes.append(f"separator {name}" + (" (from its line sep=)" if above else ""))
    notes += [encoding] if encoding else []
    decimal = settings.decimal or ("." if separator == "," else None)
    if not header:
        notes.append("no header")
    return Dialect(
        source, title, separator, decimal, above, tuple(notes), lines, header
    )


def _positions(names: Sequence[str]) -> list[str]:
    """Return the names of the columns of a table without a header."""
    return [str(number) for number in range(1, len(names) + 1)]


def _are_positions(columns: Mapping[str, str], rows: Sequence[Sequence[str]]) -> bool:
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
        lines = pl.scan_lines(
            source, name="text", n_rows=_ROWS + 1, glob=False
        ).collect()["text"]
        return "\n".join(lines).encode(), len(lines) <= _ROWS
    return block[:_BLOCK], len(block) <= _BLOCK


def _decoded(block: bytes, title: str, *, whole: bool) -> str:
    """Return the first block as text, without a line that is cut off."""
    block = block if whole else block[: block.rfind(b"\n") + 1]
    header, end, rows = block.partition(
        b"\n"
    )  # names of columns that are not read may be invalid
    try:
        return header.decode("utf-8-sig", "replace") + end.decode() + rows.decode()
    except UnicodeDecodeError as error:
        line = block.count(b"\n", 0, len(header) + 1 + error.start)
        raise no_utf8(block.split(b"\n")[line], f"{title}:{line + 1}") from error


def _separator(text: str, default: str, columns: Mapping[str, str]) -> str:
    """Return the separator with the most known columns in the header and rows of the same length."""
    candidates = dict.fromkeys((default, *_SEPARATORS))
    return max(candidates, key=lambda separator: _fitness(text, separator, columns))


def _fitness(
    text: str, separator: str, columns: Mapping[str, str]
) -> tuple[int, bool, float, int]:
    rows = _rows(text, separator)
    header, others = (rows[0], rows[1:]) if rows else ([], [])
    names = [name.strip() for name in header]
    known = sum(name in columns or is_known(name) for name in names)
    fitting = (
        sum(len(row) == len(header) for row in others) / len(others) if others else 1.0
    )
    return known, len(header) > 1, fitting, len(header)


def _rows(text: str, separator: str) -> list[list[str]]:
    try:
        return list(
            islice(
                csv.reader(io.StringIO(text, newline=""), delimiter=separator), _ROWS
            )
        )
    except csv.Error:
        return []


def table_in_text(source: Path | bytes, columns: Mapping[str, str]) -> str | None:
    """Return the format of a text whose first line is a header with a column of queries; ``None`` for others.

    Excel's “Unicode text” and “text (tab delimited)” are such tables.
    """
    block = _first_block(source)[0][:_HEADER]
    text = block.decode("utf-16" if block[:2] in UTF16 else "utf-8-sig", "ignore")
    first = text.partition("\n")[0]
    for kind, separator in SEPARATORS.items():
        names = [name.strip().strip('"') for name in first.split(separator)]
        if len(names) > 1 and _names_queries([columns.get(n, n) for n in names]):
            return kind
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


def clean_names(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
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
    """Refuse a table whose first row is a title: a single text, above a row of several."""
    top, *below = [sum(map(bool, row)) for row in rows[:2]] or [0]
    if top == 1 < sum(below) and (first := rows[0][0]) and not is_known(first):
        raise BadLine(
            "the first row is a title, and no header",
            where=where,
            given=printable(first, 60),
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
