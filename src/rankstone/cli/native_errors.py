"""What libraries of other languages write on standard error: passed on, but for panics of Polars' threads.

A thread of Polars that meets a damaged file writes a page about its own code before Python hears of it, and
our message says all there is to say.  So our own messages go to standard error as it was, and what else is
written there goes through a pipe.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from threading import Thread
from typing import Final

__all__ = ["NativeErrors"]

_PANIC: Final = re.compile(rb"thread '.*panicked at ")
#: seconds that a process of ours which still writes there is waited for
_PATIENCE: Final = 0.5


class NativeErrors:
    """Standard error of this process, held until :meth:`close`.

    Only for a process of our own: whoever has replaced ``sys.stderr`` keeps what is there, and
    ``RANKSTONE_TRACEBACK`` shows everything as it is written.
    """

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._thread: Thread | None = None
        stderr = sys.stderr
        if os.environ.get("RANKSTONE_TRACEBACK") or stderr is not sys.__stderr__ or stderr is None:
            return
        try:
            if stderr.fileno() != 2:  # noqa: PLR2004 - standard error
                return
            self._own = os.dup(2)
        except OSError:
            return
        read, write = os.pipe()
        os.dup2(write, 2)
        os.close(write)
        sys.stderr = open(  # noqa: SIM115, PTH123 - for good; a descriptor
            self._own, "w", buffering=1, encoding=stderr.encoding, errors=stderr.errors
        )
        self._thread = Thread(target=self._pass_on, args=(read,), daemon=True)
        self._thread.start()

    def _pass_on(self, read: int) -> None:
        """Pass lines on until a thread panics; what follows is about that."""
        blank = b""
        with suppress(OSError), os.fdopen(read, "rb") as pipe:
            for line in pipe:
                if self._held or _PANIC.match(line):
                    self._held.append(line)
                elif not line.strip():  # a panic begins with such a line
                    blank += line
                else:
                    os.write(self._own, blank + line)
                    blank = b""

    def close(self, *, shown: bool) -> None:
        """Stop, and show what was held back, where somebody needs it to find a bug."""
        if self._thread is None:
            return
        os.dup2(self._own, 2)
        self._thread.join(_PATIENCE)
        if shown:
            with suppress(OSError):
                os.write(self._own, b"".join(self._held))
