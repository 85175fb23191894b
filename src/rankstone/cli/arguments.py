"""What stands on the command line beside options: files, runs by name, names of columns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rankstone.words import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone.errors import UsageError
    from rankstone.io import Renames

__all__ = ["judged_runs", "keep_inputs", "named_runs", "no_command", "no_files", "read_once", "split_columns"]


def no_command(given: str, known: Iterable[str], fix: str | None = None) -> UsageError:
    """Return the error for a command that there is not."""
    from rankstone.errors import UsageError, nearest, printable

    close = nearest(given, known, n=1)
    return UsageError(
        f"there is no command {printable(given)!r}",
        expected=", ".join(known),
        fix=fix or (f"did you mean {close[0]}?" if close else None),
    )


def split_columns(columns: str | None) -> Renames:
    """Read --columns, and what --csv-separator and --decimal said."""
    import click

    from rankstone.io import CsvOptions, parse_columns

    names, context = parse_columns(columns or ""), click.get_current_context(silent=True)
    said = {} if context is None else context.meta
    names.csv = CsvOptions(said.get("rankstone.csv_separator"), said.get("rankstone.decimal"))
    return names


def named_runs(arguments: Sequence[str]) -> dict[str, object]:
    """Read RUN arguments: paths or addresses of databases, or one of them with its name=."""
    from rankstone.errors import UsageError

    named: dict[str, object] = {}
    for argument in arguments:
        name, path = _name_and_path(argument)
        if name in named:
            raise UsageError(
                f"two runs are called {name!r}",
                fix="give them names: bm25=runs/a/run.txt dense=runs/b/run.txt",
            )
        named[name] = path
    return named


def _name_and_path(argument: str) -> tuple[str, str]:
    from rankstone.io import is_database, stem

    name, _, path = argument.partition("=")
    said = name and path and not is_database(argument)  # in an address, = belongs to SQL or to the server
    if said and (is_database(path) or not Path(argument).exists()):
        return name, path
    return stem(argument), argument


def judged_runs(command: str, files: Sequence[str], *, else_try: str | None = None) -> dict[str, object]:
    """Return the runs of QRELS RUN [RUN]… by name; refuse fewer files.

    Parameters
    ----------
    command
        The command, for messages.
    files
        Its arguments.
    else_try
        What may have been meant.
    """
    from rankstone.errors import UsageError

    if len(files) < 2:  # noqa: PLR2004 - judgments and a run
        raise UsageError(
            "judgments and at least one run are needed",
            given=" ".join(files) or "nothing",
            expected=f"rankstone {command} QRELS RUN [RUN]…",
            fix=else_try,
        )
    return named_runs(files[1:])


def no_files(files: Sequence[str]) -> None:
    """Refuse files beside the one table of --labeled."""
    from rankstone.errors import UsageError

    if files:
        raise UsageError("--labeled takes one table and no other files", given=" ".join(files))


def read_once(inputs: Iterable[str]) -> None:
    """Refuse standard input in two places; what it and pipes hold is kept until the command ends."""
    import click

    from rankstone.errors import UsageError
    from rankstone.io import keeping_streams

    streams = [name for name in inputs if name == "-" or name.endswith("=-")]
    if len(streams) > 1:
        raise UsageError("standard input can be read only once", given=" ".join(streams))
    click.get_current_context().with_resource(keeping_streams())


def keep_inputs(
    inputs: Iterable[str],
    output: str | None,
    per_query: str | None,
    further: Mapping[str, str | None] | None = None,
) -> None:
    """Refuse, before any work, inputs read twice and outputs that cannot be written or spoil other files.

    Parameters
    ----------
    inputs
        Files that are read.
    output, per_query
        Files of -o and --per-query.
    further
        Flag → file, of other outputs.
    """
    from rankstone.errors import UsageError

    inputs = list(inputs)
    read_once(inputs)
    taken = {
        Path(_file_of(part)).resolve(): "an input"
        for name in inputs
        for part in (name.partition("=")[2] or name, name)
    }
    for flag, name in {"-o": output, "--per-query": per_query, **(further or {})}.items():
        if name is None:
            continue
        place = Path(name).resolve()
        if place in taken and (place.is_file() or not place.exists()):
            raise UsageError(f"{flag} {name} is {taken[place]}, too", fix="name another file")
        taken[place] = "the other output"
        _writable(flag, Path(name))


def _file_of(path: str) -> str:
    """Return the file a path stands for; of an address, the database's."""
    from rankstone.io import is_database, parse_address

    return parse_address(path).place if is_database(path) else path


def _writable(flag: str, target: Path) -> None:
    """Refuse what no file can be; files appear whole, so their folder must let in a new one."""
    from rankstone.errors import UsageError

    if target.is_dir():
        raise UsageError(
            f"{flag} {target} is a folder", fix=f"name a file in it: {quoted(str(target / 'scores'))}"
        )
    special = target.exists() and not target.is_file()  # a pipe or a device
    place = target if special else target.resolve().parent
    if not special and not place.is_dir():
        raise UsageError(
            f"{flag} {target}: there is no folder {place}", fix="make the folder first, or name another file"
        )
    if not os.access(place, os.W_OK):
        raise UsageError(f"{flag} {target} may not be written", fix="name a file in a folder of your own")
