"""What is on the page of a board: columns of its table, mean ranks, cells, chances, data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.boards.board_result import Board
from rankstone.errors import printable
from rankstone.reports.charts.board_charts import diagram_layout
from rankstone.reports.page_words import decimals

if TYPE_CHECKING:
    from rankstone.boards.battle_results import PairedBoard

#: the best systems, of which every pair is shown
_PAIRS: Final = 20
#: cells of a heat map that a page holds
_CELLS: Final = 400_000
#: characters of a name
_NAME: Final = 300


def standings_content(board: Board | PairedBoard) -> dict[str, Any]:
    """Return the view, the data and the parts of a board's page."""
    own = _of_scores(board) if isinstance(board, Board) else _of_battles(board)
    table = board.table
    order = board.order
    columns = {
        name: table[name].to_list() for name in table.columns if name != "system"
    }
    means = columns.pop(own["estimate"])
    top = [mean for mean in means[:2] if mean is not None]
    digits = min(max(decimals(top, (top[0], top[-1])), own["least"]), 4)
    columns["mean"] = [_rounded(mean, 6) for mean in means]
    columns["first"] = [_rounded(share, 4) for share in columns["first"]]

    shown = np.ix_(order[:_PAIRS], order[:_PAIRS])
    percent = 100 * board.chance_better()[shown]
    chances = np.round(percent).astype(object)
    chances[np.isnan(percent)] = None

    names = [_shown(system) for system in board.systems]
    ends = [
        f"{name}_{end}"
        for name in ("rank", "single", "rules", "without")
        for end in ("low", "high")
    ]
    kept = ["rank", "tier", "mean", "first", "datasets", *ends]

    view = {
        "kind": "standings",
        "cards": [],
        "digits": digits,
        "means": means,
        "names": names,
        "estimate": own["estimate"],
    }
    data = {
        "two": False,
        "baselines": [],
        "systems": [names[index] for index in order],
        "estimate": own["estimate"],
        "level": f"{100 * board.confidence:g}",
        "decimals": digits,
        "board": {name: columns[name] for name in kept if name in columns},
        "chances": chances.tolist(),
    }
    parts = [
        name
        for name in ("ranks", "critical", "cells", "chances", "left")
        if name in own["parts"]
    ]
    return {"view": view | own["view"], "data": data | own["data"], "parts": parts}


def _of_scores(board: Board) -> dict[str, Any]:
    """Return what only boards of scores have."""
    parts = {"ranks", "critical", "cells", "chances", "left"}
    if len(board.complete) < 2 or len(board.has) < 2:  # noqa: PLR2004 - ranks within data sets
        parts.remove("critical")
    if board.scores.values.size > _CELLS:
        parts.remove("cells")
    if not len(board.without):
        parts.remove("left")
    lines = (
        f"about_{board.resample}",
        f"is_{board.rule.estimate}",
        "columns",
        f"intervals_{board.resample}",
    )
    return {
        "estimate": board.rule.estimate,
        "least": 3,
        "parts": parts,
        "view": {
            "count": ("n_datasets", len(board.scores.datasets)),
            "measure": _shown(board.scores.measure),
            "method": lines,
        },
        "data": {
            "datasets": [*map(_shown, board.scores.datasets)],
            "complete": bool(board.has.all()),
            "lower": board.rule.sign < 0,
            "cells": _cells(board) if "cells" in parts else [],
            "critical": diagram_layout(board) if "critical" in parts else None,
            "left": board.by_dataset().to_dicts() if "left" in parts else [],
        },
    }


def _of_battles(board: PairedBoard) -> dict[str, Any]:
    """Return what only boards of battles have."""
    return {
        "estimate": "rating",
        "least": 0,
        "parts": {"ranks", "chances"},
        "view": {
            "count": ("n_battles", len(board.table_of.battles.left)),
            "measure": None,
            "method": (
                board.error_phrase,
                f"is_{board.fit.model}",
                "paired_columns",
                "intervals_battles",
            ),
            "columns": ", ".join(map(_shown, board.clusters)),
            "caveat": "battles",
        },
        "data": {
            "datasets": [],
            "complete": True,
            "lower": False,
            "cells": [],
            "critical": None,
            "left": [],
        },
    }


def _cells(board: Board) -> list[list[float | None]]:
    """Return the scores of each system, the best system first, with four figures."""
    return [
        [None if np.isnan(value) else float(f"{value:.4g}") for value in row]
        for row in board.scores.values.T[board.order]
    ]


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(number, digits)


def _shown(name: str) -> str:
    return printable(name, _NAME)
