"""Sample size and power: queries needed, and detectable differences, of two systems.

The power is exact: it comes from the noncentral t distribution (Cohen 1988).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadOption, between_0_and_1
from rankstone.stats.parallel_blocks import in_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Bools, Floats, Ints


#: with more signs every level is attained
_MANY_SIGNS: Final = 50
#: levels such as 1 - 0.95 are not exact
_LEVEL_ROUNDING: Final = 1e-9
#: more queries than this are not counted
MOST: Final = 10**9
#: searches that a thread works on at a time
_BLOCK: Final = 512
#: steps of the secant method
_SECANTS: Final = 4
#: a computed power is off by less than half of this …
_ROUNDED: Final = 2.0**-45
#: … where t is less than this
_FAR: Final = 50.0


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
    powers = _power(np.array([effect]), np.array([n]), np.array([alpha]))
    return float(powers[0])


def _power(effect: Floats, n: Floats | Ints, alpha: Floats) -> Floats:
    """Return the power of each test; all arrays have one shape."""
    from scipy import special

    df = n - 1
    shift = np.abs(effect) * np.sqrt(n)
    least = -special.stdtrit(df, alpha / 2)
    above = special.nctdtr(df, shift, least)
    below = special.nctdtr(df, shift, -least)
    # where it cannot be computed, the normal distribution is the limit
    for place in np.flatnonzero(np.isnan(above)):
        distance = shift[place] - least[place]
        above[place] = 0.5 * math.erfc(distance / math.sqrt(2))

    power: Floats = 1.0 - above
    power += np.where(np.isnan(below), 0.0, below)
    return power


def needed(effect: float, *, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Return the smallest number of queries with which the test has this power.

    ``None`` where no number below a thousand million does, or the effect is 0.

    Examples
    --------
    >>> [needed(effect) for effect in (0.1, 0.2, 0.3, 0.5)]
    [787, 199, 90, 34]
    """
    check_alpha_and_power(alpha, power)
    return all_needed(np.array([effect]), np.array([alpha]), power)[0]


def attained(n: Floats | Ints, alpha: Floats) -> Floats:
    """Return the level that a test by sign flips attains with n differences other than 0; 0 for too few.

    A way and its mirror image are as extreme, so p is a multiple of 2 / 2^n.

    >>> attained(np.array([5, 6, 10]), np.full(3, 0.05)).tolist()
    [0.0, 0.03125, 0.048828125]
    """
    signs = np.minimum(np.floor(n), _MANY_SIGNS)
    ways = 2.0 ** (signs - 1)
    return np.floor(alpha * ways + _LEVEL_ROUNDING) / ways


def least_signs(alpha: Floats | float) -> Floats:
    """Return how many units have to differ for signs to reach a level."""
    return np.ceil(1 - np.log2(alpha) - _LEVEL_ROUNDING)


def all_needed(
    effect: Floats, alpha: Floats, power: Floats | float, *, flips: bool = False
) -> list[int | None]:
    """Return :func:`needed` of each effect at its level; with ``flips`` at the one that signs attain."""
    from scipy import special

    aim = np.broadcast_to(power, effect.shape)

    def enough(n: Floats, places: Ints) -> Bools:
        """Return True where so many queries give the effect of a place its power."""
        level = alpha[places]
        if flips:
            level = attained(n, level)
        reached = np.zeros(len(places), np.bool_)
        possible = level > 0
        places = places[possible]
        powers = _power(effect[places], n[possible], level[possible])
        reached[possible] = powers >= aim[places]
        return reached

    # the normal distribution, with half its squared quantile for the t-test, is off by one or two
    z = -special.ndtri(alpha / 2)
    with np.errstate(divide="ignore"):
        normal = ((z + special.ndtri(power)) / effect) ** 2
    near = np.minimum(normal + z**2 / 2, MOST / 2)
    low = np.floor(np.maximum(near - 1, 1))
    high = np.ceil(near + 1)

    places = np.flatnonzero(effect)
    most = np.full(len(places), float(MOST))
    places = places[(near[places] < MOST / 2) | enough(most, places)]

    def search(part: Ints) -> Floats:
        return smallest_enough(enough, part, 1.0, low[part], high[part])

    counts = np.zeros(len(effect))
    counts[places] = _on_threads(search, places)
    return [int(count) or None for count in counts]


def detectable(n: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest effect that a number of queries detects with this power, as d_z.

    Multiplied by the standard deviation of differences it is the minimum detectable difference.

    Examples
    --------
    >>> round(detectable(34), 3)
    0.495
    """
    check_alpha_and_power(alpha, power)
    return float(all_detectable(np.array([n]), np.array([alpha]), power)[0])


def all_detectable(n: Ints | Floats, alpha: Floats, power: Floats | float) -> Floats:
    """Return :func:`detectable` of each number of queries at its level."""
    searches = [n, alpha, np.broadcast_to(power, n.shape)]
    # equal ones share a search
    distinct, place = np.unique(searches, axis=1, return_inverse=True)

    def search(part: Ints) -> Floats:
        return _smallest_effect(*distinct[:, part])

    effects = np.full(distinct.shape[1], math.inf)
    # one query has no spread
    places = np.flatnonzero(distinct[0] > 1)
    effects[places] = _on_threads(search, places)
    return effects[place.ravel()]


def _smallest_effect(n: Floats | Ints, alpha: Floats, power: Floats) -> Floats:
    """Return :func:`detectable` of each; all arrays have one shape.

    The secant method finds nearly all digits.  Where the power nearby is off by more than rounding, all
    effects beyond are known to be enough or not, so only the last halvings compute a power.
    """
    from scipy import special

    def powers(effect: Floats, places: Ints | slice = slice(None)) -> Floats:
        return _power(effect, n[places], alpha[places])

    # the normal approximation, and the slope of the effect by the normal deviate of its power
    z = special.ndtri(power)
    least = -special.stdtrit(n - 1, alpha / 2)
    deviation = np.sqrt((1 + least**2 / (2 * (n - 1))) / n)
    near = np.where(least < _FAR, least / np.sqrt(n) + z * deviation, np.nan)
    slope = deviation
    step = miss = np.nan
    with np.errstate(all="ignore"):
        for _ in range(_SECANTS):
            previous = miss
            miss = z - special.ndtri(powers(near))
            secant = step / (previous - miss)
            slope = np.where(np.isfinite(secant), secant, slope)
            step = slope * miss
            near = np.abs(near + step)

    # effects outside these limits need no power of their own
    reach = deviation * (6 * _ROUNDED * np.exp(z**2 / 2))
    low = near - reach
    high = near + reach
    too_small = np.where(powers(low) < power - _ROUNDED, low, 0.0)
    large_enough = np.where(powers(high) > power + _ROUNDED, high, np.inf)

    def enough(effect: Floats, places: Ints) -> Bools:
        reached = effect >= large_enough[places]
        between = np.flatnonzero(~reached & (effect > too_small[places]))
        rest = places[between]
        reached[between] = powers(effect[between], rest) >= power[rest]
        return reached

    count = len(n)
    return smallest_enough(
        enough, np.arange(count), 0.0, np.zeros(count), np.ones(count)
    )


def _on_threads(search: Callable[[Ints], Floats], places: Ints) -> Floats:
    """Return the results of searches, which do not depend on each other."""
    blocks = -(-len(places) // _BLOCK) or 1
    parts = np.array_split(places, blocks)
    results = in_blocks(lambda number: search(parts[number]), blocks)
    return np.concatenate(list(results))


def smallest_enough(
    enough: Callable[[Floats, Ints], Bools],
    places: Ints,
    begin: float,
    low: Floats,
    high: Floats,
) -> Floats:
    """Return the smallest value that is enough for each place: a whole number, if they begin at 1.

    ``low`` and ``high`` are guesses of what is not enough and what is.
    """
    # a low guess that is enough becomes the high one
    guessed = np.flatnonzero(low > begin)
    guessed = guessed[enough(low[guessed], places[guessed])]
    high[guessed] = low[guessed]
    low[guessed] = begin

    # a high guess that is not enough is doubled, but for levels that no effect reaches
    short = np.arange(len(places))
    while len(short):
        short = short[~enough(high[short], places[short])]
        low[short] = high[short]
        high[short] *= 2
        short = short[np.isfinite(high[short])]

    while True:
        middle = (low + high) / 2
        if begin:
            middle = np.floor(middle)
        between = (low < middle) & (middle < high) & np.isfinite(high)
        searched = np.flatnonzero(between)
        if not len(searched):
            return high

        reached = enough(middle[searched], places[searched])
        lowered = searched[reached]
        raised = searched[~reached]
        high[lowered] = middle[lowered]
        low[raised] = middle[raised]


def smallest_n(enough: Callable[[int], bool]) -> int | None:
    """Return the smallest number of queries that is enough, ``None`` if a thousand million are not.

    >>> smallest_n(lambda n: power_of(0.5, n) >= 0.8)
    34
    """
    if not enough(MOST):
        return None

    low = 1
    high = 2
    while not enough(high):
        low = high
        high = 2 * high

    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def upper_deviation(df: int, share: float = 0.8) -> float:
    """Return what a deviation is multiplied by to be its upper limit (Browne, Stat. Med. 14, 1995).

    A pilot estimates the standard deviation only roughly; planning with this limit is cautious.

    >>> round(upper_deviation(49), 3)
    1.099
    """
    from scipy import special

    if df <= 0:
        return math.inf
    return math.sqrt(df / float(special.chdtri(df, share)))


def check_alpha_and_power(alpha: float, power: float) -> None:
    """Refuse a level or a power that is no share, and a power no larger than the level."""
    between_0_and_1("alpha", alpha)
    between_0_and_1("power", power)
    if power <= alpha:
        raise BadOption(
            f"power={power!r} is not more than alpha={alpha!r}",
            expected="such as power=0.8",
        )
