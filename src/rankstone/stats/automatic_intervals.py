"""The intervals that are used unless another method is chosen: of a mean, and of a difference of means.

Both use the range of values, so an interval has some width even where all values are equal, and stays inside
the range.  Which limit is used depends on the data (see ``bounded_means``).

The verdict that follows from an interval is here, too.
"""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import Record, counted
from rankstone.errors import UsageError
from rankstone.stats.bounded_means import (
    END,
    adaptive,
    difference_limit,
    difference_p,
    share_limits,
)
from rankstone.stats.mean_intervals import Estimate
from rankstone.stats.sampling_units import Units, effective_df
from rankstone.stats.student_t import t_quantile

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

    def limits(self, tail: float) -> tuple[float, float]:
        """Return both limits, each at a one-sided level; NaN where the range is no range."""
        least, most = self.span
        if not least < most:
            return math.nan, math.nan

        values = self.total / self.size
        if np.ptp(self.size) or self.clustered:
            low, high = self._clustered(values, tail)
        else:
            lows, highs = share_limits(values[:, None], tail, self.method)
            low = float(lows[0])
            high = float(highs[0])
        return least + (most - least) * low, least + (most - least) * high

    def _clustered(self, values: Floats, tail: float) -> tuple[float, float]:
        units = Units(self.total[:, None], self.size, clustered=True)
        t = -t_quantile(tail, effective_df(self.size))
        inside = values.min() > 0 and values.max() < 1 and np.ptp(values)
        if inside and self.method != "worst_case":
            mean, error = _only_mean(units)
            return max(mean - t * error, 0.0), min(mean + t * error, 1.0)
        return self._at_end(float(units.mean[0]), t, tail)

    def _at_end(self, mean: float, t: float, tail: float) -> tuple[float, float]:
        """Return the limits of as many independent values as have the variance of clusters at an end."""
        from scipy import special

        # one more cluster at each end
        half = self.size.mean() / 2
        total = np.append(self.total, [0, half])[:, None]
        size = np.append(self.size, [half, half])
        centre, error = _only_mean(Units(total, size, clustered=True))

        z = -float(special.ndtri(tail))
        # at a tail of one half both quantiles are 0
        narrower = z / t if z else 1.0
        whole = math.fsum(self.size)
        effective = centre * (1 - centre) / error**2 * narrower**2
        n = min(max(effective, 1.0), whole)
        hits = mean * n
        low = 0.0
        high = 1.0
        if hits > 0:
            low = float(special.betaincinv(hits, n - hits + END, tail))
        if hits < n:
            high = float(special.betaincinv(hits + END, n - hits, 1 - tail))
        return low, high


def _only_mean(units: Units) -> tuple[float, float]:
    """Return the mean of the only column, and its error."""
    errors, _ = units.robust_error()
    return float(units.mean[0]), float(errors[0])


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
    answers: dict[tuple[Any, ...], Floats] = field(default_factory=dict)

    def ask(
        self, question: Callable[..., Floats], sign: int, argument: float
    ) -> Floats:
        """Return a limit, or the p at one, of ``sign`` times each column, float64 ``[columns]``."""
        key = question, sign, argument
        if key in self.answers:
            return self.answers[key]

        answer = np.full(len(self.dense), math.nan)
        for dense in (False, True):
            columns = self.dense == dense
            if columns.any():
                answer[columns] = question(
                    np.asfortranarray(sign * self.total[:, columns]),
                    self.size,
                    self.most,
                    argument,
                    method=self.method,
                    dense=dense,
                )
        self.answers[key] = answer
        return answer

    @cached_property
    def spread(self) -> Floats:
        """The standard errors for planning: with one more unit at the worst credible loss."""
        if len(self.size) < 2:  # noqa: PLR2004 - one unit has no spread
            return self.error
        below = adaptive(self.total, self.size, self.most).error
        above = adaptive(-self.total, self.size, self.most).error
        return np.where(self.dense, self.error, np.maximum(below, above))


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

    def limits(self, tail: float) -> tuple[float, float]:
        """Return both limits, each at a one-sided level; NaN where the range is no range."""
        if not self.span[1] > 0:
            return math.nan, math.nan
        low = self._ask(difference_limit, 1, tail)
        high = -self._ask(difference_limit, -1, tail)
        return low, high

    def _ask(
        self, question: Callable[..., Floats], sign: int, argument: float
    ) -> float:
        """Return the answer for the own column."""
        return float(self.among.ask(question, sign, argument)[self.column])

    def p_above(self, limit: float) -> float:
        """Return the one-sided level at which the lower limit is ``limit``."""
        return self._ask(difference_p, 1, limit)

    def p_below(self, limit: float) -> float:
        """Return the one-sided level at which the upper limit is ``limit``."""
        return self._ask(difference_p, -1, -limit)

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
    >>> ones = Units.from_scores(np.ones((10, 1)))
    >>> [round(end, 4) for end in mean_estimates(ones, [(0.0, 1.0)])[0].interval(0.95)]
    [0.7201, 1.0]
    """
    counting = units.counting()
    size = counting.size
    if not len(size):
        raise UsageError(
            "no query or cluster counts, so there is no mean",
            given=counted(len(units), "unit"),
            expected="a unit with a size above 0",
        )
    errors, df = units.robust_error()
    columns = zip(
        units.mean.tolist(), errors.tolist(), counting.total.T, spans, strict=True
    )
    bounded: list[Estimate] = []
    for mean, error, total, (low, high) in columns:
        share = np.zeros(len(size))
        if high > low:
            share = (total - low * size) / (high - low)
        bounded.append(
            BoundedMean(
                mean,
                error,
                len(size),
                method,
                df=df,
                span=(low, high),
                total=np.clip(share, 0.0, size),
                size=size,
                clustered=units.clustered,
            )
        )
    return bounded


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
    >>> same = Units.from_scores(np.zeros((10, 1)))
    >>> [round(end, 4) for end in difference_estimate(same, (0.0, 1.0)).interval(0.95)]
    [-0.3085, 0.3085]
    """
    return difference_estimates(units, span, method)[0]


def difference_estimates(
    units: Units, span: Span, method: str = "auto"
) -> list[BoundedDifference]:
    """Do what :func:`difference_estimate` does for each column of totals ``[units, columns]``."""
    counting = units.counting()
    size = counting.size
    most = span[1] - span[0]
    errors, df = units.robust_error()
    rounding = units.roundings / max(len(units), 1)
    total = np.where(np.abs(counting.total) <= rounding, 0.0, counting.total)
    many_clusters = units.clustered and len(size) > 1
    dense = (
        total.all(axis=0) & (errors > 0) & (many_clusters and method != "worst_case")
    )
    among = BoundedDifferences(total, size, most, method, dense, errors)
    means = zip(units.mean.tolist(), errors.tolist(), strict=True)
    return [
        BoundedDifference(
            mean,
            error,
            len(size),
            method,
            df=df,
            span=(-most, most),
            among=among,
            column=column,
        )
        for column, (mean, error) in enumerate(means)
    ]


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
    above = low > 0
    if not above and not high < 0:
        return "inconclusive"
    if direction == "neither":
        return "higher" if above else "lower"
    is_better = above == (direction == "higher")
    return "better" if is_better else "worse"
