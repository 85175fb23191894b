"""Independent units: queries, or clusters of queries that are drawn and flipped as a whole."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.exact_sums import column_sums, tolerance

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints


#: squared shares of units sum to more where one unit outweighs all others
_ONE_UNIT: Final = 1 - 2e-5


class Units(Record):
    """Independent units: what each sums to, and how much it counts.

    A query is a unit of its own; where queries come in clusters (a user's, a session's), the cluster is the
    unit.  Means are over queries in both cases: all totals over all sizes.

    Attributes
    ----------
    total
        float64 ``[units, columns]``: sums over the queries of each unit, a column for each system.
    size
        float64 ``[units]``: how many queries there are in each, or what they weigh.
    clustered
        Whether units are clusters of queries.

    Examples
    --------
    >>> units = Units.from_scores(np.array([[0.5], [0.75], [1.0]]), cluster=np.array([0, 0, 1]))
    >>> units.total.ravel().tolist(), units.size.tolist(), units.mean.tolist()
    ([1.25, 1.0], [2.0, 1.0], [0.75])
    """

    total: Floats
    size: Floats
    clustered: bool = False

    @classmethod
    def from_scores(
        cls,
        values: Floats,
        *,
        weight: Floats | None = None,
        cluster: Ints | None = None,
    ) -> Units:
        """Make units of scores per query.

        Parameters
        ----------
        values
            float64 ``[queries, columns]``, without NaN.
        weight
            float64 ``[queries]``, 0 or more: what each query counts; 1 unless given.
        cluster
            int64 ``[queries]``, from 0: the cluster each query belongs to.
        """
        size: Floats = np.ones(len(values))
        if weight is not None:
            size = weight
        total = values * size[:, None]
        if cluster is None:
            return cls(total, size)

        groups = int(cluster.max(initial=-1)) + 1
        columns = [_sum_by_cluster(column, cluster, groups) for column in total.T]
        cluster_size = _sum_by_cluster(size, cluster, groups)
        return cls(np.stack(columns, axis=1), cluster_size, clustered=True)

    def __len__(self) -> int:
        return len(self.size)

    @property
    def rounding(self) -> float:
        """By how much sums of such totals may differ and still be called equal."""
        return tolerance(self.total)

    @cached_property
    def roundings(self) -> Floats:
        """The same of each column, float64 ``[columns]``."""
        return np.array([tolerance(column) for column in self.total.T])

    @cached_property
    def mean(self) -> Floats:
        """The mean of each column over queries, float64 ``[columns]``; sums are exact."""
        size = math.fsum(self.size)
        return column_sums(self.total) / size

    def difference(self, first: int | Ints, second: int | Ints) -> Units:
        """Return columns ``first - second``, of two columns or of many pairs of them."""
        columns = self.total.T
        between = columns[np.atleast_1d(first)] - columns[np.atleast_1d(second)]
        return Units(between.T, self.size, clustered=self.clustered)

    def counting(self) -> Units:
        """Return the units that have a size above 0."""
        rows = self.size > 0
        return Units(self.total[rows], self.size[rows], clustered=self.clustered)

    def scatter(self) -> Floats:
        """Return the deviation of each unit's total from its expectation, float64 ``[units, columns]``.

        For queries of equal weight that is the deviation from the mean.
        """
        return self.total - self.size[:, None] * self.mean

    def standard_error(self) -> Floats:
        """Return the standard error of each mean, float64 ``[columns]``; NaN for a single unit.

        For units of equal size ``s / √n``; for others that of a ratio of sums by linearisation (Cochran,
        Sampling Techniques, 3rd edition 1977, §6.3), which is the cluster-robust one.
        """
        n = len(self)
        if n < 2:  # noqa: PLR2004 - one unit has no spread
            return np.full(self.total.shape[1], np.nan)

        squares = column_sums(self.scatter() ** 2)
        return np.sqrt(squares * (n / (n - 1))) / math.fsum(self.size)

    def robust_error(self) -> tuple[Floats, float]:
        """Return the standard error of each mean, float64 ``[columns]``, and its degrees of freedom.

        For clusters of unequal size the variance CR2 and the degrees of freedom of Bell and McCaffrey (Survey
        Methodology 28, 2002): with few clusters the linearisation of :meth:`standard_error` is too small.
        """
        if (self.size > 0).sum() < 2:  # noqa: PLR2004 - one unit has no spread
            return np.full(self.total.shape[1], np.nan), 0
        if not self.clustered or not np.ptp(self.size):
            return self.standard_error(), len(self) - 1

        whole = math.fsum(self.size)
        share = self.size[:, None] / whole
        squares = self.scatter() ** 2 / remainder(share)
        error: Floats = np.sqrt(column_sums(squares)) / whole
        return error, effective_df(self.size)


def effective_df(size: Floats) -> float:
    """Return the degrees of freedom of a mean over units of such sizes (Bell and McCaffrey 2002).

    Examples
    --------
    >>> effective_df(np.ones(10)), round(effective_df(np.array([8.0, 1.0, 1.0, 1.0, 1.0])), 2)
    (9, 1.81)
    """
    if not np.ptp(size):
        return len(size) - 1

    share = size / math.fsum(size)
    squares = share**2
    leverage = squares / remainder(share)
    return df_of_sums(math.fsum(squares), math.fsum(leverage), math.fsum(leverage**2))


def df_of_sums(shares: float, leverage: float, squares: float) -> float:
    """Return degrees of freedom from sums over units: of squared shares, of leverages, of their squares.

    Where one unit has all but some 10⁻⁵ of the whole, its leverage is so large that the difference of the
    squares keeps nothing of its products with others; these add less than 2·10⁻⁵ to the squared shares there.
    """
    variance = shares
    if shares <= _ONE_UNIT:
        variance = shares + leverage**2 - squares
    return 1 / variance


def remainder(share: Floats) -> Floats:
    """Return 1 less each share; infinite for a unit that is all there is, which has no spread."""
    return np.where(share < 1, 1 - share, np.inf)


def _sum_by_cluster(values: Floats, cluster: Ints, groups: int) -> Floats:
    """Return the sum of each cluster, whose last bit does not depend on the order queries come in."""
    order = np.lexsort((values, cluster))
    sums = np.bincount(cluster[order], values[order], groups)
    return np.asarray(sums, np.float64)
