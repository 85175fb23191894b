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

from rankstone.stats.student_t import t_quantile, t_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.stats.mean_intervals import Estimate


#: units at which intervals are as narrow as they can be; at 100 times as many they are a fifth wider
TUNED_TO: Final = 1000
#: minus twice the logarithm of alpha, at 95 %
_TWICE_LOG: Final = 2 * math.log(20)
#: the spread of effects that makes them so at 95 % (Waudby-Smith et al., equation 24, to first order)
_SPREAD: Final = (_TWICE_LOG + math.log(_TWICE_LOG + 1)) / TUNED_TO
#: the weight of the expected shares in the prior of a bad experiment's shares, in units
_PRIOR_UNITS: Final = 100
#: tails below this are taken for it, so that their normal deviate is finite
_LEAST_TAIL: Final = 1e-300


def always_valid_interval(estimate: Estimate, alpha: float) -> tuple[float, float]:
    """Return both ends of an interval that is valid at all looks together with confidence ``1 - alpha``.

    Parameters
    ----------
    estimate
        With its error, ``units`` and ``df``; without an error the ends are NaN.
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

    if math.isnan(estimate.error):
        return math.nan, math.nan

    variance_ratio = estimate.units * _SPREAD
    z = math.sqrt((1 + 1 / variance_ratio) * math.log((1 + variance_ratio) / alpha**2))
    t = t_quantile(special.ndtr(-z), estimate.df)
    reach = -estimate.error * t
    return estimate.value - reach, estimate.value + reach


def always_valid_p(estimate: Estimate) -> float:
    """Return the least alpha whose always-valid interval leaves 0 out; 1 where none does.

    Examples
    --------
    >>> from rankstone.stats.mean_intervals import Estimate
    >>> always_valid_p(Estimate(0.0, 0.02, 1000, df=998.0))
    1.0
    """
    from scipy import special

    distance = abs(estimate.value) / estimate.error
    tail = t_tail(distance, estimate.df)
    z = -float(special.ndtri(max(tail, _LEAST_TAIL)))

    variance_ratio = estimate.units * _SPREAD
    exponent = -(z**2) / 2 * variance_ratio / (1 + variance_ratio)
    return min(1.0, math.sqrt(1 + variance_ratio) * math.exp(exponent))


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

    log_bayes = special.gammaln(_PRIOR_UNITS)
    log_bayes -= special.gammaln(_PRIOR_UNITS + sum(counts))
    for count, share in zip(counts, shares, strict=True):
        prior = _PRIOR_UNITS * share
        log_bayes += (
            special.gammaln(prior + count)
            - special.gammaln(prior)
            - count * math.log(share)
        )
    return min(1.0, math.exp(min(-float(log_bayes), 0.0)))
