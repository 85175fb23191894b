"""The files of a command line, held apart before any work: what is read, and what will be written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankstone._basics import quoted
from rankstone.cli.arguments import name_and_path
from rankstone.cli.options import FILES
from rankstone.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Sequence


def hold_files(context: click.Context) -> None:
    """Refuse, before any work, inputs read twice and outputs that cannot be written or are inputs.

    What standard input and pipes hold is kept until the command ends.  Files that are found only in other
    files and folders are refused when they are opened.
    """
    inputs: list[tuple[str, str]] = []
    outputs: dict[str, str] = {}
    for param in context.command.params:
        names = _values(context.params.get(param.name or ""))
        if isinstance(param, click.Argument):
            inputs += [("an input", name) for name in names if _is_for_files(param)]
        elif getattr(param, "writes", False):
            outputs |= {min(param.opts, key=len): name for name in names}
        elif hasattr(param, "declared") and FILES.search(param.declared.values):
            inputs += [(f"an input ({param.opts[0]})", name) for name in names]
    imported = context.meta.get("rankstone.import", ())
    inputs += [("an input (--import)", name) for name in imported]
    if inputs or outputs:
        _hold(context, inputs, outputs)


def made_folder(name: str, *, empty: bool = False) -> Path:
    """Return a folder that exists from now on; refuse what is none, or has files where it has to be empty."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{printable(name)} cannot be written",
            given=error.strerror,
            expected="a folder, or the name of a new one",
        ) from error
    if empty and any(folder.iterdir()):
        raise UsageError(
            f"{printable(name)} has files in it, which are not overwritten",
            expected="an empty folder, or the name of a new one",
        )
    return folder


def _values(value: object) -> Sequence[str]:
    if isinstance(value, tuple):
        return value
    if isinstance(value, str):
        return [value]
    return ()


def _is_for_files(argument: click.Argument) -> bool:
    return not (argument.metavar or "").startswith(("MEASURE", "NAME", "FOLDER"))


def _hold(
    context: click.Context, inputs: list[tuple[str, str]], outputs: dict[str, str]
) -> None:
    from rankstone.io import is_database, keeping_streams, note_input, separate_files

    streams = [name for _, name in inputs if name == "-" or name.endswith("=-")]
    if len(streams) > 1:
        raise UsageError(
            "standard input can be read only once", given=" ".join(streams)
        )
    for flag, name in outputs.items():
        if is_database(name):
            raise UsageError(f"{flag} is the address of a database", expected="a file")
        _refuse_unwritable(flag, Path(name))
    context.with_resource(keeping_streams())
    context.with_resource(separate_files(outputs))
    for role, name in inputs if outputs else ():
        place = _file_of(name_and_path(name)[1])
        if Path(place).is_file():
            note_input(place, role)


def _file_of(path: str) -> str:
    """Return the file of a path; for an address, that of the database."""
    from rankstone.io import is_database, parse_address

    return parse_address(path).place if is_database(path) else path


def _refuse_unwritable(flag: str, target: Path) -> None:
    """Refuse targets that cannot be written; files are written whole, so their folder must be writable."""
    if target.is_dir():
        raise UsageError(
            f"{flag} {target} is a folder",
            fix=f"choose a file in it: {quoted(str(target / 'scores'))}",
        )
    special = target.exists() and not target.is_file()  # a pipe or a device
    end = Path(os.path.realpath(target))
    if end.is_symlink():
        raise UsageError(
            f"{flag} {target} is a link that leads back to itself",
            fix="choose another file",
        )
    place = target if special else end.parent
    if not special and not place.is_dir():
        raise UsageError(
            f"{flag} {target}: there is no folder {place}",
            fix="create the folder first, or choose another file",
        )
    if not os.access(place, os.W_OK):
        raise UsageError(
            f"{flag} {target} cannot be written",
            fix="choose a folder in which you may write",
        )
