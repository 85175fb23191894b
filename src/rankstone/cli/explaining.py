"""What commands have in common that explain a value: options, checks, formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.outputs import as_json, as_markup, check_format, columns_of_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.cli.options import Command

__all__ = ["FORMATS", "explaining", "form_of_explanation", "typed", "typed_list", "written"]

FORMATS = ("text", "md", "latex", "html", "json")


def explaining(command: Command) -> Command:
    """Add the options of a command that explains a value on request."""
    width = click.IntRange(40)
    for option in (
        click.option("--width", type=width, metavar="N", help="--explain: columns of text [the terminal's]"),
        click.option("--lang", type=click.Choice(["en", "zh"]), help="--explain: language of headings [en]"),
        click.option("--explain", metavar="MEASURE", help=f"how a value came about; {'|'.join(FORMATS)}"),
    ):
        command = option(command)
    return command


def typed(command: Command) -> Command:
    """Add the options of a command that takes grades instead of files."""
    judged = "--grades: all judged grades, those of the list included"
    listed = "no files: grades of a list in order, - for an unjudged one"
    command = click.option("--judged", metavar="5,3,2,1", help=judged)(command)
    return click.option("--grades", metavar="5,3,-,2", help=listed)(command)


def typed_list(
    grades: str, judged: str | None, others: Sequence[str]
) -> tuple[dict[str, dict[str, float]], dict[str, list[str]]]:
    """Return judgments and a run of what was typed in, beside which no file or query has a place."""
    from rankstone.errors import UsageError
    from rankstone.explaining.typed import QUERY, typed_in

    if others:
        raise UsageError("--grades is a list of its own", given=" ".join(others), fix="leave one of them out")
    qrels, listed = typed_in(grades, judged)
    return qrels, {QUERY: listed}


def form_of_explanation(form: str, others: dict[str, Any]) -> str:
    """Return the format of an explanation, and refuse options that play no part in one.

    Parameters
    ----------
    form
        What --format says, ``table`` where it says nothing.
    others
        Option → what was given for it.
    """
    from rankstone.cli.options import refuse_with

    source = click.get_current_context().get_parameter_source("digits")
    digits = "yes" if source == click.core.ParameterSource.COMMANDLINE else None
    refuse_with("--explain", {**{name: str(value or "") for name, value in others.items()}, "digits": digits})
    form = "text" if form == "table" else form
    check_format(form, FORMATS)
    return form


def written(found: Sequence[Any], form: str, width: int | None) -> str:
    """Return explanations in one of :data:`FORMATS`, ending in a newline."""
    if form == "json":
        told = [one.to_dict() for one in found]
        return as_json(told[0] if len(told) == 1 else told)
    if form == "text":
        columns = width or columns_of_terminal()
        return "\n\n".join(one.text(columns) for one in found) + "\n"
    return as_markup(found, form)
