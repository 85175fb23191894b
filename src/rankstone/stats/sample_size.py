"""Sample size and power: queries needed, and detectable differences, of two systems or among several.

The power is exact: it comes from the noncentral t distribution (Cohen 1988), for several systems from the
noncentral F distribution (Sakai, Information Retrieval Journal 19, 2016, who also sizes topic sets by the
width of intervals).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.errors import BadOption
from rankstone.stats.random_streams import in_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Bools, Floats, Ints


#: with more signs every level is attained; levels such as 1 - 0.95 are not exact
_MANY_WAYS, _LEVEL_ROUNDING = 50, 1e-9
#: more queries than this are not counted
MOST: Final = 10**9
#: searches that a thread works on at a time
_BLOCK: Final = 512
#: steps of the secant method; a computed power is off by less than half of this, where t is less than that
_SECANTS = 4
_ROUNDED = 2.0**-45
_FAR = 50.0


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

    df = n - 1
    shift = np.abs(effect) * np.sqrt(n)
    least = -special.stdtrit(df, alpha / 2)
    above = special.nctdtr(df, shift, least)
    below = special.nctdtr(df, shift, -least)
    for place in np.flatnonzero(np.isnan(above)):
        # the normal distribution is the limit
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
    _check(alpha, power)
    return all_needed(np.array([effect]), np.array([alpha]), power)[0]


def attained(n: Floats | Ints, alpha: Floats) -> Floats:
    """Return the level that a test by sign flips attains with n differences other than 0; 0 for too few.

    A way and its mirror image are as extreme, so p is a multiple of 2 / 2^n.

    >>> attained(np.array([5, 6, 10]), np.full(3, 0.05)).tolist()
    [0.0, 0.03125, 0.048828125]
    """
    ways = 2.0 ** (np.minimum(np.floor(n), _MANY_WAYS) - 1)
    level: Floats = np.floor(alpha * ways + _LEVEL_ROUNDING) / ways
    return level


def least_signs(alpha: Floats | float) -> Floats:
    """Return how many units have to differ for signs to reach a level."""
    least: Floats = np.ceil(1 - np.log2(alpha) - _LEVEL_ROUNDING)
    return least


class Pilots(Record):
    """What pilots say about differences of queries to come, of several pairs.

    Where only some queries differ, a test by sign flips looks at these alone: its power is nearly that of t
    on them (Student's statistic orders the flips), at the level that so few signs attain.

    Attributes
    ----------
    share
        float64 ``[pairs]``: the share of units that differ, in (0, 1].
    deviation
        float64 ``[pairs]``: the standard deviation of the differences of these, above 0.
    flips
        Whether the test is by signs or ranks, so that zeros say nothing and few signs reach no level.
    """

    share: Floats
    deviation: Floats
    flips: bool

    @classmethod
    def of(
        cls, mean: Floats, deviation: Floats, units: Ints, share: Floats, *, flips: bool
    ) -> Pilots:
        """Make pilots of the means and deviations of all differences; NaN where too few differ."""
        if not flips:
            return cls(np.ones(len(mean)), deviation, flips)
        moved = share * units
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = (deviation**2 * (units - 1) + units * mean**2) / moved
            rest = (squares - (mean / share) ** 2) * moved / (moved - 1)
            return cls(share, np.sqrt(np.maximum(rest, 0.0)), flips)

    def some(self, places: Ints | Bools) -> Pilots:
        """Return those of some pairs."""
        return Pilots(self.share[places], self.deviation[places], self.flips)

    def detectable(self, units: Ints, alpha: Floats, power: float) -> Floats:
        """Return the smallest mean difference that so many units show; infinite where none is."""
        from scipy import special

        moved = self.share * units
        level = attained(moved, alpha) if self.flips else alpha
        least = np.full(len(moved), np.inf)
        some = level > 0
        if self.flips:  # so few queries may differ that no difference is found
            enough = special.bdtrc(least_signs(alpha) - 1, units, self.share)
            some &= enough >= power
        aim = self._aim(moved, alpha, power)
        least[some] = all_detectable(moved[some], level[some], aim[some])
        return least * self.deviation * self.share

    def needed(
        self, difference: Floats, alpha: Floats, power: float, widen: Floats | float = 1
    ) -> list[int | None]:
        """Return how many units show a mean difference; deviations are multiplied by ``widen``."""
        effect = np.abs(difference) / (self.share * self.deviation * widen)
        aim = np.full(len(effect), power)
        if self.flips and (self.share < 1).any():
            first = all_needed(effect, alpha, power, flips=self.flips)
            counts = np.array([count or MOST for count in first], np.float64)
            aim = self._aim(counts, alpha, power)
        moved = all_needed(effect, alpha, aim, flips=self.flips)
        return [
            None if count is None else self._units(count, share, level, power)
            for count, share, level in zip(moved, self.share, alpha, strict=True)
        ]

    def _aim(self, moved: Floats, alpha: Floats, power: float) -> Floats:
        """Return the power to aim at, so that its mean over how many units may differ is as requested.

        The number that differs varies in the pilot and again in the plan, each by a squared coefficient of
        variation of (1 - share) / moved, and the statistic with its root.
        """
        from scipy import special

        wanted = float(special.ndtri(power))
        reach = (wanted - special.ndtri(alpha / 2)) / 2
        varies = 2 * reach**2 * (1 - self.share) / np.maximum(moved, 1)
        aim: Floats = special.ndtr(wanted * np.sqrt(1 + varies))
        return aim

    def _units(self, moved: int, share: float, alpha: float, power: float) -> int:
        """Return among how many units so many differ, and rarely fewer than reach the level."""
        from scipy import special

        units = math.ceil(moved / share)
        if share == 1:
            return units
        fewer = int(least_signs(alpha)) - 1
        enough = smallest_n(lambda n: special.bdtrc(fewer, n, share) >= power)
        return max(units, enough or MOST)


def all_needed(
    effect: Floats, alpha: Floats, power: Floats | float, *, flips: bool = False
) -> list[int | None]:
    """Return :func:`needed` of each effect at its level; with ``flips`` at the one that signs attain."""
    from scipy import special

    wanted = np.broadcast_to(power, effect.shape)

    def enough(n: Floats, places: Ints) -> Bools:
        level = alpha[places]
        if flips:
            level = attained(n, level)
        reached = np.zeros(len(places), np.bool_)
        some = level > 0
        places = places[some]
        power = _power(effect[places], n[some], level[some])
        reached[some] = power >= wanted[places]
        return reached

    # the normal distribution, with half its squared quantile for the t-test, is off by one or two
    quantile = -special.ndtri(alpha / 2)
    with np.errstate(divide="ignore"):
        near = ((quantile + special.ndtri(power)) / effect) ** 2
    near = np.minimum(near + quantile**2 / 2, MOST / 2)
    places = np.flatnonzero(effect)
    most = np.full(len(places), float(MOST))
    places = places[(near[places] < MOST / 2) | enough(most, places)]
    low = np.floor(np.maximum(near - 1, 1))
    high = np.ceil(near + 1)

    def search(some: Ints) -> Floats:
        return _smallest(enough, some, 1.0, low[some], high[some])

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
    _check(alpha, power)
    return float(all_detectable(np.array([n]), np.array([alpha]), power)[0])


def all_detectable(n: Ints | Floats, alpha: Floats, power: Floats | float) -> Floats:
    """Return :func:`detectable` of each number of queries at its level."""
    searches = [n, alpha, np.broadcast_to(power, n.shape)]
    # equal ones share a search
    distinct, place = np.unique(searches, axis=1, return_inverse=True)

    def search(some: Ints) -> Floats:
        return _smallest_effect(*distinct[:, some])

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

    wanted = special.ndtri(power)
    least = -special.stdtrit(n - 1, alpha / 2)
    each = np.sqrt((1 + least**2 / (2 * (n - 1))) / n)
    near = np.where(least < _FAR, least / np.sqrt(n) + wanted * each, np.nan)
    slope = each
    step = miss = np.nan
    with np.errstate(all="ignore"):
        for _ in range(_SECANTS):
            before = miss
            miss = wanted - special.ndtri(powers(near))
            secant = step / (before - miss)
            slope = np.where(np.isfinite(secant), secant, slope)
            step = slope * miss
            near = np.abs(near + step)
    reach = each * (6 * _ROUNDED * np.exp(wanted**2 / 2))
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
    return _smallest(enough, np.arange(count), 0.0, np.zeros(count), np.ones(count))


def _on_threads(search: Callable[[Ints], Floats], places: Ints) -> Floats:
    """Return the results of searches, which do not depend on each other."""
    count = -(-len(places) // _BLOCK) or 1
    parts = np.array_split(places, count)
    results = in_blocks(lambda part: search(parts[part]), len(parts))
    return np.concatenate(list(results))


def _smallest(
    enough: Callable[[Floats, Ints], Bools],
    places: Ints,
    begin: float,
    low: Floats,
    high: Floats,
) -> Floats:
    """Return the smallest value that is enough for each place: a whole number, if they begin at 1.

    ``low`` and ``high`` are guesses of what is not enough and what is.
    """
    left = np.flatnonzero(low > begin)
    left = left[enough(low[left], places[left])]
    high[left] = low[left]
    low[left] = begin
    left = np.arange(len(places))
    while True:
        left = left[~enough(high[left], places[left])]
        if not len(left):
            break
        low[left] = high[left]
        high[left] *= 2
        left = left[np.isfinite(high[left])]  # a level that no effect reaches
    while True:
        middle = (low + high) / 2
        if begin:
            middle = np.floor(middle)
        left = np.flatnonzero((low < middle) & (middle < high) & np.isfinite(high))
        if not len(left):
            return high
        reached = enough(middle[left], places[left])
        yes = left[reached]
        no = left[~reached]
        high[yes] = middle[yes]
        low[no] = middle[no]


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
    return float(_power_among(np.array([effect]), np.array([n]), systems, alpha)[0])


def _power_among(
    effect: Floats, n: Floats | Ints, systems: int, alpha: float
) -> Floats:
    from scipy import special

    df = systems - 1, (systems - 1) * (n - 1)
    least = special.fdtri(*df, 1 - alpha)
    found: Floats = 1 - special.ncfdtr(*df, n * effect**2, least)
    return found


def expected_width(n: int, *, alpha: float = 0.05) -> float:
    """Return the expected width of the t-interval of a mean, in standard deviations (Sakai 2016).

    >>> round(expected_width(30), 4)
    0.7404
    """
    from scipy import special

    mean_of_s = math.exp(
        special.gammaln(n / 2) - special.gammaln((n - 1) / 2)
    ) * math.sqrt(2 / (n - 1))
    return float(-2 * special.stdtrit(n - 1, alpha / 2)) * mean_of_s / math.sqrt(n)


def smallest_n(enough: Callable[[int], bool]) -> int | None:
    """Return the smallest number of queries that is enough, ``None`` if a thousand million are not.

    >>> smallest_n(lambda n: expected_width(n) <= 0.5)
    64
    """
    if not enough(MOST):
        return None
    low = 1
    high = 2
    while not enough(high):
        low = high
        high = 2 * high
    while high - low > 1:
        low, high = (
            (low, middle) if enough(middle := (low + high) // 2) else (middle, high)
        )
    return high


def detectable_among(
    n: int, systems: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest range that a number of queries shows among systems with this power.

    >>> round(detectable_among(34, 2), 3), round(detectable_among(34, 10), 3)
    (0.495, 0.688)
    """
    _check(alpha, power)
    one = np.arange(1)

    def enough(effect: Floats, _: Ints) -> Bools:
        return _power_among(effect, np.full(len(effect), n), systems, alpha) >= power

    return float(_smallest(enough, one, 0.0, np.zeros(1), np.ones(1))[0])


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
            raise BadOption(
                f"{name}={value!r} is out of range", expected=f"0 < {name} < 1"
            )
    if power <= alpha:
        raise BadOption(
            f"power={power!r} is not more than alpha={alpha!r}",
            expected="such as power=0.8",
        )
