"""Retention as text: drawings and tables for people, lines for programs.

Names of segments come from files, so they are escaped for whatever is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.drawing import Line
from rankstone.cli.tables import FORMATS, LONGEST, Tables, cell
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.behaviour import Retention

__all__ = ["FORMATS", "View", "render"]

#: lines of a drawing that can be told apart, and the share of users that must have reached an age to be drawn
_LINES, _REACHED = 6, 0.1
_WORDS: Final = {
    "censored": "left out",
    "users_versus": "users versus",
    "rate_versus": "rate versus",
    "p_adjusted": "p adjusted",
    "mean_low": "mean low",
    "mean_high": "mean high",
    "login_to_new_ratio": "login/new",
}


@dataclass(frozen=True, eq=False)
class View:
    """What is to be shown: the result, decimals, which table, and whether the curve is drawn."""

    found: Retention
    digits: int
    show: str = "days"
    plot: bool = False

    @property
    def frame(self) -> Any:  # noqa: ANN401 - a Polars frame, which the command line does not import
        """The table as numbers."""
        return self.found.triangle if self.show == "cohorts" else getattr(self.found, self.show)


def render(view: View, form: str) -> str:
    """Return the view in one of :data:`FORMATS`, ending in a newline."""
    found = view.found
    lines = _lines(found) if view.plot else {}
    top = max((max(line.y) for line in lines.values()), default=0.0) or 1.0
    notes, told = found.audit.lines(), _conventions(found)
    tables = Tables(_tables(view), view.frame, found.report, notes, told, ("cohort",), lines, top)
    return FORMATS[form](tables)


# -- tables for people ---------------------------------------------------------------------------------------
def _tables(view: View) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield heads and rows of texts."""
    if view.show == "cohorts":
        yield _triangle(view)
        return
    frame = view.found.table() if view.show == "days" else view.frame
    yield _texts(view, frame)
    if (
        view.show == "days"
        and view.found.by is not None
        and view.found.segments.comparable(view.found.versus)
    ):
        yield _texts(view, view.found.differences)


def _texts(view: View, frame: Any) -> tuple[list[str], list[list[str]]]:  # noqa: ANN401 - a Polars frame
    unit = view.found.calendar.unit
    names = [name for name in frame.columns if name != "age"]
    head = [unit if name == "at" else _WORDS.get(name, name) for name in names]
    rows = [
        [_cell(name, value, view.digits) for name, value in row.items() if name != "age"]
        for row in frame.iter_rows(named=True)
    ]
    return [printable(name, LONGEST) for name in head], rows


def _cell(name: str, value: object, digits: int) -> str:
    if name == "complete":
        return "" if value else "not complete"
    return cell(name, value, digits)


def _triangle(view: View) -> tuple[list[str], list[list[str]]]:
    """Return a row a cohort and a column a window; what nobody knows yet is blank."""
    found, windows = view.found, [window.at for window in view.found.windows.asked]
    by = [] if found.by is None else [found.by]
    head = [*(printable(name, LONGEST) for name in by), "cohort", "size"]
    head += [f"{found.calendar.unit} {at}" for at in windows]
    rows: dict[tuple[object, ...], dict[str, str]] = {}
    for row in found.triangle.iter_rows(named=True):
        if row["size"]:
            cells = rows.setdefault((*(row[name] for name in by), row["cohort"], row["size"]), {})
            cells[row["at"]] = "" if row["rate"] is None else f"{row['rate']:.{view.digits}f}"
    lines = []
    for (*segment, cohort, size), cells in rows.items():
        names = ["–" if name is None else printable(name, LONGEST) for name in segment]
        lines.append([*names, str(cohort), f"{size:,}", *(cells[at] for at in windows)])
    return head, lines


def _conventions(found: Retention) -> dict[str, str]:
    """Return what the numbers depend on."""
    told = {name: value for name, value in found.conventions.items() if value is not None}
    told["days"] = ",".join(told["days"])
    if found.calendar.unit != "week":
        told.pop("week_start")
    return {name: printable(value, LONGEST) for name, value in told.items()}


def _lines(found: Retention) -> dict[str, Line]:
    """Return the curves of the largest segments, over ages that a share of their users have reached."""
    rows = [row for row in found.curve.iter_rows(named=True) if row["rate"] is not None]
    rows = [row for row in rows if row["age"] or found.audit.registrations or found.windows.kind == "bracket"]
    lines: dict[object, list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(row.get(found.by or ""), []).append(row)
    most = {name: max(row["users"] for row in points) for name, points in lines.items()}
    chosen = sorted(lines, key=lambda name: (-most[name], str(name)))[:_LINES]
    kept = {name: [row for row in lines[name] if row["users"] >= _REACHED * most[name]] for name in chosen}
    return {
        "" if found.by is None else "–" if name is None else str(name): Line(
            [float(row["age"] + found.windows.origin) for row in points], [row["rate"] for row in points]
        )
        for name, points in kept.items()
    }
