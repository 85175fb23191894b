"""Boards against the libraries that people use for them: ranks, variances, paired comparisons."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from rankstone.stats import conover, friedman, nemenyi, ranks
from rankstone.stats.anova_and_friedman import range_tail

pytestmark = pytest.mark.parity
posthocs = pytest.importorskip("scikit_posthocs")
stats = pytest.importorskip("scipy.stats")

#: fresh data in every run that names a seed
SEED = int(os.environ.get("RANKSTONE_SEED", "23"))


def tables(*, tied: bool) -> list[np.ndarray]:
    """Return scores of few and of many systems, on few and on many data sets."""
    rng = np.random.default_rng(SEED + tied)
    sizes = [(rng.integers(3, 30), rng.integers(3, 15)) for _ in range(25)]
    return [rng.integers(0, 6, size) / 7 if tied else rng.normal(size=size) for size in sizes]


@pytest.mark.parametrize("tied", [False, True])
def test_friedman_and_conover(*, tied: bool) -> None:
    """SciPy's statistic, corrected for ties, and Conover's pairs by scikit-posthocs."""
    for table in tables(tied=tied):
        expected = stats.friedmanchisquare(*table.T)
        found = friedman(table)
        assert found.chi_square == pytest.approx(expected.statistic, rel=1e-10)
        assert found.p_chi_square == pytest.approx(expected.pvalue, abs=1e-10)
        pairs = posthocs.posthoc_conover_friedman(table).to_numpy()
        off = ~np.eye(len(pairs), dtype=bool)
        assert conover(table)[off] == pytest.approx(pairs[off], abs=1e-10)


def test_nemenyi() -> None:
    """The same p where no scores are tied."""
    for table in tables(tied=False):
        pairs = posthocs.posthoc_nemenyi_friedman(table).to_numpy()
        assert nemenyi(table) == pytest.approx(pairs, abs=1e-10)


def test_nemenyi_with_ties() -> None:
    """scikit-posthocs takes the variance that ranks have without ties; ours is that of the ranks."""
    for table in tables(tied=True):
        n, items = table.shape
        mean = ranks(table).mean(axis=0)
        error = math.sqrt(items * (items + 1) / (12 * n))
        pairs = posthocs.posthoc_nemenyi_friedman(table).to_numpy()
        assert range_tail(np.abs(mean[:, None] - mean) / error, items) == pytest.approx(pairs, abs=1e-10)
        assert (nemenyi(table) <= pairs + 1e-12).all()
