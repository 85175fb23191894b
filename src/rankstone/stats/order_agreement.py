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

if TYPE_CHECKING:
    from rankstone._basics import Floats


#: the fewest systems, and queries, with which intervals were found to hold
FEWEST, FEWEST_QUERIES = 5, 5
#: samples of the bootstrap, and groups of queries of the jackknife
_SAMPLES: Final = 300
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


def taus(one: Floats, other: Floats) -> Floats:
    """Return Kendall's tau-b of each row, float64 ``[rows]``; NaN where all of a row is equal.

    >>> taus(np.array([[3.0, 2.0, 1.0]]), np.array([[3.0, 1.0, 2.0]])).round(4).tolist()
    [0.3333]
    """
    found = np.full(len(one), math.nan)
    each = max(1, _CELLS // one.shape[1] ** 2)
    for begin in range(0, len(one), each):
        rows = slice(begin, begin + each)
        x = _signs(one[rows])
        y = _signs(other[rows])
        pairs = np.sqrt((x * x).sum(axis=(1, 2)) * (y * y).sum(axis=(1, 2)))
        np.divide((x * y).sum(axis=(1, 2)), pairs, out=found[rows], where=pairs > 0)
    return found


def order_agreement(
    one: Floats,
    other: Floats,
    *,
    paired: bool = True,
    confidence: float = 0.95,
    seed: int = 0,
) -> OrderAgreement:
    """Compare the orders of systems by two sets of scores.

    Parameters
    ----------
    one, other
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
    from scipy import special

    tables = one, other
    means = [table.mean(axis=0)[None] for table in tables]
    tau = float(taus(*means)[0])
    n = min(map(len, tables))
    systems = one.shape[1]
    if n < FEWEST_QUERIES or systems < FEWEST or math.isnan(tau):
        return OrderAgreement(tau, math.nan, math.nan, n)
    if paired and (one == other).all():
        return OrderAgreement(tau, tau, tau, n)
    shares = [
        _counts(len(table), seed + at * (not paired)) for at, table in enumerate(tables)
    ]
    drawn = taus(*(each @ table for each, table in zip(shares, tables, strict=True)))
    change = tau - float(np.nanmean(drawn))
    left = [_without_groups(table) for table in tables]
    each = [left] if paired else [[left[0], means[1]], [means[0], left[1]]]
    variance = change**2 + float(np.nanvar(drawn))
    variance += sum(_jackknifed(taus(*np.broadcast_arrays(*pair))) for pair in each)
    reach = float(special.stdtrit(n - 1, 0.5 + confidence / 2)) * math.sqrt(variance)
    centre = tau + _BACK * change
    pairs = systems * (systems - 1) / 2
    low = min(_steps_below(centre - reach, pairs), tau - 2 / pairs)
    high = max(-_steps_below(-centre - reach, pairs), tau + 2 / pairs)
    return OrderAgreement(tau, max(low, -1.0), min(high, 1.0), n)


def _steps_below(tau: float, pairs: float) -> float:
    """Return the value of tau that some number of discordant pairs gives, no higher than this.

    >>> _steps_below(0.75, 10)
    0.6
    """
    return 1 - 2 * math.ceil((1 - tau) * pairs / 2 - _ROUNDING) / pairs


def _signs(means: Floats) -> Floats:
    """Return the signs of all differences, 0 for rounding, float64 ``[rows, systems, systems]``."""
    gaps = means[:, :, None] - means[:, None, :]
    gaps[np.abs(gaps) <= _ROUNDING * np.abs(means).max(initial=0.0)] = 0.0
    signs: Floats = np.sign(gaps)
    return signs


@lru_cache(maxsize=8)
def _counts(queries: int, seed: int) -> Floats:
    """Return the share of each query in each sample of the bootstrap, float64 ``[samples, queries]``."""
    return draws(queries, seed, range(_SAMPLES)) / queries


def _without_groups(table: Floats) -> Floats:
    """Return the means without each group of queries, single ones if few, float64 ``[groups, systems]``."""
    groups = np.arange(len(table)) % min(len(table), _GROUPS)
    sums = np.stack([np.bincount(groups, column) for column in table.T], axis=1)
    size = np.bincount(groups)[:, None]
    found: Floats = (table.sum(axis=0) - sums) / (len(table) - size)
    return found


def _jackknifed(left: Floats) -> float:
    """Return the jackknife's variance of a number from its values without each group."""
    return (len(left) - 1) * float(np.nanvar(left))
