"""``rankstone eval``: score runs against judgments, or one labelled table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, named_runs, no_files, split_columns
from rankstone.cli.ending import end_with_bad_runs
from rankstone.cli.importing import importing
from rankstone.cli.options import (
    EPILOG,
    alignment,
    comma_list,
    given_options,
    on_bad_run,
    printed,
    reading,
    refuse_with,
    run_column,
)
from rankstone.cli.ticker import Ticker
from rankstone.words import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone import Scores, StoredScores
    from rankstone.cli.render import AnyScores, Beside
    from rankstone.spark import SparkScores

DEFAULT_MEASURES = "nDCG@10 AP RR@10 R@100 P@10"
#: what a labelled table has no use for
_OF_LISTS = ("exclude", "collapse", "intents")


@click.command("eval", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS RUN [RUN]…")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"measures [{DEFAULT_MEASURES}]")
@click.option(
    "--labeled",
    "--labelled",
    "labelled",
    metavar="FILE",
    help="one table with query_id, score, relevance (or label)",
)
@click.option("--one-group", is_flag=True, help="all lists are one, as for a pooled AUC")
@click.option("--per-query", metavar="FILE", help="write per-query values: .parquet, .csv or .jsonl")
@click.option(
    "--format", "form", default="table", metavar="table|json|jsonl|csv|md|latex|trec", help="[table]"
)
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@click.option("--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first")
@click.option("--collapse", metavar="REGEX", help="passages to documents: the first group is the document")
@click.option("--queries", metavar="FILE", help="table of queries: query_id, weight, session, any columns")
@comma_list("--by", metavar="COLUMN,…", help="means for each value of columns of the table of queries")
@click.option("--intents", metavar="FILE", help="weights of subtopics: query_id, subtopic, weight")
@click.option("--truth", metavar="RUN", help="judge by the first --depth documents of an exact run, no QRELS")
@click.option(
    "--convention", metavar="LIBRARY", help="print the numbers a library would: rankstone conventions"
)
@click.option("--ci", is_flag=True, help="an interval for every mean, over queries (docs/compare.md)")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="--ci: of each interval")
@click.option(
    "--interval",
    default="auto",
    show_default=True,
    metavar="auto|worst_case|t|bca|percentile|studentised|poisson",
    help="--ci: how",
)
@click.option("--cluster", metavar="COLUMN", help="--ci: column of --queries (users), drawn whole")
@click.option("--seed", type=int, default=0, show_default=True, help="--ci: of the resamples")
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="where: files are then Spark's, --per-query a folder (docs/spark.md)",
)
@click.option("--master", metavar="URL", help="--engine spark: local[4], spark://… [spark-submit's]")
@click.option("--memory", metavar="SIZE", help="stay within it, 4GB say: queries in ranges (docs/scale.md)")
@click.option("--within", type=float, metavar="E", help="--truth: scores so close to the last count as tied")
@on_bad_run
@importing
@run_column
@reading
@alignment
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    labelled: str | None,
    one_group: bool,  # noqa: FBT001 - click passes flags so
    per_query: str | None,
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    exclude: str | None,
    collapse: str | None,
    queries: str | None,
    by: str | None,
    intents: str | None,
    truth: str | None,
    convention: str | None,
    within: float | None,
    ci: bool,  # noqa: FBT001 - click passes flags so
    confidence: float,
    interval: str,
    cluster: str | None,
    seed: int,
    engine: str,
    master: str | None,
    memory: str | None,
    on_bad_run: str,
    run_column: str | None,
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Score runs against judgments.

    QRELS and RUN are TREC text, CSV, TSV, JSON, JSON lines, Parquet or Arrow files (also .gz, .zst), a
    folder or quoted glob of parts, or - for standard input; name=FILE names a run.

    \b
    rankstone eval qrels.txt bm25.run dense.run -m "nDCG@10 AP RR@10"
    rankstone eval --labeled clicks.parquet -m "nDCG@10 RR"
    rankstone eval qrels.txt bm25.run --convention xgboost -m "ndcg@10 map@10-"
    rankstone eval qrels.txt bm25.run --queries queries.csv --by country
    rankstone eval --truth exact.run --depth 10 hnsw.run
    rankstone eval qrels.txt bm25.run --ci -m "nDCG@10 AP"
    rankstone eval qrels.parquet runs/ --memory 4GB --per-query scores.parquet
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.outputs import check_format, deliver, formulas, keep_freed_memory, per_query_writer
    from rankstone.cli.render import FORMATS, Beside, render
    from rankstone.errors import UsageError, one_of, printable

    check_format(form, FORMATS)
    far = engine == "spark"
    _need("yes" if far else None, "--engine spark", {"--master": master})
    per_query_writer(None if far else per_query)
    keep_inputs([*files, *filter(None, (labelled, exclude, queries, intents, truth))], output, per_query)
    wanted = measures or _usual(convention)
    given = given_options(options) | ({} if convention is None else {"convention": convention})
    named = split_columns(columns)
    read = {"columns": named, "format_in": format_in}
    if memory is None:  # what is kept cannot be counted on
        keep_freed_memory()
    _need(queries, "--queries FILE", {"--by": by, "--cluster": cluster})
    _need(truth, "--truth RUN", {"--within": within})
    segments = _segments(by, queries, named)
    lists = {"exclude": exclude, "collapse": collapse, "intents": intents}
    how = {"labeled": labelled, "truth": truth, "convention": convention, "memory": memory}
    how |= {"one-group": "yes" if one_group else None, "run-column": run_column}
    one_of("on_bad_run", on_bad_run, ("stop", "skip"))
    how["on-bad-run"] = None if on_bad_run == "stop" else on_bad_run
    scores: AnyScores
    with Ticker(quiet=quiet) as ticker:
        if far:
            alone = formulas() if per_query is not None else "keep"
            refuse_with("--engine spark", how | {"csv-formulas": None if alone == "keep" else alone})
            scores = _far(files, wanted, master, per_query, {**read, **lists, "queries": queries, **given})
            per_query = None  # it is written, on the other side
        else:
            more = {**read, **lists, "queries": queries, "one_group": one_group, "within": within, **given}
            more["on_bad_run"] = on_bad_run
            scores = _scored(files, measures, how, ticker, more)
    named.require_present()
    beside = Beside(tuple(segments))
    if ci:
        asked: dict[str, Any] = {"interval": interval, "confidence": confidence, "seed": seed}
        asked |= {"cluster": cluster, "queries": queries, "columns": named}
        beside = _with_intervals(scores, beside, asked, quiet=quiet)
    elif cluster is not None:
        raise UsageError("--cluster is about intervals", given=printable(cluster), fix="--ci")
    text = render(scores, form, digits, beside)
    deliver(scores, text, output, per_query)
    if form not in ("table", "json") and not quiet:
        for line in scores.audit.lines():
            click.echo(line, err=True)
    end_with_bad_runs(scores.audit.bad_runs)


def _scored(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    how: Mapping[str, str | None],
    ticker: Ticker,
    options: dict[str, Any],
) -> Scores | StoredScores:
    """Score on this machine, the way that was asked for."""

    def without(*names: str) -> dict[str, Any]:
        return {name: value for name, value in options.items() if name not in (*names, "within")}

    def refuse(flag: str, *names: str) -> None:
        refuse_with(f"--{flag}", {name: how[name] for name in names})

    wanted = measures or _usual(how["convention"])
    if how["memory"] is not None:
        refuse("memory", "labeled", "truth", "convention", "one-group", "run-column")
        return _within(files, wanted, ticker, {**without("one_group"), "memory": how["memory"]})
    if how["labeled"] is not None:
        refuse("labeled", "truth", "run-column", "on-bad-run")
        refuse_with("--labeled", {name: options[name] for name in _OF_LISTS})
        return _labelled(files, how["labeled"], wanted, ticker, without(*_OF_LISTS, "on_bad_run"))
    if how["truth"] is not None:
        refuse("truth", "convention", "one-group", "run-column")
        return _against_run(how["truth"], options["within"], files, measures, ticker, without("one_group"))
    return _against(files, wanted, ticker, how["run-column"], without())


def _segments(by: str | None, queries: str | None, columns: Mapping[str, str]) -> list[str]:
    """Return the columns that means are grouped by; the table of queries has them."""
    from rankstone.errors import UsageError
    from rankstone.io import read_attributes

    segments = list(dict.fromkeys(name.strip() for name in (by or "").split(",") if name.strip()))
    if by is not None and not segments:
        raise UsageError(
            "--by names no column", given=by, expected="columns of --queries FILE: country,device"
        )
    if queries is not None and segments:
        read_attributes(queries, "query_id", columns).require(segments)
    return segments


def _with_intervals(scores: AnyScores, beside: Beside, asked: dict[str, Any], *, quiet: bool) -> Beside:
    """Find an interval for every mean, and say how."""
    from dataclasses import replace

    from rankstone import Scores, intervals
    from rankstone.errors import printable
    from rankstone.stats import FEW_CLUSTERS, METHODS, RESAMPLED

    with Ticker(quiet=quiet, what="blocks drawn") as drawing:
        held = scores if isinstance(scores, Scores) else scores.collect()
        ends = intervals(held, progress=drawing, **asked)
    over = "queries" if asked["cluster"] is None else f"queries, by {printable(asked['cluster'])}"
    method = asked["interval"]
    how = f"intervals  {100 * asked['confidence']:g} % over {over}, {method}: {METHODS[method]}"
    drawn = f", seed {asked['seed']}" if method in RESAMPLED else ""
    units = min(ends["units"].drop_nulls(), default=FEW_CLUSTERS)
    if asked["cluster"] is not None and units < FEW_CLUSTERS:
        drawn += f"\n           only {units} clusters: from fewer than {FEW_CLUSTERS} intervals are rough"
    return replace(beside, intervals=ends, told=how + drawn)


def _against(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    ticker: Ticker,
    run_column: str | None,
    options: dict[str, Any],
) -> Scores:
    from rankstone import evaluate

    labelled = "for one table with scores and labels: rankstone eval --labeled FILE"
    runs = judged_runs("eval", files, else_try=labelled)
    return evaluate(files[0], runs, measures, run_column=run_column, progress=ticker, **options)


def _within(
    files: tuple[str, ...], measures: tuple[str, ...], ticker: Ticker, options: dict[str, Any]
) -> StoredScores:
    """Score within a given memory."""
    from rankstone import evaluate_out_of_core

    runs = judged_runs("eval", files, else_try="--memory is for judgments and runs")
    return evaluate_out_of_core(files[0], runs, list(measures), progress=ticker, **options)


def _far(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    master: str | None,
    per_query: str | None,
    options: dict[str, Any],
) -> SparkScores:
    """Score on Spark."""
    from rankstone.cli.on_spark import scores_on_spark

    return scores_on_spark(files, measures, master, per_query, options)


def _usual(library: str | None) -> tuple[str, ...]:
    """Return the measures shown when nobody names any: a library's own, or ours."""
    if library is None:
        return (DEFAULT_MEASURES,)
    from rankstone.conventions import convention

    return tuple(convention(library).everything())


def _against_run(
    truth: str,
    within: float | None,
    files: tuple[str, ...],
    measures: tuple[str, ...],
    ticker: Ticker,
    options: dict[str, Any],
) -> Scores:
    """Score approximate runs against the head of an exact one."""
    from rankstone import Evaluator
    from rankstone.errors import UsageError
    from rankstone.truth import head_of_run

    depth = options.pop("depth", None)
    if depth is None:
        raise UsageError(
            "--truth needs --depth: how many documents of the exact run are right", fix="--depth 10"
        )
    if not files:
        raise UsageError(
            "--truth needs at least one run",
            fix=f"rankstone eval --truth {quoted(truth)} --depth {depth} RUN",
        )
    refuse_with("--truth", {"exclude": options["exclude"], "collapse": options["collapse"]})
    read = {"columns": options["columns"], "format_in": options["format_in"]}
    on_bad_run = options.pop("on_bad_run")
    order = options.get("order", "score")
    right = head_of_run(truth, depth, within=within or 0.0, order=order, **read)
    wanted = measures or (f"R(denom=min_R_k)@{depth}",)
    ready = Evaluator(right, wanted, **options)
    return ready.runs(named_runs(files), progress=ticker, on_bad_run=on_bad_run)


def _need(given: str | None, flag: str, others: dict[str, object]) -> None:
    """Refuse options that make no sense without another one."""
    from rankstone.errors import UsageError

    asked = [name for name, value in others.items() if value is not None]
    if asked and given is None:
        raise UsageError(f"{' and '.join(asked)} needs {flag}")


def _labelled(
    files: tuple[str, ...],
    labelled: str,
    measures: tuple[str, ...],
    ticker: Ticker,
    options: dict[str, Any],
) -> Scores:
    from rankstone import evaluate_labelled

    no_files(files)
    return evaluate_labelled(labelled, measures, progress=ticker, **options)
