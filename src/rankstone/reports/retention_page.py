"""Retention as one HTML page: the curve, the triangle, who came when, segments, where it all comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import masked, printable
from rankstone.reports import charts as plots
from rankstone.reports.chart_style import records
from rankstone.reports.charts.retention_charts import heatmap_rows, heatmap_title
from rankstone.reports.list_pages import apart
from rankstone.reports.report_content import flat, versions
from rankstone.tables.phrases import phrases

if TYPE_CHECKING:
    from rankstone.online.retention_result import Retention

#: rows of the triangle, and segments with their own heatmap on a page
_ROWS: Final = 5_000
_HEATMAPS: Final = 12
#: the most differences written as sentences
_MAX_SENTENCES: Final = 6
_NAME: Final = 40


@dataclass(frozen=True)
class RetentionReport:
    """Retention as one HTML page that opens offline.

    Parameters
    ----------
    found
        What is reported.
    lang
        ``en`` or ``zh``.
    command
        The command line that made it, to be shown.
    """

    found: Retention
    lang: str = "en"
    command: str | None = None

    def html(self) -> str:
        """Return the page: no part of it is fetched from anywhere."""
        from rankstone.reports.html_page import page, require

        require()
        return page(self._content(), "retention")

    def _content(self) -> dict[str, Any]:
        found, say = self.found, phrases("pages", self.lang)
        unit = say[found.calendar.unit]
        say = say | {
            "at": unit,
            "curve": say["retention"],
            "cohorts_help": say["cohorts_help"].format(unit=unit),
        }
        triangle = _plain(found.triangle)
        drawn: dict[str, Any] = {}
        if self._is_drawn():
            drawn["curve"] = apart(plots.retention_curve(found, lang=self.lang), keep=True)
        heatmap = plots.retention_heatmap(found, self._segments()[0], lang=self.lang)
        drawn["heatmap"] = apart(heatmap, keep=False)
        drawn["periods"] = apart(plots.retention_periods(found, lang=self.lang), keep=True)
        return {
            "lang": self.lang,
            "digits": 4,
            "words": say,
            "title": say["retention"],
            "sentences": self._sentences(say),
            "by": None if found.by is None else printable(found.by, _NAME),
            "days": records(_plain(found.days)),
            "periods": records(_plain(found.periods)),
            "triangle": records(triangle.head(_ROWS)),
            "triangle_of": triangle.height,
            "differences": records(found.differences) if self._is_compared() else [],
            "heatmaps": [self._heatmap(segment) for segment in self._segments()],
            "charts": drawn,
            "provenance": {
                "command": None if self.command is None else masked(self.command),
                "audit": found.audit.lines(),
                "inputs": flat(found.inputs),
                "conventions": flat(found.conventions),
                "versions": versions(),
            },
        }

    def _is_drawn(self) -> bool:
        """Return True if there is an age after the first that anything is known of."""
        return self.found.curve.filter(pl.col("age") > 0)["users"].sum() > 0

    def _is_compared(self) -> bool:
        """Return True if there are segments to compare, and not too many."""
        return self.found.by is not None and self.found.segments.comparable(self.found.versus)

    def _segments(self) -> list[str | None]:
        """Return the segments that have a heatmap, the largest first."""
        by = self.found.by
        if by is None:
            return [None]
        sizes = self.found.periods.group_by(by).agg(pl.col("new").sum())
        names = sizes.sort("new", by, descending=[True, False])[by].to_list()
        return [name for name in names if name is not None][:_HEATMAPS] or [None]

    def _heatmap(self, segment: str | None) -> dict[str, Any]:
        rows, _ = heatmap_rows(self.found, segment)
        title = heatmap_title(self.found, segment, lang=self.lang)
        named = None if segment is None else printable(segment, _NAME)
        return {"segment": named, "rows": records(rows), "title": title}

    def _sentences(self, say: dict[str, str]) -> list[str]:
        """Return what the page is about: a sentence a window, and what is decided between segments."""
        found = self.found
        if not self._is_compared():
            return [_sentence(row, say, found) for row in found.days.iter_rows(named=True)]
        decided = found.differences.filter(pl.col("p_adjusted") <= 1 - found.conventions["confidence"])
        head = say["decided_of"].format(decided=decided.height, all=found.differences.height)
        sentences = [
            say["differs"].format(**_apart_by(row, say, found)) for row in decided.iter_rows(named=True)
        ]
        return [head, *sentences[:_MAX_SENTENCES]]


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.cast({pl.Date: pl.String})


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _sentence(row: dict[str, Any], say: dict[str, str], found: Retention) -> str:
    """Return what came of a window."""
    about = {"unit": say[found.calendar.unit], "at": row["at"]}
    if row["rate"] is None:
        return say["not_watched"].format(**about)
    left = say["left_out"].format(censored=row["censored"], all=row["censored"] + row["cohorts"])
    ends = {name: _percent(row[name]) for name in ("rate", "low", "high")}
    counts = {name: f"{row[name]:,}" for name in ("users", "retained")}
    return say["came_back"].format(**about, **ends, **counts, left=left if row["censored"] else "")


def _apart_by(row: dict[str, Any], say: dict[str, str], found: Retention) -> dict[str, object]:
    names = {
        name: printable("–" if row[name] is None else row[name], _NAME) for name in ("segment", "versus")
    }
    ends = {name: f"{100 * row[name]:+.1f}" for name in ("difference", "low", "high")}
    return {"unit": say[found.calendar.unit], "at": row["at"], **names, **ends}
