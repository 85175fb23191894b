"""Charts of boards, slices and collections: ranks, the critical-difference diagram, gaps, topics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from rankstone.boards.rank_tests import friedman_test, groups, mean_ranks
from rankstone.reports.chart_style import COLOURS, WIDTH, drawn, label, legible, needed

if TYPE_CHECKING:
    from rankstone.boards.board_result import Board
    from rankstone.boards.ranked_systems import RankedSystems
    from rankstone.boards.slices_result import Slices
    from rankstone.collections.collection_result import Collection

#: pixels of a row, and systems that a chart shows
_ROW: Final = 18
_MOST: Final = 40
#: systems in a critical-difference diagram
_DIAGRAM: Final = 24


def ranks(ranked: RankedSystems, most: int = _MOST) -> Any:  # noqa: ANN401 - Altair's chart
    """Return the ranks of the best systems: dot the rank, lines the ranks that each could have."""
    alt = needed("altair")
    shown = ["system", "rank", "rank_low", "rank_high", "single_low", "single_high"]
    systems = ranked.to_frame()
    rows = systems.head(most).select(shown)
    y = alt.Y("system:N", title=None, sort=None).axis(labelLimit=240)
    title = label("rank", ranked.lang)
    base = alt.Chart(alt.NamedData("systems")).encode(y)
    span = (
        alt.X("rank_low:Q", title=title)
        .scale(domain=[1, systems.height], nice=False)
        .axis(tickMinStep=1, format="d")
    )
    wide = base.mark_rule(color="#999999", strokeWidth=1.5)
    near = base.mark_rule(color=COLOURS[0], strokeWidth=5)
    dots = base.mark_point(color="black", filled=True, size=45, opacity=1)
    chart = alt.layer(
        wide.encode(span, x2="rank_high:Q"),
        near.encode(x="single_low:Q", x2="single_high:Q"),
        dots.encode(x="rank:Q"),
    )
    heading = label("board_ranks", ranked.lang, level=f"{100 * ranked.confidence:g}")
    return drawn(chart, "systems", rows, heading, _ROW * rows.height)


def slices(search: Slices, most: int = _MOST) -> Any:  # noqa: ANN401 - Altair's chart
    """Return the gaps of the slices that differ, or the largest ones, as bars with simultaneous intervals."""
    alt = needed("altair")
    table = search.found
    name = "slices"
    if not table.height:
        table = search.table
        name = "largest_slices"
    rows = table.head(most).select("slice", "gap", "low", "high")
    y = alt.Y("slice:N", title=None, sort=None).axis(labelLimit=320)
    base = alt.Chart(alt.NamedData("slices")).encode(y)
    x = alt.X("gap:Q", title=label("slice_gap", search.settings.lang))
    worse = f"datum.gap * {search.sign} < 0"
    tone = alt.condition(worse, alt.value(COLOURS[1]), alt.value(COLOURS[0]))
    bars = base.mark_bar(size=_ROW * 0.6).encode(x, color=tone)
    spans = base.mark_rule(color="black").encode(x="low:Q", x2="high:Q")
    level = f"{100 * search.settings.confidence:g}"
    title = label(name, search.settings.lang, level=level)
    height = _ROW * 1.3 * rows.height
    return drawn(alt.layer(bars, spans), "slices", rows, title, height)


def topics(collection: Collection) -> Any:  # noqa: ANN401 - Altair's chart
    """Return the best, median and worst score of each topic, the hardest left."""
    alt = needed("altair")
    rows = collection.topics.select("query_id", "best", "median", "worst")
    x = alt.X("query_id:N", title=label("topic", collection.lang), sort=None)
    x = x.axis(labelOverlap=True)
    base = alt.Chart(alt.NamedData("topics")).encode(x)
    spans = base.mark_rule(color=COLOURS[0], opacity=0.5).encode(
        y=alt.Y("worst:Q", title=legible(collection.measures[0])), y2="best:Q"
    )
    marks = base.mark_point(filled=True, color=COLOURS[0], size=40).encode(y="median:Q")
    chart = alt.layer(spans, marks)
    return drawn(chart, "topics", rows, label("topics", collection.lang), WIDTH * 0.4)


def diagram_layout(board: Board, most: int = _DIAGRAM) -> dict[str, Any]:
    """Return what a critical-difference diagram shows, the best systems only where there are many.

    Returns
    -------
    dict
        ``names`` and ``ranks``, the best first; ``bars``, first and last place of systems that do not differ;
        ``reach``, the critical difference; ``systems``, how many were tested; ``p`` of Friedman's test.
    """
    names, mean = mean_ranks(board)
    test = friedman_test(board).row(0, named=True)
    ends: dict[int, int] = {}
    for low, high in groups(board):  # those that go beyond what is shown end together
        if low < most - 1:
            ends.setdefault(min(high, most - 1), low)
    return {
        "names": [legible(name) for name in names[:most]],
        "ranks": [round(float(rank), 4) for rank in mean[:most]],
        "bars": [(low, high) for high, low in ends.items()],
        "reach": round(float(test["critical_difference"]), 4),
        "systems": len(names),
        "p": float(f"{test['p']:.2g}"),
    }


def critical_difference(board: Board, most: int = _DIAGRAM) -> Any:  # noqa: ANN401 - Altair's chart
    """Return the critical-difference diagram of Demšar (JMLR 7, 2006), by Nemenyi's test."""
    alt = needed("altair")
    plan = diagram_layout(board, most)
    low = min(plan["ranks"])
    high = max(plan["ranks"])
    margin = (high - low) * 0.1 + 0.05
    left = low - margin
    right = high + margin
    top = -len(plan["bars"]) * 0.45 - 0.4
    below = (len(plan["names"]) + 1) // 2 + 0.9

    lines, texts = _names_and_leaders(plan, left, right, top)
    for number, (begin, end) in enumerate(plan["bars"]):
        first = plan["ranks"][begin] - 0.02 * margin
        last = plan["ranks"][end] + 0.02 * margin
        lines.append(_level_line(first, last, top + 0.4 + 0.45 * number, 4))
    if plan["reach"] < high - low:
        lines.append(_level_line(low, low + plan["reach"], below, 2))
    reach = f"CD = {plan['reach']:.3f}"
    texts.append({"x": low, "y": below + 0.7, "text": reach, "first": False})

    step = max(1, round((high - low) / 10))
    x = (
        alt.X("x:Q", title=label("mean_rank", board.lang))
        .scale(domain=[left, right], nice=False, zero=False)
        .axis(
            orient="top",
            grid=False,
            values=[*range(math.ceil(low), math.floor(high) + 1, step)],
            format="d",
        )
    )
    y = alt.Y("y:Q", axis=None).scale(domain=[below + 1, top], nice=False)
    width = alt.StrokeWidth("width:Q", scale=None, legend=None)
    rows = alt.Chart(alt.NamedData("lines"))
    rules = rows.transform_filter("isValid(datum.width)").mark_rule(color="black")
    marks = [rules.encode(x, y, x2="x2:Q", y2="y2:Q", strokeWidth=width)]
    for side, align, away in (("true", "right", -6), ("false", "left", 6)):
        names = rows.transform_filter(f"datum.first === {side}")
        words = names.mark_text(align=align, dx=away, baseline="middle")
        marks.append(words.encode(x, y, text="text:N"))
    return drawn(
        alt.layer(*marks).configure_view(stroke=None),
        "lines",
        [*lines, *texts],
        label("critical", board.lang),
        _ROW * (below + 1 - top),
    )


def _names_and_leaders(
    plan: dict[str, Any], left: float, right: float, top: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the lines from the axis to names, and the names: the better half on the left."""
    lines = []
    texts = []
    n = len(plan["names"])
    for place, (name, rank) in enumerate(
        zip(plan["names"], plan["ranks"], strict=True)
    ):
        first = place < (n + 1) // 2
        if first:
            end = left
            y = place + 0.6
        else:
            end = right
            y = n - 1 - place + 0.6
        lines.append({"x": rank, "x2": rank, "y": top, "y2": y, "width": 1})
        lines.append(_level_line(min(rank, end), max(rank, end), y, 1))
        texts.append({"x": end, "y": y, "text": f"{name}  {rank:.2f}", "first": first})
    return lines, texts


def _level_line(x: float, x2: float, y: float, width: int) -> dict[str, Any]:
    return {"x": x, "x2": x2, "y": y, "y2": y, "width": width}
