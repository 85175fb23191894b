"""Pairs of documents in two orders, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record
from rankstone.hits.list_arrays import offsets_of
from rankstone.hits.list_orders import earlier_smaller

if TYPE_CHECKING:
    from rankstone._basics import Ints


def whole_sums(values: Ints, offsets: Ints) -> Ints:
    """Sum whole numbers within each query, exactly, int64 ``[queries]``."""
    run = offsets_of(values)
    return run[offsets[1:]] - run[offsets[:-1]]


class Counts(Record):
    """How two rankings x and y order each document and the others of its query.

    Attributes
    ----------
    above
        int64 ``[documents]``: documents above it in both rankings.
    agree, differ
        int64 ``[documents]``: documents on the same side of it in both rankings, and on opposite sides;
        ties are neither.
    x_tied_above, y_tied_above
        int64 ``[documents]``: documents tied with it in x and above it in y; the other way round.
    tied_in_both
        int64 ``[documents]``: documents tied with it in both, itself included.
    """

    above: Ints
    agree: Ints
    differ: Ints
    x_tied_above: Ints
    y_tied_above: Ints
    tied_in_both: Ints


def counts(offsets: Ints, x: tuple[Ints, Ints], y: tuple[Ints, Ints]) -> Counts:
    """Count pairs of documents.

    Parameters
    ----------
    offsets
        int64 ``[queries + 1]``.
    x, y
        First and last rank of each document's tie block in the two rankings, int64
        ``[documents]``; documents are in the order of x.
    """
    (x_first, x_last), (y_first, y_last) = x, y
    head = np.repeat(offsets[:-1], np.diff(offsets))
    n = np.repeat(np.diff(offsets), np.diff(offsets))
    x_tied_above, both_tied, _ = _compare_in_blocks(
        head + x_first, x_last - x_first + 1, y_first
    )
    y_tied_above, _, y_tied_below = _compare_in_blocks(
        head + y_first, y_last - y_first + 1, x_first
    )
    above = _above_both(offsets, head, x_first, x_last, y_first)
    x_only = x_first - 1 - above - y_tied_above  # above in x, below in y
    y_only = y_first - 1 - above - x_tied_above
    below = (n - x_last) - y_only - y_tied_below
    return Counts(
        above, above + below, x_only + y_only, x_tied_above, y_tied_above, both_tied
    )


def _compare_in_blocks(block: Ints, size: Ints, value: Ints) -> tuple[Ints, Ints, Ints]:
    """Count the smaller, equal (itself included) and larger members of the block of each element."""
    smaller = np.zeros(len(block), np.int64)
    equal = np.ones(len(block), np.int64)
    tied = np.flatnonzero(size > 1)
    if len(tied):
        tied = tied[np.lexsort((value[tied], block[tied]))]
        fresh_block = np.diff(block[tied], prepend=-1) != 0
        fresh = fresh_block | (np.diff(value[tied], prepend=-1) != 0)
        runs = np.flatnonzero(fresh)
        of_run = np.cumsum(fresh) - 1
        block_head = np.flatnonzero(fresh_block)[np.cumsum(fresh_block) - 1]
        smaller[tied] = runs[of_run] - block_head
        equal[tied] = np.diff(runs, append=len(tied))[of_run]
    return smaller, equal, size - smaller - equal


def _above_both(
    offsets: Ints, head: Ints, x_first: Ints, x_last: Ints, y_first: Ints
) -> Ints:
    """Count the documents above each in both rankings."""
    if (x_first == x_last).all():
        return earlier_smaller(offsets, y_first)
    # tied in x: the lowest in y comes first, so that no tied document counts as an earlier smaller one
    order = np.lexsort((-y_first, head + x_first))
    counts = np.empty(len(order), np.int64)
    counts[order] = earlier_smaller(offsets, y_first[order])
    return counts
