"""Variance components: recovered on average, and coefficients by their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from rankstone.stats.reliability import Reliability
from rankstone.stats.two_way_anova import two_way
from rankstone.stats.variance_components import variance_components


def test_two_factors_are_the_analysis_of_blocks() -> None:
    """Sums of squares, F and p of systems blocked on queries."""
    scores = np.random.default_rng(1).random((7, 4))
    components = two_way(scores)
    system, query, rest = variance_components(scores.T, ["system", "query"])

    assert (system.squares, query.squares, rest.squares) == pytest.approx(
        (components.systems, components.queries, components.residual)
    )
    assert (system.f, system.p) == pytest.approx((components.f, components.p))
    assert system.variance == pytest.approx((system.mean_square - rest.mean_square) / 7)


def test_components_of_three_factors_are_unbiased() -> None:
    """Crossed factors and all their interactions."""
    rng = np.random.default_rng(2)
    rows = []
    for _ in range(200):
        first, second, third = (
            rng.normal(size=size) for size in ((10, 1, 1), (1, 9, 1), (1, 1, 4))
        )
        table = (
            first
            + 0.7 * second
            + 0.5 * third
            + 0.8 * rng.normal(size=(10, 9, 1))
            + 0.4 * rng.normal(size=(10, 9, 4))
        )
        rows.append(
            [source.variance for source in variance_components(table, ["a", "b", "c"])]
        )

    assert np.mean(rows, axis=0) == pytest.approx(
        [1, 0.49, 0.25, 0.64, 0, 0, 0.16], abs=0.1
    )


def test_reliability_by_its_formula() -> None:
    """Eρ² is 1 - 1/F of data sets' means; the numbers needed reach their targets."""
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(10, 12)) + rng.normal(size=12) + rng.normal(size=(10, 1))
    result, components = Reliability.from_means(scores), two_way(scores)
    low, high = result.interval()

    assert result.coefficient() == pytest.approx(1 - 1 / components.f)
    assert low < result.coefficient() < high
    assert result.coefficient(absolute=True) < result.coefficient()
    for absolute in (False, True):
        needed = result.datasets_needed(0.95, absolute=absolute)
        assert needed is not None
        assert result.coefficient(datasets=needed, absolute=absolute) >= 0.95
        assert result.coefficient(datasets=needed - 1, absolute=absolute) < 0.95
