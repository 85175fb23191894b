"""Thresholds of the highest utility, and what they are worth on queries that had no part in choosing them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.night import NIGHT
from tests.stats.abstention_worlds import BASE_RATES, world

from rankstone.stats.random_streams import uniform
from rankstone.stats.score_thresholds import (
    SPLITS,
    HeldOut,
    best_threshold,
    shortest_between,
)

RNG = np.random.default_rng(6)
WORLDS = 500 if NIGHT else 40


def drawn(n: int, steps: int = 50) -> tuple[Any, Any]:
    """Return ascending scores with ties, and what answers are worth: 1 or -2."""
    score = np.sort(RNG.integers(0, steps, n) / steps)
    return score, np.where(RNG.random(n) < score, 1.0, -2.0)


@pytest.mark.parametrize("n", [1, 2, 9, 40])
def test_the_best_threshold_by_trying_all(n: int) -> None:
    """No other threshold has a higher utility on these queries."""
    for _ in range(5):
        score, worth = drawn(n, 10)
        every = [float(worth[score >= one].sum()) for one in (*score, math.inf)]
        best = best_threshold(score, worth)
        assert worth[score >= best].sum() == max(every)


@pytest.mark.parametrize(
    ("worth", "best"),
    [
        ((1, -1, 1, -1), -math.inf),
        ((-1, -1, -1, 1), 2.5),
        ((-1, 1, -1, -1), math.inf),
        ((-1, 1, -1, 1), 0.5),
        ((1, -2, 1, -1), math.inf),
        ((-0.5, 0.1, 0.2, -0.3), math.inf),
    ],
)
def test_of_equal_utilities_the_plain_rule(
    worth: tuple[float, ...], best: float
) -> None:
    """A threshold has to be worth more than answering always or never, whatever rounding does."""
    assert best_threshold(np.arange(4.0), np.array(worth)) == best


def test_equal_scores_are_not_parted() -> None:
    """The best place between equal scores is none."""
    score = np.array([1.0, 1.0, 2.0, 2.0])
    assert best_threshold(score, np.array([-1, 1, -1, 1])) == -math.inf
    assert best_threshold(score, np.array([-1, -1, -1, 3])) == 2.0


@given(st.floats(-1e6, 1e6, allow_nan=False), st.floats(1e-9, 1e6, allow_nan=False))
def test_a_short_threshold_cuts_where_the_gap_is(below: float, gap: float) -> None:
    """It is above the one score and not above the other, whatever they are."""
    above = below + gap
    if above > below:
        assert below < shortest_between(below, above) <= above


def test_a_half_decides_the_other_half() -> None:
    """As written out: each query is decided by thresholds of the halves to which it does not belong."""
    score, worth = drawn(31)
    held_out = HeldOut.of(score, worth, 3)
    answered = np.zeros((SPLITS, 31))
    for split in range(SPLITS):
        shuffled = np.argsort(uniform(3, split, size=31))
        halves = [np.flatnonzero(shuffled < 15), np.flatnonzero(shuffled >= 15)]
        for half, other in (halves, halves[::-1]):
            threshold = best_threshold(score[half], worth[half])
            for at in other:
                answered[split, at] = score[at] >= threshold
    assert held_out.answered == pytest.approx(answered.mean(axis=0))
    assert held_out.by_split == pytest.approx((answered * worth).mean(axis=1))
    assert len(held_out.thresholds) == 2 * SPLITS
    again = HeldOut.of(score, worth, 3)
    assert (again.answered == held_out.answered).all()
    others = HeldOut.of(score, worth, 4)
    assert (others.answered != held_out.answered).any()


def test_the_gain_is_the_lesser_of_two_gains() -> None:
    """Each end is the lesser of two; the upper one counts the spread of splits, and one more query."""
    score, worth = drawn(40)
    held_out = HeldOut.of(score, worth)
    gain = held_out.gain(1.0, -2.0, 0.9)
    over_always = (held_out.answered - 1) * worth
    over_never = held_out.answered * worth
    lows, highs = [], []
    for gains, largest in ((over_always, 2.0), (over_never, 1.0)):
        lows.append(stats.t.interval(0.9, 39, gains.mean(), stats.sem(gains))[0])
        more = np.append(gains, largest)
        error = math.sqrt(stats.sem(more) ** 2 + held_out.by_split.var(ddof=1))
        highs.append(stats.t.interval(0.9, 40, more.mean(), error)[1])
    means = min(over_always.mean(), over_never.mean())
    assert gain == pytest.approx((means, min(lows), min(highs)))
    assert gain[1] <= gain[0] <= gain[2]


def test_equal_decisions_leave_room_for_what_was_not_seen() -> None:
    """Where all deserve an answer the gain is 0 in every split, and yet it might be more elsewhere."""
    held_out = HeldOut.of(np.arange(20.0), np.ones(20))
    mean, low, high = held_out.gain(1.0, -2.0)
    assert (mean, low) == (0.0, 0.0)
    assert high > 0.1


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("base_rate", BASE_RATES)
def test_scores_that_say_nothing_get_no_threshold(n: int, base_rate: float) -> None:
    """A threshold is advised in at most 5 % of worlds, and held-out utilities are unbiased."""
    rng = np.random.default_rng([n, round(100 * base_rate)])
    worlds = [world(rng, n, base_rate, 0.0) for _ in range(WORLDS)]
    advised = sum(each["verdict"] == "use" for each in worlds)
    assert advised <= 0.05 * WORLDS
    errors = np.array([each["error"] for each in worlds])
    # of ten such bounds one or the other is passed by chance at two errors, so that three are allowed
    assert abs(errors.mean()) <= 3 * errors.std() / math.sqrt(WORLDS)


def test_scores_that_separate_get_one() -> None:
    """With an AUROC of .9 and two hundred queries nearly all worlds get a threshold."""
    rng = np.random.default_rng(1)
    verdicts = [world(rng, 200, 0.5, 1.812)["verdict"] for _ in range(20)]
    assert verdicts.count("use") >= 19
