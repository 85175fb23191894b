"""``rankstone eval``: score runs against judgments, or one labelled table."""

from __future__ import annotations

import shlex
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from rankstone._basics import counted, quoted
from rankstone.cli.arguments import (
    chosen_measures,
    judged_runs,
    named_runs,
    no_files,
    present,
    queries_of,
    refuse_with,
    split_columns,
    with_thresholds,
    words,
)
from rankstone.cli.command_files import made_folder
from rankstone.cli.declaring import declare
from rankstone.cli.ending import end_with_bad_runs
from rankstone.cli.execution import execute, formulas, progress_bar, written
from rankstone.cli.options import ALIGNMENT, FORMATS, LISTS, OF_MEANS, PRINTED, READING
from rankstone.errors import UsageError, one_of, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone import Scores, StoredScores
    from rankstone.spark import SparkScores

    AnyScores = Scores | StoredScores | SparkScores

_FORMATS: Final = (*FORMATS, "trec")
#: with more judgments than this, queries are scored in ranges that take no more than 3 GB
_MANY: Final = 1 << 24
#: way of scoring → what it cannot go with
_REFUSED = {
    "engine spark": (
        "labelled", "exact_run", "convention", "memory", "one_group", "run_column", "on_bad_run", "split", "corpus",
    ),
    "memory": ("labelled", "exact_run", "convention", "one_group", "run_column"),
    "labeled": (
        "exact_run", "run_column", "on_bad_run", "exclude", "unit", "same_as", "documents", "corpus", "intents",
        "split",
    ),
    "exact-run": (
        "convention", "one_group", "run_column", "exclude", "unit", "same_as", "documents", "corpus", "split",
    ),
}  # fmt: skip


@declare(
    "eval",
    {"files": "QRELS RUN [RUN]…"},
    f"measures rel convention per-query sort wide lang {PRINTED} {READING} {ALIGNMENT}",
    f"labeled one-group exact-run within {LISTS} queries by intents on-bad-run run-column import",
    "ci confidence interval cluster seed engine master memory",
    but={**OF_MEANS, "format": {"values": "|".join(_FORMATS)}},
)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    rel: float | None,
    labelled: str | None,
    exact_run: str | None,
    engine: str,
    master: str | None,
    memory: str | None,
    by: str | None,
    ci: bool,
    sort: str | None,
    wide: bool,
    lang: str | None,
    **given: Any,
) -> None:
    """Score runs against judgments.

    QRELS and RUN are TREC text, CSV, TSV, JSON, JSON lines, Parquet or Arrow files (also .gz, .zst), a
    folder or quoted glob of parts, or - for standard input; name=FILE names a run.

    rankstone eval qrels.txt bm25.run dense.run -m "nDCG@10 AP RR@10"
    rankstone eval --labeled clicks.parquet -m "nDCG@10 RR"
    rankstone eval qrels.txt bm25.run --convention xgboost -m "ndcg@10 map@10-"
    rankstone eval ragas.jsonl --convention ragas
    rankstone eval qrels.txt bm25.run --queries queries.csv --by country
    rankstone eval --exact-run exact.run --depth 10 hnsw.run
    rankstone eval qrels.txt runs/*.run --ci --sort nDCG@10
    rankstone eval qrels.parquet runs/ --memory 4GB --per-query scores.parquet
    """
    spark = engine == "spark"
    spoken = lang or "en"
    cluster = given["cluster"]
    columns = given["columns"]
    judged = () if labelled or spark else files
    given["queries"] = queries = queries_of(given["queries"], by, judged, columns)
    ways = {
        "engine spark": spark,
        "memory": memory,
        "labeled": labelled,
        "exact-run": exact_run,
    }
    every = {**given, "labelled": labelled, "exact_run": exact_run, "memory": memory}
    for way in filter(ways.get, ways):
        refuse_with(f"--{way}", every, _REFUSED[way])
    _need(queries, "--queries FILE", {"--by": by, "--cluster": cluster})
    _need(exact_run, "--exact-run RUN", {"--within": given["within"]})
    _need(spark or None, "--engine spark", {"--master": master})
    _need(ci or None, "--ci", {"--cluster": cluster})
    _check_shown(
        wide and given["form"],
        None if given["convention"] else sort,
        {"ci": ci, "by": by},
    )
    folder = given.pop("per_query") if spark else None
    if folder is not None:
        refuse_with("--engine spark", {"csv-formulas": formulas() != "keep"})
    one_of("on_bad_run", given["on_bad_run"] or "stop", ("stop", "skip"))
    inputs = [*files, labelled, given["exclude"], queries, given["intents"], exact_run]
    segments = _segments(by, queries, columns)
    chosen = {
        name: given.pop(name) for name in ("interval", "confidence", "seed", "cluster")
    }
    quiet = given["quiet"]
    wanted = chosen_measures(measures, given["convention"], rel)
    sort = sort and str(*with_thresholds([sort], rel))
    find: Callable[..., AnyScores]
    if spark:
        find = partial(_on_spark, files, wanted, master, folder)
    elif exact_run is not None:
        find = partial(_against_run, exact_run, files, measures and wanted)
    else:
        find = _evaluation(files, wanted, labelled, memory)
        if not (labelled or memory) and _has_many(files[0], given):
            find = _in_ranges(find)

    def show(scores: AnyScores, form: str, digits: int | None) -> str:
        scores = scores if sort is None else scores.sorted(sort)
        if wide:
            return written(scores, form, frame=scores.table())
        view: dict[str, Any] = {"by": tuple(segments), "ranks": sort, "lang": spoken}
        if ci:
            chosen["columns"] = split_columns(columns)
            chosen["queries"] = queries
            view |= _with_intervals(scores, chosen, spoken, quiet=quiet)
        return shown_scores(scores, form, digits, view)

    scores = execute(given, find, inputs, show=show, formats=_FORMATS)
    if scores.audit.bad_runs:
        end_with_bad_runs(scores.audit.bad_runs)


def _check_shown(form: str | bool, sort: str | None, others: Mapping[str, Any]) -> None:
    """Refuse --wide for other formats than rows of means, and to sort by no measure."""
    from rankstone.measures import parse_measure

    if sort is not None:
        parse_measure(sort)
    if form:
        refuse_with("--wide", others)
        if form not in ("csv", "jsonl"):
            raise UsageError(
                f"--wide cannot go with --format {form}", fix="--format csv --wide"
            )


def _evaluation(
    files: tuple[str, ...],
    measures: Sequence[Any],
    labelled: str | None,
    memory: str | None,
) -> Callable[..., AnyScores]:
    """Return what scores runs against judgments, or one table, called with the options."""
    from rankstone import evaluate

    if labelled is not None:
        no_files(files)
        return partial(evaluate, table=labelled, measures=measures)
    runs = judged_runs(
        "eval",
        files,
        else_try="for judgments and lists in one: name the file twice; "
        "for scores and labels in one: rankstone eval --labeled FILE; "
        "for answers with their contexts: rankstone answers FILE",
    )
    return partial(evaluate, files[0], runs, measures, memory=memory)


def _in_ranges(score: Callable[..., AnyScores]) -> Callable[..., AnyScores]:
    """Return what scores in ranges of queries, unless options need all judgments at once."""

    def scored(**options: Any) -> AnyScores:
        with suppress(UsageError):
            return score(memory="3GB", **options)
        return score(**options)

    return scored


def _has_many(qrels: str, options: Mapping[str, Any]) -> bool:
    """Return True for judgments that take gigabytes, with their scores; a small file is not opened for it."""
    from rankstone.io import read_judgments

    path = Path(qrels)
    columns = split_columns(options["columns"])
    large = path.is_dir() or (path.is_file() and path.stat().st_size > _MANY)
    return (
        large
        and (read_judgments(qrels, columns, options["format_in"]).extent() or 0) > _MANY
    )


def _segments(by: str | None, queries: str | None, columns: str | None) -> list[str]:
    """Return the columns that means are grouped by; the table of queries has them."""
    from rankstone.io import read_attributes

    segments = list(dict.fromkeys(words(by)))
    if by is not None and not segments:
        raise UsageError(
            "--by names no column",
            given=by,
            expected="columns of --queries FILE: country,device",
        )
    if queries is not None and segments:
        read_attributes(queries, "query_id", split_columns(columns)).require(segments)
    return segments


def _with_intervals(
    scores: AnyScores, chosen: dict[str, Any], lang: str, *, quiet: bool
) -> dict[str, Any]:
    """Find an interval for every mean, and say how."""
    from rankstone import Scores, intervals
    from rankstone.stats import FEW_CLUSTERS, RESAMPLED
    from rankstone.tables.phrases import phrase

    with progress_bar(quiet=quiet, what="blocks drawn") as drawing:
        held = scores if isinstance(scores, Scores) else scores.collect()
        ends = intervals(held, progress=drawing, **present(chosen))
    method = chosen["interval"] or "auto"
    by_default = "session" if (ends["units"] < ends["n"]).any() else None
    cluster = chosen["cluster"] or by_default
    level = 0.95 if chosen["confidence"] is None else chosen["confidence"]

    say = partial(phrase, "scores", lang=lang)
    over = say("over_queries")
    if cluster is not None:
        over = say("over_clusters", cluster=printable(cluster))
    how = phrase("comparison", f"method_{method}", lang)
    drawn = ""
    if method in RESAMPLED:
        drawn = say("drawn", seed=chosen["seed"] or 0)
    line = say(
        "intervals",
        level=f"{100 * level:g} %",
        over=over,
        method=method,
        how=how,
        drawn=drawn,
    )
    about = [line]

    units = min(ends["units"].drop_nulls(), default=FEW_CLUSTERS)
    if cluster is not None and units < FEW_CLUSTERS:
        about.append(say("few_clusters", units=f"{units:,}", least=FEW_CLUSTERS))
    return {"intervals": ends, "about": about}


def shown_scores(
    scores: AnyScores, form: str, digits: int | None, view: dict[str, Any]
) -> str:
    """Return the means in a format, with their segments and intervals."""
    by = view["by"]
    intervals = view.get("intervals")
    if form == "trec":
        if by or intervals is not None:
            raise UsageError(
                "trec_eval's format has no place for segments and intervals",
                fix="--format csv or jsonl",
            )
        return _trec(scores, digits)
    whole = None
    frame = None
    if form == "json":
        whole = scores.report(by)
        if intervals is not None:
            whole["intervals"] = intervals.to_dicts()
    elif form in ("csv", "jsonl"):
        frame = scores.mean(by=by)
        if intervals is not None:
            ends = intervals.select("run", "measure", "low", "high")
            frame = frame.join(
                ends, on=["run", "measure"], how="left", maintain_order="left"
            )
    return written(scores, form, digits, frame=frame, content=whole, **view)


def _trec(scores: AnyScores, digits: int | None) -> str:
    """Return trec_eval's three columns; a ``runid`` line begins each run."""
    from rankstone.measures import trec_name

    lines = []
    for run, means in scores.to_dict().items():
        lines.append(f"{'runid':<22}\tall\t{printable(run)}")
        for measure in scores.measures:
            value = means[str(measure)]
            if value is None:
                shown = "nan"
            elif measure.agg == "sum" and value == int(value):
                shown = str(int(value))
            else:
                shown = f"{value:6.{digits}f}"
            lines.append(f"{trec_name(measure):<22}\tall\t{shown}")
    return "\n".join(lines) + "\n"


def _on_spark(
    files: tuple[str, ...],
    measures: Sequence[Any],
    master: str | None,
    folder: str | None,
    **options: Any,
) -> SparkScores:
    """Score files that Spark reads: local ones, or whatever else it has a file system for.

    Parameters
    ----------
    files
        Judgments and runs; ``name=PATH`` names a run.
    measures
        What to compute.
    master
        Spark's: ``local[2]``, ``spark://host:7077``; that of spark-submit unless given.
    folder
        A folder that Spark writes the scores of queries to, as Parquet.
    **options
        As for :func:`rankstone.evaluate`.
    """
    from rankstone import evaluate
    from rankstone.spark import require, session

    runs = judged_runs("eval", files)
    require()
    session(master)  # which evaluate finds
    for name in ("progress", "one_group"):
        del options[name]
    lists = {name: str(path) for name, path in runs.items()}
    scores: SparkScores = evaluate(files[0], lists, measures, engine="spark", **options)
    if folder is not None:
        scores.per_query.write.mode("errorifexists").parquet(folder)
    return scores


def _against_run(
    exact: str, files: tuple[str, ...], measures: Sequence[Any], **options: Any
) -> Scores:
    """Score approximate runs against the head of an exact one."""
    from rankstone import evaluate
    from rankstone.evaluation import head_of_run

    depth = options.pop("depth", None)
    within = options.pop("within", 0.0)
    if depth is None:
        raise UsageError(
            "--exact-run needs --depth: how many documents of the exact run are right",
            fix="--depth 10",
        )
    if not files:
        raise UsageError(
            "--exact-run needs at least one run",
            fix=f"rankstone eval --exact-run {quoted(exact)} --depth {depth} RUN",
        )
    read = {
        name: options[name]
        for name in ("columns", "format_in", "order")
        if name in options
    }
    right = head_of_run(exact, depth, within=within, **read)
    runs = {
        name: options.pop(name)
        for name in ("progress", "on_bad_run")
        if name in options
    }
    del options["one_group"]
    wanted = measures or (f"R(denom=min_R_k)@{depth}",)
    scores: Scores = evaluate(right, named_runs(files), wanted, **runs, **options)
    return scores


def _need(given: object, flag: str, others: Mapping[str, object]) -> None:
    """Refuse options that make no sense without another one."""
    names = [name for name, value in others.items() if value is not None]
    if names and given is None:
        raise UsageError(f"{' and '.join(names)} needs {flag}")


@declare("demo", {}, "where copy")
def demo_command(*, where: bool, copy: str | None) -> None:
    """Score files without a flaw, then a collection that has some, and what a warning looks like.

    All of them ship with the package.
    """
    from zipfile import ZipFile

    from rankstone import evaluate
    from rankstone.demo import FIRST, FOLDER, QRELS, RUNS

    if copy is not None:
        place = made_folder(copy, empty=True)
        with ZipFile(FOLDER / "pages.zip") as packed:
            packed.extractall(place)
        files = counted(len(packed.namelist()), "file")
        click.echo(f"{files} for the commands of the documents")
        click.echo(f"cd {shlex.quote(copy)}")
        return
    if where:
        click.echo(FOLDER)
        return
    measures = "nDCG@10 AP RR@10"
    click.echo(f"# in {FOLDER}")
    names = "qrels.txt", "bm25.run", "reranked.run"
    first = [FIRST / name for name in names]
    others = [QRELS, *RUNS.values()]
    for example in (first, others):
        qrels, *runs = example
        paths = [str(path.relative_to(FOLDER)) for path in example]
        shown = " ".join(paths)
        command_line = f'rankstone eval {shown} -m "{measures}"'
        click.echo(f"\n$ {command_line}")
        scores = evaluate(qrels, runs, measures)
        click.echo(written(scores, "table"), nl=False)
    click.echo("\n# the audit says what deserves attention in files; -v shows all")
