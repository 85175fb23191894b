"""Tests of many slices: statistics by hand, chance kept at its level, signs, clusters, scales."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankstone.stats.slice_tests import Gaps, SliceTests, critical_z, slice_tests

RNG = np.random.default_rng(3)
MEMBERS = RNG.random((200, 30)) < RNG.uniform(0.1, 0.6, 30)
VALUES = RNG.normal(0, 0.2, 200)


def moderated(values: Any, every: Any) -> tuple[float, float]:
    """Return the squared error of a mean, and its degrees of freedom, with ten values of common variance."""
    df = 10 + len(values) - 1
    return (10 * every.var(ddof=1) + (len(values) - 1) * values.var(ddof=1)) / df / len(
        values
    ), df


def test_gaps_and_errors_by_hand() -> None:
    """Welch's statistic of each slice against the rest, with moderated variances, as a normal deviate."""
    gap, error, df, z = Gaps(MEMBERS).statistics(VALUES)
    for index in range(30):
        inside, outside = VALUES[MEMBERS[:, index]], VALUES[~MEMBERS[:, index]]
        (inner, df_one), (other, df_other) = (
            moderated(inside, VALUES),
            moderated(outside, VALUES),
        )
        assert gap[index] == pytest.approx(inside.mean() - outside.mean())
        assert error[index] == pytest.approx(np.sqrt(inner + other))
        welch = (inner + other) ** 2 / (inner**2 / df_one + other**2 / df_other)
        assert df[index] == pytest.approx(welch)
        assert stats.norm.sf(abs(z[index])) == pytest.approx(
            stats.t.sf(abs(gap[index] / error[index]), welch), rel=0.02
        )


def test_against_zero_by_hand() -> None:
    """The mean of each slice, and the error of a mean."""
    gap, error, df, _ = Gaps(MEMBERS, zero=True).statistics(VALUES)
    for index in range(30):
        inside = VALUES[MEMBERS[:, index]]
        assert gap[index] == pytest.approx(inside.mean())
        assert (error[index] ** 2, df[index]) == pytest.approx(
            moderated(inside, VALUES)
        )


def test_the_interval_belongs_to_the_critical_value() -> None:
    """A gap at the end of its interval has the critical z."""
    tested = slice_tests(VALUES, Gaps(MEMBERS))
    t = tested.reach() / tested.error
    assert stats.norm.sf(tested.critical_z) == pytest.approx(
        stats.t.sf(t, tested.df), rel=0.05
    )
    assert (
        (np.abs(tested.gap) > tested.reach()) == (tested.evidence > tested.critical)
    ).all()
    share = np.minimum(MEMBERS.mean(axis=0), 1 - MEMBERS.mean(axis=0))
    assert tested.evidence == pytest.approx(tested.z**2 / 2 + np.log(share))


@pytest.mark.parametrize(
    "how", ["rest", "zero", "clusters", "unequal variances", "ties"]
)
def test_chance_is_seldom_taken_for_a_finding(how: str) -> None:
    """Among 40 slices of 200 units any is found in about 5 % of 200 tables without a difference."""
    rng, count = np.random.default_rng(8), 0
    for seed in range(200):
        members = rng.random((200, 40)) < rng.uniform(0.1, 0.5, 40)
        cluster = np.arange(200) // 4 if how == "clusters" else None
        values = rng.normal(0, 0.2, 200)
        if how == "clusters":
            values += np.repeat(rng.normal(0, 0.3, 50), 4)
            members = members[::4].repeat(4, axis=0)
            members = members[:, members.sum(axis=0) > 20]
        if how == "unequal variances":
            values *= np.where(members[:, 0], 3.0, 1.0)
        if how == "ties":
            values *= rng.random(200) < 0.15
        gaps = Gaps(members, how == "zero", cluster)
        count += slice_tests(values, gaps, permutations=300, seed=seed).p.min() <= 0.05
    assert 0 < count / 200 < 0.1


def test_every_way_finds_a_large_gap() -> None:
    """Against the rest, against zero, and in clusters."""
    values = VALUES - 0.4 * MEMBERS[:, 3]
    for gaps in (
        Gaps(MEMBERS),
        Gaps(MEMBERS, zero=True),
        Gaps(MEMBERS, cluster=np.arange(200) // 2),
    ):
        tested = slice_tests(values, gaps)
        assert int(tested.z.argmin()) == 3
        assert tested.p[3] == pytest.approx(1 / 2001)


def test_the_scale_does_not_matter() -> None:
    """Means and intervals are multiplied, p-values stay to the last bit; a seed gives the same again."""
    first, other = (
        slice_tests(factor * VALUES, Gaps(MEMBERS), seed=5) for factor in (1.0, 4.0)
    )
    assert (first.p == other.p).all()
    assert 4 * first.reach() == pytest.approx(other.reach())
    assert (slice_tests(VALUES, Gaps(MEMBERS), seed=5).p == first.p).all()
    assert (slice_tests(VALUES, Gaps(MEMBERS), seed=6).p != first.p).any()


def test_values_without_any_difference() -> None:
    """Nothing is found, and no number is missing."""
    for gaps in (
        Gaps(MEMBERS),
        Gaps(MEMBERS, zero=True),
        Gaps(MEMBERS, cluster=np.arange(200) // 2),
    ):
        tested = slice_tests(np.zeros(200), gaps, permutations=200)
        assert (tested.p == 1).all()
        assert np.isfinite(tested.reach()).all()
        assert not tested.gap.any()


@pytest.mark.parametrize("critical", [2.0, 3.5, 8.0])
def test_the_critical_z_has_the_critical_evidence(critical: float) -> None:
    """Evidence is z² / 2 and the logarithm of the share; 0.01² / 2 is the least that a z counts for."""
    log_share = np.log([0.5, 0.25, 0.01])
    z = critical_z(critical, log_share)
    assert z**2 / 2 + log_share == pytest.approx([critical] * 3, rel=1e-12)
    assert critical_z(0.5, np.log([0.5]))[0] == pytest.approx(
        math.sqrt(2 * 0.5 + 2 * math.log(2)), rel=1e-12
    )


def test_the_largest_critical_value_is_a_quantile_of_permutations() -> None:
    """Exceeded by 5 % of permutations at most, counting the data themselves as one of them."""
    gaps = Gaps(MEMBERS)
    tested = slice_tests(VALUES, gaps, permutations=199, seed=4)
    largest = np.sort(gaps.largest(VALUES, 199, 4))
    assert tested.critical == largest[190 - 1]  # ceil(0.95 * 200)
    assert tested.p == pytest.approx(
        [(1 + (largest >= evidence).sum()) / 200 for evidence in tested.evidence]
    )


@pytest.mark.parametrize(("true", "excess"), [(3.42, 1.2), (4.5, 1.05), (7.0, 1.0)])
def test_what_is_left_of_found_gaps_is_near_the_true_ones(
    true: float, excess: float
) -> None:
    """Gaps that are found are too large on the average, unless nearly all are; what is kept is not."""
    z = np.random.default_rng(7).normal(true, 1, 20_000)
    result = np.ones(len(z))
    tests = SliceTests(z, result, 99 * result, z, z**2 / 2, result, 3.5**2 / 2)
    kept, known = tests.kept(), tests.evidence > tests.critical
    assert (np.isnan(kept) == ~known).all()
    assert ((kept[known] >= 0) & (kept[known] <= 1)).all()
    assert z[known].mean() / true >= excess - 1e-3
    assert (z * kept)[known].mean() / true == pytest.approx(1, abs=0.1)
    order = np.argsort(z[known])
    assert (np.diff((z * kept)[known][order]) >= 0).all()


@pytest.mark.filterwarnings("error")
def test_rounding_is_no_variance() -> None:
    """Equal values whose squares leave less than nothing have an error of 0, not none."""
    for value in (0.02, 0.1, -0.7):
        tests = slice_tests(np.full(200, value), Gaps(MEMBERS), permutations=200)
        assert np.isfinite(tests.error).all()
        assert (tests.p == 1).all()
