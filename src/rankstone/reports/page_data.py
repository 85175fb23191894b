"""The numbers of a comparison as compact columns, from which the page draws any two of its systems."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.comparison.quality_and_cost import ends_of, quality_and_cost
from rankstone.errors import printable
from rankstone.reports.charts.comparison_charts import query_rows, thinned
from rankstone.reports.page_words import FIGURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.comparison.comparison_result import Comparison

#: a verdict as one letter
_LETTERS: Final = {
    "better": "b",
    "worse": "w",
    "higher": "h",
    "lower": "l",
    "equivalent": "e",
    "identical": "i",
    "inconclusive": "o",
}
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


def measures(comparison: Comparison, order: Sequence[str]) -> list[dict[str, Any]]:
    """Return each measure with the mean of every system and, of few systems, the ends of its own interval."""
    columns: list[dict[str, Any]] = []
    for name in comparison.measures:
        matrix = comparison.matrices[name]
        place = [matrix.systems.index(system) for system in order]
        known = not columns or len(order) * (1 + len(columns)) <= _INTERVALS
        intervals = comparison.mean_intervals(name) if known else {}
        ends = [intervals[system] for system in order if intervals]
        low_ends, high_ends = np.reshape(ends, (-1, 2)).T
        low, high = matrix.declared
        bounds = [0.0, 1.0] if matrix.span == (0.0, 1.0) and high is None else None
        columns.append(
            {
                "name": comparison.label(name),
                "sign": matrix.sign,
                "primary": name in comparison.primary,
                "n": len(matrix),
                "bounds": bounds if low is None or high is None else [low, high],
                "mean": _short(matrix.units.mean[place]),
                "low": _short(low_ends),
                "high": _short(high_ends),
            }
        )
    return columns


def pairs(comparison: Comparison, order: Sequence[str]) -> dict[str, Any]:
    """Return the pairs as columns: places of both systems in ``order``, then the numbers of each measure."""
    rows = _placed(comparison.table, order)
    parts = rows.partition_by("measure", maintain_order=True)
    names = ("wins", "losses", "p", "needed")
    columns = [
        {name: _short(part[name]) for name in ("difference", "low", "high")}
        | {name: part[name].to_list() for name in names}
        | {"verdict": "".join(part["verdict"])}
        for part in parts
    ]
    return {
        "one": parts[0]["one"].to_list(),
        "other": parts[0]["other"].to_list(),
        "measures": columns,
    }


def segments(comparison: Comparison, order: Sequence[str]) -> dict[str, Any]:
    """Return the same comparisons within segments, for the first primary measure."""
    if comparison.segments is None:
        return {}
    by = comparison.segments.columns[: comparison.segments.columns.index("measure")]
    rows = _placed(
        comparison.segments.filter(measure=comparison.primary[0]).head(_SEGMENTS), order
    )
    names = [
        " · ".join("–" if value is None else printable(value, _NAME) for value in row)
        for row in rows.select(by).rows()
    ]
    numbers = ("mean", "mean_versus", "difference", "low", "high")
    return (
        {"name": names, "verdict": "".join(rows["verdict"])}
        | {name: _short(rows[name]) for name in numbers}
        | {
            name: rows[name].to_list()
            for name in ("one", "other", "n", "wins", "losses")
        }
    )


def _placed(table: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    place = {name: index for index, name in enumerate(order)}
    return table.with_columns(
        one=pl.col("system").replace_strict(place, return_dtype=pl.Int64),
        other=pl.col("versus").replace_strict(place, return_dtype=pl.Int64),
        verdict=pl.col("verdict").replace(_LETTERS),
        p=pl.col("p_adjusted").round_sig_figs(2),
    )


def queries(
    comparison: Comparison, order: Sequence[str]
) -> tuple[list[str], dict[str, Any]]:
    """Return the ids of queries, and their scores by the first primary measure, a column for each system.

    Where there are too many, those with the largest differences of the last two systems of a pair, or the
    first two of many, are kept, and others at even steps between them; ``quantiles`` are of all queries.
    """
    matrix = comparison.matrices[comparison.primary[0]]
    rows = query_rows(matrix, *(matrix.systems.index(name) for name in order[1::-1]))
    ids = thinned(rows, min(_QUERIES, _NUMBERS // len(order)))["query_id"]
    queries_of_rows = pl.DataFrame({"query_id": matrix.queries.cast(pl.String)})
    kept = ids.to_frame().join(
        queries_of_rows.with_row_index("row"),
        on="query_id",
        how="left",
        maintain_order="left",
    )
    kept_rows = kept["row"].to_numpy()
    levels = np.linspace(1, 0, _POINTS if len(matrix) > _BARS else 0)
    return ids.to_list(), {
        "ids": [printable(name, 300) for name in ids],
        "n": len(matrix),
        "values": [
            _short(matrix.values[kept_rows, matrix.systems.index(name)])
            for name in order
        ],
        "quantiles": _short(np.quantile(rows["difference"].to_numpy(), levels)),
    }


def _short(values: Any) -> list[float | None]:  # noqa: ANN401 - numbers, as an array or a column
    """Return numbers as the page's data hold them."""
    return (
        pl.Series(values, dtype=pl.Float64)
        .round_sig_figs(FIGURES)
        .fill_nan(None)
        .to_list()
    )


#: the picture of quality and cost: where its plane begins and ends, across in per cent and down in pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 8.0, 97.0, 34.0, 286.0
#: pixels between dots whose names would overlap
_NEAR: Final = 40
#: systems that are all labelled; of more, those that none dominates
_LABELLED: Final = 12


def costs(
    comparison: Comparison,
    columns: Sequence[dict[str, Any]],
    order: Sequence[str],
    short: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return a picture of quality and cost for each measure of cost: dots, steps between the best, ticks.

    ``columns`` are the :func:`measures` of the page, in the order of its systems.
    """
    known = {column["name"]: column for column in columns}
    quality = known[comparison.label(comparison.primary[0])]
    rows = quality_and_cost(comparison)

    pictures = []
    for cost in rows["cost"].unique(maintain_order=True):
        plane = _Plane(known[comparison.label(cost)], quality)
        dots = _dots(rows.filter(cost=cost), plane, order, short)
        pictures.append(
            {
                "quality": quality["name"],
                "cost": plane.cost["name"],
                "dots": dots,
                "frontier": _frontier(dots),
                "across": plane.across.ticks(),
                "up": plane.up.ticks(),
            }
        )
    return pictures


def _dots(
    rows: pl.DataFrame, plane: _Plane, order: Sequence[str], short: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return a dot a system; a name moves below its dot where another dot is near."""
    dots: list[dict[str, Any]] = []
    for row in rows.iter_rows(named=True):
        x = plane.across(row["mean"])
        y = plane.up(row["quality"])
        apart = (math.hypot(9 * (dot["x"] - x), dot["y"] - y) for dot in dots)
        over = ", ".join(short[name] for name in row["dominated_by"][:3])
        dots.append(
            {
                "name": printable(row["system"], 300),
                "short": short[row["system"]],
                "x": x,
                "y": y,
                **plane.ends(order.index(row["system"])),
                "dy": 24 if min(apart, default=_NEAR) < _NEAR else -12,
                "quality": f"{row['quality']:.3f}",
                "mean": f"{row['mean']:.4g}",
                "p50": f"{row['p50']:.4g} {ends_of(row, 'p50')}",
                "p95": f"{row['p95']:.4g} {ends_of(row, 'p95')}",
                "over": over,
                "clearly": row["clearly"],
                "labelled": not over or len(order) <= _LABELLED,
            }
        )
    return dots


def _frontier(dots: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
    """Return the steps between the dots that none dominates, first the level ones, then the rises."""
    best = [dot for dot in dots if not dot["over"]]
    best.sort(key=lambda dot: dot["x"])

    levels = []
    rises = []
    for a, b in pairwise(best):
        levels.append({"x1": a["x"], "x2": b["x"], "y1": a["y"], "y2": a["y"]})
        rises.append({"x1": b["x"], "x2": b["x"], "y1": a["y"], "y2": b["y"]})
    return levels + rises


class _Plane:
    """Places in the picture: cost across, quality up."""

    def __init__(self, cost: Mapping[str, Any], quality: Mapping[str, Any]) -> None:
        self.cost = cost
        self.quality = quality
        self.across = _Scale.from_column(cost, _LEFT, _RIGHT)
        self.up = _Scale.from_column(quality, _BOTTOM, _TOP)

    def ends(self, index: int) -> dict[str, float | None]:
        """Return where the intervals of a system end; none where either mean has none."""
        if not (self.cost["low"] and self.quality["low"]):
            return dict.fromkeys(("xl", "xh", "yl", "yh"))
        return {
            "xl": self.across(self.cost["low"][index]),
            "xh": self.across(self.cost["high"][index]),
            "yl": self.up(self.quality["low"][index]),
            "yh": self.up(self.quality["high"][index]),
        }


class _Scale(Record):
    """From numbers to places, with ticks at round numbers."""

    low: float
    high: float
    begin: float
    end: float

    @classmethod
    def from_column(cls, column: Mapping[str, Any], begin: float, end: float) -> _Scale:
        """Return a scale with room for the means of a column and the ends of their intervals."""
        values = [
            value
            for name in ("mean", "low", "high")
            for value in column[name]
            if value is not None
        ]
        low = min(values)
        high = max(values)
        room = 0.08 * ((high - low) or abs(high) or 1.0)

        least = low - room
        if low >= 0:
            least = max(least, 0.0)
        return cls(least, high + room, begin, end)

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(
            self.begin + min(max(share, 0.0), 1.0) * (self.end - self.begin), 2
        )

    def ticks(self) -> list[dict[str, Any]]:
        """Return three to six round numbers and their places."""
        rough = (self.high - self.low) / 6
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * n for n in (1, 2, 5, 10) if power * n >= rough)

        first = math.ceil(self.low / step)
        last = math.floor(self.high / step)
        ticks = []
        for multiple in range(first, last + 1):
            number = step * multiple
            ticks.append({"at": self(number), "text": f"{number:.6g}"})
        return ticks
