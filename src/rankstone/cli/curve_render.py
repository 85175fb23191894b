"""Curves as text: drawings and tables for people, lines for programs.

Run names come from file names and options, so they are escaped for whatever is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankstone.cli.drawing import COLOURS, MARKS, Line, drawn, is_logarithmic
from rankstone.cli.outputs import as_json, as_json_lines, formulas
from rankstone.cli.render import conventions_line, number
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rich.console import Console, RenderableType

    from rankstone import Curves

__all__ = ["FORMATS", "View", "render"]

Row = dict[str, Any]

#: a drawing is no wider than this, and so high; where nobody says how wide the paper is, as wide as the last
_WIDEST, _NARROWEST, _HEIGHT, _PAPER = 100, 40, 15, 80
_NO_PAPER = 1000
#: rows of a table of means; longer curves are thinned out
_MOST_ROWS = 15
#: how round cutoffs begin: 1, 2, 3, 5, 10, 20 …
_ROUND = ("1.000000e", "2.000000e", "3.000000e", "5.000000e")
#: names are cut here in tables
_LONGEST = 24
_NONE = "–"


@dataclass(frozen=True, eq=False)
class View:
    """What is to be shown: the curves, decimals, targets asked about, and whether k is to be chosen."""

    curves: Curves
    digits: int
    targets: Mapping[str, Sequence[float]]
    which_k: bool = False


def render(view: View, form: str) -> str:
    """Return the view in one of :data:`FORMATS`, ending in a newline."""
    return FORMATS[form](view)


def _table(view: View) -> str:
    import io
    import os
    import sys

    from rich.console import Console

    terminal = sys.stdout.isatty()
    out = io.StringIO()
    console = Console(
        file=out,
        width=None if terminal or "COLUMNS" in os.environ else 10_000,
        force_terminal=terminal,
        highlight=False,
        no_color="NO_COLOR" in os.environ,
    )
    for curve in view.curves.curves:
        _one(view, str(curve), curve.axes, console)
    lines = [*view.curves.audit.lines(), view.curves.resampling_line(), conventions_line(view.curves)]
    for line in lines:
        console.print(_text(line, "dim"), soft_wrap=not terminal)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _one(view: View, name: str, axes: tuple[str, str], console: Console) -> None:
    """Print one curve of all runs: heading, drawing, means, and what there is to say about them."""
    means = view.curves.mean().filter(curve=name).to_dicts()
    console.print(_text(f"{name}: {axes[1]} over {axes[0]}, mean over queries", "bold"))
    for row in _drawing(means, _PAPER if console.width > _NO_PAPER else console.width):
        console.print(_pieces(row))
    console.print(_means(view, means, axes[0], console.width))
    for line in _said(view, name):
        console.print(_text(line, ""), soft_wrap=not console.is_terminal)
    if view.which_k and (rows := view.curves.which_k().filter(curve=name).to_dicts()):
        console.print()
        console.print(_choice(rows, view.digits))
        for line in _chosen(rows, view):
            console.print(_text(line, ""), soft_wrap=not console.is_terminal)
    console.print()


def _drawing(means: list[Row], width: int) -> list[list[tuple[str, str]]]:
    points: dict[str, list[tuple[float, float]]] = {row["run"]: [] for row in means}
    for row in means:
        if row["mean"] is not None:
            points[row["run"]].append((row["x"], row["mean"]))
    if not all(points.values()):
        return []
    lines = [Line(*zip(*places, strict=True)) for places in points.values()]
    highest = max(max(line.y) for line in lines)
    top = 1.0 if 0.5 < highest <= 1 else (highest or 1.0)  # noqa: PLR2004 - small numbers deserve room
    wide = min(max(width, _NARROWEST), _WIDEST)
    return drawn(lines, wide, _HEIGHT, top, logarithmic=is_logarithmic(lines[0].x))


def _means(view: View, means: list[Row], x: str, width: int) -> RenderableType:
    """Return a table of means, with intervals where they fit."""
    from rich.table import Table

    runs = list(view.curves.runs)
    one = max(3 * (view.digits + 2) + len(" [, ]"), max(map(len, runs)) + 2) + 2
    narrow = len(x) + len(runs) * one > width
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(_text(x, "bold"), justify="right")
    for at, run in enumerate(runs):
        mark = f"{MARKS[at % len(MARKS)]} " if len(runs) > 1 else ""
        style = f"bold {COLOURS[at % len(COLOURS)]}"
        table.add_column(_text(mark + printable(run, _LONGEST), style), justify="right")
    for place in _thinned([row["x"] for row in means if row["run"] == runs[0]]):
        cells = [_mean(row, view.digits, alone=narrow) for row in means if row["x"] == place]
        table.add_row(f"{place:g}", *(_text(cell, "") for cell in cells))
    return table


def _mean(row: Row, digits: int, *, alone: bool) -> str:
    """Return a mean, alone or with its interval: ``0.4210 [0.3987, 0.4438]``."""
    shown = number(row["mean"], digits)
    if alone or row["ci_low"] is None:
        return shown
    return f"{shown} [{number(row['ci_low'], digits)}, {number(row['ci_high'], digits)}]"


def _thinned(places: list[float]) -> list[float]:
    """Return all places, or those at round steps of a long curve, first and last included."""
    last = len(places) - 1
    if last < _MOST_ROWS:
        return places
    if is_logarithmic(places):
        kept = {at for at, place in enumerate(places) if f"{place:e}".startswith(_ROUND)}
    else:
        least = -(-last // (_MOST_ROWS - 1))
        step = next((step for step in range(least, 2 * least) if last % step == 0), least)
        kept = set(range(0, last, step))
    return [places[at] for at in sorted(kept | {0, last})]


def _choice(rows: list[Row], digits: int) -> RenderableType:
    """Return a table of what each cutoff tells apart."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    heads = ("k", "pairs told apart", "order as at the deepest k", "order in samples", "in front", "again")
    for at, head in enumerate(heads):
        table.add_column(_text(head, "bold"), justify="left" if at == 4 else "right")  # noqa: PLR2004 - names
    kept = set(_thinned([float(row["k"]) for row in rows]))
    for row in rows:
        if float(row["k"]) in kept:
            low = "" if row["tau_low"] is None else f" [{number(row['tau_low'], digits)}]"
            cells = (
                f"{row['k']}",
                _NONE if row["apart"] is None else f"{row['apart']} of {row['pairs']}",
                number(row["tau_deepest"], digits),
                f"{number(row['tau_samples'], digits)}{low}",
                _NONE if row["best"] is None else printable(row["best"], _LONGEST),
                _NONE if row["best_again"] is None else f"{row['best_again']:.0%}",
            )
            table.add_row(*(_text(cell, "") for cell in cells))
    return table


# -- sentences ---------------------------------------------------------------------------------------------
def _said(view: View, name: str) -> Iterable[str]:
    """Yield what there is to say: queries without a curve, noise, comparisons, targets."""
    for row in view.curves.counts().filter(curve=name).iter_rows(named=True):
        yield from _left_out(row)
    for row in view.curves.noise().filter(curve=name).iter_rows(named=True):
        yield _noise(row, view.digits)
    for row in view.curves.crossings().filter(curve=name).iter_rows(named=True):
        yield _crossing(row)
    for row in view.curves.dominance().filter(curve=name).iter_rows(named=True):
        if row["dominates"]:
            yield _dominance(row)
    if view.targets:
        for row in view.curves.reach(view.targets).filter(curve=name).iter_rows(named=True):
            yield _reach(row, name.rpartition("@")[2])
        for row in view.curves.races(view.targets).filter(curve=name).iter_rows(named=True):
            yield _race(row)


def _left_out(row: Row) -> Iterable[str]:
    if row["n_no_relevant"] or row["n_undefined"]:
        why = [
            f"{row[key]:,} {text}"
            for key, text in (("n_no_relevant", "without a relevant document"), ("n_undefined", "undefined"))
            if row[key]
        ]
        yield f"{printable(row['run'])}  {row['n']:,} queries have a curve; left out: {', '.join(why)}"


def _noise(row: Row, digits: int) -> str:
    figures = {name: number(row[name], digits) for name in ("mean", "ci_low", "ci_high", "sd", "se", "iqr")}
    cv, failed = number(row["cv"], 2), row["failed"] or 0.0
    return (
        f"{printable(row['run'])}  {row['measure']} {figures['mean']} "
        f"[{figures['ci_low']}, {figures['ci_high']}] · SD {figures['sd']} · SE {figures['se']} · CV {cv} · "
        f"IQR {figures['iqr']} · below 0.1: {failed:.0%} of {row['n']:,} queries"
    )


def _crossing(row: Row) -> str:
    before, after = printable(row["before"]), printable(row["after"])
    ends = "" if row["ci_low"] is None else f" [{row['ci_low']:.3g}, {row['ci_high']:.3g}]"
    found = "" if row["found"] is None else f", seen in {row['found']:.0%} of the samples"
    return f"crossing at {row['x']:.3g}{ends}: {before} leads before, {after} behind{found}"


def _dominance(row: Row) -> str:
    ways = f"above {printable(row['other'])} at {row['above']} places, equal at {row['equal']}, below nowhere"
    p = "" if row["p"] is None else f"; p = {row['p']:.3g} (the samples in which it falls below somewhere)"
    return f"{printable(row['run'])} is {ways}{p}"


def _reach(row: Row, cutoffs: str) -> str:
    run, target = printable(row["run"]), f"{row['target']:g}"
    if row["k"] is None:
        return f"{run}  never reaches {target} at k = {cutoffs}"
    ends = ""
    if row["never"] is not None:
        low, high = ("never" if end is None else end for end in (row["ci_low"], row["ci_high"]))
        ends = f" [{low}, {high}]"
    if row["grows"]:
        return f"{run}  reaches {target} at k = {row['k']}{ends}"
    every = row["all_k"]
    shown = ", ".join(map(str, every[:_MOST_ROWS])) + (", …" if len(every) > _MOST_ROWS else "")
    return f"{run}  first reaches {target} at k = {row['k']}{ends}; at or above it at k = {shown}"


def _race(row: Row) -> str:
    if row["sooner"] is None:
        return f"{printable(row['run'])} against {printable(row['other'])}: no samples"
    return (
        f"{printable(row['run'])} reaches {row['target']:g} sooner than {printable(row['other'])} in "
        f"{row['sooner']:.0%} of the samples, later in {row['later']:.0%}"
    )


def _chosen(rows: list[Row], view: View) -> Iterable[str]:
    """Yield what the table says, and how it was made."""
    known = [row for row in rows if row["apart"] is not None]
    if known:
        most = max(row["apart"] for row in known)
        first = next(row["k"] for row in known if row["apart"] == most)
        if most:
            yield f"which k: most pairs, {most} of {rows[0]['pairs']}, are told apart first at k = {first}"
        else:
            yield "which k: no pair is told apart at any k"
    how = view.curves.resampling
    yield (
        f"told apart: p ≤ {1 - how.confidence:.3g} of the paired t-test, {rows[0]['n']:,} queries; order: "
        f"Kendall's tau_b with that at k = {rows[-1]['k']}, and its mean over the samples "
        f"[lowest {how.ends[0]:.1%}]; again: the samples in which that run is in front, too"
    )


def _text(text: str, style: str) -> Any:  # noqa: ANN401 - rich is imported late
    from rich.text import Text

    return Text(text, style=style)


def _pieces(row: list[tuple[str, str]]) -> Any:  # noqa: ANN401 - the same
    from rich.text import Text

    return Text.assemble(*row, no_wrap=True)


# -- formats for programs ----------------------------------------------------------------------------------
def _json(view: View) -> str:
    report = view.curves.report()
    if view.targets:
        report["reach"] = view.curves.reach(view.targets).to_dicts()
        report["races"] = view.curves.races(view.targets).to_dicts()
    if view.which_k:
        report["which_k"] = view.curves.which_k().to_dicts()
    return as_json(report)


def _rows(view: View) -> Any:  # noqa: ANN401 - a frame
    """Return the one table for programs: what was asked for, the means unless it is something else."""
    if view.which_k:
        return view.curves.which_k()
    return view.curves.reach(view.targets) if view.targets else view.curves.mean()


def _jsonl(view: View) -> str:
    return as_json_lines(_rows(view).iter_rows(named=True))


def _csv(view: View) -> str:
    import csv
    import io

    from rankstone.io.formulas import escaped

    rows, out = _rows(view), io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows.columns)
    for row in rows.iter_rows():
        cells = [" ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in row]
        writer.writerow([escaped(cell) for cell in cells] if formulas() == "escape" else cells)
    return out.getvalue()


FORMATS: dict[str, Callable[[View], str]] = {"table": _table, "json": _json, "jsonl": _jsonl, "csv": _csv}
