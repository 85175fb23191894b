"""Commands that hold runs against judgments: what all are called with, and how they answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, split_columns
from rankstone.cli.importing import importing
from rankstone.cli.options import alignment, given_options, printed, reading
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["answer", "judging"]

Command = TypeVar("Command", bound=Callable[..., Any])
Found = TypeVar("Found")


def judging(measures: str, formats: str, *own: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Add files, measures and the options that such commands share; :func:`answer` takes them all.

    Parameters
    ----------
    measures
        What is computed where nobody says.
    formats
        Names of formats, the default first: ``table|json``.
    *own
        The command's own options, which stand between the measures and what is shared.
    """
    default, _, _ = formats.partition("|")
    shared = (
        alignment,
        reading,
        importing,
        click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error"),
        printed,
        click.option("--format", "form", default=default, metavar=formats, help=f"[{default}]"),
    )
    first = (
        click.option(
            "-m", "--measures", multiple=True, default=[measures], metavar="TEXT", help=f"[{measures}]"
        ),
        click.argument("files", nargs=-1, metavar="QRELS RUN [RUN]…"),
    )

    def added(command: Command) -> Command:
        for option in (*shared, *reversed(own), *first):
            command = option(command)
        return command

    return added


def answer(
    study: Callable[..., Found],
    asked: dict[str, Any],
    formats: Mapping[str, Callable[[Found, int], str]],
    lines: Callable[[Found], list[str]],
    **own: Any,  # noqa: ANN401 - of the study
) -> None:
    """Have a public function find the answer, and deliver it.

    Parameters
    ----------
    study
        The function: it takes judgments, runs and measures, and everything else by name.
    asked
        Values of the shared options.
    formats
        Name of a format → what writes it, with so many decimals.
    lines
        What was found in the data, told on standard error where a format has no room for it.
    **own
        Further arguments of the function.
    """
    from rankstone.cli.outputs import check_format, deliver, keep_freed_memory

    taken = ("files", "measures", "form", "digits", "output", "quiet", "columns", "format_in")
    files, measures, form, digits, output, quiet, columns, format_in = map(asked.pop, taken)
    check_format(form, formats)
    keep_inputs(files, output, None)
    runs = judged_runs(click.get_current_context().info_name or "", files)
    named = split_columns(columns)
    keep_freed_memory()
    given = {"columns": named, "format_in": format_in, **own, **given_options(asked)}
    with Ticker(quiet=quiet) as ticker:
        found = study(files[0], runs, list(measures), progress=ticker, **given)
    named.require_present()
    deliver(found, formats[form](found, digits), output, None)
    if form not in ("table", "json") and not quiet:
        for line in lines(found):
            click.echo(line, err=True)
