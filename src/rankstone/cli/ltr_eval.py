"""``rankstone ltr eval``: measure models or saved scores on labelled documents, and compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import keep_inputs, named_runs
from rankstone.cli.compare_command import FORMATS, written
from rankstone.cli.importing import importing
from rankstone.cli.ltr_data import data_of, noting, of_data
from rankstone.cli.options import given_options, printed, statistics
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from rankstone import Comparison

DEFAULT_MEASURES = "nDCG@10 AP RR@10 P@10"


@click.command("eval")
@click.argument("data", metavar="DATA")
@click.argument("systems", nargs=-1, required=True, metavar="MODEL|SCORES…")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"measures [{DEFAULT_MEASURES}]")
@click.option("--baseline", metavar="NAME", help="hold the others against it [of two the first]")
@click.option(
    "--primary", metavar="TEXT", help="measures the verdict is about; the rest explores [the first]"
)
@statistics
@click.option(
    "--convention", metavar="LIBRARY", help="the numbers a library would print: lightgbm, xgboost …"
)
@click.option("--ties", metavar="expected|best|worst|input|docid_desc|…", help="who comes first among equals")
@click.option("--empty", metavar="zero|one|undefined|drop|error", help="a query without a relevant document")
@click.option("--report", metavar="FILE", help="write the comparison as one HTML page that opens offline")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="of words")
@click.option(
    "--per-query", metavar="FILE", help="write values (differences) per query: .parquet, .csv, .jsonl"
)
@click.option("--format", "form", default="text", metavar="|".join(FORMATS), help="[text]")
@printed
@importing
@of_data
def command(
    data: str,
    systems: tuple[str, ...],
    measures: tuple[str, ...],
    report: str | None,
    per_query: str | None,
    form: str,
    digits: int,
    output: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Measure models or saved scores on labelled documents; two or more are compared.

    A model is our JSON, or a file of LightGBM, XGBoost or CatBoost, which must then be installed.  SCORES is
    a file with a number a line in the order of DATA, or a table with score.  Tied documents stand in any
    order with equal chance unless --ties says otherwise.

    \b
    rankstone ltr eval test.txt svm.json lambdarank=pred.txt -m "nDCG(gain=exp2)@10"
    rankstone ltr eval test.txt svm=svm.json trees=model.txt --baseline svm --report report.html
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.outputs import check_format, deliver, per_query_writer
    from rankstone.ltr.predictions import judgments, run_of

    check_format(form, FORMATS)
    per_query_writer(per_query)
    named = {name: str(path) for name, path in named_runs(systems).items()}
    keep_inputs([data, *named.values()], output, per_query, {"--report": report})
    if report is not None:
        from rankstone.report import require

        require()
    documents = data_of([data], options)
    with noting(quiet=options["quiet"]):
        runs = {name: run_of(path, documents) for name, path in named.items()}
    qrels = judgments(documents)
    quiet = options["quiet"]
    of_comparing = ("baseline", "primary", *_STATISTICS)
    compared = {name: options[name] for name in of_comparing if options[name] is not None}
    aligned = given_options({name: options[name] for name in ("convention", "ties", "empty")})
    if options["convention"] is None:
        aligned.setdefault("ties", "expected")
    wanted = list(measures) or _usual(options["convention"])
    if len(runs) == 1:
        _alone(report, compared, form)
        from rankstone import evaluate
        from rankstone.cli.render import render

        scores = evaluate(qrels, runs, wanted, **aligned)
        deliver(scores, render(scores, "table" if form == "text" else form, digits), output, per_query)
        return
    from rankstone import compare

    with Ticker(quiet=quiet, what="blocks drawn") as drawing:
        found = compare(
            qrels, runs, wanted, lang=options["lang"], drawing=drawing, keep_runs=True, **compared, **aligned
        )
    if report is not None:
        _page(found, report, digits, quiet=quiet)
    deliver(found, written(found, form, digits, None), output, per_query)


_STATISTICS = (
    "test", "interval", "correction", "confidence", "margin", "power", "permutations", "resamples", "seed",
)  # fmt: skip


def _usual(convention: str | None) -> list[str]:
    if convention is None:
        return [DEFAULT_MEASURES]
    from rankstone.conventions import convention as known

    return list(known(convention).everything())


def _alone(report: str | None, compared: dict[str, Any], form: str) -> None:
    """Refuse what only a comparison has."""
    from rankstone.cli.options import refuse_with

    flags = {name.replace("_", "-"): "yes" for name in compared} | {"report": report}
    refuse_with("a single system", flags)
    if form == "html":
        from rankstone.errors import UsageError

        raise UsageError("--format html is for comparisons", fix="name another system, or another format")


def _page(found: Comparison, path: str, digits: int, *, quiet: bool) -> None:
    from dataclasses import replace

    from rankstone.cli.report_command import command_line
    from rankstone.report import Report

    with Ticker(quiet=quiet, what="lists unfolded") as unfolded:
        Report(replace(found, digits=digits), command=command_line(), progress=unfolded).write(path)
