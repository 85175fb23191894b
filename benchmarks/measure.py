"""Time and peak memory of whole processes, run one after the other in turns."""

from __future__ import annotations

import os
import pty
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

#: a process that takes longer is ended and counts as failed
PATIENCE_S = 900.0
#: ``ru_maxrss`` counts bytes on macOS and KiB elsewhere
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Process:
    """One finished process."""

    seconds: float
    cpu: float
    peak: int
    code: int
    out: str
    err: str


@dataclass
class Measured:
    """All counted processes of one subject; or why there are none."""

    processes: list[Process] = field(default_factory=list)
    problem: str | None = None

    @property
    def seconds(self) -> float:
        """The median wall time."""
        return statistics.median(process.seconds for process in self.processes)

    @property
    def cpu(self) -> float:
        """The median CPU time, of all threads, in user and system mode."""
        return statistics.median(process.cpu for process in self.processes)

    @property
    def spread(self) -> tuple[float, float]:
        """The shortest and the longest wall time."""
        every = [process.seconds for process in self.processes]
        return min(every), max(every)

    @property
    def peak(self) -> int:
        """The largest peak memory, in bytes."""
        return max(process.peak for process in self.processes)

    @property
    def out(self) -> str:
        """What the last process printed."""
        return self.processes[-1].out


def run_process(command: Sequence[str], *, terminal: bool = False) -> Process:
    """Run a command to its end, perhaps with its output on a terminal, and ask the kernel what it took.

    A new process starts with its parent's peak on its account, so the peak of a tiny one shows ours: some
    20 MB, as this program imports nothing large.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        shown = _terminal() if terminal else out.fileno()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=shown, stderr=err
        )
        impatience = threading.Timer(PATIENCE_S, os.kill, (process.pid, signal.SIGKILL))
        impatience.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        impatience.cancel()
        if terminal:
            os.close(shown)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    cpu = usage.ru_utime + usage.ru_stime
    return Process(seconds, cpu, usage.ru_maxrss * RSS_UNIT, process.returncode, *texts)


def in_turns(
    commands: Mapping[str, Sequence[str]],
    runs: Mapping[str, int],
    once: Mapping[str, bool],
    on_terminal: Collection[str] = (),
    warm_ups: int = 1,
) -> dict[str, Measured]:
    """Run A B A B …: warm-up rounds that do not count, then each command as often as ``runs`` says.

    What is run but once, because it takes so long, is not warmed up either.
    """
    measured = {name: Measured() for name in commands}
    for turn in range(-warm_ups, max(runs.values(), default=0)):
        for name, command in commands.items():
            cold = turn < 0 and once[name]
            if measured[name].problem is not None or turn >= runs[name] or cold:
                continue
            process = run_process(command, terminal=name in on_terminal)
            _say(
                f"  {'warm-up' if turn < 0 else turn + 1}  {name}: {process.seconds:.2f} s"
            )
            if process.code:
                measured[name] = Measured(problem=_failure(process))
                _say(f"  {measured[name].problem}")
            elif turn >= 0:
                measured[name].processes.append(process)
    return measured


def _terminal() -> int:
    """Return the end of a new pseudo-terminal that a process writes to; what it writes is thrown away."""
    reading, writing = pty.openpty()

    def read() -> None:
        with suppress(OSError):  # the other end is closed
            while os.read(reading, 1 << 16):
                pass

    threading.Thread(target=read, daemon=True).start()
    return writing


def _failure(process: Process) -> str:
    """Say how a process ended, and the end of what it complained."""
    how = (
        f"signal {-process.code}" if process.code < 0 else f"exit status {process.code}"
    )
    tail = "\n".join(process.err.strip().splitlines()[-8:])
    return f"failed: {how}\n{tail}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
