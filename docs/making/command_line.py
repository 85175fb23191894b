"""The page of the command line: what every command says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankstone.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["commands", "page"]

_INTRO = """\
# The command line

What `rankstone COMMAND --help` prints, for every command. Names of columns, values of options and what is
said beneath a table: [tables in, options, and the lines below the table](options.md).
"""
_WIDTH = 80


def page() -> str:
    """Return the page."""
    lines = [_INTRO]
    for names, command, context in commands(
        cli, click.Context(cli, info_name="rankstone")
    ):
        context.terminal_width = context.max_content_width = _WIDTH
        level = "#" * min(2 + len(names) - 1, 3)
        lines += [
            f"{level} {' '.join(('rankstone', *names))}",
            "",
            "```text",
            command.get_help(context),
            "```",
            "",
        ]
    return "\n".join(lines)


def commands(
    group: click.Group, context: click.Context, above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command, click.Context]]:
    """Yield every command below a group, groups among them."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        names, inner = (
            (*above, name),
            click.Context(command, info_name=name, parent=context),
        )
        yield names, command, inner
        if isinstance(command, click.Group):
            yield from commands(command, inner, names)
