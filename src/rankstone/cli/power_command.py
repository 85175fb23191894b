"""``rankstone power``: how many queries would show a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, comma_list, given_options, printed, reading
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from rankstone import Plan

DEFAULT_MEASURES = "nDCG@10"
FORMATS = ("table", "json", "csv", "md")


@click.command("power", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="[QRELS A B [C]…]")
@comma_list(
    "-d", "--difference", "differences", required=True, metavar="D,…", help="true differences to be found"
)
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"measures [{DEFAULT_MEASURES}]")
@click.option("--deviation", type=float, metavar="S", help="no files: how much differences of queries vary")
@click.option("--scores", is_flag=True, help="FILES are scores per query: of --per-query, or trec_eval -q")
@click.option("--cluster", metavar="COLUMN", help="of --queries: users, sessions, which are independent")
@click.option("--queries", metavar="FILE", help="table of queries: query_id, any columns")
@click.option("--baseline", metavar="NAME", help="hold the others against it [of two runs the first]")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="of the family as a whole")
@click.option("--power", type=float, default=0.8, show_default=True, help="chance to find the difference")
@click.option(
    "--questions", type=click.IntRange(1), metavar="N", help="size of the family [pairs × measures]"
)
@click.option("--format", "form", default="table", metavar="|".join(FORMATS), help="[table]")
@printed
@click.option("--quiet", is_flag=True, help="no progress bar")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    differences: str,
    measures: tuple[str, ...],
    deviation: float | None,
    scores: bool,  # noqa: FBT001 - click passes flags so
    cluster: str | None,
    queries: str | None,
    baseline: str | None,
    confidence: float,
    power: float,
    questions: int | None,
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Say how many queries would show a difference, by the paired t-test.

    How much differences vary from query to query is taken from runs at hand (a pilot), or said.

    \b
    rankstone power qrels.txt bm25.run dense.run -m nDCG@10 -d 0.01,0.02,0.05
    rankstone power --deviation 0.2 -d 0.02 --power 0.9
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import power as planned
    from rankstone.cli.comparing import of_files
    from rankstone.cli.outputs import check_format, deliver, keep_freed_memory
    from rankstone.errors import UsageError

    check_format(form, FORMATS)
    keep_inputs(files, output, None)
    wanted = _numbers(differences)
    if (deviation is None) == (not files):
        raise UsageError(
            "either runs or --deviation say how much differences vary",
            given=" ".join(files) or "neither",
            fix="rankstone power QRELS A B -d 0.02, or rankstone power --deviation 0.2 -d 0.02",
        )
    pilot: Any = deviation
    if files:
        named = split_columns(columns)
        names = (measures or (DEFAULT_MEASURES,)) if not scores else measures
        given: dict[str, Any] = {**given_options(options), "columns": named, "baseline": baseline}
        given |= {"cluster": cluster, "queries": queries}
        keep_freed_memory()
        with Ticker(quiet=quiet) as ticker:
            more = {} if scores else {"format_in": format_in, "progress": ticker}
            pilot = of_files(files, names, scores=scores, test="t", primary=names or None, **given, **more)
        named.require_present()
    plan = planned(pilot, wanted, power=power, confidence=confidence, questions=questions)
    deliver(None, written(plan, form, digits), output, None)


def _numbers(text: str) -> list[float]:
    from rankstone.errors import UsageError, printable

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            "--difference wants numbers, divided by commas",
            given=printable(text),
            expected="such as 0.01,0.05",
        ) from None


def written(plan: Plan, form: str, digits: int) -> str:
    """Return a plan in one of :data:`FORMATS`, ending in a newline."""
    from dataclasses import replace

    from rankstone.cli.outputs import as_csv, as_json

    if form == "json":
        return as_json(plan.report())
    if form == "csv":
        return as_csv(plan.table)
    shown = replace(plan, digits=digits)
    return shown.markdown() if form == "md" else shown.text(80) + "\n"
