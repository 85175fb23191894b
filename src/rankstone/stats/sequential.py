"""Intervals and p-values that are valid at all looks together, at any number and choice of looks.

The mixture of Robbins (Annals of Mathematical Statistics 41, 1970) over effects that are normal, as Johari et
al. (Operations Research 70, 2022) use it for A/B tests and Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
(Annals of Statistics 52, 2024) with estimated errors.  It is valid for large samples; for small ones the
distance is taken for Student's and mapped to the normal one with the same tail, which widens intervals where
errors are known from few units.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.stats.mean_intervals import Estimate


#: units at which intervals are as narrow as they can be; at 100 times as many they are a fifth wider
TUNED_TO: Final = 1000
#: the spread of effects that makes them so at 95 % (Waudby-Smith et al., equation 24, to first order)
_SPREAD: Final = (2 * math.log(20) + math.log(2 * math.log(20) + 1)) / TUNED_TO


#: the weight of the expected shares in the prior of a bad experiment's shares, in units
_NEAR: Final = 100


def always_valid_interval(found: Estimate, alpha: float) -> tuple[float, float]:
    """Return both ends of an interval that is valid at all looks together with confidence ``1 - alpha``.

    Parameters
    ----------
    found
        An estimate with its error, ``units`` and ``df``; without an error the ends are NaN.
    alpha
        Between 0 and 1.

    Examples
    --------
    >>> from rankstone.stats.mean_intervals import Estimate
    >>> low, high = always_valid_interval(Estimate(0.1, 0.02, 1000, df=998.0), 0.05)
    >>> round(low, 3), round(high, 3)
    (0.039, 0.161)
    """
    from scipy import special

    if math.isnan(found.error):
        return math.nan, math.nan
    grown = found.units * _SPREAD
    z = math.sqrt((1 + 1 / grown) * math.log((1 + grown) / alpha**2))
    reach = -found.error * float(special.stdtrit(found.df, special.ndtr(-z)))
    return found.value - reach, found.value + reach


def always_valid_p(found: Estimate) -> float:
    """Return the least alpha whose always-valid interval leaves 0 out; 1 where none does.

    Examples
    --------
    >>> from rankstone.stats.mean_intervals import Estimate
    >>> always_valid_p(Estimate(0.0, 0.02, 1000, df=998.0))
    1.0
    """
    from scipy import special

    tail = float(special.stdtr(found.df, -abs(found.value) / found.error))
    z = -float(special.ndtri(max(tail, 1e-300)))
    grown = found.units * _SPREAD
    return min(1.0, math.sqrt(1 + grown) * math.exp(-(z**2) / 2 * grown / (1 + grown)))


def always_valid_ratio(counts: Sequence[int], shares: Sequence[float]) -> float:
    """Return the p of counts against the shares they should have, valid at every look.

    One over the Bayes factor of shares drawn from Dirichlet's distribution around the expected ones (Lindon
    and Malek, NeurIPS 2022).

    Parameters
    ----------
    counts
        Units of each variant.
    shares
        What each should have of them; their sum is 1.

    Examples
    --------
    >>> round(always_valid_ratio([60, 40], [0.5, 0.5]), 3), always_valid_ratio([7, 7], [0.5, 0.5])
    (0.517, 1.0)
    """
    from scipy import special

    prior = [_NEAR * share for share in shares]
    factor = special.gammaln(_NEAR) - special.gammaln(_NEAR + sum(counts))
    for count, share, near in zip(counts, shares, prior, strict=True):
        factor += (
            special.gammaln(near + count)
            - special.gammaln(near)
            - count * math.log(share)
        )
    return min(1.0, math.exp(min(-float(factor), 0.0)))
