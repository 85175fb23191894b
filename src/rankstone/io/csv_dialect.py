"""How a CSV file is written: its separator, its encoding, the line above its header, blanks in that.

Comma and UTF-8 are the rule, and such files are read as they stand. Spreadsheets of other countries write
semicolons, a line ``sep=;``, or tabs in UTF-16: what the first block shows is taken, and told.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadLine, EmptyInput, UnknownFormat, printable
from rankstone.io.columns import CsvOptions, Renames, is_known
from rankstone.io.damaged_files import PACKED, no_utf8
from rankstone.io.input_table import reading
from rankstone.io.trec_text import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


#: what begins a text of two bytes a character, in either order
UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
#: formats of text with a header → the separator they are named after
SEPARATORS: Final = {"csv": ",", "tsv": "\t"}
#: bytes at the beginning of a file that are looked at, and rows among them
_BLOCK: Final = 1 << 16
_ROWS: Final = 50
_NAMES: Final = {"\t": "tab", " ": "blank"}


@dataclass(frozen=True, eq=False)
class Dialect:
    """How one file is written.

    Attributes
    ----------
    source
        The file, or its content as UTF-8.
    title
        What to call it in messages.
    separator
        What stands between two cells.
    decimal
        What stands before the fraction of a number; ``None``: the first fraction decides.
    above
        Lines above the header.
    told
        What nobody said and a reader should know.
    head
        The first lines, the header among them.
    """

    source: Path | bytes
    title: str
    separator: str
    decimal: str | None = "."
    above: int = 0
    told: tuple[str, ...] = ()
    head: str = ""

    def refuse_copies(self, header: Sequence[str], counts: Callable[[str], bool]) -> None:
        """Refuse a header that names a column twice, where it is one that counts."""
        refuse_copies(header, f"{self.title}:{self.above + 1}", self.separator.join(header), counts)

    def rows(self) -> list[list[str]]:
        """Return the cells of the first rows."""
        return _rows(self.head, self.separator)[1:]

    def scan(self) -> pl.LazyFrame:
        """Open the file, all columns texts."""
        return pl.scan_csv(
            self.source,
            separator=self.separator,
            skip_lines=self.above,
            infer_schema=False,
            raise_if_empty=False,
            glob=False,
        )


def dialect_of(source: Path | bytes, name: str, kind: str, columns: Mapping[str, str]) -> Dialect:
    """Return how a file is written, by what was said and what its first block shows.

    Parameters
    ----------
    source
        The file, or its content.
    name
        What to call content in messages.
    kind
        ``csv`` or ``tsv``: the separator where another does no better.
    columns
        {their name: our name}; a :class:`~rankstone.io.columns.Renames` brings what was said of CSV.
    """
    title, said = title_of(source, name), CsvOptions.of(columns)
    if isinstance(columns, Renames):
        columns.csv_files.append(title)
    with reading(title):
        source, encoding = _as_utf8(source, title)
        block, whole = _first_block(source)
    text = _decoded(block, title, whole=whole)
    if "\r" in text and "\n" not in text:
        raise BadLine(
            "its lines end in carriage returns, as old Macs wrote them",
            where=title,
            expected="lines that end in newlines",
            fix="tr '\\r' '\\n' < FILE > NEW, or save it as another kind of CSV",
        )
    first, _, rest = text.partition("\n")
    above = int(first.lower().startswith("sep=") and len(first.rstrip("\r")) == len("sep=;"))
    if above and not rest:
        raise EmptyInput("there is a line sep= and nothing below", where=title)
    own = SEPARATORS[kind]
    separator = said.separator or (first[4] if above else _separator(rest if above else text, own, columns))
    told = []
    if separator != own and said.separator is None:
        told.append(f"separator {_shown(separator)}" + (" (its line sep=)" if above else ""))
    told += [encoding] if encoding else []
    decimal = said.decimal or ("." if separator == "," else None)
    return Dialect(source, title, separator, decimal, above, tuple(told), rest if above else text)


def _shown(separator: str) -> str:
    """Return a separator as a message names it."""
    return _NAMES.get(separator, repr(separator))


def _as_utf8(source: Path | bytes, title: str) -> tuple[Path | bytes, str]:
    """Return the source, or its content as UTF-8 where it is UTF-16; and the encoding to tell of."""
    if isinstance(source, bytes):
        signed, content = source[:2], source
    else:
        with source.open("rb") as file:
            signed, content = file.read(2), b""
    if signed not in UTF16:
        return source, ""
    content = content or source.read_bytes()  # type: ignore[union-attr] # bytes are never empty here
    try:
        return content.decode("utf-16").encode(), "UTF-16"
    except UnicodeError as error:
        raise UnknownFormat(
            "the text begins as UTF-16 and does not go on so", where=title, given=printable(error)
        ) from error


def _first_block(source: Path | bytes) -> tuple[bytes, bool]:
    """Return the first bytes of a source, unpacked, and whether these are all."""
    if isinstance(source, bytes):
        return source[:_BLOCK], len(source) <= _BLOCK
    with source.open("rb") as file:
        block = file.read(_BLOCK + 1)
    if block.startswith(PACKED):
        lines = pl.scan_lines(source, name="text", n_rows=_ROWS + 1, glob=False).collect()["text"]
        return "\n".join(lines).encode(), len(lines) <= _ROWS
    return block[:_BLOCK], len(block) <= _BLOCK


def _decoded(block: bytes, title: str, *, whole: bool) -> str:
    """Return the first block as text; of one that goes on, the lines that end in it."""
    block = block if whole else block[: block.rfind(b"\n") + 1]
    header, end, rows = block.partition(b"\n")  # names of columns that nobody reads may be anything
    try:
        return header.decode("utf-8-sig", "replace") + end.decode() + rows.decode()
    except UnicodeDecodeError as error:
        line = block.count(b"\n", 0, len(header) + 1 + error.start)
        raise no_utf8(block.split(b"\n")[line], f"{title}:{line + 1}") from error


def _separator(text: str, own: str, columns: Mapping[str, str]) -> str:
    """Return the separator under which the header names most columns we know, and rows are as long as it."""
    candidates = (own, *(other for other in (",", ";", "\t") if other != own))
    return max(candidates, key=lambda separator: _fitness(text, separator, columns))


def _fitness(text: str, separator: str, columns: Mapping[str, str]) -> tuple[int, bool, float, int]:
    rows = _rows(text, separator)
    header, others = (rows[0], rows[1:]) if rows else ([], [])
    names = [name.strip() for name in header]
    known = sum(name in columns or is_known(name) for name in names)
    fitting = sum(len(row) == len(header) for row in others) / len(others) if others else 1.0
    return known, len(header) > 1, fitting, len(header)


def _rows(text: str, separator: str) -> list[list[str]]:
    try:
        return list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=separator), _ROWS))
    except csv.Error:
        return []


def has_header(source: Path | bytes, columns: Mapping[str, str]) -> bool:
    """Say whether a text whose suffix says nothing is a table: tabs, and a header that names its queries.

    So is what Excel calls “Unicode text” and “text (tab delimited)”.
    """
    block = _first_block(source)[0]
    text = block.decode("utf-16" if block[:2] in UTF16 else "utf-8-sig", "ignore")
    names = [name.strip().strip('"') for name in text.partition("\n")[0].split("\t")]
    return len(names) > 1 and any(columns.get(name, name) == "query_id" for name in names)


def clean_names(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the names of a header that have blanks around them, and what they are without.

    One that somebody renames as it stands stays as it is, and so does one that would be there twice.

    >>> clean_names(["Query ", "doc_id", " x", "x"], {})
    {'Query ': 'Query'}
    """
    bare = [name.strip() for name in names]
    return {
        name: clean
        for name, clean in zip(names, bare, strict=True)
        if name != clean and name not in columns and bare.count(clean) == 1
    }


def refuse_copies(names: Sequence[str], where: str, given: str, counts: Callable[[str], bool]) -> None:
    """Refuse a header that names a column twice, blanks aside, where it is one that counts.

    Parameters
    ----------
    names
        The names in it.
    where
        Where it stands.
    given
        The header as it stands.
    counts
        Says whether a column counts.
    """
    seen: set[str] = set()
    for name in names:
        first = re.sub(r"_duplicated_\d+$", "", name)  # as the reader calls further ones
        bare = (first if first in names else name).strip()
        if bare in seen and counts(bare):
            raise BadLine(
                f"the header has {printable(bare)} twice",
                where=where,
                given=printable(given),
                expected="each column once",
            )
        seen.add(bare)
