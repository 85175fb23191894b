"""The table of all options of the command line, on the page of options."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import click

from rankstone.cli import cli
from rankstone.cli.declaring import Option
from rankstone.cli.options import DIFFERS, PANELS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["WIDEST", "declared", "with_table"]

_BEGIN: Final = "<!-- all options: made by `make pages` -->\n"
_END: Final = "<!-- end of all options -->\n"
#: characters of a row: what is read in an editor, or as it stands
WIDEST: Final = 200
#: what most commands have is not listed by command
_MANY: Final = 12


def with_table(page: str) -> str:
    """Return the page with its table as the commands are now."""
    before, _, rest = page.partition(_BEGIN)
    return f"{before}{_BEGIN}{_table()}{_END}{rest.partition(_END)[2]}"


def declared() -> dict[str, list[tuple[str, Option]]]:
    """Return option → the commands that have it, and how."""
    found: dict[str, list[tuple[str, Option]]] = defaultdict(list)
    for name, command in _commands(cli):
        for param in command.params:
            if isinstance(param, Option):
                found[param.listed].append((name, param))
    return dict(found)


def _commands(
    group: click.Group, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, (*above, name))
        elif command is not None:
            yield " ".join((*above, name)), command


def _table() -> str:
    found, lines = declared(), list[str]()
    for panel, options in PANELS.items():
        lines += [
            "",
            f"### {panel}",
            "",
            "| option | values, the default first | meaning | commands |",
        ]
        lines.append("|---|---|---|---|")
        for name, one in options.items():
            ways: dict[str, list[str]] = defaultdict(list)
            for command, option in found[name]:
                ways[_values(option)].append(command)
            flags = ", ".join(f"`{flag}`" for flag in (f"--{name}", *one.short.split()))
            cells = [flags, _cell(one.text)]
            for values, commands in ways.items():
                many = len(commands) >= _MANY
                shown = f"{len(commands)} commands" if many else ", ".join(commands)
                row = f"| {cells[0]} | {values} | {cells[1]} | {shown} |"
                wide = [
                    f"| {cells[0]} | {values} | | |",
                    f"| | | {cells[1]} | {shown} |",
                ]
                lines += [row] if len(row) <= WIDEST else wide
                cells = ["", ""]  # other values of the option, in a row of their own
    why = [f"- `--{name}`: {reason}" for name, reason in DIFFERS.items()]
    lines += ["", "Why values or defaults of some commands differ:", "", *why]
    return "\n".join(lines).lstrip("\n") + "\n"


def _values(option: Option) -> str:
    one = option.declared
    values = f"`{_cell(one.values)}`" if one.values else "flag"
    return f"{values} [{_cell(one.shown)}]" if one.shown else values


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
