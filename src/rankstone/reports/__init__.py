"""Reports: charts and HTML pages of results, which open offline.

Knows results; nothing below knows this room, and nothing here scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.reports.html_page import require
    from rankstone.reports.report_content import report
__all__ = ["report", "require"]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {"html_page": ("require",), "report_content": ("report",)})
