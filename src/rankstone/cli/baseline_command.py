"""``rankstone baseline``: what a mean is worth, beside chance, the worst and the best order."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, split_columns
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, given_options, printed, reading
from rankstone.cli.outputs import as_csv, as_json, formulas
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from rankstone import Baseline
    from rankstone.gains import Gain

DEFAULT_MEASURES = "nDCG@10 AP RR P@10 R@100"
_NUMBERS = ("value", "chance", "worst", "best", "skill")


@click.command("baseline", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS RUN [RUN]…")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"measures [{DEFAULT_MEASURES}]")
@click.option(
    "--gain",
    "steps",
    multiple=True,
    metavar="MEASURE=FROM,TO",
    help="no files: what a step is worth: AP=0.2,0.4",
)
@click.option("--format", "form", default="table", metavar="table|json|csv|md", help="[table]")
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    steps: tuple[str, ...],
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Say what a mean is worth.

    Shows beside each mean what the same documents in any order (chance), in the worst and in the best
    order reach, and which share of the way from chance to the best was made (skill).  With --candidates
    N, these are lists as long as the run's own, drawn from so many documents.  Of several runs, also what
    the step from the first one's mean is worth: in ranks, and as a share of what was left to gain.

    \b
    rankstone baseline qrels.txt bm25.run -m "nDCG@10 RR"
    rankstone baseline qrels.txt recs.parquet --candidates 50000 -m "R@100"
    rankstone baseline --gain AP=0.2,0.4 --gain AP=0.7,0.9
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import baseline
    from rankstone.cli.outputs import check_format, deliver, keep_freed_memory

    check_format(form, _FORMATS)
    keep_inputs(files, output, None)
    if steps:
        _refuse_files(files, measures)
        deliver(None, _STEPS[form]([_step(text) for text in steps], digits), output, None)
        return
    runs = judged_runs("baseline", files)
    named = split_columns(columns)
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        found = baseline(
            files[0],
            runs,
            list(measures or (DEFAULT_MEASURES,)),
            columns=named,
            format_in=format_in,
            progress=ticker,
            **given_options(options),
        )
    named.require_present()
    deliver(found, _FORMATS[form](found, digits), output, None)
    if form in ("csv", "md") and not quiet:
        for line in found.scores.audit.lines():
            click.echo(line, err=True)


def _cells(found: Baseline, digits: int) -> list[list[str]]:
    from rankstone.cli.render import number
    from rankstone.errors import printable

    rows = found.values.iter_rows(named=True)
    return [
        [printable(row["run"]), row["measure"], *(number(row[name], digits) for name in _NUMBERS)]
        for row in rows
    ]


def _table(found: Baseline, digits: int) -> str:
    from rich.console import Console
    from rich.table import Table

    from rankstone.cli.render import conventions_line
    from rankstone.errors import printable

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("run", "measure", *_NUMBERS):
        shown.add_column(name, justify="left" if name in ("run", "measure") else "right", no_wrap=True)
    for row in _cells(found, digits):
        shown.add_row(*row)
    console = Console(file=io.StringIO(), width=200, highlight=False, markup=False)
    console.print(shown)
    text = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]
    drawn = "orders of the documents retrieved"
    if found.candidates is not None:
        drawn = f"lists as long as the run's, drawn from {found.candidates:,} candidates"
    notes = [
        *map(printable, found.meaning()),
        *map(printable, found.steps()),
        f"chance, worst and best: {drawn}; skill: (value - chance) / (best - chance)",
        *found.scores.audit.lines(),
        conventions_line(found.scores),
    ]
    return "\n".join([text, "", *notes]) + "\n"


def _json(found: Baseline, _digits: int) -> str:
    return as_json(found.report())


def _csv(found: Baseline, _digits: int) -> str:
    return as_csv(found.values)


def _markdown(found: Baseline, digits: int) -> str:
    from rankstone.cli.render import markdown

    return markdown(["run", "measure", *_NUMBERS], _cells(found, digits))


_FORMATS = {"table": _table, "json": _json, "csv": _csv, "md": _markdown}


# -- steps between two means, without files --------------------------------------------------------------
def _refuse_files(files: tuple[str, ...], measures: tuple[str, ...]) -> None:
    """Refuse files and measures that --gain would not look at."""
    from rankstone.errors import UsageError

    if files or measures:
        raise UsageError(
            "--gain takes two means as they are, and no files or -m",
            given=" ".join([*files, *measures]),
            fix="leave --gain out: of several runs the steps are told anyway",
        )


def _step(text: str) -> Gain:
    """Read ``AP=0.2,0.4``."""
    from rankstone.errors import UsageError, printable
    from rankstone.gains import gain

    measure, _, means = text.rpartition("=")
    try:
        before, after = map(float, means.split(",") if measure else ())
    except ValueError:
        raise UsageError(
            "--gain wants a measure and two means", given=printable(text), expected="such as AP=0.2,0.4"
        ) from None
    return gain(measure, before, after)


def _step_rows(steps: list[Gain]) -> list[dict[str, Any]]:
    from dataclasses import asdict

    return [asdict(step) for step in steps]


def _step_lines(steps: list[Gain], _digits: int) -> str:
    notes = dict.fromkeys(f"{step.measure}, scale: {step.scale}" for step in steps)
    return "\n".join([*(step.words() for step in steps), *notes]) + "\n"


def _step_json(steps: list[Gain], _digits: int) -> str:
    return as_json({"gains": _step_rows(steps)})


def _step_csv(steps: list[Gain], _digits: int) -> str:
    import csv

    from rankstone.io.formulas import escaped

    rows, out = _step_rows(steps), io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    escape = formulas() == "escape"
    writer.writerows({name: escaped(cell) if escape else cell for name, cell in row.items()} for row in rows)
    return out.getvalue()


def _step_markdown(steps: list[Gain], digits: int) -> str:
    from rankstone.cli.render import markdown, number

    rows = _step_rows(steps)
    cells = [
        [text if isinstance(text, str) else number(text, digits) for text in row.values()] for row in rows
    ]
    return markdown(list(rows[0]), cells)


_STEPS = {"table": _step_lines, "json": _step_json, "csv": _step_csv, "md": _step_markdown}
