"""How a command ends: the error message and the exit code; packages that are too old are named."""

from __future__ import annotations

import _thread
import errno
import io
import mmap
import os
import re
import signal
import sys
import threading
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING, Final, NoReturn

import click

from rankstone.cli.arguments import with_flags
from rankstone.errors import (
    InputError,
    MissingExtra,
    NotEnoughMemory,
    RankstoneError,
    masked,
    memory_limit,
    nearest,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


BUG: Final = 70
_INTERRUPTED: Final = 130
#: seconds until a lost interrupt is repeated
_SOON: Final = 0.01
#: errors of the system when output cannot be written, as on a full disk or where the shell has closed it
_FULL: Final = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EBADF)
#: bytes of address space in which threads, and libraries, find room
_ROOM_FOR_THREADS: Final = 4 << 30
_ROOM_FOR_LIBRARIES: Final = 3 << 29
#: a library for matrices, and the buffers it takes when it is loaded
_ROOM_FOR_BLAS: Final = 1 << 26
#: options of other tools → what to use here
_ELSEWHERE: Final = {
    **dict.fromkeys(
        ("--level", "--threshold", "-l"),
        "--rel 2 for all measures, or of one: AP(rel=2)",
    ),
    **dict.fromkeys(
        ("--cutoff", "--at", "--topk", "--top-k", "-k"),
        "the cutoff is part of a measure: nDCG@10; --depth cuts every list",
    ),
    **dict.fromkeys(
        ("--gain", "--gains"), "the gain is part of a measure: nDCG(gain=exp2)@10"
    ),
    "-q": "--per-query FILE writes values per query; --quiet hides notes",
}


def heed_memory_limit() -> None:
    """Start few threads where memory is limited, and say so where libraries may end without a word."""
    limit = memory_limit() or _ROOM_FOR_THREADS
    if limit < _ROOM_FOR_THREADS:
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        os.environ.setdefault("_RJEM_MALLOC_CONF", "background_thread:false")
    if limit < _ROOM_FOR_LIBRARIES:
        sys.meta_path.insert(0, RoomForBlas())
        need = f"{_ROOM_FOR_LIBRARIES >> 20:,} MiB are safe"
        _say(f"note: memory is limited to {limit >> 20:,} MiB (ulimit -v); {need}")


class RoomForBlas:
    """Looks for room before libraries load OpenBLAS, which tries for minutes, or for ever, where it finds none."""

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> None:
        """Find nothing; raise :class:`MemoryError` where there is too little room."""
        if name.partition(".")[0] not in ("numpy", "scipy"):
            return
        try:
            mmap.mmap(-1, _ROOM_FOR_BLAS).close()
        except OSError:
            raise MemoryError from None


class Terminated(KeyboardInterrupt):
    """The process is asked to end, other than by Ctrl-C: clean up, and end with this exit code."""


def heed_termination() -> None:
    """Clean up when the process is asked to end or its terminal is closed, unless that is ignored."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)


def _terminate(number: int, _frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # the cleaning up is not interrupted
    raise Terminated(128 + number)


def open_streams() -> None:
    """Reopen standard streams that the shell has closed, so that no other file takes their place.

    What is written to standard output then fails: a result that is lost is an error.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            lost = os.O_WRONLY if name == "stderr" else os.O_RDONLY
            mode = "r" if name == "stdin" else "w"
            stream = os.fdopen(os.open(os.devnull, lost), mode, encoding="utf-8")
            setattr(sys, name, stream)


def interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that came where nothing can be raised, as while a library creates a value."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Timer(_SOON, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(lost)


def leave(code: int) -> NoReturn:
    """End the process at once, without Python's slow clean-up."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    except OSError:
        code = code or InputError.exit_code
    os._exit(code)


def ended(error: BaseException) -> int:
    """Print the error that ended a command, and return the exit code."""
    error = _as_ours(error)
    if isinstance(error, RankstoneError):
        _say(f"error: {error}")
        return error.exit_code
    if isinstance(error, click.ClickException):
        if isinstance(error, click.NoSuchOption):
            error = _with_suggestions(error)
        with io.StringIO() as said:
            error.show(said)
            click.echo(masked(said.getvalue()), err=True, nl=False)
        hint = _ELSEWHERE.get(getattr(error, "option_name", ""))
        if hint and not getattr(error, "possibilities", None):
            _say(f"  fix:      {hint}")
        return error.exit_code
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        # click hides it; old versions do not name it as the cause
        ended_by = error.__cause__ or error.__context__ or error
        _say("terminated" if isinstance(ended_by, Terminated) else "interrupted")
        return ended_by.args[0] if isinstance(ended_by, Terminated) else _INTERRUPTED
    if isinstance(
        error, (BrokenPipeError, SystemExit)
    ):  # the latter is how click ends on a broken pipe
        # the reader of the output has gone: print nothing, not even while Python shuts down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
        return 0
    if isinstance(error, OSError) and error.filename is None and error.errno in _FULL:
        _say(f"error: standard output: {error.strerror}")
        return InputError.exit_code
    return _own_or_bug(error)


def _with_suggestions(error: click.NoSuchOption) -> click.NoSuchOption:
    """Return the error with options that are near: the dashes, which all have, make no two of them alike."""
    if error.ctx is None:
        return error
    options = {
        name.lstrip("-"): name
        for param in error.ctx.command.params
        for name in param.opts
        if name.startswith("--")
    }
    words = nearest(error.option_name.lstrip("-"), options)
    near = [options[word] for word in words]
    return click.NoSuchOption(error.option_name, error.message, near, error.ctx)


def _as_ours(error: BaseException) -> BaseException:
    """Return our error for what the system refuses, of which no code of ours is the cause."""
    if isinstance(error, PermissionError) and error.filename is not None:
        from rankstone.io import unreadable

        return unreadable(error, str(error.filename))
    if isinstance(error, RankstoneError):
        return error
    unloaded = isinstance(error, ImportError) and memory_limit() is not None
    return NotEnoughMemory() if unloaded or isinstance(error, MemoryError) else error


def end_with_bad_runs(bad: Mapping[str, InputError]) -> None:
    """Print which runs were left out, after the result is written, and exit as with bad input."""
    for name, error in bad.items():
        _say(f"error: {printable(name)} is left out: {with_flags(error)}")
    raise click.exceptions.Exit(InputError.exit_code)


def _own_or_bug(error: BaseException) -> int:
    from rankstone.cli.importing import own_mistake

    if os.environ.get("RANKSTONE_TRACEBACK"):
        raise error
    if (mistake := own_mistake(error) or outdated()) is not None:
        _say(f"error: {mistake}")
        return mistake.exit_code
    _say(
        f"internal error: {type(error).__name__}: {masked(printable(error))}\n"
        "  This is a bug in rankstone, not in your data. Please report it, with the command and what\n"
        "  it prints when run again with RANKSTONE_TRACEBACK=1 in the environment."
    )
    return BUG


def _say(text: str) -> None:
    with suppress(OSError):  # where nothing can be written, the exit code remains
        click.echo(text, err=True)


def outdated() -> MissingExtra | None:
    """Return the error for the first required package that is too old."""
    try:
        required = requires("rankstone") or []
    except PackageNotFoundError:  # run from a folder
        return None
    for line in required:
        found = re.match(r"([\w.-]+)[^;]*>=\s*([\d.]+)(?!.*\bextra\b)", line)
        if found is None:
            continue
        name, least = found.groups()
        try:
            installed = version(name)
        except PackageNotFoundError:
            continue
        if _numbers(installed) < _numbers(least):
            return MissingExtra(
                f"{name} {installed} is older than rankstone needs ({least} or later)",
                fix=f'python -m pip install --upgrade "{name}>={least}"',
            )
    return None


def _numbers(text: str) -> list[int]:
    """Return a version as numbers, without zeros at the end.

    >>> _numbers("2.10.0rc1") > _numbers("2.9"), _numbers("2.0") == _numbers("2")
    (True, True)
    """
    release = re.match(r"[\d.]*", text)
    numbers = [
        int(number) for number in re.findall(r"\d+", release[0] if release else "")
    ]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers
