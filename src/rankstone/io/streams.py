"""What can be read only once: standard input, and pipes such as ``<(zcat run.txt.gz)``."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from rankstone.io.endless import LONGEST, drained
from rankstone.io.table import reading

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["can_be_read_again", "is_stream", "keeping_streams", "read_stream", "stream_title"]

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
    before, _kept = _kept, {}
    try:
        yield
    finally:
        _kept = before
