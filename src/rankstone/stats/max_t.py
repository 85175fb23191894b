"""Max-|t|: the largest studentised difference between any two of m systems under the null hypothesis.

Every difference is compared with its own standard error, so the variances of pairs may differ; the critical
value is that of the largest |t| of all pairs and measures.  It is drawn in two ways:

- **sign flips**: the sign of all differences of a query is random (Westfall and Young 1993; Romano 1990).
  Assumes that differences without an effect are symmetric about 0, jointly.
- **the bootstrap**: queries are resampled, and t is centred on the observed mean (Romano and Wolf 2005, in
  one step).  Assumes only that queries are sampled independently, but needs many of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.exact_sums import Whole
from rankstone.stats.largest_statistic import critical, p_values
from rankstone.stats.parallel_blocks import in_slices
from rankstone.stats.random_streams import draws
from rankstone.stats.randomisation_test import CACHED, FLIPS, Flips, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone._basics import Floats, Ints, Progress


#: numbers in a block of draws
_BLOCK: Final = 1 << 19

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
        As for :func:`~rankstone.stats.parallel_blocks.in_blocks`.

    Examples
    --------
    >>> scores = np.random.default_rng(1).random((50, 3, 1)) + [[0.0], [0.0], [0.5]]
    >>> found = flipped_max_t(scores, flips=2000)
    >>> bool(found.p[0, 1, 0] > 0.1), bool(found.p[0, 2, 0] < 0.001)
    (True, True)
    """
    sizes = sizes_or_ones(totals, sizes)
    units, systems, measures = totals.shape
    largest_score = np.abs(totals).max(axis=(0, 1), initial=0.0)
    table = totals.reshape(units, -1)
    whole, bits = whole_numbers(table, np.tile(largest_score, systems))
    measure_bits = bits[:measures]

    # under flips a pair's sum of squares stays, so |sum| over its root orders flips as |t| does
    roots = _roots(totals)
    if pairs is not None:
        compared = np.zeros((systems, systems), np.bool_)
        compared[tuple(pairs.T)] = True
        roots[~(compared | compared.T)] = np.inf
    scales = np.ldexp(1 / roots, -measure_bits)
    drawn = Flips.from_units(units, flips, seed)
    sums = drawn.sums(whole)

    def largest_of_block(block: int, places: range) -> Floats:
        flipped = sums(block, places).reshape(systems, measures, -1)
        return _largest(flipped, scales)

    blocks = in_slices(largest_of_block, drawn.count, FLIPS, threads, progress)
    largest = _descending(blocks)
    observed = whole.sum(axis=0).reshape(systems, measures)
    differences = (observed[:, None] - observed).astype(np.float64)
    gaps = np.ldexp(differences, -measure_bits)
    statistic = np.abs(gaps) / roots
    p = without_diagonal(p_values(statistic, largest))
    low, high = _inverted(totals, sizes, gaps, critical(largest, alpha))
    return MaxT(statistic, p, low, high, largest)


def sizes_or_ones(totals: Floats, sizes: Floats | None) -> Floats:
    """Return the sizes of units, 1 unless given, float64 ``[units, measures]``."""
    if sizes is None:
        return np.ones((totals.shape[0], totals.shape[2]))
    return sizes


def _descending(blocks: Iterable[Floats]) -> Floats:
    """Return the largest statistics of all draws, in descending order."""
    return np.sort(np.concatenate([np.empty(0), *blocks]))[::-1]


def without_diagonal(p: Floats) -> Floats:
    """Set p to 1 for each system against itself."""
    p[np.diag_indices(len(p))] = 1.0
    return p


def _differences(totals: Floats, system: int) -> Floats:
    """Return a system less every system, ``[units, systems, measures]``; what is only rounding is 0."""
    differences: Floats = totals[:, system, None] - totals
    rounding = _ROUNDING * np.abs(totals).max(axis=(0, 1), initial=0.0)
    differences[np.abs(differences) <= rounding] = 0.0
    return differences


def _roots(totals: Floats) -> Floats:
    """Return the root of each pair's sum of squares; infinite for systems whose scores are the same."""
    systems = range(totals.shape[1])
    squares = [(_differences(totals, system) ** 2).sum(axis=0) for system in systems]
    roots: Floats = np.sqrt(np.stack(squares))
    roots[roots == 0] = np.inf
    return roots


def _largest(sums: Ints, scales: Floats) -> Floats:
    """Return the largest statistic of each flip, of int64 ``[systems, measures, flips]``."""
    count = sums.shape[2]
    largest = np.zeros(count)
    for system, scale in enumerate(scales):
        later = scale[system + 1 :].any(axis=1)
        if not later.any():
            continue
        others = system + 1 + np.flatnonzero(later)
        for begin in range(0, count, CACHED):
            flips = slice(begin, begin + CACHED)
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

    # the ends are the roots of a·d² - 2b·d + c
    a = size**2 - limit**2 * squares
    bounded = a > 0
    if not bounded.any():
        return low, high
    for system, gap in enumerate(gaps):
        differences = _differences(totals, system)
        products = (differences * sizes[:, None]).sum(axis=0)
        b = size * gap - limit**2 * products
        c = gap**2 - limit**2 * (differences**2).sum(axis=0)
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        low[system][:, bounded] = ((b - root) / a)[:, bounded]
        high[system][:, bounded] = ((b + root) / a)[:, bounded]
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
    sizes = sizes_or_ones(totals, sizes)
    units, systems, measures = totals.shape
    moments = [
        Whole.from_values(_moments(_differences(totals, system), sizes))
        for system in range(systems)
    ]
    once = np.ones((1, units))
    observed = [_studentised(whole.summed(once), measures, units) for whole in moments]

    def largest_of_block(_: int, block: range) -> Floats:
        counts = draws(units, seed, block)
        largest = np.zeros(len(counts))
        for whole, (mean, error) in zip(moments, observed, strict=True):
            drawn, spread = _studentised(whole.summed(counts), measures, units)
            t = _over(np.abs(drawn - mean), np.maximum(spread, _LEAST * error))
            np.maximum(largest, t.max(axis=(1, 2)), out=largest)
        return largest

    size = max(1, _BLOCK // max(units, 4 * systems * measures))
    blocks = in_slices(largest_of_block, resamples, size, threads, progress)
    largest = _descending(blocks)
    gaps, errors = map(np.concatenate, zip(*observed, strict=True))
    statistic = _over(np.abs(gaps), errors)
    p = without_diagonal(p_values(statistic, largest))
    reach = np.where(errors > 0, critical(largest, alpha) * errors, np.inf)
    return MaxT(statistic, p, gaps - reach, gaps + reach, largest)


def _moments(differences: Floats, sizes: Floats) -> Floats:
    """Return what sums are taken of: differences, their squares and products with sizes, and sizes."""
    products = differences * sizes[:, None]
    parts = [differences, differences**2, products, sizes, sizes**2]
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def _studentised(sums: Floats, measures: int, units: int) -> tuple[Floats, Floats]:
    """Return means and their standard errors, ``[draws, systems, measures]``, of sums of moments.

    The error is that of a ratio of sums, as in :meth:`rankstone.stats.Units.standard_error`.
    """
    weight = sums[:, None, -2 * measures : -measures]
    squared_weights = sums[:, None, -measures:]
    table = sums[:, : -2 * measures].reshape(len(sums), 3, -1, measures)
    first, squares, products = table.swapaxes(0, 1)

    # units that weigh nothing together say nothing
    weight = np.where(weight > 0, weight, np.inf)
    mean = first / weight
    rest = squares - 2 * mean * products + mean**2 * squared_weights
    rest[rest <= _ROUNDING * squares] = 0.0
    error = np.sqrt(rest * (units / max(units - 1, 1))) / weight
    return mean, error


def _over(distance: Floats, error: Floats) -> Floats:
    """Return t; 0 where there is no error to divide by, which says nothing."""
    t: Floats = np.zeros(np.broadcast_shapes(distance.shape, error.shape))
    np.divide(distance, error, out=t, where=error > 0)
    return t
