"""``rankstone curve``: precision over recall, ROC, or a measure over its cutoff."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, no_files, split_columns
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, comma_list, given_options, printed, reading, refuse_with
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone import Curve, Curves

#: kind → what it traces unless -m says what
KINDS = {"pr": "PR", "roc": "ROC(negatives=judged)", "metric-k": "nDCG RR P R"}
#: cutoffs, where a target asks for the smallest that reaches it
_EVERY = range(1, 101)
_NAMES = {"pr": "PR", "roc": "ROC", "metric-k": "AtK"}


@click.command("curve", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS RUN [RUN]…")
@click.option("-m", "--curves", multiple=True, metavar="TEXT", help="curves or measures [those of --kind]")
@click.option(
    "--kind",
    metavar="|".join(KINDS),
    help="what is traced unless -m says it [pr; metric-k beside --target, --which-k]",
)
@comma_list("-k", "--cutoffs", metavar="K,K,…", help="for measures without their own: 1..10,20,50")
@click.option("--labeled", "--labelled", "labelled", metavar="FILE", help="one table with scores and labels")
@click.option("--one-group", is_flag=True, help="all lists are one, as for a pooled ROC")
@click.option(
    "--target",
    "--reach",
    "targets",
    multiple=True,
    metavar="[MEASURE=]VALUE,…",
    help="the smallest k at which the mean reaches these values: RR=0.5",
)
@click.option(
    "--which-k", is_flag=True, help="how well each k tells the runs apart, how steady their order is"
)
@click.option("--chart", metavar="FILE", help="draw the means of the first curve: .svg, .png, .pdf, .html")
@click.option("--cloud", metavar="FILE", help="draw the first run's mean over the curves of its queries")
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
    kind: str | None,
    cutoffs: str | None,
    labelled: str | None,
    one_group: bool,  # noqa: FBT001 - click passes flags so
    targets: tuple[str, ...],
    which_k: bool,  # noqa: FBT001 - the same
    chart: str | None,
    cloud: str | None,
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
    table shows means with their bootstrap intervals; csv, json and jsonl hold spread and bands, too
    (beside --target or --which-k, csv and jsonl hold their rows instead).

    \b
    rankstone curve qrels.txt bm25.run dense.run -m "PR ROC(negatives=judged)" --cloud cloud.svg
    rankstone curve qrels.txt bm25.run dense.run --target RR=0.5 --target R=0.8,0.9 -k 1..1000
    rankstone curve qrels.txt bm25.run dense.run other.run -m nDCG -k 1..10,20,50,100 --which-k
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.curve_render import FORMATS, View, render
    from rankstone.cli.outputs import (
        check_charts,
        check_format,
        deliver,
        keep_freed_memory,
        per_query_writer,
    )

    check_format(form, FORMATS)
    per_query_writer(per_query)
    beside = [*files, *filter(None, (labelled, exclude, queries, intents))]
    keep_inputs(beside, output, per_query, {"--chart": chart, "--cloud": cloud})
    check_charts({"chart": chart, "cloud": cloud})
    named = split_columns(columns)
    asked = _targets(targets)
    wanted = {
        "curves": _curves(kind, curves, asked, cutoffs, which_k=which_k),
        "resamples": resamples, "seed": seed, "confidence": confidence, "band": _two("--band", band),
        "queries": queries, "columns": named, "format_in": format_in, **given_options(options),
    }  # fmt: skip
    lists = {"exclude": exclude, "collapse": collapse, "intents": intents}
    _one_table(form, asked, files, which_k=which_k)
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        if labelled is None:
            traced = _against(files, ticker, {**wanted, **lists, "one_group": one_group})
        else:
            refuse_with("--labeled", lists)
            traced = _labelled(files, labelled, ticker, {**wanted, "one_group": one_group})
    named.require_present()
    text = render(View(traced, digits, asked, which_k=which_k), form)
    for name, file in (("means", chart), ("cloud", cloud)):
        if file is not None:
            traced.write_chart(file, name)
    deliver(traced, text, output, per_query)
    if form not in ("table", "json") and not quiet:
        for line in [*traced.audit.lines(), traced.resampling_line()]:
            click.echo(line, err=True)


def _curves(
    kind: str | None,
    curves: tuple[str, ...],
    targets: Mapping[str, list[float]],
    cutoffs: str | None,
    *,
    which_k: bool,
) -> tuple[Curve, ...]:
    """Return what is traced; -m, --kind and --target must agree."""
    from rankstone.errors import UsageError, one_of
    from rankstone.measures.at_cutoffs import DEFAULT_CUTOFFS, parse_curves, targets_of

    if kind is not None:
        one_of("kind", kind, KINDS)
    named = [name for name in targets if name]
    texts = curves or tuple(named) or (KINDS[kind or ("metric-k" if targets or which_k else "pr")],)
    found = parse_curves(texts, cutoffs, _EVERY if targets else DEFAULT_CUTOFFS)
    others = [curve for curve in found if kind is not None and curve.name != _NAMES[kind]]
    if others:
        raise UsageError(f"--kind {kind} does not trace {others[0]}", fix="leave --kind out, -m says it all")
    if targets:
        targets_of(found, targets)  # refuses what is not traced before any work
    return found


def _targets(texts: tuple[str, ...]) -> dict[str, list[float]]:
    """Read targets: measure → values; those of every measure under an empty name."""
    found: dict[str, list[float]] = {}
    for text in texts:
        measure, _, values = text.rpartition("=")
        found.setdefault(measure.strip(), []).extend(_numbers("--target", values, "MEASURE=VALUE: RR=0.5"))
    return found


def _one_table(
    form: str, targets: Mapping[str, list[float]], files: tuple[str, ...], *, which_k: bool
) -> None:
    """Refuse two tables in a format that holds one, and a choice among systems for a single one."""
    from rankstone.errors import UsageError

    if form in ("csv", "jsonl") and targets and which_k:
        raise UsageError(
            f"--format {form} holds one table: that of --target or that of --which-k", fix="--format json"
        )
    if which_k and len(files) < 3:  # noqa: PLR2004 - judgments and two runs
        raise UsageError("--which-k asks how well runs are told apart", expected="two runs or more")


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


def _numbers(flag: str, text: str, expected: str = "such as 0.5,0.8") -> tuple[float, ...]:
    from rankstone.errors import UsageError, printable

    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = (math.nan,)
    if not all(map(math.isfinite, numbers)):
        raise UsageError(f"{flag} wants numbers, divided by commas", given=printable(text), expected=expected)
    return numbers
