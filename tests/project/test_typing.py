"""Type checkers accept what a user writes, and refuse slips."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "typing"


#: kept, so that only what changed is checked again
CACHE = Path(__file__).resolve().parents[2] / "build" / "typing"


def checked(script: Path) -> str:
    """Return what mypy --strict prints of a script."""
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-warn-unused-ignores",
        "--config-file=",
        f"--cache-dir={CACHE}",
    ]
    settings = [
        "--follow-imports=silent",
        "--ignore-missing-imports",
        "--no-pretty",
        "--hide-error-context",
    ]
    source = HERE.parents[1] / "src"
    env = {"MYPYPATH": str(source), "PATH": "/usr/bin"}
    return subprocess.run(
        [*command, *settings, str(script)],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    ).stdout


def test_mypy_accepts_a_user_script_and_refuses_slips() -> None:
    """Every line of one file is right, and every line of the other that calls something is wrong."""
    assert "Success" in checked(HERE / "user_script.py")
    wrong = HERE / "refused.py"
    refused = {
        int(line) for line in re.findall(r"refused\.py:(\d+): error", checked(wrong))
    }
    lines = wrong.read_text("utf-8").splitlines()
    assert refused == {
        position
        for position, line in enumerate(lines, 1)
        if line.startswith("rankstone.")
    }
