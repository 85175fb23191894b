"""Agreement of orders and ratios of effects: against SciPy and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rankstone.stats.effect_ratios import effect_ratio, relative_change
from rankstone.stats.order_agreement import _signs, order_agreement, taus


def test_tau_is_that_of_scipy() -> None:
    """With ties, without, and where all is equal."""
    rng = np.random.default_rng(1)
    first, other = rng.integers(0, 6, (40, 9)) / 7, rng.integers(0, 6, (40, 9)) / 7
    expected = [
        stats.kendalltau(*pair).statistic for pair in zip(first, other, strict=True)
    ]
    assert taus(first, other) == pytest.approx(expected, abs=1e-12)
    assert math.isnan(taus(np.ones((1, 3)), np.ones((1, 3)))[0])


def test_rounding_is_a_tie() -> None:
    """Means that differ in the last bit are equal; the largest mean says how much rounding is."""
    for gap, sign in ((1e-12, 0.0), (2e-12, 1.0)):
        assert _signs(np.array([[1.0, 0.0, gap]]))[0, 2, 1] == sign
    assert math.isnan(taus(np.array([[0.1 + 0.2, 0.3]]), np.array([[1.0, 2.0]]))[0])


def test_the_interval_depends_on_the_seed_and_holds_the_observed_order() -> None:
    """The same bits for a seed; both ends in range; lower with fewer queries."""
    rng = np.random.default_rng(2)
    true = rng.normal(0, 0.1, 20)
    single, other = (true + rng.normal(0, 0.2, (50, 20)) for _ in range(2))
    first, again = (
        order_agreement(single, other, seed=3),
        order_agreement(single, other, seed=3),
    )
    assert (first.low, first.high) == (again.low, again.high)
    assert -1 <= first.low <= first.tau <= first.high <= 1
    few = order_agreement(single[:10], other[:10])
    assert few.low < first.low
    apart = order_agreement(single, other[:30], paired=False)
    assert apart.n == 30
    assert apart.low < apart.high


def test_an_interval_is_never_narrower_than_a_step() -> None:
    """One order on every query: a pair might yet change places; both ends are values that τ can have."""
    order = np.arange(6.0) + np.linspace(0, 0.3, 9)[:, None]
    for other in (order**2, order[:, ::-1]):
        agreement = order_agreement(order, other)
        assert abs(agreement.tau) == 1
        assert agreement.high - agreement.low == pytest.approx(2 / 15)
    noisy = order + np.random.default_rng(3).normal(0, 1.5, order.shape)
    agreement = order_agreement(order, noisy)
    assert agreement.low <= agreement.tau - 2 / 15 + 1e-12
    for end in (agreement.low, agreement.high):
        assert (1 - end) * 15 / 2 == pytest.approx(round((1 - end) * 15 / 2))


def test_the_same_scores_have_the_same_order() -> None:
    """That is certain, whatever other queries would show."""
    scores = np.random.default_rng(3).random((9, 6))
    agreement = order_agreement(scores, scores.copy())
    assert (agreement.low, agreement.high) == (1.0, 1.0)


def test_the_interval_holds_with_five_systems_and_many_queries() -> None:
    """Where one pair in ten is unclear, it holds in 48 of 50 boards; without steps it held in 41."""
    rng, held = np.random.default_rng(11), 0
    for _ in range(50):
        true = rng.normal(0, 0.08, (5, 2)) @ np.array([[1, 0.8], [0, 0.6]])
        noise = rng.normal(0, 0.15, (2, 100, 5))
        first, other = true.T[:, None] + noise
        agreement = order_agreement(first, other, seed=int(rng.integers(1000)))
        (tau,) = taus(true[None, :, 0], true[None, :, 1])
        held += int(agreement.low - 1e-12 <= tau <= agreement.high + 1e-12)
    assert held >= 47


@pytest.mark.parametrize(("queries", "systems"), [(1, 5), (2, 5), (4, 9), (20, 4)])
def test_too_few_queries_or_systems_have_no_interval(
    queries: int, systems: int
) -> None:
    """A correlation, but nothing to go by."""
    scores = np.random.default_rng(6).random((queries, systems))
    agreement = order_agreement(scores, scores[:, ::-1])
    assert -1 <= agreement.tau <= 1
    assert math.isnan(agreement.low)


def test_fieller_by_hand() -> None:
    """The ends solve (ȳ - r x̄)² = t² (s_yy - 2 r s_xy + r² s_xx) / n."""
    rng = np.random.default_rng(4)
    x = rng.normal(1, 0.3, 12)
    y = 0.7 * x + rng.normal(0, 0.2, 12)
    value, *ends = effect_ratio(x, y)
    assert value == pytest.approx(y.mean() / x.mean())
    t = stats.t.ppf(0.975, 11)
    for ratio in ends:
        error = np.std(y - ratio * x, ddof=1) / math.sqrt(12)
        assert abs(y.mean() - ratio * x.mean()) == pytest.approx(t * error)


def test_no_limits_where_the_original_effect_may_be_0() -> None:
    """Anything is possible then."""
    value, low, high = effect_ratio(
        np.array([0.1, -0.1, 0.2, -0.15]), np.array([0.1, 0.2, 0.1, 0.3])
    )
    assert math.isfinite(value)
    assert math.isnan(low)
    assert math.isnan(high)
    assert all(map(math.isnan, effect_ratio(np.array([0.0]), np.array([0.1]))))


def test_relative_change_of_two_samples() -> None:
    """Independent queries: the variances add up."""
    rng = np.random.default_rng(5)
    pairs = [(rng.random(15) + 0.5, rng.random(15) + 0.3) for _ in range(2)]
    value, low, high = relative_change(pairs[0], pairs[1], paired=False)
    ratios = [a.mean() / b.mean() for a, b in pairs]
    assert value == pytest.approx(ratios[0] - ratios[1])
    parts = [
        ((a - r * b) / b.mean()).var(ddof=1) / 15
        for (a, b), r in zip(pairs, ratios, strict=True)
    ]
    assert (high - low) / 2 == pytest.approx(
        stats.t.ppf(0.975, 14) * math.sqrt(sum(parts))
    )
