"""What was found in logs, as text.

Names come from files, so they are escaped for whatever is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.cli.tables import FORMATS, LONGEST, Tables, cell
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.behaviour.results import Found

__all__ = ["FORMATS", "render"]


def render(found: Found, form: str, digits: int) -> str:
    """Return a result in one of :data:`FORMATS`, ending in a newline."""
    told = {name: value for name, value in found.conventions.items() if value is not None}
    conventions = {name: printable(value, LONGEST) for name, value in told.items()}
    shown = _texts(found, digits)
    return FORMATS[form](Tables(shown, found.table(), found.report, found.audit.lines(), conventions))


def _texts(found: Found, digits: int) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield heads and rows of texts."""
    for table in found.tables.values():
        head = [printable(name.replace("_", " "), LONGEST) for name in table.columns]
        rows = table.iter_rows(named=True)
        yield head, [[cell(name, value, digits) for name, value in row.items()] for row in rows]
