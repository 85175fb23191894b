"""``rankstone interleave``: two rankings in one list, and which of them users prefer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.options import printed, reading, refuse_with
from rankstone.cli.ticker import Ticker

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
@click.option("--format", "form", default="table", metavar="table|json|jsonl|csv|md|latex", help="[table]")
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@reading
def command(
    files: tuple[str, ...],
    clicks: str | None,
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Interleave two rankings, and say which of them users prefer.

    A and B are runs: the lists to show are written to -o, or printed.  With --clicks, LISTS is that file, and
    LOG has a row a click: query_id, doc_id or position, and where there are such draw, impression_id, and
    clicked, 0 or 1, of whatever was shown.

    \b
    rankstone interleave a.run b.run -o lists.parquet --draws 20
    rankstone interleave lists.parquet --clicks log.parquet --cluster user_id
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.found_render import FORMATS, render
    from rankstone.cli.outputs import check_format, deliver

    check_format(form, FORMATS)
    written = _written(output) if clicks is None else None
    keep_inputs([*files, *([] if clicks is None else [clicks])], output, None)
    named = split_columns(columns)
    given = {name: value for name, value in options.items() if value is not None}
    with Ticker(quiet=quiet) as ticker:
        found = _found(files, clicks, given, columns=named, format_in=format_in, progress=ticker)
    named.require_present()
    if written is not None:
        getattr(found, written)(output)
    else:
        deliver(found, render(found, form, digits), output, None)
    if (written is not None or form not in ("table", "json")) and not quiet:
        for line in found.audit.lines():
            click.echo(line, err=True)


def _written(output: str | None) -> str | None:
    """Return how lists are written; ``None`` where they are printed."""
    from rankstone.cli.outputs import per_query_writer

    return None if output is None else per_query_writer(output, "-o")


def _found(files: tuple[str, ...], clicks: str | None, given: Mapping[str, Any], **reading: Any) -> Found:  # noqa: ANN401
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
        return interleave(files[0], files[1], **given, **reading)
    refuse_with("--clicks", _among(given, _MAKING))
    if len(files) != 1:
        raise UsageError(
            "clicks are on one table of lists",
            given=" ".join(files),
            expected="rankstone interleave LISTS --clicks LOG",
        )
    return interleaving_preference(clicks, files[0], **given, **reading)


def _among(given: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str | None]:
    return {name: str(given[name]) for name in names if name in given}
