"""Randomised Tukey HSD: the largest gap between any two of m systems under the null hypothesis.

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

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.exact_sums import EXACT_BITS, column_sums, whole_multiples
from rankstone.stats.largest_statistic import critical, p_values
from rankstone.stats.max_t import sizes_or_ones, without_diagonal
from rankstone.stats.parallel_blocks import in_slices
from rankstone.stats.random_streams import raw
from rankstone.stats.two_way_anova import two_way

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints, Progress


#: keys sorted at a time: as many as fit into a processor's cache
_SIGN_BLOCK: Final = 1 << 16
#: up to so many systems a key of 32 bits is wide enough: 28 random bits and the system's number
_NARROW: Final = 16


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
        return critical(self.largest, alpha) * self.scale


def randomised_tukey(
    totals: Floats,
    sizes: Floats | None = None,
    *,
    shuffles: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
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
        As for :func:`~rankstone.stats.parallel_blocks.in_blocks`.

    Examples
    --------
    >>> scores = np.random.default_rng(1).random((50, 3, 1)) + [[0.0], [0.0], [0.5]]
    >>> found = randomised_tukey(scores, shuffles=2000)
    >>> bool(found.p[0, 1, 0] > 0.5), bool(found.p[0, 2, 0] < 0.001)
    (True, True)
    """
    families = [(totals, sizes_or_ones(totals, sizes))]
    return randomised_tukeys(
        families, shuffles=shuffles, seed=seed, threads=threads, progress=progress
    )[0]


def randomised_tukeys(
    families: Sequence[tuple[Floats, Floats]],
    *,
    shuffles: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[RandomisedTukey]:
    """Do what :func:`randomised_tukey` does for several families, whose shuffles are the same.

    Parameters
    ----------
    families
        ``totals`` and ``sizes`` of each, of the same number of units and of systems.
    shuffles, seed, threads, progress
        As there; each family's result is what it would be alone.
    """
    scales = []
    means = []
    for totals, sizes in families:
        weight = column_sums(sizes)
        scale = _errors(totals) / weight
        scales.append(scale)
        means.append(totals / (scale * weight))
    largest = _largest_ranges(means, shuffles, seed, threads, progress)
    return [_compared(*family) for family in zip(means, scales, largest, strict=True)]


def _errors(totals: Floats) -> Floats:
    """Return the residual standard deviation of each measure, 1 where there is none, as for a single unit."""
    measures = np.moveaxis(totals, 2, 0)
    variances = [two_way(scores).error for scores in measures]
    return np.sqrt([variance if variance > 0 else 1.0 for variance in variances])


def _compared(scaled: Floats, scale: Floats, largest: Floats) -> RandomisedTukey:
    """Compare the scaled totals of a family, ``[units, systems, measures]``, with its largest gaps."""
    measures = np.moveaxis(scaled, 2, 0)
    means = np.stack([column_sums(scores) for scores in measures], axis=1)
    gaps = means[:, None] - means
    p = without_diagonal(p_values(np.abs(gaps), largest))
    return RandomisedTukey(gaps * scale, p, largest, scale)


def _largest_ranges(
    scaled: Sequence[Floats],
    shuffles: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> list[Floats]:
    """Return the largest gap of each shuffle for each family, descending, float64 ``[shuffles]`` each.

    Random keys that end in a system's number are sorted: the numbers come out shuffled.
    """
    units, systems = scaled[0].shape[:2]
    whole, bits = zip(*(_exact(values, units) for values in scaled), strict=True)
    begins = np.cumsum([0, *(values.shape[2] for values in whole[:-1])])
    table = np.concatenate(whole, axis=2).astype(np.int64).reshape(units * systems, -1)

    key_type: np.dtype[Any] = np.dtype(np.uint64)
    system_bits = systems.bit_length()
    if systems <= _NARROW:
        key_type = np.dtype(np.uint32)
        system_bits = 4
    mask = key_type.type((1 << system_bits) - 1)
    numbers = np.arange(systems, dtype=key_type)
    first_rows = (np.arange(units, dtype=key_type) * key_type.type(systems))[:, None]
    size = max(1, _SIGN_BLOCK // (units * systems))
    words = size * units * systems

    def ranges(block: int, places: range) -> Ints:
        """Return the largest gap of each family in each shuffle of a block, ``[shuffles, families]``."""
        count = len(places)
        bits = raw(seed, block, size=-(-words * key_type.itemsize // 8))
        keys: Any = bits.view(key_type)[:words].reshape(size, units, systems)[:count]
        keys &= ~mask
        keys |= numbers
        keys.sort(axis=-1)
        keys &= mask
        keys += first_rows

        rows = keys.astype(np.int64).ravel()
        shuffled = table.take(rows, axis=0, mode="clip").reshape(count, units, -1)
        sums = shuffled.sum(axis=1).reshape(count, systems, -1)
        gaps = sums.max(axis=1) - sums.min(axis=1)
        return np.asarray(np.maximum.reduceat(gaps, begins, axis=1))

    blocks = in_slices(ranges, shuffles, size, threads, progress)
    largest = np.concatenate(list(blocks)).astype(np.float64)
    descending = np.sort(np.ldexp(largest, -np.stack(bits)), axis=0)[::-1]
    return [np.ascontiguousarray(column) for column in descending.T]


def _exact(values: Floats, units: int) -> tuple[Floats, NDArray[np.int32]]:
    """Return a family as whole multiples of one power of two: gaps of its measures are compared."""
    largest = np.abs(values).max(initial=0.0)
    return whole_multiples(values, largest * units, EXACT_BITS)
