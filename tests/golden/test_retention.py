"""Worked examples of retention: every number of them, as formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from tests.golden.worked import calculate, counted, load
from tests.rows import each

if TYPE_CHECKING:
    from tests.golden.worked import Example

_ROWS: Final = [
    (example, {"days": example.get("days", "1,3"), **row})
    for example in [
        *load("retention.yaml"),
        *(example for example in load("classic.yaml")["examples"] if "log" in example),
    ]
    for row in example["counted"]
]


@each(("example", "row"), _ROWS)
def test_a_worked_example(example: Example, row: Example) -> None:
    """What is counted is the formula's value, or nothing where it is unknown."""
    result = counted(example["log"], row)

    if row["value"] is None:
        assert result is None
    else:
        assert result == pytest.approx(calculate(row["value"]), rel=1e-7, abs=0)
