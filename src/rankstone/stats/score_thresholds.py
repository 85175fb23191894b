"""From which score a system should answer: the threshold of the highest utility, and what it is worth elsewhere.

A threshold looks better on the queries that chose it than on others.  So it is chosen again and again on random
halves of the queries, and each query is decided only by thresholds of halves to which it does not belong.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.random_streams import uniform
from rankstone.stats.student_t import two_sided_t

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats


#: how often the queries are split into halves, each of which chooses a threshold for the other
SPLITS: Final = 200
#: utilities that are as close as this are equal
_EQUAL: Final = 1e-9
#: decimals that are tried for a threshold
_DECIMALS: Final = range(-12, 17)


def best_threshold(score: Floats, worth: Floats) -> float:
    """Return the threshold from which on answers are worth most; infinite for always or never answering.

    Of equal utilities, always and never come first, then the lowest threshold, so that it is worth more than
    both.  It is the middle of its gap between two scores, rounded as far as the gap allows.

    Parameters
    ----------
    score
        Ascending, float64 ``[queries]``.
    worth
        What answering each query gains over no answer, float64 ``[queries]``.

    Examples
    --------
    >>> best_threshold(np.array([0.1, 0.2, 0.37, 0.49]), np.array([-1, -1, 1, 1]))
    0.3
    >>> best_threshold(np.array([0.1, 0.2]), np.array([1, 1]))
    -inf
    """
    sums = np.cumsum(worth[::-1])
    gain = np.append(sums[::-1], 0.0)
    gain[1:-1][np.diff(score) == 0] = -math.inf  # equal scores are not parted
    enough = gain.max() - _EQUAL
    if gain[0] >= enough:
        return -math.inf
    if gain[-1] >= enough:
        return math.inf
    cut = int((gain >= enough).argmax())
    return shortest_between(float(score[cut - 1]), float(score[cut]))


def shortest_between(below: float, above: float) -> float:
    """Return the middle of two numbers, rounded as far as it stays above the first and up to the second.

    >>> shortest_between(0.41873, 0.42311), shortest_between(18.2, 21.9), shortest_between(1234.0, 5678.0)
    (0.42, 20.0, 3000.0)
    """
    middle = below / 2 + above / 2
    for decimals in _DECIMALS:
        short = round(middle, decimals)
        if below < short <= above:
            return short
    return above


class HeldOut(Record):
    """What thresholds decide for queries that had no part in choosing them.

    Attributes
    ----------
    worth
        What answering each query gains, float64 ``[queries]``.
    answered
        In how many of the splits each query is answered, as a share, float64 ``[queries]``.
    by_split
        What the answers of each split gain over none, a mean over queries, float64 ``[SPLITS]``.
    thresholds
        Those that were chosen; infinite ones answer always or never.
    """

    worth: Floats
    answered: Floats
    by_split: Floats
    thresholds: list[float]

    @classmethod
    def of(cls, score: Floats, worth: Floats, seed: int = 0) -> HeldOut:
        """Choose thresholds on random halves of two or more queries, as for :func:`best_threshold`."""
        n = len(score)
        answers = np.zeros((SPLITS, n), bool)
        thresholds = []
        for split in range(SPLITS):
            shuffled = np.argsort(uniform(seed, split, size=n))
            first: Bools = shuffled < n // 2
            for half in (first, ~first):
                threshold = best_threshold(score[half], worth[half])
                answers[split, ~half] = score[~half] >= threshold
                thresholds.append(threshold)
        by_split = answers @ worth / n
        return cls(worth, answers.mean(axis=0), by_split, thresholds)

    def gain(
        self, right: float, wrong: float, confidence: float = 0.95
    ) -> tuple[float, float, float]:
        """Return the gain over the better of the plain rules, answering always and never, with its interval.

        Each query is a pair: what it is worth under thresholds that were chosen without it, and under the
        plain rule.  The gain over the better rule is the lesser of two gains, so each end is the lesser of
        two ends: thresholds gain only where they gain over both rules (intersection-union test; Berger,
        Technometrics 24, 1982), and which rule is better is not chosen on the data.  The upper end also
        counts how much splits differ, and a further query with the largest possible gain.

        Parameters
        ----------
        right, wrong
            What such answers gain over none, above and below 0.
        confidence
            Between 0 and 1.
        """
        from scipy import stats

        over_never = self.answered * self.worth
        over_always = over_never - self.worth
        gains = np.stack([over_always, over_never])
        more = np.column_stack([gains, [-wrong, right]])
        n = len(self.worth)
        mean = gains.mean(axis=1)
        low = mean - two_sided_t(confidence, n - 1) * stats.sem(gains, axis=1)
        error = np.hypot(stats.sem(more, axis=1), self.by_split.std(ddof=1))
        high = more.mean(axis=1) + two_sided_t(confidence, n) * error
        return float(mean.min()), float(low.min()), float(high.min())
