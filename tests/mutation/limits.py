"""A plugin of pytest that begins no further test once the process has had its seconds of work."""

from __future__ import annotations

import os
import resource
import time
from typing import Final

import pytest

#: after so many seconds of work no test begins, and so many seconds later the process is ended
SECONDS: Final = int(os.environ.get("RANKSTONE_SECONDS", "60"))
GRACE: Final = 30


def pytest_configure() -> None:
    """Let the system end a test that hangs."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + GRACE, SECONDS + GRACE))


def pytest_runtest_setup() -> None:
    """End the run, without a failure, when the seconds are over."""
    if time.process_time() > SECONDS:
        pytest.exit("the time is over", returncode=0)
