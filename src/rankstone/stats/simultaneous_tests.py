"""Max-|t|: the largest studentised difference between any two of m systems under the null hypothesis.

Every difference is compared with its own standard error, so the variances of pairs may differ; the critical
value is that of the largest |t| of all pairs and measures.  It is drawn in two ways:

- **sign flips**: the sign of all differences of a query is random (Westfall and Young 1993; Romano 1990).
  Assumes that differences without an effect are symmetric about 0, jointly.
- **the bootstrap**: queries are resampled, and t is centred on the observed mean (Romano and Wolf 2005, in
  one step).  Assumes only that queries are sampled independently, but needs many of them.

Randomised Tukey HSD: the largest gap between any two of m systems under the null hypothesis.

If systems do not differ, their scores can be permuted within every query.  A pair differs if its gap is
larger than a high quantile of the gap between the best and the worst of the permuted systems, which controls
the family-wise error rate over all pairs (Carterette, TOIS 30(1), 2012).  The assumption is that scores of
systems without a difference are exchangeable within every query: their distribution may have any shape, but
must be the same.  Systems with equal means and unequal variances are not exchangeable: all pairs share one
critical gap, which is too small for the pair with the largest variance.  Several measures are controlled
together: they are permuted together, and each is divided by its own error, as in the max-T procedure of
Westfall and Young (1993).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.anova_and_friedman import two_way
from rankstone.stats.multiple_testing import critical, p_values
from rankstone.stats.random_streams import Whole, draws, in_blocks, raw
from rankstone.stats.randomisation_test import Flips, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone._basics import Floats, Ints

    Progress = Callable[[int], None]


#: numbers in a block of draws
_BLOCK: Final = 1 << 19
#: flips that are compared at a time: what a processor's cache holds
_CACHED: Final = 1024
#: differences below this share of the largest score are rounding
_ROUNDING: Final = 1e-12
#: the least error of a resample, as a share of the observed one: resamples of sparse pairs may have none
_LEAST: Final = 0.05


class MaxT(Record):
    """Results for all pairs of systems, row minus column.

    Attributes
    ----------
    statistic
        float64 ``[systems, systems, measures]``, 0 or more.
    p
        The same shape, adjusted for all pairs and measures; 1 on the diagonal.
    low, high
        The same shape: simultaneous intervals of the differences of means, which exclude 0 exactly where p
        is at most ``alpha``.
    largest
        float64 ``[draws]``, descending.
    """

    statistic: Floats
    p: Floats
    low: Floats
    high: Floats
    largest: Floats


def flipped_max_t(
    totals: Floats,
    sizes: Floats | None = None,
    *,
    pairs: Ints | None = None,
    alpha: float = 0.05,
    flips: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MaxT:
    """Flip the signs of whole units, and compare every pair with the largest absolute t.

    Parameters
    ----------
    totals
        float64 ``[units, systems, measures]``, without NaN: sums of scores over the queries of each unit.
    sizes
        float64 ``[units, measures]``: the number of queries in each unit, or their weight; 1 unless given.
    pairs
        int64 ``[pairs, 2]``: the pairs that are compared, all unless given; p of the others is 1.
    alpha
        Chance of any false claim, in (0, 1): the level of the intervals.
    flips
        How many, above 0; where there are no more ways than that, all of them.  They are those of
        :func:`~rankstone.stats.randomisation_test.sign_flips`: another system only adds to what is compared.
    seed
        Makes p reproducible, bit by bit, on any number of threads.
    threads, progress
        As for :func:`~rankstone.stats.random_streams.in_blocks`.

    Examples
    --------
    >>> scores = np.random.default_rng(1).random((50, 3, 1)) + [[0.0], [0.0], [0.5]]
    >>> found = flipped_max_t(scores, flips=2000)
    >>> bool(found.p[0, 1, 0] > 0.1), bool(found.p[0, 2, 0] < 0.001)
    (True, True)
    """
    sizes = _ones(totals) if sizes is None else sizes
    units, systems, measures = totals.shape
    largest = np.repeat(np.abs(totals).max(axis=(0, 1), initial=0.0)[None], systems, 0)
    whole, bits = whole_numbers(totals.reshape(units, -1), largest.ravel())
    # under flips a pair's sum of squares stays, so |sum| over its root orders flips as |t| does
    roots = _roots(totals)
    if pairs is not None:
        compared = np.zeros((systems, systems), np.bool_)
        compared[pairs[:, 0], pairs[:, 1]] = compared[pairs[:, 1], pairs[:, 0]] = True
        roots[~compared] = np.inf
    scales = np.ldexp(1 / roots, -bits[:measures])
    drawn = Flips.of(units, flips, seed)
    sums = drawn.sums(whole)

    def block(number: int) -> Floats:
        flipped = sums(number).reshape(systems, measures, -1)
        return _largest(flipped, scales)

    blocks = in_blocks(block, drawn.blocks, threads, progress)
    largest_each = np.sort(np.concatenate([np.empty(0), *blocks]))[::-1]
    observed = whole.sum(axis=0).reshape(systems, measures)
    gaps = np.ldexp(
        (observed[:, None] - observed[None]).astype(np.float64), -bits[:measures]
    )
    statistic = np.abs(gaps) / roots
    low, high = _inverted(totals, sizes, gaps, critical(largest_each, alpha))
    return MaxT(
        statistic,
        _without_diagonal(p_values(statistic, largest_each)),
        low,
        high,
        largest_each,
    )


def _ones(totals: Floats) -> Floats:
    return np.ones((totals.shape[0], totals.shape[2]))


def _without_diagonal(p: Floats) -> Floats:
    p[np.diag_indices(len(p))] = 1.0
    return p


def _differences(totals: Floats, one: int) -> Floats:
    """Return a system less every system, ``[units, systems, measures]``; what is only rounding is 0."""
    found: Floats = totals[:, one, None] - totals
    found[np.abs(found) <= _ROUNDING * np.abs(totals).max(axis=(0, 1), initial=0.0)] = (
        0.0
    )
    return found


def _roots(totals: Floats) -> Floats:
    """Return the root of each pair's sum of squares; infinite for systems whose scores are the same."""
    squares = [
        (_differences(totals, one) ** 2).sum(axis=0) for one in range(totals.shape[1])
    ]
    roots: Floats = np.sqrt(np.stack(squares))
    roots[roots == 0] = np.inf
    return roots


def _largest(sums: Ints, scales: Floats) -> Floats:
    """Return the largest statistic of each flip, of int64 ``[systems, measures, flips]``."""
    largest = np.zeros(sums.shape[2])
    for system, scale in enumerate(scales):
        others = system + 1 + np.flatnonzero(scale[system + 1 :].any(axis=1))
        for begin in range(0, sums.shape[2] if len(others) else 0, _CACHED):
            flips = slice(begin, begin + _CACHED)
            gaps = np.abs(sums[others, :, flips] - sums[system, :, flips])
            statistic = gaps * scale[others, :, None]
            np.maximum(largest[flips], statistic.max(axis=(0, 1)), out=largest[flips])
    return largest


def _inverted(
    totals: Floats, sizes: Floats, gaps: Floats, limit: float
) -> tuple[Floats, Floats]:
    """Return the ends of all differences d under which |sum of D - d·size| over its root is within the limit.

    For units of one size these are mean ± t·se.
    """
    size = sizes.sum(axis=0)
    squares = (sizes**2).sum(axis=0)
    low = np.full(gaps.shape, -np.inf)
    high = np.full(gaps.shape, np.inf)
    a = size**2 - limit**2 * squares
    known = a > 0
    if not known.any():
        return low, high
    for one in range(len(gaps)):
        between = _differences(totals, one)
        products = (between * sizes[:, None]).sum(axis=0)
        b = size * gaps[one] - limit**2 * products
        c = gaps[one] ** 2 - limit**2 * (between**2).sum(axis=0)
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        low[one][:, known] = ((b - root) / a)[:, known]
        high[one][:, known] = ((b + root) / a)[:, known]
    return low, high


def resampled_max_t(
    totals: Floats,
    sizes: Floats | None = None,
    *,
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MaxT:
    """Draw units again, and compare every pair with the largest absolute t about what was observed.

    Parameters
    ----------
    totals, sizes, alpha, seed, threads, progress
        As for :func:`flipped_max_t`.
    resamples
        How many, above 0.

    Examples
    --------
    >>> scores = np.random.default_rng(1).random((50, 3, 1)) + [[0.0], [0.0], [0.5]]
    >>> found = resampled_max_t(scores, resamples=2000)
    >>> bool(found.p[0, 1, 0] > 0.1), bool(found.p[0, 2, 0] < 0.001)
    (True, True)
    """
    sizes = _ones(totals) if sizes is None else sizes
    units, systems, measures = totals.shape
    whole = [
        Whole.of(_moments(_differences(totals, one), sizes)) for one in range(systems)
    ]
    observed = [
        _studentised(part.summed(np.ones((1, units))), measures, units)
        for part in whole
    ]
    each = max(1, _BLOCK // max(units, 4 * systems * measures))

    def block(at: int) -> Floats:
        counts = draws(units, seed, range(at * each, min((at + 1) * each, resamples)))
        found = np.zeros(len(counts))
        for part, (mean, error) in zip(whole, observed, strict=True):
            drawn, spread = _studentised(part.summed(counts), measures, units)
            t = _over(np.abs(drawn - mean), np.maximum(spread, _LEAST * error))
            np.maximum(found, t.max(axis=(1, 2)), out=found)
        return found

    largest = np.sort(
        np.concatenate(list(in_blocks(block, -(-resamples // each), threads, progress)))
    )[::-1]
    gaps, errors = (np.concatenate([one[part] for one in observed]) for part in (0, 1))
    statistic = _over(np.abs(gaps), errors)
    reach = np.where(errors > 0, critical(largest, alpha) * errors, np.inf)
    p = _without_diagonal(p_values(statistic, largest))
    return MaxT(statistic, p, gaps - reach, gaps + reach, largest)


def _moments(between: Floats, sizes: Floats) -> Floats:
    """Return what sums are taken of: differences, their squares and products with sizes, and sizes."""
    parts = [between, between**2, between * sizes[:, None], sizes, sizes**2]
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def _studentised(sums: Floats, measures: int, units: int) -> tuple[Floats, Floats]:
    """Return means and their standard errors, ``[draws, systems, measures]``, of sums of moments.

    The error is that of a ratio of sums, as in :meth:`rankstone.stats.Units.standard_error`.
    """
    weight, weights = (
        part[:, None] for part in np.split(sums[:, -2 * measures :], 2, axis=1)
    )
    first, squares, products = (
        part.reshape(len(sums), -1, measures)
        for part in np.split(sums[:, : -2 * measures], 3, axis=1)
    )
    weight = np.where(
        weight > 0, weight, np.inf
    )  # units that weigh nothing together say nothing
    mean = first / weight
    rest = squares - 2 * mean * products + mean**2 * weights
    rest[rest <= _ROUNDING * squares] = 0.0
    return mean, np.sqrt(rest * (units / max(units - 1, 1))) / weight


def _over(distance: Floats, error: Floats) -> Floats:
    """Return t; 0 where there is no error to divide by, which says nothing."""
    found: Floats = np.zeros(np.broadcast_shapes(distance.shape, error.shape))
    np.divide(distance, error, out=found, where=error > 0)
    return found


#: keys sorted at a time: as many as fit into a processor's cache
_SIGN_BLOCK: Final = 1 << 16
#: up to so many systems a key of 32 bits is wide enough: 28 random bits and the system's number
_NARROW: Final = 16
#: sums of so many bits are exact
_EXACT_BITS: Final = 52


class RandomisedTukey(Record):
    """Results of shuffling.

    Attributes
    ----------
    gap
        float64 ``[systems, systems, measures]``: difference of means, row less column.
    p
        float64 ``[systems, systems, measures]``: adjusted for all pairs and measures; 1 on the diagonal.
    largest
        float64 ``[shuffles]``, descending: the largest gap of each shuffle, in units of ``scale``.
    scale
        float64 ``[measures]``: what a gap is divided by, so that measures can be compared.
    """

    gap: Floats
    p: Floats
    largest: Floats
    scale: Floats

    def critical(self, alpha: float = 0.05) -> Floats:
        """Return the gap above which p is at most ``alpha``, float64 ``[measures]``; infinite where none is.

        ``gap ± critical`` are simultaneous intervals of 1 - alpha for all pairs and measures: one excludes 0
        if and only if its p is at most ``alpha``.
        """
        found: Floats = critical(self.largest, alpha) * self.scale
        return found


def randomised_tukey(
    totals: Floats,
    sizes: Floats | None = None,
    *,
    shuffles: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> RandomisedTukey:
    """Shuffle systems within units, and compare every pair with the largest gap.

    Parameters
    ----------
    totals
        float64 ``[units, systems, measures]``, without NaN: sums of scores over the queries of each unit.
    sizes
        float64 ``[units, measures]``: the number of queries in each unit, or their weight; 1 unless given.
    shuffles
        How many.
    seed
        Makes p reproducible, bit by bit, on any number of threads.
    threads, progress
        As for :func:`~rankstone.stats.random_streams.in_blocks`.

    Examples
    --------
    >>> scores = np.random.default_rng(1).random((50, 3, 1)) + [[0.0], [0.0], [0.5]]
    >>> found = randomised_tukey(scores, shuffles=2000)
    >>> bool(found.p[0, 1, 0] > 0.5), bool(found.p[0, 2, 0] < 0.001)
    (True, True)
    """
    families = [(totals, _ones(totals) if sizes is None else sizes)]
    return randomised_tukeys(
        families, shuffles=shuffles, seed=seed, threads=threads, progress=progress
    )[0]


def randomised_tukeys(
    families: Sequence[tuple[Floats, Floats]],
    *,
    shuffles: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[RandomisedTukey]:
    """Do what :func:`randomised_tukey` does for several families, whose shuffles are the same.

    Parameters
    ----------
    families
        ``totals`` and ``sizes`` of each, of the same number of units and of systems.
    shuffles, seed, threads, progress
        As there; each family's result is what it would be alone.
    """
    scales = [_scale(totals, sizes) for totals, sizes in families]
    scaled = [
        totals / (scale * _weights(sizes))
        for (totals, sizes), scale in zip(families, scales, strict=True)
    ]
    found = _largest_range(scaled, shuffles, seed, threads, progress)
    return [_compared(*one) for one in zip(scaled, scales, found, strict=True)]


def _weights(sizes: Floats) -> Floats:
    return np.array([math.fsum(column) for column in sizes.T])


def _scale(totals: Floats, sizes: Floats) -> Floats:
    """Return the error of a mean of each measure, float64 ``[measures]``."""
    scale: Floats = np.array(
        [_error(totals[:, :, at]) for at in range(totals.shape[2])]
    ) / _weights(sizes)
    return scale


def _compared(scaled: Floats, scale: Floats, largest: Floats) -> RandomisedTukey:
    means = np.array(
        [
            [math.fsum(column) for column in measure.T]
            for measure in np.moveaxis(scaled, 2, 0)
        ]
    )
    gaps = np.moveaxis(means[:, :, None] - means[:, None, :], 0, 2)
    return RandomisedTukey(
        gaps * scale, _without_diagonal(p_values(np.abs(gaps), largest)), largest, scale
    )


def _error(totals: Floats) -> float:
    """Return the residual standard deviation, 1 where there is none, as for a single unit."""
    return math.sqrt(error) if (error := two_way(totals).error) > 0 else 1.0


def _largest_range(
    scaled: Sequence[Floats],
    shuffles: int,
    seed: int,
    threads: int | None,
    progress: Callable[[int], None] | None,
) -> list[Floats]:
    """Return the largest gap of each shuffle for each family, descending, float64 ``[shuffles]`` each.

    Random keys that end in a system's number are sorted: the numbers come out shuffled.
    """
    units, systems = scaled[0].shape[:2]
    # one power of two for all measures of a family: their gaps are compared
    bits = [
        _EXACT_BITS - math.frexp(float(np.abs(one).max(initial=0.0)) * units)[1]
        for one in scaled
    ]
    whole = [
        np.rint(np.ldexp(one, bit)).astype(np.int64)
        for one, bit in zip(scaled, bits, strict=True)
    ]
    begins = np.cumsum([0, *(one.shape[2] for one in whole[:-1])])
    table = np.concatenate(whole, axis=2).reshape(units * systems, -1)
    narrow = systems <= _NARROW
    low = np.uint64((1 << (4 if narrow else systems.bit_length())) - 1)
    width = np.dtype(np.uint32 if narrow else np.uint64)
    first = (np.arange(units, dtype=width) * width.type(systems))[:, None]
    each = max(1, _SIGN_BLOCK // (units * systems))

    def block(at: int) -> Ints:
        count = min(each, shuffles - at * each)
        words = each * units * systems
        keys: Any = raw(seed, at, size=-(-words // 2) if narrow else words).view(width)[
            :words
        ]
        keys = keys.reshape(each, units, systems)[:count]
        keys &= (~low).astype(width)
        keys |= np.arange(systems, dtype=width)
        keys.sort(axis=-1)
        keys &= low.astype(width)
        keys += first
        places = (keys.astype(np.int64) if narrow else keys.view(np.int64)).ravel()
        drawn = table.take(places, axis=0, mode="clip").reshape(count, units, -1)
        sums = drawn.sum(axis=1).reshape(count, systems, -1)
        gaps: Ints = np.maximum.reduceat(
            sums.max(axis=1) - sums.min(axis=1), begins, axis=1
        )
        return gaps

    found = np.concatenate(
        list(in_blocks(block, -(-shuffles // each), threads, progress))
    )
    largest = np.sort(
        np.ldexp(found.astype(np.float64), [-bit for bit in bits]), axis=0
    )[::-1]
    return [np.ascontiguousarray(column) for column in largest.T]
