"""``rankstone counterfactual``: what another ranking would have earned."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from rankstone.cli.of_logs import answer, of_logs


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
@of_logs
def command(log: str, target: str | None, **asked: Any) -> None:  # noqa: ANN401 - click hands values over as they are
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

    if asked["discount"] is not None:
        asked["discount"] = _weights(asked["discount"])
    answer(partial(counterfactual, log, target), asked, [log, target])


def _weights(text: str) -> str | list[float]:
    """Return weights where numbers were given, and the name else."""
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        return text
