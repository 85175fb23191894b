"""Whether units were dealt out in the shares they should have been: Pearson's chi-square."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SampleRatio", "sample_ratio"]


@dataclass(frozen=True)
class SampleRatio:
    """What the test found.

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

    >>> found = sample_ratio([8, 2], [0.5, 0.5])
    >>> round(found.chi_square, 4), round(found.p, 6), found.exact
    (3.6, 0.109375, True)
    """
    from scipy import special

    seen, due = np.asarray(counts, np.float64), np.asarray(shares, np.float64) * sum(counts)
    chi_square, df = float(((seen - due) ** 2 / due).sum()), len(seen) - 1
    if df != 1:
        return SampleRatio(chi_square, df, float(special.chdtrc(df, chi_square)) if df else 1.0, exact=False)
    n, distance = int(seen.sum()), abs(float(seen[0] - due[0]))
    slack = 1e-9 * max(1.0, due[0])  # equally far but for rounding
    least, most = np.floor(due[0] - distance + slack), np.ceil(due[0] + distance - slack)
    if least >= most:
        return SampleRatio(chi_square, df, 1.0, exact=True)
    below = float(special.bdtr(least, n, shares[0])) if least >= 0 else 0.0
    above = float(special.bdtrc(most - 1, n, shares[0])) if most <= n else 0.0
    return SampleRatio(chi_square, df, min(1.0, below + above), exact=True)
