"""Sums in parts are what fsum says of the whole."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankstone.measures.core.aggregation import ExactSum, exact_sum

NUMBERS = st.lists(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300),
    max_size=40,
)


@given(NUMBERS, st.integers(0, 40), st.randoms())
def test_parts_are_the_whole(numbers: list[float], cut: int, random: object) -> None:
    """Cut anywhere, added in any order, written down in between: the same bits."""
    first, second = ExactSum(), ExactSum()
    first.add(np.array(numbers[:cut]))
    second.add(np.array(numbers[cut:]))
    second.merge(ExactSum.from_dict(json.loads(json.dumps(first.to_dict()))))
    random.shuffle(numbers)  # type: ignore[attr-defined]
    assert second.value() == math.fsum(numbers)


def test_many_small_ones() -> None:
    """A million tenths, and the smallest numbers there are."""
    tenths = np.full(1_000_000, 0.1)
    total = ExactSum()
    total.add(tenths)
    assert total.value() == math.fsum(tenths.tolist())

    least = ExactSum()
    least.add(np.full(3, 5e-324))
    assert least.value() == 1.5e-323
    assert ExactSum().value() == 0.0


@given(st.integers(0, 3), st.integers(0, 5000), st.integers(-300, 300))
def test_of_an_array(seed: int, count: int, exponent: int) -> None:
    """However many there are."""
    values = np.random.default_rng(seed).normal(size=count) * 10.0**exponent
    assert exact_sum(values) == math.fsum(values.tolist())


def test_of_what_has_no_end() -> None:
    """Infinity stays infinity."""
    assert exact_sum(np.array([1.0] * 5000 + [math.inf])) == math.inf
