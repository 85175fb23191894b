"""Results that are tables, as text: for people, for programs, for papers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.outputs import as_csv, as_json, as_json_lines
from rankstone.cli.page import Page
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from rankstone.cli.drawing import Line

    Heads = tuple[list[str], list[list[str]]]

__all__ = ["FORMATS", "LONGEST", "Tables", "cell"]

#: names are cut here
LONGEST: Final = 40
_P: Final = ("p", "p_adjusted", "p_sign", "p_randomisation")


@dataclass(frozen=True, eq=False)
class Tables:
    """What is to be shown of a result.

    Attributes
    ----------
    shown
        Heads and rows of texts, a pair a table.
    frame
        The rows that programs read, a Polars frame.
    report
        Everything, as plain dicts.
    notes
        Sentences below the tables.
    conventions
        What the numbers depend on.
    texts
        Heads of columns that hold texts, though these may begin with a digit.
    lines
        Lines to draw above the tables, by name.
    top
        The highest point of the drawing.
    """

    shown: Iterable[Heads]
    frame: Any
    report: Callable[[], dict[str, Any]]
    notes: Sequence[str]
    conventions: Mapping[str, str]
    texts: Collection[str] = ()
    lines: Mapping[str, Line] = field(default_factory=dict)
    top: float | None = None

    @property
    def convention_line(self) -> str:
        """What the numbers depend on, in a line."""
        return "conventions  " + " ".join(f"{name}={value}" for name, value in self.conventions.items())


def cell(name: str, value: object, digits: int) -> str:
    """Return a value as text: p-values to two figures, differences with their sign, – for none."""
    if value is None:
        return "–"
    if isinstance(value, float):
        if name in _P:
            return "<0.0001" if value < 0.0001 else f"{value:.2g}"  # noqa: PLR2004 - what four decimals show
        return f"{value:+.{digits}f}" if name == "difference" else f"{value:.{digits}f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else printable(value, LONGEST)


def _table(tables: Tables) -> str:
    page = Page()
    if tables.lines:
        page.lines(tables.lines, tables.top, named=list(tables.lines) != [""])
    for head, rows in tables.shown:
        numbers = {at for at in range(len(head)) if any(_numeric(row[at]) for row in rows)}
        texts = {at for at, name in enumerate(head) if at not in numbers or name in tables.texts}
        page.table(head, rows, texts).space()
    return str(page.notes([*tables.notes, tables.convention_line]))


def _numeric(text: str) -> bool:
    return text != "" and text[0] in "0123456789+-<–"


def _json(tables: Tables) -> str:
    return as_json(tables.report())


def _jsonl(tables: Tables) -> str:
    return as_json_lines(tables.frame.iter_rows(named=True))


def _csv(tables: Tables) -> str:
    return as_csv(tables.frame)


def _markdown(tables: Tables) -> str:
    from rankstone.cli.render import markdown

    return "\n".join(markdown(head, rows) for head, rows in tables.shown)


def _latex(tables: Tables) -> str:
    from rankstone.cli.render import latex

    return f"% {tables.convention_line}\n" + "\n".join(latex(head, rows) for head, rows in tables.shown)


FORMATS: Final[dict[str, Callable[[Tables], str]]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "md": _markdown,
    "latex": _latex,
}
