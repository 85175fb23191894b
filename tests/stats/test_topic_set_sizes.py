"""Sizes of topic sets: noncentral F and t by numerical integration, and simulated powers and widths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from rankstone.comparison import power
from rankstone.stats.sample_size import needed, power_of, smallest_n
from rankstone.stats.topic_set_sizes import (
    detectable_among,
    expected_width,
    power_among,
)


@pytest.mark.parametrize("systems", [3, 5, 20])
@pytest.mark.parametrize("n", [2, 10, 50, 400])
@pytest.mark.parametrize("effect", [0.05, 0.3, 1.0])
def test_power_among_systems_is_the_noncentral_f(
    systems: int, n: int, effect: float
) -> None:
    """A Poisson mixture of beta distributions, summed here."""
    dfn, dfd = systems - 1, (systems - 1) * (n - 1)
    limit, shift = stats.f.ppf(0.95, dfn, dfd), n * effect**2
    share = dfn * limit / (dfn * limit + dfd)
    counts = np.arange(3000)
    below = (
        stats.poisson.pmf(counts, shift / 2)
        * stats.beta.cdf(share, dfn / 2 + counts, dfd / 2)
    ).sum()
    assert power_among(effect, n, systems) == pytest.approx(1 - below, abs=1e-6)


@pytest.mark.parametrize("n", [2, 5, 30, 300])
def test_power_of_two_is_the_noncentral_t(n: int) -> None:
    """An integral over the standard deviation; two systems have the power of the t-test."""
    limit, shift = stats.t.ppf(0.975, n - 1), 0.4 * np.sqrt(n)

    def of(spread: float) -> float:
        outside = stats.norm.sf(limit * spread - shift) + stats.norm.cdf(
            -limit * spread - shift
        )
        return float(
            outside * stats.chi.pdf(spread * np.sqrt(n - 1), n - 1) * np.sqrt(n - 1)
        )

    expected = integrate.quad(of, 0, np.inf, epsabs=1e-10, limit=400)[0]
    assert power_of(0.4, n) == pytest.approx(expected, abs=1e-6)
    assert power_among(0.4, n, 2) == pytest.approx(expected, abs=1e-6)


def test_simulated_power_among_systems() -> None:
    """The analysis of variance rejects as often as planned where the others lie in the middle."""
    rng, systems, rejected = np.random.default_rng(1), 6, 0
    n = smallest_n(lambda count: power_among(0.5, count, systems) >= 0.8)
    assert n is not None
    means = np.array([-0.25, 0.25, 0, 0, 0, 0])
    limit = stats.f.ppf(0.95, systems - 1, (systems - 1) * (n - 1))
    for _ in range(4000):
        scores = (
            means + rng.normal(size=(n, systems)) / np.sqrt(2) + rng.normal(size=(n, 1))
        )
        residual = (
            scores - scores.mean(0) - scores.mean(1, keepdims=True) + scores.mean()
        )
        error = (residual**2).sum() / ((systems - 1) * (n - 1))
        rejected += n * scores.mean(0).var(ddof=1) / error > limit
    assert rejected / 4000 == pytest.approx(power_among(0.5, n, systems), abs=0.02)
    assert power_among(0.5, n - 1, systems) < 0.8 <= power_among(0.5, n, systems)
    assert detectable_among(n, systems) == pytest.approx(0.5, rel=0.02)


def test_simulated_widths() -> None:
    """Intervals are as wide as planned on average."""
    rng = np.random.default_rng(2)
    n = smallest_n(lambda count: expected_width(count) <= 0.4)
    assert n is not None
    deviations = rng.normal(size=(4000, n)).std(axis=1, ddof=1)
    widths = 2 * stats.t.ppf(0.975, n - 1) * deviations / np.sqrt(n)
    assert widths.mean() == pytest.approx(expected_width(n), rel=0.01)
    assert expected_width(n) <= 0.4 < expected_width(n - 1)


def test_plans() -> None:
    """Of a number: among two systems is the t-test; a width shrinks with the square root of the queries."""
    assert power(0.2, 0.05, among=2).table["needed"].item() == needed(0.25)
    many = power(0.2, 0.05, among=30)
    assert (
        many.table["needed"].item()
        > power(0.2, 0.05, among=3).table["needed"].item()
        > needed(0.25)
    )
    assert "range of 30 systems" in many.text()
    widths = power(0.2, widths=[0.1, 0.05]).table["needed"].to_list()
    assert widths[1] / widths[0] == pytest.approx(4, rel=0.05)
    assert smallest_n(lambda count: power_among(1e-9, count, 5) >= 0.8) is None
