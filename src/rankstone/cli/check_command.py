"""``rankstone check``: look at the files before scoring them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import named_runs, read_once, split_columns
from rankstone.cli.options import reading
from rankstone.cli.outputs import as_json

if TYPE_CHECKING:
    from rankstone.findings import CheckReport

_INVALID = 3


@click.command("check")
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", nargs=-1, metavar="[RUN]…")
@click.option(
    "-m", "--measures", multiple=True, metavar="TEXT", help="what is to be measured: its cutoffs count"
)
@click.option("--train", metavar="FILE", help="what a model has learnt from: overlap, documents never seen")
@click.option("--order", default="score", metavar="score|rank|input", help="what gives the order [score]")
@click.option("--format", "form", default="table", metavar="table|json", help="[table]")
@reading
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    train: str | None,
    order: str,
    form: str,
    columns: str | None,
    format_in: str | None,
) -> None:
    """Say what is in the files: duplicates, ties, missing queries, unjudged documents, NaN, order.

    Judgments may be looked at alone.  Of several runs those with errors come first, then those with warnings.
    Exit code 3 when something found would stop an evaluation.

    \b
    rankstone check qrels.txt bm25.run -m "nDCG@10 AP"
    rankstone check test.csv recommended.csv --train train.csv -m R@20
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import Alignment, check
    from rankstone.cli.outputs import check_format

    check_format(form, _FORMATS)
    read_once([qrels, *runs, *filter(None, [train])])
    named = split_columns(columns)
    Alignment(order=order)  # type: ignore[arg-type] # refuses what is no order
    beside: dict[str, Any] = {"columns": named, "format_in": format_in, "order": order}
    report = check(qrels, named_runs(runs) or None, measures=list(measures), train=train, **beside)
    if report.ok:
        named.require_present()
    click.echo(_FORMATS[form](report), nl=False)
    if not report.ok:
        raise click.exceptions.Exit(_INVALID)


def _text(report: CheckReport) -> str:
    from rankstone.cli.spelling import as_flags
    from rankstone.errors import printable

    lines = []
    for file in report.files:
        lines.append(f"{printable(file.name)}  ({file.kind}, {printable(file.source)})")
        lines += [f"  {what:<15} {fact}" for what, fact in file.facts.items()]
        for finding in file.findings:
            example = f" ({finding.example})" if finding.example else ""
            fix = f"; {as_flags(finding.fix)}" if finding.fix else ""
            lines.append(f"  {finding.level + ':':<8} {finding.what}{example}{fix}")
        if not file.findings:
            lines.append("  nothing to report")
    return "\n".join([*lines, _verdict(report)]) + "\n"


def _verdict(report: CheckReport) -> str:
    """Say in a line what was found, whether it can be evaluated, and what to look at first."""
    if not report.ok:
        return f"{report.verdict}: cannot be evaluated before the errors are repaired"
    return (
        f"{report.verdict}; look at this first: {'; '.join(report.doubts)}"
        if report.doubts
        else report.verdict
    )


def _json(report: CheckReport) -> str:
    return as_json(report.to_dict())


_FORMATS = {"table": _text, "json": _json}
