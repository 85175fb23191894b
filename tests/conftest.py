"""What all tests share: the folder they import from, and how hard Hypothesis tries."""

from __future__ import annotations

import gc
import os
import sys
import time
from functools import partialmethod
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

#: scripts that type checkers read, and nothing runs
collect_ignore = ["typing"]
ROOT = Path(__file__).resolve().parent.parent
if (
    str(ROOT) not in sys.path
):  # tests import tests.oracle, a namespace package beside no other
    sys.path.insert(0, str(ROOT))

if (
    "mix_stderr" in signature(CliRunner).parameters
):  # click before 8.2 mixes both streams by default
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)  # type: ignore[assignment]

_NO_TIME = "no time left: `make test` runs it"
#: what is skipped for these reasons was not requested
_MAY_SKIP = (_NO_TIME, "got empty parameter set", "none of these libraries")
_COMMON = [
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.function_scoped_fixture,
]
# a few of each law, of which `make nightly` tries hundreds
settings.register_profile(
    "local", deadline=None, max_examples=5, suppress_health_check=_COMMON
)
settings.register_profile("ci", parent=settings.get_profile("local"), derandomize=True)
settings.register_profile(
    "long", parent=settings.get_profile("local"), max_examples=500
)
settings.register_profile(
    "nightly", parent=settings.get_profile("local"), max_examples=200, print_blob=True
)
settings.register_profile(
    "quick",
    parent=settings.get_profile("local"),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "local")
)


def pytest_configure(config: pytest.Config) -> None:
    """Make rows of tables tests of their own where some are selected by name."""
    if config.option.keyword:
        from tests.rows import run_rows_alone

        run_rows_alone()


def pytest_collection_finish() -> None:
    """Exempt what is imported by now from garbage collection, which out-of-core work calls often."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let the interpreter collect everything when it ends."""
    gc.unfreeze()


def pytest_runtest_setup() -> None:
    """Begin no further test once the time of `make quick` is over."""
    if time.time() > float(os.environ.get("RANKSTONE_UNTIL", "inf")):
        pytest.skip(_NO_TIME)


def pytest_runtest_teardown() -> None:
    """Forget the measures of files that a test imported: the next one reads the list of all measures."""
    registry = sys.modules.get("rankstone.measures.core.registry")
    if registry is None:
        return
    for name, kind in list(registry.MEASURES._registered.items()):  # noqa: SLF001 - nothing else lists them
        # code of a page has no module
        if (kind.__module__ or "").startswith("rankstone_own_"):
            registry.MEASURES.remove(name)


@pytest.fixture(autouse=True)
def pasted_fixes() -> Iterator[None]:
    """Fail a test in which a command printed a fix that leads to the same message, or is no shell's."""
    yield
    if "tests.pasted" in sys.modules:
        from tests.pasted import UNHELPFUL

        unhelpful = UNHELPFUL[:]
        UNHELPFUL.clear()
        assert not unhelpful, unhelpful[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[
    None, pytest.TestReport, pytest.TestReport
]:
    """Look at the report of every test."""
    return _without_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[
    None, pytest.CollectReport, pytest.CollectReport
]:
    """Look at the report of every file: one whose imports are missing is skipped as a whole."""
    return _without_skips((yield))


Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def _without_skips(report: Report) -> Report:
    """Turn a skip into a failure where everything must be there (RANKSTONE_SKIP_IS_FAILURE).

    Real collections cannot be installed, no machine is fast enough for all tests in a minute, and a run on
    some libraries leaves out the others: what is skipped for that stays skipped.
    """
    from tests.real_data import NO_FOLDER

    reason = str(report.longrepr)
    skipped = (
        report.skipped
        and not hasattr(report, "wasxfail")
        and NO_FOLDER not in reason
        and not any(phrase in reason for phrase in _MAY_SKIP)
    )
    if skipped and os.environ.get("RANKSTONE_SKIP_IS_FAILURE"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be skipped: {report.longrepr}"
    return report
