"""Writing files whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["atomic"]

#: what the system says where there is no more room
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside ``path``; rename it there when all went well, remove it else.

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
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        os.close(handle)
    unfinished = Path(name)
    try:
        with _writing(target):
            yield unfinished
            unfinished.chmod(0o666 & ~_umask())
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


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
