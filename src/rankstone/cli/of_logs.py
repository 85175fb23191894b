"""Commands that find something in a log: what all are called with, and how they answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.options import printed, reading
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone.behaviour.results import Found

__all__ = ["answer", "of_logs"]

Command = TypeVar("Command", bound=Callable[..., Any])


def of_logs(command: Command) -> Command:
    """Add the options that such commands share; :func:`answer` takes them all."""
    quiet = click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
    formats = "table|json|jsonl|csv|md|latex"
    form = click.option("--format", "form", default="table", metavar=formats, help="[table]")
    return form(printed(quiet(reading(command))))


def answer(
    find: Callable[..., Found], asked: dict[str, Any], inputs: Iterable[str | None], write: str | None = None
) -> None:
    """Have a function find the answer, and deliver it.

    Parameters
    ----------
    find
        Finds it, given everything by name.
    asked
        Values of the shared options, and of others; those that were not given are left to the function.
    inputs
        Files that are read.
    write
        The result's method that writes the file of ``-o``; ``None`` where that gets what would be printed.
    """
    from rankstone.cli.found_render import FORMATS, render
    from rankstone.cli.outputs import check_format, deliver, write_rows

    form, digits, output, quiet = map(asked.pop, ("form", "digits", "output", "quiet"))
    check_format(form, FORMATS)
    keep_inputs(filter(None, inputs), output, None)
    named = split_columns(asked.pop("columns"))
    given = {name: value for name, value in asked.items() if value is not None}
    with Ticker(quiet=quiet) as ticker:
        found = find(columns=named, progress=ticker, **given)
    named.require_present()
    if write is not None:
        write_rows(found, write, output)
    else:
        deliver(found, render(found, form, digits), output, None)
    if (write is not None or form not in ("table", "json")) and not quiet:
        for line in found.audit.lines():
            click.echo(line, err=True)
