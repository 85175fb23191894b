"""The page of a comparison: two systems and the picture of their difference, or a leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.comparison.quality_and_cost import costs_of
from rankstone.comparison.verdict import JUDGED
from rankstone.comparison.verdict_conditions import judged_shares
from rankstone.errors import printable
from rankstone.reports import page_data
from rankstone.reports.caveat_cards import cards
from rankstone.reports.example_lists import examples, query_texts
from rankstone.reports.page_words import decimals
from rankstone.reports.result_pages import slices_rows
from rankstone.tables.short_names import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Progress
    from rankstone.boards.slices_result import Slices
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.leaderboard import Leaderboard
    from rankstone.reports.page_words import Words

#: characters of names in sentences and on charts, and of whole names
_MAX_SHORT: Final = 28
_MAX_NAME: Final = 300
_PAIR: Final = 2


def comparison_content(
    comparison: Comparison,
    words: Words,
    documents: object = None,
    queries: object = None,
    progress: Progress | None = None,
    slices: Slices | None = None,
) -> dict[str, Any]:
    """Return what is written on the page of a comparison, and its data for the scripts."""
    measure = comparison.primary[0]
    settings = comparison.settings
    board = comparison.board(measure)
    rows = comparison.table.filter(measure=measure)
    first = rows.row(0, named=True)
    two = len(comparison.systems) == _PAIR
    order = (first["versus"], first["system"]) if two else board.systems

    full = [printable(name, _MAX_NAME) for name in order]
    cut = shortened(full, _MAX_SHORT)
    short = dict(zip(order, map(cut.__getitem__, full), strict=True))
    rivals = [order.index(name) for name in comparison.baselines] or [0]
    ids, scores = page_data.queries(comparison, order)
    data: dict[str, Any] = {
        "systems": full,
        "short": list(short.values()),
        "two": two,
        "baselines": [] if two or not comparison.baselines else rivals,
        "measures": page_data.measures(comparison, order),
        "pairs": page_data.pairs(comparison, order),
        "segments": page_data.segments(comparison, order),
        "queries": scores | query_texts(comparison, ids, queries),
        "lists": examples(comparison, order, ids, documents, progress),
        "margin": settings.margin,
        "level": words.percent(settings.confidence),
        "pair_level": words.percent(first["confidence"]),
        "correction": comparison.families[0].correction,
        "ranks": board.rows["rank"].to_list(),
    }

    view = {
        "kind": "pair" if two else "board",
        "row": first,
        "order": order,
        "names": full,
        "short": short,
        "board": board,
        "digits": _mean_digits(board.means),
        "rivals": rivals,
        "cards": cards(comparison, board, short, words),
        "judged": _judged(comparison, order),
        "counts": [_counts(board, order[rival]) for rival in rivals],
        "second": data["measures"][1] if len(comparison.measures) > 1 else None,
        "pairs": rows.height,
        "several": _repeated(comparison),
        "reach": ((rows["high"] - rows["low"]) / 2).median(),
    }

    parts = ["queries", "examples", "measures"] if two else ["board", "pairs"]
    if costs_of(comparison.measures, measure):
        view["costs"] = page_data.costs(comparison, data["measures"], order, short)
        parts.append("cost")
    if two and data["segments"]:
        parts.append("segments")
    if two and slices is not None:
        data["slices"] = slices_rows(slices)["slices"]
        parts.append("slices")
    return {"view": view, "data": data, "parts": parts}


def _repeated(comparison: Comparison) -> list[str]:
    """Return the systems that have several runs."""
    return [
        printable(name, _MAX_SHORT)
        for name, runs in comparison.replicates.items()
        if len(runs) > 1
    ]


def _judged(
    comparison: Comparison, order: Sequence[str]
) -> list[tuple[float, bool] | None]:
    """Return the share of judged documents of each system, and whether it is low; none where not known."""
    shares = judged_shares(comparison)
    judged: list[tuple[float, bool] | None] = []
    for name in order:
        share = shares.get(name)
        judged.append(None if share is None else (share, share < JUDGED))
    return judged


def _counts(board: Leaderboard, rival: str) -> list[tuple[int, int, int]]:
    """Return on how many queries each system is better than the rival, equal, and worse."""
    return board.against(rival).select("wins", "ties", "losses").fill_null(0).rows()


def _mean_digits(means: list[float]) -> int:
    """Return the decimals of means: one more where different ones would look equal."""
    few = decimals(means)
    shown = {f"{mean:.{few}f}" for mean in means}
    return few + 1 if len(shown) < len({*means}) else few
