"""Charts of results, made with Altair; they show numbers and compute none.

Each function takes a result and returns a chart of Altair's; :func:`write` writes it as SVG, PNG, PDF, or as
HTML that opens offline.  Needs the extra ``report`` (altair, vl-convert-python), which is imported when the
first chart is made.

Examples
--------
>>> import rankstone
>>> from rankstone import demo, plots
>>> found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")
>>> plots.write(plots.forest(found), "forest.svg")  # doctest: +SKIP
"""

from __future__ import annotations

from rankstone.reports.charts.board_charts import (
    critical_difference,
    ranks,
    slices,
    topics,
)
from rankstone.reports.charts.comparison_charts import (
    at_k,
    differences,
    forest,
    histogram,
    pr_curve,
    scatter,
    segments,
)
from rankstone.reports.charts.curve_charts import cloud, means
from rankstone.reports.charts.retention_charts import (
    retention_curve,
    retention_heatmap,
    retention_periods,
)
from rankstone.reports.html_page import write

__all__ = [
    "at_k",
    "cloud",
    "critical_difference",
    "differences",
    "forest",
    "histogram",
    "means",
    "pr_curve",
    "ranks",
    "retention_curve",
    "retention_heatmap",
    "retention_periods",
    "scatter",
    "segments",
    "slices",
    "topics",
    "write",
]
