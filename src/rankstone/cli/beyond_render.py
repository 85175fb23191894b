"""Values beyond accuracy as text: a line a measure, a column a run, groups of users below their measure."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from rankstone.cli.render import FORMATS as OF_SCORES
from rankstone.cli.render import Beside, conventions_line, markdown, number
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone import BeyondScores

__all__ = ["FORMATS", "render"]

FORMATS = ("table", "json", "jsonl", "csv", "md")


def render(scores: BeyondScores, form: str, digits: int, by: tuple[str, ...] = ()) -> str:
    """Return values in one of :data:`FORMATS`, ending in a newline."""
    if form == "table":
        return _table(scores, digits, by)
    if form == "md":
        body = [[name, *cells] for name, cells in _rows(scores, digits, by)]
        return markdown(["measure", *map(printable, scores.runs)], body)
    return OF_SCORES[form](scores, digits, Beside(by))


def _rows(scores: BeyondScores, digits: int, by: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Yield a row for each measure, and below it one for each group of users and the gap between them."""
    values = {(run, measure): value for run, measure, value, *_ in scores.mean().iter_rows()}
    for measure in map(str, scores.measures):
        yield measure, [number(values[run, measure], digits) for run in scores.runs]
        for column in by:
            yield from _groups(scores, digits, column, measure)


def _groups(scores: BeyondScores, digits: int, by: str, measure: str) -> Iterator[tuple[str, list[str]]]:
    from rankstone import group_gaps

    means = scores.mean(by=by)
    found = {(run, group): value for run, group, what, value, *_ in means.iter_rows() if what == measure}
    for group in dict.fromkeys(group for _, group in found):
        shown = "–" if group is None else printable(group)
        cells = [number(found.get((run, group)), digits) for run in scores.runs]
        yield f"  {printable(by)}={shown}", cells
    if found:
        gaps = group_gaps(scores, by)
        apart = {run: gap for run, what, _, gap, *_ in gaps.iter_rows() if what == measure}
        yield "  largest gap", [number(apart.get(run), digits) for run in scores.runs]


def _table(scores: BeyondScores, digits: int, by: tuple[str, ...]) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    width = None if terminal or "COLUMNS" in os.environ else 10_000
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=terminal, highlight=False, no_color="NO_COLOR" in os.environ
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure")
    for run in scores.runs:
        table.add_column(Text(printable(run)), justify="right")
    for name, cells in _rows(scores, digits, by):
        table.add_row(Text(name, style="dim" if name.startswith("  ") else ""), *map(Text, cells))
    console.print(table)
    for line in [*scores.audit.lines(), conventions_line(scores)]:
        console.print(Text(line, style="dim"), soft_wrap=not terminal)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
