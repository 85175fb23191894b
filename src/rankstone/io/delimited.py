"""CSV and TSV: texts with a header, whose ids stay the text they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from rankstone.errors import BadLine, EmptyInput, printable
from rankstone.io.broken import broken_row
from rankstone.io.columns import CANONICAL, hidden, is_text, lacking, renames
from rankstone.io.table import ROWS, Table, reading
from rankstone.io.text import title_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["delimited", "scan_delimited", "whole_rows"]


def scan_delimited(source: Path | bytes, separator: str) -> pl.LazyFrame:
    """Open CSV or TSV with a header, all columns texts."""
    return pl.scan_csv(source, separator=separator, infer_schema=False, raise_if_empty=False, glob=False)


def whole_rows(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return the table, read with all its columns whichever are asked for.

    A reader that is asked for some columns passes over rows with more cells than the header.
    """
    return frame.map_batches(_as_it_is, projection_pushdown=False, streamable=True)


def _as_it_is(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


def delimited(
    sources: Sequence[Path | bytes],
    name: str,
    separator: str,
    columns: Mapping[str, str],
    further: Sequence[str] = (),
) -> Table:
    """Read CSV or TSV with a header; ids stay the text they are, numbers are checked."""
    frames = [scan_delimited(source, separator) for source in sources]
    titles = [title_of(source, name) for source in sources]
    wanted = tuple(dict.fromkeys((*CANONICAL, *further)))
    readers = [
        _Delimited(frame, source, title, separator, columns, wanted)
        for frame, source, title in zip(frames, sources, titles, strict=True)
    ]
    schemas = [reader.schema() for reader in readers]
    headers = [reader.frame.collect_schema().names() for reader in readers]
    known = {name: dtype for schema in schemas for name, dtype in schema.items()}
    short = {
        name: lacking(name, title, header)
        for title, header in zip(titles, headers, strict=True)
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
                return f"{reader.title}:{row + 2}"
            row -= reader.rows
        return name

    return Table(name, schema, start, where, untyped=True, present=present, unusable=short)


@dataclass
class _Delimited:
    frame: pl.LazyFrame
    source: Path | bytes
    title: str
    separator: str
    renamed: Mapping[str, str]
    wanted: tuple[str, ...] = CANONICAL
    rows: int = 0
    header: list[str] = field(default_factory=list)

    def schema(self) -> dict[str, pl.DataType]:
        with reading(self.title):
            names = self.frame.collect_schema().names()
        if not names:
            raise EmptyInput("the file is empty", where=self.title)
        first, self.header = not self.header, self.header or names
        chosen = renames(names, self.renamed, self.title)
        self._refuse_copies(names, chosen)
        unread = hidden(names, chosen)
        if first and (unread or not {chosen.get(name, name) for name in names} <= {*self.wanted}):
            self.frame = whole_rows(self.frame)
        self.frame, self.renamed = self.frame.drop(unread).rename(chosen), {}
        names = self.frame.collect_schema().names()
        return {n: pl.String() if is_text(n) else pl.Float64() for n in self.wanted if n in names}

    def _refuse_copies(self, names: Sequence[str], chosen: Mapping[str, str]) -> None:
        """Refuse a header that names a column twice, where it is one that counts."""
        for name in names:
            first = re.sub(r"_duplicated_\d+$", "", name)  # as the reader calls further ones
            if first != name and first in names and chosen.get(first, first) in self.wanted:
                raise BadLine(
                    f"the header has {printable(first)} twice",
                    where=f"{self.title}:1",
                    given=printable(self.separator.join(names)),
                    expected="each column once",
                )

    def _batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        with reading(self.title):
            try:
                yield from self.frame.select(columns).collect_batches(chunk_size=ROWS)
            except pl.exceptions.PolarsError as error:
                broken = broken_row(self.source, self.title, self.separator, self.header)
                raise (broken or error) from error

    def pieces(self) -> Iterator[pl.DataFrame]:
        schema = self.schema()
        self.rows = 0
        for piece in self._batches(list(schema)):
            typed = piece.select(pl.col(name).cast(kind, strict=False) for name, kind in schema.items())
            for name, dtype in schema.items():
                if dtype == pl.Float64 and typed[name].null_count() > piece[name].null_count():
                    raise self._no_number(piece[name], typed[name])
            self.rows += piece.height
            yield typed

    def _no_number(self, text: pl.Series, number: pl.Series) -> BadLine:
        at = (number.is_null() & text.is_not_null()).arg_max() or 0
        return BadLine(
            f"the {text.name} {printable(text[at], 40)!r} is no number",
            where=f"{self.title}:{self.rows + at + 2}",
            expected="a number",
        )
