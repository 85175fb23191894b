"""Numbers that libraries print, handed to ``identify``, which is to find out whose they are."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from tests.live.environments import RUNNERS, interpreter
from tests.live.library_answers import tables, theirs
from tests.live.running import load
from tests.live.worlds import Traits, cases

import rankstone
from rankstone.conventions import convention
from rankstone.conventions.identification.reported_number import ReportedMeasure, kind

pytestmark = pytest.mark.live

SEED: Final = int(os.environ["RANKSTONE_SEED"])
LIBRARIES: Final = os.environ.get("RANKSTONE_LIVE", "").split() or list(RUNNERS)
#: numbers of each library, so that the shortest list of libraries has sixty; queries of each collection
PAIRS: Final = int(os.environ.get("RANKSTONE_PAIRS", "6"))
QUERIES: Final = 40
DIGITS: Final = 4


def test_numbers_are_traced_to_their_library() -> None:
    """Every number is found in the list, and nine of ten in the first group."""
    count, first, lost = 0, 0, []
    for name in LIBRARIES:
        runner, python = load(str(RUNNERS[name])), interpreter(name)
        if python is None:
            pytest.skip(
                f"{name} has no environment: python tests/live/environments.py {name}"
            )
        for case, measure, number in _numbers(name, runner, python):
            groups = _identified(runner, case, measure, number)
            places = [
                index
                for index, group in enumerate(groups)
                if runner.LIBRARY in group.libraries
            ]
            count += bool(places)
            first += places[:1] == [0]
            if places[:1] != [0]:
                lost.append(
                    f"{name} {measure} {_printed(number)}: group {[position + 1 for position in places]}"
                )
    total = len(lost) + first
    if not total and os.environ.get("RANKSTONE_LIVE"):
        pytest.skip("none of these libraries scores a collection of queries")
    message = (
        f"seed {SEED}: {total} numbers, {count} found, {first} in the first group\n"
        + "\n".join(lost)
    )
    print(message)  # noqa: T201 - the outcome of the comparison
    assert total, "no library gave a number"
    assert count == total, message
    assert first >= 0.9 * total, message


def _numbers(
    name: str, runner: Any, python: Any
) -> list[tuple[dict[str, Any], str, float]]:
    """Ask a library for numbers of collections, a measure of each."""
    texts: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in runner.TRAITS.items()
    }
    # a library has no number of grades that it refuses
    traits = Traits(**{**texts, "queries": QUERIES, "strange": False})
    if not runner.MEASURES:
        traits = replace(traits, grades=(0, 1))
    rng = np.random.default_rng(SEED)
    # a number of somebody's own table of gains belongs to no library
    measures = [
        item for item in runner.MEASURES or runner.BINARY if "label_gain" not in item
    ]
    requested = [
        {**case, "measures": [str(rng.choice(measures)).replace("<k>", str(case["k"]))]}
        for case in getattr(runner, "cases", cases)(SEED, 8 * PAIRS, traits)
        if len(case["qrels"]) >= QUERIES // 4
    ]
    answers, _ = theirs(python, RUNNERS[name], requested)
    rows = [
        (case, measure, number)
        for case, numbers in zip(requested, answers, strict=True)
        for measure, number in numbers.items()
        if isinstance(number, (int, float))
        and 0 < number < 1
        and not _explained(runner, case, measure)
        if _printed(number - _own_rounding(runner))
        == _printed(number + _own_rounding(runner))
    ]
    return rows[:PAIRS]


def _own_rounding(runner: Any) -> float:
    """Return how far a library's own rounding moves its number: gdeval rounds each topic to five decimals."""
    return float(getattr(runner, "WITHIN", 0.0))


def _printed(number: float) -> str:
    return f"{number:.{DIGITS}f}"


def _explained(runner: Any, case: dict[str, Any], measure: str) -> bool:
    """Say whether a library's number is known to be another than its convention's here."""
    return hasattr(runner, "differs") and runner.differs(case, measure) is not None


def _identified(runner: Any, case: dict[str, Any], measure: str, number: float) -> Any:
    qrels, run = tables(case)
    options = getattr(runner, "OPTIONS", {})
    return rankstone.identify(
        qrels, run, _printed(number), _called(runner.LIBRARY, measure), **options
    ).groups


def _called(library: str, measure: str) -> str | None:
    """Return what people call a library's measure: our name with its numbers, or the library's own word."""
    ours = convention(library).read(measure)[0].ours
    numbers = [
        part
        for part in re.findall(r"[(,] ?(\w+=[0-9.]+)(?=[,)])", ours)
        if not part.startswith("rel")
    ]
    cutoff = re.search(r"@\d+", ours)
    text = f"({', '.join(numbers)})" if numbers else ""
    plain = f"{kind(ours)}{text}{cutoff[0] if cutoff else ''}"
    for word in (plain, measure):
        try:
            ReportedMeasure.of(word)
        except rankstone.RankstoneError:
            continue
        return word
    return None
