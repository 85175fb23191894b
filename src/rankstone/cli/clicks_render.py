"""Judgments made of clicks as text: tables for people, lines for programs.

Ids come from files, so they are escaped for whatever is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.tables import FORMATS, LONGEST, Tables
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.behaviour import Clicks

__all__ = ["FORMATS", "View", "render"]

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
    found = view.found
    told = {name: _listed(value) for name, value in found.conventions.items() if value is not None}
    notes = [*_more(view), *found.audit.lines()]
    texts = ("query", "document")
    return FORMATS[form](Tables(_tables(view), found.judgments, found.report, notes, told, texts))


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
    return printable(value, LONGEST)


def _more(view: View) -> Iterator[str]:
    """Say what is not shown."""
    for name, frame in (("pairs", view.found.judgments), ("positions", view.found.positions)):
        if frame.height > view.top:
            most = ", those with the most impressions" if name == "pairs" else ""
            yield f"shown  {view.top:,} of {frame.height:,} {name}{most}"


def _listed(value: object) -> str:
    if isinstance(value, list):
        return ",".join(f"{number:g}" for number in value)
    return f"{value:g}" if isinstance(value, float) else printable(value, LONGEST)
