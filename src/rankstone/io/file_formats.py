"""The format of files, and how each is opened."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record
from rankstone.errors import EmptyInput, InputError, UnknownFormat, printable
from rankstone.io.column_suggestions import kinds_of_texts
from rankstone.io.columns import CANONICAL
from rankstone.io.csv_dialect import SEPARATORS, Dialect, dialect_of, table_in_text
from rankstone.io.csv_files import (
    BLANK,
    FIRST_ROW,
    ZIP,
    blank_note,
    delimited,
    is_workbook,
    line_of,
    numbers_of_workbook,
    scan_delimited,
    scan_workbook,
    whole_rows,
)
from rankstone.io.damaged_files import (
    LONGEST,
    LONGEST_OBJECT,
    PACKED,
    broken_object,
    broken_row,
    refuse_endless,
    refuse_repeated_keys,
)
from rankstone.io.file_parts import parts_of
from rankstone.io.json_in_text import json_format
from rankstone.io.shapes import plain_format
from rankstone.io.shapes.headerless_text import is_trec, shaped_text
from rankstone.io.shapes.reading import shaped_document
from rankstone.io.sources import (
    UTF16,
    can_be_read_again,
    estimated_rows,
    is_database,
    is_stream,
    parse_address,
    read_stream,
    stream_title,
)
from rankstone.io.suffixes import (
    ANY_TEXT,
    FORMATS,
    named_format,
    suffix_of,
    without_suffixes,
)
from rankstone.io.traces import is_trace, trace_frame
from rankstone.io.trec_text import (
    QRELS,
    RUN,
    Layout,
    Ranks,
    first_lines,
    title_of,
    trec,
    words_of,
)
from rankstone.io.typed_tables import TablePart, of_parts
from rankstone.io.unreadable_files import reading, refuse_unread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import Columns, StrPath
    from rankstone.io.column_suggestions import Kind
    from rankstone.io.input_table import Table
    from rankstone.io.shapes import Candidates


#: formats with column names
_TABLES: Final = tuple(name for name in FORMATS if name not in ("trec", "json"))
TEXT: Final = ("trec", "csv", "tsv", "jsonl", "json")
#: objects of JSON lines that show what they are
_RECORDS: Final = 20
#: bytes that show what a text is
BLOCK: Final = 1 << 16
#: the longest line of formats that are read line by line, in bytes
_LONGEST: Final = dict.fromkeys(("trec", "csv", "tsv"), LONGEST) | {
    "jsonl": LONGEST_OBJECT
}


def format_at(
    path: StrPath, format_in: str | None, columns: Columns
) -> tuple[str, list[Path]]:
    """Return the format of the files that a path names, and these files; a stream has none.

    Parameters
    ----------
    path
        A file, a folder or a glob of parts, a pipe, or ``-`` for standard input.
    format_in
        A name of :data:`FORMATS`; ``None`` decides by content and suffix.
    columns
        {their name: our name}.
    """
    format_in = plain_format(format_in, FORMATS)
    name = os.fspath(path)
    if is_stream(name):
        return format_in or _format(name, columns), []
    files = parts_of(name)
    formats = {format_in or _format(file, columns) for file in files}
    if len(formats) > 1:
        raise UnknownFormat(
            f"parts of several formats: {', '.join(sorted(formats))}",
            where=name,
            fix="name files of one format, as runs/*.parquet does",
        )
    return formats.pop(), files


def _format(path: StrPath, columns: Columns) -> str:
    """Return the format of a file or a stream; “text” saved by Excel is a table with tabs."""
    kind = format_of(path)
    # unpacking only for a header would take as long as reading
    is_packed = head_of(path).startswith(PACKED) and suffix_of(Path(path)) != ANY_TEXT
    if kind != "trec" or is_packed:
        return kind
    source = source_of(path)
    with reading(os.fspath(path)):
        return table_in_text(source, columns) or kind


def scan_files(
    path: StrPath, format_in: str | None = None, columns: Columns | None = None
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Open a table of any columns lazily, with notes on what was guessed about its files.

    In CSV and TSV files every column is text.

    Parameters
    ----------
    path
        A file, a folder or a glob of parts, with column names.
    format_in
        A name of :data:`FORMATS`; ``None`` decides by content and suffix.
    columns
        {their name: our name}; the separator of a CSV file is the one that finds most of them.
    """
    parts = scan_parts(path, format_in, columns)
    frames = [
        part.frame.filter(~BLANK) if part.dialect else part.frame for part in parts
    ]
    notes = dict.fromkeys(note for part in parts for note in part.read_as)
    blank = sum(part.blank_rows() for part in parts)
    whole = frames[0] if len(frames) == 1 else pl.concat(frames, how="vertical_relaxed")
    return whole, (*notes, *blank_note(blank))


def place_in(
    path: StrPath,
    row: int,
    format_in: str | None = None,
    columns: Columns | None = None,
) -> str:
    """Return the place of a row of :func:`scan_files`, counted from 0, for messages."""
    for part in scan_parts(path, format_in, columns):
        with reading(part.title):
            blank = part.frame.select(BLANK).collect().to_series()
        rows = (~blank | (part.dialect is None)).arg_true()
        if row < len(rows):
            return part.place(rows[row])
        row -= len(rows)
    return os.fspath(path)


class Scanned(Record):
    """One file of a table of any columns.

    Attributes
    ----------
    source
        The file, or the content of a stream.
    title
        Its name in messages.
    kind
        Its format.
    frame
        Its rows, lazily.
    dialect
        Separator, encoding and so on of CSV and TSV.
    read_as
        Notes on what was guessed about these.
    """

    source: Path | bytes
    title: str
    kind: str
    frame: pl.LazyFrame
    dialect: Dialect | None = None
    read_as: tuple[str, ...] = ()

    def whole(self) -> pl.LazyFrame:
        """Return its rows, read so that broken ones are found whichever columns are selected."""
        if self.dialect:
            return whole_rows(self.frame)
        return self.frame

    def blank_rows(self) -> int:
        """Count the rows of separators only; this reads a text, so a line that is broken is refused."""
        if self.kind not in TEXT:
            return 0
        with reading(self.title):
            try:
                if self.dialect is None:
                    self.frame.collect_schema()
                    return 0
                return int(self.frame.select(BLANK.sum()).collect().item())
            except pl.exceptions.PolarsError as error:
                raise (self.broken() or error) from error

    def place(self, row: int) -> str:
        """Return the place of a row, counted from 0, for messages."""
        if self.dialect is not None:
            return f"{self.title}:{line_of(self.dialect, row)}"
        if self.kind == "jsonl":
            return f"{self.title}:{row + 1}"
        return f"{self.title}, row {row + (FIRST_ROW if self.kind == 'xlsx' else 1)}"

    def estimated_rows(self) -> int | None:
        """Estimate the number of rows; columnar formats store it."""
        if self.kind in TEXT:
            return estimated_rows([self.source])
        with reading(self.title):
            return int(self.frame.select(pl.len()).collect().item())

    def broken(self) -> InputError | None:
        """Return the error for the first line that is not valid in its format."""
        if self.kind == "jsonl":
            return broken_object(self.source, self.title)
        if self.dialect is not None:
            header = self.frame.collect_schema().names()
            dialect = self.dialect
            return broken_row(
                dialect.source, self.title, dialect.separator, header, dialect.above
            )
        return None


def scan_parts(
    path: StrPath, format_in: str | None = None, columns: Columns | None = None
) -> list[Scanned]:
    """Open the files of a table of any columns lazily.

    Parameters
    ----------
    path, format_in, columns
        As for :func:`scan_files`.
    """
    format_in = plain_format(format_in, FORMATS)
    name = os.fspath(path)
    columns = columns or {}
    parts: list[StrPath] = [name] if is_stream(name) else [*parts_of(name)]
    return [
        _scanned(
            source_of(p),
            stream_title(os.fspath(p)),
            format_in or format_of(p, default="csv" if is_stream(p) else "trec"),
            columns,
        )
        for p in parts
    ]


def _scanned(source: Path | bytes, title: str, kind: str, columns: Columns) -> Scanned:
    if kind == "trec":
        with reading(title):
            kind = table_in_text(source, columns, any_names=True) or kind
    if kind not in _TABLES:
        raise UnknownFormat(
            "a table with column names is needed",
            where=title,
            given=printable(
                head_of(source, 200).partition(b"\n")[0].decode("utf-8", "replace"), 40
            ),
            expected="a first line with the names of columns, between commas or tabs; "
            "JSON, JSON lines, Parquet, Arrow or .xlsx",
        )
    if not (len(source) if isinstance(source, bytes) else source.stat().st_size):
        raise EmptyInput("the file is empty", where=title, expected=f"{kind} data")
    _refuse_utf16(source, title, kind)
    _refuse_endless(source, title, kind)
    with reading(title):
        if kind not in SEPARATORS:
            title, frame, notes = _scan(source, kind, title, columns)
            return Scanned(source, title, kind, frame, read_as=notes)
        dialect = dialect_of(source, title, kind, columns)
        frame, notes = scan_delimited(dialect, columns)
    return Scanned(source, title, kind, frame, dialect, notes)


def stem(path: StrPath) -> str:
    """Return a file's name without known suffixes, or a table's name: ``runs/bm25.run.gz`` is ``bm25``.

    >>> stem("runs/bm25.v2.run.gz")
    'bm25.v2'
    >>> stem("duckdb:runs.db#bm25")
    'bm25'
    """
    if isinstance(path, str) and is_database(path):
        return parse_address(path).name
    return without_suffixes(Path(path)).name or os.fspath(path)


def source_of(path: StrPath) -> Path | bytes:
    """Return a file, or the content of a stream."""
    name = os.fspath(path)
    return read_stream(name) if is_stream(name) else Path(name)


def format_of(path: StrPath, default: str = "trec") -> str:
    """Return the format of a file or a stream: by its signature or how it begins, else by its suffix.

    Parameters
    ----------
    path
        One file, a pipe, or ``-`` for standard input.
    default
        The format of a text whose name and content do not show it.
    """
    by_name = named_format(Path(path), default)
    if not can_be_read_again(path):
        return by_name
    source = source_of(path)
    magic = head_of(source, 8)
    if magic[:4] == b"PAR1":
        return "parquet"
    if magic[:6] == b"ARROW1":
        return "arrow"
    if magic[:4] == ZIP and is_workbook(source):
        return "xlsx"
    if by_name not in TEXT or magic.startswith(PACKED):
        return by_name
    block = head_of(source)
    refuse_unread(block, stream_title(os.fspath(path)))
    return json_format(block, by_name) or _text_format(source, by_name)


def _text_format(source: Path | bytes, by_name: str) -> str:
    """Return the format of a text that is no JSON, whatever its name says."""
    if by_name not in ("json", "jsonl"):
        return by_name
    title = title_of(source, "")
    with reading(title):
        words = words_of(first_lines(source, title).values())
        fits = words and any(is_trec(words, layout) for layout in (QRELS, RUN))
        return "trec" if fits else table_in_text(source, {}) or by_name


def read_files(
    path: StrPath,
    files: Sequence[Path | bytes],
    kind: str,
    layout: Layout,
    columns: Columns,
    *,
    ranks: Ranks = "unread",
    further: Sequence[str] = (),
    shapes: Candidates | None = None,
) -> Table:
    """Open files of one format, or a stream, as one table.

    Parameters
    ----------
    path
        The path that names them.
    files, kind
        As :func:`format_at` returns them.
    layout
        The columns of TREC text: judgments or a run.
    columns
        {their name: our name}, for formats with column names.
    ranks
        Whether the rank column of TREC runs is read, and must hold numbers.
    further
        Columns to read besides the usual ones, in formats with column names.
    shapes
        The shapes that a text may have that is neither TREC's nor has a header.
    """
    name = os.fspath(path)
    sources: Sequence[Path | bytes] = files
    if not files:
        sources = [read_stream(name)]
        name = stream_title(name)
    whole = _with_content(sources, name, kind)
    extent = cache(partial(estimated_rows, whole))
    if shapes is not None and kind in ("trec", *SEPARATORS):
        table = shaped_text(whole, name, kind, layout, ranks, columns, shapes)
        if table is not None:
            return replace(table, extent=extent)
    if kind == "trec":
        return replace(trec(whole, name, layout, ranks), extent=extent)
    if kind in SEPARATORS:
        dialect = cache(
            lambda: dialect_of(whole[0], title_of(whole[0], name), kind, columns)
        )
        table = delimited(whole, name, kind, columns, further)
        of_lists = table.kinds()

        @cache
        def kinds() -> dict[str, Kind | None]:
            rows, _ = scan_delimited(dialect(), columns)
            return {**kinds_of_texts(rows), **of_lists}

        return replace(table, extent=extent, kinds=kinds)
    records = _shaped_records(whole, name, columns, shapes) if kind == "jsonl" else None
    return records or _columnar(whole, name, kind, columns, further)


def _with_content(
    sources: Sequence[Path | bytes], name: str, kind: str
) -> list[Path | bytes]:
    """Return the files that are not empty; refuse encodings and lines that cannot be read."""
    whole = [s for s in sources if isinstance(s, bytes) or s.stat().st_size]
    empty = next((s for s in sources if s not in whole), None)
    # even without rows they have columns
    lacks_columns = empty is not None and kind not in TEXT
    if not whole or lacks_columns:
        where = name if empty is None else title_of(empty, name)
        raise EmptyInput("the file is empty", where=where, expected=f"{kind} data")
    for source in whole:
        _refuse_utf16(source, title_of(source, name), kind)
        if kind != "trec":  # whose reader checks the unpacked text
            _refuse_endless(source, title_of(source, name), kind)
    return whole


def _shaped_records(
    sources: Sequence[Path | bytes],
    name: str,
    columns: Columns,
    shapes: Candidates | None,
) -> Table | None:
    """Open JSON lines that have a shape; ``None`` where their first ones have none."""
    with reading(title_of(sources[0], name)):
        head = list(_objects(sources[0], _RECORDS))
    if shaped_document(head, name, columns, shapes) is None:
        return None
    records = [record for source in sources for record in _objects(source)]
    return shaped_document(records, name, columns, shapes)


def _columnar(
    sources: Sequence[Path | bytes],
    name: str,
    kind: str,
    columns: Columns,
    further: Sequence[str],
) -> Table:
    numbered = "{}:{}" if kind == "jsonl" else "{}, row {}"
    first = FIRST_ROW if kind == "xlsx" else 1
    titles = [title_of(source, name) for source in sources]
    try:
        parts = []
        notes = dict[str, None]()
        unusable = dict[str, InputError]()
        for source, of_file in zip(sources, titles, strict=True):
            with reading(of_file):
                title, frame, guessed = _scan(source, kind, of_file, columns)
            if kind == "xlsx":
                frame, errors, found = numbers_of_workbook(frame, title, columns)
                unusable |= errors
                guessed += found
            parts.append(
                TablePart(title, frame, numbered, first, scanned=kind != "xlsx")
            )
            notes |= dict.fromkeys(guessed)
            if kind == "jsonl":
                with reading(title):
                    names = frame.collect_schema().names()
                read = [n for n in names if columns.get(n, n) in (*CANONICAL, *further)]
                refuse_repeated_keys(source, title, read)
        extent = (
            partial(estimated_rows, sources)
            if kind == "jsonl"
            else lambda: sum(p.height() for p in parts)
        )
        table = of_parts(parts, name, columns, further=further, extent=cache(extent))
        unusable = {**table.unusable, **unusable}
        read_as = (lambda: tuple(notes)) if notes else table.read_as
        return replace(table, read_as=read_as, unusable=unusable)
    except InputError as error:
        broken = (
            [broken_object(*one) for one in zip(sources, titles, strict=True)]
            if kind == "jsonl"
            else []
        )
        raise next(filter(None, broken), error) from None


def _scan(
    source: Path | bytes, kind: str, title: str, columns: Columns
) -> tuple[str, pl.LazyFrame, tuple[str, ...]]:
    """Open a table with typed columns; return its name in messages, its rows, and what was guessed about it."""
    if kind == "xlsx":
        return scan_workbook(source, title, columns)
    if kind == "parquet":
        return title, pl.scan_parquet(source, glob=False), ()
    if kind == "jsonl":
        first = next(iter(_objects(source, 1)), None)
        if is_trace(first):
            frame, note = trace_frame(
                _objects(source), title, steps="run" in columns.values()
            )
            return title, frame.lazy(), (note,)
        return title, pl.scan_ndjson(source, infer_schema_length=None), ()
    if head_of(source)[:6] != b"ARROW1":
        return title, pl.read_ipc_stream(source).lazy(), ()
    return title, pl.scan_ipc(source), ()


def _objects(source: Path | bytes, count: int | None = None) -> Iterator[Any]:
    """Yield the objects of JSON lines, ``None`` for a line that is none; other readers report it."""
    lines = pl.scan_lines(source, name="text", glob=False)
    for line in (lines if count is None else lines.head(count)).collect()["text"]:
        try:
            yield json.loads(line)
        except ValueError:
            yield None


def head_of(source: StrPath | bytes, size: int = BLOCK) -> bytes:
    """Return the first bytes, in which many formats have a signature."""
    if not isinstance(source, bytes):
        source = source_of(source)
    if isinstance(source, bytes):
        return source[:size]
    with reading(str(source)), source.open("rb") as file:
        return file.read(size)


def _refuse_endless(source: Path | bytes, title: str, kind: str) -> None:
    """Refuse endless lines in text that is read line by line; a JSON object may be a single line."""
    longest = _LONGEST.get(kind)
    if longest is not None:
        with reading(title):
            refuse_endless(source, title, longest)


def _refuse_utf16(source: Path | bytes, name: str, kind: str) -> None:
    """Refuse UTF-16 text, which some shells write, where it is not read; in CSV and TREC text it is."""
    if kind in ("jsonl", "json") and head_of(source)[:2] in UTF16:
        raise UnknownFormat(
            "the text is UTF-16",
            where=name,
            expected="UTF-8",
            fix="save it as UTF-8: in an editor, with iconv -f utf-16 -t utf-8 FILE > NEW, or in PowerShell "
            "Get-Content FILE | Set-Content -Encoding utf8 NEW",
        )
