"""Files: which format a path holds, and how each is opened.

BEIR's data as they are downloaded: a folder for a collection, judgments with a header of their own.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._text import quoted
from rankstone.errors import EmptyInput, InputError, UnknownFormat, UsageError, nearest, printable
from rankstone.io.column_suggestions import kinds_of_texts
from rankstone.io.columns import CANONICAL
from rankstone.io.csv_dialect import SEPARATORS, UTF16, Dialect, dialect_of, has_header
from rankstone.io.csv_files import (
    FIRST_ROW,
    delimited,
    is_workbook,
    line_of,
    scan_delimited,
    scan_workbook,
    whole_rows,
)
from rankstone.io.damaged_files import (
    LONGEST,
    LONGEST_OBJECT,
    broken_object,
    broken_row,
    refuse_endless,
    refuse_repeated_keys,
)
from rankstone.io.database_addresses import is_database, parse_address
from rankstone.io.input_table import Table, reading
from rankstone.io.streams import is_stream, read_stream, rows_about, stream_title
from rankstone.io.trec_text import Layout, Ranks, title_of, trec
from rankstone.io.typed_tables import Part, of_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


#: format → suffixes; a further .gz or .zst is looked through
FORMATS: Final = {
    "trec": (".trec", ".txt", ".run", ".qrels", ".qrel", ".res", ".test", ""),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".ipc", ".feather"),
    "xlsx": (".xlsx",),
}
_TEXT: Final = ("trec", "csv", "tsv", "jsonl", "json")
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
    """Open a file, a folder or a glob of parts, a pipe, or ``-`` for standard input, as one table.

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
    if is_stream(name):
        kind = format_in or format_of_stream(name, "trec")
        content = read_stream(name, _longest(kind))
        return _read([content], stream_title(name), kind, layout, columns, ranks, further)
    paths = parts_of(name)
    formats = {format_in or _kind(p, columns) for p in paths}
    if len(formats) > 1:
        raise UnknownFormat(
            f"parts of several formats: {', '.join(sorted(formats))}",
            where=name,
            fix="name one kind of file (runs/*.parquet) or say --format-in",
        )
    return _read(paths, name, formats.pop(), layout, columns, ranks, further)


def _kind(path: Path, columns: Mapping[str, str]) -> str:
    """Return the format of a file; what Excel calls text is a table with tabs."""
    kind = format_of(path)
    with reading(str(path)):
        tabs = kind == "trec" and path.suffix.lower() == ".txt" and has_header(path, columns)
    return "tsv" if tabs else kind


def scan_files(
    path: str | os.PathLike[str], format_in: str | None = None, columns: Mapping[str, str] | None = None
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Open a table of any columns, lazily, and say what was guessed of how it is written.

    In CSV and TSV files every column is text.

    Parameters
    ----------
    path
        A file, a folder or a glob of parts, with column names.
    format_in
        A name of :data:`FORMATS`; ``None`` goes by the suffix.
    columns
        {their name: our name}, which say which separator finds more of them.
    """
    parts = scan_parts(path, format_in, columns)
    frames = [part.frame for part in parts]
    told = tuple(dict.fromkeys(told for part in parts for told in part.read_as))
    return (frames[0] if len(frames) == 1 else pl.concat(frames, how="vertical_relaxed")), told


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
    dialect
        How it is written, if it is CSV or TSV.
    read_as
        What was guessed of that.
    """

    source: Path | bytes
    title: str
    kind: str
    frame: pl.LazyFrame
    dialect: Dialect | None = None
    read_as: tuple[str, ...] = ()

    def whole(self) -> pl.LazyFrame:
        """Return its rows, read in a way that finds torn ones whichever columns are asked for."""
        return whole_rows(self.frame) if self.dialect else self.frame

    def place(self, row: int) -> str:
        """Say where a row stands, counted from 0."""
        if self.dialect is not None:
            return f"{self.title}:{line_of(self.dialect, row)}"
        if self.kind == "jsonl":
            return f"{self.title}:{row + 1}"
        return f"{self.title}, row {row + (FIRST_ROW if self.kind == 'xlsx' else 1)}"

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
        if self.dialect is not None:
            header, dialect = self.frame.collect_schema().names(), self.dialect
            return broken_row(dialect.source, self.title, dialect.separator, header, dialect.above)
        return None


def scan_parts(
    path: str | os.PathLike[str], format_in: str | None = None, columns: Mapping[str, str] | None = None
) -> list[Scanned]:
    """Open the files of a table of any columns, lazily; ``-`` and pipes are CSV unless said.

    Parameters
    ----------
    path, format_in, columns
        As for :func:`scan_files`.
    """
    name, columns = os.fspath(path), columns or {}
    if is_stream(name):
        kind = format_in or format_of_stream(name, "csv")
        return [_scanned(read_stream(name, _longest(kind)), stream_title(name), kind, columns)]
    return [_scanned(p, str(p), format_in or _kind(p, columns), columns) for p in parts_of(name)]


def _scanned(source: Path | bytes, title: str, kind: str, columns: Mapping[str, str]) -> Scanned:
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
    _refuse_endless(source, title, kind)
    with reading(title):
        if kind not in SEPARATORS:
            frame, told = _scan(source, kind, title, columns)
            return Scanned(source, title, kind, frame, read_as=told)
        dialect = dialect_of(source, title, kind, columns)
        frame, told = scan_delimited(dialect, columns)
    return Scanned(source, title, kind, frame, dialect, told)


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
        fix=f"did you mean {printable(quoted(str(path.parent / close[0])))}?" if close else None,
    )


def _siblings(path: Path) -> list[Path]:
    try:
        return list(path.parent.iterdir())
    except OSError:
        return []


def format_of(path: Path) -> str:
    """Return the format of a file: by what its first bytes sign or an archive holds, else by its suffix."""
    magic = _magic(path)
    if magic[:4] == b"PAR1":
        return "parquet"
    if magic[:6] == b"ARROW1":
        return "arrow"
    if is_workbook(path, magic):
        return "xlsx"
    return _BY_SUFFIX.get(_suffix(path), "trec")


def format_of_stream(name: str, usual: str) -> str:
    """Return the format of a stream: by the suffix of a pipe that has a name with one, else the usual one.

    >>> format_of_stream("logs/today.jsonl", "csv"), format_of_stream("/dev/fd/63", "csv")
    ('jsonl', 'csv')
    """
    suffix = _suffix(Path(name))
    return _BY_SUFFIX.get(suffix, usual) if suffix else usual


def _suffix(path: Path) -> str:
    inner = path.with_suffix("") if path.suffix in _PACKED else path
    return inner.suffix.lower()


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
        _refuse_utf16(source, title_of(source, name), kind)
        if kind != "trec":  # whose reader looks at what it has unpacked anyway
            _refuse_endless(source, title_of(source, name), kind)
    about = cache(partial(rows_about, whole))
    if kind == "trec":
        return replace(trec(whole, name, layout, ranks), extent=about)
    if kind in SEPARATORS:
        dialect = cache(lambda: dialect_of(whole[0], title_of(whole[0], name), kind, columns))
        kinds = cache(lambda: kinds_of_texts(scan_delimited(dialect(), columns)[0]))
        return replace(delimited(whole, name, kind, columns, further), extent=about, kinds=kinds)
    return _columnar(whole, name, kind, columns, further)


def _columnar(
    sources: Sequence[Path | bytes],
    name: str,
    kind: str,
    columns: Mapping[str, str],
    further: Sequence[str],
) -> Table:
    numbered, first = "{}:{}" if kind == "jsonl" else "{}, row {}", FIRST_ROW if kind == "xlsx" else 1
    titles = [title_of(source, name) for source in sources]
    try:
        parts, told = [], dict[str, None]()
        for source, title in zip(sources, titles, strict=True):
            with reading(title):
                frame, guessed = _scan(source, kind, title, columns)
            parts.append(Part(title, frame, numbered, first, scanned=kind != "xlsx"))
            told |= dict.fromkeys(guessed)
            if kind == "jsonl":
                with reading(title):
                    names = frame.collect_schema().names()
                read = [n for n in names if columns.get(n, n) in (*CANONICAL, *further)]
                refuse_repeated_keys(source, title, read)
        about = partial(rows_about, sources) if kind == "jsonl" else lambda: sum(p.height() for p in parts)
        table = of_parts(parts, name, columns, further=further, extent=cache(about))
        return replace(table, read_as=lambda: tuple(told)) if told else table
    except InputError as error:
        broken = [broken_object(*one) for one in zip(sources, titles, strict=True)] if kind == "jsonl" else []
        raise next(filter(None, broken), error) from None


def _scan(
    source: Path | bytes, kind: str, title: str, columns: Mapping[str, str]
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Open a table whose columns have types, and say what was guessed of how it is written."""
    if kind == "xlsx":
        return scan_workbook(source, title, columns)
    if kind == "parquet":
        return pl.scan_parquet(source, glob=False), ()
    if kind == "jsonl":
        return pl.scan_ndjson(source, infer_schema_length=None), ()
    stream = _magic(source)[:6] != b"ARROW1"
    return pl.read_ipc_stream(source).lazy() if stream else pl.scan_ipc(source), ()


def _magic(source: Path | bytes) -> bytes:
    """Return the first bytes, which many formats sign."""
    if isinstance(source, bytes):
        return source[:8]
    with reading(str(source)), source.open("rb") as file:
        return file.read(8)


def _refuse_endless(source: Path | bytes, title: str, kind: str) -> None:
    """Refuse lines without end in text that is read by lines; one object of JSON may be one line."""
    longest = _longest(kind)
    if longest is not None:
        with reading(title):
            refuse_endless(source, title, longest)


def _longest(kind: str) -> int | None:
    """Return how many bytes a line of a format may have, where it is read by lines."""
    return {"trec": LONGEST, "csv": LONGEST, "tsv": LONGEST, "jsonl": LONGEST_OBJECT}.get(kind)


def _refuse_utf16(source: Path | bytes, name: str, kind: str) -> None:
    """Refuse text of two bytes a character, which some shells write where output is sent to a file.

    In CSV it is read: so does Excel.
    """
    if kind in _TEXT and kind not in SEPARATORS and _magic(source)[:2] in UTF16:
        raise UnknownFormat(
            "the text is UTF-16",
            where=name,
            expected="UTF-8",
            fix="save it as UTF-8: in an editor, with iconv -f utf-16 -t utf-8 FILE > NEW, or in PowerShell "
            "Get-Content FILE | Set-Content -Encoding utf8 NEW",
        )


#: the header of its judgments → what it is called here; their score is a grade
BEIR: Final = {"query-id": "query_id", "corpus-id": "doc_id", "score": "relevance"}
_BESIDE: Final = ("corpus.jsonl", "queries.jsonl", "corpus.jsonl.gz", "queries.jsonl.gz")


def judgments_in(source: object) -> tuple[object, tuple[str, ...]]:
    """Return the judgments in a folder of BEIR's, those of its test split, and what to tell; else the source.

    >>> judgments_in("qrels.txt")
    ('qrels.txt', ())
    """
    if not isinstance(source, (str, os.PathLike)) or is_database(source):
        return source, ()
    folder = Path(source)
    if not (folder / "qrels").is_dir() or not any((folder / name).is_file() for name in _BESIDE):
        return source, ()
    splits = sorted(path for path in (folder / "qrels").glob("*.tsv") if not path.name.startswith("."))
    tests = [path for path in splits if path.name == "test.tsv"]
    if not splits:
        return source, ()
    if not tests and len(splits) > 1:
        raise InputError(
            "this folder of BEIR's has judgments for several splits, and none is test.tsv",
            where=os.fspath(source),
            given=", ".join(f"qrels/{path.name}" for path in splits),
            expected="the judgments of one split",
            fix=f"name them: {splits[0]}",
        )
    taken = (tests or splits)[0]
    others = [path.name for path in splits if path != taken]
    told = f"BEIR's folder: qrels/{taken.name}" + (f" (beside {', '.join(others)})" if others else "")
    return taken, (told,)
