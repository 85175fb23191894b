"""Randomised Tukey HSD: the largest gap between any two of m systems that chance alone would make.

If all systems are alike, their scores may change places within every query.  A pair differs when its gap is
larger than the gap between the best and the worst of the shuffled systems nearly ever is; so the chance of
one or more false alarms among all pairs is held at once (Carterette, TOIS 30(1), 2012).  What is assumed is
that scores of systems without a difference are exchangeable within every query: no shape of a distribution,
but the same one for all.  Systems with equal means and unequal spreads are not exchangeable: all pairs share
one critical gap, which is too small for the pair that varies most.  Several measures are held at once, too:
they are shuffled together, and each is put on the scale of its own error, as in the max-T procedure of
Westfall and Young (1993).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.stats.anova import two_way
from rankstone.stats.drawing import in_blocks, raw
from rankstone.stats.maxima import critical, p_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["RandomisedTukey", "randomised_tukey", "randomised_tukeys"]

#: keys sorted at a time: what a processor's cache holds
_BLOCK: Final = 1 << 16
#: up to so many systems a key of 32 bits is wide enough: 28 random bits and the system's number
_NARROW: Final = 16
#: sums of so many bits are exact
_EXACT_BITS: Final = 52


@dataclass(frozen=True, eq=False)
class RandomisedTukey:
    """What shuffling found.

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
        float64 ``[units, measures]``: how many queries each unit holds, or their weight; 1 unless given.
    shuffles
        How many.
    seed
        Makes p reproducible, bit by bit, on any number of threads.
    threads, progress
        As for :func:`~rankstone.stats.drawing.in_blocks`.

    Examples
    --------
    >>> scores = np.random.default_rng(1).random((50, 3, 1)) + [[0.0], [0.0], [0.5]]
    >>> found = randomised_tukey(scores, shuffles=2000)
    >>> bool(found.p[0, 1, 0] > 0.5), bool(found.p[0, 2, 0] < 0.001)
    (True, True)
    """
    families = [(totals, np.ones((totals.shape[0], totals.shape[2])) if sizes is None else sizes)]
    return randomised_tukeys(families, shuffles=shuffles, seed=seed, threads=threads, progress=progress)[0]


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
        totals / (scale * _weights(sizes)) for (totals, sizes), scale in zip(families, scales, strict=True)
    ]
    found = _largest(scaled, shuffles, seed, threads, progress)
    return [_compared(*one) for one in zip(scaled, scales, found, strict=True)]


def _weights(sizes: Floats) -> Floats:
    return np.array([math.fsum(column) for column in sizes.T])


def _scale(totals: Floats, sizes: Floats) -> Floats:
    """Return the error of a mean of each measure, float64 ``[measures]``."""
    scale: Floats = np.array([_error(totals[:, :, at]) for at in range(totals.shape[2])]) / _weights(sizes)
    return scale


def _compared(scaled: Floats, scale: Floats, largest: Floats) -> RandomisedTukey:
    means = np.array([[math.fsum(column) for column in measure.T] for measure in np.moveaxis(scaled, 2, 0)])
    gaps = np.moveaxis(means[:, :, None] - means[:, None, :], 0, 2)
    p = p_values(np.abs(gaps), largest)
    itself = np.arange(scaled.shape[1])
    p[itself, itself] = 1.0
    return RandomisedTukey(gaps * scale, p, largest, scale)


def _error(totals: Floats) -> float:
    """Return the residual standard deviation, 1 where there is none."""
    return math.sqrt(two_way(totals).error) or 1.0


def _largest(
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
    bits = [_EXACT_BITS - math.frexp(float(np.abs(one).max(initial=0.0)) * units)[1] for one in scaled]
    whole = [np.rint(np.ldexp(one, bit)).astype(np.int64) for one, bit in zip(scaled, bits, strict=True)]
    begins = np.cumsum([0, *(one.shape[2] for one in whole[:-1])])
    table = np.concatenate(whole, axis=2).reshape(units * systems, -1)
    narrow = systems <= _NARROW
    low = np.uint64((1 << (4 if narrow else systems.bit_length())) - 1)
    width = np.dtype(np.uint32 if narrow else np.uint64)
    first = (np.arange(units) * systems)[:, None]
    each = max(1, _BLOCK // (units * systems))

    def block(at: int) -> Ints:
        count = min(each, shuffles - at * each)
        words = each * units * systems
        keys: Any = raw(seed, at, size=-(-words // 2) if narrow else words).view(width)[:words]
        keys = keys.reshape(each, units, systems)[:count]
        keys &= (~low).astype(width)
        keys |= np.arange(systems, dtype=width)
        keys.sort(axis=-1)
        keys &= low.astype(width)
        places = keys.astype(np.int64) + first
        drawn = table.take(places.ravel(), axis=0, mode="clip").reshape(count, units, -1)
        sums = drawn.sum(axis=1).reshape(count, systems, -1)
        gaps: Ints = np.maximum.reduceat(sums.max(axis=1) - sums.min(axis=1), begins, axis=1)
        return gaps

    found = np.concatenate(list(in_blocks(block, -(-shuffles // each), threads, progress)))
    largest = np.sort(np.ldexp(found.astype(np.float64), [-bit for bit in bits]), axis=0)[::-1]
    return [np.ascontiguousarray(column) for column in largest.T]
