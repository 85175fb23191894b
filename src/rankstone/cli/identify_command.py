"""``rankstone identify``: what somebody computed who printed a number."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, split_columns
from rankstone.cli.explaining import typed, typed_list
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, csv_formulas, given_options, reading
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.identifying import Identification

FORMATS = ("text", "md", "latex", "html", "json", "csv")


@click.command("identify", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS RUN [RUN]…")
@click.option("--value", multiple=True, metavar="NUMBER", help="a number as it was printed: 0.827, 82.7%")
@click.option("-m", "--measure", metavar="TEXT", help="what it was called: nDCG@10 [any measure]")
@click.option("--digits", type=int, metavar="N", help="decimals, if not as printed")
@typed
@click.option("--format", "form", default="text", metavar="|".join(FORMATS), help="[text]")
@click.option(
    "--width", type=click.IntRange(40), metavar="N", help="columns of text [the terminal's, 80 in a pipe]"
)
@click.option("--quiet", is_flag=True, help="no progress bar")
@click.option("-o", "--output", metavar="FILE", help="write it there instead of printing it")
@csv_formulas
@click.option("--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first")
@click.option("--collapse", metavar="REGEX", help="passages to documents: the first group is the document")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    value: tuple[str, ...],
    measure: str | None,
    digits: int | None,
    grades: str | None,
    judged: str | None,
    form: str,
    width: int | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    output: str | None,
    exclude: str | None,
    collapse: str | None,
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Find out what somebody computed who printed a number for a run.

    Searches our measures and their parameters, the options below (what is given is where it starts), and what
    every library we know means; says which print as the number, and how far off the nearest others are.
    Of several runs it says whose value the number is; it is taken for the first, or with as many numbers as
    runs, each for the run in its place.

    \b
    rankstone identify qrels.txt bm25.run --value 0.4132 -m nDCG@10
    rankstone identify qrels.txt bm25.run dense.run --value 0.4132 --value 39.9% -m nDCG@10
    rankstone identify qrels.txt bm25.run --value 41.3
    rankstone identify --grades 5,3,2,1,2 --judged 5,3,2,1,2,4,0 --value 0.827 -m "nDCG(gain=exp2)@5"
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import identify
    from rankstone.cli.outputs import check_format, deliver
    from rankstone.errors import UsageError

    check_format(form, FORMATS)
    keep_inputs([*files, *filter(None, (exclude,))], output, None)
    if not value:
        raise UsageError("which number?", expected="--value as it was printed: --value 0.827")
    named = split_columns(columns)
    given = {**given_options(options), "exclude": exclude, "collapse": collapse}
    given |= {"columns": named, "format_in": format_in}
    qrels, runs = typed_list(grades, judged, files) if grades is not None else _files(files)
    with Ticker(quiet=quiet) as ticker:
        found = identify(qrels, runs, value, measure, digits=digits, progress=ticker, **given)
    named.require_present()
    deliver(None, _written(found, form, width), output, None)


def _files(files: tuple[str, ...]) -> tuple[object, object]:
    runs = judged_runs("identify", files, else_try="--grades 3,2,0,1 --value 0.827 needs no files")
    return files[0], runs


def _written(found: Sequence[Identification], form: str, width: int | None) -> str:
    from rankstone.cli.outputs import as_csv, as_json, as_markup, columns_of_terminal

    if form == "json":
        told = [one.report() for one in found]
        return as_json(told[0] if len(told) == 1 else told)
    if form == "csv":
        return as_csv(reduce(lambda all_rows, rows: all_rows.vstack(rows), (one.frame for one in found)))
    if form == "text":
        return "\n\n".join(one.text(width or columns_of_terminal()) for one in found) + "\n"
    return as_markup(found, form)
