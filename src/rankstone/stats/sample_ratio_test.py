"""The sample ratio test: whether units were assigned in the intended shares, by Pearson's chi-square."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats


@dataclass(frozen=True)
class SampleRatio:
    """The result of the test.

    Attributes
    ----------
    chi_square, df
        Pearson's statistic (1900) and its degrees of freedom.
    p
        The chance of one as large, where the shares are what they should be.
    exact
        Whether p is that of the counts themselves (two of them), and not of the chi-square distribution.
    """

    chi_square: float
    df: int
    p: float
    exact: bool


def sample_ratio(counts: Sequence[int], shares: Sequence[float]) -> SampleRatio:
    """Test counts against shares, which sum to 1.

    Examples
    --------
    Of 10 units 8 in one half: as far from 5 are 0, 1, 2, 8, 9 and 10 of 10 coins.

    >>> ratio = sample_ratio([8, 2], [0.5, 0.5])
    >>> round(ratio.chi_square, 4), round(ratio.p, 6), ratio.exact
    (3.6, 0.109375, True)
    """
    from scipy import special

    observed = np.asarray(counts, np.float64)
    expected = np.asarray(shares, np.float64) * sum(counts)
    chi_square = float(((observed - expected) ** 2 / expected).sum())
    df = len(observed) - 1
    if df == 1:
        p = _exact_ratio_p(observed, expected, shares[0])
        return SampleRatio(chi_square, df, p, exact=True)

    p = 1.0
    if df:
        p = float(special.chdtrc(df, chi_square))
    return SampleRatio(chi_square, df, p, exact=False)


def _exact_ratio_p(observed: Floats, expected: Floats, share: float) -> float:
    """Return the chance of two counts as far from those expected, by the binomial distribution."""
    from scipy import special

    n = int(observed.sum())
    distance = abs(float(observed[0] - expected[0]))
    slack = 1e-9 * max(1.0, expected[0])  # equal but for rounding
    least = np.floor(expected[0] - distance + slack)
    most = np.ceil(expected[0] + distance - slack)
    if least >= most:
        return 1.0

    below = above = 0.0
    if least >= 0:
        below = float(special.bdtr(least, n, share))
    if most <= n:
        above = float(special.bdtrc(most - 1, n, share))
    return min(1.0, below + above)
