"""The posterior of true means: what it moves, what it leaves, and that what it says is true as often."""

from __future__ import annotations

import numpy as np
import pytest

from rankstone.boards.cells import ScoringRule
from rankstone.stats.posterior_means import posterior_means


def test_a_larger_error_moves_a_mean_further() -> None:
    """Of two equal means above the others the one with the larger error is nearer to them."""
    means = np.array([0.9, 0.9, 0.5, 0.4, 0.3, 0.45])
    drawn = posterior_means(means, np.diag([0.001, 0.1, *[0.001] * 4]))

    sure, unsure = drawn[:, :2].mean(axis=0)
    assert abs(sure - 0.9) < 0.02
    assert means.mean() < unsure < sure - 0.1
    assert drawn[:, 1].std() > 3 * drawn[:, 0].std()


def test_small_errors_leave_means_alone() -> None:
    """Means that are nearly known stay, with the spread of their errors."""
    means = np.array([0.1, 0.4, 0.8])
    drawn = posterior_means(means, np.diag([1e-6] * 3), count=4000)

    assert drawn.mean(axis=0) == pytest.approx(means, abs=1e-4)
    assert drawn.std(axis=0) == pytest.approx(np.full(3, 1e-3), rel=0.05)


def test_shared_errors_move_means_together() -> None:
    """What all share moves no difference."""
    shared = np.full((4, 4), 4.0)
    drawn = posterior_means(np.array([1.0, 2.0, 3.0, 4.0]), shared + 1e-4 * np.eye(4))

    assert np.ptp(drawn - drawn[:, :1], axis=0).max() < 0.2


def test_order_and_scale_of_items_do_not_matter() -> None:
    """Permuted items have the same distribution; ten times the numbers, ten times the draws."""
    means = np.array([0.2, 0.5, 0.3, 0.9])
    covariance = np.diag([0.01, 0.02, 0.01, 0.04])
    drawn = posterior_means(means, covariance, count=8000)
    order = np.array([3, 0, 2, 1])
    permuted = posterior_means(
        means[order], covariance[np.ix_(order, order)], count=8000
    )

    assert permuted.mean(axis=0) == pytest.approx(drawn.mean(axis=0)[order], abs=0.01)
    assert posterior_means(10 * means, 100 * covariance, count=8000) == pytest.approx(
        10 * drawn
    )


def test_no_error_is_no_certainty() -> None:
    """Without any error there is nothing to draw from."""
    assert np.isnan(posterior_means(np.array([0.1, 0.2]), np.zeros((2, 2)))).all()


@pytest.mark.parametrize("cells", [1, 3, 10])
def test_what_is_stated_of_the_best_is_true_as_often(cells: int) -> None:
    """Chances from .3 on, of systems that have few cells and of the others, on 250 boards of 12 x 10."""
    rng = np.random.default_rng(cells)
    rows: list[tuple[float, float]] = []
    for _ in range(250):
        means = rng.normal(size=12) * 0.06
        values = means + rng.normal(size=(10, 1)) * 0.1
        values = values + rng.normal(size=(10, 12)) * 0.06
        for system in range(6):
            values[rng.permutation(10)[cells:], system] = np.nan
        estimated = ScoringRule("macro", "model", np.ones(10)).estimated(values)
        drawn = posterior_means(estimated.means, estimated.model_errors().covariance)
        share = np.bincount(drawn.argmax(axis=1), minlength=12) / len(drawn)
        for group in (slice(0, 6), slice(6, 12)):
            true = np.arange(12)[group] == means.argmax()
            rows += zip(share[group], true, strict=True)
    message, true = np.array(rows).T

    for low, high in ((0.3, 0.6), (0.6, 1.01)):
        inside = (message >= low) & (message < high)
        assert inside.sum() > 30
        assert abs(message[inside].mean() - true[inside].mean()) < 0.12
