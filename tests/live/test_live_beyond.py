"""Every convention of whole lists against the library itself, on fresh random recommendations.

A library answers in the environment of the runner of the same name; seeds and cases are those of
``test_live.py``.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from tests.live.beyond_worlds import Traits, cases
from tests.live.environments import interpreter
from tests.live.library_answers import same, theirs
from tests.live.report import Row
from tests.live.running import load

import rankstone

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.live

HERE: Final = Path(__file__).resolve().parent
RUNNERS: Final = {
    path.stem: path for path in sorted((HERE / "runners" / "beyond").glob("*.py"))
}
CASES: Final = int(os.environ.get("RANKSTONE_CASES", "500"))
SEED: Final = int(os.environ["RANKSTONE_SEED"])
#: the libraries compared: those of RANKSTONE_LIVE that measure whole lists, or all that do
LIBRARIES: Final = [
    name
    for name in os.environ.get("RANKSTONE_LIVE", "").split() or RUNNERS
    if name in RUNNERS
]
#: what single precision leaves of a number
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
    lines, silent = [], set(runner.MEASURES)
    for case, numbers in zip(measures, answers, strict=True):
        mine = _ours(runner.LIBRARY, case)
        for measure, spelling in case["spelled"].items():
            if isinstance(numbers[measure], float) and not math.isnan(numbers[measure]):
                silent.discard(spelling)
            if isinstance(numbers[measure], dict) and "lost" in numbers[measure]:
                reasons[numbers[measure]["lost"]] += 1
                continue
            if same(mine[measure], numbers[measure], getattr(runner, "WITHIN", WITHIN)):
                continue
            reason = (
                runner.differs(case, measure) if hasattr(runner, "differs") else None
            )
            if reason is None:
                text = f"ours {mine[measure]}, theirs {numbers[measure]}"
                lines.append(f"{measure}: {text}: {json.dumps(case)}")
            else:
                reasons[reason] += 1
    row = Row(
        runner=f"{name}, beyond accuracy",
        library=runner.LIBRARY,
        installed=installed,
        measures=len(runner.MEASURES),
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


def _drawn(runner: Any) -> list[dict[str, Any]]:
    """Draw the cases, and say how measures are spelled with their cutoffs."""
    draw = getattr(
        runner, "cases", cases
    )  # a runner may draw what no other library is handed
    rows = []
    for case in draw(SEED, CASES, Traits(**runner.TRAITS)):
        spelled = {
            measure.replace("<k>", str(case["k"])): measure
            for measure in runner.MEASURES
        }
        rows.append({**case, "measures": list(spelled), "spelled": spelled})
    return rows


def _ours(library: str, case: dict[str, Any]) -> dict[str, Any]:
    """Return our numbers under the library's convention; what one measure refuses costs no other."""
    kinds: dict[str, Any] = {
        "doc_id": pl.String,
        "features": pl.List(pl.Float64),
        "category": pl.String,
    }
    items = [{"doc_id": item, **about} for item, about in case["items"].items()]
    shown = [
        (user, item, value)
        for user, listed in case["run"].items()
        for item, value in listed
    ]
    columns = ["query_id", "doc_id", "score"]
    tables: dict[str, Any] = {
        "items": pl.DataFrame(items, schema=kinds),
        "history": pl.DataFrame(case["history"], schema=columns[:2], orient="row"),
        "qrels": case["qrels"],
        "baseline": case["baseline"],
    }
    run = pl.DataFrame(shown, schema=columns, orient="row")

    def qualities_of(measures: Sequence[str]) -> dict[str, Any]:
        qualities = rankstone.beyond(
            {"run": run}, measures, **tables, convention=library
        )
        return dict(qualities.to_dict()["run"])

    try:
        return qualities_of(case["measures"])
    except rankstone.RankstoneError:
        return {measure: _alone(qualities_of, measure) for measure in case["measures"]}


def _alone(request: Any, measure: str) -> Any:
    try:
        return request([measure])[measure]
    except rankstone.RankstoneError as error:
        return {"error": re.sub(r"\s+", " ", str(error))}
