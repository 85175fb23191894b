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

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Bools, Floats


#: the worst credible loss, as a share of the range, times the effective number of units that moved
_UNSEEN: Final = 2.5
#: from so many units that moved on, the unit at the worst loss counts less, by this power
_ENOUGH, _FADING = 8.0, 1.5
#: what the unit at an end of the range weighs for a single mean: less, where values spread between the ends
END, _LESS, _CLUSTERED, _HALF = 0.8, 0.4, 0.1, 0.5
#: a tilt lies between 2^-60 and 2^60 over the largest value; so many halvings leave 1e-12 of its logarithm
_WIDEST, _HALVINGS = 60.0, 46
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

    top = values.max(axis=0, initial=0.0)
    ones = (values == top).sum(axis=0)
    plain = (values == 0).sum(axis=0) + ones >= len(values)
    exact = np.where(
        plain, top * special.betaincinv(ones, len(values) - ones + weight, alpha), 0.0
    )
    if plain.all():
        return exact
    rest = _by_column(values[:, ~plain])
    weight = np.broadcast_to(weight, len(top))[~plain]
    tilt = _solved(
        lambda tilt: _tail(rest, tilt, _tilted(rest, tilt, weight), weight) > alpha,
        top[~plain],
    )
    exact[~plain] = _tilted(rest, tilt, weight)
    return exact


def worst_case_p(values: Floats, limit: Floats, weight: float = 1.0) -> Floats:
    """Return the one-sided level at which :func:`worst_case` is ``limit``, float64 ``[columns]``.

    >>> values = np.array([[0.2], [0.5], [0.9], [0.4]])
    >>> round(float(worst_case_p(values, worst_case(values, 0.025))[0]), 6)
    0.025
    """
    from scipy import special

    top = values.max(axis=0, initial=0.0)
    ones = (values == top).sum(axis=0)
    plain = (values == 0).sum(axis=0) + ones >= len(values)
    share = np.divide(limit, top, out=np.ones(len(top)), where=top > limit)
    p = np.where(
        limit <= 0, 0.0, special.betainc(ones, len(values) - ones + weight, share)
    )
    rest = np.flatnonzero(~plain & (limit > 0) & (limit < top))
    if len(rest):
        some = _by_column(values[:, rest])
        target = limit[rest]
        tilt = _solved(lambda tilt: _tilted(some, tilt, weight) > target, top[rest])
        mean = _sums(some) / (len(values) + weight)
        p[rest] = np.where(target >= mean, 1.0, _tail(some, tilt, target, weight))
    return p


def _solved(more: Callable[[Floats], Bools], top: Floats) -> Floats:
    """Return the tilt, above 0, up to which ``more`` is true, by halving its logarithm."""
    low = np.full(len(top), -_WIDEST)
    high = np.full(len(top), _WIDEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        up = more(np.exp2(middle) / top)
        low = np.where(up, middle, low)
        high = np.where(up, high, middle)
    found: Floats = np.exp2((low + high) / 2) / top
    return found


def _tilted(values: Floats, tilt: Floats, weight: Floats | float) -> Floats:
    """Return the mean with weights ``1 / (1 + tilt · value)``, of which the unit at 0 has ``weight``."""
    share = 1 / (1 + tilt * values)
    found: Floats = _sums(share * values) / (_sums(share) + weight)
    return found


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
    spread = tilt * np.sqrt(_sums(((values - limit) / ratio) ** 2) + weight * limit**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = special.ndtr(root) + np.exp(-root * root / 2) / math.sqrt(2 * math.pi) * (
            1 / root + 1 / spread
        )
    near: Floats = np.where(root > -_NEAR, 0.5, np.clip(p, 0.0, 1.0))
    return near


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
        from scipy import special

        q = -float(special.stdtrit(self.df, alpha))
        g = self._skewness
        reach: Floats = np.where(
            g == 0, q, 3 * (np.cbrt(1 + self.skewness * (q - g / 6)) - 1) / _one(g)
        )
        return self.mean - reach * self.error

    def p(self, limit: Floats) -> Floats:
        """Return the one-sided level at which :meth:`limit` is ``limit``, float64 ``[columns]``."""
        from scipy import special

        g = self._skewness
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = np.where(
                self.error > 0,
                (self.mean - limit) / self.error,
                np.sign(self.mean - limit) * np.inf,
            )
            q = np.where(g == 0, t, ((1 + g * t / 3) ** 3 - 1) / _one(g) + g / 6)
        found: Floats = special.stdtr(self.df, -q)
        return found

    @property
    def _skewness(self) -> Floats:
        return np.where(np.abs(self.skewness) < _STRAIGHT, 0.0, self.skewness)


def _by_column(values: Floats) -> Floats:
    """Return values ``[units, columns]`` stored column by column."""
    return np.asfortranarray(values)


def _sums(values: Floats) -> Floats:
    """Return the sum of each column, whose last bit does not depend on the columns beside it."""
    found: Floats = _by_column(values).sum(axis=0)
    return found


def _one(values: Floats) -> Floats:
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
    moved = _sums(np.abs(total)) ** 2 / _one(squares)  # their effective number
    worst = np.maximum(means.max(axis=0), span * np.minimum(1.0, _UNSEEN / _one(moved)))
    weight = (
        np.minimum(1.0, (_ENOUGH / _one(moved)) ** _FADING)
        if guarded
        else np.zeros(len(moved))
    )
    each = float(size.mean())
    whole = size.sum() + weight * each
    mean = (_sums(total) - weight * each * worst) / whole
    scatter = total - size * mean
    last = -each * (worst + mean)
    square = _sums(scatter**2 / remainder(size / whole)) + weight * last**2 / (
        1 - each / whole
    )
    cube = _sums(scatter**3) + weight * last**3
    skewness = cube / _one(square**1.5) if guarded else np.zeros(len(moved))
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
    found = [np.full(total.shape[1], -most)]
    if method != "worst_case" and len(size) > 1:
        found.append(adaptive(total, size, most, guarded=not dense).limit(alpha))
    if not dense and not np.ptp(size):
        found.append(worst_case(_above(total, size, most), alpha) - most)
    limit: Floats = np.maximum.reduce(found)
    return limit


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
    at: Floats = np.broadcast_to(np.asarray(limit, np.float64), total.shape[1])
    found = [np.ones(total.shape[1])]
    if method != "worst_case" and len(size) > 1:
        found.append(adaptive(total, size, most, guarded=not dense).p(at))
    if not dense and not np.ptp(size):
        found.append(worst_case_p(_above(total, size, most), at + most))
    p: Floats = np.where(at > -most, np.minimum.reduce(found), 0.0)
    return p


def _above(total: Floats, size: Floats, most: float) -> Floats:
    """Return the distance of each unit's difference above the worst possible one."""
    above: Floats = np.maximum(most + total / size[:, None], 0.0)
    return above


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
    mean = values.mean(axis=0)
    most = mean * (1 - mean)
    # 1 for values at the ends, which are informative about the ends, and 0 for equal ones, which are not
    spread = np.where(most > 0, np.minimum(values.var(axis=0) / _one(most), 1.0), 1.0)
    weight = END - _LESS * np.minimum(1.0, spread / _CLUSTERED) * np.minimum(
        1.0, (1 - spread) / _HALF
    )
    weight = np.ones_like(weight) if method == "worst_case" else weight
    return worst_case(values, alpha, weight), 1 - worst_case(1 - values, alpha, weight)
