"""Sums of distances between the items of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.hits.list_arrays import divided, list_numbers, sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.rankings.recommendation.items import Sets

    #: arrays ``[lists, longest, width]``
    Block = NDArray[Any]


#: numbers in memory at a time
_CELLS: Final = 1 << 17


_WORD: Final = 64


def unit(values: Floats) -> Floats:
    """Return vectors of length one; a zero vector stays zero, and is similar to none."""
    length = np.sqrt(np.einsum("id,id->i", values, values))
    return divided(values, length[:, None])


# -- padded lists ----------------------------------------------------------------------------
def _ranges(n: Ints, width: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of lists that, padded to the longest list, fit into ``_CELLS`` numbers."""
    begin = 0
    while begin < len(n):
        end = begin + 1
        longest = int(n[begin])
        while end < len(n):
            more = min(2 * end - begin, len(n))
            longest = max(longest, int(n[end:more].max()))
            if (more - begin) * longest * width > _CELLS:
                break
            end = more
        yield begin, end
        begin = end


def _blocks(
    n: Ints, row: Ints, values: NDArray[Any]
) -> Iterator[tuple[int, int, slice, Block, Bools]]:
    """Yield the values of a few lists at a time as ``[lists, longest, width]``; shorter lists end in zeros.

    Parameters
    ----------
    n
        int64 ``[lists]``: how many rows each has.
    row
        int64 ``[rows]``: which of the ``values`` belongs to each row.
    values
        ``[table rows, width]``.

    Yields
    ------
    begin, end
        The lists.
    stretch
        Their rows.
    block
        Their values.
    there
        bool ``[lists, longest]``: where there is a row.
    """
    starts = np.cumsum(n) - n
    for begin, end in _ranges(n, values.shape[1]):
        size = n[begin:end]
        longest = int(size.max())
        stretch = slice(int(starts[begin]), int(starts[end - 1] + size[-1]))
        there = np.arange(longest) < size[:, None]
        rows = values.take(row[stretch], axis=0)
        if there.all():
            block = rows.reshape(end - begin, longest, values.shape[1])
        else:
            block = np.zeros((end - begin, longest, values.shape[1]), values.dtype)
            block[there] = rows
        if longest:
            yield begin, end, stretch, block, there


def _sum_of_list(block: Block) -> Floats:
    """Sum the vectors of each list from the first rank to the last, ``[lists, width]``."""
    # along the only axis that is left, NumPy would sum pairwise
    if block.shape[2] == 1:
        only: Floats = np.add.accumulate(block, axis=1)[:, -1]
        return only
    total: Floats = block.sum(axis=1)
    return total


def _by_pairs(
    n: Ints, row: Ints, values: NDArray[Any], apart: Callable[[Block, Block], Floats]
) -> Floats:
    """Sum each row's distances to the others of its list, pair by pair.

    Parameters
    ----------
    n, row, values
        As for :func:`_blocks`.
    apart
        The distances between places of two blocks.
    """
    distance = np.empty(len(row))
    for _, _, stretch, block, there in _blocks(n, row, values):
        sum_of_row = np.zeros(there.shape)
        for step in range(1, there.shape[1]):
            _add(sum_of_row, step, apart(block[:, :-step], block[:, step:]), there)
        distance[stretch] = sum_of_row[there]
    return distance


def _add(sum_of_row: Floats, step: int, distance: Floats, there: Bools) -> None:
    """Add the distances between places ``step`` apart to both of them, where there is a lower one."""
    distance *= there[:, step:]
    sum_of_row[:, :-step] += distance
    sum_of_row[:, step:] += distance


# -- vectors ---------------------------------------------------------------------------------------
def cosine_of_vectors(n: Ints, row: Ints, units: Floats) -> Floats:
    """Sum each row's 1 − cosine to the others of its list; ``units`` have length one, or zero."""
    dots = np.empty(len(row))
    itself = np.empty(len(row))
    for _, _, stretch, block, there in _blocks(n, row, units):
        dots[stretch] = np.einsum("lnd,ld->ln", block, _sum_of_list(block))[there]
        itself[stretch] = np.einsum("lnd,lnd->ln", block, block)[there]
    return np.maximum(np.repeat(n - 1.0, n) + itself - dots, 0.0)


def squared_euclidean(n: Ints, row: Ints, values: Floats) -> Floats:
    """Sum each row's squared Euclidean distances to the others of its list; best for centred values."""
    length = np.einsum("id,id->i", values, values)
    sum_of_row = np.empty(len(row))
    for _, _, stretch, block, there in _blocks(n, row, values):
        dots = np.einsum("lnd,ld->ln", block, _sum_of_list(block))
        lengths = np.einsum("lnd,lnd->ln", block, block)
        of_list = np.add.accumulate(lengths, axis=1)[:, -1:]
        sum_of_row[stretch] = (of_list - 2.0 * dots)[there]
    apart: Floats = np.maximum(
        np.repeat(n.astype(np.float64), n) * length[row] + sum_of_row, 0.0
    )
    return apart


def euclidean(n: Ints, row: Ints, values: Floats) -> Floats:
    """Sum each row's Euclidean distances to the others of its list."""

    def apart(a: Block, b: Block) -> Floats:
        gap = a - b
        distance: Floats = np.sqrt(np.einsum("lnd,lnd->ln", gap, gap))
        return distance

    return _by_pairs(n, row, values, apart)


def hamming(n: Ints, row: Ints, values: Floats) -> Floats:
    """Count the features in which each row differs from the others of its list."""
    return _by_pairs(
        n, row, values, lambda a, b: np.count_nonzero(a != b, axis=2).astype(np.float64)
    )


def sum_by_list(n: Ints, row: Ints, values: Floats) -> Floats:
    """Sum the vectors of each list from the first to the last, float64 ``[lists, features]``."""
    vector_sums = np.zeros((len(n), values.shape[1]))
    for begin, end, _, block, _ in _blocks(n, row, values):
        vector_sums[begin:end] = _sum_of_list(block)
    return vector_sums


def dots_of_vectors(row: Ints, values: Floats, of: Ints, others: Floats) -> Floats:
    """Return the inner product of each row's vector with the one of its group, float64 ``[rows]``."""
    dots = np.empty(len(row))
    step = max(_CELLS // values.shape[1], 1)
    for start in range(0, len(row), step):
        part = slice(start, start + step)
        dots[part] = np.einsum(
            "id,id->i", values.take(row[part], axis=0), others.take(of[part], axis=0)
        )
    return dots


# -- sets ------------------------------------------------------------------------------------------
def cosine_of_sets(n: Ints, row: Ints, sets: Sets) -> Floats:
    """Sum each row's 1 − |A ∩ B| / √(|A| |B|) to the others of its list; no set is empty."""
    lists = list_numbers(n)
    return np.maximum(
        np.repeat(n.astype(np.float64), n) - dots_of_sets(lists, row, lists, row, sets),
        0.0,
    )


def dots_of_sets(of: Ints, row: Ints, among: Ints, others: Ints, sets: Sets) -> Floats:
    """Sum the cosines of each row's set to the sets of others in the same group.

    Parameters
    ----------
    of, row
        int64: the group of each row, and its row in the table.
    among, others
        int64: the group of each of the others, and its row in the table.
    sets
        The categories; no set is empty.
    """
    groups = int(max(of.max(initial=-1), among.max(initial=-1))) + 1
    width = len(sets.names)
    there, size, label = sets.spread(others)
    cell = np.repeat(among[there] * width, size) + label
    weight = np.repeat(1.0 / np.sqrt(size), size)
    with_sets, own_size, own = sets.spread(row)
    cell_of_row = np.repeat(of[with_sets] * width, own_size) + own
    if groups * width <= 32 * _CELLS:
        shared = sums(cell, weight, groups * width)[cell_of_row]
    else:
        cells, place = np.unique(cell, return_inverse=True)
        position = np.minimum(np.searchsorted(cells, cell_of_row), len(cells) - 1)
        known = cells[position] == cell_of_row
        weight_of_cell = sums(place, weight, len(cells))
        shared = np.where(known, weight_of_cell[position], 0.0)
    return sums(np.repeat(with_sets, own_size), shared, len(row)) / np.sqrt(
        sets.size[row]
    )


def jaccard(n: Ints, row: Ints, sets: Sets) -> Floats:
    """Sum each row's 1 − |A ∩ B| / |A ∪ B| to the others of its list; no set is empty."""
    distance = np.empty(len(row))
    if sets.bits is not None:
        blocks = _blocks(n, row, sets.bits[:, None])
    else:
        blocks = _blocks(n, np.arange(len(row)), _bits(n, row, sets))
    for _, _, stretch, block, there in blocks:
        size = _ones(block).astype(np.int64)
        sum_of_row = np.zeros(there.shape)
        for step in range(1, there.shape[1]):
            both = _ones(block[:, :-step] & block[:, step:])
            either = size[:, :-step] + size[:, step:] - both
            _add(sum_of_row, step, 1.0 - both / np.maximum(either, 1), there)
        distance[stretch] = sum_of_row[there]
    return distance


def _ones(words: Block) -> NDArray[Any]:
    """Count the bits of all words of a row."""
    count = np.bitwise_count(words)
    return count[:, :, 0] if count.shape[2] == 1 else count.sum(axis=2, dtype=np.int64)


def _bits(n: Ints, row: Ints, sets: Sets) -> NDArray[np.uint64]:
    """Return the set of each row as bits, ``[rows, words]``, for the categories of its list."""
    there, size, label = sets.spread(row)
    which = np.repeat(there, size)
    lists = list_numbers(n)
    cells, place = np.unique(
        lists[which] * len(sets.names) + label, return_inverse=True
    )
    first = np.searchsorted(cells // len(sets.names), np.arange(len(n)))
    label = place - first[lists[which]]
    words = np.zeros((len(row), int(label.max(initial=0)) // _WORD + 1), np.uint64)
    # every bit is set once, so that adding sets it
    np.add.at(
        words,
        (which, label // _WORD),
        np.uint64(1) << (label % _WORD).astype(np.uint64),
    )
    return words
