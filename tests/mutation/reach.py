"""Which tests reach which line of the package: a plugin of pytest under coverage, and what reads its record.

``python -m tests.mutation.reach [TESTS…]`` records; ``tests.mutation.mutants`` then runs for each change the
tests that reach its line, the shortest first.  Data lies in ``build/mutants``, a pair of files a recording.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

import coverage

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "build" / "mutants"
#: tests that need what a short run does not start: browsers, clusters, other libraries
MARKED: Final = "parity heavy_parity live browser spark hooks arrays trackers"
#: test files that run for a change, and the seconds that their tests took under coverage
_FILES, _SECONDS = 24, 90.0
#: tests that take longer come last
_LONG: Final = 10.0
#: lines that a statement has at most
_STATEMENT: Final = 12

_durations: dict[str, float] = defaultdict(float)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Say whose lines are recorded from here on."""
    if (recording := coverage.Coverage.current()) is not None:
        recording.switch_context(item.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how long each test took; those that fail are left out."""
    _durations[report.nodeid] += report.duration if report.passed else float("inf")


def pytest_sessionfinish() -> None:
    """Write how long tests took, beside what coverage writes."""
    if name := os.environ.get("RANKSTONE_REACH"):
        passed = {test: t for test, t in _durations.items() if t < float("inf")}
        Path(name).write_text(json.dumps(passed), encoding="utf-8")


class Reach:
    """What was recorded.

    Attributes
    ----------
    seconds
        How long each test that passed took.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self.seconds: dict[str, float] = {}
        self._data = []
        # seconds are written last
        for times in sorted(folder.glob("reach*.json")):
            path = times.with_suffix(".coverage")
            data = coverage.CoverageData(basename=str(path))
            data.read()
            self._data.append(data)
            self.seconds |= json.loads(times.read_text(encoding="utf-8"))

    def tests(
        self, path: str, first: int, last: int, order: Callable[[str], int]
    ) -> list[str]:
        """Return the tests that reach a line from ``first`` to ``last``, by file and the shortest first."""
        reaching = self._reaching(path, first, last)
        known = {test: test.partition("::")[0] for test in reaching}
        known = {t: file for t, file in known.items() if (ROOT / file).is_file()}

        def turn(test: str) -> tuple[bool, int, float]:
            seconds = self.seconds[test]
            return seconds > _LONG, order(known[test]), seconds

        tests, files, spent = [], set[str](), 0.0
        for test in sorted(known, key=turn):
            file = known[test]
            if len(files | {file}) > _FILES:
                continue
            files.add(file)
            tests.append(test)
            spent += self.seconds[test]
            if spent > _SECONDS:
                break
        return tests

    def _reaching(self, path: str, first: int, last: int) -> set[str]:
        contexts: dict[int, set[str]] = defaultdict(set)
        for data in self._data:
            for measured in data.measured_files():
                if measured.endswith(f"/{path}"):
                    for line, several in data.contexts_by_lineno(measured).items():
                        contexts[line] |= self.seconds.keys() & set(several)
        reaching: set[str] = set()
        # of a statement on several lines some have no record
        for begin in range(first, first - _STATEMENT, -1):
            reaching.update(*(contexts[line] for line in range(begin, last + 1)))
            if reaching:
                break
        return reaching


def main(tests: list[str]) -> int:
    """Record which tests reach which line."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    # a folder of records can hold several, and names of files are short
    name = f"reach-{zlib.crc32(' '.join(tests).encode()):08x}"
    marked = " and ".join(f"not {mark}" for mark in MARKED.split())
    command = [sys.executable, "-m", "coverage", "run", "--rcfile=/dev/null"]
    command += [f"--data-file={FOLDER / name}.coverage", "--source=src/rankstone"]
    command += ["-m", "pytest", "-q", "--tb=no", "-p", "tests.mutation.reach"]
    command += ["-p", "no:cacheprovider", "--doctest-modules", "-m", marked]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
        "HYPOTHESIS_PROFILE": "ci",
        "RANKSTONE_CASES": "2",
        "RANKSTONE_REACH": f"{FOLDER / name}.json",
    }
    paths = tests or ["src", "tests"]
    return subprocess.run(
        [*command, *paths], cwd=ROOT, env=environment, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
