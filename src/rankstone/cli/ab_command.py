"""``rankstone ab``: A/B tests of rankings."""

from __future__ import annotations

from typing import Any

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.options import printed, reading
from rankstone.cli.ticker import Ticker


@click.command("ab")
@click.argument("log", metavar="LOG")
@click.option("--by", metavar="COLUMN", help="the column of variants [variant]")
@click.option("--versus", metavar="VARIANT", help="the one that others are held against [the first in order]")
@click.option("--k", type=int, metavar="N", help="cutoff of CTR@k and clicked@k [10]")
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="what was dealt out to variants; impression_id for impressions [user_id]",
)
@click.option("--shares", metavar="VARIANT=SHARE,…", help="how units should have been dealt out [equally]")
@click.option("--margin", type=float, metavar="D", help="a difference that does not matter")
@click.option("--correction", metavar="holm|bonferroni|hochberg|bh|by|none", help="of all p together [holm]")
@click.option("--confidence", type=float, metavar="SHARE", help="of intervals [0.95]")
@click.option(
    "--invalid", metavar="error|drop", help="rows with a value that is missing or unreadable [error]"
)
@click.option("--format", "form", default="table", metavar="table|json|jsonl|csv|md|latex", help="[table]")
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@reading
def command(
    log: str,
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Compare what users did with the rankings of an A/B test.

    LOG has a row for every document shown: impression_id, position, clicked (0 or 1), variant, user_id.

    \b
    rankstone ab log.parquet
    rankstone ab log.csv --by bucket --versus control --k 5 --columns uid=user_id
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.behaviour import ab
    from rankstone.cli.found_render import FORMATS, render
    from rankstone.cli.outputs import check_format, deliver

    check_format(form, FORMATS)
    keep_inputs([log], output, None)
    named = split_columns(columns)
    given = {name: value for name, value in options.items() if value is not None}
    if "shares" in given:
        given["shares"] = _shares(given["shares"])
    if given.get("cluster") == "impression_id":
        given["cluster"] = None
    with Ticker(quiet=quiet) as ticker:
        found = ab(log, columns=named, format_in=format_in, progress=ticker, **given)
    named.require_present()
    deliver(found, render(found, form, digits), output, None)
    if form not in ("table", "json") and not quiet:
        for line in found.audit.lines():
            click.echo(line, err=True)


def _shares(text: str) -> dict[str, float]:
    """Read --shares."""
    from rankstone.errors import UsageError, printable

    shares = {}
    for part in text.split(","):
        name, _, share = part.rpartition("=")
        try:
            shares[name.strip()] = float(share)
        except ValueError:
            raise UsageError(f"--shares {printable(part, 40)}", expected="VARIANT=SHARE,…") from None
    return shares
