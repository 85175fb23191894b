"""The script that changes one place at a time: what it changes, in which order, and what it leaves alone."""

from __future__ import annotations

import ast
import json
from itertools import chain
from typing import TYPE_CHECKING

import coverage
import pytest
from tests.mutation.mutants import (
    KINDS,
    ROOMS,
    drawn,
    files_of,
    mutants_of,
    mutants_of_file,
    named,
    reasons,
)
from tests.mutation.reach import Reach
from tests.quick import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = '''
"""A text of 3 words."""
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ast

LIMIT: Final[int] = 4
__all__ = ["at_most"]


def at_most(values: list[int], limit: int = 2, *, strict: bool = False) -> bool:
    """Return 1 text."""
    assert limit > 0
    if strict and limit < 0.5:
        return not any(value < limit for value in values if value)
    return f"{limit + 1}" == "3"
'''


def changes(kind: str) -> set[tuple[str, str]]:
    return {
        (mutant.old, mutant.new)
        for mutant in mutants_of("m.py", SOURCE)
        if mutant.kind == kind
    }


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "comparison",
            {
                ("limit < 0.5", "(limit >= 0.5)"),
                ("value < limit", "(value >= limit)"),
                ('f"{limit + 1}" == "3"', "(f'{limit + 1}' != '3')"),
            },
        ),
        (
            "boundary",
            {("limit < 0.5", "(limit <= 0.5)"), ("value < limit", "(value <= limit)")},
        ),
        ("plus or minus one", {("4", "(5)"), ("4", "(3)"), ("2", "(3)"), ("2", "(1)")}),
        ("constant", {("4", "0"), ("2", "0"), ("0.5", "0.75"), ("False", "True")}),
        (
            "and or",
            {
                ("strict and limit < 0.5", "(strict or limit < 0.5)"),
                (
                    "not any(value < limit for value in values if value)",
                    "(any((value < limit for value in values if value)))",
                ),
                ("any", "all"),
            },
        ),
        (
            "dropped branch",
            {
                ("strict and limit < 0.5", "False"),
                ("strict and limit < 0.5", "True"),
                ("value", "True"),
            },
        ),
    ],
)
def test_what_is_changed(kind: str, expected: set[tuple[str, str]]) -> None:
    """Texts, types, imports for types, assertions and what formatted texts hold stay as they are."""
    assert changes(kind) == expected


def test_a_change_is_one_change() -> None:
    """The source with it can be parsed, and differs in one place; equal changes are distinguished."""
    mutants = mutants_of("m.py", SOURCE)
    assert {mutant.kind for mutant in mutants} == set(KINDS)
    assert len({mutant.key for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        changed = mutant.applied(SOURCE.encode()).decode()
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE)), mutant
        assert len(changed) == len(SOURCE) - len(mutant.old) + len(mutant.new)


def test_the_draw_is_repeatable_and_has_all_kinds() -> None:
    """A seed gives an order; the first of it are the draw of fewer; another seed gives another."""
    every = list(chain.from_iterable(map(mutants_of_file, files_of(ROOMS[:1]))))
    order = drawn(every, 3)
    assert order == drawn(every[::-1][::-1], 3)
    assert order != drawn(every, 4)
    assert sorted(map(str, order)) == sorted(map(str, every))
    assert [mutant.kind for mutant in order[:6]] == list(KINDS)


def test_listed_changes_are_there() -> None:
    """The code that named and equivalent changes are about is still there, and each has its reason."""
    assert len(named()) >= 15
    for mutant in named():
        ast.parse(mutant.applied((ROOT / mutant.path).read_bytes()))
    for key, why in reasons().items():
        assert key in {mutant.key for mutant in mutants_of_file(key[0])}, key
        assert len(why.split()) > 5


FAST, SLOW = "tests/rows.py::test", "tests/spine.py::test"


def test_tests_that_reach_a_line_run_the_shortest_first(tmp_path: Path) -> None:
    """Tests that failed are left out; of a statement on several lines the first counts."""
    data = coverage.CoverageData(basename=str(tmp_path / "reach-x.coverage"))
    failed = "tests/quick.py::failed"
    for test, lines in ((SLOW, [3, 4]), (FAST, [4]), (failed, [4]), ("", [1])):
        data.set_context(test)
        data.add_lines({"/home/src/rankstone/a.py": lines})
    data.write()
    seconds = {SLOW: 2.0, FAST: 1.0}
    (tmp_path / "reach-x.json").write_text(json.dumps(seconds), encoding="utf-8")

    reach = Reach(tmp_path)
    path = "src/rankstone/a.py"
    assert reach.tests(path, 4, 4, order=len) == [FAST, SLOW]
    assert reach.tests(path, 4, 4, order=lambda file: file == FAST[:-6]) == [SLOW, FAST]
    assert reach.tests(path, 3, 3, order=len) == [SLOW]
    assert reach.tests(path, 6, 7, order=len) == [FAST, SLOW]
    assert reach.tests("src/rankstone/b.py", 4, 4, order=len) == []
    assert reach.tests(path, 1, 1, order=len) == []
    assert Reach(tmp_path / "none").tests(path, 4, 4, order=len) == []
