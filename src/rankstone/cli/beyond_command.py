"""``rankstone beyond``: what runs do beyond accuracy, to the catalogue, to users and to groups."""

from __future__ import annotations

from typing import Any

import click

from rankstone.cli.arguments import keep_inputs, named_runs, split_columns
from rankstone.cli.explaining import explaining
from rankstone.cli.importing import importing
from rankstone.cli.options import ordering, printed, reading, refuse_with
from rankstone.cli.ticker import Ticker


@click.command("beyond")
@click.argument("runs", nargs=-1, metavar="RUN [RUN]…")
@click.option(
    "-m", "--measures", multiple=True, metavar="TEXT", help="measures [the usual ones that the tables allow]"
)
@click.option("--items", metavar="FILE", help="table with doc_id and what is known of each item")
@click.option("--history", metavar="FILE", help="past interactions: query_id, doc_id")
@click.option("--qrels", metavar="FILE", help="judgments: what each user found relevant")
@click.option("--users", metavar="FILE", help="table with query_id and what is known of each user")
@click.option("--by", multiple=True, metavar="COLUMN", help="columns of --users: means by their values, too")
@click.option("--baseline", metavar="RUN", help="what was to be expected: Unexpectedness(against=baseline)")
@click.option("--catalogue-size", type=int, metavar="N", help="how many items there are")
@click.option(
    "--separator", default="|", show_default=True, metavar="TEXT", help="divides several categories"
)
@click.option(
    "--convention", metavar="LIBRARY", help="print the numbers a library would: rankstone conventions"
)
@click.option("-q", "--query", metavar="USER", help="--explain: whose value, where each user has one")
@click.option("--per-query", metavar="FILE", help="write values per user: .parquet, .csv or .jsonl")
@click.option("--format", "form", default="table", metavar="table|json|jsonl|csv|md", help="[table]")
@explaining
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@importing
@reading
@ordering
def command(
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    by: tuple[str, ...],
    catalogue_size: int | None,
    separator: str,
    convention: str | None,
    query: str | None,
    per_query: str | None,
    form: str,
    explain: str | None,
    lang: str | None,
    width: int | None,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    **given: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Measure runs beyond accuracy: coverage, novelty, diversity, popularity, calibration, fairness.

    RUN is a file as `rankstone eval` takes it, a user for a query and an item for a document; name=FILE
    names a run.  What a measure needs beside the run stands on its card: `rankstone measures show ILD`.

    \b
    rankstone beyond recs.parquet -m "Coverage@10 Gini@10" --catalogue-size 3706
    rankstone beyond recs.parquet --items items.csv --history train.parquet --users users.csv --by gender
    rankstone beyond recs.parquet --history train.parquet --convention rectools -m MeanInvUserFreq@10
    rankstone beyond recs.parquet --history train.parquet --explain Novelty@10 -q u42
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import beyond
    from rankstone.cli.beyond_render import FORMATS, render
    from rankstone.cli.explaining import form_of_explanation, written
    from rankstone.cli.outputs import check_format, deliver, keep_freed_memory, per_query_writer
    from rankstone.errors import UsageError

    if explain is None:
        refuse_with("a table", {"query": query, "lang": lang, "width": str(width or "")})
        check_format(form, FORMATS)
    else:
        form = form_of_explanation(form, {"measures": measures, "by": by, "per-query": per_query})
    per_query_writer(per_query)
    if not runs:
        raise UsageError("a run is needed", expected="rankstone beyond RUN [RUN]…")
    if by and given["users"] is None:
        raise UsageError("--by needs a table of users", fix="add --users FILE")
    tables = {name: given.pop(name) for name in ("items", "history", "qrels", "users", "baseline")}
    keep_inputs([*runs, *filter(None, tables.values())], output, per_query)
    named = split_columns(columns)
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        scores = beyond(
            named_runs(runs),
            measures or explain,
            **tables,
            catalogue_size=catalogue_size,
            separator=separator,
            columns=named,
            format_in=format_in,
            convention=convention,
            progress=ticker,
            **{name: value for name, value in given.items() if value is not None},
        )
    named.require_present()
    if explain is not None:
        found = [
            scores.explain(measure, query, run=run, lang=lang or "en")
            for run in scores.runs
            for measure in scores.measures
        ]
        deliver(scores, written(found, form, width), output, None)
        return
    deliver(scores, render(scores, form, digits, by), output, per_query)
    if form not in ("table", "json") and not quiet:
        for line in scores.audit.lines():
            click.echo(line, err=True)
