"""Every random test with fresh seeds, round after round: ``python tests/nightly.py [MINUTES]`` (60).

A round draws a seed, hands it to Hypothesis and to the laws that draw their own worlds (``RANKSTONE_SEED``),
and tries many more examples than ``make test`` does.  What fails goes to ``build/nightly/SEED.log`` with the
command that repeats it, and the exit status is 1.  Hypothesis keeps what it found in ``.hypothesis``, so an
ordinary ``make test`` fails on it, too, until it is mended.
"""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
LOGS: Final = ROOT / "build" / "nightly"
#: what draws at random and needs neither Spark nor a browser nor a library that would not fit beside ours
MARKED: Final = "hypothesis and not live and not browser and not spark and not hooks and not arrays and not trackers"
#: files whose worlds follow RANKSTONE_SEED instead
SEEDED: Final = (
    "tests/laws/test_deriving.py",
    "tests/laws/test_explaining.py",
    "tests/diagnostics/test_possibilities.py",
)
#: pytest's status where it selected no test
NONE_SELECTED: Final = 5


def suites(seed: int) -> list[list[str]]:
    """Return the commands of a round: what Hypothesis draws, and what our own seeds draw."""
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "auto",
        "--import-mode=importlib",
    ]
    return [
        [*pytest, "-m", MARKED, f"--hypothesis-seed={seed}", *sys.argv[2:], "tests"],
        [*pytest, *SEEDED],
    ]


def run(command: Sequence[str], seed: int, ends: float) -> bool:
    """Run one command until it ends or the night does; return whether it found something."""
    setting = {
        "HYPOTHESIS_PROFILE": "nightly",
        "RANKSTONE_SEED": str(seed),
        "RANKSTONE_CASES": "60",
    }
    replay = " ".join(f"{name}={value}" for name, value in setting.items())
    log = LOGS / f"{seed}.log"
    with log.open("a", encoding="utf-8") as out:
        out.write(f"$ {replay} {shlex.join(command)}\n")
        out.flush()
        try:
            status = subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, **setting},
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=max(ends - time.monotonic(), 1),
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            out.write("the night is over\n")
            status = NONE_SELECTED
    failed = [
        line
        for line in log.read_text(encoding="utf-8").splitlines()
        if line.startswith(("FAILED", "ERROR"))
    ]
    for line in failed:
        sys.stdout.write(f"{line}\n")
    return bool(failed) or status not in {0, NONE_SELECTED}


def night(minutes: float) -> int:
    """Run rounds for so many minutes; return how many found something."""
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    ends, rounds, count = began + 60 * minutes, 0, 0
    while time.monotonic() < ends:
        seed, rounds = secrets.randbelow(2**31), rounds + 1
        sys.stdout.write(
            f"round {rounds}, seed {seed}, minute {(time.monotonic() - began) / 60:.0f}\n"
        )
        sys.stdout.flush()
        bad = [
            run(command, seed, ends)
            for command in suites(seed)
            if time.monotonic() < ends
        ]
        if any(bad):
            count += 1
            sys.stdout.write(f"seed {seed} found something: {LOGS / f'{seed}.log'}\n")
        else:
            (LOGS / f"{seed}.log").unlink(missing_ok=True)
    sys.stdout.write(f"{rounds} rounds, {count} with findings\n")
    return count


if __name__ == "__main__":
    sys.exit(min(night(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0), 1))
