"""What commands have in common that compare systems: options, and the comparison of what they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, named_runs, split_columns
from rankstone.cli.options import comma_list, given_options, on_bad_run, refuse_with, run_column, statistics
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone import Comparison
    from rankstone.cli.options import Command

__all__ = ["compared", "comparing", "of_files"]

DEFAULT_MEASURES: Final = "nDCG@10 AP RR@10 P@10"
#: what is about judgments and runs, of which saved scores know nothing
_OF_RUNS: Final = ("bounds", "exclude", "collapse", "convention", "format_in", "run_column")


def comparing(command: Command) -> Command:
    """Add the options of a command that compares systems."""
    passages = "passages to documents: the first group is the document"
    for option in (
        run_column,
        on_bad_run,
        click.option(
            "--convention", metavar="LIBRARY", help="compare the numbers that a library would print"
        ),
        click.option("--collapse", metavar="REGEX", help=passages),
        click.option(
            "--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first"
        ),
        click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error"),
        click.option(
            "--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="of words"
        ),
        statistics,
        click.option(
            "--cluster", metavar="COLUMN", help="of --queries: users, sessions, which are drawn whole"
        ),
        comma_list("--by", metavar="COLUMN,…", help="ask for each value of columns of --queries, too"),
        click.option("--queries", metavar="FILE", help="table of queries: query_id, any columns"),
        click.option(
            "--bounds", is_flag=True, help="how far the unjudged documents could move each difference"
        ),
        click.option(
            "--primary", metavar="TEXT", help="measures the verdict is about; the rest explores [the first]"
        ),
        click.option("--baseline", metavar="NAME", help="hold the others against it [of two runs the first]"),
        click.option(
            "--scores", is_flag=True, help="FILES are scores per query: of --per-query, or trec_eval -q"
        ),
        click.option(
            "-m", "--measures", multiple=True, metavar="TEXT", help=f"measures [{DEFAULT_MEASURES}]"
        ),
    ):
        command = option(command)
    return command


def compared(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    output: str | None,
    per_query: str | None,
    *,
    quiet: bool,
    keep_runs: bool = False,
    **given: Any,  # noqa: ANN401 - the options of :func:`comparing`, reading and alignment
) -> Comparison:
    """Compare what a command line names, with a progress bar."""
    from rankstone.cli.outputs import keep_freed_memory

    told = [name for name in (given["exclude"], given["queries"]) if name is not None]
    keep_inputs([*files, *told], output, per_query)
    named = split_columns(given["columns"])
    by = [name.strip() for name in (given["by"] or "").split(",") if name.strip()]
    own = ("by", "bounds", "columns", "exclude", "format_in", "queries", "run_column", "scores")
    rest = {name: value for name, value in given.items() if name not in own}
    wanted: dict[str, Any] = {**given_options(rest), **{name: given[name] for name in own}}
    wanted |= {"columns": named, "by": by, "keep_runs": keep_runs}
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker, Ticker(quiet=quiet, what="blocks drawn") as drawing:
        found = of_files(files, measures, progress=ticker, drawing=drawing, **wanted)
    named.require_present()
    return found


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
    usual: Sequence[str] = (DEFAULT_MEASURES,) if library is None else convention(library).everything()
    return compare(files[0], runs, measures or usual, **given)


def _of_scores(files: tuple[str, ...], measures: tuple[str, ...], given: dict[str, Any]) -> Comparison:
    from rankstone import compare_scores
    from rankstone.errors import UsageError

    skips = given.pop("on_bad_run", "stop")
    refuse_with("--scores", {"on-bad-run": None if skips == "stop" else skips})
    refuse_with("--scores", {name.replace("_", "-"): "yes" if given.get(name) else None for name in _OF_RUNS})
    if not files:
        raise UsageError(
            "--scores needs a file of scores", fix="rankstone eval QRELS A B --per-query scores.parquet"
        )
    own = {name: value for name, value in given.items() if name not in (*_OF_RUNS, "keep_runs", "progress")}
    source = files[0] if len(files) == 1 and "=" not in files[0] else named_runs(files)
    return compare_scores(source, list(measures) or None, **own)
