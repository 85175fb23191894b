"""Two-way analysis of variance without replication: systems, blocked on queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
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
    >>> analysis = two_way(np.array([[0.1, 0.2], [0.4, 0.6], [0.5, 0.7]]))
    >>> round(analysis.f, 6), analysis.df
    (25.0, (1, 2, 2))
    """
    n, m = scores.shape
    grand_mean = scores.mean()
    system = scores.mean(axis=0) - grand_mean
    query = scores.mean(axis=1) - grand_mean
    rest = scores - grand_mean - system - query[:, None]

    systems = float(n * (system**2).sum())
    queries = float(m * (query**2).sum())
    residual = float((rest**2).sum())
    if residual <= _ROUNDING * float((scores**2).sum()):
        residual = 0.0

    df = m - 1, n - 1, (m - 1) * (n - 1)
    error = math.nan
    if df[2]:
        error = residual / df[2]
    f = math.nan
    if error and df[0]:
        f = systems / df[0] / error
    return Blocked(systems, queries, residual, df, error, f, f_tail(f, df[0], df[2]))


def f_tail(f: float, between: int, within: int) -> float:
    """Return the chance of a larger F; NaN where there is none."""
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

    analysis = two_way(scores)
    queries, systems = scores.shape
    quantile = stats.studentized_range.ppf(1 - alpha, systems, analysis.df[2])
    return float(quantile) * math.sqrt(analysis.error / queries)


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

    analysis = two_way(scores)
    queries, systems = scores.shape
    gaps = absolute_gaps(scores.mean(axis=0))
    if not analysis.error:
        return np.where(gaps > 0, 0.0, 1.0)

    q = gaps * np.sqrt(queries / analysis.error)
    p: Floats = stats.studentized_range.sf(q, systems, analysis.df[2])
    return p


def absolute_gaps(means: Floats) -> Floats:
    """Return the difference of every pair without its sign, float64 ``[systems, systems]``."""
    return np.abs(means[:, None] - means)
