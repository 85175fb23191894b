"""Sensitivity to the test: the same questions, asked by every test that can answer them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.comparing.answer import Question, sure
from rankstone.errors import BadOption
from rankstone.stats import PAIRED

if TYPE_CHECKING:
    from rankstone.comparing.result import Comparison
    from rankstone.stats import Units

__all__ = ["by_test"]


def by_test(found: Comparison) -> pl.DataFrame:
    """Return p of every test, for each question of primary measures."""
    tests = [name for name in PAIRED if name != found.how.test]
    rows: list[dict[str, Any]] = []
    for asked in found.table.filter(role="primary").iter_rows(named=True):
        matrix = found.matrices[asked["measure"]]
        if matrix.replicates or found.families[0].correction == "nemenyi":
            continue
        one, other = (matrix.systems.index(asked[name]) for name in ("system", "versus"))
        units = Question(matrix, one, other).units
        row = {name: asked[name] for name in ("measure", "system", "versus")}
        p = {found.how.test: asked["p"], **{name: _p(name, units) for name in tests}}
        known = [one < found.how.alpha for one in p.values() if one is not None]
        rows.append({**row, **p, "agree": len(set(known)) == 1})
    texts = dict.fromkeys(("measure", "system", "versus"), pl.String)
    return pl.DataFrame(
        rows, {**texts, **dict.fromkeys((found.how.test, *tests), pl.Float64), "agree": pl.Boolean}
    )


def _p(test: str, units: Units) -> float | None:
    """Return p; ``None`` where the test is not for such differences."""
    try:
        return sure(PAIRED[test](units))
    except BadOption:
        return None
