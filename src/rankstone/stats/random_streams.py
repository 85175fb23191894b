"""Random numbers for all draws, from numbered streams.

A block's stream (Philox, Salmon et al. 2011) is keyed by the seed and the block's number, and sums are
of integers.  So neither the order of blocks nor the number of threads can change a bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadOption

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone._basics import Floats


#: random numbers made at a time: as many as fit into a processor's cache
_SLICE: Final = 1 << 13


#: random bits are shifted by this: float64 holds 53
_UNUSED_BITS: Final = np.uint64(11)


def raw(seed: int, *place: int, size: int) -> NDArray[np.uint64]:
    """Return 64 random bits each, uint64 ``[size]``: the same in every version of NumPy."""
    return _stream(seed, *place).random_raw(size)


def uniform(seed: int, *place: int, size: int) -> Floats:
    """Return numbers between 0 and 1 and neither of them, float64 ``[size]``, from random bits."""
    bits = raw(seed, *place, size=size) >> _UNUSED_BITS
    return (bits.astype(np.float64) + 0.5) * 2.0**-53


def normal(seed: int, *place: int, size: int) -> Floats:
    """Return standard normal numbers, float64 ``[size]``, from random bits."""
    from scipy import special

    numbers: Floats = special.ndtri(uniform(seed, *place, size=size))
    return numbers


def _stream(seed: int, *place: int) -> np.random.Philox:
    return np.random.Philox(np.random.SeedSequence(seed, spawn_key=place))


def draws(rows: int, seed: int, resamples: range) -> Floats:
    """Return how often resamples, drawn with replacement, contain each row, float64 ``[resamples, rows]``."""
    counts = np.empty((len(resamples), rows))
    drawn = np.empty(rows, np.int64)
    for place, resample in enumerate(resamples):
        stream = _stream(seed, resample)
        for begin in range(0, rows, _SLICE):
            bits = stream.random_raw(min(_SLICE, rows - begin))
            bits >>= _UNUSED_BITS
            row = bits.astype(np.float64)
            row *= rows * 2.0**-53
            drawn[begin : begin + _SLICE] = row
        counts[place] = np.bincount(drawn, minlength=rows)
    return counts


def check_count(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number within limits, or refuse it."""
    if (
        isinstance(value, int)
        and not isinstance(value, bool)
        and least <= value <= most
    ):
        return value
    raise BadOption(
        f"{name}={value!r} is out of range",
        expected=f"a whole number from {least:,} to {most:,}",
    )
