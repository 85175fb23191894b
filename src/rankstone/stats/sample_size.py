"""Sample size and power of the paired t-test: queries needed, and detectable differences.

The power is exact: it comes from the noncentral t distribution (Cohen
1988).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadOption
from rankstone.stats.random_streams import in_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


#: more queries than this are not counted
MOST: Final = 10**9
#: searches that a thread works on at a time
_BLOCK: Final = 512


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
    return float(_power(np.array([effect]), np.array([n]), np.array([alpha]))[0])


def _power(effect: Floats, n: Floats | Ints, alpha: Floats) -> Floats:
    """Return the power of each test; all arrays have one shape."""
    from scipy import special

    df, shift = n - 1, np.abs(effect) * np.sqrt(n)
    least = -special.stdtrit(df, alpha / 2)
    above, below = special.nctdtr(df, shift, least), special.nctdtr(df, shift, -least)
    for at in np.flatnonzero(np.isnan(above)):
        above[at] = _normal(least[at] - shift[at])
    found: Floats = 1.0 - above + np.where(np.isnan(below), 0.0, below)
    return found


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
    return all_needed(np.array([effect]), np.array([alpha]), power)[0]


def all_needed(effect: Floats, alpha: Floats, power: float) -> list[int | None]:
    """Return :func:`needed` of each effect at its level."""
    from scipy import special

    def enough(n: Floats, at: Ints) -> Bools:
        return _power(effect[at], n, alpha[at]) >= power

    # the normal distribution, with half its squared quantile for the t-test, is off by one or two
    quantile = -special.ndtri(alpha / 2)
    with np.errstate(divide="ignore"):
        near = np.minimum(((quantile + special.ndtri(power)) / effect) ** 2 + quantile**2 / 2, MOST / 2)
    found, at = np.zeros(len(effect)), np.flatnonzero(effect)
    at = at[(near[at] < MOST / 2) | enough(np.full(len(at), float(MOST)), at)]
    found[at] = _on_threads(enough, at, 1.0, np.floor(np.maximum(near - 1, 1)), np.ceil(near + 1))
    return [int(n) or None for n in found]


def detectable(n: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest effect that a number of queries detects with this power, as d_z.

    Multiplied by the standard deviation of differences it is the minimum detectable difference.

    Examples
    --------
    >>> round(detectable(34), 3)
    0.495
    """
    _check(alpha, power)
    return float(all_detectable(np.array([n]), np.array([alpha]), power)[0])


def all_detectable(n: Ints, alpha: Floats, power: float) -> Floats:
    """Return :func:`detectable` of each number of queries at its level."""

    def enough(effect: Floats, at: Ints) -> Bools:
        return _power(effect, n[at], alpha[at]) >= power

    different, place = np.unique([n, alpha], axis=1, return_inverse=True)  # equal ones share a search
    n, alpha = different
    found, at = np.full(len(n), math.inf), np.flatnonzero(n > 1)  # one query has no spread
    found[at] = _on_threads(enough, at, 0.0, np.zeros(len(n)), np.ones(len(n)))
    return found[place.ravel()]


def _on_threads(
    enough: Callable[[Floats, Ints], Bools], at: Ints, begin: float, low: Floats, high: Floats
) -> Floats:
    """Return what :func:`_smallest` does; places do not depend on each other."""
    parts = np.array_split(at, -(-len(at) // _BLOCK) or 1)
    work = in_blocks(
        lambda part: _smallest(enough, parts[part], begin, low[parts[part]], high[parts[part]]), len(parts)
    )
    return np.concatenate(list(work))


def _smallest(
    enough: Callable[[Floats, Ints], Bools], at: Ints, begin: float, low: Floats, high: Floats
) -> Floats:
    """Return the smallest value that is enough for each place: a whole number, if they begin at 1.

    ``low`` and ``high`` are guesses of what is not enough and what is.
    """
    left = np.flatnonzero(low > begin)
    left = left[enough(low[left], at[left])]
    low[left], high[left] = begin, low[left]
    left = np.arange(len(at))
    while len(left := left[~enough(high[left], at[left])]):
        low[left], high[left] = high[left], 2 * high[left]
        left = left[np.isfinite(high[left])]  # a level that no effect reaches
    while True:
        middle = np.floor((low + high) / 2) if begin else (low + high) / 2
        left = np.flatnonzero((low < middle) & (middle < high) & np.isfinite(high))
        if not len(left):
            return high
        yes = enough(middle[left], at[left])
        high[left[yes]], low[left[~yes]] = middle[left[yes]], middle[left[~yes]]


def upper_deviation(df: int, share: float = 0.8) -> float:
    """Return what a deviation is multiplied by to be its upper limit (Browne, Stat. Med. 14, 1995).

    A pilot estimates the standard deviation only roughly; planning with this limit is cautious.

    >>> round(upper_deviation(49), 3)
    1.099
    """
    from scipy import special

    return math.sqrt(df / float(special.chdtri(df, share))) if df > 0 else math.inf


def _check(alpha: float, power: float) -> None:
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise BadOption(f"{name}={value!r} is out of range", expected=f"0 < {name} < 1")
    if power <= alpha:
        raise BadOption(f"power={power!r} is not more than alpha={alpha!r}", expected="such as power=0.8")
