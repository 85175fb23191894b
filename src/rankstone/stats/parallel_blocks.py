"""Work in blocks, on several threads: results come in order, whatever the number of threads."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone._basics import Progress


Result = TypeVar("Result")


def in_slices(
    work: Callable[[int, range], Result],
    count: int,
    size: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Yield ``work(0, range(0, size))``, ``work(1, range(size, 2 * size))`` … up to ``count``, in order.

    Parameters
    ----------
    work
        What is done for a block: called with its number and its places; of the last block these may be fewer.
    count
        How many places there are.
    size
        How many a block has.
    threads, progress
        As for :func:`in_blocks`.

    Examples
    --------
    >>> list(in_slices(lambda number, places: (number, list(places)), 5, 2))
    [(0, [0, 1]), (1, [2, 3]), (2, [4])]
    """

    def block(number: int) -> Result:
        begin = number * size
        return work(number, range(begin, min(begin + size, count)))

    return in_blocks(block, -(-count // size), threads, progress)


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
        for number in range(blocks):
            yield work(number)
            if progress is not None:
                progress(1)
        return

    ahead = 2 * threads
    pool = ThreadPoolExecutor(threads)
    try:
        first = range(min(ahead, blocks))
        waiting = deque(pool.submit(work, number) for number in first)
        for number in range(blocks):
            result = waiting.popleft().result()
            if number + ahead < blocks:
                waiting.append(pool.submit(work, number + ahead))
            yield result
            if progress is not None:
                progress(1)
    finally:  # an interrupt waits for the blocks at work, not for all of them
        pool.shutdown(cancel_futures=True)


def _processors() -> int:
    """Return on how many processors this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
