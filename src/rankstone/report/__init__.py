"""Reports: a comparison as one HTML page that opens offline and asks nobody for anything.

Comes in: a comparison, and where its lists are.  Goes out: a file.  Computes no score; what it shows of lists
comes from ``explaining`` and ``tracing``.  Needs the extra ``report`` (altair, vl-convert-python, jinja2).
"""

from __future__ import annotations

from rankstone.report.page import require
from rankstone.report.report import Report

__all__ = ["Report", "require"]
