"""Shares and their differences: published examples, other libraries, and what must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.rows import each

from rankstone.errors import BadOption
from rankstone.stats import Shared, proportion_difference, wilson

COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, st.floats(0.5, 0.999))
def test_wilson_is_scipys(share: tuple[int, int], confidence: float) -> None:
    """Both ends are those of SciPy, to rounding."""
    k, n = share
    interval = stats.binomtest(k, n).proportion_ci(confidence, method="wilson")
    low, high = wilson(k, n, confidence)

    assert float(low) == pytest.approx(interval.low, abs=1e-12)
    assert float(high) == pytest.approx(interval.high, abs=1e-12)


def test_wilson_of_no_trials_is_nothing() -> None:
    """Of no trials nothing is known; of none and of all the ends are exact."""
    low, high = wilson([0, 0, 7], [0, 7, 7])

    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[2]) == (0, 1)
    with pytest.raises(BadOption, match="confidence=1"):
        wilson(1, 2, 1)


@each(
    ("values", "other", "low", "high"),
    [
        # Newcombe (1998), table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombes_examples(
    values: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    """The intervals of his table, to their last digit."""
    difference = proportion_difference(values, other)

    assert (round(difference.low, 4), round(difference.high, 4)) == (low, high)


@given(COUNTS, COUNTS)
def test_apart_it_is_pearsons(values: tuple[int, int], other: tuple[int, int]) -> None:
    """Of people apart, p is that of χ² without correction; turned round, the difference turns its sign."""
    (a, n), (b, m) = values, other
    difference, turned = (
        proportion_difference(values, other),
        proportion_difference(other, values),
    )

    assert difference.value == -turned.value == a / n - b / m
    assert (difference.low, difference.high) == (-turned.high, -turned.low)
    assert difference.low <= difference.value <= difference.high
    if 0 < a + b < n + m:
        table = [[a, n - a], [b, m - b]]
        assert difference.p == pytest.approx(
            stats.chi2_contingency(table, correction=False).pvalue, abs=1e-12
        )
    else:
        assert difference.p == 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_of_the_same_people_it_is_mcnemars(pairs: list[tuple[bool, bool]]) -> None:
    """Everybody counts in both: z² is (b − c)² / (b + c)."""
    n, first, other = len(pairs), sum(x for x, _ in pairs), sum(y for _, y in pairs)
    shared = Shared(n, first, other, sum(x and y for x, y in pairs))
    difference = proportion_difference((first, n), (other, n), shared)
    b, c = (
        sum(pair == way for pair in pairs) for way in ((True, False), (False, True))
    )

    if b + c:
        assert difference.p == pytest.approx(
            stats.chi2.sf((b - c) ** 2 / (b + c), 1), abs=1e-9
        )
    else:
        assert (difference.p, difference.value) == (1, 0)
    assert difference.low <= difference.value <= difference.high


def test_a_cluster_makes_the_interval_narrower_where_both_agree() -> None:
    """People who do the same in both segments say little about a difference."""
    apart = proportion_difference((50, 100), (40, 100))
    alike = proportion_difference((50, 100), (40, 100), Shared(100, 50, 40, 40))

    assert alike.high - alike.low < apart.high - apart.low
    assert alike.p < apart.p


def test_the_intervals_hold() -> None:
    """Of many samples, half of whose people count in both, nearly 95 in 100 intervals hold the difference."""
    rng = np.random.default_rng(5)
    n, both, held = 120, 60, 0
    for _ in range(600):
        lean = rng.random(n + both) < 0.5  # who leans one way does so in both segments
        came = rng.random((2, n + both)) < np.where(lean, 0.6, 0.2) + np.array(
            [[0.1], [0.0]]
        )
        first, other = came[0, :n], came[1, both:]
        shared = Shared(
            n - both,
            first[both:].sum(),
            other[: n - both].sum(),
            (first[both:] & other[: n - both]).sum(),
        )
        difference = proportion_difference((first.sum(), n), (other.sum(), n), shared)
        held += difference.low <= 0.1 <= difference.high
    assert 0.92 < held / 600 < 0.98


def test_of_no_trials_nothing_is_known() -> None:
    """Without people in one of them there is no difference."""
    difference = proportion_difference((0, 0), (1, 2))

    assert all(
        math.isnan(value)
        for value in (difference.value, difference.low, difference.high, difference.p)
    )
