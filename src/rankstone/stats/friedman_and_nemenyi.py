"""Ranks of systems within queries: Friedman's test, and Nemenyi's of all pairs.

Both test whether systems have the same ranks, not whether their means are equal: the size of a difference has
no effect.  The assumption is that systems without a difference are exchangeable within a query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import UsageError
from rankstone.stats.two_way_anova import absolute_gaps, f_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats

#: systems → queries up to which p of Friedman's test is exact: a tenth of a second
_EXACT_UP_TO: Final = {2: 60, 3: 30, 4: 10, 5: 3, 6: 2, 7: 2, 8: 2}


def ranks(scores: Floats, *, rounding: float = 1e-12) -> Floats:
    """Return the place of each score among those of its query, float64 ``[queries, systems]``.

    The lowest is 1; equal scores share the mean of their places.

    Parameters
    ----------
    scores
        float64 ``[queries, systems]``, without NaN.
    rounding
        Scores that are closer than this share of the largest are equal.

    Examples
    --------
    >>> ranks(np.array([[0.1, 0.5, 0.5], [0.9, 0.2, 0.4]])).tolist()
    [[1.0, 2.5, 2.5], [3.0, 1.0, 2.0]]
    """
    order = np.argsort(scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    gaps = np.diff(ordered, axis=1, prepend=-np.inf)

    # Equal scores are runs: each begins after a gap and ends before the next one.
    begins = gaps > rounding * np.abs(scores).max(initial=0.0)
    ends = np.roll(begins, -1, axis=1)
    ends[:, -1:] = True
    systems = scores.shape[1]
    place = np.arange(systems)
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    run_ends = np.where(ends, place, systems)
    last = np.minimum.accumulate(run_ends[:, ::-1], axis=1)[:, ::-1]

    places = np.empty(scores.shape)
    np.put_along_axis(places, order, (first + last) / 2 + 1, axis=1)
    return places


def _places(scores: Floats) -> Floats:
    """Return :func:`ranks` of scores that can be tested: one system or one query has nothing to differ from."""
    if min(scores.shape) < 2:  # noqa: PLR2004 - two of each
        queries, systems = scores.shape
        raise UsageError(
            "a test of ranks needs at least two queries and two systems",
            given=f"{queries} x {systems} scores",
            expected="scores[queries, systems]",
        )
    return ranks(scores)


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test of several systems, over the same queries.

    Attributes
    ----------
    chi_square, p_chi_square
        Friedman's statistic (1937), corrected for ties, and its p; NaN where all scores of every query are
        equal.
    f
        Iman and Davenport's F of it (1980), which keeps closer to its level.
    p
        The p to report: exact where there are few scores, of F elsewhere.
    method
        ``exact``: the share of all orders within queries that agree at least as much (Friedman 1937);
        ``f``: by the F distribution.
    df
        Degrees of freedom of systems and of error.
    """

    chi_square: float
    p_chi_square: float
    f: float
    p: float
    method: str
    df: tuple[int, int]


def friedman(scores: Floats) -> Friedman:
    """Test whether systems take the same places within queries.

    Parameters
    ----------
    scores
        float64 ``[queries, systems]``, without NaN, at least two of each.

    Examples
    --------
    Three queries that agree on the order of three systems.

    >>> test = friedman(np.array([[0.1, 0.2, 0.3], [0.4, 0.6, 0.7], [0.5, 0.7, 0.9]]))
    >>> test.chi_square, round(test.p_chi_square, 4)
    (6.0, 0.0498)

    Of the 6 x 6 x 6 orders, 6 agree as much as these.

    >>> round(test.p * 36, 9), test.method
    (1.0, 'exact')
    """
    from scipy import special

    places = _places(scores)
    n, m = scores.shape
    df = m - 1, (m - 1) * (n - 1)
    variance = _variance(places)
    if not variance:
        nothing = math.nan
        return Friedman(nothing, nothing, nothing, nothing, "exact", df)

    from_middle = places.mean(axis=0) - (m + 1) / 2
    between = float((from_middle**2).sum())
    chi_square = n * between / variance
    p_chi_square = float(special.chdtrc(m - 1, chi_square))

    rest = n * (m - 1) - chi_square
    all_agree = rest <= 1e-9 * n
    if all_agree:
        p = _all_orders_equal(places)
        return Friedman(chi_square, p_chi_square, math.inf, p, "exact", df)

    f = (n - 1) * chi_square / rest
    exact = _exact_tail(places)
    if exact is not None:
        return Friedman(chi_square, p_chi_square, f, exact, "exact", df)
    p = f_tail(f, *df)
    return Friedman(chi_square, p_chi_square, f, p, "f", df)


def _all_orders_equal(places: Floats) -> float:
    """Return how likely all queries have one order, whichever, if every order is as likely."""
    n, m = places.shape
    orders = float(math.factorial(m))
    for tied in np.unique(places[0], return_counts=True)[1]:
        orders /= math.factorial(tied)
    return float(orders ** (1 - n))


def _exact_tail(places: Floats) -> float | None:
    """Return how likely the rank sums differ at least as much if every order is as likely (Friedman 1937).

    None where the orders are too many to look at.
    """
    n, m = places.shape
    if n > _EXACT_UP_TO.get(m, 0):
        return None

    # shared places are halves
    doubled = np.rint(2 * places).astype(np.int64)
    rank_sums = doubled.sum(axis=0)
    observed = (rank_sums**2).sum()

    # Which system has which sum does not matter, so sums are sorted, and the first query has one order.
    sums = np.sort(doubled[:1], axis=1)
    chance: Floats = np.ones(1)
    for query in doubled[1:]:
        orders = np.array(sorted(set(permutations(query.tolist()))))
        reached = sums[:, None] + orders
        reached = np.sort(reached.reshape(-1, m), axis=1)
        sums, which = np.unique(reached, axis=0, return_inverse=True)

        shares = np.repeat(chance / len(orders), len(orders))
        chance = np.bincount(which.ravel(), shares).astype(np.float64)

    squares = (sums**2).sum(axis=1)
    return float(chance[squares >= observed].sum())


def _variance(places: Floats) -> float:
    """Return the variance of a place if every order were as likely; m(m + 1)/12 without ties."""
    n, m = places.shape
    from_middle = places - (m + 1) / 2
    squares = float((from_middle**2).sum())
    return squares / float(n * (m - 1))


def _mean_rank_gaps(scores: Floats) -> tuple[Floats, float]:
    """Return how far mean ranks are apart, ``[systems, systems]``, and the variance of a mean rank."""
    places = _places(scores)
    gaps = absolute_gaps(places.mean(axis=0))
    variance = _variance(places) / len(places)
    return gaps, variance


def nemenyi(scores: Floats) -> Floats:
    """Return p of the difference of mean ranks of every pair, adjusted for all pairs (Nemenyi 1963).

    The difference is compared with the studentised range, with the variance that ties leave.

    Parameters
    ----------
    scores
        float64 ``[queries, systems]``, without NaN, at least two of each.

    Returns
    -------
    NDArray
        float64 ``[systems, systems]``.

    Examples
    --------
    >>> nemenyi(np.array([[0.1, 0.2, 0.3], [0.4, 0.6, 0.7], [0.5, 0.7, 0.9]]))[0].round(3).tolist()
    [1.0, 0.438, 0.038]
    """
    gaps, variance = _mean_rank_gaps(scores)
    if not variance:
        return np.ones_like(gaps)
    error = math.sqrt(variance)
    return range_tail(gaps / error, len(gaps))


def nemenyi_reach(scores: Floats, alpha: float = 0.05) -> float:
    """Return the difference of mean ranks from which on p is at most ``alpha``, the critical difference."""
    _, variance = _mean_rank_gaps(scores)
    systems = scores.shape[1]
    return critical_range(systems, alpha) * math.sqrt(variance)


def range_tail(values: Floats, items: int) -> Floats:
    """Return the chance that the range of so many standard normal numbers is larger, of each value.

    Examples
    --------
    The range of two is ``√2`` times the absolute value of a normal number.

    >>> round(float(range_tail(np.array([1.959964 * 2**0.5]), 2)[0]), 6)
    0.05
    """
    from scipy import special

    # the trapezoid rule is exact to the last digits for functions that vanish smoothly at both ends
    lowest = np.arange(-9, 9, 0.01)
    height = np.exp(-(lowest**2) / 2) / math.sqrt(2 * math.pi)
    density = items * 0.01 * height

    distinct, place = np.unique(values, return_inverse=True)
    inside = np.empty(len(distinct))
    for number, width in enumerate(distinct):
        between = special.ndtr(lowest) - special.ndtr(lowest - width)
        inside[number] = density @ between ** (items - 1)
    tail: Floats = np.clip(1 - inside, 0.0, 1.0)
    return tail[place].reshape(values.shape)


def critical_range(items: int, alpha: float = 0.05) -> float:
    """Return the range of so many standard normal numbers that is exceeded with a chance of ``alpha``.

    >>> round(critical_range(2), 4), round(critical_range(10), 3)
    (2.7718, 4.474)
    """
    low = 0.0
    high = 40.0
    middle = 20.0
    while low < middle < high:
        tail = range_tail(np.array([middle]), items)
        if float(tail[0]) > alpha:
            low = middle
        else:
            high = middle
        middle = (low + high) / 2
    return high


def conover(scores: Floats) -> Floats:
    """Return p of the difference of rank sums of every pair after Friedman's test (Conover and Iman 1979).

    The difference is studentised by the variance that ranks have within systems; p is not corrected.

    Parameters
    ----------
    scores
        float64 ``[queries, systems]``, without NaN, at least two of each.

    Returns
    -------
    NDArray
        float64 ``[systems, systems]``.

    Examples
    --------
    >>> conover(np.array([[0.1, 0.2, 0.3], [0.4, 0.7, 0.6], [0.5, 0.7, 0.9]]))[0].round(3).tolist()
    [1.0, 0.047, 0.024]
    """
    from scipy import special

    places = _places(scores)
    n, m = scores.shape
    sums = places.sum(axis=0)
    gaps = absolute_gaps(sums)
    df = (n - 1) * (m - 1)
    rest = float((places**2).sum()) - float((sums**2).sum()) / n
    if rest <= 1e-12 * n * m**3:  # every query has the same ranks: t would be infinite
        return np.where(gaps > 0, _all_orders_equal(places), 1.0)

    p: Floats = 2 * special.stdtr(df, -gaps / math.sqrt(2 * n * rest / df))
    return p


def rank_z(scores: Floats) -> Floats:
    """Return p of the difference of mean ranks of every pair, by the normal distribution, not corrected.

    With Holm's correction it is the usual comparison with a control (Demšar, JMLR 7, 2006).

    Parameters
    ----------
    scores
        float64 ``[queries, systems]``, without NaN, at least two of each.

    Returns
    -------
    NDArray
        float64 ``[systems, systems]``.

    Examples
    --------
    >>> rank_z(np.array([[0.1, 0.2, 0.3], [0.4, 0.6, 0.7], [0.5, 0.7, 0.9]]))[0].round(3).tolist()
    [1.0, 0.221, 0.014]
    """
    from scipy import special

    gaps, variance = _mean_rank_gaps(scores)
    if not variance:
        return np.ones_like(gaps)
    p: Floats = 2 * special.ndtr(-gaps / math.sqrt(2 * variance))
    return p


def cliques(means: Sequence[float], reach: float) -> list[tuple[int, int]]:
    """Return the longest runs of sorted means that lie within a reach of each other: first and last place.

    >>> cliques([1.0, 1.5, 2.5, 3.0, 5.0], 1.2)
    [(0, 1), (1, 2), (2, 3)]
    """
    runs = []
    previous = -1
    for first, mean in enumerate(means):
        last = int(np.searchsorted(means, mean + reach, "right")) - 1
        if last > max(first, previous):
            runs.append((first, last))
        previous = last
    return runs
