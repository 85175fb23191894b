"""What is on the page of a board over many data sets: columns of its table, cells, chances, data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.errors import printable
from rankstone.reports.charts.board_charts import diagram_layout
from rankstone.reports.page_words import decimals

if TYPE_CHECKING:
    from rankstone.boards.board_result import Board

#: the best systems, of which every pair is shown
_PAIRS: Final = 20
#: cells of a heat map that a page holds
_CELLS: Final = 400_000
#: characters of a name
_NAME: Final = 300


def standings_content(found: Board) -> dict[str, Any]:
    """Return the view, the data and the parts of a board's page."""
    table, order = found.table, found.order
    means = table[found.rule.estimate].to_list()
    digits = min(max(decimals(means[:2], (means[0], means[1])), 3), 4)
    names = {name: [_shown(one) for one in getattr(found.scores, name)] for name in ("systems", "datasets")}
    columns = {name: table[name].to_list() for name in table.columns if name != "system"}
    columns["mean"] = [round(mean, 6) for mean in columns.pop(found.rule.estimate)]
    columns["first"] = [round(share, 4) for share in columns["first"]]
    parts = ["ranks", "critical", "cells", "chances", "left"]
    if len(found.complete) < 2 or len(found.has) < 2:  # noqa: PLR2004 - ranks within data sets
        parts.remove("critical")
    if found.scores.values.size > _CELLS:
        parts.remove("cells")
    if not len(found.without):
        parts.remove("left")
    return {
        "view": {
            "kind": "standings",
            "cards": [],
            "digits": digits,
            "means": means,
            "names": names["systems"],
        },
        "data": {
            "two": False,
            "baseline": None,
            "systems": [names["systems"][at] for at in order],
            "datasets": names["datasets"],
            "estimate": found.rule.estimate,
            "complete": bool(found.has.all()),
            "level": f"{100 * found.confidence:g}",
            "decimals": digits,
            "board": columns,
            "lower": found.rule.sign < 0,
            "cells": _cells(found) if "cells" in parts else [],
            "critical": diagram_layout(found) if "critical" in parts else None,
            "chances": np.round(100 * found.chance_better()[np.ix_(order, order)][:_PAIRS, :_PAIRS]).tolist(),
            "left": found.by_dataset().to_dicts() if "left" in parts else [],
        },
        "parts": parts,
    }


def _cells(found: Board) -> list[list[float | None]]:
    """Return the scores of each system, the best system first, with four figures."""
    return [
        [None if np.isnan(value) else float(f"{value:.4g}") for value in row]
        for row in found.scores.values.T[found.order]
    ]


def _shown(name: str) -> str:
    return printable(name, _NAME)
