"""Hits at every rank, for measures in which each position counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.ragged import Hits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.hits.arrays import Ints

__all__ = ["every_rank"]

#: so many ranks at a time
_SLICE = 1 << 17


def every_rank(hits: Hits, depth: int) -> Iterator[tuple[slice, Hits, Ints, Ints]]:
    """Yield hits that fill all ranks 1 … depth of some queries at a time, so that memory stays flat.

    Ranks nobody judged, and those behind a short list, get a hit of grade 0 that is not judged.
    Ties must be settled.

    Yields
    ------
    queries
        Which queries come now.
    hits
        Theirs: ``depth`` hits each.
    old, place
        int64: these hits of ours stand at these places among them.
    """
    step = max(1, _SLICE // depth)
    for begin in range(0, hits.queries, step):
        end = min(begin + step, hits.queries)
        low, high = hits.offsets[begin], hits.offsets[end]
        old = low + np.flatnonzero(hits.rank[low:high] <= depth)
        place = (hits.query[old] - begin) * depth + hits.rank[old] - 1
        yield slice(begin, end), _filled(hits, begin, end, depth, old, place), old, place


def _filled(hits: Hits, begin: int, end: int, depth: int, old: Ints, place: Ints) -> Hits:
    rank = np.tile(np.arange(1, depth + 1), end - begin)
    grade, judged = np.zeros(len(rank)), np.zeros(len(rank), bool)
    grade[place], judged[place] = hits.grade[old], hits.judged[old]
    return Hits(
        offsets=np.arange(end - begin + 1) * depth,
        rank=rank,
        grade=grade,
        first=rank,
        last=rank,
        judged=judged,
        n=hits.n[begin:end],
        length=hits.length[begin:end],
        ideal=hits.ideal.take(np.arange(begin, end)),
        found=hits.found[begin:end],
        lowest_grade=hits.lowest_grade,
    )
