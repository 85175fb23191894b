"""Sizes of topic sets for several systems (Sakai, Information Retrieval Journal 19, 2016).

The power is exact: it comes from the noncentral F distribution.  Sets are also sized by the width of intervals.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankstone.stats.sample_size import check_alpha_and_power, smallest_enough
from rankstone.stats.student_t import t_quantile

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints


def power_among(effect: float, n: int, systems: int, *, alpha: float = 0.05) -> float:
    """Return the power of the analysis of variance to see the range of the true means of several systems.

    The best and the worst differ by the range and all others lie between them in the middle, which is the
    hardest case (Sakai 2016).  Systems are compared on the same queries; two have the power of the t-test.

    Parameters
    ----------
    effect
        The range over the standard deviation of differences of two systems.
    n
        Queries, 2 or more.
    systems
        How many, 2 or more.
    alpha
        Level of the test.

    Examples
    --------
    >>> round(power_among(0.5, 34, 2), 3), round(power_among(0.5, 34, 10), 3)
    (0.808, 0.469)
    """
    return float(_power_among(np.asarray(effect), n, systems, alpha))


def _power_among(effect: Floats, n: int, systems: int, alpha: float) -> Floats:
    from scipy import special

    df = systems - 1, (systems - 1) * (n - 1)
    least = special.fdtri(*df, 1 - alpha)
    power: Floats = 1 - special.ncfdtr(*df, n * effect**2, least)
    return power


def expected_width(n: int, *, alpha: float = 0.05) -> float:
    """Return the expected width of the t-interval of a mean, in standard deviations (Sakai 2016).

    >>> round(expected_width(30), 4)
    0.7404
    """
    from scipy import special

    ratio = math.exp(special.gammaln(n / 2) - special.gammaln((n - 1) / 2))
    mean_deviation = ratio * math.sqrt(2 / (n - 1))
    t = t_quantile(alpha / 2, n - 1)
    return -2 * t * mean_deviation / math.sqrt(n)


def detectable_among(
    n: int, systems: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest range that a number of queries shows among systems with this power.

    >>> round(detectable_among(34, 2), 3), round(detectable_among(34, 10), 3)
    (0.495, 0.688)
    """
    check_alpha_and_power(alpha, power)

    def enough(effect: Floats, _: Ints) -> Bools:
        return _power_among(effect, n, systems, alpha) >= power

    only = np.arange(1)
    effects = smallest_enough(enough, only, 0.0, np.zeros(1), np.ones(1))
    return float(effects[0])
