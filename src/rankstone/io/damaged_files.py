"""Damaged files: the first broken line after a reader has failed, and endless lines before one starts.

A few compressed megabytes may contain a line of gigabytes, which no reader survives.  Checking an
uncompressed file costs almost nothing: a line is too long if that many bytes contain no newline.  A
compressed file is unpacked once, piece by piece, and not kept.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import json
import mmap
import zlib
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
from itertools import islice
from math import isinf
from typing import IO, TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import counted
from rankstone.errors import BadLine, InputError, printable
from rankstone.io.json_in_text import json_format
from rankstone.io.unreadable_files import no_utf8, reading, wrong_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


#: signatures of compressed files
PACKED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip, Zstandard
#: the longest line of text in bytes
LONGEST: Final = 1 << 24
#: the longest line in bytes where a line may hold a whole list, as in JSON lines
LONGEST_OBJECT: Final = 1 << 28
#: bytes unpacked at a time
_STEP: Final = 1 << 20
#: the most bytes that one byte of gzip or zlib unpacks to
_DEFLATED: Final = 1032
_GZIP, _ZSTD, _SKIPPED = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"
_COLUMNAR: Final = (b"PAR1", b"ARRO", b"PK\x03\x04")
#: formats whose lines may be longer, or of any length
_LONGEST: Final = {"jsonl": LONGEST_OBJECT, "json": None}
_ZLIB: Final = (b"\x78\x01", b"\x78\x9c", b"\x78\xda")
#: the most bytes that a block of Zstandard unpacks to
_BLOCK: Final = 1 << 17
#: without a library for Zstandard: the largest unpacked size allowed, in bytes or relative to the file
_SMALL = 1 << 26
_RATIO = 100


def broken_row(
    source: Path | bytes,
    title: str,
    separator: str,
    header: Sequence[str],
    above: int = 0,
) -> BadLine | None:
    """Return the error for the first row of CSV or TSV that does not match its header."""
    # names of columns that are not read may be invalid
    if (foreign := _not_utf8(source, title, above + 1)) is not None:
        return foreign
    rows = csv.reader(
        islice(_lines(source, title), above, None), delimiter=separator, strict=True
    )
    begin = above + 1
    try:
        for row in rows:
            if len(row) > len(header):
                return BadLine(
                    f"the row has {counted(len(row), 'column')}, and the header {len(header)}",
                    where=f"{title}:{begin}",
                    given=printable(separator.join(row)),
                    expected=printable(separator.join(header)),
                    fix=_without_surplus(row[len(header) :]),
                )
            begin = above + rows.line_num + 1
    except csv.Error as error:
        return BadLine(
            "a quoted text is not closed correctly",
            where=f"{title}:{begin}",
            given=_unclosed(error),
            expected='"text", with "" for a quote inside',
        )
    return None


def _unclosed(error: csv.Error) -> str:
    """Return what is wrong with a quoted text, in words."""
    message = str(error)
    if message.startswith("unexpected end"):
        return "the file ends within it"
    if message.startswith("field larger"):
        return f"it is longer than {csv.field_size_limit():,} characters"
    return "more follows behind its closing quote"


def _without_surplus(cells: Sequence[str]) -> str:
    """Return how a row gets as many cells as its header."""
    if any(cell.strip() for cell in cells):
        return 'put texts that contain the separator into quotes: "a, b"'
    return "delete the separators at the end of the row"


def _not_utf8(source: Path | bytes, title: str, above: int = 0) -> BadLine | None:
    """Return the error for the first line, below some, that is not UTF-8."""
    for number, line in enumerate(_raw_lines(source), 1):
        if number > above:
            try:
                line.decode()
            except UnicodeDecodeError:
                return no_utf8(line, f"{title}:{number}")
    return None


def _raw_lines(source: Path | bytes) -> Iterator[bytes]:
    """Yield the lines of an uncompressed file."""
    with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        if not file.read(4).startswith(PACKED):
            file.seek(0)
            yield from file


def broken_object(source: Path | bytes, title: str) -> BadLine | None:
    """Return the error for the first line of JSON lines that is not an object."""
    if (foreign := _not_utf8(source, title)) is not None:
        return foreign
    for number, line in enumerate(_lines(source, title), start=1):
        try:
            value = _strictly(line) if line.strip() else {}
        except (ValueError, RecursionError) as wrong:
            return _not_an_object(title, number, line, wrong_json(wrong))
        if not isinstance(value, dict):
            return _not_an_object(title, number, line, "it is another value")
    return None


def _strictly(line: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a line; NaN is no number of JSON, and none may be beyond all floats."""

    def refuse(number: str) -> None:
        raise ValueError(f"{number} is no number that can be read")

    def finite(number: str) -> float:
        if isinf(float(number)):
            refuse(number)
        return float(number)

    return json.loads(line, parse_constant=refuse, parse_float=finite)


def refuse_repeated_keys(source: Path | bytes, title: str, keys: Sequence[str]) -> None:
    """Refuse JSON lines in which an object has one of the keys twice: readers silently keep one of them.

    Raises
    ------
    BadLine
        With the line and the key.
    """
    if not keys:
        return
    twice = pl.any_horizontal(
        pl.col("text").str.count_matches(f'"{key}"', literal=True) > 1 for key in keys
    )
    lines = pl.scan_lines(
        source, name="text", row_index_name="line", glob=False
    ).filter(twice)
    repeated: list[str] = []

    def notice(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        repeated.extend(key for key in keys if names.count(key) > 1)

    with reading(title):
        for line, text in (
            row for piece in lines.collect_batches() for row in piece.iter_rows()
        ):
            with suppress(ValueError, RecursionError):  # the reader reports it
                json.loads(text, object_pairs_hook=notice)
            if repeated:
                raise BadLine(
                    f"{printable(repeated[0])} occurs twice in one object",
                    where=f"{title}:{line + 1}",
                    given=printable(text, 40),
                    expected="each key once",
                )


def _not_an_object(title: str, number: int, line: str, why: str) -> BadLine:
    return BadLine(
        f"the line is not a JSON object: {printable(why)}",
        where=f"{title}:{number}",
        given=printable(line, 40),
        expected='one object a line: {"query_id": …, "doc_id": …, …}',
    )


def _lines(source: Path | bytes, title: str) -> Iterator[str]:
    """Yield the lines of a file, unpacked where necessary."""
    with reading(title):
        for piece in pl.scan_lines(source, name="text", glob=False).collect_batches():
            yield from piece["text"]


def refuse_endless(source: Path | bytes, title: str, longest: int = LONGEST) -> None:
    r"""Refuse text with a line of more than ``longest`` bytes before it is read.

    Parameters
    ----------
    source
        A file, compressed (gzip, zlib, Zstandard) or not, or the content itself.
    title
        Its name.
    longest
        The longest line allowed, in bytes.

    Examples
    --------
    >>> refuse_endless(b"a line\n" * 9, "notes.txt", longest=8)
    >>> refuse_endless(b"short\nnot so short", "notes.txt", longest=8)
    Traceback (most recent call last):
        ...
    rankstone.errors.BadLine: notes.txt:2: the line is longer than 8 bytes
      given:    not so s
      expected: text, one row per line
    """
    if isinstance(source, bytes):
        too_long = _find(io.BytesIO(source), source[:4], len(source), title, longest)
    else:
        status = source.stat()
        too_long = _find_in_file(
            source, title, status.st_size, status.st_mtime_ns, status.st_ino, longest
        )
    _refuse(too_long, title, longest)


def drained(file: IO[bytes], title: str, longest: int | None) -> bytes:
    """Read a stream to its end; refuse text with a line of more than ``longest`` bytes at once.

    Lines of JSON may be longer.

    >>> drained(io.BytesIO(b"a line"), "standard input", longest=8)
    b'a line'
    """
    pieces = [file.read(_STEP)]
    packed = pieces[0][:2] in (_GZIP, *_ZLIB) or pieces[0][:4] in (_ZSTD, *_COLUMNAR)
    longest = _LONGEST.get(json_format(pieces[0], ""), longest)

    def read() -> Iterator[bytes]:
        while pieces[-1]:
            yield pieces[-1]
            pieces.append(file.read(_STEP))

    if longest is None or packed:
        for _ in read():
            pass
    else:
        _refuse(_find_in_pieces(read(), longest), title, longest)
    return b"".join(pieces)


def _refuse(too_long: tuple[int, bytes] | None, title: str, longest: int) -> None:
    if too_long is not None:
        line, start = too_long
        returns = "if lines end in carriage returns only, convert them: tr '\\r' '\\n' < FILE > NEW"
        size = f"{longest >> 20} MiB" if longest >= 1 << 20 else f"{longest} bytes"
        raise BadLine(
            f"the line is longer than {size}",
            where=f"{title}:{line}",
            given=printable(start.decode("utf-8", "replace"), 40),
            expected="text, one row per line",
            fix=returns if b"\r" in start else None,
        )


@lru_cache(maxsize=1024)
def _find_in_file(
    path: Path, title: str, size: int, _changed: int, _inode: int, longest: int
) -> tuple[int, bytes] | None:
    """Search a file once, as long as it does not change."""
    if size == 0:
        return None
    with path.open("rb") as file:
        return _find(file, file.read(4), size, title, longest)


def _find(
    file: IO[bytes], magic: bytes, size: int, title: str, longest: int
) -> tuple[int, bytes] | None:
    """Return the number of the first line that is too long, and its beginning."""
    file.seek(0)
    if magic[:2] == _GZIP or magic[:2] in _ZLIB:
        return (
            None
            if size * _DEFLATED <= longest
            else _find_in_pieces(_unpacked(file, magic), longest)
        )
    if magic == _ZSTD:
        most = _unpacked_at_most(file)
        file.seek(0)
        return (
            None
            if most <= longest
            else _find_in_pieces(_unpacked_zstandard(file, most, size, title), longest)
        )
    if size <= longest:
        return None
    if isinstance(file, io.BytesIO):
        return _find_in_content(file.getvalue(), size, longest)
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _find_in_content(content, size, longest)


def _find_in_content(content: Any, size: int, longest: int) -> tuple[int, bytes] | None:  # noqa: ANN401 - bytes or a map
    """Search content, skipping all lines that end within the allowed length."""
    begin = 0
    while size - begin > longest:
        end = content.rfind(b"\n", begin, begin + longest + 1)
        if end < 0:
            lines = sum(
                content[at : min(at + _STEP, begin)].count(b"\n")
                for at in range(0, begin, _STEP)
            )
            return lines + 1, content[begin : begin + min(longest, 400)]
        begin = end + 1
    return None


def _find_in_pieces(pieces: Iterator[bytes], longest: int) -> tuple[int, bytes] | None:
    """Search content that comes in pieces; the reader reports where it breaks off."""
    line = 1
    length = 0
    start = b""
    for piece in pieces:
        first = piece.find(b"\n")
        if length + (len(piece) if first < 0 else first) > longest:
            return line, (start + piece)[: min(longest, 400)]
        if first < 0:
            start = (start + piece)[:400]
            length = length + len(piece)
            continue
        last = piece.rfind(b"\n") + 1
        line = line + piece.count(b"\n")
        length = len(piece) - last
        start = piece[last : last + 400]
    return None


def _unpacked(file: IO[bytes], magic: bytes) -> Iterator[bytes]:
    """Unpack gzip and zlib."""
    try:
        if magic[:2] == _GZIP:
            with gzip.GzipFile(fileobj=file) as unpacked:
                while piece := unpacked.read(_STEP):
                    yield piece
            return
        one = zlib.decompressobj()
        while packed := one.unconsumed_tail or file.read(_STEP):
            yield one.decompress(packed, _STEP)
    except (OSError, EOFError, zlib.error):
        return


def _unpacked_zstandard(
    file: IO[bytes], most: int, size: int, title: str
) -> Iterator[bytes]:
    """Unpack Zstandard with Python (from 3.14), zstandard or PyArrow."""
    unpacked, broken = _zstandard_stream(file)
    if unpacked is None:
        if most > max(_SMALL, _RATIO * size):
            raise InputError(
                f"the file may unpack to {most // size} times its size, which no installed library can check",
                where=title,
                fix="pip install zstandard, or unpack it: zstd -d FILE",
            )
        return
    try:
        while piece := unpacked.read(_STEP):
            yield piece
    except broken:
        return


def _zstandard_stream(file: IO[bytes]) -> tuple[Any, tuple[type[Exception], ...]]:
    """Return an unpacking stream, where a library is installed, and its errors for broken files."""
    libraries: dict[str, Callable[[Any], Any]] = {
        "compression.zstd": lambda library: library.ZstdFile(file),
        "zstandard": lambda library: library.ZstdDecompressor().stream_reader(
            file, read_across_frames=True
        ),
        "pyarrow": lambda library: library.CompressedInputStream(file, "zstd"),
    }
    for name, opened in libraries.items():
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return opened(library), (
            OSError,
            EOFError,
            ValueError,
            getattr(library, "ZstdError", OSError),
        )
    return None, ()


def _unpacked_at_most(file: IO[bytes]) -> int:
    """Return an upper bound on the unpacked size of Zstandard, from the headers of its blocks."""
    most = 0
    while len(magic := file.read(4)) == 4:  # noqa: PLR2004 - signs of frames
        if magic[1:] == _SKIPPED:
            file.seek(int.from_bytes(file.read(4), "little"), io.SEEK_CUR)
            continue
        [flags] = file.read(1) or b"\0"
        alone = flags >> 5 & 1
        known = (alone, 2, 4, 8)[flags >> 6]
        file.seek((1 - alone) + (0, 1, 2, 4)[flags & 3] + known, io.SEEK_CUR)
        last = 0
        while not last and len(head := file.read(3)) == 3:  # noqa: PLR2004 - heads of blocks
            block = int.from_bytes(head, "little")
            last = block & 1
            kind = block >> 1 & 3
            size = block >> 3
            most += size if kind < 2 else _BLOCK  # noqa: PLR2004 - as it is, or one byte again and again
            file.seek(1 if kind == 1 else size, io.SEEK_CUR)
        file.seek(4 if flags & 4 else 0, io.SEEK_CUR)
    return most
