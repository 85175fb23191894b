"""Every convention against the library itself, on fresh random data; each in an environment of its own.

``RANKSTONE_SEED`` (``fresh`` draws one) and ``RANKSTONE_CASES`` say what is drawn; CI has its own.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import subprocess
from dataclasses import replace
from typing import Any, Final

import pytest
from tests.live.environments import RUNNERS, interpreter
from tests.live.running import load
from tests.live.worlds import Traits, cases

import rankstone
from rankstone.conventions import convention

pytestmark = pytest.mark.live

CASES: Final = int(os.environ.get("RANKSTONE_CASES", "500"))
_ASKED: Final = os.environ.get("RANKSTONE_SEED", "20260101")
SEED: Final = secrets.randbelow(10**9) if _ASKED == "fresh" else int(_ASKED)
#: the libraries asked: RANKSTONE_LIVE, or all there are
LIBRARIES: Final = os.environ.get("RANKSTONE_LIVE", "").split() or list(RUNNERS)
#: what printing and single precision leave of a number
WITHIN: Final = 2e-6


@pytest.mark.parametrize("name", LIBRARIES)
def test_convention_is_what_the_library_says(name: str, record_property: Any) -> None:
    """No case in which the library and its convention differ, other than those that are explained."""
    runner, python = load(str(RUNNERS[name])), interpreter(name)
    if python is None:
        pytest.skip(f"{name} has no environment: python tests/live/environments.py {name}")
    said: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in runner.TRAITS.items()}
    traits = Traits(**said)
    draw = getattr(runner, "cases", cases)  # a runner may draw what no other library is handed
    drawn = [(case, runner.MEASURES) for case in draw(SEED, CASES, traits)]
    if getattr(runner, "BINARY", ()):
        drawn += [(case, runner.BINARY) for case in draw(SEED + 1, CASES, replace(traits, grades=(0, 1)))]
    asked = [{**case, "measures": _spelled(measures, case["k"])} for case, measures in drawn]
    theirs = _asked(python, name, asked)
    lines, explained = [], 0
    for case, numbers in zip(asked, theirs, strict=True):
        ours = _ours(runner, case)
        for measure in case["measures"]:
            if same(ours[measure], numbers[measure], getattr(runner, "WITHIN", WITHIN)):
                continue
            reason = runner.differs(case, measure) if hasattr(runner, "differs") else None
            explained += reason is not None
            if reason is None:
                lines.append(
                    f"{measure}: ours {ours[measure]}, theirs {numbers[measure]}: {json.dumps(case)}"
                )
    told = f"{name}: {len(asked)} cases, {explained} explained differences, {len(lines)} others, seed {SEED}"
    record_property("live", told)
    assert not lines, "\n".join([told, *lines[:6]])


def _spelled(measures: list[str], k: int) -> list[str]:
    return [measure.replace("<k>", str(k)) for measure in measures]


def _asked(python: Any, name: str, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let the library answer."""
    running = RUNNERS[name].parents[1] / "running.py"
    done = subprocess.run(
        [str(python), str(running), str(RUNNERS[name])],
        input="\n".join(map(json.dumps, asked)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "ImportError" not in done.stdout, "something the library needs is not installed"
    assert "ModuleNotFoundError" not in done.stdout, "something the library needs is not installed"
    return [json.loads(line) for line in done.stdout.splitlines()]


def _ours(runner: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Return our numbers under the library's convention."""
    meant = convention(runner.LIBRARY)
    qrels = {query: judged for query, judged in case["qrels"].items() if judged}
    lists = [(query, doc, score) for query, listed in case["run"].items() for doc, score in listed]
    run = tuple(map(list, zip(*lists, strict=True))) if lists else {}
    found: dict[str, Any] = {}
    for measure in case["measures"]:
        try:
            scores = rankstone.evaluate(qrels, {"run": run}, [measure], convention=str(meant))
            found[measure] = scores.to_dict()["run"][measure]
        except rankstone.RankstoneError as error:
            found[measure] = {"error": re.sub(r"\s+", " ", str(error))}
    return found


def same(ours: Any, theirs: Any, within: float) -> bool:
    """Tell whether two answers agree: numbers, no value (NaN), or a refusal on both sides."""
    if isinstance(ours, dict) or isinstance(theirs, dict):
        return isinstance(ours, dict) and isinstance(theirs, dict)
    nothing = [value is None or math.isnan(value) for value in (ours, theirs)]
    if any(nothing):
        return all(nothing)
    return bool(abs(ours - theirs) <= within * max(1.0, abs(theirs)))
