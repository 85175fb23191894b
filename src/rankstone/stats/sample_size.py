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
_SECANTS, _ROUNDED, _FAR = 4, 2.0**-45, 50.0


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
        above[at] = 0.5 * math.erfc(
            (shift[at] - least[at]) / math.sqrt(2)
        )  # normal: the limit
    found: Floats = 1.0 - above + np.where(np.isnan(below), 0.0, below)
    return found


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
        from scipy import stats

        units = math.ceil(moved / share)
        if share == 1:
            return units
        least = int(least_signs(alpha))
        return max(units, least + int(stats.nbinom.ppf(power, least, share)))


def all_needed(
    effect: Floats, alpha: Floats, power: Floats | float, *, flips: bool = False
) -> list[int | None]:
    """Return :func:`needed` of each effect at its level; with ``flips`` at the one that signs attain."""
    from scipy import special

    wanted = np.broadcast_to(power, effect.shape)

    def enough(n: Floats, at: Ints) -> Bools:
        level = attained(n, alpha[at]) if flips else alpha[at]
        some = level > 0
        reached = np.zeros(len(at), np.bool_)
        places = at[some]
        reached[some] = _power(effect[places], n[some], level[some]) >= wanted[places]
        return reached

    # the normal distribution, with half its squared quantile for the t-test, is off by one or two
    quantile = -special.ndtri(alpha / 2)
    with np.errstate(divide="ignore"):
        near = np.minimum(
            ((quantile + special.ndtri(power)) / effect) ** 2 + quantile**2 / 2,
            MOST / 2,
        )
    found, at = np.zeros(len(effect)), np.flatnonzero(effect)
    at = at[(near[at] < MOST / 2) | enough(np.full(len(at), float(MOST)), at)]
    low, high = np.floor(np.maximum(near - 1, 1)), np.ceil(near + 1)
    found[at] = _on_threads(
        lambda some: _smallest(enough, some, 1.0, low[some], high[some]), at
    )
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


def all_detectable(n: Ints | Floats, alpha: Floats, power: Floats | float) -> Floats:
    """Return :func:`detectable` of each number of queries at its level."""
    (n, alpha, wanted), place = np.unique(
        [n, alpha, np.broadcast_to(power, n.shape)], axis=1, return_inverse=True
    )  # equal ones share a search
    found, at = (
        np.full(len(n), math.inf),
        np.flatnonzero(n > 1),
    )  # one query has no spread
    found[at] = _on_threads(
        lambda some: _smallest_effect(n[some], alpha[some], wanted[some]), at
    )
    return found[place.ravel()]


def _smallest_effect(n: Floats | Ints, alpha: Floats, power: Floats) -> Floats:
    """Return :func:`detectable` of each; all arrays have one shape.

    The secant method finds nearly all digits.  Where the power nearby is off by more than rounding, all
    effects beyond are known to be enough or not, so only the last halvings compute a power.
    """
    from scipy import special

    def powers(effect: Floats, at: Ints | slice = slice(None)) -> Floats:
        return _power(effect, n[at], alpha[at])

    wanted, least = special.ndtri(power), -special.stdtrit(n - 1, alpha / 2)
    slope = each = np.sqrt((1 + least**2 / (2 * (n - 1))) / n)
    near = np.where(least < _FAR, least / np.sqrt(n) + wanted * each, np.nan)
    step = miss = np.nan
    with np.errstate(all="ignore"):
        for _ in range(_SECANTS):
            before, miss = miss, wanted - special.ndtri(powers(near))
            slope = np.where(np.isfinite(found := step / (before - miss)), found, slope)
            near = np.abs(near + (step := slope * miss))
    reach = each * (6 * _ROUNDED * np.exp(wanted**2 / 2))
    no = np.where(powers(near - reach) < power - _ROUNDED, near - reach, 0.0)
    yes = np.where(powers(near + reach) > power + _ROUNDED, near + reach, np.inf)

    def enough(effect: Floats, at: Ints) -> Bools:
        found = effect >= yes[at]
        open_ = np.flatnonzero(~found & (effect > no[at]))
        found[open_] = powers(effect[open_], at[open_]) >= power[at[open_]]
        return found

    return _smallest(enough, np.arange(len(n)), 0.0, np.zeros(len(n)), np.ones(len(n)))


def _on_threads(search: Callable[[Ints], Floats], at: Ints) -> Floats:
    """Return the results of searches, which do not depend on each other."""
    parts = np.array_split(at, -(-len(at) // _BLOCK) or 1)
    return np.concatenate(list(in_blocks(lambda part: search(parts[part]), len(parts))))


def _smallest(
    enough: Callable[[Floats, Ints], Bools],
    at: Ints,
    begin: float,
    low: Floats,
    high: Floats,
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
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
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
