"""Random numbers for all draws: numbered streams, sums of integers, blocks on threads.

A block's stream (Philox, Salmon et al. 2011) is keyed by the seed and the block's number, and sums are
of integers.  So neither the order of blocks nor the number of threads can change a bit.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from rankstone._basics import Record
from rankstone.errors import BadOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Progress


Result = TypeVar("Result")

#: whole numbers up to 2^53 are exact as float64; a bit is kept in hand
_EXACT_BITS: Final = 52
#: products of so many numbers are made without threads of their own, which would wait for ours; few rows
_ALONE = 1 << 18
_FEW = 8
#: random numbers made at a time: as many as fit into a processor's cache
_SLICE: Final = 1 << 13
#: sums that differ by less than this share of what was summed are equal: scores carry rounding errors
_EQUAL: Final = 1e-12


def raw(seed: int, *place: int, size: int) -> NDArray[np.uint64]:
    """Return 64 random bits each, uint64 ``[size]``: the same in every version of NumPy."""
    return _stream(seed, *place).random_raw(size)


def normal(seed: int, *place: int, size: int) -> Floats:
    """Return standard normal numbers, float64 ``[size]``, from random bits."""
    from scipy import special

    bits = raw(seed, *place, size=size) >> np.uint64(11)
    share = (bits.astype(np.float64) + 0.5) * 2.0**-53
    numbers: Floats = special.ndtri(share)
    return numbers


def _stream(seed: int, *place: int) -> np.random.Philox:
    return np.random.Philox(np.random.SeedSequence(seed, spawn_key=place))


def tolerance(values: Floats) -> float:
    """Return by how much two sums of such values may differ and still be called equal."""
    return _EQUAL * float(np.abs(values).sum())


def draws(rows: int, seed: int, resamples: range) -> Floats:
    """Return how often resamples, drawn with replacement, contain each row, float64 ``[resamples, rows]``."""
    counts = np.empty((len(resamples), rows))
    drawn = np.empty(rows, np.int64)
    for at, resample in enumerate(resamples):
        stream = _stream(seed, resample)
        for begin in range(0, rows, _SLICE):
            bits = stream.random_raw(min(_SLICE, rows - begin))
            bits >>= np.uint64(11)
            share = bits.astype(np.float64)
            share *= rows * 2.0**-53
            drawn[begin : begin + _SLICE] = share
        counts[at] = np.bincount(drawn, minlength=rows)
    return counts


def check_count(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number within limits, or refuse it."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or not least <= value <= most
    ):
        raise BadOption(
            f"{name}={value!r} is out of range",
            expected=f"a whole number from {least:,} to {most:,}",
        )
    return value


class Whole(Record):
    """Numbers as whole multiples of a power of two, so small that no sum over rows is rounded.

    Every column has its own power, so it does not depend on the other columns.  For values up
    to 1 of 10,000 queries the multiple is 2^-38: intervals keep eleven digits.

    Attributes
    ----------
    whole
        float64 ``[rows, columns]``, whole numbers.
    bits
        int32 ``[columns]``: the multiple is 2^-bits.
    """

    whole: Floats
    bits: NDArray[np.int32]

    @classmethod
    def of(cls, values: Floats, most: int = 1) -> Whole:
        """Scale values; ``most`` is how often a row may be taken, on average over rows."""
        largest = np.abs(values).max(axis=0, initial=0.0) * (max(len(values), 1) * most)
        bits = np.where(largest > 0, _EXACT_BITS - np.frexp(largest)[1], 0).astype(
            np.int32
        )
        return cls(np.rint(np.ldexp(values, bits)), bits)

    def summed(self, counts: Floats) -> Floats:
        """Return sums over rows, each taken as often as counted, float64 ``[…, columns]``."""
        rows = _ALONE // max(self.whole.size, 1)
        parts = (
            np.array_split(counts, -(-len(counts) // rows) or 1)
            if rows > _FEW
            else [counts]
        )
        sums: Floats = np.ldexp(
            np.concatenate([part @ self.whole for part in parts]), -self.bits
        )
        return sums


def in_blocks(
    work: Callable[[int], Result],
    blocks: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Yield ``work(0)``, ``work(1)`` … in order, worked on by several threads.

    Parameters
    ----------
    work
        What is done for a block; gives up the interpreter lock inside NumPy.
    blocks
        How many there are.
    threads
        At most so many; as many as the process may use unless given.
    progress
        Called with 1 for every block that is done.
    """
    threads = min(threads or _processors(), blocks)
    if threads <= 1:
        for block in range(blocks):
            yield work(block)
            if progress is not None:
                progress(1)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        waiting = deque(
            pool.submit(work, block) for block in range(min(2 * threads, blocks))
        )
        for block in range(blocks):
            done = waiting.popleft().result()
            if (after := block + 2 * threads) < blocks:
                waiting.append(pool.submit(work, after))
            yield done
            if progress is not None:
                progress(1)
    finally:  # an interrupt waits for the blocks at work, not for all of them
        pool.shutdown(cancel_futures=True)


def _processors() -> int:
    """Return on how many processors this process may run."""
    return (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
