"""Ranks within queries: Friedman's test and Nemenyi's."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from rankstone.errors import UsageError
from rankstone.stats import friedman, nemenyi, nemenyi_reach, ranks, two_way
from rankstone.stats.friedman_and_nemenyi import conover, rank_z

if TYPE_CHECKING:
    from collections.abc import Iterable


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


@pytest.mark.parametrize(
    ("orders", "chi_square", "p"),
    [
        (["123"] * 2, 4.0, 0.167),
        (["123"] * 3, 6.0, 0.028),
        (["123", "123", "132"], 14 / 3, 0.194),
        (["123", "123", "123", "132"], 6.5, 0.042),
        (["123"] * 4, 8.0, 0.0046),
        (["1234"] * 2, 6.0, 0.042),
        (["1234", "1243"], 5.4, 0.167),
        (["1234", "1234", "1243"], 8.2, 0.017),
        (["1234"] * 3, 9.0, 0.0017),
    ],
)
def test_few_queries_have_the_exact_p(
    orders: list[str], chi_square: float, p: float
) -> None:
    """The table of Friedman (1937), as in Siegel, Nonparametric Statistics, 1956, table N."""
    result = friedman(np.array([[float(rank) for rank in order] for order in orders]))

    assert result.method == "exact"
    assert result.chi_square == pytest.approx(chi_square)
    assert result.p == pytest.approx(p, abs=6e-4 if p > 0.01 else 6e-5)


@pytest.mark.parametrize("seed", range(6))
def test_the_exact_p_is_the_share_of_all_orders(seed: int) -> None:
    """All orders of three queries are looked at, with equal scores among them."""
    draw = np.random.default_rng(seed)
    table = draw.integers(0, 4, (3, 4)).astype(float)
    places = ranks(table)
    spread = np.ptp(places.sum(axis=0))
    assert spread > 0

    def unequal(rows: Iterable[tuple[float, ...]]) -> float:
        return float((np.sum(list(rows), axis=0) ** 2).sum())

    observed = unequal(map(tuple, places))
    drawn = [unequal(rows) for rows in product(*map(permutations, places))]
    share = sum(value >= observed - 1e-9 for value in drawn) / len(drawn)
    assert friedman(table).p == pytest.approx(share, rel=1e-12)


def test_two_systems_have_the_p_of_the_sign_test() -> None:
    """Friedman's test of two systems is the sign test."""
    table = np.array([[0.0, 1.0]] * 9 + [[1.0, 0.0]] * 2)
    assert friedman(table).p == pytest.approx(stats.binomtest(2, 11).pvalue)


def test_queries_that_all_agree_have_no_p_of_zero() -> None:
    """However many they are: all orders are equal by chance once in (m!)^(n - 1)."""
    table = np.tile(np.arange(5.0), (4, 1))
    assert friedman(table).p == pytest.approx(120.0**-3)
    assert friedman(table[:, [0, 0, 1, 2, 2]]).p == pytest.approx(30.0**-3)


@pytest.mark.parametrize("test", [friedman, nemenyi, nemenyi_reach, conover, rank_z])
@pytest.mark.parametrize("shape", [(5, 1), (1, 3), (1, 1), (0, 3), (3, 0)])
def test_one_system_or_query_is_refused(test: Any, shape: tuple[int, int]) -> None:
    """Nothing divides by zero, and one query is never called certain."""
    with pytest.raises(UsageError, match="at least two queries and two systems"):
        test(np.random.default_rng(3).random(shape))
