"""Intervals that agree with tests: a shift is inside exactly where the test does not reject it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstone.stats import PAIRED, Units, flip_limits, sign_flips
from rankstone.stats.inverted_tests import agreeing, inverted

if TYPE_CHECKING:
    from rankstone._basics import Floats

_NEAR = 1e-7


def _differences(seed: int, n: int) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(0.1, 0.2, (n, 1)) + rng.exponential(0.1, (n, 1))


def _p(test: str, differences: Floats, shift: float) -> float:
    if test == "randomisation":
        return sign_flips(differences - shift)[0].p
    return PAIRED[test](Units.from_scores(differences - shift))


@given(
    st.integers(0, 2**32 - 1),
    # of 18 to 20 units p is exact, and limits are drawn
    st.integers(7, 17) | st.integers(21, 60),
    st.sampled_from(["randomisation", "wilcoxon", "sign", "t"]),
    st.sampled_from([0.05, 0.2]),
)
def test_a_shift_is_inside_where_the_test_keeps_it(
    seed: int, n: int, test: str, alpha: float
) -> None:
    """Just inside both limits p is above alpha, just outside at most alpha."""
    differences = _differences(seed, n)
    [(low, high)] = inverted(test, Units.from_scores(differences), alpha)

    for limit, outwards in ((low, -1), (high, 1)):
        assert _p(test, differences, limit - outwards * _NEAR) > alpha
        assert _p(test, differences, limit + outwards * _NEAR) <= alpha


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01, 1e-4])
@pytest.mark.parametrize("n", [7, 16, 49, 50, 51, 52, 75, 120])
def test_signed_ranks_are_inverted_exactly(n: int, alpha: float) -> None:
    """On both sides of the number of units up to which SciPy's distribution of signed ranks is exact."""
    differences = _differences(n, n)
    [(low, high)] = inverted("wilcoxon", Units.from_scores(differences), alpha)
    if 2 / 2**n > alpha:
        assert (low, high) == (-np.inf, np.inf)
        return
    for limit, outwards in ((low, -1), (high, 1)):
        assert _p("wilcoxon", differences, limit - outwards * _NEAR) > alpha
        assert _p("wilcoxon", differences, limit + outwards * _NEAR) <= alpha


@pytest.mark.parametrize(
    ("n", "alpha", "finite"),
    # six signs have 64 patterns; the normal p of 51 units on one side is 5.2e-10
    [(6, 2 / 64, True), (6, 1.99 / 64, False), (51, 1e-9, True), (51, 1e-12, False)],
)
def test_signed_ranks_may_reject_no_shift(n: int, alpha: float, finite: bool) -> None:  # noqa: FBT001 - of the case
    """Where even differences all on one side have a p above alpha, limits are infinite; at alpha they are not."""
    [ends] = inverted("wilcoxon", Units.from_scores(_differences(1, n)), alpha)
    assert bool(np.isfinite(ends).all()) == finite
    assert bool(np.isinf(ends).all()) != finite


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_limits_are_those_of_all_ways(seed: int, n: int) -> None:
    """By hand: the shifts for which at most a share alpha of all sign patterns is as extreme, with sizes."""
    rng = np.random.default_rng(seed)
    total = rng.normal(0.2, 1, n)
    size = rng.integers(1, 4, n).astype(np.float64)
    low, high = flip_limits(Units(total[:, None], size), 0.05)

    def p(shift: float) -> float:
        between = total - shift * size
        signs = np.array(list(product([1, -1], repeat=n)))
        sums = np.abs(signs @ between)
        return float((sums >= abs(between.sum()) * (1 - 1e-12)).mean())

    if 2 / 2**n > 0.05:
        assert low[0] == -np.inf
        assert high[0] == np.inf
        return
    for limit, outwards in ((low[0], -1), (high[0], 1)):
        assert p(limit - outwards * _NEAR) > 0.05
        assert p(limit + outwards * _NEAR) <= 0.05


def test_columns_and_threads_change_no_bit() -> None:
    """A column's limits do not depend on the others, nor on the number of threads."""
    differences = np.random.default_rng(2).normal(size=(40, 5))
    together = flip_limits(Units.from_scores(differences), flips=5000)
    alone = flip_limits(Units.from_scores(differences[:, 2:3]), flips=5000, threads=1)

    assert [side[2] for side in together] == [side[0] for side in alone]


@pytest.mark.parametrize(
    ("n", "share", "wins"),
    [(50, 0.5, 0.9), (30, 0.3, 0.95), (200, 0.05, 0.8), (100, 0.5, 0.5)],
)
def test_mcnemars_interval_covers_clear_differences(
    n: int, share: float, wins: float
) -> None:
    """How many queries differ is random, too: limits for those that do would cover .57 of the second world."""
    shares = [share * wins, 1 - share, share * (1 - wins)]
    draw = np.random.default_rng(4)
    differences = draw.choice([1.0, 0.0, -1.0], (n, 400), p=shares)
    ends = np.array(
        inverted("mcnemar", Units.from_scores(differences), 0.05, flips=2000)
    )
    truth = shares[0] - shares[2]
    covered = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    assert covered.mean() >= 0.92


@pytest.mark.parametrize(
    ("ends", "value", "rejected", "expected"),
    [
        ((0.1, 0.3), 0.2, True, (0.1, 0.3)),
        ((-0.001, 0.3), 0.2, True, (0.0, 0.3)),
        ((-0.3, 0.001), -0.2, True, (-0.3, 0.0)),
        ((0.001, 0.3), 0.2, False, (0.0, 0.3)),
        ((-0.3, -0.001), -0.2, False, (-0.3, 0.0)),
        ((-np.inf, np.inf), -0.2, True, (-np.inf, 0.0)),
    ],
)
def test_limits_agree_with_p(
    ends: tuple[float, float],
    value: float,
    rejected: bool,  # noqa: FBT001 - a parameter of the case
    expected: tuple[float, float],
) -> None:
    """P decides; a limit on the other side of 0 becomes 0."""
    assert agreeing(ends, value, rejected=rejected) == expected


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_medians_are_of_the_queries_that_differ(test: str) -> None:
    """Differences of 0 are left out of p, and of the interval: many of them would make it a point at 0."""
    draw = np.random.default_rng(3)
    moved = draw.normal(0.1, 0.2, (12, 1))
    equal = np.zeros((30, 1))
    both = Units.from_scores(np.concatenate([moved, equal]))
    assert inverted(test, both, 0.05) == inverted(test, Units.from_scores(moved), 0.05)
    assert PAIRED[test](both) == PAIRED[test](Units.from_scores(moved))
    assert inverted(test, Units.from_scores(equal), 0.05) == [(0.0, 0.0)]
