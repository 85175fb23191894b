"""The AUROC and its interval, and the nAUC of abstention: against their definitions, written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rankstone.stats.separation import nauc, separation

RNG = np.random.default_rng(4)


def test_ties_count_half() -> None:
    """It is the share of pairs in which the positive case is higher, equal ones half."""
    score = RNG.integers(0, 6, 40) / 2
    positive = RNG.random(40) < 0.4
    pairs = [
        1.0 if one > other else 0.5 if one == other else 0.0
        for one in score[positive]
        for other in score[~positive]
    ]
    kinds = separation(score, positive)
    assert kinds is not None
    assert kinds[0] == pytest.approx(sum(pairs) / len(pairs))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_the_ends_solve_the_equation_of_newcombe(share: float) -> None:
    """At each end the distance to the AUROC is z times the error of an AUROC that is the end itself."""
    positive = RNG.random(60) < share
    score = RNG.normal(size=60) + 0.7 * positive
    kinds = separation(score, positive, confidence=0.9)
    assert kinds is not None
    auroc, low, high = kinds
    m = int(positive.sum())
    n = 60 - m
    z = 1.6448536269514722  # 95 % of a normal distribution
    for end in (low, high):
        pairs = (m + n) / 2 - 1
        spread = 1 + pairs * (1 - end) / (2 - end) + pairs * end / (1 + end)
        variance = end * (1 - end) * spread / (m * n)
        assert abs(auroc - end) == pytest.approx(z * math.sqrt(variance))
    assert low < auroc < high


def test_at_a_half_it_is_the_test_of_mann_and_whitney() -> None:
    """The interval just reaches 1/2 where the normal test without ties has exactly its level."""
    m, n = 30, 20
    error = math.sqrt((m + n + 1) / (12 * m * n))
    for auroc, excluded in ((0.5 + 1.97 * error, True), (0.5 + 1.95 * error, False)):
        wins = round(auroc * m * n)
        # so many negatives are below the positives, one after another
        below = np.full(m, wins // m) + (np.arange(m) < wins % m)
        score = np.concatenate([below + 0.5, np.arange(1, n + 1)])
        positive = np.arange(m + n) < m
        kinds = separation(score, positive)
        assert kinds is not None
        assert kinds[0] == pytest.approx(wins / (m * n))
        assert (kinds[1] > 0.5) == excluded


def test_ends_of_kinds_that_are_apart_and_of_one_kind() -> None:
    """A perfect AUROC has an interval below it; there is none of a single kind."""
    positive = np.arange(12) >= 6
    apart = separation(np.arange(12.0), positive)
    turned = separation(-np.arange(12.0), positive)
    assert apart is not None
    assert turned is not None
    assert (apart[0], apart[2]) == (1.0, 1.0)
    assert 0.5 < apart[1] < 0.9
    assert turned[:2] == (0.0, 0.0)
    assert turned[2] == pytest.approx(1 - apart[1])
    assert separation(np.arange(3.0), np.ones(3, bool)) is None


def by_definition(confidence: Any, value: Any) -> float:
    """Return the nAUC without ties, step by step: three curves at ten rates, their areas."""

    def curve(order: list[int]) -> list[float]:
        heights = []
        for tenth in range(10):
            out = min(round(tenth / 10 * len(order)), len(order) - 1)
            kept = [value[at] for at in order[out:]]
            heights.append(sum(kept) / len(kept))
        return heights

    def area(heights: list[float]) -> float:
        return sum((heights[at] + heights[at + 1]) / 2 / 10 for at in range(9))

    cases = range(len(value))
    raw = area(curve(sorted(cases, key=lambda at: confidence[at])))
    oracle = area(curve(sorted(cases, key=lambda at: value[at])))
    flat = sum(value) / len(value) * 0.9
    return (raw - flat) / (oracle - flat)


@pytest.mark.parametrize("n", [2, 7, 25, 53])
def test_nauc_by_its_definition(n: int) -> None:
    """As published: the area between the flat curve (0) and the oracle's (1)."""
    confidence = RNG.normal(size=n)
    value = RNG.random(n)
    assert nauc(confidence, value) == pytest.approx(by_definition(confidence, value))
    assert nauc(value, value) == pytest.approx(1)


def test_nauc_of_ties_does_not_depend_on_the_order() -> None:
    """Queries of one confidence share their mean, so constant confidence abstains at random."""
    value = RNG.random(20)
    assert nauc(np.ones(20), value) == pytest.approx(0)
    confidence = RNG.integers(0, 4, 20).astype(float)
    order = RNG.permutation(20)
    again = nauc(confidence[order], value[order])
    assert nauc(confidence, value) == pytest.approx(again)


def test_nauc_without_anything_to_order() -> None:
    """Equal values and no values have none."""
    assert nauc(np.arange(5.0), np.full(5, 0.3)) is None
    assert nauc(np.array([]), np.array([])) is None
