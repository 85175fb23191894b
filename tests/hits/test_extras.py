"""Extras hang on alignment: a plain evaluation does not meet them, and works without their files."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from dataclasses import fields
from functools import cache
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from docs.making import house

import rankstone
from rankstone.hits.extras.extra_values import Arrays, QueryArrays
from rankstone.hits.hits import Hits
from rankstone.hits.matching import Matcher

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE: Final = Path(rankstone.__file__).parent
#: folders of what only some requests need
OPTIONAL: Final = ("hits/extras/", "evaluation/side_inputs/")
#: files of the package with a function that a command calls, at most
MOST_ENTERED: Final = {"eval": 74, "compare": 104}
#: runs a command twice, and prints the files whose functions the second one enters
ENTERED: Final = """
import json, sys, threading
from click.testing import CliRunner
import rankstone
from rankstone.cli import cli

package = rankstone.__path__[0]
entered = set()

def called(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(package):
        entered.add(frame.f_code.co_filename[len(package) + 1 :].replace("\\\\", "/"))

assert CliRunner().invoke(cli, sys.argv[1:]).exit_code == 0
threading.setprofile(called)
sys.setprofile(called)
CliRunner().invoke(cli, sys.argv[1:])
sys.setprofile(None)
print(json.dumps(sorted(entered)))
"""
#: scores a run whose values are formulas
SCORED: Final = """
import json, rankstone
qrels = {"q": {"a": 1, "b": 0, "c": 2}}
scores = rankstone.evaluate(qrels, {"q": ["b", "a", "x"]}, "nDCG@10 AP RR P@2 R@3")
print(json.dumps(scores.to_dict()["run"]))
"""


def printed(code: str, *arguments: str, path: Path | None = None) -> Any:
    """Return what Python code prints, with the package of this project or of a folder."""
    environment = {**os.environ, "PYTHONPATH": str(path or PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@cache
def entered(folder: Path, command: str) -> list[str]:
    """Return the files of the package that a command enters."""
    qrels = folder / "qrels.txt"
    runs = [folder / "first.txt", folder / "second.txt"]
    qrels.write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    runs[0].write_text("q1 Q0 b 1 2 x\nq1 Q0 a 2 1 x\nq2 Q0 c 1 1 x\n")
    runs[1].write_text("q1 Q0 a 1 2 y\nq1 Q0 b 2 1 y\nq2 Q0 c 1 1 y\n")
    run = runs[:1] if command == "eval" else runs
    files: list[str] = printed(
        ENTERED, command, str(qrels), *map(str, run), "-m", "nDCG@10 AP"
    )
    return files


@pytest.mark.parametrize("command", list(MOST_ENTERED))
def test_a_plain_command_calls_no_extra(
    command: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Neither does it enter more files than before."""
    files = entered(tmp_path_factory.getbasetemp(), command)

    assert "hits/matching.py" in files
    assert [file for file in files if file.startswith(OPTIONAL)] == []
    assert len(files) <= MOST_ENTERED[command]


def test_plain_measures_need_no_file_of_extras(tmp_path: Path) -> None:
    """Without all extras and side inputs, plain measures have the same values."""
    copied = tmp_path / "rankstone"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in OPTIONAL:
        shutil.rmtree(copied / folder)
    ideal = 2 / log2(2) + 1 / log2(3)

    values: Mapping[str, float] = printed(SCORED, path=tmp_path)

    assert values == pytest.approx(
        {
            "nDCG@10": 1 / log2(3) / ideal,
            "AP": 1 / 2 / 2,
            "RR": 1 / 2,
            "P@2": 1 / 2,
            "R@3": 1 / 2,
        }
    )


def test_the_road_of_an_evaluation_names_no_extra() -> None:
    """What extras need of tables they name themselves: only their registries know their files."""
    registries = {"rankstone.evaluation.requested_side_inputs"}
    interfaces = {
        "rankstone.hits.extras.extra",
        "rankstone.evaluation.side_inputs.side_input",
    }
    optional = tuple(f"rankstone.{folder.replace('/', '.')}" for folder in OPTIONAL)
    named = [
        f"{edge.importer}:{edge.line} -> {edge.imported}"
        for edge in house.imports()[0]
        if edge.importer.startswith("rankstone.evaluation.")
        and not edge.importer.startswith(optional)
        and edge.importer not in registries
        and edge.imported.startswith(optional)
        and edge.imported not in interfaces
    ]
    assert named == []


def test_hits_are_few_columns_and_matching_is_few_steps() -> None:
    """What only some measures need is no field of hits, and no step of matching."""
    assert len(fields(Hits)) <= 15
    assert len(inspect.getsourcelines(Matcher.chunk)[0]) <= 30


def test_values_follow_hits_and_queries() -> None:
    """Arrays of hits are taken by hits, those of queries by queries, and what is in common stays."""
    of_hits = Arrays(score=np.array([3.0, 2.0, 1.0]), about="all")
    of_queries = QueryArrays(known=np.array([True, False]))

    result = of_hits.taken(np.array([2]))
    other = of_queries.taken(np.array([2]), np.array([1]))
    same = of_queries.taken(np.array([2]))
    both = Arrays.joined([of_hits, result])

    assert vars(result)["score"].tolist() == [1.0]
    assert vars(result)["about"] == "all"
    assert vars(other)["known"].tolist() == [False]
    assert vars(same)["known"].tolist() == [True, False]
    assert vars(both)["score"].tolist() == [3.0, 2.0, 1.0, 1.0]
