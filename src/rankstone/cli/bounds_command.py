"""``rankstone bounds``: the scores that unjudged documents leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, split_columns
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, given_options, printed, reading
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_MEASURES = "nDCG@10 AP RR@10 P@10"


@click.command("bounds", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS RUN [RUN]…")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"measures [{DEFAULT_MEASURES}]")
@click.option("--grades", metavar="0,1,2", help="grades a document can have [those of the judgments, and 0]")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="assignments tried where only trying helps [4096]"
)
@click.option("--per-query", metavar="FILE", help="write per-query bounds: .parquet, .csv or .jsonl")
@click.option("--format", "form", default="table", metavar="table|json|jsonl|csv|md", help="[table]")
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@click.option("--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first")
@click.option("--collapse", metavar="REGEX", help="passages to documents: the first group is the document")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    grades: str | None,
    limit: int | None,
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
    """Say what scores could be if the unjudged documents were judged.

    The lowest and the highest score over every assignment of grades to the documents that were
    retrieved and never judged.  With two runs their difference is bounded, too: a document that both
    retrieve has one grade, and the last column says whether it is certain which run is above.

    \b
    rankstone bounds qrels.txt bm25.run -m "nDCG@10 AP"
    rankstone bounds qrels.txt bm25.run dense.run --grades 0,1,2,3
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import bounds
    from rankstone.cli.bounds_render import FORMATS, render
    from rankstone.cli.outputs import check_format, deliver, keep_freed_memory, per_query_writer

    check_format(form, FORMATS)
    per_query_writer(per_query)
    keep_inputs([*files, *filter(None, (exclude,))], output, per_query)
    runs = judged_runs("bounds", files)
    named = split_columns(columns)
    given: dict[str, Any] = {"grades": _grades(grades), "limit": limit}
    given |= {"exclude": exclude, "collapse": collapse}
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        found = bounds(
            files[0],
            runs,
            measures or (DEFAULT_MEASURES,),
            difference=_pair(runs),
            columns=named,
            format_in=format_in,
            progress=ticker,
            **{name: value for name, value in given.items() if value is not None},
            **given_options(options),
        )
    named.require_present()
    deliver(found, render(found, form, digits), output, per_query)
    if form not in ("table", "json") and not quiet:
        for line in found.audit.lines():
            click.echo(line, err=True)


def _pair(runs: Mapping[str, object]) -> tuple[str, str] | None:
    """Return the names of the runs where there are two."""
    names = list(runs)
    return (names[0], names[1]) if len(names) == 2 else None  # noqa: PLR2004 - a pair


def _grades(text: str | None) -> list[float] | None:
    """Read --grades."""
    from rankstone.errors import UsageError

    if text is None:
        return None
    try:
        return [float(grade) for grade in text.split(",")]
    except ValueError:
        raise UsageError(f"--grades {text} is no scale", expected="numbers with commas: 0,1,2") from None
