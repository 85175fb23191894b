"""``rankstone eval``: score runs against judgments, or one labelled table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.options import Ticker, alignment, named_runs, reading, split_columns

if TYPE_CHECKING:
    from rankstone import Scores

DEFAULT_MEASURES = "nDCG@10 AP RR@10 R@100 P@10"


@click.command("eval")
@click.argument("files", nargs=-1, metavar="QRELS RUN [RUN]…")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"measures [{DEFAULT_MEASURES}]")
@click.option(
    "--labeled",
    "--labelled",
    "labelled",
    metavar="FILE",
    help="one table with query_id, score, relevance (or label)",
)
@click.option("--per-query", metavar="FILE", help="write per-query values: .parquet, .csv or .jsonl")
@click.option(
    "--format", "form", default="table", metavar="table|json|jsonl|csv|md|latex|trec", help="[table]"
)
@click.option("--digits", type=click.IntRange(0, 17), default=4, show_default=True, help="decimals shown")
@click.option("-o", "--output", metavar="FILE", help="write the result there instead of printing it")
@click.option("-q", "--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@click.option("--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first")
@click.option("--collapse", metavar="REGEX", help="passages to documents: the first group is the document")
@reading
@alignment
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    labelled: str | None,
    per_query: str | None,
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    exclude: str | None,
    collapse: str | None,
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Score runs against judgments.

    QRELS and RUN are TREC text, CSV, TSV, JSON lines, Parquet or Arrow files (also .gz, .zst), a
    folder or quoted glob of parts, or - for standard input; name=FILE names a run.

    \b
    rankstone eval qrels.txt bm25.run dense.run -m "nDCG@10 AP RR@10"
    rankstone eval --labeled clicks.parquet -m "nDCG@10 RR"
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.render import FORMATS, render
    from rankstone.errors import UsageError, nearest

    if form not in FORMATS:
        close = nearest(form, FORMATS, n=1)
        raise UsageError(
            f"--format {form} is not known",
            expected=", ".join(FORMATS),
            fix=f"did you mean {close[0]}?" if close else None,
        )
    suffix = _suffix(per_query)
    _keep_inputs([*files, *filter(None, (labelled, exclude))], output, per_query)
    wanted = measures or (DEFAULT_MEASURES,)
    given = {name: _grade(value) for name, value in options.items() if value is not None}
    read = {"columns": split_columns(columns), "format_in": format_in}
    _keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        if labelled is None:
            lists = {"exclude": exclude, "collapse": collapse}
            scores = _against(files, wanted, ticker, {**read, **lists, **given})
        else:
            scores = _labelled(files, labelled, wanted, ticker, {**read, **given}, exclude, collapse)
    text = render(scores, form, digits)
    if per_query is not None:
        _write_per_query(scores, per_query, suffix)
    _deliver(text, output)
    if form not in ("table", "json") and not quiet:
        for line in scores.audit.lines():
            click.echo(line, err=True)


def _against(
    files: tuple[str, ...], measures: tuple[str, ...], ticker: Ticker, options: dict[str, Any]
) -> Scores:
    from rankstone import Evaluator
    from rankstone.errors import UsageError

    if len(files) < 2:  # noqa: PLR2004 - qrels and a run
        raise UsageError(
            "judgments and at least one run are needed",
            given=" ".join(files) or "nothing",
            expected="rankstone eval QRELS RUN [RUN]…",
            fix="for one table with scores and labels: rankstone eval --labeled FILE",
        )
    if files.count("-") > 1:
        raise UsageError("standard input can be read only once", given=" ".join(files))
    return Evaluator(files[0], measures, **options).runs(named_runs(files[1:]), progress=ticker)


def _labelled(
    files: tuple[str, ...],
    labelled: str,
    measures: tuple[str, ...],
    ticker: Ticker,
    options: dict[str, Any],
    exclude: str | None,
    collapse: str | None,
) -> Scores:
    from rankstone import evaluate_labelled
    from rankstone.errors import UsageError

    if files:
        raise UsageError("--labeled takes one table and no other files", given=" ".join(files))
    if exclude or collapse:
        raise UsageError("--exclude and --collapse go with judgments and runs, not with --labeled")
    return evaluate_labelled(labelled, measures, progress=ticker, **options)


def _keep_freed_memory() -> None:
    """Ask the C library to keep what is freed instead of giving it back to the system at once.

    Batches allocate and free the same few megabytes again and again; page faults would otherwise
    cost a quarter of the time.  This is our own process, so nobody else is concerned.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:  # the GNU C library
        mallopt(_M_MMAP_THRESHOLD, _MOST_KEPT)
        mallopt(_M_TRIM_THRESHOLD, 1 << 30)


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
#: the largest threshold the GNU C library accepts
_MOST_KEPT = 32 << 20


def _grade(value: Any) -> Any:  # noqa: ANN401 - a text or a number
    """Read ``--unjudged 0.5`` as the grade it is."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _keep_inputs(inputs: list[str], output: str | None, per_query: str | None) -> None:
    """Refuse an output that would overwrite an input, or the other output."""
    from rankstone.errors import UsageError

    taken = {Path(name.partition("=")[2] or name).resolve(): "an input" for name in inputs}
    taken |= {Path(name).resolve(): "an input" for name in inputs}
    for flag, name in (("-o", output), ("--per-query", per_query)):
        if name is None:
            continue
        if (place := Path(name).resolve()) in taken and (place.is_file() or not place.exists()):
            raise UsageError(f"{flag} {name} is {taken[place]}, too", fix="name another file")
        taken[place] = "the other output"


_WRITERS = {
    ".parquet": "write_parquet",
    ".pq": "write_parquet",
    ".csv": "write_csv",
    ".jsonl": "write_ndjson",
    ".ndjson": "write_ndjson",
}


def _suffix(per_query: str | None) -> str:
    """Refuse a suffix nobody can write before any work is done."""
    from rankstone.errors import UsageError

    suffix = Path(per_query).suffix.lower() if per_query is not None else ".csv"
    if suffix not in _WRITERS:
        raise UsageError(f"--per-query {per_query}: no known suffix", expected=", ".join(_WRITERS))
    return suffix


def _write_per_query(scores: Scores, per_query: str, suffix: str) -> None:
    getattr(scores, _WRITERS[suffix])(per_query)


def _deliver(text: str, output: str | None) -> None:
    from rankstone.io import atomic

    if output is None:
        click.echo(text, nl=False)
        return
    with atomic(output) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
