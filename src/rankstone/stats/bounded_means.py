"""Limits of means of bounded values, for few queries, rare losses and ties, which mislead Student's t.

:func:`worst_case` is the lower limit of Gaffke (2005), studied by Learned-Miller and Thomas (arXiv
1905.06208, 2019): the Bayesian bootstrap with one more query at the worst possible value.  For values of 0
and 1 it is that of Clopper and Pearson (1934).  No distribution is known for which it fails, and it is wide.
:class:`Adaptive` lets the worst credible loss shrink as more queries move, and corrects t for skewness by the
cubic of Hall (JRSS B 54, 1992).  Units of unequal size have the variance CR2 and the degrees of freedom of
Bell and McCaffrey (2002).  ``benchmarks/certainty.py`` measures how often these limits miss.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.sampling_units import effective_df, remainder
from rankstone.stats.student_t import t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Bools, Floats, Ints


#: the worst credible loss, as a share of the range, times the effective number of units that moved
_UNSEEN: Final = 2.5
#: from so many units that moved on, the unit at the worst loss counts less, by this power
_ENOUGH: Final = 8.0
_FADING: Final = 1.5
#: what the unit at an end of the range weighs for a single mean
END: Final = 0.8
#: it weighs less by up to this much where values spread between the ends …
_LESS: Final = 0.4
#: … by all of it from this share of the largest variance on, until so much of it is left
_CLUSTERED: Final = 0.1
_HALF: Final = 0.5
#: a tilt lies between 2^-60 and 2^60 over the largest value
_WIDEST: Final = 60.0
#: so many halvings leave 1e-12 of its logarithm
_HALVINGS: Final = 46
#: nearer to the mean than this share of a deviation half of the chance lies below
_NEAR: Final = 1e-5
#: skewness below this is none
_STRAIGHT: Final = 1e-6


def worst_case(values: Floats, alpha: float, weight: Floats | float = 1.0) -> Floats:
    """Return the lower limit of the mean of each column, 0 or more.

    Parameters
    ----------
    values
        float64 ``[units, columns]``: the distance of each above the worst possible value, 0 or more.
    alpha
        The one-sided level.
    weight
        The weight of the unit at the worst possible value.

    Returns
    -------
    NDArray
        float64 ``[columns]``.

    Examples
    --------
    Ten queries without a loss leave a loss of 1 on 31 % of queries open, as ``1 - 0.025 ** (1 / 10)``:

    >>> round(float(worst_case(np.ones((10, 1)), 0.025)[0]), 4), round(0.025 ** (1 / 10), 4)
    (0.6915, 0.6915)
    """
    from scipy import special

    top, tops, two_valued = _two_valued(values)
    others = len(values) - tops
    shares = special.betaincinv(tops, others + weight, alpha)
    limits = np.where(two_valued, top * shares, 0.0)
    if two_valued.all():
        return limits

    graded = ~two_valued
    columns = _by_column(values[:, graded])
    weights = np.broadcast_to(weight, len(top))[graded]

    def tail_exceeds_alpha(tilt: Floats) -> Bools:
        """Return True where the saddlepoint tail at the tilted mean is still above alpha."""
        mean = _tilted_mean(columns, tilt, weights)
        return _tail(columns, tilt, mean, weights) > alpha

    # The limit is the tilted mean at which the tail falls to alpha; it is monotone in the tilt.
    tilt = _largest_tilt(tail_exceeds_alpha, top[graded])
    limits[graded] = _tilted_mean(columns, tilt, weights)
    return limits


def worst_case_p(values: Floats, limit: Floats, weight: float = 1.0) -> Floats:
    """Return the one-sided level at which :func:`worst_case` is ``limit``, float64 ``[columns]``.

    >>> values = np.array([[0.2], [0.5], [0.9], [0.4]])
    >>> round(float(worst_case_p(values, worst_case(values, 0.025))[0]), 6)
    0.025
    """
    from scipy import special

    top, tops, two_valued = _two_valued(values)
    others = len(values) - tops
    share = np.divide(limit, top, out=np.ones(len(top)), where=top > limit)
    p = np.where(limit <= 0, 0.0, special.betainc(tops, others + weight, share))
    graded = np.flatnonzero(~two_valued & (limit > 0) & (limit < top))
    if not len(graded):
        return p

    columns = _by_column(values[:, graded])
    target = limit[graded]

    def mean_exceeds_limit(tilt: Floats) -> Bools:
        return _tilted_mean(columns, tilt, weight) > target

    tilt = _largest_tilt(mean_exceeds_limit, top[graded])
    mean = _sums(columns) / (len(values) + weight)
    tail = _tail(columns, tilt, target, weight)
    p[graded] = np.where(target >= mean, 1.0, tail)
    return p


def _two_valued(values: Floats) -> tuple[Floats, Ints, Bools]:
    """Return the largest value of each column, how often it is there, and whether all others are 0."""
    top = values.max(axis=0, initial=0.0)
    tops = (values == top).sum(axis=0)
    zeros = (values == 0).sum(axis=0)
    return top, tops, zeros + tops >= len(values)


def _largest_tilt(holds: Callable[[Floats], Bools], top: Floats) -> Floats:
    """Return the tilt, above 0, up to which a condition holds, by halving its logarithm."""
    low = np.full(len(top), -_WIDEST)
    high = np.full(len(top), _WIDEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = holds(np.exp2(middle) / top)
        low = np.where(above, middle, low)
        high = np.where(above, high, middle)
    tilt: Floats = np.exp2((low + high) / 2) / top
    return tilt


def _tilted_mean(values: Floats, tilt: Floats, weight: Floats | float) -> Floats:
    """Return the mean with weights ``1 / (1 + tilt · value)``, of which the unit at 0 has ``weight``."""
    share = 1 / (1 + tilt * values)
    return _sums(share * values) / (_sums(share) + weight)


def _tail(
    values: Floats, tilt: Floats, limit: Floats, weight: Floats | float
) -> Floats:
    """Return the chance that exponentials weigh the values to a mean of ``limit`` or less.

    The saddlepoint approximation of Lugannani and Rice (1980), where ``tilt`` is the saddlepoint's.
    """
    from scipy import special

    ratio = 1 + tilt * values
    logs = _sums(np.log(ratio)) - (len(values) + weight) * np.log1p(tilt * limit)
    root = -np.sqrt(np.maximum(2 * logs, 0.0))
    squares = _sums(((values - limit) / ratio) ** 2) + weight * limit**2
    spread = tilt * np.sqrt(squares)
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.exp(-root * root / 2) / math.sqrt(2 * math.pi)
        p = special.ndtr(root) + density * (1 / root + 1 / spread)
    return np.where(root > -_NEAR, 0.5, np.clip(p, 0.0, 1.0))


class Adaptive(Record):
    """A mean of each column with one more unit at the worst credible loss, and how it is distributed.

    Attributes
    ----------
    mean, error, skewness
        float64 ``[columns]``; ``skewness`` is that of the mean.
    df
        Degrees of freedom of t.
    """

    mean: Floats
    error: Floats
    skewness: Floats
    df: float

    def limit(self, alpha: float) -> Floats:
        """Return the lower limit of each mean at a one-sided level, float64 ``[columns]``."""
        q = -t_quantile(alpha, self.df)
        g = self._skewness
        corrected = 3 * (np.cbrt(1 + self.skewness * (q - g / 6)) - 1) / _divisor(g)
        reach: Floats = np.where(g == 0, q, corrected)
        return self.mean - reach * self.error

    def p(self, limit: Floats) -> Floats:
        """Return the one-sided level at which :meth:`limit` is ``limit``, float64 ``[columns]``."""
        from scipy import special

        g = self._skewness
        distance = self.mean - limit
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            infinite = np.sign(distance) * np.inf
            t = np.where(self.error > 0, distance / self.error, infinite)
            corrected = ((1 + g * t / 3) ** 3 - 1) / _divisor(g) + g / 6
        p: Floats = special.stdtr(self.df, -np.where(g == 0, t, corrected))
        return p

    @property
    def _skewness(self) -> Floats:
        return np.where(np.abs(self.skewness) < _STRAIGHT, 0.0, self.skewness)


def _by_column(values: Floats) -> Floats:
    """Return values ``[units, columns]`` stored column by column."""
    return np.asfortranarray(values)


def _sums(values: Floats) -> Floats:
    """Return the sum of each column, whose last bit does not depend on the columns beside it."""
    sums: Floats = _by_column(values).sum(axis=0)
    return sums


def _divisor(values: Floats) -> Floats:
    """Return values to divide by, 1 in the place of 0."""
    return np.where(values == 0, 1.0, values)


def adaptive(
    total: Floats, size: Floats, span: float, *, guarded: bool = True
) -> Adaptive:
    """Return what the lower limit of the mean of each column follows from.

    Parameters
    ----------
    total
        float64 ``[units, columns]``: sums of differences over the queries of each unit.
    size
        float64 ``[units]``: their numbers of queries, or weights.
    span
        The largest difference that a query can have.
    guarded
        Whether one more unit is added at the worst credible loss; without it this is t with CR2.
    """
    size = size[:, None]
    means = np.abs(total / size)
    squares = _sums(total**2)
    moved = _sums(np.abs(total)) ** 2 / _divisor(squares)  # their effective number
    unseen = span * np.minimum(1.0, _UNSEEN / _divisor(moved))
    worst = np.maximum(means.max(axis=0), unseen)
    weight = np.zeros(len(moved))
    if guarded:
        weight = np.minimum(1.0, (_ENOUGH / _divisor(moved)) ** _FADING)

    # the mean with one more unit of average size, at the worst loss and with this weight
    average = float(size.mean())
    whole = size.sum() + weight * average
    mean = (_sums(total) - weight * average * worst) / whole
    scatter = total - size * mean
    last = -average * (worst + mean)

    square = _sums(scatter**2 / remainder(size / whole))
    square = square + weight * last**2 / (1 - average / whole)
    skewness = np.zeros(len(moved))
    if guarded:
        cube = _sums(scatter**3) + weight * last**3
        skewness = cube / _divisor(square**1.5)
    return Adaptive(mean, np.sqrt(square) / whole, skewness, effective_df(size[:, 0]))


def unseen_share(n: int, alpha: float) -> float:
    """Return the largest share of queries that may lose while n queries show no loss, at a one-sided level.

    Examples
    --------
    >>> round(unseen_share(50, 0.025), 3)
    0.071
    """
    return 1 - math.exp(math.log(alpha) / n)


def difference_limit(
    total: Floats,
    size: Floats,
    most: float,
    alpha: float,
    *,
    method: str = "auto",
    dense: bool = False,
) -> Floats:
    """Return the lower limit of the mean difference of each column: the larger of the two limits.

    Parameters
    ----------
    total
        float64 ``[units, columns]``: sums of differences over the queries of each unit.
    size
        float64 ``[units]``, above 0.
    most
        The largest difference a query can have.
    alpha
        The one-sided level.
    method
        ``auto``, or ``worst_case`` for that limit alone.
    dense
        Whether units are clusters that all differ: then t with CR2.
    """
    limits = [np.full(total.shape[1], -most)]
    if method != "worst_case" and len(size) > 1:
        limits.append(adaptive(total, size, most, guarded=not dense).limit(alpha))
    if not dense and not np.ptp(size):
        above_worst = _above_worst(total, size, most)
        limits.append(worst_case(above_worst, alpha) - most)
    largest: Floats = np.maximum.reduce(limits)
    return largest


def difference_p(
    total: Floats,
    size: Floats,
    most: float,
    limit: Floats | float,
    *,
    method: str = "auto",
    dense: bool = False,
) -> Floats:
    """Return the one-sided level at which :func:`difference_limit` is ``limit``, float64 ``[columns]``."""
    limits: Floats = np.broadcast_to(np.asarray(limit, np.float64), total.shape[1])
    levels = [np.ones(total.shape[1])]
    if method != "worst_case" and len(size) > 1:
        levels.append(adaptive(total, size, most, guarded=not dense).p(limits))
    if not dense and not np.ptp(size):
        above_worst = _above_worst(total, size, most)
        levels.append(worst_case_p(above_worst, limits + most))
    return np.where(limits > -most, np.minimum.reduce(levels), 0.0)


def _above_worst(total: Floats, size: Floats, most: float) -> Floats:
    """Return the distance of each unit's difference above the worst possible one."""
    return np.maximum(most + total / size[:, None], 0.0)


def share_limits(
    values: Floats, alpha: float, method: str = "auto"
) -> tuple[Floats, Floats]:
    """Return both limits of the mean of each column of values from 0 to 1, each at a one-sided level.

    Parameters
    ----------
    values
        float64 ``[units, columns]``.
    alpha
        The level.
    method
        ``auto``, or ``worst_case``: then the unit at the end of the range weighs 1.
    """
    weight: Floats | float = 1.0
    if method != "worst_case":
        weight = _weight_at_end(values)
    low = worst_case(values, alpha, weight)
    high = 1 - worst_case(1 - values, alpha, weight)
    return low, high


def _weight_at_end(values: Floats) -> Floats:
    """Return the weight of the unit at an end of the range for each column of values from 0 to 1."""
    mean = values.mean(axis=0)
    largest = mean * (1 - mean)
    # 1 for values at the ends, which are informative about the ends, and 0 for equal ones, which are not
    share = np.minimum(values.var(axis=0) / _divisor(largest), 1.0)
    spread = np.where(largest > 0, share, 1.0)
    between = np.minimum(1.0, (1 - spread) / _HALF)
    return END - _LESS * np.minimum(1.0, spread / _CLUSTERED) * between
