"""Charts of results, made with Altair; they show numbers and compute none.

Needs the extra ``report`` (altair, vl-convert-python), which is imported when the first chart is made.
"""

from __future__ import annotations

from rankstone.plots.of_comparison import ComparisonPlots

__all__ = ["ComparisonPlots"]
