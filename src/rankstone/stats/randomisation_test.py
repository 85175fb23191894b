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
from rankstone.stats.exact_sums import tolerance, whole_multiples
from rankstone.stats.parallel_blocks import in_slices
from rankstone.stats.random_streams import raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints, Progress
    from rankstone.stats.sampling_units import Units


#: up to so many differences other than 0, all ways their signs can fall are looked at
EXACT_UP_TO: Final = 20
#: flips of a block
FLIPS: Final = 4096
#: flips, and pairs, that are compared at a time: what a processor's cache holds
CACHED: Final = 1024
_PAIRS: Final = 64
#: means of subsets that are kept in memory at a time
_KEPT: Final = 1 << 22
#: levels such as 1 - 0.95 are not exact
_RANK_ROUNDING: Final = 1e-9
#: sums of so many bits, and differences of two of them, are exact as int64
_SUM_BITS: Final = 62
_BYTES: Final = np.arange(256, dtype=np.uint8)
#: what each byte stands for: eight signs, int64 ``[8, 256]``
_SIGNS: Final = 1 - 2 * np.unpackbits(_BYTES[None], axis=0, bitorder="little").astype(
    np.int64
)


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
    def from_units(cls, units: int, flips: int, seed: int) -> Flips:
        """Take all ways if they are no more than ``flips``, otherwise draw so many."""
        if units <= flips.bit_length():
            others = 2 ** (units - 1) - 1
            if others <= flips:
                return cls(units, others, exact=True, seed=seed)
        return cls(units, flips, exact=False, seed=seed)

    def signs(self, block: int, places: range) -> NDArray[np.uint8]:
        """Return the signs of a block, uint8 ``[units / 8, flips]``: a bit is set where a sign is flipped."""
        groups = -(-self.units // 8)
        if self.exact:
            ways = np.arange(places.start + 1, places.stop + 1)
            return (ways >> 8 * np.arange(groups)[:, None]).astype(np.uint8)
        bits = raw(self.seed, block, size=groups * FLIPS // 8).view(np.uint8)
        return bits.reshape(groups, FLIPS)[:, : len(places)]

    def sums(self, whole: Ints) -> Callable[[int, range], Ints]:
        """Return what sums columns of whole numbers, ``[units, columns]``, in a block: ``[columns, flips]``.

        Eight units share a byte of signs, so their sum is one of 256.
        """
        units, columns = whole.shape
        groups = -(-units // 8)
        padded = np.zeros((groups * 8, columns), np.int64)
        padded[:units] = whole
        eights = padded.T.reshape(columns, groups, 8).swapaxes(0, 1)
        eights = np.ascontiguousarray(eights)

        def flipped_sums(block: int, places: range) -> Ints:
            sums = np.zeros((columns, len(places)), np.int64)
            for eight, signs in zip(eights, self.signs(block, places), strict=True):
                sums += (eight @ _SIGNS).take(signs, axis=1)
            return sums

        return flipped_sums


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
    largest_sum = largest * max(len(values), 1)
    whole, bits = whole_multiples(values, largest_sum, _SUM_BITS)
    return whole.astype(np.int64), bits


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
    progress: Progress | None = None,
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
        As for :func:`~rankstone.stats.parallel_blocks.in_blocks`.

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
        moved = between[between != 0]
        if len(moved) <= EXACT_UP_TO:
            results[number] = _exact(moved)
            continue
        # twice the units: rounding of both columns to whole numbers
        rounding = math.ldexp(tolerance(between), int(bits[first]))
        slack = math.ceil(rounding) + 2 * units
        observed = abs(int((whole[:, first] - whole[:, second]).sum()))
        open_pairs.append((number, first, second, observed - slack))

    if open_pairs:
        drawn = Flips.from_units(units, flips, seed)
        count_extreme = _counter(drawn.sums(whole), np.array(open_pairs))
        blocks = in_slices(count_extreme, drawn.count, FLIPS, threads, progress)
        ways = 1 + drawn.count
        extreme = 1 + sum(blocks, np.zeros(len(open_pairs), np.int64))
        for (number, *_), count in zip(open_pairs, extreme.tolist(), strict=True):
            results[number] = SignFlips(count / ways, exact=False, flips=drawn.count)
    return [results[number] for number in range(len(pairs))]


def _exact(differences: Floats) -> SignFlips:
    """Look at every way the signs can fall.

    Ways of one half are sorted, and each way of the other half finds by search how many go with it.
    """
    least = abs(differences.sum()) - tolerance(differences)
    middle = len(differences) // 2
    one_half = np.sort(_every_sum(differences[:middle]))
    other_half = _every_sum(differences[middle:])

    below = np.searchsorted(one_half, least - other_half)
    between = below - np.searchsorted(one_half, -least - other_half, side="right")
    ways = 2 ** len(differences)
    p = 1 - int(np.maximum(between, 0).sum()) / ways
    return SignFlips(p, exact=True, flips=ways)


def _every_sum(differences: Floats) -> Floats:
    """Return the sums of all ways the signs can fall."""
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _counter(
    sums: Callable[[int, range], Ints], pairs: Ints
) -> Callable[[int, range], Ints]:
    """Return what counts, in a block of flips, those as far from 0 as a limit, int64 ``[pairs]``.

    Parameters
    ----------
    sums
        What gives the flipped sums of a block.
    pairs
        int64 ``[pairs, 4]``: the number of a pair (not read here), the columns of its difference, the limit
        of its sum.
    """
    _, first, second, limit = pairs.T
    # pairs with the same second column are compared together
    order = np.argsort(second, kind="stable")
    same = np.split(order, np.flatnonzero(np.diff(second[order])) + 1)
    groups = [
        places[begin : begin + _PAIRS]
        for places in same
        for begin in range(0, len(places), _PAIRS)
    ]

    def count_extreme(block: int, flips: range) -> Ints:
        flipped = sums(block, flips)
        counts = np.zeros(len(pairs), np.int64)
        for group in groups:
            for begin in range(0, len(flips), CACHED):
                cached = flipped[:, begin : begin + CACHED]
                gaps = cached[first[group]]
                gaps -= cached[second[group[0]]]
                np.abs(gaps, out=gaps)
                extreme = gaps >= limit[group, None]
                counts[group] += extreme.sum(axis=1, dtype=np.int32)
        return counts

    return count_extreme


def flip_limits(
    units: Units,
    alpha: float = 0.05,
    *,
    flips: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
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
    >>> six = Units.from_scores(np.array([[0.1], [0.2], [0.3], [0.4], [0.5], [0.6]]))
    >>> [limit.tolist() for limit in flip_limits(six)]
    [[0.1], [0.6]]
    """
    units = units.counting()
    drawn = Flips.from_units(len(units), flips, seed)
    columns = units.total.shape[1]
    low = np.full(columns, -np.inf)
    high = np.full(columns, np.inf)
    rank = math.floor(alpha * (drawn.count + 1) + _RANK_ROUNDING)
    if not rank:
        return low, high

    size = max(1, _KEPT // drawn.count)
    for begin in range(0, columns, size):
        places = slice(begin, begin + size)
        means = _means_of_parts(units.total[:, places], units.size, drawn)
        blocks = in_slices(means, drawn.count, FLIPS, threads, progress)
        smaller, larger = map(np.hstack, zip(*blocks, strict=True))
        low[places] = np.partition(smaller, rank - 1, axis=1)[:, rank - 1]
        high[places] = np.partition(larger, -rank, axis=1)[:, -rank]
    return low, high


def _means_of_parts(
    total: Floats, size: Floats, drawn: Flips
) -> Callable[[int, range], tuple[Floats, Floats]]:
    """Return what gives, in a block, the smaller and larger mean of both parts, ``[columns, flips]``."""
    table = np.column_stack([total, size])
    whole, bits = whole_numbers(table, np.abs(table).max(axis=0, initial=0.0))
    sums = drawn.sums(whole)
    observed = whole.sum(axis=0)[:, None]
    scale = np.ldexp(1.0, -bits)[:, None]

    def means(block: int, flips: range) -> tuple[Floats, Floats]:
        flipped = sums(block, flips)
        changed = (observed - flipped) * scale
        kept = (observed + flipped) * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            changed_mean = changed[:-1] / changed[-1]
            kept_mean = kept[:-1] / kept[-1]

        # where all signs are flipped, or none, every shift is as extreme as observed
        split = (changed[-1] != 0) & (kept[-1] != 0)
        smaller = np.where(split, np.minimum(changed_mean, kept_mean), -np.inf)
        larger = np.where(split, np.maximum(changed_mean, kept_mean), np.inf)
        return smaller, larger

    return means
