"""Judgments made of clicks as text: tables for people, lines for programs.

Ids come from files, so they are escaped for whatever is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.outputs import as_json, as_json_lines
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankstone.behaviour import Clicks

__all__ = ["FORMATS", "View", "render"]

#: names are cut here
_LONGEST: Final = 40
_WORDS: Final = {
    "query_id": "query",
    "doc_id": "document",
    "impressions": "shown",
    "standard_error": "error",
}


@dataclass(frozen=True, eq=False)
class View:
    """What is to be shown: the result, decimals, and how many pairs."""

    found: Clicks
    digits: int
    top: int


def render(view: View, form: str) -> str:
    """Return the view in one of :data:`FORMATS`, ending in a newline."""
    return FORMATS[form](view)


def _tables(view: View) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield heads and rows of texts: pairs, and positions where the log tells any."""
    graded = view.found.conventions["grades"] is not None
    yield _texts(view, view.found.table(view.top), () if graded else ("estimate",))
    if view.found.positions.height:
        yield _texts(view, view.found.positions.head(view.top), ())


def _texts(view: View, frame: Any, without: tuple[str, ...]) -> tuple[list[str], list[list[str]]]:  # noqa: ANN401 - a Polars frame
    shown = frame.drop(*without)
    head = [_WORDS.get(name, name) for name in shown.columns]
    rows = [
        [_cell(name, value, view.digits) for name, value in row.items()]
        for row in shown.iter_rows(named=True)
    ]
    return head, rows


def _cell(name: str, value: object, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.1f}" if name == "effective" else f"{value:.{digits}f}"
    if isinstance(value, int) and name not in ("query_id", "doc_id"):
        return f"{value:,}"
    return printable(value, _LONGEST)


def _table(view: View) -> str:
    import io
    import os
    import sys

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    console = Console(
        file=io.StringIO(),
        width=None if terminal or "COLUMNS" in os.environ else 10_000,
        force_terminal=terminal,
        highlight=False,
        no_color="NO_COLOR" in os.environ,
    )
    for head, rows in _tables(view):
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in head:
            table.add_column(Text(name), justify="left" if name in ("query", "document") else "right")
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
        console.print()
    for line in [*_more(view), *view.found.audit.lines(), conventions(view.found)]:
        console.print(Text(line, style="dim"), soft_wrap=not terminal)
    assert isinstance(console.file, io.StringIO)  # noqa: S101 - made above
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def _more(view: View) -> Iterator[str]:
    """Say what is not shown."""
    for name, frame in (("pairs", view.found.judgments), ("positions", view.found.positions)):
        if frame.height > view.top:
            most = ", those with the most impressions" if name == "pairs" else ""
            yield f"shown  {view.top:,} of {frame.height:,} {name}{most}"


def conventions(found: Clicks) -> str:
    """Return the one line that says what the numbers depend on."""
    told = {name: value for name, value in found.conventions.items() if value is not None}
    return "conventions  " + " ".join(f"{name}={_listed(value)}" for name, value in told.items())


def _listed(value: object) -> str:
    if isinstance(value, list):
        return ",".join(f"{number:g}" for number in value)
    return f"{value:g}" if isinstance(value, float) else printable(value, _LONGEST)


# -- formats for programs and papers -------------------------------------------------------------------------
def _json(view: View) -> str:
    return as_json(view.found.report())


def _jsonl(view: View) -> str:
    return as_json_lines(view.found.judgments.iter_rows(named=True))


def _csv(view: View) -> str:
    text: str = view.found.judgments.write_csv()
    return text


def _markdown(view: View) -> str:
    return _each(view, "markdown")


def _latex(view: View) -> str:
    return f"% {conventions(view.found)}\n" + _each(view, "latex")


def _each(view: View, writer: str) -> str:
    from rankstone.cli import render as formats

    write: Callable[[Sequence[str], Sequence[Sequence[str]]], str] = getattr(formats, writer)
    return "\n".join(write(head, rows) for head, rows in _tables(view))


FORMATS: Final[dict[str, Callable[[View], str]]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "md": _markdown,
    "latex": _latex,
}
