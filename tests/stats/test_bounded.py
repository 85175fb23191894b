"""Limits of bounded means: against exact ones, against what they approximate, and how often they miss."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankstone.errors import UsageError
from rankstone.stats import Units, difference_estimate, estimates, mean_estimates
from rankstone.stats.automatic_intervals import difference_estimates
from rankstone.stats.bounded_means import (
    adaptive,
    difference_p,
    share_limits,
    worst_case,
    worst_case_p,
)
from rankstone.stats.sampling_units import effective_df

ALPHA = 0.025


def column(*values: float) -> np.ndarray:
    return np.array(values)[:, None]


@pytest.mark.parametrize(
    ("hits", "n"), [(0, 10), (1, 10), (9, 10), (10, 10), (199, 200)]
)
def test_shares_have_the_limits_of_clopper_and_pearson(hits: int, n: int) -> None:
    """For 0 and 1 the worst case is the beta quantile."""
    values = column(*[1.0] * hits, *[0.0] * (n - hits))
    exact = stats.beta.ppf(ALPHA, hits, n - hits + 1) if hits else 0.0

    assert worst_case(values, ALPHA)[0] == pytest.approx(exact, rel=1e-12)
    assert worst_case(3 * values, ALPHA)[0] == pytest.approx(3 * exact, rel=1e-12)


def test_the_saddlepoint_is_near_what_it_approximates() -> None:
    """The quantile of means under exponential weights, one more of which is at 0, by a million draws."""
    draw = np.random.default_rng(4)
    values = draw.beta(0.5, 1.0, (12, 3))
    weights = draw.exponential(size=(1_000_000, 13))
    means = (weights[:, :12] @ values) / weights.sum(axis=1)[:, None]

    assert worst_case(values, ALPHA) == pytest.approx(
        np.quantile(means, ALPHA, axis=0), rel=0.01
    )


def test_levels_and_limits_are_inverse() -> None:
    """The level at which a limit is reached gives that limit, for either limit and the rule made of both."""
    draw = np.random.default_rng(5)
    values = draw.normal(0, 0.2, (15, 4))
    moved = adaptive(values, np.ones(15), 1.0)
    assert moved.p(moved.limit(0.01)) == pytest.approx([0.01] * 4, rel=1e-9)
    assert worst_case_p(values + 1, worst_case(values + 1, 0.01)) == pytest.approx(
        [0.01] * 4, rel=1e-6
    )
    estimate = difference_estimate(Units.from_scores(values[:, :1]), (0.0, 1.0))
    low, high = estimate.limits(0.01)
    assert estimate.p_above(low) == pytest.approx(0.01, rel=1e-6)
    assert estimate.p_below(high) == pytest.approx(0.01, rel=1e-6)


def test_the_interval_turned_round() -> None:
    """Limits of b - a are those of a - b turned round."""
    values = (
        np.random.default_rng(6).normal(0.05, 0.3, (20, 1))
        * (np.arange(20) % 3 > 0)[:, None]
    )
    low, high = difference_estimate(Units.from_scores(values), (0.0, 1.0)).interval()

    assert difference_estimate(
        Units.from_scores(-values), (0.0, 1.0)
    ).interval() == pytest.approx((-high, -low), rel=1e-12)


def test_t_and_the_adaptive_limit_meet() -> None:
    """Of many queries that all move a little, the worst credible loss weighs nothing."""
    values = np.random.default_rng(7).normal(0.01, 0.1, (5000, 1))
    ours = difference_estimate(Units.from_scores(values), (0.0, 1.0)).interval()

    assert ours == pytest.approx(
        estimates(Units.from_scores(values))[0].interval(), abs=1e-4
    )


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.sampled_from(["auto", "worst_case"]),
)
def test_never_outside_never_without_width(values: list[float], method: str) -> None:
    """Whatever the scores: inside the range, of some width, and around the mean."""
    low, high = mean_estimates(
        Units.from_scores(column(*values)), [(0.0, 1.0)], method
    )[0].interval()
    mean = math.fsum(values) / len(values)
    assert 0 <= low < high <= 1
    assert low - 1e-9 <= mean <= high + 1e-9
    differences = column(*(2 * value - 1 for value in values))
    low, high = difference_estimate(
        Units.from_scores(differences), (0.0, 1.0), method
    ).interval()
    assert -1 <= low < high <= 1


def test_ranges_are_scales() -> None:
    """Scores of 0 to 5 have the limits of a fifth of them, times 5."""
    values = np.random.default_rng(8).integers(0, 6, (20, 1)).astype(float)
    low, high = mean_estimates(Units.from_scores(values), [(0.0, 5.0)])[0].interval()

    assert mean_estimates(Units.from_scores(values / 5), [(0.0, 1.0)])[
        0
    ].interval() == pytest.approx((low / 5, high / 5))


def _naive_df(sizes: np.ndarray) -> float:
    """Return Bell and McCaffrey's degrees of freedom by the matrices of their definition."""
    n, cluster = int(sizes.sum()), np.repeat(np.arange(len(sizes)), sizes)
    residual = np.eye(n) - 1 / n
    parts = [
        residual[:, cluster == g] @ np.full(size, 1 / n) / math.sqrt(1 - size / n)
        for g, size in enumerate(sizes)
    ]
    inner = np.array([[part @ other for other in parts] for part in parts])
    return float(np.trace(inner) ** 2 / (inner**2).sum())


@pytest.mark.parametrize(
    "sizes", [[8, 1, 1, 1, 1], [3, 3, 3], [1, 2, 3, 4, 5, 6], [20, 1, 7]]
)
def test_degrees_of_freedom_of_clusters(sizes: list[int]) -> None:
    """As the matrices of the definition say; one less than the clusters where these are of one size."""
    assert effective_df(np.array(sizes, float)) == pytest.approx(
        _naive_df(np.array(sizes)), rel=1e-9
    )


@pytest.mark.parametrize(
    "sizes",
    [
        [1.0, 145525420674.0, 1.0],
        [1.0, 1.0, 1.0, 1e9],
        [1e17, 1.0, 2.0],
        [1e90, 1.0, 1e-90],
    ],
)
def test_one_unit_that_weighs_nearly_everything_leaves_one_degree_of_freedom(
    sizes: list[float],
) -> None:
    """By the formula in fractions, where nothing cancels; limits are numbers then."""
    weights = [Fraction(size) for size in sizes]
    whole = sum(weights)
    leverage = [(weight / whole) ** 2 / (1 - weight / whole) for weight in weights]
    pairs = sum(leverage) ** 2 - sum(item**2 for item in leverage)
    exact = 1 / (sum((weight / whole) ** 2 for weight in weights) + pairs)
    total = column(*(0.1 * index * size for index, size in enumerate(sizes)))

    assert effective_df(np.array(sizes)) == pytest.approx(float(exact), rel=3e-5)
    assert not np.isnan(adaptive(total, np.array(sizes), 1.0).limit(ALPHA)).any()
    assert not np.isnan(
        adaptive(total, np.array(sizes), 1.0, guarded=False).limit(ALPHA)
    ).any()


def test_clusters_of_unequal_size_have_cr2() -> None:
    """The sum of squared residuals of each cluster over one less its share of the queries."""
    cluster = np.repeat(np.arange(4), [5, 1, 2, 2])
    values = np.random.default_rng(9).normal(0, 1, 10)
    rest = values - values.mean()
    square = (
        sum(
            rest[cluster == g].sum() ** 2 / (1 - (cluster == g).mean())
            for g in range(4)
        )
        / 100
    )
    units = Units.from_scores(values[:, None], cluster=cluster)

    assert units.robust_error()[0][0] == pytest.approx(math.sqrt(square), rel=1e-12)


def test_units_without_weight_show_no_spread() -> None:
    """One unit that counts has no error, however many others are listed."""
    units = Units(np.array([[3.0], [0.0], [0.0]]), np.array([5.0, 0.0, 0.0]))
    error, df = units.robust_error()
    assert np.isnan(error).all()
    assert df == 0


def korn_and_graubard(
    totals: list[float], sizes: list[float], alpha: float
) -> tuple[float, float]:
    """Return Korn and Graubard's limits of a share in clusters (Survey Methodology 24, 1998), term by term.

    One difference from the paper each: the variance is that of the clusters and of one more at each end, half
    as large as the average; the unit at an end weighs 0.8 instead of Clopper and Pearson's 1.
    """
    half = sum(sizes) / len(sizes) / 2
    more, weights = [*totals, 0.0, half], [*sizes, half, half]
    share, whole = sum(more) / sum(weights), sum(weights)
    variance = sum(
        (total - size * share) ** 2 / (1 - size / whole)
        for total, size in zip(more, weights, strict=True)
    )
    variance /= whole**2
    parts = [size / sum(sizes) for size in sizes]
    leverages = [part**2 / (1 - part) for part in parts]
    products = sum(leverages) ** 2 - sum(part**2 for part in leverages)
    df = 1 / (sum(part**2 for part in parts) + products)
    effective = share * (1 - share) / variance
    effective *= (stats.norm.ppf(1 - alpha) / stats.t.ppf(1 - alpha, df)) ** 2
    effective = min(max(effective, 1.0), sum(sizes))
    hits = effective * sum(totals) / sum(sizes)
    low = stats.beta.ppf(alpha, hits, effective - hits + 0.8) if hits else 0.0
    missed = effective - hits
    high = stats.beta.ppf(1 - alpha, hits + 0.8, missed) if missed else 1.0
    return float(low), float(high)


@pytest.mark.parametrize("alpha", [0.025, 0.005])
@pytest.mark.parametrize(
    ("totals", "sizes", "method"),
    [
        ([3, 2, 4, 1], [3, 3, 4, 2], "auto"),  # two clusters at the upper end
        ([0, 1, 2, 1, 0], [2, 2, 4, 3, 1], "auto"),  # two at the lower end
        ([2, 2, 0, 1, 2, 2], [2] * 6, "auto"),  # of equal size, both ends
        ([3, 1, 2], [3, 1, 2], "auto"),  # all 1
        ([0, 0, 0], [3, 1, 2], "auto"),  # all 0
        ([1.5, 0.5, 1], [3, 1, 2], "auto"),  # all alike between the ends
        ([1, 0.5, 1, 0.25], [2, 1, 4, 1], "worst_case"),  # would be t otherwise
        ([9, 0], [9, 9], "auto"),  # so much spread that one value counts
        ([1, 8, 1, 8], [1, 9, 1, 9], "auto"),
    ],
)
def test_clusters_at_an_end_have_korn_and_graubards_limits(
    totals: list[float], sizes: list[float], method: str, alpha: float
) -> None:
    """As many independent values as have the variance of the clusters, between 1 and the number of queries."""
    units = Units(column(*map(float, totals)), np.array(sizes, float), clustered=True)
    estimate = mean_estimates(units, [(0.0, 1.0)], method)[0]
    assert estimate.limits(alpha) == pytest.approx(
        korn_and_graubard(totals, sizes, alpha), rel=1e-9
    )
    assert (
        0
        <= estimate.limits(alpha)[0]
        <= estimate.value
        <= estimate.limits(alpha)[1]
        <= 1
    )


def test_clusters_between_the_ends_have_t() -> None:
    """With CR2 and its degrees of freedom, and no further than the range goes."""
    sizes, totals = [2.0, 1.0, 4.0, 1.0], [1.0, 0.5, 1.0, 0.25]
    units = Units(column(*totals), np.array(sizes), clustered=True)
    mean = sum(totals) / sum(sizes)
    squares = [
        (total - size * mean) ** 2 / (1 - size / sum(sizes))
        for total, size in zip(totals, sizes, strict=True)
    ]
    reach = math.sqrt(sum(squares)) / sum(sizes)
    for alpha in (0.025, 0.2):
        t = stats.t.ppf(1 - alpha, _naive_df(np.array(sizes, int)))
        limits = mean_estimates(units, [(0.0, 1.0)])[0].limits(alpha)
        ends = max(mean - t * reach, 0.0), min(mean + t * reach, 1.0)
        assert limits == pytest.approx(ends, rel=1e-9)


# -- how often they miss: small forms of benchmarks/small_samples.py ---------------------------------
@pytest.mark.parametrize("n", [10, 20, 50, 100, 200])
@pytest.mark.parametrize("drop", [0.02, 0.05])
def test_rare_total_losses_seldom_pass_falsely(n: int, drop: float) -> None:
    """Exactly, over all numbers of losses: a candidate that is worse by the margin, scores of 0 and 1."""
    losses = np.arange(n + 1)
    sample = np.where(np.arange(n)[:, None] < losses, -1.0, 0.0)
    passes = difference_p(sample, np.ones(n), 1.0, -drop) < ALPHA

    assert stats.binom.pmf(losses, n, drop)[passes].sum() <= 0.03


@pytest.mark.parametrize("n", [10, 25, 50, 200])
def test_limits_of_shares_hold_wherever_the_truth_is(n: int) -> None:
    """Exactly, over all numbers of successes: coverage of at least .94 for every true share."""
    hits = np.arange(n + 1)
    low, high = share_limits((np.arange(n)[:, None] < hits).astype(float), ALPHA)
    true = np.linspace(0.001, 0.999, 999)
    inside = (low[:, None] <= true) & (true <= high[:, None])

    assert (stats.binom.pmf(hits[:, None], n, true) * inside).sum(axis=0).min() >= 0.94


def _few_changes(draw: np.random.Generator, n: int, count: int) -> np.ndarray:
    return -draw.beta(1, 2, (n, count)) * (draw.random((n, count)) < 0.1)


def _skewed(draw: np.random.Generator, n: int, count: int) -> np.ndarray:
    return -draw.beta(0.3, 3, (n, count))


@pytest.mark.parametrize(
    ("world", "true"), [(_few_changes, -0.1 / 3), (_skewed, -0.3 / 3.3)]
)
@pytest.mark.parametrize("n", [20, 50, 200])
def test_graded_losses_seldom_pass_falsely(world: Any, true: float, n: int) -> None:
    """Losses of a tenth of the queries, and skewed ones of all; 4,000 samples, of which t lets more pass."""
    sample = world(np.random.default_rng(n), n, 4000)
    passes = (difference_p(sample, np.ones(n), 1.0, true) < ALPHA).mean()

    assert passes <= 0.035
    t = stats.ttest_1samp(sample, true, alternative="greater").pvalue
    assert passes < (np.nan_to_num(t, nan=0.0) < ALPHA).mean()


def test_many_differences_have_the_bits_of_each_alone() -> None:
    """Limits, levels of a margin and spreads of many pairs are those of each pair by itself."""
    draw = np.random.default_rng(4)
    values = draw.normal(0, 0.2, (37, 60)).clip(-1, 1) * (
        draw.random((37, 60)) < draw.random(60)
    )
    cluster = np.arange(37) // 2
    for units in (
        Units.from_scores(values),
        Units.from_scores(values, cluster=cluster),
        Units.from_scores(values[:1]),
    ):
        for method in ("auto", "worst_case"):
            result = difference_estimates(units, (0.0, 1.0), method)
            alone = [
                difference_estimate(
                    Units(column[:, None], units.size, clustered=units.clustered),
                    (0.0, 1.0),
                    method,
                )
                for column in units.total.T
            ]
            for item, by_itself in zip(result, alone, strict=True):
                assert repr(item.limits(0.025)) == repr(by_itself.limits(0.025))
                assert item.p_above(-0.02) == by_itself.p_above(-0.02)
                assert item.p_below(0.02) == by_itself.p_below(0.02)
                assert repr(item.spread) == repr(by_itself.spread)


@pytest.mark.parametrize("method", ["auto", "worst_case"])
@pytest.mark.parametrize("seed", range(3))
def test_levels_of_differences_are_inverse_to_their_limits(
    seed: int, method: str
) -> None:
    """Where either of the two limits is the larger: few small differences, many, and rare losses."""
    rng = np.random.default_rng(seed)
    for values in (
        rng.normal(0.1, 0.1, 8),
        rng.normal(0.0, 0.3, 60),
        np.where(rng.random(40) < 0.1, -0.5, 0.0),
    ):
        units = Units.from_scores(np.clip(values, -1, 1)[:, None])
        estimate = difference_estimate(units, (0.0, 1.0), method)
        for alpha in (0.2, 0.025, 0.001):
            low, high = estimate.limits(alpha)
            assert estimate.p_above(low) == pytest.approx(alpha, rel=1e-6)
            assert estimate.p_below(high) == pytest.approx(alpha, rel=1e-6)


def test_two_units_are_planned_with_a_third_at_the_worst_loss() -> None:
    """From two on: the larger of both ends' errors, by hand; a single unit has no error."""
    first, second = 0.1, 0.3
    worst = 1.0  # as few have moved, the whole range
    errors = []
    for sign in (1, -1):
        values = [sign * first, sign * second, -worst]
        mean = sum(values) / 3
        squares = sum((value - mean) ** 2 for value in values)
        errors.append(math.sqrt(squares / (1 - 1 / 3)) / 3)
    two = difference_estimate(Units.from_scores(column(first, second)), (0.0, 1.0))
    assert two.spread == pytest.approx(max(errors))
    assert math.isnan(
        difference_estimate(Units.from_scores(column(0.1)), (0.0, 1.0)).spread
    )


@pytest.mark.parametrize("values", [(0.0, 0.0, 0.4, 0.3), (1.0, 1.0, 0.4, 0.3)])
def test_a_tail_of_one_half_of_clusters_is_where_its_neighbours_are(
    values: tuple[float, ...],
) -> None:
    """Quantiles of t and of the normal distribution are both 0 there."""
    units = Units.from_scores(column(*values), cluster=np.array([0, 0, 1, 2]))
    [estimate] = mean_estimates(units, [(0.0, 1.0)])

    for end in (0, 1):
        below, middle, above = (
            estimate.limits(tail)[end] for tail in (0.4999, 0.5, 0.5001)
        )
        assert min(below, above) - 0.02 < middle < max(below, above) + 0.02


@pytest.mark.parametrize("size", [np.zeros(3), np.empty(0)])
@pytest.mark.parametrize("clustered", [True, False])
def test_nothing_has_no_mean(size: np.ndarray, clustered: bool) -> None:  # noqa: FBT001
    units = Units(np.zeros((len(size), 1)), size, clustered=clustered)

    with pytest.raises(UsageError, match="no query or cluster counts"):
        mean_estimates(units, [(0.0, 1.0)])
