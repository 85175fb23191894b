# Written by `make pages`: where each public name is defined.

from rankstone.reports.html_page import require as require
from rankstone.reports.report_content import report as report

__all__ = [
    "report",
    "require",
]
