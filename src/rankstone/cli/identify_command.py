"""``rankstone identify``: what somebody computed who printed a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.explaining import typed, typed_list
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, given_options, reading
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from rankstone.identifying import Identification

FORMATS = ("text", "md", "latex", "html", "json", "csv")


@click.command("identify", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS RUN")
@click.option("--value", metavar="NUMBER", help="the number as it was printed: 0.827, 82.7%")
@click.option("-m", "--measure", metavar="TEXT", help="what it was called: nDCG@10 [any measure]")
@click.option("--digits", type=int, metavar="N", help="its decimals, if not as printed")
@typed
@click.option("--format", "form", default="text", metavar="|".join(FORMATS), help="[text]")
@click.option(
    "--width", type=click.IntRange(40), metavar="N", help="columns of text [the terminal's, 80 in a pipe]"
)
@click.option("--quiet", is_flag=True, help="no progress bar")
@click.option("-o", "--output", metavar="FILE", help="write it there instead of printing it")
@click.option("--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first")
@click.option("--collapse", metavar="REGEX", help="passages to documents: the first group is the document")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    value: str | None,
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

    \b
    rankstone identify qrels.txt bm25.run --value 0.4132 -m nDCG@10
    rankstone identify qrels.txt bm25.run --value 41.3
    rankstone identify --grades 5,3,2,1,2 --judged 5,3,2,1,2,4,0 --value 0.827 -m "nDCG(gain=exp2)@5"
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import identify
    from rankstone.cli.outputs import check_format, deliver
    from rankstone.errors import UsageError

    check_format(form, FORMATS)
    keep_inputs([*files, *filter(None, (exclude,))], output, None)
    if value is None:
        raise UsageError("which number?", expected="--value as it was printed: --value 0.827")
    named = split_columns(columns)
    given = {**given_options(options), "exclude": exclude, "collapse": collapse}
    given |= {"columns": named, "format_in": format_in}
    qrels, run = typed_list(grades, judged, files) if grades is not None else _files(files)
    with Ticker(quiet=quiet) as ticker:
        found = identify(qrels, run, value, measure, digits=digits, progress=ticker, **given)
    named.require_present()
    deliver(None, _written(found, form, width), output, None)


def _files(files: tuple[str, ...]) -> tuple[object, object]:
    from rankstone.errors import UsageError

    if len(files) != 2:  # noqa: PLR2004 - qrels and a run
        raise UsageError(
            "judgments and one run are needed",
            given=" ".join(files) or "nothing",
            expected="rankstone identify QRELS RUN --value 0.827, or --grades 3,2,0,1 --value 0.827",
        )
    return files


def _written(found: Identification, form: str, width: int | None) -> str:
    from rankstone.cli.outputs import as_json, columns_of_terminal

    if form == "json":
        return as_json(found.report())
    if form == "csv":
        return found.frame.write_csv()
    if form == "text":
        return found.text(width or columns_of_terminal()) + "\n"
    return {"md": found.markdown, "latex": found.latex, "html": found.html}[form]()
