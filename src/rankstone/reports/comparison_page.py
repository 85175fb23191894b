"""The page of a comparison: two systems and the picture of their difference, or a leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.comparison.quality_and_cost import costs_of
from rankstone.comparison.verdict import JUDGED
from rankstone.errors import printable
from rankstone.reports import page_data
from rankstone.reports.caveat_cards import cards, judged_shares
from rankstone.reports.example_lists import examples, query_texts
from rankstone.reports.leaderboard import Leaderboard
from rankstone.reports.result_pages import slices_rows
from rankstone.tables.short_names import shortened

if TYPE_CHECKING:
    from rankstone._basics import Progress
    from rankstone.boards.slices_result import Slices
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.reports.page_words import Words

#: characters of names in sentences and on charts
_NAME: Final = 28


def comparison_content(
    found: Comparison,
    words: Words,
    documents: object = None,
    queries: object = None,
    progress: Progress | None = None,
    slices: Slices | None = None,
) -> dict[str, Any]:
    """Return what is written on the page of a comparison, and its data for the scripts."""
    measure = found.primary[0]
    settings = found.settings
    board = Leaderboard.of(found, measure)
    rows = found.table.filter(measure=measure)
    two, first = len(found.systems) == 2, rows.row(0, named=True)  # noqa: PLR2004 - a pair
    order = (first["versus"], first["system"]) if two else board.names
    full = [printable(name, 300) for name in order]
    cut = shortened(full, _NAME)
    short = {name: cut[one] for name, one in zip(order, full, strict=True)}
    rivals = [order.index(name) for name in found.baselines] or [0]
    ids, scores = page_data.queries(found, order)
    data: dict[str, Any] = {
        "systems": full,
        "short": list(short.values()),
        "two": two,
        "baselines": [] if two or not found.baselines else rivals,
        "measures": page_data.measures(found, order),
        "pairs": page_data.pairs(found, order),
        "segments": page_data.segments(found, order),
        "queries": scores | query_texts(found, ids, queries),
        "lists": examples(found, order, ids, documents, progress),
        "margin": settings.margin,
        "level": words.percent(settings.confidence),
        "pair_level": words.percent(first["confidence"]),
        "correction": found.families[0].correction,
        "ranks": board.ranks,
    }
    shares = judged_shares(found)
    view = {
        "kind": "pair" if two else "board",
        "row": first,
        "order": order,
        "names": full,
        "short": short,
        "board": board,
        "rivals": rivals,
        "cards": cards(found, board, short, words),
        "judged": [
            None if name not in shares else (shares[name], shares[name] < JUDGED)
            for name in order
        ],
        "counts": [_counts(found, order, rival) for rival in rivals],
        "second": data["measures"][1] if len(found.measures) > 1 else None,
        "pairs": rows.height,
        "several": [
            printable(name, _NAME)
            for name, runs in found.replicates.items()
            if len(runs) > 1
        ],
        "reach": ((rows["high"] - rows["low"]) / 2).median(),
    }
    if costs_of(found.measures, measure):
        view["costs"] = page_data.costs(found, data["measures"], order, short)
    parts = ["queries", "examples", "measures"] if two else ["board", "pairs"]
    parts += ["cost"] if "costs" in view else []
    parts += ["segments"] if two and data["segments"] else []
    if slices is not None and two:
        data["slices"] = slices_rows(slices)["slices"]
        parts.append("slices")
    return {"view": view, "data": data, "parts": parts}


def _counts(
    found: Comparison, order: tuple[str, ...], rival: int
) -> list[tuple[int, int, int]]:
    """Return on how many queries each system is better than the rival, equal, and worse."""
    matrix = found.matrices[found.primary[0]]
    column = {name: at for at, name in enumerate(matrix.systems)}
    signs = [
        np.sign(matrix.sign * matrix.differences(column[name], column[order[rival]]))
        for name in order
    ]
    return [
        (int((sign > 0).sum()), int((sign == 0).sum()), int((sign < 0).sum()))
        for sign in signs
    ]
