"""What `make quick` takes to be near to a change."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path

import pytest
from tests.quick import ROOT, Imports

import rankstone

GRAPH = cache(Imports)


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ("tests/measures/test_cards.py", "tests/measures/test_cards.py"),
        ("tests/golden/classic.yaml", "tests/golden/test_examples.py"),
        ("README.md", "tests/project/test_documents.py"),
        ("tests/rows.py", "tests/project/test_rows_of_tables.py"),
        ("examples/ci/rankstone.toml", "tests/cli/test_gate_command.py"),
    ],
)
def test_a_change_is_noticed(changed: str, first: str) -> None:
    """Tests, their data and helpers, pages and examples lead to the tests that read them."""
    assert first in GRAPH().nearest([changed])[:60]


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ("src/rankstone/io/databases.py", "tests/io/test_databases.py"),
        ("src/rankstone/cli/gate_command.py", "tests/cli/test_gate_command.py"),
        ("src/rankstone/stats/max_t.py", "tests/stats/test_max_t.py"),
    ],
)
def test_the_tests_of_a_room_come_first(changed: str, first: str) -> None:
    """Of a room's tests the one that has the name of the changed file comes first."""
    assert (ROOT / changed).is_file()
    nearest = GRAPH().nearest([changed])
    rooms = [Path(path).parts[1] for path in nearest]
    room = Path(first).parts[1]

    assert nearest[0] == first
    assert set(rooms[: rooms.count(room)]) == {room}


def test_a_measure_leads_to_the_laws() -> None:
    """A module is reached through names that a package gives on, lazily or not; so is one that is gone."""
    path = Path(inspect.getfile(rankstone.AP)).relative_to(ROOT)
    for changed in (path, path.with_name("gone.py")):
        assert {"tests/laws/test_laws.py", "tests/measures/test_cards.py"} <= set(
            GRAPH().nearest([str(changed)])
        )


def test_nothing_leads_nowhere() -> None:
    """Without a change there is nothing near; the core runs alone."""
    assert GRAPH().nearest([]) == []
