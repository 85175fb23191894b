"""``rankstone ab``: A/B tests of rankings."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from rankstone.cli.of_logs import answer, of_logs
from rankstone.cli.options import comma_list


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
@comma_list("--shares", metavar="VARIANT=SHARE,…", help="how units should have been dealt out [equally]")
@click.option("--margin", type=float, metavar="D", help="a difference that does not matter")
@click.option(
    "--correction",
    metavar="holm|bonferroni|holm_sidak|sidak|hochberg|hommel|bh|by|none",
    help="of all p together [holm]",
)
@click.option("--confidence", type=float, metavar="SHARE", help="of intervals [0.95]")
@click.option(
    "--sequential", is_flag=True, help="results that hold at every look at a running experiment, not at one"
)
@click.option("--planned", type=int, metavar="N", help="units it ends with: a warning before that")
@click.option(
    "--invalid", metavar="error|drop", help="rows with a value that is missing or unreadable [error]"
)
@of_logs
def command(log: str, **asked: Any) -> None:  # noqa: ANN401 - click hands values over as they are
    """Compare what users did with the rankings of an A/B test.

    LOG has a row for every document shown: impression_id, position, clicked (0 or 1), variant, user_id.

    \b
    rankstone ab log.parquet
    rankstone ab log.csv --by bucket --versus control --k 5 --columns uid=user_id
    rankstone ab so-far.parquet --sequential
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.behaviour import ab

    if asked["shares"] is not None:
        asked["shares"] = _shares(asked["shares"])
    find = partial(ab, log)
    if asked["cluster"] == "impression_id":
        find, asked["cluster"] = partial(find, cluster=None), None
    answer(find, asked, [log])


def _shares(text: str) -> dict[str, float]:
    """Read --shares."""
    from rankstone.errors import UsageError, printable

    shares = {}
    for part in text.split(","):
        name, _, share = part.rpartition("=")
        if name.strip() in shares:
            raise UsageError(f"--shares names {printable(name.strip())} twice", given=printable(text, 60))
        try:
            shares[name.strip()] = float(share)
        except ValueError:
            raise UsageError(f"--shares {printable(part, 40)}", expected="VARIANT=SHARE,…") from None
    return shares
