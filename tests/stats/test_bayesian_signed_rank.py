"""The Bayesian signed-rank test, against the posterior as its authors define it."""

from __future__ import annotations

import numpy as np
import pytest

from rankstone.stats.bayesian_signed_rank import practical_difference


def _posterior(differences: list[float], rope: float) -> list[float]:
    """Return the three probabilities by the definition: Dirichlet weights, all pairs written down."""
    rng = np.random.default_rng(7)
    values = np.array([0.0, *differences])
    averages = (values[:, None] + values) / 2
    weights = rng.dirichlet([0.5] + [1.0] * len(differences), 40_000)
    below = np.einsum("si,ij,sj->s", weights, averages < -rope, weights)
    above = np.einsum("si,ij,sj->s", weights, averages > rope, weights)
    sides = np.argmax([below, 1 - below - above, above], axis=0)
    shares: list[float] = (np.bincount(sides, minlength=3) / len(weights)).tolist()
    return shares


@pytest.mark.parametrize(
    "differences",
    [
        [0.02, 0.05, -0.01, 0.03, 0.0, 0.04],
        [-0.2, 0.01, 0.01, 0.01, 0.02, 0.01, 0.03],
        [0.0, 0.0, 0.0, 0.005],
        [-0.03] * 9,
    ],
)
def test_it_is_the_posterior(differences: list[float]) -> None:
    """Within four standard errors of both simulations."""
    probabilities = practical_difference(np.array(differences), 0.01)
    expected = _posterior(differences, 0.01)

    for ours, theirs in zip(
        (probabilities.below, probabilities.within, probabilities.above),
        expected,
        strict=True,
    ):
        error = np.sqrt(max(theirs * (1 - theirs), 1e-4) * (1 / 20_000 + 1 / 40_000))
        assert ours == pytest.approx(theirs, abs=4 * error + 1e-4)
    assert (
        probabilities.below + probabilities.within + probabilities.above
        == pytest.approx(1)
    )


def test_the_other_way_round_and_no_queries() -> None:
    """Losses mirror gains; without a difference the pseudo-observation is all there is."""
    gains = np.array([0.02, 0.05, -0.01, 0.03, 0.3, 0.04])
    probabilities = practical_difference(gains, 0.01)
    other = practical_difference(-gains, 0.01)

    assert probabilities.above == pytest.approx(other.below, abs=0.02)
    nothing = practical_difference(np.zeros(0), 0.01)
    assert nothing.within > 0.999
    assert nothing.above > 0


def test_a_seed_gives_the_same_numbers() -> None:
    """Bit by bit; another seed draws others."""
    gains = np.random.default_rng(1).normal(0.02, 0.1, 300)

    first, again, other = (
        practical_difference(gains, 0.01, seed=seed).above for seed in (0, 0, 1)
    )
    assert first == again != other
