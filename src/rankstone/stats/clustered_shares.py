"""Shares of things that come in clusters of unequal size: what became of the relevant documents of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from rankstone.errors import between_0_and_1
from rankstone.stats.proportions import clopper_pearson
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from rankstone._basics import Floats


def clustered_shares(
    counts: Floats, confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Return the share of each category with both ends of its interval, over clusters like these.

    A share is a ratio of sums over clusters.  Its variance gives the number of independent things that would
    be as informative, and the interval is the exact one of so many (Korn and Graubard, Survey Methodology 24,
    1998).  A rare category shows too little of how its things cluster, so that none counts as more
    independent than all categories together (the generalised design effect of Rao and Scott, JASA 76, 1981).
    If one category has everything, there are no more independent things than clusters.

    Parameters
    ----------
    counts
        float64 ``[clusters, categories]``, 0 or more: how many things of a cluster are in each category.
    confidence
        Between 0 and 1.

    Returns
    -------
    share, low, high
        float64 ``[categories]``; shares sum to 1, ends are in [0, 1], and NaN for a single cluster.  All are
        NaN if nothing was counted.

    Examples
    --------
    >>> share, low, high = clustered_shares(np.array([[9.0, 1.0], [2.0, 2.0], [8.0, 0.0], [5.0, 3.0]]))
    >>> share.round(3).tolist(), low.round(3).tolist(), high.round(3).tolist()
    ([0.8, 0.2], [0.292, 0.006], [0.994, 0.708])
    """
    between_0_and_1("confidence", confidence)
    counts = np.asarray(counts, np.float64)
    sizes = counts.sum(axis=1)
    categories = counts.shape[1]
    none = np.full(categories, np.nan)
    if not sizes.any():
        return none, none, none

    clusters = Units(counts, sizes, clustered=True).counting()
    share = clusters.mean
    error, df = clusters.robust_error()
    if not df > 0:
        return share, none, none

    size = clusters.size
    spread = share * (1 - share)
    variance = error**2
    independent_clusters = size.sum() ** 2 / (size**2).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        own = spread / variance
        of_all = spread.sum() / variance.sum()
    number = np.fmin(np.where(spread > 0, own, np.nan), of_all)
    number = np.where(np.isnan(number), independent_clusters, number)
    number = np.minimum(number, size.sum())

    # with few clusters the variance itself is uncertain: Student's t takes the place of the normal
    upper = (1 + confidence) / 2
    number *= (special.ndtri(upper) / special.stdtrit(df, upper)) ** 2
    low, high = clopper_pearson(share * number, number, confidence)
    return share, low, high
