"""``rankstone compare``: which run is better, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.comparing import compared, comparing
from rankstone.cli.ending import end_with_bad_runs
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, printed, reading

if TYPE_CHECKING:
    from rankstone import Comparison

FORMATS = ("text", "json", "csv", "md", "latex", "html")


@click.command("compare", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS A B [C]…")
@comparing
@click.option("--per-query", metavar="FILE", help="write differences per query: .parquet, .csv or .jsonl")
@click.option("--format", "form", default="text", metavar="|".join(FORMATS), help="[text]")
@click.option(
    "--width", type=click.IntRange(40), metavar="N", help="columns of text [the terminal's, 80 in a pipe]"
)
@printed
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: str | None,
    form: str,
    width: int | None,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Say which run is better, and how sure that is.

    Two runs: B against A.  More with --baseline: each against it; without: every pair.  The first measure
    (or --primary) decides, the others explore.  Runs called system/seed1, system/seed2 … are one system.

    \b
    rankstone compare qrels.txt bm25.run dense.run -m "nDCG@10 AP"
    rankstone compare qrels.txt bm25.run dense.run hybrid.run --baseline bm25 --margin 0.01
    rankstone compare --scores scores.parquet -m nDCG@10
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.outputs import check_format, deliver, per_query_writer

    check_format(form, FORMATS)
    per_query_writer(per_query)
    found = compared(files, measures, output, per_query, quiet=quiet, **options)
    deliver(found, written(found, form, digits, width), output, per_query)
    if form != "text" and not quiet and found.audit is not None:
        for line in found.audit.lines():
            click.echo(line, err=True)
    end_with_bad_runs({} if found.audit is None else found.audit.bad_runs)


def written(found: Comparison, form: str, digits: int, width: int | None) -> str:
    """Return a comparison in one of :data:`FORMATS`, ending in a newline."""
    from dataclasses import replace

    from rankstone.cli.outputs import as_csv, as_json, as_markup, columns_of_terminal
    from rankstone.cli.render import conventions_line

    if form == "json":
        return as_json(found.report())
    if form == "csv":
        return as_csv(found.table)
    shown = replace(found, digits=digits)
    if form != "text":
        return as_markup([shown], form)
    lines = [] if found.audit is None else found.audit.lines()
    lines += [conventions_line(found)] if "alignment" in found.conventions else []
    return "\n".join([shown.text(width or columns_of_terminal()), *([""] if lines else []), *lines]) + "\n"
