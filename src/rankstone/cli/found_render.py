"""What was found in logs, as text: tables for people, lines for programs.

Names come from files, so they are escaped for whatever is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.outputs import as_json, as_json_lines
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone.behaviour.results import Found

__all__ = ["FORMATS", "render"]

_LONGEST: Final = 40
_P: Final = ("p", "p_adjusted", "p_sign", "p_randomisation")


def render(found: Found, form: str, digits: int) -> str:
    """Return a result in one of :data:`FORMATS`, ending in a newline."""
    return FORMATS[form](found, digits)


def _texts(found: Found, digits: int) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield heads and rows of texts."""
    for table in found.tables.values():
        head = [printable(name.replace("_", " "), _LONGEST) for name in table.columns]
        yield (
            head,
            [
                [_cell(name, value, digits) for name, value in row.items()]
                for row in table.iter_rows(named=True)
            ],
        )


def _cell(name: str, value: object, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        if name in _P:
            return "<0.0001" if value < 0.0001 else f"{value:.2g}"  # noqa: PLR2004 - what four decimals show
        return f"{value:+.{digits}f}" if name == "difference" else f"{value:.{digits}f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else printable(value, _LONGEST)


def _conventions(found: Found) -> str:
    told = {name: value for name, value in found.conventions.items() if value is not None}
    return "conventions  " + " ".join(f"{name}={printable(value, _LONGEST)}" for name, value in told.items())


def _table(found: Found, digits: int) -> str:
    import io
    import os
    import sys

    from rich.console import Console
    from rich.text import Text

    from rankstone.cli.retention_render import drawn_table

    terminal = sys.stdout.isatty()
    console = Console(
        file=io.StringIO(),
        width=None if terminal or "COLUMNS" in os.environ else 10_000,
        force_terminal=terminal,
        highlight=False,
        no_color="NO_COLOR" in os.environ,
    )
    for head, rows in _texts(found, digits):
        console.print(drawn_table(head, rows))
        console.print()
    for line in [*found.audit.lines(), _conventions(found)]:
        console.print(Text(line, style="dim"), soft_wrap=not terminal)
    assert isinstance(console.file, io.StringIO)  # noqa: S101 - made above
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def _json(found: Found, _digits: int) -> str:
    return as_json(found.report())


def _jsonl(found: Found, _digits: int) -> str:
    return as_json_lines(found.table().iter_rows(named=True))


def _csv(found: Found, _digits: int) -> str:
    table: Any = found.table()
    text: str = table.write_csv()
    return text


def _markdown(found: Found, digits: int) -> str:
    from rankstone.cli.render import markdown

    return "\n".join(markdown(head, rows) for head, rows in _texts(found, digits))


def _latex(found: Found, digits: int) -> str:
    from rankstone.cli.render import latex

    return f"% {_conventions(found)}\n" + "\n".join(latex(head, rows) for head, rows in _texts(found, digits))


FORMATS: Final[dict[str, Callable[[Found, int], str]]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "md": _markdown,
    "latex": _latex,
}
