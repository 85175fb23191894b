"""``rankstone check``: look at the files before scoring them."""

from __future__ import annotations

from typing import Any

import click

from rankstone.cli.arguments import as_flags, named_runs, present, read_once, split_columns
from rankstone.cli.declaring import declare
from rankstone.cli.execution import check_format, written
from rankstone.cli.options import READING

_INVALID = 3


@declare(
    "check",
    {"qrels": "QRELS", "runs": "[RUN]…"},
    f"measures train order format csv-formulas {READING}",
    but={
        "measures": {"shown": "none: cutoffs of measures are checked"},
    },
)
def command(qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], form: str, **given: Any) -> None:
    """Check files for problems: duplicates, ties, missing queries, unjudged documents, NaN, order.

    Runs are optional; those with errors come first, then those with warnings.  The exit code is 3 if a
    problem would stop an evaluation.

    rankstone check qrels.txt bm25.run -m "nDCG@10 AP"
    rankstone check test.csv recommended.csv --train train.csv -m R@20
    """
    from rankstone import AlignmentOptions, check

    check_format(form)
    read_once([qrels, *runs, *filter(None, [given["train"]])])
    given["columns"] = named = split_columns(given["columns"])
    given = present(given)
    AlignmentOptions(order=given.get("order", "score"))  # refuses what is no order
    report = check(qrels, named_runs(runs) or None, measures=list(measures), **given)
    if report.ok:
        named.require_present()
    click.echo(written(report, form, fix=as_flags), nl=False)
    if not report.ok:
        raise click.exceptions.Exit(_INVALID)
