"""``rankstone diff``: how alike two runs are, without judgments."""

from __future__ import annotations

from typing import Any

import click

from rankstone.cli.arguments import keep_inputs, named_runs, split_columns
from rankstone.cli.explaining import explaining
from rankstone.cli.importing import importing
from rankstone.cli.options import ordering, printed, reading, refuse_with
from rankstone.cli.ticker import Ticker

DEFAULT_MEASURES = "RBO(p=0.9) tau_ap Jaccard@10"
#: ranks of two lists side by side that are shown unless --depth says how many
_SHOWN = 20


@click.command("diff")
@click.argument("files", nargs=-1, metavar="A B")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"measures [{DEFAULT_MEASURES}]")
@click.option("-q", "--query", metavar="QUERY", help="show the two lists of this query side by side")
@click.option("--top", type=click.IntRange(1), metavar="N", help="show the N queries that changed most")
@click.option("--per-query", metavar="FILE", help="write per-query values: .parquet, .csv or .jsonl")
@click.option("--format", "form", default="table", metavar="table|json|jsonl|csv|md", help="[table]")
@explaining
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@importing
@reading
@ordering
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    query: str | None,
    top: int | None,
    per_query: str | None,
    form: str,
    explain: str | None,
    lang: str | None,
    width: int | None,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Say how alike two runs are, without judgments.

    A is the reference (the old run), B is held against it.  Both are files as `rankstone eval` takes
    them; name=FILE names a run.

    \b
    rankstone diff old.run new.run -m "RBO(p=0.9) tau_ap Jaccard@10" --top 5
    rankstone diff old.run new.run -q 1037798
    rankstone diff old.run new.run -q 1037798 --explain "RBO(p=0.9)"
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import diff
    from rankstone.cli.diff_render import FORMATS, View, render
    from rankstone.cli.explaining import written
    from rankstone.cli.outputs import check_format, deliver, keep_freed_memory, per_query_writer

    if explain is None:
        refuse_with("a table", {"lang": lang, "width": str(width or "")})
        check_format(form, FORMATS)
    else:
        form = _form_of_explanation(form, query, {"measures": measures, "top": top, "per-query": per_query})
    if query is not None:
        refuse_with("--query", {"top": str(top or "")})
    per_query_writer(per_query)
    keep_inputs(files, output, per_query)
    (first, a), (second, b) = _two(files).items()
    given = {name: value for name, value in options.items() if value is not None}
    named = split_columns(columns)
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        alike = diff(
            a,
            b,
            measures or (explain or DEFAULT_MEASURES,),
            names=(first, second),
            columns=named,
            format_in=format_in,
            progress=ticker,
            **given,
        )
    named.require_present()
    if explain is not None:
        found = alike.explain(alike.measures[0], query, lang=lang or "en")
        deliver(alike, written([found], form, width), output, None)
        return
    view = View(alike, digits, query, top, given.get("depth", _SHOWN))
    deliver(alike, render(view, form), output, per_query)
    if form not in ("table", "json") and not quiet:
        for line in alike.audit.lines():
            click.echo(line, err=True)


def _two(files: tuple[str, ...]) -> dict[str, object]:
    """Return the two runs by name."""
    from rankstone.errors import UsageError

    if len(files) != 2:  # noqa: PLR2004 - this and that
        raise UsageError(
            "two runs are needed", given=" ".join(files) or "nothing", expected="rankstone diff A B"
        )
    return named_runs(files)


def _form_of_explanation(form: str, query: str | None, others: dict[str, Any]) -> str:
    """Return the format of an explanation, of one query."""
    from rankstone.cli.explaining import form_of_explanation
    from rankstone.errors import UsageError

    if query is None:
        raise UsageError("which query?", fix="-q ID; --top 5 shows the queries that changed most")
    return form_of_explanation(form, others)
