"""``rankstone clicks``: judgments made of a log of clicks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.options import csv_formulas, reading
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Callable

_EPILOG = "Of the values that stand for choice, the first is the default; docs/clicks.md says what each does."
#: suffix of the file of judgments → the method that writes it
_WRITERS: Final = {
    ".parquet": "write_parquet",
    ".pq": "write_parquet",
    ".csv": "write_csv",
    ".jsonl": "write_ndjson",
    ".ndjson": "write_ndjson",
    ".json": "write_json",
    ".qrels": "write_qrels",
    ".qrel": "write_qrels",
    ".trec": "write_qrels",
    ".txt": "write_qrels",
}


def _asking(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that numbers depend on."""
    texts = {
        "method": ("ctr|click|satisfaction|ips|pbm", "how clicks become grades"),
        "propensities": ("P,P,…|FILE", "of ips: the chance that positions 1, 2, … are looked at [a column]"),
        "smoothing": ("CLICKS,NONE", "clicks and impressions without one added to every pair [0,0]"),
        "grades": ("T,T,…", "where grades 1, 2, … begin, such as 0.02,0.1,0.3 [the estimate is the grade]"),
        "invalid": ("error|drop", "rows that say nothing, or what cannot be"),
        "lists": ("error|keep|drop", "lists of one session and query that skip or repeat positions"),
        "unlinked": ("error|drop", "of pbm: positions that no document links with the first"),
        "start": ("DATE", "leave out impressions before this day"),
        "end": ("DATE", "leave out impressions after this day"),
        "tz": ("ZONE", "whose days count, such as Europe/Berlin [that of the times]"),
        "times_in": ("ZONE", "the zone of times that are written without one [as they are written]"),
        "time_unit": ("s|ms|us|ns", "unit of times that are numbers [recognised by their size, and told]"),
    }
    counts = {
        "clip": (float, "P", "of ips: propensities below are taken as this"),
        "min_impressions": (int, "N", "pairs that were shown less often get no grade [1]"),
        "confidence": (float, "SHARE", "of intervals [0.95]"),
        "tolerance": (float, "SHARE", "of pbm: the fit stops where no position moves by more [1e-7]"),
        "max_iterations": (int, "N", "of pbm: rounds of the fit at most [100]"),
    }
    for name, (kind, values, text) in reversed(counts.items()):
        flag = f"--{name.replace('_', '-')}"
        command = click.option(flag, name, type=kind, metavar=values, help=text)(command)
    for name, (values, text) in reversed(texts.items()):
        flag = f"--{name.replace('_', '-')}"
        command = click.option(flag, name, metavar=values, help=text)(command)
    return command


@click.command("clicks", epilog=_EPILOG)
@click.argument("log", metavar="LOG")
@_asking
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="write all judgments: .parquet, .csv, .jsonl, .json (everything), or TREC's .qrels, .txt",
)
@csv_formulas
@click.option("--positions", metavar="FILE", help="write the table of positions: .parquet, .csv or .jsonl")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="pairs that are shown")
@click.option("--format", "form", default="table", metavar="table|json|jsonl|csv|md|latex", help="[table]")
@click.option(
    "--digits", type=click.IntRange(0, 17), default=4, show_default=True, help="decimals shown in tables"
)
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@reading
def command(
    log: str,
    output: str | None,
    positions: str | None,
    top: int,
    form: str,
    digits: int,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Make judgments of a log of clicks: click rates, corrected for positions where asked.

    LOG is a table of impressions with query_id, doc_id and clicked (0, 1, or a fraction between), perhaps
    position, session, propensity and time: CSV, TSV, JSON lines, Parquet, Arrow, a folder of parts, a table
    of a database.  It may be larger than memory.

    \b
    rankstone clicks log.parquet -o qrels.parquet
    rankstone clicks log.csv --columns item=doc_id,click=clicked --method pbm -o qrels.parquet
    rankstone clicks log.csv --method ips --propensities 1,0.6,0.4 --grades 0.02,0.1,0.3 -o qrels.txt
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.behaviour import clicks
    from rankstone.cli.clicks_render import FORMATS, View, render
    from rankstone.cli.outputs import check_format, keep_freed_memory, per_query_writer, write_rows

    check_format(form, FORMATS)
    write = _writer(output)
    per_query_writer(positions, "--positions")
    table = options["propensities"]
    keep_inputs(
        [log, *([table] if table and Path(table).exists() else [])], output, None, {"--positions": positions}
    )
    named = split_columns(columns)
    keep_freed_memory()
    given = {name: value for name, value in options.items() if value is not None}
    with Ticker(quiet=quiet) as ticker:
        found = clicks(log, columns=named, format_in=format_in, progress=ticker, **given)
    named.require_present()
    text = render(View(found, digits, top), form)
    if output is not None:
        write_rows(found, write, output)
    if positions is not None:
        write_rows(found.of_positions, per_query_writer(positions), positions)
    click.echo(text, nl=False)
    if form not in ("table", "json") and not quiet:
        for line in found.audit.lines():
            click.echo(line, err=True)


def _writer(output: str | None) -> str:
    """Return the method that writes such a file; refuse a suffix nobody can write before any work."""
    from rankstone.errors import UsageError

    suffix = ".csv" if output is None else Path(output).suffix.lower()
    if suffix not in _WRITERS:
        raise UsageError(f"-o {output}: no known suffix", expected=", ".join(_WRITERS))
    return _WRITERS[suffix]
