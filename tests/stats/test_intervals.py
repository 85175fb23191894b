"""Intervals of means, of queries and of clusters."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from rankstone.errors import BadOption
from rankstone.stats import RESAMPLED, PoissonBootstrap, estimates
from rankstone.stats.sampling_units import Units

BOOTSTRAPS = RESAMPLED
METHODS = ("t", *RESAMPLED)


def skewed(seed: int = 1, n: int = 60) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.3, 0.3, (n, 1)) ** 3


@pytest.mark.parametrize("method", METHODS)
def test_holds_the_mean(method: str) -> None:
    """The mean is inside, wider confidence gives a wider interval, and the standard error is s / √n."""
    values = skewed()
    estimate = estimates(Units.from_scores(values), method)[0]
    (low, high), (lower, higher) = estimate.interval(0.9), estimate.interval(0.99)

    assert lower < low < values.mean() < high < higher
    assert estimate.error == pytest.approx(
        values.std(ddof=1) / math.sqrt(60), rel=1e-12
    )


@pytest.mark.parametrize("method", METHODS)
def test_nothing_varies(method: str) -> None:
    """Without any spread the data give no interval; a range does, that of a share of 9 out of 9."""
    units = Units.from_scores(np.full((9, 1), 0.25))
    low, high = estimates(units, method, span=(0.0, 1.0))[0].interval()

    assert all(map(math.isnan, estimates(units, method)[0].interval()))
    assert (low, high) == pytest.approx(
        (0.25 * 0.025 ** (1 / 9), 1 - 0.75 * 0.025 ** (1 / 9)), rel=1e-12
    )


@pytest.mark.parametrize("method", METHODS)
def test_one_query_says_nothing(method: str) -> None:
    """One query has no spread, so there is no interval."""
    assert all(
        map(
            math.isnan,
            estimates(Units.from_scores(np.array([[0.5]])), method)[0].interval(),
        )
    )


@pytest.mark.parametrize("method", METHODS)
def test_turned_round(method: str) -> None:
    """The interval of b - a is that of a - b turned round."""
    values = skewed()
    low, high = estimates(Units.from_scores(values), method)[0].interval()
    other = estimates(Units.from_scores(-values), method)[0].interval()

    assert other == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_columns_do_not_touch_each_other(method: str) -> None:
    """A column has the same interval, bit by bit, whatever stands beside it."""
    both = np.concatenate([skewed(1), 1000 * skewed(2)], axis=1)
    alone = estimates(Units.from_scores(both[:, :1]), method, resamples=300)[0]

    assert (
        estimates(Units.from_scores(both), method, resamples=300)[0].interval()
        == alone.interval()
    )


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_one_query_are_queries(method: str) -> None:
    """Clusters with one query each change nothing."""
    values = skewed()
    clustered = Units.from_scores(values, cluster=np.arange(60))

    assert (
        estimates(clustered, method)[0].interval()
        == estimates(Units.from_scores(values), method)[0].interval()
    )


@pytest.mark.parametrize("method", METHODS)
def test_queries_that_say_the_same_are_one(method: str) -> None:
    """Every query four times, a cluster each: the interval is that of the queries themselves."""
    values = skewed()
    four = Units.from_scores(
        np.repeat(values, 4, axis=0), cluster=np.repeat(np.arange(60), 4)
    )
    interval = estimates(four, method)[0].interval()

    assert interval == pytest.approx(
        estimates(Units.from_scores(values), method)[0].interval(), abs=1e-9
    )


def test_clusters_widen_what_depends() -> None:
    """Queries that go with their user say less than as many independent ones."""
    draw = np.random.default_rng(3)
    user = np.repeat(np.arange(30), 10)
    values = (draw.normal(0, 1, 30)[user] + draw.normal(0, 0.2, 300))[:, None]
    for method in METHODS:
        low, high = estimates(Units.from_scores(values, cluster=user), method)[
            0
        ].interval()
        narrow, wide = estimates(Units.from_scores(values), method)[0].interval()
        assert high - low > 2 * (wide - narrow), method


@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_threads_change_no_bit(method: str) -> None:
    """One thread or four: the same bits; another seed: others."""
    units = Units.from_scores(skewed(n=5000))
    first, four, other = (
        estimates(units, method, resamples=900, seed=seed, threads=threads)[
            0
        ].interval()
        for seed, threads in ((5, 1), (5, 4), (6, 4))
    )

    assert first == four != other


CODE = """
import numpy as np
from rankstone.stats import RESAMPLED, estimates
from rankstone.stats.sampling_units import Units
units = Units.from_scores(np.random.Generator(np.random.Philox(2)).random((3000, 40)))
for method in ("t", *RESAMPLED):
    print(method, [found.interval() for found in estimates(units, method, resamples=100)])
"""


def test_the_library_of_matrix_products_changes_no_bit() -> None:
    """Sums are sums of whole numbers, so threads inside of products do not matter either."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", CODE],
            env={
                **os.environ,
                "OPENBLAS_NUM_THREADS": threads,
                "OMP_NUM_THREADS": threads,
            },
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "5")
    }
    assert len(outputs) == 1


def test_streams_are_put_together_in_any_order() -> None:
    """Parts of a stream, merged in another order, are the stream, bit by bit."""
    values, keys = (
        skewed(n=900),
        np.random.default_rng(8).integers(0, 2**63, 900).astype(np.uint64),
    )
    whole = PoissonBootstrap(1, resamples=200, seed=4)
    whole.add(values, np.ones(900), keys)
    parts = [PoissonBootstrap(1, resamples=200, seed=4) for _ in range(3)]
    for position in (2, 0, 1):
        part = slice(300 * position, 300 * (position + 1))
        parts[position].add(values[part][::-1], np.ones(300), keys[part][::-1])
    parts[1].merge(parts[2])
    parts[1].merge(parts[0])

    assert np.array_equal(whole.means(), parts[1].means())
    assert parts[1].units == 900


def test_streams_of_two_seeds_do_not_mix() -> None:
    """Counts of two seeds have nothing to do with each other."""
    with pytest.raises(BadOption, match="belong together"):
        PoissonBootstrap(1, resamples=5, seed=1).merge(
            PoissonBootstrap(1, resamples=5, seed=2)
        )


def test_sums_that_would_not_be_exact_are_refused() -> None:
    """Totals beyond what whole numbers hold are reported, not rounded."""
    stream = PoissonBootstrap(1, resamples=5)
    with pytest.raises(BadOption, match="too large"):
        stream.add(np.array([[1e12]]), np.ones(1))


def test_streams_as_declared_and_read() -> None:
    """A stream that was written down and read again goes on as if nothing had been."""
    values, keys = np.arange(20.0).reshape(10, 2) / 7, np.arange(10, dtype=np.uint64)
    whole, part = (PoissonBootstrap(2, resamples=50, seed=3) for _ in range(2))
    whole.add(values, np.ones(10), keys)
    part.add(values[:4], np.ones(4), keys[:4])
    again = PoissonBootstrap.from_dict(json.loads(json.dumps(part.to_dict())), 2)
    again.add(values[4:], np.ones(6), keys[4:])
    assert np.array_equal(whole.means(), again.means(), equal_nan=True)
    assert (again.units, again.seed) == (10, 3)


def test_counts_are_poisson() -> None:
    """Counts have mean 1 and variance 1, and 0 comes with chance 1/e."""
    stream = PoissonBootstrap(1, resamples=400)
    counts = stream._counts(np.arange(2000, dtype=np.uint64))  # noqa: SLF001 - what all rests on

    assert counts.mean() == pytest.approx(1, abs=0.006)
    assert counts.var() == pytest.approx(1, abs=0.01)
    assert (counts == 0).mean() == pytest.approx(math.exp(-1), abs=0.003)
    assert (counts == 5).mean() == pytest.approx(math.exp(-1) / 120, abs=0.0005)


def test_unknown_interval() -> None:
    """An unknown name is reported, with the nearest."""
    with pytest.raises(BadOption, match="did you mean bca"):
        estimates(Units.from_scores(skewed()), "bcaa")


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_confidence_is_a_chance(confidence: float) -> None:
    """95 is no probability."""
    with pytest.raises(BadOption, match="out of range"):
        estimates(Units.from_scores(skewed()))[0].interval(confidence)


def jackknifed(totals: list[float], sizes: list[float]) -> float:
    """Return Efron's acceleration from the means without each unit (1987, eq. 7.3), written out."""
    without = [
        (math.fsum(totals) - total) / (math.fsum(sizes) - size)
        for total, size in zip(totals, sizes, strict=True)
    ]
    centre = math.fsum(without) / len(without)
    cubes = math.fsum((centre - mean) ** 3 for mean in without)
    squares = math.fsum((centre - mean) ** 2 for mean in without)
    return cubes / (6 * squares**1.5)


def test_the_acceleration_of_bca() -> None:
    """Of queries it is skewness over 6 √n, as SciPy has it; of clusters what the jackknife says."""
    for seed in range(5):
        values = skewed(seed, 40)
        acceleration = estimates(Units.from_scores(values), "bca", resamples=20)[
            0
        ].acceleration
        by_skewness = stats.skew(values[:, 0]) / (6 * math.sqrt(40))
        assert acceleration == pytest.approx(by_skewness, rel=1e-9)
        assert acceleration == pytest.approx(
            jackknifed(values[:, 0].tolist(), [1.0] * 40), rel=1e-9
        )
        sizes = np.random.default_rng(seed).integers(1, 9, 12)
        cluster = np.repeat(np.arange(12), sizes)
        drawn = skewed(seed, len(cluster))
        units = Units.from_scores(drawn, cluster=cluster)
        assert estimates(units, "bca", resamples=20)[0].acceleration == pytest.approx(
            jackknifed(
                np.bincount(cluster, drawn[:, 0]).tolist(), sizes.astype(float).tolist()
            ),
            rel=1e-9,
        )
    # 0, 0, 0, 1: distances of 1/4 and 3/4 from the mean; 3/8 over 6 (3/4)^1.5
    four = Units.from_scores(np.array([[0.0], [0.0], [0.0], [1.0]]))
    assert estimates(four, "bca", resamples=20)[0].acceleration == pytest.approx(
        (3 / 8) / (6 * 0.75**1.5)
    )


@pytest.mark.parametrize("tail", [0.025, 0.005, 0.1])
def test_the_ends_of_bca_are_quantiles_of_its_means(tail: float) -> None:
    """Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))) of the resamples, a and z₀ from the definition (eq. 6.8)."""
    values = skewed(4, 25)
    estimate = estimates(Units.from_scores(values), "bca", resamples=999)[0]
    drawn = estimate.drawn
    assert drawn is not None
    mean, normal = values.mean(), stats.norm()
    bias = normal.ppf(((drawn < mean).sum() + (drawn == mean).sum() / 2) / 999)
    slope = stats.skew(values[:, 0]) / (6 * math.sqrt(25))
    ends = []
    for quantile in (tail, 1 - tail):
        z = bias + normal.ppf(quantile)
        ends.append(np.quantile(drawn, normal.cdf(bias + z / (1 - slope * z))))
    assert estimate.limits(tail) == pytest.approx(ends, rel=1e-9)
