"""Paired comparisons: by hand, by a general optimiser, and errors against repeated sampling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from rankstone.errors import NotComparable
from rankstone.stats.battles import Battles, circular_triads, elo
from rankstone.stats.paired_comparisons import (
    _bradley_terry,
    _davidson,
    _rao_kupper,
    fit_strengths,
)


def drawn(seed: int, items: int = 5, n: int = 300, ties: float = 0.2) -> Battles:
    """Return random battles of items that have all won."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=items) * 0.5
    left = rng.integers(0, items, n)
    right = (left + rng.integers(1, items, n)) % items
    chance = 1 / (1 + np.exp(strength[right] - strength[left]))
    outcome = np.where(rng.random(n) < chance, 0, 1)
    return Battles.from_columns(left, right, np.where(rng.random(n) < ties, 2, outcome))


def test_items_are_as_many_as_their_numbers_say() -> None:
    """From 0 to the largest; none without battles."""
    none = np.zeros(0, np.int64)

    assert Battles.from_columns(np.array([0]), np.array([2]), np.array([0])).items == 3
    assert Battles.from_columns(none, none, none).items == 0


def log_likelihood(battles: Battles, model: str, position: np.ndarray) -> float:
    """Return the log-likelihood as the papers write it, on the scale of odds."""
    items, several = battles.items, battles.covariates.shape[1]
    delta = (
        position[battles.left]
        - position[battles.right]
        + battles.covariates @ position[items : items + several]
    )
    first, other = np.exp(delta / 2), np.exp(-delta / 2)
    if model == "davidson":  # π₁ : π₂ : ν √(π₁ π₂)
        nu = math.exp(position[-1])
        chances = np.stack([first, other, np.full(len(first), nu)]) / (
            first + other + nu
        )
    else:  # π₁ / (π₁ + θ π₂), π₂ / (π₂ + θ π₁)
        theta = math.exp(position[-1]) if model == "rao_kupper" else 1.0
        wins = first / (first + theta * other), other / (other + theta * first)
        chances = np.stack(
            [
                *wins,
                1 - wins[0] - wins[1]
                if model == "rao_kupper"
                else np.sqrt(wins[0] * wins[1]),
            ]
        )
    return float(
        (battles.weight * np.log(chances[battles.outcome, np.arange(len(delta))])).sum()
    )


@pytest.mark.parametrize("model", ["bradley_terry", "davidson", "rao_kupper"])
@pytest.mark.parametrize("covariates", [0, 2])
def test_the_maximum_of_the_likelihood(model: str, covariates: int) -> None:
    """A general optimiser does not find a better one, with weights and covariates."""
    rng = np.random.default_rng(covariates)
    item = drawn(3)
    more = rng.normal(size=(len(item.left), covariates))
    battles = Battles.from_columns(
        item.left,
        item.right,
        item.outcome,
        rng.integers(1, 4, len(item.left)).astype(float),
        more,
    )
    fit = fit_strengths(battles, model)
    result = np.concatenate(
        [fit.strengths, fit.effects, [fit.tie] if model != "bradley_terry" else []]
    )
    likelihood = log_likelihood(battles, model, result)

    def loss(x: np.ndarray) -> float:
        with np.errstate(
            invalid="ignore", over="ignore"
        ):  # beyond the thresholds that are possible
            return float(np.nan_to_num(-log_likelihood(battles, model, x), nan=1e9))

    best = optimize.minimize(loss, result + 0.02, method="BFGS")

    assert likelihood >= -best.fun - 1e-7
    assert abs(fit.strengths.sum()) < 1e-12
    assert best.x[: battles.items] - best.x[: battles.items].mean() == pytest.approx(
        fit.strengths, abs=1e-3
    )


def test_two_items_by_hand() -> None:
    """Odds of the wins; with Davidson ν = ties / √(wins × losses), with Rao and Kupper θ by its formula."""
    left, outcome = np.zeros(10, np.int64), np.array([0] * 5 + [1] * 2 + [2] * 3)
    battles = Battles.from_columns(left, left + 1, outcome)
    plain = fit_strengths(battles).strengths
    assert math.exp(plain[0] - plain[1]) == pytest.approx((5 + 1.5) / (2 + 1.5))
    davidson = fit_strengths(battles, "davidson")
    assert math.exp(davidson.strengths[0] - davidson.strengths[1]) == pytest.approx(
        5 / 2
    )
    assert math.exp(davidson.tie) == pytest.approx(3 / math.sqrt(5 * 2))
    kupper = fit_strengths(battles, "rao_kupper")
    # .5 = 1 / (1 + θ / r) and .2 = 1 / (1 + θ r): θ / r = 1, θ r = 4
    assert math.exp(kupper.tie) == pytest.approx(2.0)
    assert math.exp(kupper.strengths[0] - kupper.strengths[1]) == pytest.approx(2.0)


def test_weights_are_counts() -> None:
    """A battle of weight 3 is three battles."""
    result = drawn(5)
    weight = np.random.default_rng(1).integers(1, 4, len(result.left))
    rows = np.repeat(np.arange(len(weight)), weight)
    whole = Battles.from_columns(
        result.left[rows], result.right[rows], result.outcome[rows]
    )
    weighted = Battles.from_columns(
        result.left, result.right, result.outcome, weight.astype(float)
    )

    assert fit_strengths(weighted).strengths == pytest.approx(
        fit_strengths(whole).strengths
    )
    assert weighted.wins == pytest.approx(whole.wins)


def test_an_advantage_of_the_left() -> None:
    """A constant covariate is the log odds of the left side between equal items."""
    left = np.array([0, 1] * 50)
    outcome = np.where(
        np.arange(100) // 2 % 4 == 3, 1, 0
    )  # the left wins three of four, whichever it is
    fit = fit_strengths(
        Battles.from_columns(left, 1 - left, outcome, covariates=np.ones((100, 1)))
    )

    assert fit.effects[0] == pytest.approx(math.log(76 / 24))


@pytest.mark.parametrize(
    ("left", "right", "outcome", "parts"),
    [
        ([0, 1], [1, 2], [0, 0], [[0], [1], [2]]),
        ([0, 1, 2, 3], [1, 0, 3, 2], [0, 0, 0, 0], [[0, 1], [2, 3]]),
        ([0, 1, 2, 3, 0], [1, 0, 3, 2, 2], [0, 0, 0, 0, 0], [[0, 1], [2, 3]]),
        ([0, 1], [1, 2], [2, 2], [[0, 1, 2]]),
    ],
)
def test_parts_that_cannot_be_ranked(
    left: list[int], right: list[int], outcome: list[int], parts: list[list[int]]
) -> None:
    """The maximum exists only where a chain of wins leads from any item to any other (Ford 1957)."""
    battles = Battles.from_columns(np.array(left), np.array(right), np.array(outcome))
    assert battles.parts() == parts
    if len(parts) > 1:
        with pytest.raises(NotComparable):
            fit_strengths(battles)


def test_covariates_that_decide_everything() -> None:
    """No maximum, and an error instead of an endless loop; models of ties need ties."""
    result = drawn(1, ties=0.0)
    separating = np.where(result.outcome == 0, 1.0, -1.0)[:, None]
    with pytest.raises(NotComparable, match="decide every battle"):
        fit_strengths(
            Battles.from_columns(
                result.left, result.right, result.outcome, covariates=separating
            )
        )
    with pytest.raises(NotComparable, match="needs ties"):
        fit_strengths(result, "davidson")


def test_errors_are_those_of_repeated_battles() -> None:
    """The sandwich agrees with the spread of strengths over samples, clustered and not."""
    rng = np.random.default_rng(2)
    spread, alone, clustered = [], [], []
    for _ in range(150):
        cluster = np.arange(600) // 20
        moved = rng.normal(size=(30, 4)) * 0.7
        left = rng.integers(0, 4, 600)
        right = (left + rng.integers(1, 4, 600)) % 4
        chance = 1 / (1 + np.exp(moved[cluster, right] - moved[cluster, left]))
        battles = Battles.from_columns(
            left, right, np.where(rng.random(600) < chance, 0, 1)
        )
        fit = fit_strengths(battles)
        spread.append(fit.strengths)
        alone.append(np.diag(fit.covariance())[:4])
        clustered.append(np.diag(fit.covariance(cluster))[:4])
        assert fit.inverse[:4, :4].sum() == pytest.approx(0, abs=1e-9)
    variance = np.var(spread, axis=0).mean()

    assert np.mean(clustered) == pytest.approx(variance, rel=0.15)
    assert np.mean(alone) < 0.6 * variance


@pytest.mark.parametrize("model", ["bradley_terry", "davidson", "rao_kupper"])
def test_errors_by_cluster_are_the_jackknife(model: str) -> None:
    """Fits without each cluster, and one step of Newton's method towards them, spread alike."""
    battles = drawn(4, n=900)
    cluster = np.minimum(
        np.arange(900) // 40, 14
    )  # the last one is nine times as large
    fit = fit_strengths(battles, model)
    moves = []
    for group in range(15):
        rows = cluster != group
        columns = (battles.left, battles.right, battles.outcome)
        strengths = fit_strengths(
            Battles.from_columns(*(column[rows] for column in columns)), model
        )
        moves.append(strengths.strengths - fit.strengths)
    jackknife = 14 / 15 * (np.array(moves) ** 2).sum(axis=0)
    covariance, df = fit.errors_by(cluster)
    assert np.diag(covariance)[:5] == pytest.approx(jackknife, rel=0.15)
    share = np.array([40] * 14 + [340]) / 900
    assert df == pytest.approx(1 / (share**2).sum() - 1, rel=0.25)


def test_equal_clusters_count_one_less_than_they_are() -> None:
    """And more than can be left out in turn count each, too."""
    battles = drawn(9, n=6000)
    fit = fit_strengths(battles)
    assert fit.errors_by(np.arange(6000) % 20)[1] == pytest.approx(19, rel=0.02)
    covariance, df = fit.errors_by(np.arange(6000) // 2)
    assert (df > 2000).all()
    assert np.diag(covariance) == pytest.approx(np.diag(fit.covariance()), rel=0.1)


def test_what_one_cluster_alone_has_seen() -> None:
    """A system that one judge alone saw has an error, and the fewest degrees of freedom."""
    battles = drawn(6, items=4, n=300)
    extra = np.array([0, 4, 4, 1]), np.array([4, 0, 1, 4]), np.array([0, 0, 1, 1])
    own = (battles.left, battles.right, battles.outcome)
    columns = (np.concatenate(pair) for pair in zip(own, extra, strict=True))
    cluster = np.concatenate([np.arange(300) % 12, np.zeros(4, np.int64)])
    covariance, df = fit_strengths(Battles.from_columns(*columns)).errors_by(cluster)
    assert np.isfinite(covariance).all()
    assert df[4] == df.min() < 1


def test_two_ways_of_clustering() -> None:
    """One way twice is that way; ways that agree on nothing add up, less that of single battles."""
    result = drawn(8, n=400)
    fit = fit_strengths(result, "davidson")
    judge, prompt = np.arange(400) // 20, np.arange(400) % 20
    single = fit.covariance(np.arange(400))
    both = fit.covariance(judge) + fit.covariance(prompt) - single

    assert fit.covariance(judge, judge) == pytest.approx(
        fit.covariance(judge), abs=1e-12
    )
    values = np.linalg.eigvalsh(both)
    assert np.linalg.eigvalsh(fit.covariance(judge, prompt)).max() == pytest.approx(
        values.max()
    )


def test_circular_triads() -> None:
    """Rock, paper, scissors; and an order."""
    rock = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert circular_triads(rock) == (1, 1)
    assert circular_triads(np.triu(np.ones((6, 6)), 1)) == (0, 20)
    assert circular_triads(np.zeros((4, 4))) == (0, 0)


def test_elo_by_hand() -> None:
    """One win of equal ones is half of k; the order of battles matters."""
    assert elo([0], [1], [0], 2, k=32).tolist() == [1016.0, 984.0]
    assert (
        elo([0, 0], [1, 1], [0, 1], 2).tolist()
        != elo([0, 0], [1, 1], [1, 0], 2).tolist()
    )


@pytest.mark.parametrize("model", [_bradley_terry, _davidson, _rao_kupper])
@pytest.mark.parametrize(("delta", "eta"), [(0.3, 0.4), (-1.2, 0.9), (2.5, 1.7)])
def test_slopes_are_those_of_the_logarithms_of_chances(
    model: Any, delta: float, eta: float
) -> None:
    """By differences of values nearby; chances of the outcomes sum to 1 where ties have one of their own."""
    step = 1e-4

    def values(delta: float, eta: float) -> np.ndarray:
        return np.array([float(row[0][0]) for row in model(np.array([delta]), eta)])

    slopes = np.array(
        [[float(part[0]) for part in row] for row in model(np.array([delta]), eta)]
    )
    here = values(delta, eta)
    up, down = values(delta + step, eta), values(delta - step, eta)
    more, less = values(delta, eta + step), values(delta, eta - step)
    both = values(delta + step, eta + step) - values(delta + step, eta - step)
    both -= values(delta - step, eta + step) - values(delta - step, eta - step)
    assert slopes[:, 1] == pytest.approx((up - down) / (2 * step), abs=1e-6)
    assert slopes[:, 2] == pytest.approx((more - less) / (2 * step), abs=1e-6)
    assert slopes[:, 3] == pytest.approx((up - 2 * here + down) / step**2, abs=1e-5)
    assert slopes[:, 4] == pytest.approx(both / (4 * step**2), abs=1e-5)
    assert slopes[:, 5] == pytest.approx((more - 2 * here + less) / step**2, abs=1e-5)
    assert np.exp(here[:2] if model is _bradley_terry else here).sum() == pytest.approx(
        1
    )
