"""``rankstone report``: a comparison as one HTML page that opens offline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.compare_command import of_files
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, Ticker, alignment, given_options, reading, statistics

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("report", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS A B [C]…")
@click.option("-o", "--output", required=True, metavar="FILE", help="the page, report.html")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help="measures [nDCG@10 AP RR@10 P@10]")
@click.option("--scores", is_flag=True, help="FILES are scores per query: of --per-query, or trec_eval -q")
@click.option("--baseline", metavar="NAME", help="hold the others against it [of two runs the first]")
@click.option(
    "--primary", metavar="TEXT", help="measures the verdict is about; the rest explores [the first]"
)
@click.option("--bounds", is_flag=True, help="how far the unjudged documents could move each difference")
@click.option("--queries", metavar="FILE", help="table of queries: query_id, any columns")
@click.option("--by", metavar="COLUMN,…", help="ask for each value of columns of --queries, too")
@click.option("--cluster", metavar="COLUMN", help="of --queries: users, sessions, which are drawn whole")
@statistics
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="of words")
@click.option("--digits", type=click.IntRange(0, 17), default=4, show_default=True, help="decimals shown")
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@click.option("--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first")
@click.option("--collapse", metavar="REGEX", help="passages to documents: the first group is the document")
@click.option("--convention", metavar="LIBRARY", help="report the numbers that a library would print")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    output: str,
    measures: tuple[str, ...],
    scores: bool,  # noqa: FBT001 - click passes flags so
    digits: int,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    queries: str | None,
    exclude: str | None,
    by: str | None,
    bounds: bool,  # noqa: FBT001 - click passes flags so
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Put a comparison on one HTML page: verdict, queries side by side, curves, statistics, provenance.

    The page opens offline and fetches nothing.  It needs the extra: pip install "rankstone[report]"

    \b
    rankstone report qrels.txt bm25.run dense.run -o report.html
    rankstone report qrels.txt a.run b.run c.run --baseline a -m "nDCG@10 AP" -o report.html --lang zh
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.outputs import keep_freed_memory
    from rankstone.report import Report, require

    require()
    keep_inputs([*files, *filter(None, (exclude, queries))], output, None)
    named = split_columns(columns)
    given: dict[str, Any] = {**given_options(options), "columns": named, "queries": queries}
    given["by"] = [name.strip() for name in (by or "").split(",") if name.strip()]
    given |= {"exclude": exclude, "format_in": format_in, "bounds": bounds}
    keep_freed_memory()
    with (
        Ticker(quiet=quiet) as ticker,
        Ticker(quiet=quiet, what="blocks drawn") as drawing,
    ):
        found = of_files(files, measures, scores=scores, drawing=drawing, progress=ticker, **given)
    named.require_present()
    with Ticker(quiet=quiet, what="lists unfolded") as unfolded:
        Report(replace(found, digits=digits), command=_line(), progress=unfolded).write(output)


def _line() -> str:
    """Return the command line as somebody may type it again."""
    import shlex
    import sys

    arguments: Sequence[str] = sys.argv[1:]
    return shlex.join(["rankstone", *arguments])
