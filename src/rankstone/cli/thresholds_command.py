"""``rankstone thresholds``: what the line between relevant and not relevant decides."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import judged_runs, keep_inputs, split_columns
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, given_options, printed, reading
from rankstone.cli.outputs import as_json
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from rankstone import Thresholds

DEFAULT_MEASURES = "AP P@10 RR@10"


@click.command("thresholds", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS RUN [RUN]…")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"binary measures [{DEFAULT_MEASURES}]")
@click.option("--levels", metavar="GRADE,…", help="thresholds; else every grade above 0 in the judgments")
@click.option("--format", "form", default="table", metavar="table|json|csv", help="[table]")
@printed
@click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    levels: str | None,
    form: str,
    digits: int,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Score runs with every threshold on the grades.

    Shows each value by threshold, how far it moves, which runs change places, and how many
    preferences between documents a threshold wipes out.

    \b
    rankstone thresholds qrels.txt bm25.run dense.run -m "AP P@10"
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import thresholds
    from rankstone.cli.outputs import check_format, deliver, keep_freed_memory

    check_format(form, _FORMATS)
    keep_inputs(files, output, None)
    runs = judged_runs("thresholds", files)
    named = split_columns(columns)
    keep_freed_memory()
    with Ticker(quiet=quiet) as ticker:
        study = thresholds(
            files[0],
            runs,
            list(measures or (DEFAULT_MEASURES,)),
            levels=_numbers(levels),
            columns=named,
            format_in=format_in,
            progress=ticker,
            **given_options(options),
        )
    named.require_present()
    deliver(study, _FORMATS[form](study, digits), output, None)
    if form == "csv" and not quiet:
        for line in study.scores.audit.lines():
            click.echo(line, err=True)


def _numbers(levels: str | None) -> list[float] | None:
    from rankstone.errors import UsageError

    if levels is None:
        return None
    try:
        return [float(level) for level in levels.split(",")]
    except ValueError:
        raise UsageError(
            f"--levels {levels} cannot be read", expected="grades divided by commas: 1,2,3"
        ) from None


def _table(study: Thresholds, digits: int) -> str:
    from rich.console import Console
    from rich.table import Table

    from rankstone.cli.render import conventions_line
    from rankstone.errors import printable
    from rankstone.words import exact

    levels = study.pairs["rel"].to_list()
    several = study.values["run"].n_unique() > 1
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("run", "measure", *(f"rel={exact(level)}" for level in levels), "spread"):
        shown.add_column(name, justify="left" if name in ("run", "measure") else "right", no_wrap=True)
    for run, measure, _, _, spread in study.sensitivity.iter_rows():
        part = study.values.filter(run=run, measure=measure)["value"]
        cells = [_number(value, digits) for value in (*part, spread)]
        shown.add_row(printable(run), measure, *cells)
    loss = [f"{share:.0%}" if share is not None else "–" for share in study.pairs["loss"]]
    shown.add_row("preferences wiped out", "", *loss, "")
    console = Console(
        file=io.StringIO(), width=max(100, 30 + 12 * len(levels)), highlight=False, markup=False
    )
    console.print(shown)
    text = str(console.file.getvalue())  # type: ignore[attr-defined]
    notes = [*study.scores.audit.lines(), conventions_line(study.scores)]
    return text + (_reversals(study) if several else "") + "\n".join(["", *notes]) + "\n"


def _reversals(study: Thresholds) -> str:
    from rankstone.errors import printable
    from rankstone.words import exact

    lines = []
    for measure, one, other, tau, _, swapped in study.reversals.iter_rows():
        pairs = "; ".join(f"{printable(a)} and {printable(b)}" for a, b in swapped[:5])
        more = f" and {len(swapped) - 5} more" if len(swapped) > 5 else ""  # noqa: PLR2004 - what fits a line
        said = f"{pairs}{more} change places" if swapped else "no run overtakes another"
        tau_said = "undefined" if tau is None else f"{tau:.2f}"
        lines.append(f"{measure}, rel={exact(one)} against rel={exact(other)}: {said} (tau_b {tau_said})")
    return "\n".join(["", *lines]) + "\n" if lines else ""


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _json(study: Thresholds, _digits: int) -> str:
    return as_json(study.report())


def _csv(study: Thresholds, _digits: int) -> str:
    return study.values.write_csv()


_FORMATS = {"table": _table, "json": _json, "csv": _csv}
