"""The comparisons of a result by every test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.comparison.verdict import Pair, p_or_one
from rankstone.errors import BadOption
from rankstone.stats.paired_tests import PAIRED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone.comparison.compared_systems import ComparedRuns
    from rankstone.stats.sampling_units import Units

    Baselines = str | Sequence[str] | None
    Progress = Callable[[int], None]


def by_test(comparison: ComparedRuns) -> pl.DataFrame:
    """Return p of every test, for each comparison of primary measures."""
    tests = [name for name in PAIRED if name != comparison.settings.test]
    rows: list[dict[str, Any]] = []
    for row in comparison.table.filter(role="primary").iter_rows(named=True):
        matrix = comparison.matrices[row["measure"]]
        if matrix.replicates or comparison.families[0].correction == "nemenyi":
            continue

        system = matrix.systems.index(row["system"])
        versus = matrix.systems.index(row["versus"])
        units = Pair(matrix, system, versus).units

        p = {comparison.settings.test: row["p"]}
        p |= {name: _p(name, units) for name in tests}
        rejected = {
            value < comparison.settings.alpha
            for value in p.values()
            if value is not None
        }
        names = {name: row[name] for name in ("measure", "system", "versus")}
        rows.append({**names, **p, "agree": len(rejected) == 1})
    texts = dict.fromkeys(("measure", "system", "versus"), pl.String)
    return pl.DataFrame(
        rows,
        {
            **texts,
            **dict.fromkeys((comparison.settings.test, *tests), pl.Float64),
            "agree": pl.Boolean,
        },
    )


def _p(test: str, units: Units) -> float | None:
    """Return p; ``None`` where the test does not apply."""
    try:
        return p_or_one(PAIRED[test](units))
    except BadOption:
        return None
