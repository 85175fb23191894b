"""What docs/trackers.md shows runs, with MLflow, Weights & Biases and DVC themselves."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from docs.making.printed import blocks, run_python

from rankstone import demo

pytestmark = [pytest.mark.trackers, pytest.mark.filterwarnings("ignore")]
PAGE = (Path(__file__).parents[2] / "docs" / "trackers.md").read_text("utf-8")


def section(title: str, names: dict[str, Any]) -> list[str]:
    """Run the blocks of a section, and return what each prints."""
    text = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return [
        run_python(block.code, names) for block in blocks(text) if block.kind == "py"
    ]


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the first block of the page, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    options: dict[str, Any] = {}
    run_python(
        next(block.code for block in blocks(PAGE) if block.kind == "py"), options
    )
    return options


def test_mlflow(
    names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Metrics under names that it takes, and values per query that come back."""
    pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    mean, verdicts = section("MLflow", names)

    assert float(mean) == names["scores"].to_flat_dict()["nDCG@10"]
    assert set(verdicts.split("'")[1::2]) == {"identical"}


def test_weights_and_biases(
    names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means under their own names, offline."""
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    (mean,) = section("Weights & Biases", names)

    assert float(mean) == names["scores"].to_flat_dict()["nDCG@10"]


def test_dvc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage runs, and a change of the run is a change of its metrics."""
    pytest.importorskip("dvc")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    shown = list(blocks(PAGE.partition("## DVC\n")[2]))
    script, stage = (
        next(item.code for item in shown if item.kind == kind) for kind in ("", "yaml")
    )
    for name, text in {
        "evaluate.py": script,
        "dvc.yaml": stage,
        "qrels.txt": demo.QRELS.read_text(),
        "bm25.run": demo.RUNS["bm25"].read_text(),
    }.items():
        Path(name).write_text(text)
    git = "git -c user.name=test -c user.email=test@localhost"
    for line in (
        "git init -q",
        "dvc init -q",
        "dvc repro -q",
        "git add -A",
        f"{git} commit -qm one",
    ):
        subprocess.run(shlex.split(line), check=True)
    Path("bm25.run").write_text(demo.RUNS["tfidf"].read_text())
    subprocess.run(shlex.split("dvc repro -q"), check=True)
    diff = subprocess.run(
        shlex.split("dvc metrics diff"), check=True, capture_output=True, text=True
    ).stdout

    table = PAGE.partition("```text\n")[2].partition("```")[0]
    assert sorted(map(str.split, diff.splitlines())) == sorted(
        map(str.split, table.splitlines())
    )
