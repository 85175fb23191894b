"""One case, two answers: the library's, from an environment of its own, and ours under its convention."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

import rankstone
from rankstone.conventions import convention

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ours", "same", "tables", "theirs"]

#: cases that may end the library's process, of all; more, and it is the runner that is broken
MOST_LOST: Final = 0.05

Answers = dict[str, Any]


def theirs(
    python: Path, runner: Path, values: Sequence[dict[str, Any]]
) -> tuple[list[Answers], str]:
    """Return what the library says to every case, and its version.

    A case that ends the library's process is answered by ``{"lost": …}`` for every measure; the cases behind
    it are queried in a process of their own.
    """
    rows: list[Answers] = []
    lost = 0
    while True:
        done = subprocess.run(
            [str(python), str(Path(__file__).with_name("running.py")), str(runner)],
            input="\n".join(map(json.dumps, values[len(rows) :])),
            capture_output=True,
            text=True,
            check=False,
        )
        lacking = re.search(r'(ImportError|ModuleNotFoundError)[^"]*', done.stdout)
        assert lacking is None, (
            f"something the library needs is not installed: {lacking[0]}"
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode == 0:
            *rest, installed = answers
            return [*rows, *rest], installed
        rows += answers
        lost += 1
        assert len(rows) < len(values), done.stderr[-2000:]
        assert lost <= max(1, len(values) * MOST_LOST), (
            f"{lost} cases lost: {done.stderr[-2000:]}"
        )
        why = f"the library's process ends: {_ending(done.returncode)}"
        rows.append(
            {measure: {"lost": why} for measure in values[len(rows)]["measures"]}
        )


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def tables(case: dict[str, Any]) -> tuple[dict[str, dict[str, float]], pl.DataFrame]:
    """Return a case's judgments, and its run: a row a query; lists may be empty, or show a document twice."""
    rows = [
        (query, [doc for doc, _ in listed], [score for _, score in listed])
        for query, listed in case["run"].items()
    ]
    kinds: dict[str, Any] = {
        "query_id": pl.String,
        "doc_id": pl.List(pl.String),
        "score": pl.List(pl.Float64),
    }
    return case["qrels"], pl.DataFrame(rows, schema=kinds, orient="row")


def ours(runner: Any, case: dict[str, Any]) -> Answers:
    """Return our numbers under the library's convention, and options that the runner has to say beside it.

    All measures are computed at once.  Where that raises, those with the same options are, and each alone
    where that raises, too: what one measure refuses takes nothing from the others.
    """
    qrels, run = tables(case)
    texts: dict[str, Any] = {
        "convention": runner.LIBRARY,
        **getattr(runner, "OPTIONS", {}),
    }

    def answers_to(measures: Sequence[str], *apart: Callable[[str], object]) -> Answers:
        try:
            return rankstone.evaluate(qrels, {"run": run}, measures, **texts).to_dict()[
                "run"
            ]
        except rankstone.RankstoneError as error:
            if not apart:
                return {measures[0]: {"error": re.sub(r"\s+", " ", str(error))}}
        parts: dict[object, list[str]] = {}
        for measure in measures:
            parts.setdefault(apart[0](measure), []).append(measure)
        return {
            name: value
            for part in parts.values()
            for name, value in answers_to(part, *apart[1:]).items()
        }

    def options(measure: str) -> object:
        try:
            return str(convention(runner.LIBRARY).read(measure)[0].entry.options)
        except rankstone.RankstoneError:
            return measure

    return answers_to(case["measures"], options, str)


def same(result: Any, other: Any, within: float) -> bool:
    """Tell whether two answers agree: numbers, no value (NaN), or a refusal on both sides."""
    if isinstance(result, dict) or isinstance(other, dict):
        return isinstance(result, dict) and isinstance(other, dict)
    nothing = [value is None or math.isnan(value) for value in (result, other)]
    if any(nothing):
        return all(nothing)
    return bool(abs(result - other) <= within * max(1.0, abs(other)))
