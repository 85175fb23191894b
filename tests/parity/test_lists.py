"""SciPy's correlations on fresh random data, with ties and without."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import rankstone

pytestmark = pytest.mark.parity

CASES = 400


@pytest.fixture(scope="module")
def stats() -> Any:
    return pytest.importorskip(
        "scipy.stats", reason="SciPy is not installed: make parity"
    )


def worlds() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return scores of the same things, from heavily tied to untied, a constant here and there."""
    rng = np.random.default_rng(17)
    runs: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for index in range(CASES):
        n, levels = (
            int(rng.integers(2, 60)),
            int(rng.choice([1, 2, 5, 1000], p=[0.02, 0.28, 0.4, 0.3])),
        )
        for run in runs:
            run[f"q{index}"] = {
                f"d{i}": float(v) for i, v in enumerate(rng.integers(0, levels, n))
            }
    return runs


def lexicographic(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return each element's place by the first scores, then by the second, from 0, the largest first."""
    place = np.empty(len(first), np.intp)
    place[np.lexsort((-second, -first))] = np.arange(len(first))
    return place


PEERS = {
    "tau_b": lambda stats, x, y: stats.kendalltau(x, y).statistic,
    "rho": lambda stats, x, y: stats.spearmanr(x, y).statistic,
    "wtau": lambda stats, x, y: stats.weightedtau(x, y).statistic,
    "wtau(weights=multiplicative)": lambda stats, x, y: (
        stats.weightedtau(x, y, additive=False).statistic
    ),
    "wtau(ranks=first)": lambda stats, x, y: (
        stats.weightedtau(x, y, rank=lexicographic(x, y)).statistic
    ),
    "wtau(ranks=second)": lambda stats, x, y: (
        stats.weightedtau(x, y, rank=lexicographic(y, x)).statistic
    ),
}


@pytest.mark.parametrize("text", list(PEERS))
def test_scipy(stats: Any, text: str) -> None:
    """The same value wherever there is one; SciPy's NaN is our null with a status."""
    first, second = worlds()
    per_query = rankstone.diff(first, second, text).per_query
    wrong, undefined = [], 0
    for query, value, status in per_query.select(
        "query_id", "value", "status"
    ).iter_rows():
        x, y = (np.array(list(run[query].values())) for run in (first, second))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a constant is worth a warning to SciPy
            expected = float(PEERS[text](stats, x, y))
        undefined += status == "constant"
        if math.isnan(expected) != (value is None) or (
            value is not None and abs(value - expected) > 1e-12
        ):
            wrong.append((query, value, expected))

    assert not wrong
    assert undefined >= 3


def test_scipy_on_a_long_list(stats: Any) -> None:
    """A hundred thousand documents, many of them tied, counted in one go."""
    rng = np.random.default_rng(23)
    x, y = (
        rng.integers(0, 30_000, 100_000).astype(float),
        rng.integers(0, 500, 100_000).astype(float),
    )

    assert rankstone.similarity(x, y, "tau_b") == pytest.approx(
        stats.kendalltau(x, y).statistic, abs=1e-12
    )
    assert rankstone.similarity(x, y, "wtau") == pytest.approx(
        stats.weightedtau(x, y).statistic, abs=1e-9
    )
