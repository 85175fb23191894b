"""``rankstone retention``: how many users come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.options import comma_list, printed, reading
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.behaviour import Retention

#: what is printed
SHOWN = ("days", "cohorts", "periods", "curve", "differences")

_EPILOG = (
    "Of the values that stand for choice, the first is the default; docs/retention.md says what each does."
)


def _asking(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that numbers depend on."""
    choices = {
        "kind": ("exact|rolling|bracket", "seen in that very period; or later, too; or in any of a bracket"),
        "segments": ("first|each", "a user is in the segment of the first event; or somebody else in each"),
        "invalid": ("error|drop", "rows without a user, or without a time that can be read"),
        "early": ("error|drop|move", "events before the registration; move: the first event registers"),
        "unregistered": ("error|drop|first|earlier", "users without a registration"),
        "duplicate_registrations": ("error|first|last", "users who register on several days"),
        "correction": (
            "holm|bonferroni|holm_sidak|sidak|hochberg|hommel|bh|by|none",
            "of the differences' p",
        ),
    }
    texts = {
        "by": ("COLUMN", "tell users apart by a column of the events, or of the registrations"),
        "versus": ("SEGMENT", "hold the other segments against this one [every two]"),
        "registrations": ("FILE", "table with user_id and time: when everybody registered"),
        "tz": ("ZONE", "whose days count, such as Europe/Berlin [that of the times]"),
        "times_in": ("ZONE", "the zone of times that are written without one [as they are written]"),
        "time_unit": ("s|ms|us|ns", "unit of times that are numbers [recognised by their size, and told]"),
        "week_start": ("DAY", "the day a week begins with [monday]"),
        "start": ("DATE", "leave out events before this day"),
        "end": ("DATE", "leave out events after this day, up to which was watched [of the last event]"),
        "since": ("DATE", "the first cohort; who was there before is in none"),
    }
    for name, (values, text) in reversed((choices | texts).items()):
        command = click.option(f"--{name.replace('_', '-')}", name, metavar=values, help=text)(command)
    command = click.option("--confidence", type=float, metavar="SHARE", help="of intervals [0.95]")(command)
    origin = "the number of the first period [0]"
    command = click.option("--day-origin", type=click.IntRange(0, 1), metavar="0|1", help=origin)(command)
    days = "which N: 1,3,7,30 or 1..30; brackets: 1..7,8..14  [what is usual for the unit]"
    command = comma_list("--days", metavar="N,N,…", help=days)(command)
    return click.option("--unit", metavar="day|week|month", help="what is counted in")(command)


@click.command("retention", epilog=_EPILOG)
@click.argument("events", metavar="EVENTS")
@_asking
@click.option("--show", default="days", metavar="|".join(SHOWN), help="which table [days]")
@click.option("--plot", is_flag=True, help="draw the curve above the table")
@click.option("--cohorts", metavar="FILE", help="write the whole triangle: .parquet, .csv or .jsonl")
@click.option(
    "--curve", "curve_file", metavar="FILE", help="write the curve as a chart: .svg, .png, .pdf, .html"
)
@click.option("--heatmap", metavar="FILE", help="write the triangle as a chart")
@click.option("--report", metavar="FILE", help="write everything as one HTML page that opens offline")
@click.option(
    "--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="of page, charts"
)
@click.option("--format", "form", default="table", metavar="table|json|jsonl|csv|md|latex", help="[table]")
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@reading
def command(
    events: str,
    show: str,
    plot: bool,  # noqa: FBT001 - click passes flags so
    cohorts: str | None,
    curve_file: str | None,
    heatmap: str | None,
    report: str | None,
    lang: str,
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - the same
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Say how many users come back: new, returning and login users, cohorts, day-N retention.

    EVENTS is a table with user_id and time, an event a row: CSV, TSV, JSON lines, Parquet, Arrow, a folder of
    parts, a table of a database.  It may be larger than memory.  Cohorts that were not watched for N days are
    left out of the retention after N days; they never count as 0.

    \b
    rankstone retention events.parquet --tz Europe/Berlin
    rankstone retention log.csv --columns uid=user_id,ts=time --unit week --show cohorts
    rankstone retention events.parquet --by app_version --versus 1.0 --plot --report retention.html
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.behaviour import retention
    from rankstone.cli.outputs import (
        check_charts,
        check_format,
        deliver,
        keep_freed_memory,
        per_query_writer,
    )
    from rankstone.cli.retention_render import FORMATS, View, render

    check_format(form, FORMATS)
    _check_shown(show, options["by"])
    per_query_writer(cohorts, "--cohorts")
    charts = {"curve": curve_file, "heatmap": heatmap}
    check_charts(charts, report)
    named_registrations = [options["registrations"]] if options["registrations"] else []
    written = {"--cohorts": cohorts, "--curve": curve_file, "--heatmap": heatmap, "--report": report}
    keep_inputs([events, *named_registrations], output, None, written)
    named = split_columns(columns)
    keep_freed_memory()
    given = {name: value for name, value in options.items() if value is not None}
    with Ticker(quiet=quiet) as ticker:
        found = retention(events, columns=named, format_in=format_in, progress=ticker, **given)
    named.require_present()
    view = View(found, digits, show, plot)
    text = render(view, form)
    _write(found, charts, report, lang)
    deliver(found, text, output, cohorts)
    if form not in ("table", "json") and not quiet:
        for line in found.audit.lines():
            click.echo(line, err=True)


def _check_shown(show: str, by: str | None) -> None:
    from rankstone.errors import UsageError, one_of

    one_of("show", show, SHOWN)
    if show == "differences" and by is None:
        raise UsageError("--show differences needs segments", fix="--by COLUMN")


def _write(found: Retention, charts: dict[str, str | None], report: str | None, lang: str) -> None:
    """Write charts and the page, each whole or not at all."""
    from rankstone.cli.report_command import command_line

    for kind, name in charts.items():
        if name is not None:
            found.write_chart(name, kind, lang=lang)
    if report is not None:
        found.write_html(report, lang=lang, command=command_line())
