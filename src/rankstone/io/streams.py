"""What can be read only once: standard input, and pipes such as ``<(zcat run.txt.gz)``.

Streams that come to their end: Polars closes one as if it were done where a thread of it dies.

About how many rows files of text hold, from their sizes.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeGuard

import polars as pl

from rankstone.errors import InputError
from rankstone.io.damaged_files import LONGEST, PACKED, drained
from rankstone.io.input_table import reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


#: what streams held, by name, while somebody keeps it
_kept: dict[str, bytes] | None = None


def is_stream(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Say whether a path is standard input (``-``), a pipe or a device, and no file that lies somewhere.

    >>> is_stream("-"), is_stream("/dev/null"), is_stream("run.txt")
    (True, True, False)
    """
    if not isinstance(source, (str, os.PathLike)):
        return False
    name = os.fspath(source)
    if name == "-":
        return True
    try:
        mode = Path(name).stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def can_be_read_again(source: object) -> bool:
    """Say whether a source that has been read is still there: a stream only where somebody keeps it."""
    return _kept is not None or not is_stream(source)


def stream_title(name: str) -> str:
    """Return what to call a stream in messages."""
    return "standard input" if name == "-" else name


def read_stream(name: str, longest: int | None = LONGEST) -> bytes:
    """Return all that a stream holds, once it has come to its end.

    Parameters
    ----------
    name
        ``-`` for standard input, or a path.
    longest
        Bytes of a line, at most, where it is text that is read by lines; ``None`` for anything else.
    """
    if _kept is not None and name in _kept:
        return _kept[name]
    title = stream_title(name)
    with reading(title):
        if name == "-":
            content = drained(sys.stdin.buffer, title, longest)
        else:
            with Path(name).open("rb") as file:
                content = drained(file, title, longest)
    if _kept is not None:
        _kept[name] = content
    return content


@contextmanager
def keeping_streams() -> Iterator[None]:
    """Keep what streams hold: a command may look at its inputs more than once."""
    global _kept  # noqa: PLW0603 - one process, one command
    before = _kept
    _kept = {} if before is None else before
    try:
        yield
    finally:
        _kept = before


class BrokenOff(InputError):
    """A stream whose end never came: bytes that no reader of this format understands."""


def whole_batches(frame: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """Yield a frame's rows in pieces of about so many; refuse a stream that breaks off.

    A last row of nulls is sent along, so the end is known by it.

    >>> [piece.height for piece in whole_batches(pl.LazyFrame({"a": [1, 2, None]}), 2)]
    [2, 1]
    """
    schema = frame.collect_schema()
    end = pl.LazyFrame({name: [None] for name in schema}, schema=schema)
    held: pl.DataFrame | None = None  # may hold the last row, if nothing comes behind it
    for piece in pl.concat([frame, end]).collect_batches(chunk_size=rows):
        if held is not None:
            yield held
        held = None
        if all(value is None for value in piece.row(-1)):
            held = piece
        else:
            yield piece
    if held is None:
        raise BrokenOff("the file is damaged: reading it breaks off", fix="copy or write it again")
    if held.height > 1:
        yield held.head(-1)


#: bytes whose lines are counted, at the beginning of a file, in its middle and before its end
_SAMPLE: Final = 1 << 16


def rows_about(sources: Sequence[Path | bytes]) -> int | None:
    """Return about how many lines files hold that are not packed: their size by the length of a line.

    Parameters
    ----------
    sources
        Paths, or the content itself.
    """
    counts = [_lines(source) for source in sources]
    known = [count for count in counts if count is not None]
    return round(sum(known)) if len(known) == len(counts) else None


def _lines(source: Path | bytes) -> float | None:
    if isinstance(source, bytes):
        return source.count(b"\n")
    try:
        size = source.stat().st_size
        with source.open("rb") as file:
            sample = file.read(_SAMPLE)
            for place in (size // 2, size - _SAMPLE) if size > _SAMPLE else ():
                file.seek(place)
                sample += file.read(_SAMPLE)
    except OSError:
        return None
    if sample.startswith(PACKED):
        return None
    return size / len(sample) * sample.count(b"\n") if sample else 0.0
