"""Two-way analysis of variance without replication: systems, blocked on queries.

Ranks of systems within queries: Friedman's test, and Nemenyi's of all pairs.

Both test whether systems have the same ranks, not whether their means are equal: the size of a difference has
no effect.  The assumption is that systems without a difference are exchangeable within a query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats


#: a sum of squares below this share of all squares is what rounding leaves of none
_ROUNDING: Final = 1e-28


@dataclass(frozen=True, slots=True)
class Blocked:
    """An analysis of variance of ``score = system + query + error`` (Fisher 1925).

    Attributes
    ----------
    systems, queries, residual
        Sums of squares.
    df
        Degrees of freedom of systems, queries and error.
    error
        Mean square of the error: the variance that neither system nor query explains.
    f, p
        The F statistic of systems and its p; NaN where there is no error to divide by.
    """

    systems: float
    queries: float
    residual: float
    df: tuple[int, int, int]
    error: float
    f: float
    p: float


def two_way(scores: Floats) -> Blocked:
    """Analyse scores of systems for the same queries.

    Parameters
    ----------
    scores
        float64 ``[queries, systems]``, without NaN, at least two of each.

    Examples
    --------
    >>> found = two_way(np.array([[0.1, 0.2], [0.4, 0.6], [0.5, 0.7]]))
    >>> round(found.f, 6), found.df
    (25.0, (1, 2, 2))
    """
    n, m = scores.shape
    grand = scores.mean()
    system = scores.mean(axis=0) - grand
    query = scores.mean(axis=1) - grand
    residual = scores - grand - system - query[:, None]
    squares = [
        float(part)
        for part in (n * (system**2).sum(), m * (query**2).sum(), (residual**2).sum())
    ]
    if squares[2] <= _ROUNDING * float((scores**2).sum()):
        squares[2] = 0.0
    df = m - 1, n - 1, (m - 1) * (n - 1)
    error = squares[2] / df[2] if df[2] else math.nan
    f = squares[0] / df[0] / error if error and df[0] else math.nan
    return Blocked(
        squares[0], squares[1], squares[2], df, error, f, _f_tail(f, df[0], df[2])
    )


def _f_tail(f: float, between: int, within: int) -> float:
    from scipy import special

    return math.nan if math.isnan(f) else float(special.fdtrc(between, within, f))


def hsd_reach(scores: Floats, alpha: float = 0.05) -> float:
    """Return the difference of means from which on Tukey's p is at most ``alpha``, blocked on queries.

    Parameters
    ----------
    scores
        float64 ``[queries, systems]``, without NaN, at least two of each.
    alpha
        Chance of any false claim among all pairs.
    """
    from scipy import stats

    found = two_way(scores)
    quantile = float(
        stats.studentized_range.ppf(1 - alpha, scores.shape[1], found.df[2])
    )
    return quantile * math.sqrt(found.error / len(scores))


def tukey_hsd(scores: Floats) -> Floats:
    """Return p of Tukey's honestly significant difference for every pair, blocked on queries.

    The difference of two means is studentised by the error that queries leave (Tukey 1953), so what makes
    all systems do badly on a hard query does not count against any.

    Parameters
    ----------
    scores
        float64 ``[queries, systems]``, without NaN, at least two of each.

    Returns
    -------
    NDArray
        float64 ``[systems, systems]``, adjusted for all pairs.

    Examples
    --------
    With two systems it is the paired t-test.

    >>> scores = np.array([[0.1, 0.2], [0.4, 0.6], [0.5, 0.7]])
    >>> p = tukey_hsd(scores)[0, 1]
    >>> round(float(p), 6) == round(two_way(scores).p, 6)
    True
    """
    from scipy import stats

    found = two_way(scores)
    mean = scores.mean(axis=0)
    gap = np.abs(mean[:, None] - mean[None, :])
    if not found.error:
        return np.where(gap > 0, 0.0, 1.0)
    q = gap * np.sqrt(len(scores) / found.error)
    p: Floats = stats.studentized_range.sf(q, scores.shape[1], found.df[2])
    return p


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
    gaps = np.diff(np.take_along_axis(scores, order, axis=1), axis=1, prepend=-np.inf)
    begins = gaps > rounding * np.abs(scores).max(initial=0.0)
    at = np.arange(scores.shape[1])
    ends = np.roll(begins, -1, axis=1)
    ends[:, -1:] = True
    first = np.maximum.accumulate(np.where(begins, at, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, at, at.size)[:, ::-1], axis=1)[:, ::-1]
    found = np.empty(scores.shape)
    np.put_along_axis(found, order, (first + last) / 2 + 1, axis=1)
    return found


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test of several systems, over the same queries.

    Attributes
    ----------
    chi_square, p_chi_square
        Friedman's statistic (1937), corrected for ties, and its p; NaN where all scores of every query are
        equal.
    f, p
        Iman and Davenport's F of it (1980), which keeps closer to its level, and its p.
    df
        Degrees of freedom of systems and of error.
    """

    chi_square: float
    p_chi_square: float
    f: float
    p: float
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

    >>> found = friedman(np.array([[0.1, 0.2, 0.3], [0.4, 0.6, 0.7], [0.5, 0.7, 0.9]]))
    >>> found.chi_square, round(found.p_chi_square, 4)
    (6.0, 0.0498)
    """
    from scipy import special

    places = ranks(scores)
    n, m = scores.shape
    between = float(((places.mean(axis=0) - (m + 1) / 2) ** 2).sum())
    df = m - 1, (m - 1) * (n - 1)
    if not (variance := _variance(places)):
        return Friedman(math.nan, math.nan, math.nan, math.nan, df)
    chi_square = n * between / variance
    rest = n * (m - 1) - chi_square
    f = (n - 1) * chi_square / rest if rest > 1e-9 * n else math.inf
    p = 0.0 if math.isinf(f) else float(special.fdtrc(*df, f))
    return Friedman(chi_square, float(special.chdtrc(m - 1, chi_square)), f, p, df)


def _variance(places: Floats) -> float:
    """Return the variance of a place if every order were as likely; m(m + 1)/12 without ties."""
    n, m = places.shape
    squares = float(((places - (m + 1) / 2) ** 2).sum())
    return squares / float(n * (m - 1))


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
    places = ranks(scores)
    mean = places.mean(axis=0)
    error = math.sqrt(_variance(places) / len(places))
    if not error:
        return np.ones((len(mean), len(mean)))
    return range_tail(np.abs(mean[:, None] - mean) / error, len(mean))


def nemenyi_reach(scores: Floats, alpha: float = 0.05) -> float:
    """Return the difference of mean ranks from which on p is at most ``alpha``, the critical difference."""
    return critical_range(scores.shape[1], alpha) * math.sqrt(
        _variance(ranks(scores)) / len(scores)
    )


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
    at = np.arange(-9, 9, 0.01)
    density = items * 0.01 * np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
    distinct, place = np.unique(values, return_inverse=True)
    inside = [
        density @ (special.ndtr(at) - special.ndtr(at - one)) ** (items - 1)
        for one in distinct
    ]
    tail: Floats = np.clip(1 - np.array(inside), 0.0, 1.0)
    return tail[place].reshape(values.shape)


def critical_range(items: int, alpha: float = 0.05) -> float:
    """Return the range of so many standard normal numbers that is exceeded with a chance of ``alpha``.

    >>> round(critical_range(2), 4), round(critical_range(10), 3)
    (2.7718, 4.474)
    """
    low = 0.0
    high = 40.0
    while low < (middle := (low + high) / 2) < high:
        if float(range_tail(np.array([middle]), items)[0]) > alpha:
            low = middle
        else:
            high = middle
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

    places, (n, m) = ranks(scores), scores.shape
    sums = places.sum(axis=0)
    df = (n - 1) * (m - 1)
    left = float((places**2).sum()) - float((sums**2).sum()) / n
    gaps = np.abs(sums[:, None] - sums)
    if left <= 1e-12 * n * m**3:  # every query has the same ranks
        return np.where(gaps > 0, 0.0, 1.0)
    p: Floats = 2 * special.stdtr(df, -gaps / math.sqrt(2 * n * left / df))
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

    places = ranks(scores)
    mean = places.mean(axis=0)
    error = math.sqrt(2 * _variance(places) / len(places))
    if not error:
        return np.ones((len(mean), len(mean)))
    p: Floats = 2 * special.ndtr(-np.abs(mean[:, None] - mean) / error)
    return p


def cliques(means: Sequence[float], reach: float) -> list[tuple[int, int]]:
    """Return the longest runs of sorted means that lie within a reach of each other: first and last place.

    >>> cliques([1.0, 1.5, 2.5, 3.0, 5.0], 1.2)
    [(0, 1), (1, 2), (2, 3)]
    """
    ends = [int(np.searchsorted(means, mean + reach, "right")) - 1 for mean in means]
    return [
        (at, end)
        for at, end in enumerate(ends)
        if end > at and (not at or end > ends[at - 1])
    ]
