"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rankstone.io.table import reading

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["atomic"]


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
        with tempfile.TemporaryDirectory() as folder:
            yield (whole := Path(folder) / "whole")
            with reading(str(target)), target.open("wb") as stream:
                stream.write(whole.read_bytes())
        return
    target = target.resolve()  # a link stays a link
    with reading(str(target)):
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        os.close(handle)
    unfinished = Path(name)
    try:
        with reading(str(target)):
            yield unfinished
            unfinished.chmod(0o666 & ~_umask())
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
