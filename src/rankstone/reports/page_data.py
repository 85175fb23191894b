"""The numbers of a comparison as compact columns, from which the page draws any two of its systems."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import printable
from rankstone.reports.charts.comparison_charts import query_rows, thinned
from rankstone.reports.page_words import FIGURES
from rankstone.stats.automatic_intervals import mean_estimates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.score_matrix import Matrix

#: a verdict as one letter
_LETTERS: Final = {
    "better": "b", "worse": "w", "higher": "h", "lower": "l",
    "equivalent": "e", "identical": "i", "inconclusive": "o",
}  # fmt: skip
#: scores per query that a page holds at most, and queries
_NUMBERS: Final = 250_000
_QUERIES: Final = 10_000
#: queries above which differences are drawn as a curve, and its points
_BARS: Final = 1_000
_POINTS: Final = 201
#: intervals of means that are computed for further measures: they take long, and no verdict follows from them
_INTERVALS: Final = 200
#: rows of segments at most, and characters of the value of one
_SEGMENTS: Final = 5_000
_NAME: Final = 40


def measures(found: Comparison, order: Sequence[str]) -> list[dict[str, Any]]:
    """Return each measure with the mean of every system and, of few systems, the ends of its own interval."""
    columns: list[dict[str, Any]] = []
    for name in found.measures:
        matrix = found.matrices[name]
        place = [matrix.systems.index(system) for system in order]
        known = not columns or len(order) * (1 + len(columns)) <= _INTERVALS
        ends = _mean_intervals(matrix, found.settings.confidence)[place] if known else np.empty((0, 2))
        low, high = matrix.declared
        bounds = [0.0, 1.0] if matrix.span == (0.0, 1.0) and high is None else None
        columns.append({
            "name": found.label(name),
            "sign": matrix.sign,
            "primary": name in found.primary,
            "n": len(matrix),
            "bounds": bounds if low is None or high is None else [low, high],
            "mean": _short(matrix.units.mean[place]),
            "low": _short(ends[:, 0]),
            "high": _short(ends[:, 1]),
        })  # fmt: skip
    return columns


def _mean_intervals(matrix: Matrix, confidence: float) -> np.ndarray[Any, Any]:
    found = mean_estimates(matrix.units, [matrix.span] * len(matrix.systems))
    ends = np.array([replace(one, span=matrix.span).interval(confidence) for one in found])
    return ends.clip(*matrix.span)


def pairs(found: Comparison, order: Sequence[str]) -> dict[str, Any]:
    """Return the pairs as columns: places of both systems in ``order``, then the numbers of each measure."""
    rows = _placed(found.table, order)
    parts = rows.partition_by("measure", maintain_order=True)
    names = ("wins", "losses", "p", "needed")
    columns = [
        {name: _short(part[name]) for name in ("difference", "low", "high")}
        | {name: part[name].to_list() for name in names}
        | {"verdict": "".join(part["verdict"])}
        for part in parts
    ]
    return {"one": parts[0]["one"].to_list(), "other": parts[0]["other"].to_list(), "measures": columns}


def segments(found: Comparison, order: Sequence[str]) -> dict[str, Any]:
    """Return the same comparisons within segments, for the first primary measure."""
    if found.segments is None:
        return {}
    by = found.segments.columns[: found.segments.columns.index("measure")]
    rows = _placed(found.segments.filter(measure=found.primary[0]).head(_SEGMENTS), order)
    names = [
        " · ".join("–" if one is None else printable(one, _NAME) for one in row)
        for row in rows.select(by).rows()
    ]
    numbers = ("mean", "mean_versus", "difference", "low", "high")
    return (
        {"name": names, "verdict": "".join(rows["verdict"])}
        | {name: _short(rows[name]) for name in numbers}
        | {name: rows[name].to_list() for name in ("one", "other", "n", "wins", "losses")}
    )


def _placed(table: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    place = {name: at for at, name in enumerate(order)}
    one, other = (pl.col(name).replace_strict(place, return_dtype=pl.Int64) for name in ("system", "versus"))
    return table.with_columns(
        one=one,
        other=other,
        verdict=pl.col("verdict").replace(_LETTERS),
        p=pl.col("p_adjusted").round_sig_figs(2),
    )


def queries(found: Comparison, order: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Return the ids of queries, and their scores by the first primary measure, a column for each system.

    Where there are too many, those with the largest differences of the last two systems of a pair, or the
    first two of many, are kept, and others at even steps between them; ``quantiles`` are of all queries.
    """
    matrix = found.matrices[found.primary[0]]
    rows = query_rows(matrix, *(matrix.systems.index(name) for name in order[1::-1]))
    ids = thinned(rows, min(_QUERIES, _NUMBERS // len(order)))["query_id"]
    at = pl.DataFrame({"query_id": matrix.queries.cast(pl.String)}).with_row_index("row")
    kept = ids.to_frame().join(at, on="query_id", how="left", maintain_order="left")["row"].to_numpy()
    levels = np.linspace(1, 0, _POINTS if len(matrix) > _BARS else 0)
    return ids.to_list(), {
        "ids": [printable(name, 300) for name in ids],
        "n": len(matrix),
        "values": [_short(matrix.values[kept, matrix.systems.index(name)]) for name in order],
        "quantiles": _short(np.quantile(rows["difference"].to_numpy(), levels)),
    }


def _short(values: Any) -> list[float | None]:  # noqa: ANN401 - numbers, as an array or a column
    """Return numbers as the page's data hold them."""
    return pl.Series(values, dtype=pl.Float64).round_sig_figs(FIGURES).fill_nan(None).to_list()
