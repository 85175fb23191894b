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


def result_content(result: object) -> Rows | None:
    """Return the kind, the rows and the parts of a result's page; ``None`` where there is none."""
    if isinstance(result, (Board, PairedBoard)):
        return standings_content(result)

    for kind, (name, parts, rows) in _PAGES.items():
        if not isinstance(result, kind):
            continue

        data = rows(result)
        for key, value in data.items():
            if isinstance(value, pl.DataFrame):
                data[key] = _plain(value)

        return {
            "view": {"kind": name, "cards": []},
            "data": {**data, "two": False, "baselines": []},
            "parts": [part for part in parts.split() if data.get(part) != []],
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


def _curves(curves: Curves) -> Rows:
    names = [(str(curve), _x_axis(curve)) for curve in curves.curves]
    means = curves.mean().select("run", "curve", "x", "mean", "ci_low", "ci_high", "n")
    return {
        "curve": means,
        "curves": names,
        "runs": [_shown(run) for run in list(curves.runs)[:_LINES]],
        "drawn": curves.resampling.resamples > 1,
        "confidence": f"{100 * curves.resampling.confidence:.4g}",
    }


def _x_axis(curve: object) -> str:
    """Return what is at the x axis of a curve: a cutoff or cost, ``fpr`` or ``recall``."""
    if isinstance(curve, AtK):
        return curve.axes[0]
    if str(curve).startswith("ROC"):
        return "fpr"
    return "recall"


def _bounds(bounds: Bounds) -> Rows:
    pair = None if bounds.difference is None else " - ".join(bounds.difference)
    means = bounds.mean().drop("sign")
    spans = {
        str(measure): measure.span
        for measure in bounds.measures
        if None not in measure.span
    }
    return {"bounds": means, "pair": _shown(pair), "spans": spans, "table": means}


def _beyond(scores: BeyondScores) -> Rows:
    means = scores.mean()
    return {
        "measures": means.select("run", "measure", "value"),
        "spans": {},
        "pair": None,
        "table": means,
    }


def slices_rows(search: Slices) -> Rows:
    """Return the slices that differ, or the largest gaps, as bars; every slice as a row of a table."""
    clear = search.found.height > 0
    rows = _plain((search.found if clear else search.table).head(_BARS))
    parts = dict(
        search.table.filter(found=False).group_by("within").agg("slice").iter_rows()
    )
    for row in rows:
        row["same"] = [*map(_shown, row["same"])]
        row["within"] = [*map(_shown, parts.get(row["slice"]) or [])]

    settings = search.settings
    bars = {
        "rows": rows,
        "found": clear,
        "visible": [*search.visible_lines(search.digits)],
        "systems": [*map(_shown, search.systems)],
        "level": f"{100 * settings.confidence:g}",
        "against": settings.against,
        "kind": search.kind,
        "sign": search.sign,
    }
    return {
        "slices": bars,
        "table": search.table.select("slice", "n", *NUMBERS, "within").head(_LISTED),
    }


def _collection(collection: Collection) -> Rows:
    name = collection.measures[0]
    means = collection.leaderboard.select(
        "run", pl.col(name).alias("value"), "low", "high"
    )
    return {
        "measures": means.with_columns(measure=pl.lit(name)),
        "level": f"{100 * collection.confidence:g}",
        "spans": {},
        "pair": None,
        "topics": collection.topics,
        "tables": _tables(collection.sheet(verbose=True)),
    }


def _reproduction(reproduction: Reproduction) -> Rows:
    return {"tables": _tables(reproduction.sheet())}


def _stages(stages: Stages) -> Rows:
    """Return the share of each fate as a bar; all tables, with examples."""
    bars = stages.bars()
    first, *_, last = stages.names
    return {
        "measures": bars,
        "level": f"{100 * stages.confidence:g}",
        "first": _shown(first),
        "last": _shown(last),
        "spans": {bars["measure"][0]: (0.0, 1.0)},
        "pair": None,
        "tables": _tables(stages.sheet(verbose=True)),
    }


def _abstention(abstention: Abstention) -> Rows:
    label = abstention.curve_label()
    curves = [
        curve.gather_every(-(-curve.height // _POINTS)).select(
            pl.lit(run).alias("curve"),
            pl.lit(label).alias("run"),
            pl.col("threshold").alias("x"),
            pl.col("utility").alias("mean"),
            pl.col("answered").alias("n"),
        )
        for run, curve in abstention.curves()
    ]
    return {
        "curve": pl.concat(curves),
        "curves": [(_shown(run), "top_score") for run in abstention.rows["run"]],
        "runs": [label],
        "drawn": False,
        "tables": _tables(abstention.sheet(verbose=True)),
    }


def _tables(sheet: Sheet) -> list[Rows]:
    """Return the tables of a sheet as they are shown."""
    return [
        {
            "title": table.title,
            "head": [*map(_shown, table.head)],
            "rows": [[*map(_shown, row)] for row in table.rows[:_ROWS]],
            "numeric": table.numeric,
        }
        for table in sheet.readable
        if isinstance(table, Table)
    ]


def _retention(retention: Retention) -> Rows:
    try:
        points, lines = curve_rows(retention)
    except UsageError:  # no cohort was watched for long enough
        points = pl.DataFrame()
        lines = []
    compared = retention.by is not None and retention.segments.comparable(
        retention.versus
    )
    return {
        "by": retention.by,
        "unit": retention.calendar.unit,
        "curve": retention.days,
        "points": points,
        "runs": [_shown(line) for line in lines],
        "cohorts": [
            {"segment": segment, "rows": _plain(heatmap_rows(retention, segment)[0])}
            for segment in _segments(retention)
        ],
        "periods": retention.periods,
        "bars": period_rows(retention),
        "differences": retention.differences if compared else [],
    }


def _segments(retention: Retention) -> list[str | None]:
    """Return the segments that have a table of cohorts, the largest first."""
    if retention.by is None:
        return [None]
    sizes = retention.periods.group_by(retention.by).agg(pl.col("new").sum())
    names = (
        sizes.sort("new", retention.by, descending=[True, False])[retention.by]
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
