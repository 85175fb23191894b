"""A few of the cases that ``make fuzz`` runs by the ten thousand."""

from __future__ import annotations

import os

import pytest
from tests.fuzz.fuzzing import KINDS, run_case

#: cases of each kind, of which ``make fuzz`` runs many more
CASES = {"measures": 300, "files": 150, "same": 12}


@pytest.mark.parametrize("kind", KINDS)
def test_what_strangers_write_is_read_or_refused(kind: str) -> None:
    """No traceback, no hang, no refusal without a name, no other number where only the form changed."""
    first = int(os.environ.get("RANKSTONE_SEED", "0"))
    values = [run_case(kind, first + index) for index in range(CASES[kind])]
    assert [case for case in values if case is not None] == []
