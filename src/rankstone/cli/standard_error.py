"""The progress bar.

What libraries of other languages write on standard error: passed on, but for panics of Polars' threads.

A thread of Polars that meets a damaged file writes a page about its own code before Python hears of it, and
our message says all there is to say.  So our own messages go to standard error as it was, and what else is
written there goes through a pipe.
"""

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID


#: seconds before a bar appears
_PATIENCE: Final = 1.0
#: what may be said before the end: the number of rows of a text is an estimate
_NEARLY: Final = 0.99
_PANIC: Final = re.compile(rb"thread '.*panicked at ")
#: seconds that a process of ours which still writes to standard error is waited for
_DRAIN_PATIENCE: Final = 0.5


@dataclass(eq=False)
class _Stream:
    """One start of a table: rows so far, since when, and of how many."""

    extent: Callable[[], int | None]
    began: float
    rows: int = 0


class Ticker:
    """A progress bar on standard error for work of more than a second.

    It shows how many rows were read and how fast; if their number can be estimated, also the share
    read so far and the time left.

    Parameters
    ----------
    what
        What is counted.
    """

    def __init__(self, what: str = "rows") -> None:
        self._what = what
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._count = 0
        self._began = 0.0
        self._streams: list[_Stream] = []

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        return self

    def __call__(self, count: int) -> None:
        """Count; the bar appears after a second."""
        self._count += count
        if self._progress is None and time.monotonic() - self._began > _PATIENCE:
            self._start()
        if self._progress is not None and self._task is not None:
            share, _ = self._share()
            total = None if share is None else 1.0
            self._progress.update(
                self._task, completed=share or 0.0, total=total, **self.fields()
            )

    @property
    def visible(self) -> bool:
        """Whether there is a bar by now."""
        return self._progress is not None

    def fields(self) -> dict[str, Any]:
        """Return the texts of the bar: count, rate, share and time left."""
        share, left = self._share()
        return {
            "count": f"{self._count:,} {self._what}",
            "rate": self._rate(),
            "share": "" if share is None else f"{share:.0%}",
            "left": "" if left is None else f"{_clock(left)} left",
        }

    @contextmanager
    def stream(
        self, extent: Callable[[], int | None]
    ) -> Iterator[Callable[[int], None]]:
        """Count the rows of one table; ``extent`` estimates their number."""
        stream = _Stream(extent, time.monotonic())
        self._streams.append(stream)

        def count(rows: int) -> None:
            stream.rows += rows
            self(rows)

        try:
            yield count
        finally:
            self._streams.remove(stream)

    def _rate(self) -> str:
        if self._what != "rows":
            return ""
        rate = self._count / max(time.monotonic() - self._began, 1e-9)
        for size, name in ((1e6, " M"), (1e3, " k")):
            if rate >= size:
                return f"{rate / size:.1f}{name} rows/s"
        return f"{rate:.0f} rows/s"

    def _share(self) -> tuple[float | None, float | None]:
        """Return which share of the tables at work is read, and how many seconds the rest takes."""
        extents = [stream.extent() for stream in self._streams]
        known = [extent for extent in extents if extent]
        if not known or len(known) < len(extents):
            return None, None
        share = min(sum(stream.rows for stream in self._streams) / sum(known), _NEARLY)
        seconds = time.monotonic() - min(stream.began for stream in self._streams)
        return share, seconds * (1 - share) / share if share else None

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        fields = ("count", "rate", "share", "left")
        self._progress = Progress(
            BarColumn(bar_width=20),
            *(TextColumn(f"{{task.fields[{name}]}}") for name in fields[:2]),
            TimeElapsedColumn(),
            *(TextColumn(f"{{task.fields[{name}]}}") for name in fields[2:]),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(
            "reading", total=None, count="", rate="", share="", left=""
        )
        self._progress.start()

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()


def _clock(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds.

    >>> _clock(65), _clock(3725)
    ('1:05', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class NativeErrors:
    """Standard error of this process, held until :meth:`close`.

    Only for a process of our own: a replaced ``sys.stderr`` is left alone, and
    ``RANKSTONE_TRACEBACK`` shows everything as it is written.
    """

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._thread: Thread | None = None
        stderr = sys.stderr
        if (
            os.environ.get("RANKSTONE_TRACEBACK")
            or stderr is not sys.__stderr__
            or stderr is None
        ):
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
        """Stop, and show what was held back if it is needed to find a bug."""
        if self._thread is None:
            return
        os.dup2(self._own, 2)
        self._thread.join(_DRAIN_PATIENCE)
        if shown:
            with suppress(OSError):
                os.write(self._own, b"".join(self._held))
