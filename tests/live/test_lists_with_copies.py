"""The nine reported lists with copies: what each tool prints for them is what its convention does."""

from __future__ import annotations

from typing import Any

import pytest
from tests.examples import example
from tests.live.environments import RUNNERS, interpreter
from tests.live.library_answers import ours, same, theirs
from tests.live.running import load
from tests.live.test_live import LIBRARIES

pytestmark = pytest.mark.live

COPIES = example("rag/duplicates.py")
TOOLS = {
    name: load(str(RUNNERS[name])).LIBRARY
    for name in LIBRARIES
    if load(str(RUNNERS[name])).LIBRARY in COPIES.TOOLS and name != "ragas_texts"
}


@pytest.mark.parametrize("name", TOOLS)
def test_numbers_of_lists_with_copies(name: str) -> None:
    runner, python = load(str(RUNNERS[name])), interpreter(name)
    if python is None:
        pytest.skip(
            f"{name} has no environment: python tests/live/environments.py {name}"
        )
    cases: list[dict[str, Any]] = []
    for case in COPIES.CASES:
        qrels, run = COPIES.tables(case)
        listed = {"q": [[doc, -position] for position, doc in enumerate(run["q"])]}
        cases.append(
            {
                "qrels": qrels,
                "run": listed,
                "measures": COPIES.TOOLS[TOOLS[name]].split(),
            }
        )
    answers, _ = theirs(python, RUNNERS[name], cases)
    printed = COPIES.numbers(TOOLS[name])
    for index, (case, numbers) in enumerate(zip(cases, answers, strict=True)):
        mine = ours(runner, case)
        for metric, number in numbers.items():
            assert same(mine[metric], number, 1e-9), (name, metric, index)
            assert printed[metric][index] == pytest.approx(number, abs=1e-9)
