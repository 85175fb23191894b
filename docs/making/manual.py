"""Manual pages, ``rankstone-eval.1`` and so on: what ``--help-all`` prints, as man shows it."""

from __future__ import annotations

from pathlib import Path

import click
from docs.making.command_line import commands

import rankstone
from rankstone.cli import cli

__all__ = ["manual", "write"]


def manual() -> dict[str, str]:
    """Return the pages of all commands by the names of their files."""
    context = click.Context(cli, info_name="rankstone")
    root: tuple[tuple[str, ...], click.Command, click.Context] = ((), cli, context)
    every = [root, *commands(cli, context)]
    return {
        f"{'-'.join(('rankstone', *names))}.1": _page(names, command, inner)
        for names, command, inner in every
    }


def _page(
    names: tuple[str, ...], command: click.Command, context: click.Context
) -> str:
    title, name = "-".join(("rankstone", *names)), context.command_path
    summary, *rest = (command.help or "").split("\n\n")
    head = f'.TH "{title.upper()}" 1 "" "rankstone {rankstone.__version__}" "rankstone"'
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [head, ".SH NAME", rf"{_escaped(title)} \- {_escaped(summary)}"]
    lines += [
        ".SH SYNOPSIS",
        rf"\fB{_escaped(name)}\fR {_escaped(usage)}",
        ".SH DESCRIPTION",
        _escaped(summary),
    ]
    for part in rest:
        example = part.startswith("rankstone ")
        lines += (
            [".PP", ".nf", _escaped(part), ".fi"]
            if example
            else [".PP", _escaped(part)]
        )
    options = [param.get_help_record(context) for param in command.get_params(context)]
    if isinstance(command, click.Group):
        below = [
            command.get_command(context, one) for one in command.list_commands(context)
        ]
        options += [
            (one.name or "", one.get_short_help_str(90))
            for one in below
            if one is not None
        ]
    lines.append(".SH OPTIONS")
    for record in options:
        if record is not None and record[1]:  # arguments are in the synopsis
            lines += [".TP", rf"\fB{_escaped(record[0])}\fR", _escaped(record[1])]
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    r"""Return text that roff leaves as it is.

    >>> print(_escaped(".5 a -m"))
    \&.5 a \-m
    """
    shown = text.replace("\\", r"\e").replace("-", r"\-")
    return "\n".join(
        rf"\&{line}" if line.startswith((".", "'")) else line
        for line in shown.splitlines()
    )


def write(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in manual().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).resolve().parents[2] / "build" / "man")
