"""The bootstrap over queries: what is drawn, and that a seed means the same bits everywhere."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from rankstone.diagnostics.curve_resampling import Resampling, resampled_means


def test_resampled_means_are_means_of_what_was_drawn() -> None:
    """Constants stay constant, counts stay counts, and the means scatter as a mean of 50 does."""
    draw = np.random.Generator(np.random.Philox(5))
    values = np.column_stack(
        [draw.random(50), np.full(50, 0.25), draw.integers(0, 2, 50)]
    )
    means = resampled_means(values, None, Resampling(resamples=400, seed=3))

    assert set(means[:, 1]) == {0.25}
    assert np.abs(means[:, 2] * 50 - np.rint(means[:, 2] * 50)).max() < 1e-9
    assert abs(means.mean(axis=0) - values.mean(axis=0)).max() < 0.05
    assert means[:, 0].std() == pytest.approx(
        values[:, 0].std() / math.sqrt(50), rel=0.2
    )


def test_rows_and_columns_beside_change_nothing() -> None:
    """A column's resamples are the same bits whatever stands beside it; further ones come behind."""
    values = np.random.Generator(np.random.Philox(1)).random((200, 40))
    whole = resampled_means(values, None, Resampling(resamples=30, seed=7))
    alone = resampled_means(values[:, :1], None, Resampling(resamples=10, seed=7))
    weighed = resampled_means(
        values, np.ones_like(values), Resampling(resamples=30, seed=7)
    )

    assert whole[:10, :1].tolist() == alone.tolist()
    assert weighed == pytest.approx(whole, abs=1e-11)
    assert (
        resampled_means(values, None, Resampling(resamples=30, seed=8)).tolist()
        != whole.tolist()
    )


CODE = """
import numpy as np
from rankstone.diagnostics.curve_resampling import Resampling, resampled_means
values = np.random.Generator(np.random.Philox(2)).random((3000, 300))
print(resampled_means(values, None, Resampling(resamples=64, seed=11)).tobytes().hex())
"""


def test_threads_change_no_bit() -> None:
    """Sums are sums of whole numbers, so the library for matrix products may do what it likes."""
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


def test_first_resamples_are_pinned() -> None:
    """A seed means the same on every machine and in every version."""
    values = np.arange(8.0)[:, None]
    mean = resampled_means(values, None, Resampling(resamples=3, seed=0))[:, 0]

    assert mean.tolist() == [25 / 8, 28 / 8, 33 / 8]
