"""``rankstone thresholds``: what the line between relevant and not relevant decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.judging import answer, judging
from rankstone.cli.options import EPILOG, comma_list
from rankstone.cli.outputs import as_csv, as_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone import Thresholds
    from rankstone.cli.page import Page

#: runs beside one another whose intervals are shown
_FEW = 4
#: pairs of runs that are named in a line
_NAMED = 5


@click.command("thresholds", epilog=EPILOG)
@judging(
    "AP P@10 RR@10",
    "table|json|csv|md",
    comma_list("--levels", metavar="GRADE,…", help="thresholds; else every grade above 0 in the judgments"),
    click.option("--strict", is_flag=True, help="relevant is what lies above a level, not the level itself"),
    click.option(
        "--interval",
        default="auto",
        metavar="auto|worst_case|t|bca|percentile|studentised",
        help="of every value",
    ),
    click.option("--confidence", type=float, default=0.95, show_default=True, help="of these intervals"),
    click.option("--seed", type=int, default=0, show_default=True, help="of their resamples"),
    click.option("--plot", is_flag=True, help="draw the values over the threshold above the table"),
)
def command(
    levels: str | None,
    strict: bool,  # noqa: FBT001 - click passes flags so
    interval: str,
    confidence: float,
    seed: int,
    plot: bool,  # noqa: FBT001
    **asked: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Score runs with every threshold on the grades.

    Shows each value by threshold with its interval, how far it moves, where runs change places, and how many
    preferences between documents a threshold wipes out.

    \b
    rankstone thresholds qrels.txt bm25.run dense.run -m "AP P@10"
    rankstone thresholds ratings.csv als.csv knn.csv --strict --levels 2,3,4 --plot
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import thresholds

    how = {"interval": interval, "confidence": confidence, "seed": seed}
    answer(
        thresholds,
        asked,
        {**_FORMATS, "table": _drawn if plot else _table},
        lambda found: found.scores.audit.lines(),
        levels=_numbers(levels),
        strict=strict,
        **how,
    )


def _numbers(levels: str | None) -> list[float] | None:
    from rankstone.errors import UsageError

    if levels is None:
        return None
    try:
        return [float(level) for level in levels.split(",")]
    except ValueError:
        raise UsageError(
            f"--levels {levels} cannot be read", expected="grades divided by commas: 1,2,3"
        ) from None


def _rows(study: Thresholds, digits: int) -> tuple[list[str], list[list[str]]]:
    """Return the head and a row for each measure and threshold, then how far the values move."""
    from rankstone.cli.render import number
    from rankstone.errors import printable
    from rankstone.words import exact

    runs = list(study.scores.runs)
    line_of = {
        rel: ["–" if share is None else f"{share:.0%}", f"{empty:,}"]
        for rel, _, _, share, empty in study.pairs.iter_rows()
    }

    def cell(value: float | None, low: float | None, high: float | None) -> str:
        ends = "" if low is None or len(runs) > _FEW else f" [{number(low, digits)}, {number(high, digits)}]"
        return number(value, digits) + ends

    rows = []
    for (measure,), part in study.values.group_by("measure", maintain_order=True):
        for (rel,), at in part.group_by("rel", maintain_order=True):
            cells = {run: cell(*ends) for run, *ends in at.select("run", "value", "low", "high").iter_rows()}
            line = f"{'>' if study.strict else '≥'} {exact(rel)}"
            rows.append([measure, line, *(cells[run] for run in runs), *line_of[rel]])
        moved = dict(study.sensitivity.filter(measure=measure).select("run", "spread").iter_rows())
        rows.append([measure, "spread", *(number(moved[run], digits) for run in runs), "", ""])
    head = ["measure", "relevant", *map(printable, runs), "preferences wiped out", "queries without"]
    return head, rows


def _notes(study: Thresholds) -> Iterator[str]:
    from rankstone.cli.render import conventions_line
    from rankstone.stats import RESAMPLED

    if len(study.scores.runs) > 1:
        yield from _order_of_runs(study)
    if len(study.scores.runs) > _FEW:
        yield "intervals of so many runs are in --format csv and json"
    else:
        how = dict(study.how)
        drawn = f" bootstrap, seed {how['seed']}" if how["interval"] in RESAMPLED else ""
        yield f"intervals  {100 * how['confidence']:g} % over queries, {how['interval']}{drawn}"
    yield from study.scores.audit.lines()
    yield conventions_line(study.scores)


def _order_of_runs(study: Thresholds) -> Iterator[str]:
    """Say where runs change places, and between which thresholds their order differs most."""
    from rankstone.errors import printable
    from rankstone.words import exact

    for (measure,), part in study.reversals.group_by("measure", maintain_order=True):
        places = study.crossings.filter(measure=measure)
        for (rel, other), at in places.group_by("rel", "other", maintain_order=True):
            named = [f"{printable(a)} and {printable(b)}" for a, b in at.select("a", "b").iter_rows()]
            more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            pairs = "; ".join(named[:_NAMED]) + more
            yield f"{measure}: from {exact(rel)} to {exact(other)} {pairs} change places"
        if places.is_empty():
            yield f"{measure}: no run overtakes another from one threshold to the next"
        told = part.drop_nulls("tau_b").sort("tau_b", maintain_order=True).head(1)
        for rel, other, tau in told.filter(told["tau_b"] < 1).select("rel", "other", "tau_b").iter_rows():
            yield f"{measure}: the orders at {exact(rel)} and {exact(other)} differ most, tau_b {tau:.2f}"


def _drawn(study: Thresholds, digits: int) -> str:
    from rankstone.cli.drawing import Line
    from rankstone.cli.page import Page

    page = Page()
    known = study.values.drop_nulls("value")
    for (measure,), part in known.group_by("measure", maintain_order=True):
        page.heading(f"{measure} over the threshold")
        runs = {str(run): at for (run,), at in part.group_by("run", maintain_order=True)}
        lines = {run: Line(at["rel"].to_list(), at["value"].to_list()) for run, at in runs.items()}
        page.lines(lines, named=len(lines) > 1)
    return str(_whole(page, study, digits))


def _table(study: Thresholds, digits: int) -> str:
    from rankstone.cli.page import Page

    return str(_whole(Page(), study, digits))


def _whole(page: Page, study: Thresholds, digits: int) -> Page:
    return page.table(*_rows(study, digits), texts=(0, 1)).notes(_notes(study))


def _json(study: Thresholds, _digits: int) -> str:
    return as_json(study.report())


def _csv(study: Thresholds, _digits: int) -> str:
    return as_csv(study.values)


def _markdown(study: Thresholds, digits: int) -> str:
    from rankstone.cli.render import markdown

    return markdown(*_rows(study, digits))


_FORMATS = {"table": _table, "json": _json, "csv": _csv, "md": _markdown}
