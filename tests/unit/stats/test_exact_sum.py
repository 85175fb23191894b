"""Sums in parts are what fsum says of the whole."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankstone.stats import ExactSum

NUMBERS = st.lists(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300), max_size=40
)


@given(NUMBERS, st.integers(0, 40), st.randoms())
def test_parts_are_the_whole(numbers: list[float], cut: int, random: object) -> None:
    """Cut anywhere, added in any order, written down in between: the same bits."""
    first, second = ExactSum(), ExactSum()
    first.add(np.array(numbers[:cut]))
    second.add(np.array(numbers[cut:]))
    second.merge(ExactSum.read(json.loads(json.dumps(first.told()))))
    random.shuffle(numbers)  # type: ignore[attr-defined]
    assert second.value() == math.fsum(numbers)


def test_many_small_ones() -> None:
    """A million tenths, and the smallest numbers there are."""
    tenths = np.full(1_000_000, 0.1)
    found = ExactSum()
    found.add(tenths)
    assert found.value() == math.fsum(tenths.tolist())

    least = ExactSum()
    least.add(np.full(3, 5e-324))
    assert least.value() == 1.5e-323
    assert ExactSum().value() == 0.0
