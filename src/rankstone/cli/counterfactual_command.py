"""``rankstone counterfactual``: what another ranking would have earned."""

from __future__ import annotations

from typing import Any

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.options import printed, reading
from rankstone.cli.ticker import Ticker


@click.command("counterfactual")
@click.argument("log", metavar="LOG")
@click.argument("target", metavar="[TARGET]", required=False)
@click.option("--propensity", metavar="action|examination", help="what the propensity is of [action]")
@click.option(
    "--discount", metavar="none|log2|reciprocal|W,W,…", help="what a reward counts at each position [none]"
)
@click.option("--k", "k", type=int, metavar="N", help="positions below it count nothing")
@click.option("--clip", type=float, metavar="W", help="add an estimate in which no weight is above this")
@click.option("--cluster", metavar="COLUMN", help="users, sessions: whose impressions depend on one another")
@click.option(
    "--order", metavar="score|rank|input", help="what gives the order of the target's lists [score]"
)
@click.option(
    "--invalid", metavar="error|drop", help="rows with a value that is missing or unreadable [error]"
)
@click.option("--confidence", type=float, metavar="SHARE", help="of intervals [0.95]")
@click.option("--format", "form", default="table", metavar="table|json|jsonl|csv|md|latex", help="[table]")
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@reading
def command(
    log: str,
    target: str | None,
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Estimate what another ranking would have earned, from a log of the one that was shown.

    LOG has a row for each document shown: reward, propensity, and where there are such impression_id,
    position, query_id, doc_id, prediction.  What the target would do stands in target_propensity or
    target_position, or in TARGET, a run.

    \b
    rankstone counterfactual log.parquet --clip 20 --cluster user_id
    rankstone counterfactual log.csv --columns click=reward,pscore=propensity
    rankstone counterfactual clicks.parquet new.run --propensity examination --discount log2 --k 10
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.behaviour import counterfactual
    from rankstone.cli.found_render import FORMATS, render
    from rankstone.cli.outputs import check_format, deliver

    check_format(form, FORMATS)
    keep_inputs([log, *([] if target is None else [target])], output, None)
    named = split_columns(columns)
    given = {name: value for name, value in options.items() if value is not None}
    if "discount" in given:
        given["discount"] = _weights(given["discount"])
    with Ticker(quiet=quiet) as ticker:
        found = counterfactual(log, target, columns=named, format_in=format_in, progress=ticker, **given)
    named.require_present()
    deliver(found, render(found, form, digits), output, None)
    if form not in ("table", "json") and not quiet:
        for line in found.audit.lines():
            click.echo(line, err=True)


def _weights(text: str) -> str | list[float]:
    """Return weights where numbers were given, and the name else."""
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        return text
