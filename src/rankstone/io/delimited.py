"""CSV and TSV: texts with a header, whose ids stay the text they are."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from rankstone.errors import EmptyInput
from rankstone.io.broken import broken_row
from rankstone.io.columns import CANONICAL, hidden, is_known, is_text, lacking, renames
from rankstone.io.decimals import Decimals, decimal_text, with_fractions
from rankstone.io.dialects import Dialect, clean_names, dialect_of
from rankstone.io.exact import refuse_inexact
from rankstone.io.table import ROWS, Table, reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["delimited", "line_of", "scan_delimited", "whole_rows"]


def scan_delimited(dialect: Dialect, columns: Mapping[str, str]) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Open CSV or TSV with a header, all columns texts, and say what was guessed of how it is written.

    Names are without the blanks around them, and numbers with a decimal comma get a point.
    """
    frame = dialect.scan()
    header = frame.collect_schema().names()
    dialect.refuse_copies(header, lambda name: name in columns or is_known(name))
    fractions, told = with_fractions(dialect, header)
    frame = frame.with_columns(decimal_text(pl.col(name)) for name in fractions) if fractions else frame
    clean = clean_names(header, columns)
    return frame.rename(clean) if clean else frame, (*dialect.told, *told)


def whole_rows(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return the table, read with all its columns whichever are asked for.

    A reader that is asked for some columns passes over rows with more cells than the header.
    """
    return frame.map_batches(_as_it_is, projection_pushdown=False, streamable=True)


def _as_it_is(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


def line_of(dialect: Dialect, row: int) -> int:
    """Return the line that a row begins in, counted from 0 and 1; quoted cells may go over several."""
    breaks = 0
    with suppress(pl.exceptions.PolarsError):  # broken further down, which another message is about
        above = dialect.scan().head(row)
        counted = above.select(pl.all().str.count_matches("\n", literal=True).sum()).collect()
        breaks = sum(counted.row(0)) if counted.width else 0
        breaks += sum(name.count("\n") for name in counted.columns)
    return dialect.above + 2 + row + breaks


def delimited(
    sources: Sequence[Path | bytes],
    name: str,
    kind: str,
    columns: Mapping[str, str],
    further: Sequence[str] = (),
) -> Table:
    """Read CSV or TSV with a header; ids stay the text they are, numbers are checked.

    Parameters
    ----------
    sources
        Paths, or the content itself.
    name
        What to call content in messages.
    kind
        ``csv`` or ``tsv``.
    columns
        {their name: our name}.
    further
        Columns wanted beside the usual ones.
    """
    wanted = tuple(dict.fromkeys((*CANONICAL, *further)))
    readers = [_Delimited(dialect_of(source, name, kind, columns), columns, wanted) for source in sources]
    schemas = [reader.schema() for reader in readers]
    headers = [reader.frame.collect_schema().names() for reader in readers]
    known = {name: dtype for schema in schemas for name, dtype in schema.items()}
    short = {
        name: lacking(name, reader.dialect.title, header)
        for reader, header in zip(readers, headers, strict=True)
        for name in known
        if name not in header
    }
    schema = {name: dtype for name, dtype in known.items() if name not in short}
    present = tuple(dict.fromkeys(name for header in headers for name in header))

    def start(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for reader in readers:
            for piece in reader.pieces():
                yield piece.select(wanted)

    def where(row: int) -> str:
        for reader in readers:
            if row < reader.rows:
                return reader.place(row)
            row -= reader.rows
        return name

    def read_as() -> tuple[str, ...]:
        return tuple(dict.fromkeys(told for reader in readers for told in reader.told()))

    return Table(name, schema, start, where, untyped=True, present=present, unusable=short, read_as=read_as)


@dataclass
class _Delimited:
    dialect: Dialect
    renamed: Mapping[str, str]
    wanted: tuple[str, ...]
    rows: int = 0
    header: list[str] = field(default_factory=list)
    frame: pl.LazyFrame = field(init=False)
    decimals: Decimals = field(init=False)

    def __post_init__(self) -> None:
        self.frame = self.dialect.scan()
        self.decimals = Decimals(self.dialect.decimal, self.dialect.separator)

    def schema(self) -> dict[str, pl.DataType]:
        with reading(self.dialect.title):
            names = self.frame.collect_schema().names()
        if not names:
            raise EmptyInput("the file is empty", where=self.dialect.title)
        if not self.header:
            self._name(names)
        names = self.frame.collect_schema().names()
        return {n: pl.String() if is_text(n) else pl.Float64() for n in self.wanted if n in names}

    def _name(self, header: list[str]) -> None:
        """Give columns our names; of a header that names one of these twice, none."""
        self.header, given = header, self.renamed
        self.dialect.refuse_copies(header, lambda name: given.get(name, name) in self.wanted)
        clean = clean_names(header, given)
        names = [clean.get(name, name) for name in header]
        chosen = renames(names, given, self.dialect.title)
        unread = hidden(names, chosen)
        if unread or not {chosen.get(name, name) for name in names} <= {*self.wanted}:
            self.frame = whole_rows(self.frame)
        self.frame = self.frame.rename(clean).drop(unread).rename(chosen)

    def _batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        dialect = self.dialect
        with reading(dialect.title):
            try:
                yield from self.frame.select(columns).collect_batches(chunk_size=ROWS)
            except pl.exceptions.PolarsError as error:
                broken = broken_row(
                    dialect.source, dialect.title, dialect.separator, self.header, dialect.above
                )
                raise (broken or error) from error

    def pieces(self) -> Iterator[pl.DataFrame]:
        schema = self.schema()
        numbers = [name for name, dtype in schema.items() if dtype == pl.Float64]
        self.rows = 0
        self.decimals.start()
        for piece in self._batches(list(schema)):
            read = self.decimals.read(piece.select(numbers), self._place_below)
            for column in read:
                written = self.decimals.with_points(piece[column.name])
                refuse_inexact(written, column.name, self.place, self.rows)
            self.rows += piece.height
            yield piece.with_columns(read)

    def _place_below(self, row: int) -> str:
        return self.place(self.rows + row)

    def place(self, row: int) -> str:
        """Say where a row stands."""
        return f"{self.dialect.title}:{line_of(self.dialect, row)}"

    def told(self) -> tuple[str, ...]:
        """Return what was found out of how the file is written."""
        return (*self.dialect.told, *self.decimals.told())
