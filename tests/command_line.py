"""The command line within this process: what it prints, and how it ends.

A process of its own costs half a second and more, so it is left to tests of what only a process has: signals,
pipes, memory, what is imported.
"""

from __future__ import annotations

import sys
from contextlib import chdir
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from rankstone.cli import cli
from rankstone.cli.ending import ended

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

__all__ = ["Done", "command", "commands", "exit_code"]


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def exit_code(arguments: Sequence[str]) -> int:
    """Run a command with the streams as they are, and return how it ends."""
    shell, sys.argv = (
        sys.argv,
        ["rankstone", *arguments],
    )  # pages show the command that made them
    try:
        code = cli.main(list(arguments), prog_name="rankstone", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001 - as the command line does
        code = ended(error)
        from tests.pasted import follow

        follow(arguments, error, exit_code)
        return code
    finally:
        sys.argv = shell
    return code if isinstance(code, int) else 0


def command(
    *arguments: object,
    code: int | None = 0,
    stdin: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] = ".",
) -> Done:
    """Run a command with streams of its own, and check how it ends; ``None`` for whichever end but a bug."""
    with CliRunner().isolation(stdin, env) as streams, chdir(cwd):
        ending = exit_code([str(argument) for argument in arguments])
        sys.stdout.flush()
        sys.stderr.flush()
        done = Done(ending, *(stream.getvalue().decode() for stream in streams[:2]))
    expected = {code} if code is not None else {0, 1, 3, 4}
    assert done.returncode in expected, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


def commands() -> dict[str, click.Command]:
    """Return every command by its words: ``online ab``."""
    values: dict[str, click.Command] = {}

    def collect(name: str, command: click.Command) -> None:
        if not isinstance(command, click.Group):
            values[name] = command
            return
        context = click.Context(command)
        for word in command.list_commands(context):
            inner = command.get_command(context, word)
            assert inner is not None
            collect(f"{name} {word}".strip(), inner)

    collect("", cli)
    return values
