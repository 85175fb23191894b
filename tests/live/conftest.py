"""What a run of the live tests draws from, and what it tells at its end."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any

from tests.live import report

if TYPE_CHECKING:
    import pytest

#: what continuous integration draws from, so that it finds tomorrow what it finds today
FIXED = 20260101


def pytest_configure() -> None:
    """Draw a seed, one for all workers of a run, unless one is given."""
    if os.environ.get("RANKSTONE_SEED", "fresh") == "fresh":
        seed = FIXED if os.environ.get("CI") else secrets.randbelow(10**9)
        os.environ["RANKSTONE_SEED"] = str(seed)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table of libraries, and put its rows into ``build/live.json``."""
    ended: list[pytest.TestReport] = [
        test
        for outcome in ("passed", "failed")
        for test in terminalreporter.getreports(outcome)
    ]
    values = [
        value
        for test in ended
        for name, value in test.user_properties
        if name == "live"
    ]
    rows = sorted(
        (report.Row(**row) for row in values),  # type: ignore[arg-type]
        key=lambda row: (row.library, row.runner),
    )
    if not rows:
        return
    terminalreporter.section("conventions and libraries")
    for line in report.plain(rows):
        terminalreporter.write_line(line)
    report.keep(rows)
    terminalreporter.write_line(f"written to {report.FILE}")
