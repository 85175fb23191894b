"""Which files a command reads and which it writes: no output takes the place of an input.

Every reader notes the files that it opens (:func:`note_input`), members of folders and files named in
other files too; :func:`~rankstone.io.atomic_files.atomic` asks before it writes.  A file is known by its
device and inode, so that links, ``./`` and letter case lead to the same one.

In Python a method that writes has one path, which the caller meant to be written, and replaces what is
there; only :func:`rankstone.report`, which reads and writes in one call, is guarded as commands are.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rankstone.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone._basics import StrPath

    Identity = tuple[int | str, ...]

#: the files of the command that runs
_roles: FileRoles | None = None


class FileRoles:
    """The files of one command.

    Parameters
    ----------
    outputs
        Flag → file that will be written.

    Raises
    ------
    UsageError
        When two outputs are one file.
    """

    def __init__(self, outputs: Mapping[str, StrPath]) -> None:
        #: file → what it is for the command, and the name by which it was read
        self._inputs: dict[Identity, tuple[str, str]] = {}
        #: file → the flag and the name as they were typed
        self._outputs: dict[Identity, str] = {}
        for flag, path in outputs.items():
            file = _identity(path)
            typed = f"{flag} {os.fspath(path)}"
            if file in self._outputs:
                raise _two_roles(typed, "the other output", self._outputs[file])
            if file is not None:
                self._outputs[file] = typed

    def note(self, path: StrPath | int, role: str) -> None:
        """Note a file that is read, and refuse it where it will be written."""
        file = _identity(path)
        if file is not None:
            name = "standard input" if isinstance(path, int) else os.fspath(path)
            self._inputs.setdefault(file, (role, name))
            self._check(self._outputs)

    def check(self, path: StrPath) -> None:
        """Refuse all outputs that were read, and the one that is about to be written."""
        file = _identity(path)
        unplanned = {} if file is None else {file: os.fspath(path)}
        self._check(unplanned | self._outputs)

    def _check(self, outputs: Mapping[Identity, str]) -> None:
        for file in outputs.keys() & self._inputs.keys():
            raise _two_roles(outputs[file], *self._inputs[file])


def _two_roles(output: str, role: str, name: str) -> UsageError:
    return UsageError(
        printable(f"{output} is also {role}", 400),
        given=printable(name, 200),
        fix="choose another file",
    )


def _identity(path: StrPath | int) -> Identity | None:
    """Return what tells a file from all others: device and inode; ``None`` for a pipe or a device.

    A file that is yet to be written is known by its folder and its name in lower case, because many file
    systems take ``OUT.csv`` and ``out.csv`` for one file.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - or the number of an open file
    except OSError:
        folder, name = os.path.split(os.path.realpath(str(path)))
        return (*(_identity(folder) or ()), name.casefold())
    has_content = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return (status.st_dev, status.st_ino) if has_content else None


@contextmanager
def separate_files(outputs: Mapping[str, StrPath]) -> Iterator[None]:
    """Refuse, inside, to write a file that was read; an outer command's guard stays in force.

    Parameters
    ----------
    outputs
        Flag → file that will be written.
    """
    global _roles  # noqa: PLW0603 - one process, one command
    before = _roles
    _roles = before or FileRoles(outputs)
    try:
        yield
    finally:
        _roles = before


def note_input(path: StrPath | int, role: str = "an input") -> None:
    """Note that a file is read, or an open file by its number.

    Parameters
    ----------
    path
        The file.
    role
        What it is, for the message: ``an input (the configuration)``.

    Raises
    ------
    UsageError
        When the command will write it.
    """
    if _roles is not None:
        _roles.note(path, role)


def refuse_inputs(path: StrPath) -> None:
    """Refuse to write, before anything is written, if this or another output was read.

    Raises
    ------
    UsageError
        With both roles of the file.
    """
    if _roles is not None:
        _roles.check(path)
