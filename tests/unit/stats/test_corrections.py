"""Corrections for several questions at once: what they take."""

from __future__ import annotations

import math

import pytest

from rankstone.errors import BadValue
from rankstone.stats import CORRECTIONS, adjusted, family_level


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1, math.inf])
def test_what_is_no_p_value_is_refused(correction: str, bad: float) -> None:
    """Every correction names the first number that is no p-value; none passes it on as an answer."""
    for question in (adjusted, family_level):
        with pytest.raises(BadValue, match=r"p\[1\] is no p-value") as caught:
            question([0.2, bad, 0.4], correction)
        assert f"given:    {bad:.6g}" in str(caught.value)


@pytest.mark.parametrize("bad", [0.5, [[0.1], [0.2]], ["a"]])
def test_p_values_are_one_row_of_numbers(bad: object) -> None:
    """A single number, a table and texts are refused with what was expected."""
    with pytest.raises(BadValue, match="expected: "):
        adjusted(bad)  # type: ignore[arg-type]
