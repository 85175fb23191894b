"""``rankstone curve``: precision over recall, ROC, or a measure over its cutoff."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, no_files, split_columns
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, given_options, printed, reading, refuse_with
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from rankstone import Curves

DEFAULT_CURVES = "PR"


@click.command("curve", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS RUN [RUN]…")
@click.option("-m", "--curves", multiple=True, metavar="TEXT", help=f"curves or measures [{DEFAULT_CURVES}]")
@click.option("-k", "--cutoffs", metavar="K,K,…", help="for measures without their own: 1..10,20,50")
@click.option("--labeled", "--labelled", "labelled", metavar="FILE", help="one table with scores and labels")
@click.option("--one-group", is_flag=True, help="all lists are one, as for a pooled ROC")
@click.option("--reach", metavar="VALUE,…", help="at which cutoff the mean reaches these values")
@click.option("--per-query", metavar="FILE", help="write every query's points: .parquet, .csv or .jsonl")
@click.option("--format", "form", default="table", metavar="table|json|jsonl|csv", help="[table]")
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@click.option("--resamples", type=int, default=1000, show_default=True, help="bootstrap samples of queries")
@click.option("--seed", type=int, default=0, show_default=True, help="of these samples")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="of intervals of means")
@click.option("--band", default="0.1,0.9", show_default=True, help="quantiles of the queries' own curves")
@click.option("--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first")
@click.option("--collapse", metavar="REGEX", help="passages to documents: the first group is the document")
@click.option("--queries", metavar="FILE", help="table of queries: query_id, weight, any columns")
@click.option("--intents", metavar="FILE", help="weights of subtopics: query_id, subtopic, weight")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    curves: tuple[str, ...],
    cutoffs: str | None,
    labelled: str | None,
    one_group: bool,  # noqa: FBT001 - click passes flags so
    reach: str | None,
    per_query: str | None,
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    resamples: int,
    seed: int,
    confidence: float,
    band: str,
    exclude: str | None,
    collapse: str | None,
    queries: str | None,
    intents: str | None,
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Trace curves of runs against judgments, averaged over queries.

    PR is precision over recall; a measure with several cutoffs, or with -k, is traced over k.  The
    table shows means with their bootstrap intervals; csv, json and jsonl hold spread and bands, too.

    \b
    rankstone curve qrels.txt bm25.run dense.run -m "PR ROC(negatives=judged)"
    rankstone curve qrels.txt bm25.run -m "nDCG@1..100 R@1,5,10,100 RR" -k 1..20 --reach 0.5
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.curve_render import FORMATS, View, render
    from rankstone.cli.outputs import check_format, deliver, keep_freed_memory, per_query_writer

    check_format(form, FORMATS)
    per_query_writer(per_query)
    keep_inputs([*files, *filter(None, (labelled, exclude, queries, intents))], output, per_query)
    named = split_columns(columns)
    targets = _numbers("--reach", reach) if reach else ()
    wanted = {
        "curves": curves or (DEFAULT_CURVES,), "k": cutoffs, "resamples": resamples, "seed": seed,
        "confidence": confidence, "band": _two("--band", band), "queries": queries,
        "columns": named, "format_in": format_in, **given_options(options),
    }  # fmt: skip
    lists = {"exclude": exclude, "collapse": collapse, "intents": intents}
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        if labelled is None:
            traced = _against(files, ticker, {**wanted, **lists, "one_group": one_group})
        else:
            refuse_with("--labeled", lists)
            traced = _labelled(files, labelled, ticker, {**wanted, "one_group": one_group})
    named.require_present()
    deliver(traced, render(View(traced, digits, targets), form), output, per_query)
    if form not in ("table", "json") and not quiet:
        for line in [*traced.audit.lines(), traced.resampling_line()]:
            click.echo(line, err=True)


def _against(files: tuple[str, ...], ticker: Ticker, wanted: dict[str, Any]) -> Curves:
    from rankstone import Tracer

    labelled = "for one table with scores and labels: rankstone curve --labeled FILE"
    runs = judged_runs("curve", files, else_try=labelled)
    return Tracer(files[0], **wanted).trace(runs, progress=ticker)


def _labelled(files: tuple[str, ...], labelled: str, ticker: Ticker, wanted: dict[str, Any]) -> Curves:
    from rankstone import curve_labelled

    no_files(files)
    return curve_labelled(labelled, progress=ticker, **wanted)


def _two(flag: str, text: str) -> tuple[float, float]:
    from rankstone.errors import UsageError

    numbers = _numbers(flag, text)
    if len(numbers) != 2:  # noqa: PLR2004 - low and high
        raise UsageError(f"{flag} wants two numbers", given=text, expected="low,high, such as 0.1,0.9")
    return numbers[0], numbers[1]


def _numbers(flag: str, text: str) -> tuple[float, ...]:
    from rankstone.errors import UsageError, printable

    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = (math.nan,)
    if not all(map(math.isfinite, numbers)):
        raise UsageError(
            f"{flag} wants numbers, divided by commas", given=printable(text), expected="such as 0.5,0.8"
        )
    return numbers
