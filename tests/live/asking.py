"""One case, two answers: the library's, from an environment of its own, and ours under its convention."""

from __future__ import annotations

import json
import math
import re
import subprocess
from typing import TYPE_CHECKING, Any

from tests.live.environments import RUNNERS

import rankstone
from rankstone.conventions import convention

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["ours", "same", "theirs"]

Answers = dict[str, Any]


def theirs(python: Path, name: str, asked: Sequence[dict[str, Any]]) -> tuple[list[Answers], str]:
    """Return what the library says to every case, and its version."""
    running = RUNNERS[name].parents[1] / "running.py"
    done = subprocess.run(
        [str(python), str(running), str(RUNNERS[name])],
        input="\n".join(map(json.dumps, asked)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lacking = re.search(r'(ImportError|ModuleNotFoundError)[^"]*', done.stdout)
    assert lacking is None, f"something the library needs is not installed: {lacking[0]}"
    *found, installed = [json.loads(line) for line in done.stdout.splitlines()]
    return found, installed


def ours(runner: Any, case: dict[str, Any]) -> Answers:
    """Return our numbers under the library's convention, and options that the runner has to say beside it.

    All measures are asked at once.  Where that raises, those with the same options are, and each alone
    where that raises, too: what one measure refuses takes nothing from the others.
    """
    qrels = {query: judged for query, judged in case["qrels"].items() if judged}
    lists = [(query, doc, score) for query, listed in case["run"].items() for doc, score in listed]
    run = tuple(map(list, zip(*lists, strict=True))) if lists else {}
    told: dict[str, Any] = {"convention": runner.LIBRARY, **getattr(runner, "OPTIONS", {})}

    def asked(measures: Sequence[str], *apart: Callable[[str], object]) -> Answers:
        try:
            return rankstone.evaluate(qrels, {"run": run}, measures, **told).to_dict()["run"]
        except rankstone.RankstoneError as error:
            if not apart:
                return {measures[0]: {"error": re.sub(r"\s+", " ", str(error))}}
        parts: dict[object, list[str]] = {}
        for measure in measures:
            parts.setdefault(apart[0](measure), []).append(measure)
        return {name: value for part in parts.values() for name, value in asked(part, *apart[1:]).items()}

    def options(measure: str) -> object:
        return str(convention(runner.LIBRARY).read(measure)[0].entry.options)

    return asked(case["measures"], options, str)


def same(one: Any, other: Any, within: float) -> bool:
    """Tell whether two answers agree: numbers, no value (NaN), or a refusal on both sides."""
    if isinstance(one, dict) or isinstance(other, dict):
        return isinstance(one, dict) and isinstance(other, dict)
    nothing = [value is None or math.isnan(value) for value in (one, other)]
    if any(nothing):
        return all(nothing)
    return bool(abs(one - other) <= within * max(1.0, abs(other)))
