"""The paired randomisation test, and the interval of the shifts that it does not reject.

Fisher's test (The Design of Experiments, 1935): if systems do not differ, the sign of each query's
difference is random.  With few queries, all sign patterns are counted; with many, a sample that includes the
observed one, so that no p is 0 (Phipson and Smyth 2010).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.random_streams import in_blocks, raw, tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints
    from rankstone.stats.sampling_units import Units


#: up to so many differences other than 0, all ways their signs can fall are looked at
EXACT_UP_TO: Final = 20
#: flips of one block; flips and pairs that are compared at a time: what a processor's cache holds
_BLOCK, _CACHED, _TOGETHER = 4096, 1024, 64
#: means of subsets that are kept in memory at a time
_KEPT: Final = 1 << 22
#: levels such as 1 - 0.95 are not exact
_RANK_ROUNDING: Final = 1e-9
#: sums of so many bits, and differences of two of them, are exact as int64
_SUM_BITS: Final = 62
#: random flips of a byte: eight differences' signs at once
_SIGNS: Final = (
    1
    - 2
    * np.unpackbits(
        np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"
    ).astype(np.int64)
).T


class Flips(Record):
    """Ways in which the signs of units fall, other than the observed one.

    The same for every column, pair and family of the same units, so what is added to a comparison does not
    change what is drawn for the rest.

    Attributes
    ----------
    units
        How many units have a sign.
    count
        How many ways there are.
    exact
        Whether these are all; a way and its mirror image count once.
    seed
        Of those that are drawn.
    """

    units: int
    count: int
    exact: bool
    seed: int

    @classmethod
    def of(cls, units: int, flips: int, seed: int) -> Flips:
        """Take all ways if they are no more than ``flips``, otherwise draw so many."""
        exact = units <= flips.bit_length() and 2 ** (units - 1) - 1 <= flips
        count = 2 ** (units - 1) - 1 if exact else flips
        return cls(units, count, exact, seed)

    @property
    def blocks(self) -> int:
        """How many blocks they come in."""
        return -(-self.count // _BLOCK)

    def signs(self, block: int) -> NDArray[np.uint8]:
        """Return the signs of a block, uint8 ``[units / 8, flips]``: a bit is set where a sign is flipped."""
        groups = -(-self.units // 8)
        begin = block * _BLOCK
        size = min(_BLOCK, self.count - begin)
        if self.exact:
            ways = np.arange(begin + 1, begin + size + 1)
            return (ways >> 8 * np.arange(groups)[:, None]).astype(np.uint8)
        drawn = raw(self.seed, block, size=groups * _BLOCK // 8).view(np.uint8)
        return drawn.reshape(groups, _BLOCK)[:, :size]

    def sums(self, whole: Ints) -> Callable[[int], Ints]:
        """Return what sums columns of whole numbers, ``[units, columns]``, in a block: ``[columns, flips]``.

        Eight units share a byte of signs, so their sum is one of 256.
        """
        units, columns = whole.shape
        groups = -(-units // 8)
        padded = np.zeros((groups * 8, columns), np.int64)
        padded[:units] = whole
        parts = padded.T.reshape(columns, groups, 8).swapaxes(0, 1)
        parts = np.ascontiguousarray(parts)

        def block(number: int) -> Ints:
            signs = self.signs(number)
            sums = np.zeros((columns, signs.shape[1]), np.int64)
            for part, bits in zip(parts, signs, strict=True):
                sums += (part @ _SIGNS).take(bits, axis=1)
            return sums

        return block


def whole_numbers(values: Floats, largest: Floats) -> tuple[Ints, NDArray[np.int32]]:
    """Return numbers as multiples of 2^-bits whose sums over rows are exact, and the bits of each column.

    Parameters
    ----------
    values
        float64 ``[rows, columns]``.
    largest
        float64 ``[columns]``: what no number of a column exceeds; columns that are subtracted from each
        other share it.
    """
    sums = largest * max(len(values), 1)
    bits = np.where(sums > 0, _SUM_BITS - np.frexp(sums)[1], 0).astype(np.int32)
    return np.rint(np.ldexp(values, bits)).astype(np.int64), bits


@dataclass(frozen=True, slots=True)
class SignFlips:
    """The result of the test.

    Attributes
    ----------
    p
        Two-sided, in (0, 1].
    exact
        Whether every way the signs can fall was looked at.
    flips
        How many ways were looked at.
    """

    p: float
    exact: bool
    flips: int


def sign_flips(
    differences: Floats,
    *,
    pairs: Ints | None = None,
    flips: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[SignFlips]:
    """Test whether the mean of differences is 0, for each of several columns.

    Parameters
    ----------
    differences
        float64 ``[units, columns]``, without NaN: for each unit the sum of its queries' differences.
    pairs
        int64 ``[pairs, 2]``: tests the first column less the second one of each pair instead; columns are
        sums of scores then.  All columns are flipped with the same signs, so a pair's flipped sum is the
        difference of two columns' flipped sums, and a pair costs a subtraction.
    flips
        How many random flips, where there are more than :data:`EXACT_UP_TO` differences other than 0.
    seed
        Makes p reproducible, bit by bit, on any number of threads.
    threads, progress
        As for :func:`~rankstone.stats.random_streams.in_blocks`.

    Returns
    -------
    list
        One :class:`SignFlips` a column or pair: ``p`` is the share of flips (the observed signs among them)
        whose sum is as far from 0 as the observed one.  Sums are of whole numbers; those that are nearer to
        each other than 1e-12 of the sum of absolute differences are equal.

    Examples
    --------
    Three of three queries better: of the 8 ways the signs can fall, 2 are as extreme.

    >>> sign_flips(np.array([[0.1], [0.2], [0.4]]))
    [SignFlips(p=0.25, exact=True, flips=8)]
    >>> sign_flips(np.array([[0.5, 0.4], [0.5, 0.3], [0.5, 0.1]]), pairs=np.array([[0, 1]]))[0].p
    0.25
    """
    units, columns = differences.shape
    largest = np.abs(differences).max(axis=0, initial=0.0)
    if pairs is None:  # every column with one of zeros, and on a scale of its own
        pairs = np.stack([np.arange(columns), np.full(columns, columns)], axis=1)
        differences = np.column_stack([differences, np.zeros(units)])
        largest = np.append(largest, 0.0)
    else:
        largest[:] = largest.max(initial=0.0)
    whole, bits = whole_numbers(differences, largest)
    results: dict[int, SignFlips] = {}
    open_pairs = []
    for number, (first, second) in enumerate(pairs):
        between = differences[:, first] - differences[:, second]
        exact = _exact(between[between != 0])
        if exact is not None:
            results[number] = exact
            continue
        # twice the units: rounding of both columns to whole numbers
        rounding = math.ldexp(tolerance(between), int(bits[first]))
        slack = math.ceil(rounding) + 2 * units
        observed = abs(int((whole[:, first] - whole[:, second]).sum()))
        open_pairs.append((number, first, second, observed - slack))
    if open_pairs:
        drawn = Flips.of(units, flips, seed)
        work = _as_extreme(drawn.sums(whole), np.array(open_pairs))
        blocks = in_blocks(work, drawn.blocks, threads, progress)
        counts = sum(blocks, np.zeros(len(open_pairs), np.int64))
        for (number, *_), count in zip(open_pairs, counts, strict=True):
            p = (1 + int(count)) / (1 + drawn.count)
            results[number] = SignFlips(p, exact=False, flips=drawn.count)
    return [results[number] for number in range(len(pairs))]


def _exact(differences: Floats) -> SignFlips | None:
    """Look at every way the signs can fall; ``None`` where there are too many.

    Ways of one half are sorted, and each way of the other half finds by search how many go with it.
    """
    if len(differences) > EXACT_UP_TO:
        return None
    least = abs(differences.sum()) - tolerance(differences)
    middle = len(differences) // 2
    few = np.sort(_every_sum(differences[:middle]))
    rest = _every_sum(differences[middle:])
    below = np.searchsorted(few, least - rest)
    between = below - np.searchsorted(few, -least - rest, side="right")
    ways = 2 ** len(differences)
    p = 1 - int(np.maximum(between, 0).sum()) / ways
    return SignFlips(p, exact=True, flips=ways)


def _every_sum(differences: Floats) -> Floats:
    """Return the sums of all ways the signs can fall."""
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _as_extreme(sums: Callable[[int], Ints], pairs: Ints) -> Callable[[int], Ints]:
    """Return what counts, in a block of flips, those as far from 0 as a limit, int64 ``[pairs]``.

    Parameters
    ----------
    sums
        What gives the flipped sums of a block.
    pairs
        int64 ``[pairs, 4]``: a number, the columns of a difference, the limit of its sum.
    """
    _, first, second, least = pairs.T
    order = np.argsort(second, kind="stable")
    same = np.split(order, np.flatnonzero(np.diff(second[order])) + 1)
    groups = [
        part[begin : begin + _TOGETHER]
        for part in same
        for begin in range(0, len(part), _TOGETHER)
    ]

    def block(number: int) -> Ints:
        flipped = sums(number)
        counts = np.zeros(len(pairs), np.int64)
        for places in groups:
            for begin in range(0, flipped.shape[1], _CACHED):
                gaps = flipped[first[places], begin : begin + _CACHED]
                gaps -= flipped[second[places[0]], begin : begin + _CACHED]
                np.abs(gaps, out=gaps)
                extreme = gaps >= least[places, None]
                counts[places] += extreme.sum(axis=1, dtype=np.int32)
        return counts

    return block


def flip_limits(
    units: Units,
    alpha: float = 0.05,
    *,
    flips: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Floats, Floats]:
    """Return the shifts of each column that the test does not reject: the lowest and the highest.

    A way to flip signs splits units in two.  Its sum of shifted differences is as far from 0 as the observed
    one exactly for the shifts between the means of its two parts.  So a shift below the overall mean is
    rejected if it lies below all but few of the smaller means: the limits are order statistics of means of
    parts, and no search is needed (the intervals of Tukey and Hartigan; Hartigan, JASA 64, 1969).

    Parameters
    ----------
    units
        Differences: totals ``[units, columns]`` and sizes.
    alpha
        1 less the confidence, in (0, 1).
    flips, seed, threads, progress
        As for :func:`sign_flips`, whose signs these are; every way they can fall if there are no more.

    Returns
    -------
    tuple
        Both limits, float64 ``[columns]``; infinite where so few units reject no shift at all.

    Examples
    --------
    Six queries have 64 ways; the interval of 95 % goes from the smallest to the largest difference.

    >>> from rankstone.stats.sampling_units import Units
    >>> six = Units.of(np.array([[0.1], [0.2], [0.3], [0.4], [0.5], [0.6]]))
    >>> [limit.tolist() for limit in flip_limits(six)]
    [[0.1], [0.6]]
    """
    some = units.size > 0
    total = units.total[some]
    size = units.size[some]
    drawn = Flips.of(len(size), flips, seed)
    low = np.full(total.shape[1], -np.inf)
    high = np.full(total.shape[1], np.inf)
    rank = math.floor(alpha * (drawn.count + 1) + _RANK_ROUNDING)
    if not rank:
        return low, high
    each = max(1, _KEPT // drawn.count)
    for begin in range(0, total.shape[1], each):
        places = slice(begin, begin + each)
        parts = _means_of_parts(total[:, places], size, drawn)
        blocks = list(in_blocks(parts, drawn.blocks, threads, progress))
        smaller, larger = (
            np.concatenate(side, axis=1) for side in zip(*blocks, strict=True)
        )
        low[places] = np.partition(smaller, rank - 1, axis=1)[:, rank - 1]
        high[places] = np.partition(larger, -rank, axis=1)[:, -rank]
    return low, high


def _means_of_parts(
    total: Floats, size: Floats, drawn: Flips
) -> Callable[[int], tuple[Floats, Floats]]:
    """Return what gives, in a block, the smaller and larger mean of both parts, ``[columns, flips]``."""
    table = np.column_stack([total, size])
    whole, bits = whole_numbers(table, np.abs(table).max(axis=0, initial=0.0))
    sums = drawn.sums(whole)
    observed = whole.sum(axis=0)[:, None]
    scale = np.ldexp(1.0, -bits)[:, None]

    def block(number: int) -> tuple[Floats, Floats]:
        flipped = sums(number)
        changed = (observed - flipped) * scale
        kept = (observed + flipped) * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            means = changed[:-1] / changed[-1], kept[:-1] / kept[-1]
        # where all signs are flipped, or none, every shift is as extreme as observed
        split = (changed[-1] != 0) & (kept[-1] != 0)
        smaller = np.where(split, np.minimum(*means), -np.inf)
        return smaller, np.where(split, np.maximum(*means), np.inf)

    return block
