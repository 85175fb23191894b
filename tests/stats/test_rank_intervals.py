"""Intervals of ranks: by hand, against the t-test and Tukey's range, and the properties they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankstone.boards.cells import ScoringRule
from rankstone.stats.rank_intervals import (
    DrawnErrors,
    MeanErrors,
    independent_directions,
    moderated_variances,
    rank_intervals,
)
from rankstone.stats.two_way_anova import two_way


def independent_errors(own: list[float], seed: int = 0) -> MeanErrors:
    """Return independent errors of known variances."""
    return MeanErrors(np.array(own), np.array([np.inf]), np.zeros((len(own), 0)), seed)


def test_two_items_are_the_paired_t_test() -> None:
    """With two items the critical value is the t quantile of the two stages' second level."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(10, 2))
    error = two_way(scores).error
    errors = MeanErrors(np.full(2, error / 10), np.array([9.0]), np.zeros((2, 0)))
    intervals = rank_intervals(scores.mean(axis=0), errors)
    difference = scores[:, 0] - scores[:, 1]

    assert errors.of_differences[0, 1] == pytest.approx(
        difference.std(ddof=1) / np.sqrt(10), rel=1e-12
    )
    assert intervals.critical == pytest.approx(stats.t.isf(0.045 / 2, 9), rel=0.05)


def test_equal_variances_are_tukeys_range() -> None:
    """Without separated items the critical value is that of the studentised range, at 0.045."""
    errors = MeanErrors(np.full(8, 0.1), np.array([63.0]), np.zeros((8, 0)))
    intervals = rank_intervals(np.zeros(8), errors)

    assert intervals.critical == pytest.approx(
        stats.studentized_range.ppf(0.955, 8, 63) / np.sqrt(2), rel=0.02
    )
    assert intervals.low.tolist() == [1] * 8
    assert intervals.high.tolist() == [8] * 8


def test_separated_groups_narrow_the_second_stage() -> None:
    """Pairs that differ by far do not compete: two groups of five cost little more than one."""
    apart = rank_intervals(np.repeat([0.0, 100.0], 5), independent_errors([1.0] * 10))
    together = rank_intervals(np.zeros(10), independent_errors([1.0] * 10))

    assert apart.critical < 0.97 * together.critical
    assert apart.low.tolist() == [6] * 5 + [1] * 5
    assert apart.high.tolist() == [10] * 5 + [5] * 5


def test_claims_step_down_over_the_pairs_without_one() -> None:
    """Against both stages and all steps over the whole array of draws, at a glance."""
    rng = np.random.default_rng(2)
    for means in (rng.normal(size=9) * 3, np.repeat([0.0, 3.0, 6.0], 3), np.zeros(9)):
        drawn = rng.normal(size=(3000, 9))
        intervals = rank_intervals(means, DrawnErrors(drawn))
        error = DrawnErrors(drawn).of_differences + np.diag(np.full(9, np.inf))
        statistic, gaps = (
            (means[:, None] - means) / error,
            (drawn[:, :, None] - drawn[:, None, :]) / error,
        )

        def limit(moved: Any, alpha: float, gaps: Any = gaps) -> float:
            largest = np.sort((gaps - moved).max(axis=(1, 2)))[::-1]
            return float(largest[int(alpha * 3001) - 1])

        moved = np.maximum(-statistic - limit(np.zeros((9, 9)), 0.005), 0)
        claimed, steps = np.zeros((9, 9), bool), list[float]()
        while not steps or (more := statistic > steps[-1]).sum() > claimed.sum():
            claimed = more if steps else claimed
            steps.append(limit(np.where(claimed, np.inf, moved), 0.045))
        assert intervals.critical == pytest.approx(steps[-1], rel=1e-5)
        assert np.array_equal(intervals.better, claimed)
        assert (len(steps) > 1) == bool(means.any()), (
            "nothing steps down where nothing is claimed"
        )


def test_shared_errors_cancel() -> None:
    """What moves all items alike does not separate them, and what moves two alike not these two."""
    shared = np.array([[1.0, 5.0], [1.0, 5.0], [1.0, 0.0]])
    errors = MeanErrors(np.zeros(3), np.array([np.inf]), shared)

    assert errors.of_differences == pytest.approx(
        np.array([[0, 0, 5], [0, 0, 5], [5, 5, 0]], float)
    )
    drawn = errors.drawn
    assert drawn[:, 0] == pytest.approx(drawn[:, 1])


def test_draws_have_the_variances_and_tails_they_stand_for() -> None:
    """Own errors follow t distributions, pooled ones share their scale; given draws have their own spread."""
    errors = MeanErrors(
        np.array([1.0, 4.0]), np.array([5.0, 8.0]), np.zeros((2, 0)), seed=3
    )
    drawn = errors.drawn
    assert drawn.shape == (4000, 2)
    for column, (scale, df) in enumerate(((1.0, 5.0), (2.0, 8.0))):
        assert stats.kstest(drawn[:, column] / scale, "t", args=(df,)).pvalue > 0.001
    inputs = DrawnErrors(drawn)
    assert inputs.of_differences[0, 1] == pytest.approx(
        np.sqrt(np.mean((drawn[:, 0] - drawn[:, 1]) ** 2))
    )


def test_a_seed_gives_the_same_bits_on_any_number_of_threads() -> None:
    """Draws are numbered by block."""
    means, errors = (
        np.random.default_rng(0).normal(size=60),
        independent_errors([1.0] * 60, seed=5),
    )
    first, four = (rank_intervals(means, errors, threads=threads) for threads in (1, 4))

    assert first.critical == four.critical
    assert (
        rank_intervals(means, independent_errors([1.0] * 60, seed=6)).critical
        != first.critical
    )


def test_one_item_alone_has_narrower_intervals() -> None:
    """An interval for one item that was chosen beforehand lies within the simultaneous one."""
    means = np.linspace(0, 3, 40)
    intervals = rank_intervals(means, independent_errors([0.05] * 40))

    assert (intervals.one_low >= intervals.low).all()
    assert (intervals.one_high <= intervals.high).all()
    assert (intervals.one_high - intervals.one_low).sum() < (
        intervals.high - intervals.low
    ).sum()


def test_no_variance_claims_nothing() -> None:
    """Differences without any error cannot be distinguished from a lack of data."""
    intervals = rank_intervals(np.array([1.0, 2.0]), independent_errors([0.0, 0.0]))

    assert not intervals.better.any()


def test_moderation_pools_what_agrees_and_keeps_what_differs() -> None:
    """Limma's estimate of the prior (Smyth 2004): recovered from variances drawn from it."""
    rng = np.random.default_rng(7)
    prior, centre, df = 6.0, 2.0, 9.0
    variances = centre * prior / rng.chisquare(prior, 20_000)
    observed = variances * rng.chisquare(df, 20_000) / df
    result, total = moderated_variances(observed, np.full(20_000, df))
    assert total[0] - df == pytest.approx(prior, rel=0.1)
    assert result == pytest.approx(
        (total[0] - df) / total[0] * centre + df / total[0] * observed, rel=0.1
    )

    equal = 2.0 * rng.chisquare(df, 2_000) / df
    result, total = moderated_variances(equal, np.full(2_000, df))
    assert total.max() > 100
    assert result.std() < 0.1 * equal.std()


def test_items_without_degrees_of_freedom_get_the_centre() -> None:
    """A system with a single score borrows the variance of the others."""
    result, total = moderated_variances(
        np.array([1.0, 4.0, 0.25, 0.0]), np.array([9.0, 9.0, 9.0, 0.0])
    )

    assert 0.25 < result[3] < 4.0
    assert total[3] == pytest.approx(total[0] - 9.0)
    nothing, _ = moderated_variances(np.zeros(3), np.full(3, 4.0))
    assert nothing.tolist() == [0.0, 0.0, 0.0]


def test_a_variance_of_nothing_moderates_nothing() -> None:
    """An item without degrees of freedom has the others' variance, and theirs are as without it."""
    own, freedom = np.array([0.5, 1.0, 6.0, 2.0]), np.array([30.0, 30.0, 30.0, 30.0])
    variances, df = moderated_variances(own, freedom)
    more, _ = moderated_variances(np.append(own, 99.0), np.append(freedom, 0.0))
    assert more[:4] == pytest.approx(variances)
    assert np.isfinite(more).all()
    assert more[4] < 10
    assert (df > 0).all()


def test_pairs_that_behave_alike_are_distinguished() -> None:
    """A pair with a small error of its own is claimed where the errors of both are large."""
    own = np.full(4, 0.01)
    means = np.array([1.0, 0.95, 0.5, 0.45])
    paired = np.full((4, 4), np.inf)
    paired[0, 1] = paired[1, 0] = 0.002
    alone = MeanErrors(own, np.array([40.0]), np.zeros((4, 0)))
    both = MeanErrors(own, np.array([40.0]), np.zeros((4, 0)), 0, paired, 20.0)

    assert not rank_intervals(means, alone).better[0, 1]
    intervals = rank_intervals(means, both)
    assert intervals.better[0, 1]
    assert not intervals.better[2, 3]
    assert intervals.low[:2].tolist() == intervals.one_low[:2].tolist() == [1, 2]


def test_few_data_sets_ask_for_both_errors() -> None:
    """With six data sets a pair that varies more than the others do is no claim; with seven it is."""
    own = np.full(5, 0.0004)
    means = np.array([0.5, 0.0, 0.01, 0.02, 0.03])
    paired = np.full((5, 5), 0.02)
    paired[0] = paired[:, 0] = 0.3

    def claims(df: float) -> int:
        errors = MeanErrors(own, np.array([60.0]), np.zeros((5, 0)), 0, paired, df)
        return int(rank_intervals(means, errors).better.sum())

    assert claims(5.0) == 0
    assert claims(6.0) == 4


def test_shares_of_alpha_hold_together() -> None:
    """Of equal means with half of the pairs alike, any claim is made at most as often as is stated."""
    rng = np.random.default_rng(12)
    boards, items, n, false = 150, 8, 8, 0
    for _ in range(boards):
        shared = np.repeat(rng.normal(size=(n, items // 2)), 2, axis=1)
        values = shared + rng.normal(size=(n, items)) * 0.3
        estimated = ScoringRule("macro", "error", np.ones(n)).estimated(values)
        intervals = rank_intervals(estimated.means, estimated.errors(), threads=1)
        false += bool(intervals.better.any())

    assert false / boards < 0.09


def test_directions_are_corrected_for_noise() -> None:
    """Two errors of correlation .8, ten degrees of freedom: 2² over (3.28 − 2²/10) · 10² / (9 · 12)."""
    square = np.array([[1.0, 0.8], [0.8, 1.0]])
    unbiased = (3.28 - 4 / 10) * 100 / (9 * 12)
    assert independent_directions(square, 10) == pytest.approx(4 / unbiased)
    assert independent_directions(square, 1) == 1.0


@pytest.mark.parametrize("df", [3.0, 5.0, 30.0])
def test_drawn_errors_are_students(df: float) -> None:
    """Where variances are estimated, half of the draws lie within the quartiles of t, .9 within its tails."""
    errors = MeanErrors(np.ones(4), np.full(4, df), np.zeros((4, 0))).drawn
    size = np.abs(errors).ravel()
    for inside in (0.25, 0.5, 0.9, 0.99):
        limit = stats.t.ppf((1 + inside) / 2, df)
        within = 4 * (inside * (1 - inside) / len(size)) ** 0.5
        assert (size < limit).mean() == pytest.approx(inside, abs=within)
