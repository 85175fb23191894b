"""What is on the pages of results other than comparisons and boards: their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.boards.battle_results import PairedBoard
from rankstone.boards.board_result import Board
from rankstone.boards.slices_result import NUMBERS, Slices
from rankstone.collections.collection_result import Collection
from rankstone.collections.reproduction_result import Reproduction
from rankstone.diagnostics.abstention_result import Abstention
from rankstone.diagnostics.bounds_result import Bounds
from rankstone.diagnostics.curve_result import Curves
from rankstone.diagnostics.stages_result import Stages
from rankstone.errors import UsageError, printable
from rankstone.measures.at_cutoffs import AtK
from rankstone.online.retention_result import Retention
from rankstone.rankings.recommendation.beyond_scores import BeyondScores
from rankstone.reports.charts.retention_charts import (
    curve_rows,
    heatmap_rows,
    period_rows,
)
from rankstone.reports.standings_page import standings_content
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.tables.sheet import Sheet

#: rows of a table at most, lines of a chart, segments with a table of cohorts
_ROWS: Final = 5_000
_LINES: Final = 8
#: slices as bars, and as rows
_BARS, _LISTED = 40, 200
_SEGMENTS: Final = 12
#: points of a curve of utilities
_POINTS: Final = 200
#: characters of a name
_NAME: Final = 300

Rows = dict[str, Any]


def result_content(found: object) -> Rows | None:
    """Return the kind, the rows and the parts of a result's page; ``None`` where there is none."""
    if isinstance(found, (Board, PairedBoard)):
        return standings_content(found)
    for kind, (name, parts, rows) in _PAGES.items():
        if isinstance(found, kind):
            data = {
                key: _plain(one) if isinstance(one, pl.DataFrame) else one
                for key, one in rows(found).items()
            }
            shown = [part for part in parts.split() if data.get(part) != []]
            return {
                "view": {"kind": name, "cards": []},
                "data": {**data, "two": False, "baselines": []},
                "parts": shown,
            }
    return None


def _plain(frame: pl.DataFrame) -> list[Rows]:
    """Return rows as JSON holds them: six figures, no NaN, names without control characters."""
    floats = pl.col(pl.Float64).round_sig_figs(6).fill_nan(None)
    rows = (
        frame.head(_ROWS)
        .cast({pl.Date: pl.String, pl.Enum: pl.String})
        .with_columns(floats)
        .rows(named=True)
    )
    return [{name: _shown(value) for name, value in row.items()} for row in rows]


def _shown(value: object) -> object:
    return printable(value, _NAME) if isinstance(value, str) else value


def _curves(found: Curves) -> Rows:
    names = [(str(curve), _x_axis(curve)) for curve in found.curves]
    means = found.mean().select("run", "curve", "x", "mean", "ci_low", "ci_high", "n")
    return {
        "curve": means,
        "curves": names,
        "runs": [_shown(run) for run in list(found.runs)[:_LINES]],
        "drawn": found.resampling.resamples > 1,
        "confidence": f"{100 * found.resampling.confidence:.4g}",
    }


def _x_axis(curve: object) -> str:
    """Return what is at the x axis of a curve: a cutoff or cost, ``fpr`` or ``recall``."""
    if isinstance(curve, AtK):
        return curve.axes[0]
    if str(curve).startswith("ROC"):
        return "fpr"
    return "recall"


def _bounds(found: Bounds) -> Rows:
    pair = None if found.difference is None else " - ".join(found.difference)
    means = found.mean().drop("sign")
    spans = {
        str(measure): measure.span
        for measure in found.measures
        if None not in measure.span
    }
    return {"bounds": means, "pair": _shown(pair), "spans": spans, "table": means}


def _beyond(found: BeyondScores) -> Rows:
    means = found.mean()
    return {
        "measures": means.select("run", "measure", "value"),
        "spans": {},
        "pair": None,
        "table": means,
    }


def slices_rows(found: Slices) -> Rows:
    """Return the slices that differ, or the largest gaps, as bars; every slice as a row of a table."""
    clear = found.found.height > 0
    rows = _plain((found.found if clear else found.table).head(_BARS))
    parts = dict(
        found.table.filter(found=False).group_by("within").agg("slice").iter_rows()
    )
    names = ("same", "within")
    for row in rows:
        row["within"] = parts.get(row["slice"]) or []
        row |= {name: [_shown(one) for one in row[name]] for name in names}
    settings = found.settings
    bars = {
        "rows": rows,
        "found": clear,
        "visible": [*found.visible_lines(found.digits)],
        "systems": [_shown(one) for one in found.systems],
        "level": f"{100 * settings.confidence:g}",
        "against": settings.against,
        "kind": found.kind,
        "sign": found.sign,
    }
    return {
        "slices": bars,
        "table": found.table.select("slice", "n", *NUMBERS, "within").head(_LISTED),
    }


def _collection(found: Collection) -> Rows:
    name = found.measures[0]
    means = found.leaderboard.select("run", pl.col(name).alias("value"), "low", "high")
    return {
        "measures": means.with_columns(measure=pl.lit(name)),
        "level": f"{100 * found.confidence:g}",
        "spans": {},
        "pair": None,
        "topics": found.topics,
        "tables": _tables(found.sheet(verbose=True)),
    }


def _reproduction(found: Reproduction) -> Rows:
    return {"tables": _tables(found.sheet())}


def _stages(found: Stages) -> Rows:
    """Return the share of each fate as a bar; all tables, with examples."""
    bars = found.bars()
    first, *_, last = found.names
    return {
        "measures": bars,
        "level": f"{100 * found.confidence:g}",
        "first": _shown(first),
        "last": _shown(last),
        "spans": {bars["measure"][0]: (0.0, 1.0)},
        "pair": None,
        "tables": _tables(found.sheet(verbose=True)),
    }


def _abstention(found: Abstention) -> Rows:
    label = found.curve_label()
    curves = [
        curve.gather_every(-(-curve.height // _POINTS)).select(
            pl.lit(run).alias("curve"),
            pl.lit(label).alias("run"),
            pl.col("threshold").alias("x"),
            pl.col("utility").alias("mean"),
            pl.col("answered").alias("n"),
        )
        for run, curve in found.curves()
    ]
    return {
        "curve": pl.concat(curves),
        "curves": [(_shown(run), "top_score") for run in found.rows["run"]],
        "runs": [label],
        "drawn": False,
        "tables": _tables(found.sheet(verbose=True)),
    }


def _tables(sheet: Sheet) -> list[Rows]:
    """Return the tables of a sheet as they are shown."""
    return [
        {
            "title": one.title,
            "head": [*map(_shown, one.head)],
            "rows": [[*map(_shown, row)] for row in one.rows[:_ROWS]],
            "numeric": one.numeric,
        }
        for one in sheet.readable
        if isinstance(one, Table)
    ]


def _retention(found: Retention) -> Rows:
    try:
        points, lines = curve_rows(found)
    except UsageError:  # no cohort was watched for long enough
        points = pl.DataFrame()
        lines = []
    compared = found.by is not None and found.segments.comparable(found.versus)
    return {
        "by": found.by,
        "unit": found.calendar.unit,
        "curve": found.days,
        "points": points,
        "runs": [_shown(line) for line in lines],
        "cohorts": [
            {"segment": one, "rows": _plain(heatmap_rows(found, one)[0])}
            for one in _segments(found)
        ],
        "periods": found.periods,
        "bars": period_rows(found),
        "differences": found.differences if compared else [],
    }


def _segments(found: Retention) -> list[str | None]:
    """Return the segments that have a table of cohorts, the largest first."""
    if found.by is None:
        return [None]
    sizes = found.periods.group_by(found.by).agg(pl.col("new").sum())
    names = (
        sizes.sort("new", found.by, descending=[True, False])[found.by]
        .drop_nulls()
        .to_list()
    )
    return names[:_SEGMENTS] or [None]


#: result → the name of its page, its parts, and what returns its rows
_PAGES: Final[dict[type, tuple[str, str, Callable[[Any], Rows]]]] = {
    Curves: ("curves", "curve", _curves),
    Bounds: ("bounds", "bounds table", _bounds),
    BeyondScores: ("beyond", "measures table", _beyond),
    Slices: ("slices", "slices table", slices_rows),
    Collection: ("shared_task", "leaders topics tables", _collection),
    Abstention: ("abstention", "tables curve", _abstention),
    Reproduction: ("reproduction", "tables", _reproduction),
    Stages: ("stages", "fates tables", _stages),
    Retention: ("retention", "curve cohorts periods differences", _retention),
}
