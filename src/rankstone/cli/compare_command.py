"""``rankstone compare``: which run is better, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, split_columns
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, Ticker, alignment, given_options, printed, reading, statistics

if TYPE_CHECKING:
    from rankstone import Comparison

DEFAULT_MEASURES = "nDCG@10 AP RR@10 P@10"
FORMATS = ("text", "json", "csv", "md", "latex", "html")


@click.command("compare", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS A B [C]…")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"measures [{DEFAULT_MEASURES}]")
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
@click.option("--per-query", metavar="FILE", help="write differences per query: .parquet, .csv or .jsonl")
@click.option("--format", "form", default="text", metavar="|".join(FORMATS), help="[text]")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="of words")
@click.option(
    "--width", type=click.IntRange(40), metavar="N", help="columns of text [the terminal's, 80 in a pipe]"
)
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@click.option("--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first")
@click.option("--collapse", metavar="REGEX", help="passages to documents: the first group is the document")
@click.option("--convention", metavar="LIBRARY", help="compare the numbers that a library would print")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    scores: bool,  # noqa: FBT001 - click passes flags so
    per_query: str | None,
    form: str,
    width: int | None,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    queries: str | None,
    exclude: str | None,
    by: str | None,
    bounds: bool,  # noqa: FBT001 - click passes flags so
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
    from rankstone.cli.outputs import check_format, deliver, keep_freed_memory, per_query_writer

    check_format(form, FORMATS)
    per_query_writer(per_query)
    keep_inputs([*files, *filter(None, (exclude, queries))], output, per_query)
    named = split_columns(columns)
    given: dict[str, Any] = {**given_options(options), "columns": named, "queries": queries}
    given["by"] = [name.strip() for name in (by or "").split(",") if name.strip()]
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker, Ticker(quiet=quiet, what="blocks drawn") as drawing:
        given |= {"exclude": exclude, "format_in": format_in, "bounds": bounds, "progress": ticker}
        found = of_files(files, measures, scores=scores, drawing=drawing, **given)
    named.require_present()
    deliver(found, written(found, form, digits, width), output, per_query)
    if form != "text" and not quiet and found.audit is not None:
        for line in found.audit.lines():
            click.echo(line, err=True)


def of_files(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    *,
    scores: bool,
    **given: Any,  # noqa: ANN401 - options of the comparison
) -> Comparison:
    """Compare runs against judgments, or scores per query that somebody saved."""
    return (_of_scores if scores else _of_runs)(files, measures, given)


def _of_runs(files: tuple[str, ...], measures: tuple[str, ...], given: dict[str, Any]) -> Comparison:
    from rankstone import compare
    from rankstone.conventions import convention

    runs = judged_runs(
        "compare", files, else_try="for saved scores per query: rankstone compare --scores FILE"
    )
    library = given.get("convention")
    usual = (DEFAULT_MEASURES,) if library is None else tuple(convention(library).everything())
    return compare(files[0], runs, measures or usual, **given)


#: what is about judgments and runs, of which saved scores know nothing
_OF_RUNS = ("bounds", "exclude", "collapse", "convention", "format_in")


def _of_scores(files: tuple[str, ...], measures: tuple[str, ...], given: dict[str, Any]) -> Comparison:
    from rankstone import compare_scores
    from rankstone.cli.arguments import named_runs
    from rankstone.cli.options import refuse_with
    from rankstone.errors import UsageError

    refuse_with("--scores", {name.replace("_", "-"): "yes" if given.get(name) else None for name in _OF_RUNS})
    if not files:
        raise UsageError(
            "--scores needs a file of scores", fix="rankstone eval QRELS A B --per-query scores.parquet"
        )
    own = {name: value for name, value in given.items() if name not in (*_OF_RUNS, "progress")}
    source = files[0] if len(files) == 1 and "=" not in files[0] else named_runs(files)
    return compare_scores(source, list(measures) or None, **own)


def written(found: Comparison, form: str, digits: int, width: int | None) -> str:
    """Return a comparison in one of :data:`FORMATS`, ending in a newline."""
    from dataclasses import replace

    from rankstone.cli.outputs import as_json
    from rankstone.cli.render import conventions_line

    if form == "json":
        return as_json(found.report())
    if form == "csv":
        return found.table.write_csv()
    shown = replace(found, digits=digits)
    if form != "text":
        writers = {"md": shown.markdown, "latex": shown.latex, "html": shown.html}
        return writers[form]().rstrip("\n") + "\n"
    lines = [] if found.audit is None else found.audit.lines()
    lines += [conventions_line(found)] if "alignment" in found.conventions else []
    return "\n".join([shown.text(width or _columns()), *([""] if lines else []), *lines]) + "\n"


def _columns() -> int:
    """Return how wide the terminal is, 80 where there is none."""
    import shutil
    import sys

    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
