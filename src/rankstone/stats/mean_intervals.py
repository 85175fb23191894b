"""Intervals of means: Student's t, and the bootstrap in four forms.

Efron and Tibshirani (An Introduction to the Bootstrap, 1993) for percentiles and the studentised bootstrap,
Efron (JASA 82, 1987) for BCa.  What is drawn again is units: queries, or clusters of queries as a whole.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.errors import BadOption, between_0_and_1, did_you_mean
from rankstone.stats.exact_sums import Whole
from rankstone.stats.parallel_blocks import in_slices
from rankstone.stats.poisson_bootstrap import PoissonBootstrap
from rankstone.stats.random_streams import draws
from rankstone.stats.student_t import t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Progress
    from rankstone.stats.sampling_units import Units

    Span = tuple[float, float]


#: method → what it is
METHODS: Final = (
    "auto",
    "worst_case",
    "t",
    "bca",
    "percentile",
    "studentised",
    "poisson",
)
#: those that draw resamples
RESAMPLED: Final = ("bca", "percentile", "studentised", "poisson")
#: rows of counts times units in a block: memory is bounded for any number of units
_BLOCK: Final = 1 << 20
#: levels are looked for down to this one, by halving their logarithm
_LEAST_LEVEL: Final = 1e-300
_HALVINGS: Final = 60
#: a share of squares that is only rounding
_ROUNDING: Final = 1e-9


class Estimate(Record):
    """A mean, and how uncertain it is.

    Attributes
    ----------
    value
        The mean.
    error
        Its standard error; NaN for a single unit.
    units
        How many independent units it is made of.
    method
        One of :data:`METHODS`.
    drawn
        The mean of each resample, float64; for ``studentised`` its distance from the mean in its own
        standard errors; ``None`` for ``t``.
    acceleration
        How fast the standard error changes with the mean, of BCa.
    df
        Degrees of freedom of t.
    span
        The lowest and highest possible mean, if known.

    Examples
    --------
    >>> from rankstone.stats.sampling_units import Units
    >>> units = Units.from_scores(np.array([[0.1], [0.2], [0.2], [0.5]]))
    >>> [round(end, 6) for end in estimates(units)[0].interval(0.95)]
    [-0.025608, 0.525608]
    """

    value: float
    error: float
    units: int
    method: str = "t"
    drawn: Floats | None = None
    acceleration: float = 0.0
    df: float = math.nan
    span: Span = (-math.inf, math.inf)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return both ends; NaN where one unit says nothing of the spread, or no resample does."""
        between_0_and_1("confidence", confidence)
        return self.limits((1 - confidence) / 2)

    @property
    def spread(self) -> float:
        """The standard error for planning."""
        return self.error

    def limits(self, tail: float) -> tuple[float, float]:
        """Return both limits, each at a one-sided level; NaN where a single unit has no spread."""
        if math.isnan(self.error):
            return math.nan, math.nan
        if self.error == 0:
            return self._limits_without_spread(tail)
        if self.drawn is None:
            reach = self.error * -t_quantile(tail, self.df)
            return self.value - reach, self.value + reach
        if self.method == "bca":
            return self._bca_limits(self.drawn, tail)

        low, high = _quantiles(self.drawn, tail, 1 - tail)
        if self.method == "studentised":
            return self.value - high * self.error, self.value - low * self.error
        return low, high

    def p_above(self, limit: float) -> float:
        """Return the one-sided level at which the lower limit is ``limit``: small for a much larger mean."""
        return self._level(lambda tail: self.limits(tail)[0] >= limit)

    def p_below(self, limit: float) -> float:
        """Return the one-sided level at which the upper limit is ``limit``: small for a much smaller mean."""
        return self._level(lambda tail: self.limits(tail)[1] <= limit)

    def _level(self, reached: Callable[[float], bool]) -> float:
        """Return the smallest level at which a limit is reached, 1 where none up to a half is."""
        low = math.log(_LEAST_LEVEL)
        high = math.log(0.5)
        if not reached(0.5):
            return 1.0

        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if reached(math.exp(middle)):
                high = middle
            else:
                low = middle
        return math.exp(high)

    def _limits_without_spread(self, tail: float) -> tuple[float, float]:
        """Return the limits of values that are all the same; NaN where no range of values is known.

        They are those of a share of 0 or 1 (Clopper and Pearson 1934).
        """
        low, high = self.span
        if not math.isfinite(high - low):
            return math.nan, math.nan
        share = tail ** (1 / self.units)
        return low + (self.value - low) * share, high - (high - self.value) * share

    def _bca_limits(self, drawn: Floats, tail: float) -> tuple[float, float]:
        from scipy import special

        below = (drawn < self.value).mean() / 2 + (drawn <= self.value).mean() / 2
        bias = special.ndtri(below)
        z = bias + np.array([1.0, -1.0]) * special.ndtri(tail)
        shifted = bias + z / (1 - self.acceleration * z)
        low, high = special.ndtr(shifted).tolist()
        if not math.isfinite(low + high):
            return math.nan, math.nan
        return _quantiles(drawn, low, high)


def _quantiles(drawn: Floats, low: float, high: float) -> tuple[float, float]:
    """Return two quantiles; NaN where they are not finite numbers."""
    # between two infinite distances there is nothing
    with np.errstate(invalid="ignore"):
        ends = np.quantile(drawn, [low, high])
    if np.isfinite(ends).all():
        return float(ends[0]), float(ends[1])
    return math.nan, math.nan


def estimates(
    units: Units,
    method: str = "t",
    *,
    span: Span = (-math.inf, math.inf),
    resamples: int = 10_000,
    seed: int = 0,
    keys: NDArray[np.uint64] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Estimate]:
    """Estimate the mean of each column, and its uncertainty.

    Parameters
    ----------
    units
        Totals ``[units, columns]`` and sizes.
    method
        ``t``, or one of :data:`RESAMPLED`.
    span
        The lowest and highest possible mean, if known.
    resamples
        How many, of the bootstrap.
    seed
        Makes intervals reproducible, bit by bit, on any number of threads.  All columns are drawn together,
        and a column's numbers do not depend on the other columns.
    keys
        For ``poisson``: uint64 ``[units]``, keys that identify units in any partition; by default their
        positions.
    threads, progress
        As for :func:`~rankstone.stats.parallel_blocks.in_blocks`.
    """
    known_methods = ("t", *RESAMPLED)
    if method not in known_methods:
        raise BadOption(
            f"there is no interval {method!r}",
            expected=", ".join(known_methods),
            fix=did_you_mean(method, known_methods),
        )
    n = len(units)
    means = units.mean.tolist()
    if method == "t" or n < 2:  # noqa: PLR2004 - a single unit has nothing to draw from
        errors, df = units.robust_error()
        return [
            Estimate(mean, error, n, df=df, span=span)
            for mean, error in zip(means, errors.tolist(), strict=True)
        ]

    if method == "poisson":
        stream = PoissonBootstrap(len(means), resamples=resamples, seed=seed)
        stream.add(units.total, units.size, keys, threads=threads, progress=progress)
        drawn = stream.means()
    else:
        drawn = _resampled(units, method, resamples, seed, threads, progress)
    accelerations = np.zeros(len(means))
    if method == "bca":
        accelerations = _accelerations(units)
    columns = zip(
        means,
        units.standard_error().tolist(),
        drawn.T,
        accelerations.tolist(),
        strict=True,
    )
    return [
        Estimate(mean, error, n, method, resampled, acceleration, span=span)
        for mean, error, resampled, acceleration in columns
    ]


def _resampled(
    units: Units,
    method: str,
    resamples: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> Floats:
    """Return the mean, or its studentised distance, in every resample, float64 ``[resamples, columns]``."""
    n = len(units)
    scatter = units.scatter()
    size = units.size[:, None]
    parts = [scatter, size]
    if method == "studentised":
        parts += [scatter**2, scatter * size, size**2]
    moments = Whole.from_values(np.concatenate(parts, axis=1))
    columns = scatter.shape[1]

    def means(_: int, block: range) -> Floats:
        """Return the means of some resamples; NaN where units that weigh nothing are drawn alone."""
        sums = moments.summed(draws(n, seed, block))
        weight = sums[:, columns : columns + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = sums[:, :columns] / weight
            if method != "studentised":
                return shift + units.mean

            squares = sums[:, columns + 1 : 2 * columns + 1]
            products = sums[:, 2 * columns + 1 : -1]
            rest = squares - 2 * shift * products + shift**2 * sums[:, -1:]
            # a resample of equal values has no spread
            rest = np.where(rest > _ROUNDING * squares, rest, 0.0)
            error = np.sqrt(rest * (n / (n - 1))) / weight
            return np.where(shift == 0, 0.0, shift / error)

    block_size = max(1, _BLOCK // max(n, 1))
    blocks = in_slices(means, resamples, block_size, threads, progress)
    return np.concatenate(list(blocks))


def _accelerations(units: Units) -> Floats:
    """Return BCa's acceleration of each column, from what the mean is without each unit (the jackknife)."""
    rest = units.size.sum() - units.size
    # the mean less the mean without the unit
    influence = units.scatter() / rest[:, None]
    influence = influence - influence.mean(axis=0)
    squares = (influence**2).sum(axis=0)
    cubes = (influence**3).sum(axis=0)

    accelerations: Floats = np.zeros(len(cubes))
    np.divide(cubes, 6 * squares**1.5, out=accelerations, where=squares > 0)
    return accelerations
