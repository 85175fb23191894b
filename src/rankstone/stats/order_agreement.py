"""Agreement of two orders of systems by their means over queries, and how sure it is for other queries.

Noise in the means moves close systems past each other, so the observed correlation differs from that of the
systems' true means.  The bootstrap shows by how much further noise of the same size changes it.  That change
is proportional to the variance of the noise where true means are spread smoothly, and to its standard
deviation where the two orders are nearly the same; the correction is half-way between (Cook and Stefanski
1994 call such corrections simulation extrapolation).

τ moves in steps: one pair that changes places moves it by 2 over the number of pairs.  The jackknife, whose
changes are small, seldom sees a pair change places that the noise of all queries might well turn, so its
variance and that of the bootstrap are added; and ends are steps, beyond what is observed on either side.
``benchmarks/reproduction.py`` measures the coverage.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.random_streams import draws
from rankstone.stats.student_t import two_sided_t

if TYPE_CHECKING:
    from rankstone._basics import Floats


#: the fewest systems, and queries, with which intervals were found to hold
FEWEST: Final = 5
FEWEST_QUERIES: Final = 5
#: samples of the bootstrap
_SAMPLES: Final = 300
#: groups of queries of the jackknife
_GROUPS: Final = 200
#: the share of the bootstrap's change that is taken back: half-way between 1 and 1 / (√2 - 1)
_BACK: Final = 1.7
#: pairs of systems that are held in memory at once
_CELLS: Final = 1 << 20
#: differences below this share of the largest mean are rounding
_ROUNDING: Final = 1e-12


class OrderAgreement(Record):
    """Kendall's tau-b of two orders of systems.

    Attributes
    ----------
    tau
        As observed, between -1 and 1.
    low, high
        Limits for the orders by true means; NaN with fewer than :data:`FEWEST` systems or
        :data:`FEWEST_QUERIES` queries.  Both are 1 for scores that are all the same.
    n
        The number of queries, of the smaller set where there are two.
    """

    tau: float
    low: float
    high: float
    n: int


def taus(left: Floats, right: Floats) -> Floats:
    """Return Kendall's tau-b of each row of means, float64 ``[rows]``; NaN where all of a row is equal.

    >>> taus(np.array([[3.0, 2.0, 1.0]]), np.array([[3.0, 1.0, 2.0]])).round(4).tolist()
    [0.3333]
    """
    rows, systems = left.shape
    tau = np.full(rows, math.nan)
    size = max(1, _CELLS // systems**2)
    for begin in range(0, rows, size):
        block = slice(begin, begin + size)
        x = _signs(left[block])
        y = _signs(right[block])

        untied_x = (x * x).sum(axis=(1, 2))
        untied_y = (y * y).sum(axis=(1, 2))
        agreement = (x * y).sum(axis=(1, 2))
        pairs = np.sqrt(untied_x * untied_y)
        np.divide(agreement, pairs, out=tau[block], where=pairs > 0)
    return tau


def order_agreement(
    left: Floats,
    right: Floats,
    *,
    paired: bool = True,
    confidence: float = 0.95,
    seed: int = 0,
) -> OrderAgreement:
    """Compare the orders of systems by two sets of scores.

    Parameters
    ----------
    left, right
        float64 ``[queries, systems]``, the same systems; higher is better.
    paired
        True if both have the same queries, as scores by two measures do.
    confidence
        Of the interval.
    seed
        Of the bootstrap.

    Examples
    --------
    The same order on every query, but a pair of ten may change places:

    >>> scores = np.linspace(0, 1, 5) + np.linspace(0.0, 0.3, 6)[:, None]
    >>> agreement = order_agreement(scores, scores**2)
    >>> agreement.tau, agreement.low, agreement.high
    (1.0, 0.8, 1.0)
    """
    left_means = left.mean(axis=0)[None]
    right_means = right.mean(axis=0)[None]
    tau = float(taus(left_means, right_means)[0])
    n = min(len(left), len(right))
    systems = left.shape[1]
    if n < FEWEST_QUERIES or systems < FEWEST or math.isnan(tau):
        return OrderAgreement(tau, math.nan, math.nan, n)
    if paired and (left == right).all():
        return OrderAgreement(tau, tau, tau, n)

    right_seed = seed + (not paired)
    resampled = taus(_resampled_means(left, seed), _resampled_means(right, right_seed))
    change = tau - float(np.nanmean(resampled))
    variance = change**2 + float(np.nanvar(resampled))

    left_without = _means_without_groups(left)
    right_without = _means_without_groups(right)
    if paired:
        variance += _jackknife_variance(left_without, right_without)
    else:
        by_left = _jackknife_variance(left_without, right_means)
        by_right = _jackknife_variance(left_means, right_without)
        variance += by_left + by_right
    reach = two_sided_t(confidence, n - 1) * math.sqrt(variance)
    centre = tau + _BACK * change
    pairs = systems * (systems - 1) / 2
    low = min(_step_below(centre - reach, pairs), tau - 2 / pairs)
    high = max(-_step_below(-centre - reach, pairs), tau + 2 / pairs)
    return OrderAgreement(tau, max(low, -1.0), min(high, 1.0), n)


def _step_below(tau: float, pairs: float) -> float:
    """Return the value of tau that some number of discordant pairs gives, no higher than this.

    >>> _step_below(0.75, 10)
    0.6
    """
    discordant = math.ceil((1 - tau) * pairs / 2 - _ROUNDING)
    return 1 - 2 * discordant / pairs


def _signs(means: Floats) -> Floats:
    """Return the signs of all differences, 0 for rounding, float64 ``[rows, systems, systems]``."""
    gaps = means[:, :, None] - means[:, None, :]
    rounding = _ROUNDING * np.abs(means).max(initial=0.0)
    gaps[np.abs(gaps) <= rounding] = 0.0
    return np.sign(gaps)


def _resampled_means(table: Floats, seed: int) -> Floats:
    """Return the means in each sample of the bootstrap, float64 ``[samples, systems]``."""
    return _query_shares(len(table), seed) @ table


@lru_cache(maxsize=8)
def _query_shares(queries: int, seed: int) -> Floats:
    """Return the share of each query in each sample of the bootstrap, float64 ``[samples, queries]``."""
    return draws(queries, seed, range(_SAMPLES)) / queries


def _means_without_groups(table: Floats) -> Floats:
    """Return the means without each group of queries, single ones if few, float64 ``[groups, systems]``."""
    queries = len(table)
    groups = np.arange(queries) % min(queries, _GROUPS)
    sums = np.stack([np.bincount(groups, column) for column in table.T], axis=1)
    size = np.bincount(groups)[:, None]
    means: Floats = (table.sum(axis=0) - sums) / (queries - size)
    return means


def _jackknife_variance(left: Floats, right: Floats) -> float:
    """Return the variance of tau from means without each group; those of one row are of all queries."""
    tau = taus(*np.broadcast_arrays(left, right))
    return (len(tau) - 1) * float(np.nanvar(tau))
