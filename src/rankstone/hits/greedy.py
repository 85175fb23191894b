"""The order in which judged documents give most at every rank, when what was shown gives less again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.hits.arrays import Floats
    from rankstone.hits.pool import Pool

__all__ = ["greedy"]

#: gains are rounded sums; of two that differ by less neither is the better one
_ROUNDING: Final = 1e-12


def greedy(pool: Pool, worth: Floats, keep: Floats, weight: Floats) -> Iterator[Floats]:
    """Yield, rank by rank, what the best document still left gains in every query.

    A document gains ``weight · fresh · worth`` for each of its groups; ``fresh`` begins at 1 and is
    multiplied by ``keep`` once the document is placed.  Among equal gains the document with the
    larger id comes first.  All queries take their step together.

    Parameters
    ----------
    pool
        Judged documents with their groups.
    worth, keep
        float64 ``[entries]``, 0 or more, and 0 … 1.
    weight
        float64 ``[groups]``, 0 or more.

    Yields
    ------
    numpy.ndarray
        float64 ``[queries]``; 0 where every document that gains something has been placed.
    """
    entries = pool.entries
    useful = np.flatnonzero((worth > 0) & (weight[entries.group] > 0))
    group, worth, keep = entries.group[useful], worth[useful], keep[useful]
    docs, doc = np.unique(entries.doc[useful], return_inverse=True)
    query, by_id = pool.query[docs], pool.id_order[docs]
    weight, fresh = weight[group], np.ones(len(weight))
    while len(query):
        gain = np.bincount(doc, weight * (fresh[group] * worth), len(query))
        starts = np.flatnonzero(np.diff(query, prepend=-1))
        lengths = np.diff(starts, append=len(query))
        best = np.maximum.reduceat(gain, starts)
        if not best.any():
            return
        level = gain >= np.repeat(best * (1 - _ROUNDING), lengths)
        largest = np.maximum.reduceat(np.where(level, by_id, -1), starts)
        placed = level & (by_id == np.repeat(largest, lengths))
        gains = np.zeros(pool.queries)
        gains[query[placed]] = gain[placed]
        yield gains
        shown = placed[doc]
        fresh[group[shown]] *= keep[shown]
        doc = (np.cumsum(~placed) - 1)[doc[~shown]]
        group, worth, keep, weight = (values[~shown] for values in (group, worth, keep, weight))
        query, by_id = query[~placed], by_id[~placed]
