"""Two-way analysis of variance without replication: systems, blocked on queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: a sum of squares below this share of all squares is what rounding leaves of none
_ROUNDING: Final = 1e-28

__all__ = ["Blocked", "hsd_reach", "tukey_hsd", "two_way"]


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
    system, query = scores.mean(axis=0) - grand, scores.mean(axis=1) - grand
    residual = scores - grand - system - query[:, None]
    squares = [float(part) for part in (n * (system**2).sum(), m * (query**2).sum(), (residual**2).sum())]
    if squares[2] <= _ROUNDING * float((scores**2).sum()):
        squares[2] = 0.0
    df = m - 1, n - 1, (m - 1) * (n - 1)
    error = squares[2] / df[2] if df[2] else math.nan
    f = squares[0] / df[0] / error if error and df[0] else math.nan
    return Blocked(squares[0], squares[1], squares[2], df, error, f, _f_tail(f, df[0], df[2]))


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
    quantile = float(stats.studentized_range.ppf(1 - alpha, scores.shape[1], found.df[2]))
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

    found, mean = two_way(scores), scores.mean(axis=0)
    gap = np.abs(mean[:, None] - mean[None, :])
    if not found.error:
        return np.where(gap > 0, 0.0, 1.0)
    q = gap * np.sqrt(len(scores) / found.error)
    p: Floats = stats.studentized_range.sf(q, scores.shape[1], found.df[2])
    return p
