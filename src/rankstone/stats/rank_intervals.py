"""Simultaneous confidence intervals of ranks: which places the differences between means leave to each item.

The rank of an item is the set from 1 + (how many are better) to K - (how many are worse), one number where no
other mean is equal.  An item that is claimed to be better moves the best possible rank of the other, so ranks
are covered as long as no claim is false (Mogstad, Romano, Shaikh and Wilhelm, REStud 91, 2024; Al Mohamad,
Goeman and van Zwet 2019).

Claims are made in two stages.  Pairs that differ by far, at a level of 0.005, hardly compete for the
largest statistic in the second (Romano, Shaikh and Wolf, Econometrica 82, 2014): their statistics are moved
by the least that the first stage leaves of their differences.  The second steps down: the largest statistic
is taken again over the pairs without a claim, until there is no new claim (Romano and Wolf, JASA 100, 2005).

Items that behave alike have differences that vary less than two errors would let them.  So a share of alpha
goes to claims by each pair's own variance, by a t distribution and Bonferroni's correction.

Fewer than seven data sets hardly show how much items vary and which behave alike: there a pair's difference
is divided by the larger of both standard errors, and a fifth more is asked of it.  With ten data sets each
item's variance is only roughly known, so it is moderated: taken as a draw from a distribution that is
estimated from all items, and moved towards its centre (Smyth, SAGMB 3(1), 2004).
"""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.largest_statistic import critical
from rankstone.stats.parallel_blocks import in_slices
from rankstone.stats.random_streams import normal

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Floats, Ints, Progress


#: what the first stage takes of alpha
_FIRST_STAGE: Final = 0.1
#: with fewer data sets than this the variances of items are hardly known
FEW: Final = 7
#: there differences count by this much less
_LESS: Final = 1.2
#: what the errors of items take of alpha where those of pairs are known, too
_ITEMS: Final = 0.6
#: of the draws with the largest statistics, this many times alpha step down
_CLOSE: Final = 4
#: differences that are compared at once, which fit into a cache
_BLOCK: Final = 1 << 19
#: all differences
_ALL: Final = 2 * 10**8
#: the fewest and most draws
_LEAST: Final = 1000
_MOST: Final = 4000
#: names the stream of random numbers, which is no other one's
_ERRORS: Final = 0x72616E6B
#: normal scores for which quantiles of χ² are computed, which takes long; between them cube roots are nearly
#: linear (Wilson and Hilferty, PNAS 17, 1931)
_NORMAL: Final = np.linspace(-6, 6, 513)
#: variances below this share of the median are none
_NONE: Final = 1e-5


def moderated_variances(variances: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Move variances towards the centre of their distribution, by as much as they agree (Smyth 2004).

    Parameters
    ----------
    variances
        float64 ``[items]``: mean squares.
    df
        float64 ``[items]``: their degrees of freedom; with 0 the centre is returned.

    Returns
    -------
    tuple
        Variances, float64 ``[items]``, and degrees of freedom: ``[items]``, or one that all share where
        variances differ by no more than chance would have it.

    Examples
    --------
    >>> variances, df = moderated_variances(np.array([0.9, 1.0, 1.1]), np.full(3, 9.0))
    >>> variances.tolist(), df.tolist()
    ([1.0, 1.0, 1.0], [27.0])
    """
    from scipy import special

    least = _NONE * np.median(variances[df > 0])
    varies = (df > 0) & (variances > least)
    total_df = df.sum()
    pooled = np.average(variances, weights=df)
    alike = np.full(len(variances), pooled), np.array([total_df])
    if not pooled or varies.sum() < 2:  # noqa: PLR2004 - a distribution has two
        return alike

    half = df[varies] / 2
    logs = np.log(variances[varies]) + np.log(half)
    logs -= special.digamma(half)
    by_chance = special.polygamma(1, half).mean()
    excess = logs.var(ddof=1) - by_chance
    if excess <= 0:
        return alike

    prior_df = 2 * _inverse_trigamma(excess)
    bias = special.digamma(prior_df / 2) - math.log(prior_df / 2)
    centre = math.exp(logs.mean() + bias)
    moderated_df = prior_df + df
    return (prior_df * centre + df * variances) / moderated_df, moderated_df


def independent_directions(square: Floats, df: float) -> float:
    """Return in how many directions errors move independently: (tr Σ)² / tr Σ² (Satterthwaite 1946).

    Parameters
    ----------
    square
        float64 ``[items, items]``: an estimate of Σ; tr Σ² is corrected for its noise (Srivastava, Journal of
        the Japan Statistical Society 35, 2005).
    df
        Its degrees of freedom; with 1 or fewer nothing shows more than one direction.

    Examples
    --------
    >>> alike, apart = np.ones((4, 4)), np.eye(4)
    >>> round(independent_directions(alike, 99)), round(independent_directions(apart, 99))
    (1, 4)
    """
    if df <= 1:
        return 1.0
    total = float(np.trace(square)) ** 2
    noisy = float((square * square.T).sum()) - total / df
    unbiased = noisy * df**2 / ((df - 1) * (df + 2))
    return float(np.clip(total / max(unbiased, 1e-300), 1.0, len(square)))


def _inverse_trigamma(value: float) -> float:
    """Return where the trigamma function has a value, by Newton's method (Smyth 2004, appendix)."""
    from scipy import special

    root = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, root))
        slope = float(special.polygamma(2, root))
        step = trigamma * (1 - trigamma / value) / slope
        root += step
        if abs(step) < 1e-10 * root:
            break
    return root


class MeanErrors(Record):
    """How far estimated means may be off, together.

    Attributes
    ----------
    own
        float64 ``[items]``: variance of the error of each mean that is its own.
    df
        Degrees of freedom of the variances: ``[items]``, or ``[1]`` if they are one estimate; infinite if
        they are known.
    shared
        float64 ``[items, sources]``: errors of variance 1 that all items share, times these.
    seed
        Makes draws reproducible, bit by bit, on any number of threads.
    paired
        float64 ``[items, items]``: standard errors of differences by the variance of each pair, infinite
        where it is not known; with ``paired_df`` degrees of freedom.  ``None`` without any.
    """

    own: Floats
    df: Floats
    shared: Floats
    seed: int = 0
    paired: Floats | None = None
    paired_df: float = 0.0

    @cached_property
    def of_differences(self) -> Floats:
        """The standard error of each difference, float64 ``[items, items]``; 0 on the diagonal."""
        squares = (self.shared**2).sum(axis=1)
        between = squares[:, None] + squares - 2 * self.shared @ self.shared.T
        variance = self.own[:, None] + self.own
        variance += np.maximum(between, 0.0)
        np.fill_diagonal(variance, 0.0)
        return np.sqrt(variance)

    @property
    def covariance(self) -> Floats:
        """The covariance of errors, float64 ``[items, items]``, with the variances of their t distributions."""
        heavier = 1 / (1 - 2 / np.maximum(self.df, 3))
        own: Floats = np.diag(self.own * heavier)
        shared = self.shared @ self.shared.T
        return own + shared

    @cached_property
    def drawn(self) -> Floats:
        """Errors as they might have been, float64 ``[draws, items]``: fewer draws of more items."""
        items, sources = self.shared.shape
        draws = int(np.clip(_ALL // items**2, _LEAST, _MOST))
        numbers = normal(self.seed, _ERRORS, size=draws * (2 * items + sources))
        own, shared, spreads = np.split(
            numbers.reshape(draws, -1), [items, items + sources], axis=1
        )
        errors: Floats = own * np.sqrt(self.own)
        errors += shared @ self.shared.T
        if np.isfinite(self.df).all():  # each variance is estimated, or one for all
            chi_square = _chi_square(spreads[:, : len(self.df)], self.df)
            errors *= np.sqrt(self.df / chi_square)
        return errors


def _chi_square(deviates: Floats, df: Floats) -> Floats:
    """Return the quantiles of χ² that normal deviates stand for, a column for each df."""
    from scipy import special

    tails = special.ndtr(_NORMAL)
    quantiles = np.empty_like(deviates)
    for freedom in np.unique(df):
        roots = np.cbrt(special.chdtri(freedom, tails))
        columns = df == freedom
        quantiles[:, columns] = np.interp(deviates[:, columns], _NORMAL, roots) ** 3
    return quantiles


def errors_of_differences(covariance: Floats) -> Floats:
    """Return the standard error of each difference of two estimates, of the shape of their covariance."""
    own = np.diag(covariance)
    variance = own[:, None] + own - 2 * covariance
    return np.sqrt(np.maximum(variance, 0.0))


class DrawnErrors(Record):
    """The errors of means as a bootstrap drew them; the interface is that of :class:`MeanErrors`.

    Attributes
    ----------
    drawn
        float64 ``[draws, items]``: means of resamples less those observed.
    """

    drawn: Floats
    paired: ClassVar[None] = None

    @property
    def covariance(self) -> Floats:
        """The covariance of errors, float64 ``[items, items]``."""
        return self.drawn.T @ self.drawn / len(self.drawn)

    @cached_property
    def of_differences(self) -> Floats:
        """The standard deviation of each difference, float64 ``[items, items]``."""
        return errors_of_differences(self.covariance)


class RankIntervals(Record):
    """Ranks that are left to each item; 1 is the highest mean.

    Attributes
    ----------
    better
        bool ``[items, items]``: True where the row is clearly better than the column.  The chance of any
        false claim is at most alpha.
    low, high
        int64 ``[items]``: the best and the worst rank of each item that these claims leave; all of them
        together hold with a confidence of 1 - alpha.
    one_low, one_high
        The same for a single item that was chosen before the means were seen.
    critical
        How many standard errors make a clear difference.
    """

    better: Bools
    low: Ints
    high: Ints
    one_low: Ints
    one_high: Ints
    critical: float


def _largest(
    drawn: NDArray[np.float32],
    scale: NDArray[np.float32],
    shift: Floats | None,
    threads: int | None,
    progress: Progress | None,
) -> Floats:
    """Return the largest statistic of each row in each draw, float64 ``[draws, items]``.

    ``scale`` is one over the standard error of each difference.  Without a shift it is the largest absolute
    statistic, otherwise the largest one less its shift.
    """
    moved = None
    if shift is not None:
        moved = shift.astype(np.float32)

    def largest_of_block(_: int, places: range) -> Floats:
        errors = drawn[places.start : places.stop]
        statistic = errors[:, :, None] - errors[:, None, :]
        statistic *= scale
        if moved is None:
            np.abs(statistic, out=statistic)
        else:
            statistic -= moved
        return np.asarray(statistic.max(axis=2), np.float64)

    size = max(1, _BLOCK // scale.size)
    blocks = in_slices(largest_of_block, len(drawn), size, threads, progress)
    return np.concatenate(list(blocks))


def rank_intervals(
    means: Floats,
    errors: MeanErrors | DrawnErrors,
    *,
    alpha: float = 0.05,
    threads: int | None = None,
    progress: Progress | None = None,
) -> RankIntervals:
    """Return the ranks that clear differences between means leave to each item.

    Parameters
    ----------
    means
        float64 ``[items]``; higher is better.
    errors
        Their errors.
    alpha
        The chance of any false claim among all pairs, in (0, 1).
    threads, progress
        As for :func:`~rankstone.stats.parallel_blocks.in_blocks`; there are two rounds or more.

    Examples
    --------
    >>> errors = MeanErrors(np.full(3, 0.01), np.array([18.0]), np.zeros((3, 0)))
    >>> ranks = rank_intervals(np.array([0.2, 0.9, 0.3]), errors)
    >>> ranks.low.tolist(), ranks.high.tolist()
    ([2, 1, 2], [3, 1, 3])
    """
    error = errors.of_differences
    items = len(means)
    gaps = means[:, None] - means
    inverse = np.divide(1.0, error, out=np.zeros_like(error), where=error > 0)
    statistic = gaps * inverse
    item_alpha = alpha
    if errors.paired is not None:
        item_alpha = alpha * _ITEMS
        by_pairs = gaps / errors.paired
        if errors.paired_df < FEW - 1:
            statistic = _of_few(statistic, by_pairs, np.isfinite(errors.paired))

    drawn = errors.drawn.astype(np.float32)
    largest = partial(
        _largest, scale=inverse.astype(np.float32), threads=threads, progress=progress
    )
    rows = largest(drawn, shift=None)
    first = _critical(rows.max(axis=1), _FIRST_STAGE * item_alpha)
    shift = np.maximum(-statistic - first, 0.0)
    better, limit = _step_down(statistic, largest, drawn, shift, item_alpha)

    # an item by itself is compared with its own row only
    row_limits = [_critical(row, item_alpha) for row in rows.T]
    own_limit = np.minimum(row_limits, limit)[:, None]
    above = statistic > own_limit
    below = statistic < -own_limit
    if errors.paired is not None:
        every_pair, row_pairs = _paired_limits(errors, items, alpha - item_alpha)
        better |= by_pairs > every_pair
        above |= better | (by_pairs > row_pairs)
        below |= better.T | (by_pairs < -row_pairs)
    return RankIntervals(
        better,
        low=1 + better.sum(axis=0),
        high=items - better.sum(axis=1),
        one_low=1 + below.sum(axis=1),
        one_high=items - above.sum(axis=1),
        critical=limit,
    )


def _step_down(
    statistic: Floats,
    largest: Callable[..., Floats],
    drawn: NDArray[np.float32],
    shift: Floats,
    alpha: float,
) -> tuple[Bools, float]:
    """Return the claims of the second stage, and the limit of its last step."""
    largest_of_draw = largest(drawn, shift=shift).max(axis=1)
    # fewer pairs only lower what is the largest: draws far below the limit can stay as they are
    close = math.ceil(_CLOSE * alpha * len(drawn))
    highest = np.argsort(-largest_of_draw, kind="stable")[:close]
    better = np.zeros_like(statistic, bool)
    while True:
        limit = _critical(largest_of_draw, (1 - _FIRST_STAGE) * alpha)
        claimed = statistic > limit
        if not (claimed & ~better).any():
            return better, limit

        better = claimed
        unclaimed = np.where(better, np.inf, shift)
        rows = largest(drawn[highest], shift=unclaimed)
        largest_of_draw[highest] = rows.max(axis=1)


def _of_few(statistic: Floats, by_pairs: Floats, has_pair: Bools) -> Floats:
    """Return statistics that few data sets support: the smaller one of both, and less of it."""
    nearer = np.abs(by_pairs) < np.abs(statistic)
    smaller = np.where(has_pair & nearer, by_pairs, statistic)
    return smaller / _LESS


def _paired_limits(errors: MeanErrors, items: int, alpha: float) -> Floats:
    """Return Bonferroni's limits of t: for all pairs, and for those of an item."""
    from scipy import special

    counts = np.array([items / 2, 1]) * (items - 1)
    limits: Floats = special.stdtrit(errors.paired_df, 1 - alpha / 2 / counts)
    return limits


def _critical(largest: Floats, alpha: float) -> float:
    return critical(-np.sort(-largest), alpha)
