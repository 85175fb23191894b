"""Bounds as text: tables for people, lines for programs."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from rankstone.cli.outputs import as_csv, as_json, as_json_lines
from rankstone.cli.render import conventions_line, markdown, number
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone import Bounds

__all__ = ["FORMATS", "render"]

_HEAD = ["run", "measure", "score", "lowest", "highest", "certificate"]
_SIGNS = {">": "above", "<": "below", "=": "equal", "?": "open"}


def render(found: Bounds, form: str, digits: int) -> str:
    """Return bounds in one of :data:`FORMATS`, ending in a newline."""
    return FORMATS[form](found, digits)


def _rows(found: Bounds, digits: int) -> tuple[list[str], list[list[str]]]:
    """Return the head and a row for each run and measure."""
    rows = []
    for row in found.mean.iter_rows(named=True):
        values = [number(row[name], digits) for name in ("value", "low", "high")]
        sign = [] if found.difference is None else [_SIGNS.get(row["sign"], "")]
        rows.append([printable(row["run"]), row["measure"], *values, row["certificate"] or "–", *sign])
    first = [] if found.difference is None else [f"{printable(found.difference[0])} is"]
    return [*_HEAD, *first], rows


def _table(found: Bounds, digits: int) -> str:
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
    head, rows = _rows(found, digits)
    for name in head:
        table.add_column(Text(name), justify="right" if name in _HEAD[2:5] else "left")
    for cells in rows:
        table.add_row(*map(Text, cells))
    console.print(table)
    scale = " ".join(f"{grade:g}" for grade in found.grades)
    lines = [f"every unjudged document of a list may have any grade of {scale}"]
    if any(row[5] == "outer" for row in rows):
        lines.append(
            "outer: certain to hold every score, but the ends need not be reached (--limit tries more)"
        )
    for line in [*lines, *found.audit.lines(), conventions_line(found)]:
        console.print(Text(line, style="dim"), soft_wrap=not terminal)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _json(found: Bounds, _digits: int) -> str:
    return as_json(found.report())


def _jsonl(found: Bounds, _digits: int) -> str:
    return as_json_lines(found.mean.iter_rows(named=True))


def _csv(found: Bounds, _digits: int) -> str:
    return as_csv(found.mean)


def _markdown(found: Bounds, digits: int) -> str:
    return markdown(*_rows(found, digits))


FORMATS: dict[str, Callable[[Bounds, int], str]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "md": _markdown,
}
