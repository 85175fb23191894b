"""Files: which format a path holds, and how each is opened."""

from __future__ import annotations

import glob
import os
import sys
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import EmptyInput, InputError, UnknownFormat, UsageError, nearest, printable
from rankstone.io.addresses import is_database, parse_address
from rankstone.io.broken import broken_object, broken_row
from rankstone.io.delimited import delimited, scan_delimited, whole_rows
from rankstone.io.extent import rows_about
from rankstone.io.table import Table, reading
from rankstone.io.text import Layout, Ranks, title_of, trec
from rankstone.io.typed import Part, of_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "FORMATS",
    "Scanned",
    "format_of",
    "parts_of",
    "read_files",
    "scan_files",
    "scan_parts",
    "stem",
]

#: format → suffixes; a further .gz or .zst is looked through
FORMATS: Final = {
    "trec": (".trec", ".txt", ".run", ".qrels", ".qrel", ".res", ".test", ""),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".ipc", ".feather"),
}
_TEXT: Final = ("trec", "csv", "tsv", "jsonl", "json")
_SEPARATORS: Final = {"csv": ",", "tsv": "\t"}
_PACKED: Final = (".gz", ".zst", ".zstd")
_BY_SUFFIX: Final = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}


def read_files(
    path: str | os.PathLike[str],
    layout: Layout,
    columns: Mapping[str, str],
    format_in: str | None = None,
    *,
    ranks: Ranks = "unread",
    further: Sequence[str] = (),
) -> Table:
    """Open a file, a folder or a glob of parts, or ``-`` for standard input, as one table.

    Parameters
    ----------
    path
        What to read.  Folders and globs are parts of one table, in the order of their names.
    layout
        What TREC lines hold: qrels or run.
    columns
        {their name: our name}, for formats with column names.
    format_in
        A name of :data:`FORMATS`; ``None`` goes by the suffix.
    ranks
        Whether the rank column of TREC runs is wanted, and must hold numbers.
    further
        Columns wanted beside the usual ones, in formats with column names.
    """
    if format_in is not None and format_in not in FORMATS:
        close = nearest(format_in, FORMATS, n=1)
        raise UsageError(
            f"{printable(format_in)!r} is no format",
            expected=", ".join(FORMATS),
            fix=f"did you mean {close[0]}?" if close else None,
        )
    name = os.fspath(path)
    if name == "-":
        content = sys.stdin.buffer.read()
        return _read([content], "standard input", format_in or "trec", layout, columns, ranks, further)
    paths = parts_of(name)
    formats = {format_in or format_of(p) for p in paths}
    if len(formats) > 1:
        raise UnknownFormat(
            f"parts of several formats: {', '.join(sorted(formats))}",
            where=name,
            fix="name one kind of file (runs/*.parquet) or say --format-in",
        )
    return _read(paths, name, formats.pop(), layout, columns, ranks, further)


def scan_files(path: str | os.PathLike[str], format_in: str | None = None) -> pl.LazyFrame:
    """Open a table of any columns, lazily; in CSV and TSV files every column is text.

    Parameters
    ----------
    path
        A file, a folder or a glob of parts, with column names.
    format_in
        A name of :data:`FORMATS`; ``None`` goes by the suffix.
    """
    frames = [part.frame for part in scan_parts(path, format_in)]
    return frames[0] if len(frames) == 1 else pl.concat(frames, how="vertical_relaxed")


@dataclass(frozen=True, eq=False)
class Scanned:
    """One file of a table of any columns.

    Attributes
    ----------
    source
        The file, or what standard input held.
    title
        What to call it.
    kind
        Its format.
    frame
        Its rows, lazily.
    """

    source: Path | bytes
    title: str
    kind: str
    frame: pl.LazyFrame

    def whole(self) -> pl.LazyFrame:
        """Return its rows, read in a way that finds torn ones whichever columns are asked for."""
        return whole_rows(self.frame) if self.kind in _SEPARATORS else self.frame

    def place(self, row: int) -> str:
        """Say where a row stands, counted from 0."""
        lines = {"csv": 2, "tsv": 2, "jsonl": 1}
        return (
            f"{self.title}:{row + lines[self.kind]}" if self.kind in lines else f"{self.title}, row {row + 1}"
        )

    def about(self) -> int | None:
        """Return about how many rows there are; files of columns know without being read."""
        if self.kind in _TEXT:
            return rows_about([self.source])
        with reading(self.title):
            return int(self.frame.select(pl.len()).collect().item())

    def broken(self) -> InputError | None:
        """Return the error for the first line that its format does not allow."""
        if self.kind == "jsonl":
            return broken_object(self.source, self.title)
        if self.kind in _SEPARATORS:
            header = self.frame.collect_schema().names()
            return broken_row(self.source, self.title, _SEPARATORS[self.kind], header)
        return None


def scan_parts(path: str | os.PathLike[str], format_in: str | None = None) -> list[Scanned]:
    """Open the files of a table of any columns, lazily; ``-`` is standard input, CSV unless said.

    Parameters
    ----------
    path, format_in
        As for :func:`scan_files`.
    """
    name = os.fspath(path)
    if name == "-":
        return [_scanned(sys.stdin.buffer.read(), "standard input", format_in or "csv")]
    return [_scanned(part, str(part), format_in or format_of(part)) for part in parts_of(name)]


def _scanned(source: Path | bytes, title: str, kind: str) -> Scanned:
    if kind not in FORMATS or kind in ("trec", "json"):
        raise UnknownFormat(
            "a table with column names is needed",
            where=title,
            expected=", ".join(form for form in FORMATS if form not in ("trec", "json")),
            fix="--format-in names the format where the suffix does not",
        )
    if not (len(source) if isinstance(source, bytes) else source.stat().st_size):
        raise EmptyInput("the file is empty", where=title, expected=f"{kind} data")
    _refuse_utf16(source, title, kind)
    with reading(title):
        frame = scan_delimited(source, _SEPARATORS[kind]) if kind in _SEPARATORS else _scan(source, kind)
    return Scanned(source, title, kind, frame)


def stem(path: str | os.PathLike[str]) -> str:
    """Return a file's name without the suffixes we know, or a table's: ``runs/bm25.run.gz`` is ``bm25``.

    >>> stem("runs/bm25.v2.run.gz")
    'bm25.v2'
    >>> stem("duckdb:runs.db#bm25")
    'bm25'
    """
    if isinstance(path, str) and is_database(path):
        return parse_address(path).name
    name = Path(path)
    while name.suffix and (name.suffix in _PACKED or name.suffix.lower() in _BY_SUFFIX):
        name = name.with_suffix("")
    return name.name or os.fspath(path)


def parts_of(name: str) -> list[Path]:
    """Return the files that a path, a folder or a glob stands for, in the order of their names."""
    path = Path(name)
    if path.is_dir():
        parts = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "_")))
        if not parts:
            raise EmptyInput("the folder holds no file", where=name)
        return parts
    if path.exists():
        return [path]
    found = sorted(map(Path, glob.glob(name, recursive=True))) if glob.has_magic(name) else []  # noqa: PTH207 - any path
    if found:
        return [part for p in found for part in parts_of(str(p))]
    close = nearest(path.name, (p.name for p in _siblings(path)), n=1)
    raise InputError(
        "there is no such file",
        where=printable(name),
        fix=f"did you mean {path.parent / close[0]}?" if close else None,
    )


def _siblings(path: Path) -> list[Path]:
    try:
        return list(path.parent.iterdir())
    except OSError:
        return []


def format_of(path: Path) -> str:
    """Return the format of a file: by what its first bytes sign, else by its suffix."""
    magic = _magic(path)
    if magic[:4] == b"PAR1":
        return "parquet"
    if magic[:6] == b"ARROW1":
        return "arrow"
    inner = path.with_suffix("") if path.suffix in _PACKED else path
    return _BY_SUFFIX.get(inner.suffix.lower(), "trec")


def _read(
    sources: Sequence[Path | bytes],
    name: str,
    kind: str,
    layout: Layout,
    columns: Mapping[str, str],
    ranks: Ranks,
    further: Sequence[str],
) -> Table:
    whole = [s for s in sources if isinstance(s, bytes) or s.stat().st_size]
    empty = next((s for s in sources if s not in whole), None)
    if not whole or (empty is not None and kind not in _TEXT):  # without a row it would still have columns
        where = name if empty is None else title_of(empty, name)
        raise EmptyInput("the file is empty", where=where, expected=f"{kind} data")
    for source in whole:
        _refuse_utf16(source, name if isinstance(source, bytes) else str(source), kind)
    about = cache(partial(rows_about, whole))
    if kind == "trec":
        return replace(trec(whole, name, layout, ranks), extent=about)
    if kind in ("csv", "tsv"):
        separator = "," if kind == "csv" else "\t"
        return replace(delimited(whole, name, separator, columns, further), extent=about)
    return _columnar(whole, name, kind, columns, further)


def _columnar(
    sources: Sequence[Path | bytes],
    name: str,
    kind: str,
    columns: Mapping[str, str],
    further: Sequence[str],
) -> Table:
    numbered = "{}:{}" if kind == "jsonl" else "{}, row {}"
    titles = [title_of(source, name) for source in sources]
    try:
        parts = []
        for source, title in zip(sources, titles, strict=True):
            with reading(title):
                parts.append(Part(title, _scan(source, kind), numbered))
        about = partial(rows_about, sources) if kind == "jsonl" else lambda: sum(p.height() for p in parts)
        return of_parts(parts, name, columns, further=further, extent=cache(about))
    except InputError as error:
        broken = [broken_object(*one) for one in zip(sources, titles, strict=True)] if kind == "jsonl" else []
        raise next(filter(None, broken), error) from None


def _scan(source: Path | bytes, kind: str) -> pl.LazyFrame:
    if kind == "parquet":
        return pl.scan_parquet(source, glob=False)
    if kind == "jsonl":
        return pl.scan_ndjson(source, infer_schema_length=None)
    return pl.scan_ipc(source) if _magic(source)[:6] == b"ARROW1" else pl.read_ipc_stream(source).lazy()


def _magic(source: Path | bytes) -> bytes:
    """Return the first bytes, which many formats sign."""
    if isinstance(source, bytes):
        return source[:8]
    with reading(str(source)), source.open("rb") as file:
        return file.read(8)


def _refuse_utf16(source: Path | bytes, name: str, kind: str) -> None:
    """Refuse text of two bytes a character, which some shells write where output is sent to a file."""
    if kind in _TEXT and _magic(source)[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UnknownFormat(
            "the text is UTF-16", where=name, expected="UTF-8", fix="iconv -f utf-16 -t utf-8 FILE > NEW"
        )
