"""Writing files whole or not at all."""

from __future__ import annotations

import errno
import os
import platform
import re
import tempfile
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator


try:
    import fcntl
except ImportError:  # Windows, where a file that is open can be neither renamed nor removed
    fcntl = None  # type: ignore[assignment] # nobody locks there


#: what the system says where there is no more room
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


#: files that are being written, by processes of this machine; locks of others may not reach it
_OURS: Final = f".rankstone-{zlib.crc32(platform.node().encode()):08x}-"
_PART: Final = ".part"


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside ``path``; rename it there when all went well, remove it else.

    Whoever is killed cannot remove it; the next one who writes into the folder does.

    >>> with atomic("/tmp/doctest-atomic.txt") as unfinished:
    ...     _ = unfinished.write_text("done")
    >>> Path("/tmp/doctest-atomic.txt").read_text()
    'done'
    """
    target = Path(path)
    if target.exists() and not target.is_file():  # a pipe or a device takes bytes, never a rename
        with _writing(target), tempfile.TemporaryDirectory() as folder:
            yield (whole := Path(folder) / "whole")
            with target.open("wb") as stream:
                stream.write(whole.read_bytes())
        return
    target = target.resolve()  # a link stays a link
    with _writing(target):
        _clear(target.parent)
        handle, unfinished = _begun(target.parent)
    try:
        with _writing(target):
            yield unfinished
            unfinished.chmod(0o666 & ~_umask())
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)


def _begun(folder: Path) -> tuple[int | None, Path]:
    """Make a file to be written, and hold it locked: the system lets go of it when this process ends."""
    while True:
        handle, name = tempfile.mkstemp(prefix=_OURS, suffix=_PART, dir=folder)
        if fcntl is None:
            os.close(handle)
            return None, Path(name)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if _is_there(handle, name):
            return handle, Path(name)
        os.close(handle)  # somebody cleared it away before it was locked


def _clear(folder: Path) -> None:
    """Remove what processes of this machine left behind that were killed while they wrote.

    A file that somebody writes is locked, in whichever container; one that cannot be locked is left alone.
    """
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        left = [
            entry.path for entry in entries if entry.name.startswith(_OURS) and entry.name.endswith(_PART)
        ]
        for name in left:
            with suppress(OSError):
                handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if _is_there(handle, name):
                        os.unlink(name)  # noqa: PTH108 - a name
                finally:
                    os.close(handle)


def _is_there(handle: int, name: str) -> bool:
    """Say whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(name))
    except FileNotFoundError:
        return False


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Turn what Polars and the system say while writing into an :class:`InputError`."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        told = re.search(r"\(os error (\d+)\)", str(error))  # as Polars tells it
        number = getattr(error, "errno", None) or (int(told[1]) if told else 0)
        raise InputError(
            "the file cannot be written",
            where=str(target),
            given=os.strerror(number) if number else printable(error),
            fix="make room there, or name a file elsewhere" if number in _FULL else None,
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
