"""The bootstrap for streams: every unit counts a Poisson number of times, wherever and whenever it is added.

Counts of a multinomial resample are nearly independent Poisson numbers of mean 1, so sums can be made in one
pass, in parts and in any order, and put together later (Hanley and MacGibbon 2006; Chamandy et al. 2012).  A
unit's counts come from its key and the seed alone.
"""

from __future__ import annotations

import math
import zlib
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.errors import BadOption
from rankstone.stats.parallel_blocks import in_slices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints, NamedValues, Progress

    Keys = NDArray[np.uint64]


#: units times resamples worked on at a time: as many as fit into a processor's cache
_SLICE: Final = 1 << 17
#: slices that one thread takes on
_SLICES: Final = 32
#: values are whole multiples of 2^-32, so that sums are exact in any order
_BITS: Final = 32
#: a slice's sums below this are exact as float64
_EXACT: Final = 2.0 ** (53 - _BITS) / 13
#: all sums below this are exact as int64
_MOST: Final = 2.0 ** (61 - _BITS)
#: chance that a Poisson number of mean 1 is at most 0, 1, 2 …, of 2^48
_AT_MOST: Final = np.floor(
    np.cumsum([math.exp(-1) / math.factorial(count) for count in range(13)]) * 2.0**48
).astype(np.uint64)
_HALF_WORD: Final = np.uint64(32)
#: stands for a count that the first bits do not decide
_OPEN: Final = 255
#: the odd number nearest to 2^64 over the golden ratio, whose multiples are far apart
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


def _count_at(bits: Keys) -> Ints:
    """Return the Poisson numbers that 48 random bits stand for."""
    return np.searchsorted(_AT_MOST, bits, side="right")


def _decided_counts() -> NDArray[np.uint8]:
    """Return the count that the first 16 of 48 random bits decide, or that they do not."""
    first = np.arange(1 << 16, dtype=np.uint64) << _HALF_WORD
    last = first + np.uint64(0xFFFFFFFF)
    least = _count_at(first)
    decided = least == _count_at(last)
    return np.where(decided, least, _OPEN).astype(np.uint8)


_COUNTS: Final = _decided_counts()


class PoissonBootstrap:
    """Resampled means of a stream.

    Parameters
    ----------
    columns
        How many means at once.
    resamples
        How many resamples.
    seed
        Streams of one seed can be put together.

    Examples
    --------
    >>> values, size = np.arange(6.0)[:, None] / 5, np.ones(6)
    >>> keys = np.arange(6, dtype=np.uint64)
    >>> whole, half, other = (PoissonBootstrap(1, resamples=100) for _ in range(3))
    >>> whole.add(values, size, keys)
    >>> half.add(values[:2], size[:2], keys[:2])
    >>> other.add(values[2:], size[2:], keys[2:])
    >>> half.merge(other)
    >>> np.array_equal(whole.means(), half.means(), equal_nan=True)
    True
    """

    def __init__(self, columns: int, *, resamples: int = 10_000, seed: int = 0) -> None:
        self.resamples = resamples
        self.seed = seed
        self.units = 0
        self._largest = 0.0
        self._sums = np.zeros((resamples, columns + 1), np.int64)

    def add(
        self,
        total: Floats,
        size: Floats,
        keys: Keys | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Take in units.

        Parameters
        ----------
        total
            float64 ``[units, columns]``: sums over the queries of each.
        size
            float64 ``[units]``: their numbers of queries.
        keys
            uint64 ``[units]``: keys that identify units; by default the number of units before each.
        threads, progress
            As for :func:`~rankstone.stats.parallel_blocks.in_blocks`.
        """
        if keys is None:
            keys = np.arange(self.units, self.units + len(size), dtype=np.uint64)
        self.units += len(size)
        table = np.concatenate([total, size[:, None]], axis=1)
        largest = float(np.abs(table).max(initial=0.0))
        self._grow(largest * len(table))

        whole = np.rint(np.ldexp(table, _BITS))
        step = max(1, min(_SLICE // self.resamples, int(_EXACT / (largest or 1.0))))

        def sums_of_block(_: int, places: range) -> Ints:
            """Return the sums of some units in each resample, whose steps are exact as float64."""
            sums = np.zeros_like(self._sums)
            for begin in places[::step]:
                part = slice(begin, min(begin + step, places.stop))
                counts = self._counts(keys[part])
                sums += (counts.T @ whole[part]).astype(np.int64)
            return sums

        blocks = in_slices(sums_of_block, len(size), step * _SLICES, threads, progress)
        for sums in blocks:
            self._sums += sums

    def _grow(self, total: float) -> None:
        """Count what the sums may reach; refuse what would not be exact."""
        largest = self._largest + total
        if not largest < _MOST:
            raise BadOption(
                "these values are too large to be summed exactly",
                given=f"a total of up to {largest:g}",
                expected=f"less than {_MOST:g}: divide them all by a number first",
            )
        self._largest = largest

    def merge(self, other: PoissonBootstrap) -> None:
        """Take in what another stream of the same seed has added; no unit may be in both."""
        if (self.seed, self._sums.shape) != (other.seed, other._sums.shape):
            raise BadOption(
                "these streams do not belong together",
                expected="the same seed, resamples and columns in both",
            )
        self._grow(other._largest)
        self._sums += other._sums
        self.units += other.units

    def to_dict(self) -> NamedValues:
        """Return the state of the stream for JSON."""
        compressed = zlib.compress(self._sums.astype("<i8").tobytes(), 1)
        return {
            "seed": self.seed,
            "units": self.units,
            "largest": self._largest,
            "sums": b64encode(compressed).decode(),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any], columns: int) -> PoissonBootstrap:
        """Return the stream from :meth:`to_dict`."""
        numbers = np.frombuffer(zlib.decompress(b64decode(state["sums"])), "<i8")
        sums = numbers.reshape(-1, columns + 1).astype(np.int64)
        stream = cls(columns, resamples=len(sums), seed=state["seed"])
        stream.units = state["units"]
        stream._largest = state["largest"]
        stream._sums = sums
        return stream

    def means(self) -> Floats:
        """Return the mean of each resample, float64 ``[resamples, columns]``; NaN for an empty resample."""
        total = self._sums[:, :-1]
        size = self._sums[:, -1:]
        means: Floats = np.full(total.shape, np.nan)
        np.divide(total, size, out=means, where=size > 0)
        return means

    def _counts(self, keys: Keys) -> Floats:
        """Return how often each resample contains each unit, float64 ``[units, resamples]``."""
        seed = np.array([self.seed], np.uint64)
        start = _mixed(_mixed(keys + np.uint64(1)) ^ _mixed(seed + np.uint64(2)))
        place = np.arange(-(-self.resamples // 4), dtype=np.uint64) * _GOLDEN
        words = _mixed(start[:, None] + place)
        first = words.view(np.uint16)[:, : self.resamples]
        counts = _COUNTS.take(first)

        # few counts need all 48 bits
        unit, resample = np.nonzero(counts == _OPEN)
        rest = _mixed(start[unit] ^ _mixed(resample.astype(np.uint64) + _GOLDEN))
        high = first[unit, resample].astype(np.uint64) << _HALF_WORD
        bits = high | (rest >> _HALF_WORD)
        counts[unit, resample] = _count_at(bits)
        return counts.astype(np.float64)


def _mixed(words: Keys) -> Keys:
    """Return words whose bits depend on all bits of the given ones (SplitMix64, Steele et al. 2014)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
