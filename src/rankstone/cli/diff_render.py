"""What two runs have in common, as text: tables for people, lines for programs.

Ids come from files, so they are escaped for whatever is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankstone.cli.outputs import as_csv, as_json, as_json_lines
from rankstone.cli.render import conventions_line, markdown, number
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.table import Table

    from rankstone import Similarity

__all__ = ["FORMATS", "View", "render"]

#: the head and the rows of a table
Cells = tuple[list[str], list[list[str]]]
#: ids are cut here in tables, so that two lists fit beside each other
_LONGEST = 32
_MOVED = {"▲ ": "green", "▼ ": "red", "new": "cyan", "gone": "magenta"}


@dataclass(frozen=True, eq=False)
class View:
    """What is to be shown.

    Attributes
    ----------
    alike
        The comparison.
    digits
        Decimals.
    query
        The query whose lists are shown side by side, instead of the means.
    top
        How many of the queries that changed most are shown.
    ranks
        How many ranks are shown of lists side by side.
    """

    alike: Similarity
    digits: int
    query: str | None
    top: int | None
    ranks: int

    def frame(self) -> Any:  # noqa: ANN401 - a Polars frame, whose library is not ours to import
        """Return what is asked for as one table: the lists, the changed queries, or the means."""
        if self.query is not None:
            return self.alike.side_by_side(self.query, self.ranks)
        return self.alike.table() if self.top is None else self.alike.changed(self.top)


def render(view: View, form: str) -> str:
    """Return the view in one of :data:`FORMATS`, ending in a newline."""
    return FORMATS[form](view)


# -- cells -------------------------------------------------------------------------------------------------
def _means(view: View) -> Cells:
    rows = view.alike.table().rows()
    undefined = any(row[-1] for row in rows)
    value = "mean" if all(measure.agg == "mean" for measure in view.alike.measures) else "value"
    head = ["measure", value, "min", "median", "max", "queries", *(["without value"] if undefined else [])]
    body = [
        [row[0], *(number(value, view.digits) for value in row[1:5]), *(f"{n:,}" for n in row[5:])]
        for row in rows
    ]
    return head, [row[: len(head)] for row in body]


def _changed(view: View) -> Cells:
    frame = view.alike.changed(view.top or 0)
    names = [str(measure) for measure in view.alike.measures]
    first, second = (printable(name, _LONGEST) for name in view.alike.names)
    body = [
        [
            printable(row[0], _LONGEST),
            *(number(value, view.digits) for value in row[1:-3]),
            *map(str, row[-3:]),
        ]
        for row in frame.rows()
    ]
    return ["query", *names, f"{first} docs", f"{second} docs", "common"], body


def _lists(view: View) -> Cells:
    first, second = (printable(name, _LONGEST) for name in view.alike.names)
    body = [
        [
            str(row["rank"]),
            _listed(row["a"], tied=row["a_tied"]),
            _gone(row["a"], row["a_to"]),
            _listed(row["b"], tied=row["b_tied"]),
            _moved(row["b"], row["b_from"], row["rank"]),
        ]
        for row in view.frame().iter_rows(named=True)
    ]
    return ["rank", first, "now at", second, "moved"], body


def _listed(doc: object, *, tied: bool | None) -> str:
    return "" if doc is None else printable(doc, _LONGEST) + (" ~" if tied else "")


def _gone(doc: object, rank: int | None) -> str:
    return "" if doc is None else ("gone" if rank is None else str(rank))


def _moved(doc: object, before: int | None, now: int) -> str:
    if doc is None:
        return ""
    if before is None:
        return "new"
    return "=" if before == now else f"{'▲' if before > now else '▼'} {abs(before - now)}"


def _query_line(view: View) -> str:
    """Return the values of the query that is shown."""
    rows = view.alike.per_query.filter(query_id=view.query)
    values = [
        f"{measure} {number(value, view.digits)}{'' if status == 'ok' else f' ({status})'}"
        for measure, value, status in rows.select("measure", "value", "status").iter_rows()
    ]
    return " · ".join([f"query {printable(view.query)}", *values])


def _below(view: View) -> list[str]:
    """Return what is said below two lists: signs used, ranks left out."""
    lines = []
    whole = view.alike.side_by_side(view.query)
    shown = whole.head(view.ranks)
    if shown.select((shown["a_tied"] | shown["b_tied"]).any()).item():
        rule = view.alike.conventions["alignment"]["ties"]
        lines.append(f"~ ties in score with a neighbour; shown in the order of ties={rule}")
        lines += view.alike.notes()
    if whole.height > view.ranks:
        lines.append(f"{whole.height - view.ranks:,} more ranks; --depth N shows and compares the first N")
    return lines


# -- formats -----------------------------------------------------------------------------------------------
def _table(view: View) -> str:
    import io
    import os
    import sys

    from rich.console import Console
    from rich.text import Text

    terminal = sys.stdout.isatty()
    width = None if terminal or "COLUMNS" in os.environ else 10_000
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=terminal, highlight=False, no_color="NO_COLOR" in os.environ
    )
    for part in _parts(view):
        if isinstance(part, str):
            console.print(Text(part, style="dim"), soft_wrap=not terminal)
        else:
            console.print(_grid(*part))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _parts(view: View) -> Iterable[str | Cells]:
    """Yield tables, and lines between and below them."""
    if view.query is not None:
        yield _query_line(view)
        yield _lists(view)
        yield from _below(view)
        return
    yield _means(view)
    if view.top is not None:
        yield ""
        yield f"changed most by {view.alike.measures[0]}"
        yield _changed(view)
        yield ""
    yield from view.alike.audit.lines()
    yield from view.alike.notes()
    yield conventions_line(view.alike)


def _grid(head: list[str], body: list[list[str]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, name in enumerate(head):
        texts = at == 0 if head[0] != "rank" else at in (1, 3)
        table.add_column(Text(name), justify="left" if texts else "right")
    for cells in body:
        table.add_row(*(Text(cell, style=_MOVED.get(cell, _MOVED.get(cell[:2], ""))) for cell in cells))
    return table


def _json(view: View) -> str:
    report = view.alike.report()
    if view.top is not None:
        report["changed"] = view.alike.changed(view.top).to_dicts()
    if view.query is not None:
        values = view.alike.per_query.filter(query_id=view.query).drop("query_id").to_dicts()
        lists = view.frame().to_dicts()
        report = {"query_id": view.query, "measures": values, "lists": lists, "inputs": report["inputs"]}
    return as_json(report)


def _jsonl(view: View) -> str:
    return as_json_lines(view.frame().iter_rows(named=True))


def _csv(view: View) -> str:
    """Return exact values; only where a person looks at them, nothing in them reaches the terminal."""
    import sys

    text = as_csv(view.frame())
    return (
        "".join(f"{printable(line, len(text))}\n" for line in text.split("\n")[:-1])
        if sys.stdout.isatty()
        else text
    )


def _markdown(view: View) -> str:
    if view.query is not None:
        return markdown(*_lists(view))
    return markdown(*(_means(view) if view.top is None else _changed(view)))


FORMATS: dict[str, Callable[[View], str]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "md": _markdown,
}
