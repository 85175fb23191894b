"""Scores as text: tables for people, lines for programs.

Run names come from file names and options, so they are escaped for whatever is written.
"""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankstone.cli.outputs import as_csv, as_json, as_json_lines
from rankstone.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rankstone import Bounds, Comparison, Curves, Sampled, Scores, Similarity, StoredScores
    from rankstone.spark import SparkScores

    AnyScores = Scores | StoredScores | SparkScores

__all__ = ["FORMATS", "Beside", "render"]

#: from this share of queries without a relevant document on, the mean without them is shown, too
_MANY_EMPTY = 0.01
#: what is written below a run may be so wide before it is broken into lines
_WRAPS_AT = 28

Row = tuple[str, list[str]]


@dataclass(frozen=True, eq=False)
class Beside:
    """What is shown beside the means.

    Attributes
    ----------
    by
        Columns of the query table that means are grouped by.
    intervals
        A frame with ``run``, ``measure``, ``low``, ``high``; ``None`` where nobody asked.
    told
        How these were found.
    """

    by: tuple[str, ...] = ()
    intervals: Any = None
    told: str = ""

    def interval(self, run: str, digits: int) -> dict[str, str]:
        """Return measure → its interval as text, with a blank in front."""
        if self.intervals is None:
            return {}
        found = self.intervals.filter(run=run).select("measure", "low", "high").rows()
        return {
            name: f" [{number(low, digits)}, {number(high, digits)}]"
            for name, low, high in found
            if low is not None
        }

    def joined(self, means: Any) -> Any:  # noqa: ANN401 - a frame
        """Return means with the ends of their intervals."""
        if self.intervals is None:
            return means
        ends = self.intervals.select("run", "measure", "low", "high")
        return means.join(ends, on=["run", "measure"], how="left", maintain_order="left")


def render(scores: AnyScores, form: str, digits: int, beside: Beside | None = None) -> str:
    """Return scores in one of :data:`FORMATS`, ending in a newline."""
    return FORMATS[form](scores, digits, beside or Beside())


def _rows(scores: AnyScores, digits: int, beside: Beside) -> Iterable[Row]:
    """Yield a row for each run; more where other means than the asked-for one should be seen."""
    names = [str(measure) for measure in scores.measures]

    def cells(run: str, without: tuple[str, ...]) -> list[str]:
        means = scores.mean(without=without).filter(run=run)
        values = dict(zip(means["measure"], means["value"], strict=True))
        return [number(values[name], digits) for name in names]

    for run, audit in scores.audit.runs.items():
        ends = beside.interval(run, digits)
        values = zip(names, cells(run, ()), strict=True)
        yield printable(run), [f"{cell}{ends.get(name, '')}" for name, cell in values]
        if audit.missing and scores.conventions["alignment"]["missing"] == "zero":
            yield f"  … {audit.queries} answered queries", cells(run, ("missing",))
        if _has_many_empty(scores, run):
            yield "  … queries with a relevant document", cells(run, ("no_relevant",))
        if beside.by:
            yield from _segments(scores, digits, beside.by, run)


def _segments(scores: AnyScores, digits: int, by: tuple[str, ...], run: str) -> Iterable[Row]:
    """Yield a row for each segment of a run's queries."""
    means = scores.mean(by=by).filter(run=run)
    for segment in means.partition_by(by, maintain_order=True):
        values = ["–" if segment[name][0] is None else printable(segment[name][0]) for name in by]
        what = ", ".join(f"{printable(name)}={value}" for name, value in zip(by, values, strict=True))
        yield f"  {what} ({segment['n'].max()!s})", [number(value, digits) for value in segment["value"]]


def _has_many_empty(scores: AnyScores, run: str) -> bool:
    if scores.conventions["alignment"]["empty"] not in ("zero", "one"):
        return False
    return scores.share_of(run, "no_relevant") > _MANY_EMPTY


def number(value: float | None, digits: int) -> str:
    """Return a value as text: fixed decimals, whole numbers of documents without, ``–`` for none.

    >>> number(0.5, 4), number(None, 4), number(2 / 3, 2)
    ('0.5000', '–', '0.67')
    """
    return "–" if value is None else f"{value:.{digits}f}"


def conventions_line(scores: AnyScores | Similarity | Curves | Bounds | Comparison | Sampled) -> str:
    """Return the one line that says by which conventions the numbers are made."""
    alignment: dict[str, Any] = scores.conventions["alignment"]
    if "convention" in scores.conventions:
        return "\n".join(_by_convention(scores.conventions))
    shown = [f"{name}={value}" for name, value in alignment.items() if value is not None]
    parameters = [f"{name}={value}" for name, value in scores.conventions["defaults"].items()]
    return "conventions  " + " ".join(shown) + (" · " + " ".join(parameters) if parameters else "")


def _by_convention(conventions: Mapping[str, Any]) -> Iterator[str]:
    """Say what a library means by each of its measures."""
    yield f"convention  {conventions['convention']}"
    for text, meaning in conventions["meaning"].items():
        options = " ".join(f"{name}={value}" for name, value in meaning["options"].items())
        yield f"  {text} is {meaning['ours']}{f' with {options}' if options else ''}"


def _table(scores: AnyScores, digits: int, beside: Beside) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    width = None if terminal or "COLUMNS" in os.environ else 10_000
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=terminal, highlight=False, no_color="NO_COLOR" in os.environ
    )
    rows = list(_rows(scores, digits, beside))
    left, blocks = _blocks([str(measure) for measure in scores.measures], rows, console.width)
    for place, block in enumerate(blocks):
        if place:
            console.print()
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("run", max_width=left, overflow="fold")
        for at in block:
            table.add_column(Text(str(scores.measures[at])), justify="right", overflow="fold")
        for name, cells in rows:
            style = "dim" if name.startswith("  ") else ""
            table.add_row(Text(name, style=style), *(Text(cells[at]) for at in block))
        console.print(table)
    for line in filter(None, [beside.told, *scores.audit.lines(), conventions_line(scores)]):
        console.print(Text(line, style="dim"), soft_wrap=not terminal)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _blocks(names: Sequence[str], rows: Sequence[Row], width: int) -> tuple[int, list[list[int]]]:
    """Cut a table that is wider than the terminal into tables that stand one above the other.

    Returns how wide the column of runs may be, and the measures of each table.

    >>> _blocks(["nDCG@10", "AP"], [("bm25", ["0.5", "0.25"])], 15)
    (4, [[0], [1]])
    """
    from rich.cells import cell_len

    wide = [
        2 + max(map(cell_len, [name, *(cells[at] for _, cells in rows)])) for at, name in enumerate(names)
    ]
    left = max(map(cell_len, ["run", *(name for name, _ in rows)]))
    if left + sum(wide) <= width:
        return left, [list(range(len(names)))]
    own = [cell_len(name) for name, _ in rows if not name.startswith("  ")]  # other rows wrap between words
    left = min(left, max(_WRAPS_AT, *own), width // 2)
    blocks: list[list[int]] = []
    for at in range(len(names)):
        if not blocks or left + sum(wide[other] for other in blocks[-1]) + wide[at] > width:
            blocks.append([])
        blocks[-1].append(at)
    return left, blocks


def _json(scores: AnyScores, _digits: int, beside: Beside) -> str:
    intervals = {} if beside.intervals is None else {"intervals": beside.intervals.to_dicts()}
    return as_json({**scores.report(beside.by), **intervals})


def _jsonl(scores: AnyScores, _digits: int, beside: Beside) -> str:
    return as_json_lines(beside.joined(scores.mean(by=beside.by)).iter_rows(named=True))


def _csv(scores: AnyScores, _digits: int, beside: Beside) -> str:
    return as_csv(beside.joined(scores.mean(by=beside.by)))


def _markdown(scores: AnyScores, digits: int, beside: Beside) -> str:
    head = ["run", *map(str, scores.measures)]
    return markdown(head, [[name, *cells] for name, cells in _rows(scores, digits, beside)])


def markdown(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; the first column holds texts, the others numbers."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(map(escaped, cells))} |"

    def escaped(text: str) -> str:
        marked = "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+!|" else c for c in text)
        return marked.strip()

    return "\n".join([line(head), "|---|" + "---:|" * (len(head) - 1), *map(line, body)]) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "…": r"\ldots{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    **{c: f"\\{c}" for c in "&%$#_"},
}


def _latex(scores: AnyScores, digits: int, beside: Beside) -> str:
    head = ["run", *map(str, scores.measures)]
    body = [[name, *cells] for name, cells in _rows(scores, digits, beside)]
    return f"% {conventions_line(scores)}\n{latex(head, body)}"


def latex(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a table in LaTeX; the first column holds texts, the others numbers."""

    def line(cells: Iterable[str]) -> str:
        return " & ".join("".join(_LATEX.get(c, c) for c in cell.strip()) for cell in cells) + r" \\"

    rows = "\n".join(map(line, body))
    columns = "l" + "r" * (len(head) - 1)
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\hline\n{line(head)}\n\\hline\n"
        f"{rows}\n\\hline\n\\end{{tabular}}\n"
    )


def _trec(scores: AnyScores, digits: int, beside: Beside) -> str:
    """Return trec_eval's three columns; a ``runid`` line begins each run."""
    from rankstone.measures import trec_name

    if beside.by or beside.intervals is not None:
        raise UsageError(
            "trec_eval's format has no place for segments and intervals", fix="--format csv or jsonl"
        )
    lines = []
    for run, means in scores.to_dict().items():
        lines.append(f"{'runid':<22}\tall\t{printable(run)}")
        for measure in scores.measures:
            value = means[str(measure)]
            whole = measure.agg == "sum" and value is not None and value == int(value)
            shown = "nan" if value is None else (str(int(value)) if whole else f"{value:6.{digits}f}")
            lines.append(f"{trec_name(measure):<22}\tall\t{shown}")
    return "\n".join(lines) + "\n"


FORMATS: dict[str, Callable[[AnyScores, int, Beside], str]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "md": _markdown,
    "latex": _latex,
    "trec": _trec,
}
