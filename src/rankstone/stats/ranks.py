"""Ranks of systems within queries: Friedman's test, and Nemenyi's of all pairs.

Both ask whether systems take the same places, not whether their means are equal: how far apart two scores
are plays no part.  What is assumed is that systems without a difference are exchangeable within a query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Friedman", "friedman", "nemenyi", "nemenyi_reach", "ranks"]


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
    from scipy import stats

    order = np.argsort(scores, axis=1, kind="stable")
    apart = np.diff(np.take_along_axis(scores, order, axis=1), axis=1, prepend=-np.inf)
    places = np.cumsum(apart > rounding * np.abs(scores).max(initial=0.0), axis=1)
    found = np.empty(scores.shape)
    np.put_along_axis(found, order, stats.rankdata(places, axis=1), axis=1)
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

    The difference is held against the studentised range, with the variance that ties leave.

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
    from scipy import stats

    places = ranks(scores)
    mean = places.mean(axis=0)
    error = math.sqrt(_variance(places) / len(places))
    if not error:
        return np.ones((len(mean), len(mean)))
    p: Floats = stats.studentized_range.sf(np.abs(mean[:, None] - mean) / error, len(mean), np.inf)
    return p


def nemenyi_reach(scores: Floats, alpha: float = 0.05) -> float:
    """Return the difference of mean ranks from which on p is at most ``alpha``, the critical difference."""
    from scipy import stats

    places = ranks(scores)
    quantile = float(stats.studentized_range.ppf(1 - alpha, scores.shape[1], np.inf))
    return quantile * math.sqrt(_variance(places) / len(places))
