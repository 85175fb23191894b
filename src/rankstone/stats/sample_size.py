"""Sample size and power of the paired t-test: queries needed, and detectable differences.

The power is exact: it comes from the noncentral t distribution (Cohen
1988).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rankstone.errors import BadOption

if TYPE_CHECKING:
    from collections.abc import Callable


#: more queries than this are not counted
MOST: Final = 10**9
#: halvings after which a difference is known to all its digits
_HALVINGS: Final = 200


def power_of(effect: float, n: int, *, alpha: float = 0.05) -> float:
    """Return the power of a two-sided paired t-test at level alpha.

    Parameters
    ----------
    effect
        The true mean difference over the standard deviation of differences.
    n
        Queries, 2 or more.
    alpha
        Level of the test.

    Examples
    --------
    >>> round(power_of(0.5, 34), 3)
    0.808
    """
    from scipy import special

    df, shift = n - 1, abs(effect) * math.sqrt(n)
    least = -float(special.stdtrit(df, alpha / 2))
    above = float(special.nctdtr(df, shift, least))
    below = float(special.nctdtr(df, shift, -least))
    below = 0.0 if math.isnan(below) else below
    return 1.0 - (_normal(least - shift) if math.isnan(above) else above) + below


def _normal(z: float) -> float:
    """Return the probability of a standard normal below z: the limit of the noncentral t."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def needed(effect: float, *, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Return the smallest number of queries with which the test has this power.

    ``None`` where no number below a thousand million does, or the effect is 0.

    Examples
    --------
    >>> [needed(effect) for effect in (0.1, 0.2, 0.3, 0.5)]
    [787, 199, 90, 34]
    """
    _check(alpha, power)
    if not effect or power_of(effect, MOST, alpha=alpha) < power:
        return None
    if power_of(effect, 2, alpha=alpha) >= power:
        return 2
    low, high = 2, 4
    while power_of(effect, high, alpha=alpha) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(effect, middle, alpha=alpha) >= power else (middle, high)
    return high


def detectable(n: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest effect that a number of queries detects with this power, as d_z.

    Multiplied by the standard deviation of differences it is the minimum detectable difference.

    Examples
    --------
    >>> round(detectable(34), 3)
    0.495
    """
    _check(alpha, power)
    if n < 2:  # noqa: PLR2004 - one query has no spread
        return math.inf
    return _smallest(lambda effect: power_of(effect, n, alpha=alpha) >= power)


def upper_deviation(df: int, share: float = 0.8) -> float:
    """Return what a deviation is multiplied by to be its upper limit (Browne, Stat. Med. 14, 1995).

    A pilot estimates the standard deviation only roughly; planning with this limit is cautious.

    >>> round(upper_deviation(49), 3)
    1.099
    """
    from scipy import special

    return math.sqrt(df / float(special.chdtri(df, share))) if df > 0 else math.inf


def _smallest(enough: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
        if math.isinf(high):  # a level that no effect reaches
            return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(alpha: float, power: float) -> None:
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise BadOption(f"{name}={value!r} is out of range", expected=f"0 < {name} < 1")
    if power <= alpha:
        raise BadOption(f"power={power!r} is not more than alpha={alpha!r}", expected="such as power=0.8")
