"""Corrections for several questions, against their definitions."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from tests.rows import each

from rankstone.errors import BadValue
from rankstone.stats import CORRECTIONS, adjusted, family_level


def drawn(seed: int, size: int = 6) -> np.ndarray:
    """Return p-values of which some are small."""
    draw = np.random.default_rng(seed)
    p: np.ndarray = draw.random(size) ** draw.choice([1, 4], size)
    return p


@pytest.mark.parametrize("seed", range(5))
def test_hommel_is_the_closure_of_simes(seed: int) -> None:
    """A question's p is the largest of Simes' test over all sets of questions that hold it."""
    p = drawn(seed)
    worst = np.zeros(len(p))
    for size in range(1, len(p) + 1):
        for item in map(list, combinations(range(len(p)), size)):
            simes = (np.sort(p[item]) * size / np.arange(1, size + 1)).min()
            worst[item] = np.maximum(worst[item], simes)

    assert adjusted(p, "hommel") == pytest.approx(worst, rel=1e-12)
    assert (adjusted(p, "hommel") <= adjusted(p, "hochberg") + 1e-15).all()


def test_sidak_is_the_chance_of_one_of_independent_tests() -> None:
    """1 - (1 - p)^m, also where p is tiny or 1; in steps the smallest is among m, the next among m - 1."""
    p = np.array([0.01, 1e-18, 0.2, 1.0])

    assert adjusted(p, "sidak") == pytest.approx(
        [1 - 0.99**4, 4e-18, 1 - 0.8**4, 1.0], rel=1e-12
    )
    assert adjusted(p, "holm_sidak") == pytest.approx(
        [1 - 0.99**3, 4e-18, 1 - 0.8**2, 1.0], rel=1e-12
    )


@pytest.mark.parametrize(
    "correction", ["holm_sidak", "sidak", "hommel", "hochberg", "holm"]
)
def test_the_familys_level_separates_claims_from_the_rest(correction: str) -> None:
    """A corrected p is at most alpha exactly where p is at most the level of the intervals."""
    for seed in range(200):
        p = drawn(seed)
        claimed = adjusted(p, correction) <= 0.05
        assert (claimed == (p <= family_level(p, correction) + 1e-15)).all()


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1, math.inf])
@each("correction", CORRECTIONS)
def test_what_is_no_p_value_is_refused(correction: str, bad: float) -> None:
    """Every correction names the first number that is no p-value; none passes it on as an answer."""
    for question in (adjusted, family_level):
        with pytest.raises(BadValue, match=r"p\[1\] is not a p-value") as caught:
            question([0.2, bad, 0.4], correction)
        assert f"given:    {bad:.6g}" in str(caught.value)


@pytest.mark.parametrize("bad", [0.5, [[0.1], [0.2]], ["a"]])
def test_p_values_are_one_row_of_numbers(bad: object) -> None:
    """A single number, a table and texts are refused with what was expected."""
    with pytest.raises(BadValue, match="expected: "):
        adjusted(bad)  # type: ignore[arg-type]
