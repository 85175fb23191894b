"""The intervals that are used unless another method is chosen: of a mean, and of a difference of means.

Both use the range of values, so an interval has some width even where all values are equal, and stays inside
the range.  Which limit is used depends on the data (see ``bounded_means``).

Effect sizes, and the verdict that follows from an interval, are here, too.
"""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.bounded_means import (
    END,
    adaptive,
    difference_limit,
    difference_p,
    share_limits,
)
from rankstone.stats.mean_intervals import Estimate
from rankstone.stats.sampling_units import Units, effective_df

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Bools, Floats
    from rankstone.stats.mean_intervals import Span


#: with fewer clusters intervals are rough: coverage was found between .92 and .96
FEW_CLUSTERS: Final = 20


class BoundedMean(Estimate, kw_only=True):
    """A mean of values within a range.

    Its limits are :func:`~rankstone.stats.bounded_means.worst_case` from both ends, where the unit at the end
    weighs 0.8 for values at the ends or all equal, and down to 0.4 for values spread between.  For 0 and
    1 these are nearly those of Clopper and Pearson (coverage .942 or more).  Clusters: t with CR2; where one
    of them lies at an end, two more clusters, one at each end and half as large as the average, and the
    limits of as many independent values as have the same variance (Korn and Graubard 1998).

    Attributes
    ----------
    total, size
        As of :class:`~rankstone.stats.sampling_units.Units`, one column; shares of the range.
    clustered
        Whether units are clusters of queries.
    """

    total: Floats
    size: Floats
    clustered: bool = False

    def limits(self, alpha: float) -> tuple[float, float]:
        """Return both limits, each at a one-sided level."""
        low, high = self.span
        if not low < high:
            return math.nan, math.nan
        values = self.total / self.size
        if np.ptp(self.size) or self.clustered:
            ends = self._clustered(values, alpha)
        else:
            both = share_limits(values[:, None], alpha, self.method)
            ends = float(both[0][0]), float(both[1][0])
        return low + (high - low) * ends[0], low + (high - low) * ends[1]

    def _clustered(self, values: Floats, alpha: float) -> tuple[float, float]:
        from scipy import special

        units = Units(self.total[:, None], self.size, clustered=True)
        q = -float(special.stdtrit(effective_df(self.size), alpha))
        if (
            values.min() > 0
            and values.max() < 1
            and np.ptp(values)
            and self.method != "worst_case"
        ):
            mean = float(units.mean[0])
            reach = q * float(units.robust_error()[0][0])
            return max(mean - reach, 0.0), min(mean + reach, 1.0)
        half = self.size.mean() / 2
        total = np.append(self.total, [0, half])[:, None]
        size = np.append(self.size, [half, half])
        more = Units(total, size, clustered=True)
        mean = float(more.mean[0])
        error = float(more.robust_error()[0][0])
        normal = -float(special.ndtri(alpha))
        whole = math.fsum(self.size)
        n = min(max(mean * (1 - mean) / error**2 * (normal / q) ** 2, 1.0), whole)
        hits = float(units.mean[0]) * n
        low = special.betaincinv(hits, n - hits + END, alpha) if hits > 0 else 0.0
        high = special.betaincinv(hits + END, n - hits, 1 - alpha) if hits < n else 1.0
        return float(low), float(high)


class BoundedDifferences(Record):
    """Paired differences of many columns, whose limits are computed together when one is first asked for.

    Attributes
    ----------
    total
        float64 ``[units, columns]``: sums of differences over the queries of each unit.
    size
        float64 ``[units]``, above 0.
    most
        The largest difference a query can have.
    method
        ``auto`` or ``worst_case``.
    dense
        bool ``[columns]``: True where units are clusters that all show a difference, not all the same.
    error
        float64 ``[columns]``: standard errors of the means.
    """

    total: Floats
    size: Floats
    most: float
    method: str
    dense: Bools
    error: Floats
    known: dict[tuple[Any, ...], Floats] = field(default_factory=dict)

    def ask(self, answer: Callable[..., Floats], sign: int, at: float) -> Floats:
        """Return a limit, or the p at one, of ``sign`` times each column, float64 ``[columns]``."""
        key = answer, sign, at
        if key not in self.known:
            found = np.full(len(self.dense), math.nan)
            for dense in (False, True):
                some = self.dense == dense
                if some.any():
                    total = np.asfortranarray(sign * self.total[:, some])
                    found[some] = answer(
                        total, self.size, self.most, at, method=self.method, dense=dense
                    )
            self.known[key] = found
        return self.known[key]

    @cached_property
    def spread(self) -> Floats:
        """The standard errors for planning: with one more unit at the worst credible loss."""
        if len(self.size) < 2:  # noqa: PLR2004 - one unit has no spread
            return self.error
        both = (
            adaptive(sign * self.total, self.size, self.most).error for sign in (1, -1)
        )
        return np.where(self.dense, self.error, np.maximum(*both))


class BoundedDifference(Estimate, kw_only=True):
    """A mean of paired differences, none of which is larger than the range of values.

    Its lower limit is the larger of two, :func:`~rankstone.stats.bounded_means.adaptive` and
    ``worst_case`` (``worst_case`` alone for that method); the upper one is the
    lower one of the differences the other way round.  Clusters: t with CR2, unless some of them show no
    difference.

    Attributes
    ----------
    among
        The differences of all columns that were estimated together.
    column
        Its own column.
    """

    among: BoundedDifferences
    column: int

    def limits(self, alpha: float) -> tuple[float, float]:
        """Return both limits, each at a one-sided level."""
        if not self.span[1] > 0:
            return math.nan, math.nan
        low, up = (
            float(self.among.ask(difference_limit, sign, alpha)[self.column])
            for sign in (1, -1)
        )
        return low, -up

    def p_above(self, limit: float) -> float:
        """Return the one-sided level at which the lower limit is ``limit``."""
        return float(self.among.ask(difference_p, 1, limit)[self.column])

    def p_below(self, limit: float) -> float:
        """Return the one-sided level at which the upper limit is ``limit``."""
        return float(self.among.ask(difference_p, -1, -limit)[self.column])

    @property
    def spread(self) -> float:
        """The standard error for planning: with one more unit at the worst credible loss."""
        return float(self.among.spread[self.column])


def mean_estimates(
    units: Units, spans: list[Span], method: str = "auto"
) -> list[Estimate]:
    """Estimate the mean of each column of values within a range.

    Parameters
    ----------
    units
        Totals ``[units, columns]`` and sizes.
    spans
        The lowest and highest possible value of each column.
    method
        ``auto`` or ``worst_case``.

    Examples
    --------
    >>> ones = Units.of(np.ones((10, 1)))
    >>> [round(end, 4) for end in mean_estimates(ones, [(0.0, 1.0)])[0].interval(0.95)]
    [0.7201, 1.0]
    """
    some = units.size > 0
    size, (error, df) = units.size[some], units.robust_error()
    found: list[Estimate] = []
    for at, (low, high) in enumerate(spans):
        share = (
            (units.total[some, at] - low * size) / (high - low)
            if high > low
            else 0 * size
        )
        total = np.clip(share, 0.0, size)
        statistics = {
            "value": float(units.mean[at]),
            "error": float(error[at]),
            "units": len(size),
            "df": df,
        }
        kind = {"method": method, "span": (low, high), "clustered": units.clustered}
        found.append(BoundedMean(**statistics, **kind, total=total, size=size))  # type: ignore[arg-type]
    return found


def difference_estimate(
    units: Units, span: Span, method: str = "auto"
) -> BoundedDifference:
    """Estimate the mean of one column of paired differences.

    Parameters
    ----------
    units
        Totals ``[units, 1]`` and sizes.
    span
        The lowest and highest possible value of the scores.
    method
        ``auto`` or ``worst_case``.

    Examples
    --------
    >>> same = Units.of(np.zeros((10, 1)))
    >>> [round(end, 4) for end in difference_estimate(same, (0.0, 1.0)).interval(0.95)]
    [-0.3085, 0.3085]
    """
    return difference_estimates(units, span, method)[0]


def difference_estimates(
    units: Units, span: Span, method: str = "auto"
) -> list[BoundedDifference]:
    """Do what :func:`difference_estimate` does for each column of totals ``[units, columns]``."""
    some = units.size > 0
    most = span[1] - span[0]
    size, (error, df) = units.size[some], units.robust_error()
    total = units.total[some]
    total = np.where(np.abs(total) <= units.roundings / max(len(units), 1), 0.0, total)
    dense = (
        total.all(axis=0)
        & (error > 0)
        & (units.clustered and method != "worst_case" and len(size) > 1)
    )
    among = BoundedDifferences(total, size, most, method, dense, error)
    return [
        BoundedDifference(
            value=float(mean),
            error=float(error[at]),
            units=len(size),
            df=df,
            method=method,
            span=(-most, most),
            among=among,
            column=at,
        )
        for at, mean in enumerate(units.mean)
    ]


def d_z(difference: float, deviation: float) -> float | None:
    """Return Cohen's d of paired scores: the mean difference over the differences' standard deviation.

    ``None`` where nothing varies (Cohen 1988).

    >>> d_z(0.05, 0.2)
    0.25
    """
    return difference / deviation if deviation > 0 else None


def hedges(n: int) -> float:
    """Return what d_z of n queries is multiplied by to be free of bias (Hedges 1981), exactly.

    With ν = n - 1 degrees of freedom ``Γ(ν/2) / (√(ν/2) Γ((ν-1)/2))``, about ``1 - 3/(4ν - 1)``.  NaN below
    three queries.

    >>> round(hedges(50), 4)
    0.9846
    """
    df = n - 1
    if df < 2:  # noqa: PLR2004 - the mean of t has no value with one degree of freedom
        return math.nan
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def verdict(ends: tuple[float, float], direction: str, margin: float | None) -> str:
    """Return the verdict that follows from an interval of a difference.

    >>> verdict((0.01, 0.05), "higher", None), verdict((-0.01, 0.01), "lower", 0.02)
    ('better', 'equivalent')
    >>> verdict((-0.01, 0.02), "higher", 0.02), verdict((-0.02, 0.01), "higher", 0.02)
    ('inconclusive', 'inconclusive')
    """
    low, high = ends
    if margin is not None and -margin < low and high < margin:
        return "equivalent"
    if low > 0 or high < 0:
        above = low > 0
        if direction == "neither":
            return "higher" if above else "lower"
        return "better" if above == (direction == "higher") else "worse"
    return "inconclusive"
