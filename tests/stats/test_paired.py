"""Tests beside randomisation, corrections, sizes of effects, numbers of queries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.rows import each

from rankstone.errors import BadOption
from rankstone.stats import (
    CORRECTIONS,
    PAIRED,
    adjusted,
    d_z,
    detectable,
    estimates,
    family_level,
    hedges,
    mcnemar,
    needed,
    paired_t,
    power_of,
    sign_test,
    tost,
)
from rankstone.stats.sampling_units import Units


def of(*differences: float) -> Units:
    return Units.from_scores(np.array(differences)[:, None])


def test_t_of_clusters_of_one_size_is_t_of_their_means() -> None:
    """Three queries a user: the test has as many degrees of freedom as there are users, less one."""
    values = np.random.default_rng(2).normal(0.1, 1, 30)[:, None]
    clustered = Units.from_scores(values, cluster=np.repeat(np.arange(10), 3))

    assert paired_t(clustered) == pytest.approx(
        paired_t(Units.from_scores(values.reshape(10, 3).mean(1)[:, None]))
    )


def test_nothing_varies() -> None:
    """Differences without any spread leave nothing to test with."""
    assert paired_t(of(0.25, 0.25, 0.25)) == 1.0
    assert paired_t(of(0.0, 0.0)) == 1.0
    assert [test(of(0.0, 0.0, 0.0)) for test in PAIRED.values()] == [1.0] * len(PAIRED)


def test_sign_test_is_a_coin() -> None:
    """Six wins, one loss, two ties: 2 (1 + 7) / 2^7."""
    assert sign_test(of(1, 2, 3, 4, 5, 6, -1, 0, 0)) == pytest.approx(
        2 * (1 + 7) / 2**7
    )


def test_mcnemar_is_the_coin_of_what_changed() -> None:
    """Five successes gained, one lost: 2 (1 + 6) / 2^6; and no other numbers are taken."""
    assert mcnemar(of(1, 1, 1, 1, 1, -1, 0, 0, 0)) == pytest.approx(2 * (1 + 6) / 2**6)
    with pytest.raises(BadOption, match="0 or 1"):
        mcnemar(of(0.5, 1.0))


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.2])
def test_equivalence_is_an_interval_inside_the_margin(margin: float) -> None:
    """Both one-sided p are at most 0.05 exactly where the 90 % interval of t lies within ±margin."""
    for seed in range(20):
        units = Units.from_scores(
            np.random.default_rng(seed).normal(0.01, 0.1, (40, 1))
        )
        low, high = estimates(units)[0].interval(0.90)
        p = tost(units, margin)

        assert (p[0] <= 0.05) == (low >= -margin)
        assert (p[1] <= 0.05) == (high <= margin)


def test_margin_is_above_zero() -> None:
    """A margin of 0 leaves no room."""
    with pytest.raises(BadOption, match="margin"):
        tost(of(0.1, 0.2), 0.0)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
@each("correction", CORRECTIONS)
def test_the_level_of_a_family_draws_the_same_line(
    correction: str, alpha: float
) -> None:
    """A claim stands after correction exactly where p is at most the family's level."""
    draw = np.random.default_rng(5)
    for size in (1, 2, 5, 12):
        for _ in range(40):
            p = draw.random(size) ** 4
            level = family_level(p, correction, alpha)

            assert np.array_equal(adjusted(p, correction) <= alpha, p <= level)


def test_holm_by_hand() -> None:
    """0.01 × 3, then 0.03 × 2 and no less, then 0.04 × 1 and no less."""
    assert adjusted([0.04, 0.01, 0.03]) == pytest.approx([0.03 * 2, 0.01 * 3, 0.03 * 2])


def test_unknown_correction() -> None:
    """An unknown name is reported, with the nearest."""
    with pytest.raises(BadOption, match="did you mean holm"):
        adjusted([0.1], "holmes")


def test_effects() -> None:
    """d_z is the mean over the deviation; Hedges' factor is nearly 1 - 3/(4ν - 1)."""
    assert d_z(0.1, 0.4) == 0.25
    assert d_z(0.1, 0.0) is None
    assert hedges(30) == pytest.approx(1 - 3 / (4 * 29 - 1), abs=1e-4)
    assert math.isnan(hedges(2))


@pytest.mark.parametrize("effect", [0.05, 0.3, 1.0])
def test_needed_is_the_smallest(effect: float) -> None:
    """One query fewer has less power than requested; what is detectable with that many is the effect."""
    n = needed(effect)
    assert n is not None
    assert power_of(effect, n) >= 0.8 > power_of(effect, n - 1)
    assert detectable(n) <= effect < detectable(n - 1)


def test_power_of_nothing_is_alpha() -> None:
    """Without an effect, the test speaks as often as it may be wrong."""
    assert power_of(0.0, 20, alpha=0.03) == pytest.approx(0.03, rel=1e-9)
    assert needed(0.0) is None


@pytest.mark.parametrize(
    ("n", "alpha"), [(40, 1e-3), (40, 1e-17), (40, 1e-100), (400, 1e-300)]
)
def test_levels_beyond_doubt(n: int, alpha: float) -> None:
    """A level however small has its effect, and its number of queries; or it has none, and that is reported."""
    least = detectable(n, alpha=alpha)

    assert math.isinf(least) or power_of(least, n, alpha=alpha) >= 0.8
    assert least > detectable(n)


def test_power_far_out() -> None:
    """An effect far beyond doubt has power 1, not a number that is none."""
    assert power_of(3.0, 100_000) == 1.0


@pytest.mark.parametrize(("alpha", "power"), [(0, 0.8), (0.05, 1), (0.5, 0.4)])
def test_chances_are_chances(alpha: float, power: float) -> None:
    """Power is above alpha, and both are probabilities."""
    with pytest.raises(BadOption):
        needed(0.5, alpha=alpha, power=power)
