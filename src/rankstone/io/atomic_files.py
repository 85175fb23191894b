"""Atomic writing of files: completely or not at all."""

from __future__ import annotations

import errno
import os
import platform
import tempfile
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import InputError, printable
from rankstone.io.file_roles import refuse_inputs
from rankstone.io.unreadable_files import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import StrPath


try:
    import fcntl
except (
    ImportError
):  # Windows, where a file that is open can be neither renamed nor removed
    fcntl = None  # type: ignore[assignment] # no locks there


#: errors of the system for a full disk
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


#: errors of file systems that cannot write through: some network drives, folders on Windows
_UNSYNCED: Final = (
    errno.EACCES,
    errno.EBADF,
    errno.EINVAL,
    errno.EISDIR,
    errno.ENOSYS,
    errno.ENOTSUP,
    errno.EPERM,
)


#: names of unfinished files of this machine; locks of other machines may not be visible
_PREFIX: Final = f".rankstone-{zlib.crc32(platform.node().encode()):08x}-"
_SUFFIX: Final = ".part"


@contextmanager
def atomic(path: StrPath, *, in_place: bool = False) -> Iterator[Path]:
    """Yield a temporary file next to ``path``; rename it on success, remove it otherwise.

    The content reaches the disk before the name does, and the name before this returns: after a power cut
    there is the old file or the new one.  A file that the same command has read is refused, unless it is to be
    changed ``in_place``.

    A process that is killed leaves its file behind; the next one that writes into the folder removes it.

    >>> with atomic("/tmp/doctest-atomic.txt") as unfinished:
    ...     _ = unfinished.write_text("done")
    >>> Path("/tmp/doctest-atomic.txt").read_text()
    'done'
    """
    if not in_place:
        refuse_inputs(path)
    target = Path(path)
    if (
        target.exists() and not target.is_file()
    ):  # a pipe or a device cannot be renamed to
        with _translated_errors(target), tempfile.TemporaryDirectory() as folder:
            yield (whole := Path(folder) / "whole")
            with target.open("wb") as stream:
                stream.write(whole.read_bytes())
        return
    target = Path(os.path.realpath(target))  # a symbolic link stays one
    with _translated_errors(target):
        if target.is_symlink():
            raise OSError(errno.ELOOP, "the link leads back to itself")
        _remove_leftovers(target.parent)
        handle, unfinished = _created(target.parent)
    try:
        with _translated_errors(target):
            yield unfinished
            _sync(unfinished, os.O_RDWR)
            unfinished.chmod(0o666 & ~_umask())
            unfinished.replace(target)
            _sync(target.parent, os.O_RDONLY)
    finally:
        unfinished.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)


def _sync(path: Path, flags: int) -> None:
    """Write a file or the names in a folder through to the disk, where the file system can do that."""
    try:
        handle = os.open(path, flags)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _UNSYNCED:
            raise


def _created(folder: Path) -> tuple[int | None, Path]:
    """Create a locked temporary file; the system releases the lock when this process ends.

    The handle that holds the lock is ``None`` on systems that have no such locks.
    """
    while True:
        handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=folder)
        if fcntl is None:
            os.close(handle)
            return None, Path(name)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if _still_exists(handle, name):
            return handle, Path(name)
        os.close(handle)  # another process removed it before it was locked


def _remove_leftovers(folder: Path) -> None:
    """Remove the unfinished files of killed processes of this machine.

    A file that is being written is locked, in whichever container; a file that cannot be locked is left
    alone.
    """
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        left = [
            entry.path
            for entry in entries
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX)
        ]
        for name in left:
            with suppress(OSError):
                handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if _still_exists(handle, name):
                        os.unlink(name)  # noqa: PTH108 - a name
                finally:
                    os.close(handle)


def _still_exists(handle: int, name: str) -> bool:
    """Return True if an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(name))
    except FileNotFoundError:
        return False


@contextmanager
def _translated_errors(target: Path) -> Iterator[None]:
    """Turn errors of Polars and of the system while writing into an :class:`InputError`."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        number = number_of(error)
        raise InputError(
            "the file cannot be written",
            where=str(target),
            given=os.strerror(number) if number else printable(error),
            fix="free some space, or choose another place" if number in _FULL else None,
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
