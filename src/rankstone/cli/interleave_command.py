"""``rankstone interleave``: two rankings in one list, and which of them users prefer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.of_logs import answer, of_logs
from rankstone.cli.options import refuse_with

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.behaviour.results import Found

_MAKING = ("method", "k", "draws", "order")
_TESTING = ("cluster", "unknown", "invalid", "margin", "confidence")


@click.command("interleave")
@click.argument("files", metavar="A B | LISTS", nargs=-1, required=True)
@click.option("--clicks", metavar="LOG", help="test: what was clicked in LISTS")
@click.option("--method", metavar="team_draft|balanced|optimised", help="make: how [team_draft]")
@click.option("--k", type=int, metavar="N", help="make: length of lists [10]")
@click.option("--draws", type=int, metavar="N", help="make: lists a query [1]")
@click.option("--order", metavar="score|rank|input", help="make: what gives the order of the runs [score]")
@click.option(
    "--cluster", metavar="COLUMN", help="test: users, sessions, whose impressions depend on one another"
)
@click.option(
    "--unknown", metavar="error|drop", help="test: clicks on documents a list does not hold [error]"
)
@click.option("--invalid", metavar="error|drop", help="test: rows with a missing or unreadable value [error]")
@click.option("--margin", type=float, metavar="D", help="test: a preference that does not matter")
@click.option("--confidence", type=float, metavar="SHARE", help="test: of intervals [0.95]")
@click.option("--seed", type=int, metavar="N", help="of everything drawn [0]")
@of_logs
def command(files: tuple[str, ...], clicks: str | None, **asked: Any) -> None:  # noqa: ANN401 - click hands values over as they are
    """Interleave two rankings, and say which of them users prefer.

    A and B are runs: the lists to show are written to -o, or printed.  With --clicks, LISTS is that file, and
    LOG has a row a click: query_id, doc_id or position, and where there are such draw, impression_id, and
    clicked, 0 or 1, of whatever was shown.

    \b
    rankstone interleave a.run b.run -o lists.parquet --draws 20
    rankstone interleave lists.parquet --clicks log.parquet --cluster user_id
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.outputs import per_query_writer

    output = asked["output"]
    write = None if output is None or clicks is not None else per_query_writer(output, "-o")
    answer(partial(_found, files, clicks), asked, [*files, clicks], write)


def _found(files: tuple[str, ...], clicks: str | None, **given: Any) -> Found:  # noqa: ANN401 - as they are
    """Make lists of two runs, or test clicks on lists."""
    from rankstone.behaviour import interleave, interleaving_preference
    from rankstone.errors import UsageError

    if clicks is None:
        refuse_with("two runs: they are about --clicks", _among(given, _TESTING))
        if len(files) != 2:  # noqa: PLR2004 - two runs
            raise UsageError(
                "two runs are interleaved",
                given=" ".join(files),
                expected="rankstone interleave A B, or rankstone interleave LISTS --clicks LOG",
            )
        return interleave(*files, **given)
    refuse_with("--clicks", _among(given, _MAKING))
    if len(files) != 1:
        raise UsageError(
            "clicks are on one table of lists",
            given=" ".join(files),
            expected="rankstone interleave LISTS --clicks LOG",
        )
    return interleaving_preference(clicks, files[0], **given)


def _among(given: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str | None]:
    return {name: str(given[name]) for name in names if name in given}
