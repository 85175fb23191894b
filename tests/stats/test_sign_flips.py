"""The paired randomisation test."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankstone.stats import sign_flips


def every_way(differences: list[float]) -> float:
    """Return p by writing down every way the signs can fall."""
    observed = abs(sum(differences))
    signs = list(product((1, -1), repeat=len(differences)))
    sums = [
        abs(sum(s * d for s, d in zip(sign, differences, strict=True)))
        for sign in signs
    ]
    return sum(total >= observed - 1e-9 for total in sums) / len(signs)


@pytest.mark.parametrize(
    "differences",
    [
        [0.5],
        [0.1, 0.2, 0.4],
        [0.1, -0.2, 0.3, 0.3],
        [0.25, 0.25, -0.25, 0.0, 1.0, 0.125],
    ],
)
def test_few_queries_are_exact(differences: list[float]) -> None:
    """Up to 20 differences p is the share of all 2^n ways."""
    flip = sign_flips(np.array(differences)[:, None])[0]

    assert flip.exact
    assert flip.p == every_way(differences)


def test_differences_of_zero_cost_nothing() -> None:
    """Queries in which nothing differs leave p as it is, and do not count towards the 20."""
    draw = np.random.default_rng(1).normal(0.1, 0.2, 18)
    alone = sign_flips(draw[:, None])[0]
    among = sign_flips(np.concatenate([draw, np.zeros(500)])[:, None])[0]

    assert among == alone


def test_no_difference_at_all() -> None:
    """Where nothing differs p is 1."""
    assert sign_flips(np.zeros((30, 1)))[0].p == 1.0


def test_rounding_is_no_difference() -> None:
    """0.1 + 0.2 and 0.3 tie: what rounding makes of sums decides nothing."""
    few = [0.1, 0.2, -0.3]  # its sum is 5.6e-17, and every way is as extreme as 0
    many = np.tile(few, 10)[:, None]

    assert sign_flips(np.array(few)[:, None])[0].p == 1.0
    assert sign_flips(many, flips=500)[0].p == 1.0


def test_no_p_is_zero() -> None:
    """The observed signs are one of the ways: with B flips p is at least 1 / (B + 1)."""
    flip = sign_flips(np.ones((60, 1)), flips=999)[0]

    assert flip.p == 1 / 1000
    assert not flip.exact


def test_sampled_flips_meet_the_exact_p() -> None:
    """With 20 differences both roads exist; they differ by chance only."""
    draw = np.random.default_rng(4).normal(0.05, 0.2, 20)
    exact = sign_flips(draw[:, None])[0].p
    sampled = sign_flips(np.concatenate([draw, [1e-9]])[:, None], flips=100_000)[0]

    assert not sampled.exact
    assert sampled.p == pytest.approx(
        exact, abs=5 * (exact * (1 - exact) / 100_000) ** 0.5
    )


def test_columns_do_not_touch_each_other() -> None:
    """A column's p has the same bits whatever stands beside it."""
    draw = np.random.default_rng(5).normal(0.02, 0.2, (70, 3))
    together = sign_flips(draw, flips=5000, seed=9)

    assert together == [
        sign_flips(draw[:, [index]], flips=5000, seed=9)[0] for index in range(3)
    ]


@pytest.mark.parametrize(("queries", "digits"), [(12, 1), (40, 1), (70, 16), (33, 2)])
def test_pairs_of_systems_are_what_their_differences_are(
    queries: int, digits: int
) -> None:
    """A pair's p is that of its column of differences, exact or drawn, ties and near-duplicates included."""
    draw = np.random.default_rng(8).random((queries, 7))
    draw[:, 1] = draw[:, 0] + 1e-7 * draw[:, 2]
    scores = draw.round(digits)
    scores[:, 3] = scores[:, 4]
    pairs = np.array(
        [(index, other) for other in range(7) for index in range(other + 1, 7)]
    )
    alone = sign_flips(
        scores[:, pairs[:, 0]] - scores[:, pairs[:, 1]], flips=5000, seed=2
    )

    assert sign_flips(scores, pairs=pairs, flips=5000, seed=2) == alone
    turned = pairs[::-1, ::-1]
    assert (
        sign_flips(scores, pairs=turned, flips=5000, seed=2, threads=3) == alone[::-1]
    )


def test_order_of_systems_changes_no_bit() -> None:
    """Columns in another order give the same p for the same pair."""
    scores = np.random.default_rng(9).random((50, 6))
    order = np.array([3, 0, 5, 1, 4, 2])
    pairs = np.array(
        [(index, other) for other in range(6) for index in range(other + 1, 6)]
    )
    p_value = sign_flips(scores, pairs=pairs, flips=3000)

    assert (
        sign_flips(scores[:, np.argsort(order)], pairs=order[pairs], flips=3000)
        == p_value
    )


def test_threads_change_no_bit() -> None:
    """One thread or five: the same p, and another seed gives another."""
    draw = np.random.default_rng(6).normal(0.02, 0.2, (300, 2))
    p_values = [
        sign_flips(draw, flips=30_000, seed=3, threads=threads) for threads in (1, 2, 5)
    ]

    assert p_values[0] == p_values[1] == p_values[2]
    assert p_values[0] != sign_flips(draw, flips=30_000, seed=4)


def test_size_of_the_test() -> None:
    """When nothing differs, p is at most 0.05 in about one case of twenty."""
    draw = np.random.default_rng(7).normal(0, 1, (40, 2000))
    p = np.array([flip.p for flip in sign_flips(draw, flips=1000)])

    assert (p <= 0.05).mean() == pytest.approx(
        0.05, abs=4 * (0.05 * 0.95 / 2000) ** 0.5
    )
