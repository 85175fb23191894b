"""Every convention against the library itself, on fresh random data; each in an environment of its own.

``RANKSTONE_SEED`` repeats a run, and without one every run draws its own (continuous integration always the
same); ``RANKSTONE_CASES`` says how many cases are drawn.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from tests.live.environments import RUNNERS, interpreter
from tests.live.library_answers import ours, same, theirs
from tests.live.report import Row
from tests.live.running import load
from tests.live.worlds import Traits, cases

pytestmark = pytest.mark.live

CASES: Final = int(os.environ.get("RANKSTONE_CASES", "500"))
SEED: Final = int(os.environ["RANKSTONE_SEED"])
#: the libraries compared: RANKSTONE_LIVE, or all there are
LIBRARIES: Final = os.environ.get("RANKSTONE_LIVE", "").split() or list(RUNNERS)
#: what printing and single precision leave of a number
WITHIN: Final = 2e-6


@pytest.mark.parametrize("name", LIBRARIES)
def test_convention_is_what_the_library_says(name: str, record_property: Any) -> None:
    """No case in which the library and its convention differ, other than those that are explained."""
    runner, python = load(str(RUNNERS[name])), interpreter(name)
    if python is None:
        pytest.skip(
            f"{name} has no environment: python tests/live/environments.py {name}"
        )
    measures = _drawn(runner)
    answers, installed = theirs(python, RUNNERS[name], measures)
    reasons: Counter[str] = Counter()
    lines, silent = (
        [],
        {spelling for case in measures for spelling in case["spelled"].values()},
    )
    for case, numbers in zip(measures, answers, strict=True):
        mine = ours(runner, case)
        for measure, spelling in case["spelled"].items():
            if _is_number(numbers[measure]):
                silent.discard(spelling)
            if isinstance(numbers[measure], dict) and "lost" in numbers[measure]:
                reasons[numbers[measure]["lost"]] += 1
                continue
            if same(mine[measure], numbers[measure], getattr(runner, "WITHIN", WITHIN)):
                continue
            reason = _reason(runner, case, measure, mine[measure])
            if reason is None:
                lines.append(
                    f"{measure}: ours {mine[measure]}, theirs {numbers[measure]}: {json.dumps(case)}"
                )
            else:
                reasons[reason] += 1
    row = Row(
        runner=name,
        library=runner.LIBRARY,
        installed=installed,
        measures=len(
            {spelling for case in measures for spelling in case["spelled"].values()}
        ),
        cases=CASES,
        numbers=sum(len(case["measures"]) for case in measures),
        reasons=dict(reasons),
        others=len(lines),
        seed=SEED,
        date=f"{datetime.now(UTC):%Y-%m-%d}",
    )
    record_property("live", asdict(row))
    assert not lines, "\n".join(
        [f"{name}: {len(lines)} of {row.numbers} differ, seed {SEED}", *lines[:6]]
    )
    assert not silent, f"{name} never gave a number for {', '.join(sorted(silent))}"


def _reason(runner: Any, case: dict[str, Any], measure: str, mine: Any) -> str | None:
    """Say why a library's number is known to be another here; ``None`` where nothing is known."""
    values = [value for judged in case["qrels"].values() for value in judged.values()]
    grades = [
        grade
        for item in values
        for grade in (item.values() if isinstance(item, dict) else [item])
    ]
    if (
        getattr(runner, "WHOLE", False)
        and any(grade % 1 for grade in grades)
        and isinstance(mine, dict)
    ):
        return "fractions are lost on the way there, and refused here"
    refused = re.search(r"refuses grade (-?[\d.]+)", str(mine))
    if (
        refused
        and getattr(runner, "ROWS", False)
        and float(refused[1]) not in _shown(case)
    ):
        return "it does not see the grade that is refused here"
    reason: str | None = (
        runner.differs(case, measure) if hasattr(runner, "differs") else None
    )
    return reason


def _shown(case: dict[str, Any]) -> set[float]:
    """Return the grades of the rows that the lists show."""
    return {
        case["qrels"].get(query, {}).get(doc, 0)
        for query, rows in case["run"].items()
        for doc, _ in rows
    }


def _is_number(answer: Any) -> bool:
    return isinstance(answer, (int, float)) and not math.isnan(answer)


def _drawn(runner: Any) -> list[dict[str, Any]]:
    """Draw the cases, and those of binary judgments, and say which measures each is for."""
    texts: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in runner.TRAITS.items()
    }
    traits = Traits(**texts)
    draw = getattr(
        runner, "cases", cases
    )  # a runner may draw what no other library is handed
    drawn = [(case, runner.MEASURES) for case in draw(SEED, CASES, traits)]
    if getattr(runner, "BINARY", ()):
        binary = replace(traits, grades=(0, 1), strange=False)
        drawn += [(case, runner.BINARY) for case in draw(SEED + 1, CASES, binary)]
    rows = []
    for case, measures in drawn:
        spelled = {
            measure.replace("<k>", str(case["k"])): measure for measure in measures
        }
        rows.append({**case, "measures": list(spelled), "spelled": spelled})
    return rows
