"""Randomised Tukey HSD, and analysis of variance blocked on queries."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from rankstone.stats import (
    paired_t,
    randomised_tukey,
    randomised_tukeys,
    sign_flips,
    tukey_hsd,
    two_way,
)
from rankstone.stats.sampling_units import Units


def scores(
    seed: int, queries: int = 40, systems: int = 4, measures: int = 1
) -> np.ndarray:
    draw = np.random.default_rng(seed)
    level = draw.random((queries, 1, 1))
    return (
        level
        + 0.2 * draw.random((queries, systems, measures))
        + 0.03 * np.arange(systems)[:, None]
    )


def test_it_is_the_share_of_all_orders() -> None:
    """With three queries of three systems there are 6^3 orders; their share is what p comes to."""
    table = scores(1, queries=3, systems=3)
    orders = [
        table[index, list(order), 0]
        for index in range(3)
        for order in permutations(range(3))
    ]
    every = product(range(6), repeat=3)
    sums = np.array(
        [
            np.sum(
                [orders[index * 6 + pick] for index, pick in enumerate(item)], axis=0
            )
            for item in every
        ]
    )
    largest = np.ptp(sums, axis=1) / 3
    p_values = randomised_tukey(table, shuffles=50_000)

    for count, other in ((0, 1), (0, 2), (1, 2)):
        gap = abs(table[:, count, 0].mean() - table[:, other, 0].mean())
        assert p_values.p[count, other, 0] == pytest.approx(
            (largest >= gap - 1e-12).mean(), abs=0.01
        )


def test_two_systems_are_the_paired_test() -> None:
    """With two systems a change of places is a flip of the sign."""
    table = scores(2, systems=2)
    row = randomised_tukey(table, shuffles=100_000).p[0, 1, 0]
    flips = sign_flips(table[:, 0] - table[:, 1])[0].p

    assert row == pytest.approx(flips, abs=0.01)


def test_gaps_are_differences_of_means() -> None:
    """Row less column; p is symmetric, and 1 on the diagonal."""
    table = scores(3)
    p_values = randomised_tukey(table, shuffles=100)

    assert p_values.gap[0, 2, 0] == pytest.approx(
        table[:, 0].mean() - table[:, 2].mean(), abs=1e-15
    )
    assert np.array_equal(p_values.p, p_values.p.swapaxes(0, 1))
    assert (p_values.p[np.arange(4), np.arange(4)] == 1).all()


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_interval_and_p_agree(alpha: float) -> None:
    """The interval excludes 0 exactly where p is at most alpha."""
    for seed in range(6):
        p_values = randomised_tukey(scores(seed, measures=2), shuffles=999, seed=seed)
        excludes = np.abs(p_values.gap) > p_values.critical(alpha)

        assert np.array_equal(excludes, p_values.p <= alpha)


def test_too_few_shuffles_claim_nothing() -> None:
    """With 9 shuffles no p reaches 0.05, and the interval is without end."""
    p_values = randomised_tukey(scores(1), shuffles=9)

    assert p_values.p.min() >= 0.1
    assert np.isinf(p_values.critical(0.05)).all()


def test_measures_are_one_family() -> None:
    """A measure's p can only grow when another one joins the family; its unit does not matter."""
    table = scores(4, measures=2)
    alone = randomised_tukey(table[:, :, :1], shuffles=4000).p[:, :, 0]
    both = randomised_tukey(table, shuffles=4000).p[:, :, 0]
    scaled = randomised_tukey(table * [1.0, 1000.0], shuffles=4000).p

    assert (both >= alone).all()
    assert scaled[:, :, 0] == pytest.approx(both, abs=1e-12)


def test_families_are_what_each_is_alone() -> None:
    """Families that share their shuffles do not touch each other."""
    rng = np.random.default_rng(3)
    families = [
        (rng.random((12, 4, n)) * size, rng.random((12, n)) + 1)
        for n, size in ((1, 1), (2, 50), (1, 0))
    ]

    together = randomised_tukeys(families, shuffles=500, seed=5)

    for (totals, sizes), row in zip(families, together, strict=True):
        alone = randomised_tukey(totals, sizes, shuffles=500, seed=5)
        assert np.array_equal(alone.p, row.p)
        assert np.array_equal(alone.largest, row.largest)


@pytest.mark.parametrize("systems", [3, 16, 17, 40])
def test_threads_change_no_bit(systems: int) -> None:
    """One thread or four, narrow keys or wide: the same bits."""
    table = scores(5, queries=60, systems=systems)
    first, four = (
        randomised_tukey(table, shuffles=3000, seed=2, threads=threads)
        for threads in (1, 4)
    )

    assert np.array_equal(first.p, four.p)
    assert np.array_equal(first.largest, four.largest)


def test_clusters_change_places_whole() -> None:
    """Units with sizes: gaps are means over queries."""
    table = scores(6, queries=4)
    sizes = np.array([[1.0], [2.0], [3.0], [4.0]])
    p_values = randomised_tukey(table * sizes[:, :, None], sizes, shuffles=100)

    assert p_values.gap[0, 1, 0] == pytest.approx(
        float(((table[:, 0, 0] - table[:, 1, 0]) * sizes[:, 0]).sum() / 10), abs=1e-15
    )


def test_sums_of_squares() -> None:
    """Systems, queries and error make up all there is."""
    table = scores(7)[:, :, 0]
    components = two_way(table)
    total = ((table - table.mean()) ** 2).sum()

    assert (
        components.systems + components.queries + components.residual
        == pytest.approx(total, rel=1e-12)
    )
    assert components.df == (3, 39, 117)


def test_two_systems_anova_and_tukey_are_the_paired_t() -> None:
    """F is t squared; the honestly significant difference of two is no other test."""
    table = scores(8, systems=2)[:, :, 0]
    p = paired_t(Units.from_scores(table).difference(0, 1))

    assert two_way(table).p == pytest.approx(p, rel=1e-10)
    assert tukey_hsd(table)[0, 1] == pytest.approx(p, rel=1e-6)


def test_no_error_to_divide_by() -> None:
    """Systems that differ by the same in every query leave no error: no F, and Tukey's p is 0."""
    table = np.array([[0.25, 0.5], [0.5, 0.75], [0.25, 0.5]])

    assert np.isnan(two_way(table).f)
    assert tukey_hsd(table).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.filterwarnings("error")
def test_one_query_shows_no_difference() -> None:
    p_values = randomised_tukey(np.array([[[0.1], [0.9], [0.4]]]), shuffles=100)
    assert (p_values.p == 1.0).all()
    np.testing.assert_allclose(p_values.gap[1, 0, 0], 0.8)
