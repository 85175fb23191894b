"""Retention as text: drawings and tables for people, lines for programs.

Names of segments come from files, so they are escaped for whatever is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.drawing import COLOURS, MARKS, Line, drawn
from rankstone.cli.outputs import as_json, as_json_lines
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankstone.behaviour import Retention

__all__ = ["FORMATS", "View", "drawn_table", "render"]

#: a drawing is no wider than this, and so high; where nobody says how wide the paper is, as wide as the last
_WIDEST, _NARROWEST, _HEIGHT, _PAPER = 100, 40, 15, 80
_NO_PAPER = 1000
#: lines of a drawing that can be told apart, and the share of users that must have reached an age to be drawn
_LINES, _REACHED = 6, 0.1
#: columns that are counts, shares in percent, p-values
_COUNTS: Final = (
    "cohorts", "censored", "users", "users_versus", "retained", "size", "age", "new", "returning", "login",
)  # fmt: skip
_SHARES: Final = (
    "rate", "rate_versus", "low", "high", "churn", "mean", "mean_low", "mean_high", "login_to_new_ratio",
)  # fmt: skip
_P: Final = ("p", "p_adjusted")
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
    return FORMATS[form](view)


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
    return [printable(name, _LONGEST) for name in head], rows


#: names are cut here
_LONGEST: Final = 40


def _cell(name: str, value: object, digits: int) -> str:
    if value is None:
        return "–"
    if name == "complete":
        return "" if value else "not complete"
    if isinstance(value, float):
        if name in _P:
            return "<0.0001" if value < 0.0001 else f"{value:.2g}"  # noqa: PLR2004 - what four decimals show
        return f"{value:+.{digits}f}" if name == "difference" else f"{value:.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return printable(value, _LONGEST)


def _triangle(view: View) -> tuple[list[str], list[list[str]]]:
    """Return a row a cohort and a column a window; what nobody knows yet is blank."""
    found, windows = view.found, [window.at for window in view.found.windows.asked]
    by = [] if found.by is None else [found.by]
    head = [*(printable(name, _LONGEST) for name in by), "cohort", "size"]
    head += [f"{found.calendar.unit} {at}" for at in windows]
    rows: dict[tuple[object, ...], dict[str, str]] = {}
    for row in found.triangle.iter_rows(named=True):
        if row["size"]:
            cells = rows.setdefault((*(row[name] for name in by), row["cohort"], row["size"]), {})
            cells[row["at"]] = "" if row["rate"] is None else f"{row['rate']:.{view.digits}f}"
    lines = []
    for (*segment, cohort, size), cells in rows.items():
        names = ["–" if name is None else printable(name, _LONGEST) for name in segment]
        lines.append([*names, str(cohort), f"{size:,}", *(cells[at] for at in windows)])
    return head, lines


def _table(view: View) -> str:
    import io
    import os
    import sys

    from rich.console import Console
    from rich.text import Text

    terminal = sys.stdout.isatty()
    console = Console(
        file=io.StringIO(),
        width=None if terminal or "COLUMNS" in os.environ else 10_000,
        force_terminal=terminal,
        highlight=False,
        no_color="NO_COLOR" in os.environ,
    )
    if view.plot:
        for row in _drawing(view, console):
            console.print(Text.assemble(*row, no_wrap=True))
        console.print()
    for head, rows in _tables(view):
        console.print(drawn_table(head, rows))
        console.print()
    for line in [*view.found.audit.lines(), conventions(view.found)]:
        console.print(Text(line, style="dim"), soft_wrap=not terminal)
    assert isinstance(console.file, io.StringIO)  # noqa: S101 - made above
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def drawn_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:  # noqa: ANN401 - rich is imported late
    """Draw heads and rows of texts as a table for a terminal, numbers to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, name in enumerate(head):
        numeric = any(row[at][:1] in "0123456789+-<–" and row[at] for row in rows) and name != "cohort"
        table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def conventions(found: Retention) -> str:
    """Return the one line that says what the numbers depend on."""
    told = {name: value for name, value in found.conventions.items() if value is not None}
    told["days"] = ",".join(told["days"])
    if found.calendar.unit != "week":
        told.pop("week_start")
    return "conventions  " + " ".join(f"{name}={printable(value, _LONGEST)}" for name, value in told.items())


def _drawing(view: View, console: Any) -> list[list[tuple[str, str]]]:  # noqa: ANN401 - rich's console
    """Draw the curve of the largest segments, over ages that a share of their users have reached."""
    found = view.found
    rows = [row for row in found.curve.iter_rows(named=True) if row["rate"] is not None]
    rows = [row for row in rows if row["age"] or found.audit.registrations or found.windows.kind == "bracket"]
    lines: dict[object, list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(row.get(found.by or ""), []).append(row)
    most = {name: max(row["users"] for row in points) for name, points in lines.items()}
    chosen = sorted(lines, key=lambda name: (-most[name], str(name)))[:_LINES]
    if not chosen:
        return []
    kept = {name: [row for row in lines[name] if row["users"] >= _REACHED * most[name]] for name in chosen}
    made = [
        Line([float(row["age"] + found.windows.origin) for row in points], [row["rate"] for row in points])
        for points in kept.values()
    ]
    width = _PAPER if console.width > _NO_PAPER else console.width
    wide = min(max(width, _NARROWEST), _WIDEST)
    top = max(max(line.y) for line in made) or 1.0
    picture = drawn(made, wide, _HEIGHT, top, logarithmic=False)
    return [*picture, *([] if found.by is None else [_legend(chosen)])]


def _legend(names: Sequence[object]) -> list[tuple[str, str]]:
    return [
        (
            f"{MARKS[at % len(MARKS)]} {'–' if name is None else printable(name, _LONGEST)}   ",
            COLOURS[at % len(COLOURS)],
        )
        for at, name in enumerate(names)
    ]


# -- formats for programs and papers -------------------------------------------------------------------------
def _json(view: View) -> str:
    return as_json(view.found.report())


def _jsonl(view: View) -> str:
    return as_json_lines(view.frame.iter_rows(named=True))


def _csv(view: View) -> str:
    text: str = view.frame.write_csv()
    return text


def _markdown(view: View) -> str:
    from rankstone.cli.render import markdown

    return "\n".join(markdown(head, rows) for head, rows in _tables(view))


def _latex(view: View) -> str:
    from rankstone.cli.render import latex

    return f"% {conventions(view.found)}\n" + "\n".join(latex(head, rows) for head, rows in _tables(view))


FORMATS: Final[dict[str, Callable[[View], str]]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "md": _markdown,
    "latex": _latex,
}
