"""Ranks within queries: Friedman's test and Nemenyi's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rankstone.errors import UsageError
from rankstone.stats import friedman, nemenyi, nemenyi_reach, ranks, two_way
from rankstone.stats.friedman_and_nemenyi import conover, rank_z


def test_f_is_the_analysis_of_variance_of_ranks() -> None:
    """Iman and Davenport's F is the F of systems in a two-way analysis of ranks, ties or not."""
    draw = np.random.default_rng(1)
    for table in (draw.random((20, 5)), draw.integers(0, 4, (20, 5)).astype(float)):
        statistic, by_ranks = friedman(table), two_way(ranks(table))
        assert statistic.f == pytest.approx(by_ranks.f, rel=1e-10)
        assert statistic.p == pytest.approx(by_ranks.p, rel=1e-10)


@pytest.mark.parametrize(
    ("systems", "quantile"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)],
)
def test_the_critical_difference_is_the_published_one(
    systems: int, quantile: float
) -> None:
    """Without ties it is q·sqrt(k(k + 1)/(6n)), with q as tabulated by Demšar (2006)."""
    table, n = np.random.default_rng(2).random((30, systems)), 30

    wanted = quantile * math.sqrt(systems * (systems + 1) / (6 * n))
    assert nemenyi_reach(table) == pytest.approx(wanted, rel=5e-4)


def test_p_is_at_most_alpha_from_the_critical_difference_on() -> None:
    """Nemenyi's p and the interval of the difference of mean ranks draw one line."""
    for seed in range(10):
        table = np.random.default_rng(seed).normal([0.0, 0.3, 0.6, 0.9], 1.0, (30, 4))
        mean = ranks(table).mean(axis=0)
        apart = np.abs(mean[:, None] - mean) > nemenyi_reach(table)
        assert (apart == (nemenyi(table) <= 0.05)).all()


def test_systems_that_tie_everywhere_leave_nothing_to_test() -> None:
    """No ranks differ: p of every pair is 1 and Friedman's test has no number."""
    table = np.ones((6, 3))

    assert nemenyi(table).tolist() == np.ones((3, 3)).tolist()
    assert math.isnan(friedman(table).chi_square)


def test_only_the_order_of_scores_counts() -> None:
    """Any growing function of scores gives the same; rounding makes no order."""
    table = np.random.default_rng(3).random((15, 4))

    assert friedman(table) == friedman(np.exp(5 * table))
    assert ranks(np.array([[0.3, 0.1 + 0.2, 0.5]])).tolist() == [[1.5, 1.5, 3.0]]


@pytest.mark.parametrize("test", [friedman, nemenyi, nemenyi_reach, conover, rank_z])
@pytest.mark.parametrize("shape", [(5, 1), (1, 3), (1, 1), (0, 3), (3, 0)])
def test_one_system_or_query_is_refused(test: Any, shape: tuple[int, int]) -> None:
    """Nothing divides by zero, and one query is never called certain."""
    with pytest.raises(UsageError, match="at least two queries and two systems"):
        test(np.random.default_rng(3).random(shape))
