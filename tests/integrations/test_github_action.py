"""The action of the gate: its steps run here as a runner would run them, but for the installation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rankstone import demo

ACTION = yaml.safe_load(
    (Path(__file__).parents[2] / "integrations/github-action/action.yml").read_text(
        "utf-8"
    )
)
STEPS = ACTION["runs"]["steps"]
GATE = """\
[gate]
qrels = "{qrels}"
baseline = "{bm25}"
candidate = "nothing.run"

[[gate.rules]]
measure = "nDCG@10"
floor = 0.5
"""

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None, reason="the action is written for bash"
)


def environment(step: dict[str, Any], options: dict[str, str]) -> dict[str, str]:
    """Return the variables of a step, its inputs filled in."""
    inputs = {
        name: str(options.get(name, value.get("default", "")))
        for name, value in ACTION["inputs"].items()
    }
    pattern = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
    return {
        name: pattern.sub(lambda result: inputs[result[1]], text)
        for name, text in step["env"].items()
    }


def gate(folder: Path, **text: str) -> tuple[int, str, str]:
    """Run the step of the gate; return its exit code, the summary and the outputs."""
    program = folder / "temp" / "rankstone" / "bin" / "rankstone"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rankstone "$@"\n')
    program.chmod(0o755)
    files = {"qrels": str(demo.QRELS), "bm25": str(demo.RUNS["bm25"])}
    (folder / "rankstone.toml").write_text(GATE.format(**files))
    runner = {
        name: str(folder / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
    }
    runner["RUNNER_TEMP"] = str(folder / "temp")
    variables = os.environ | runner | environment(STEPS[1], text)
    command = [
        "bash",
        "--noprofile",
        "--norc",
        "-eo",
        "pipefail",
        "-c",
        STEPS[1]["run"],
    ]
    done = subprocess.run(
        command, cwd=folder, env=variables, check=False, capture_output=True, text=True
    )
    summary, outputs = (
        Path(path) for name, path in runner.items() if name.startswith("GITHUB")
    )
    return (
        done.returncode,
        summary.read_text("utf-8") if summary.exists() else "",
        outputs.read_text("utf-8"),
    )


def test_every_input_is_used() -> None:
    """Inputs reach scripts as variables only: the name of a file cannot be code."""
    named = {
        name
        for step in STEPS
        for text in step["env"].values()
        for name in re.findall(r"inputs\.([\w-]+)", text)
    }
    assert named == set(ACTION["inputs"])
    assert [step for step in STEPS if "${{" in step["run"]] == []
    assert [
        name for name, value in ACTION["inputs"].items() if value.get("required")
    ] == ["install"]


def test_a_pass(tmp_path: Path) -> None:
    """The summary is Markdown; JUnit XML is written where a file is named, blanks in its name or not."""
    code, summary, outputs = gate(
        tmp_path, candidate=str(demo.RUNS["bm25"]), junit="gate of mine.xml"
    )
    assert (code, outputs) == (0, "exit-code=0\n")
    assert "| ✔ pass | nDCG@10 floor |" in summary
    assert "<testsuite" in (tmp_path / "gate of mine.xml").read_text()


def test_a_failure(tmp_path: Path) -> None:
    """A rule that fails ends with 1, a run that is missing with 3, and a name is never code."""
    strict = {"baseline": str(demo.RUNS["tfidf"]), "candidate": str(demo.RUNS["tfidf"])}
    assert gate(tmp_path, **strict)[0] == 0
    gate_file = (tmp_path / "rankstone.toml").read_text().replace("0.5", "0.9")
    (tmp_path / "strict.toml").write_text(gate_file)
    code, summary, outputs = gate(tmp_path, config="strict.toml", **strict)
    assert (code, outputs.splitlines()[-1]) == (1, "exit-code=1")
    assert "✘ fail" in summary
    assert gate(tmp_path)[0] == 3
    assert (
        gate(tmp_path, candidate="$(touch stolen)`touch stolen`; touch stolen")[0] == 3
    )
    assert not (tmp_path / "stolen").exists()
