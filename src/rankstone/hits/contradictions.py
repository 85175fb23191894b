"""Ranks and scores of the same rows, where they give different orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankstone.hits.batches import Batch

__all__ = ["contradicted", "contradiction"]


def contradicted(batch: Batch) -> int:
    """Count the lists of an ordered batch in which a better rank goes with a lower score.

    Equal ranks, equal scores and rows without a rank say nothing.  Nearly always one look at neighbours
    settles it; only lists in which these disagree are sorted.
    """
    if batch.key is None or batch.other is None:
        return 0
    rises = ~(batch.other[1:] <= batch.other[:-1])
    rises[batch.heads[1:] - 1] = False
    if not rises.any():
        return 0
    wanted = np.zeros(len(batch.lengths), bool)
    wanted[batch.list_of_row[1:][rises]] = True
    rows = np.flatnonzero(wanted[batch.list_of_row] & ~np.isnan(batch.other))
    lists, key, other = batch.list_of_row[rows], batch.key[rows], batch.other[rows]
    order = np.lexsort((-other, -key, lists))
    lists, key, other = lists[order], key[order], other[order]
    apart = (lists[1:] == lists[:-1]) & (key[1:] < key[:-1]) & (other[1:] > other[:-1])
    return len(np.unique(lists[1:][apart]))


def contradiction(lists: int, of: int, order: str) -> str:
    """Say that ranks and scores give different orders, and which of the two counts."""
    other = "rank" if order == "score" else "score"
    which = "every list" if lists == of else f"{lists:,} of {of:,} lists"
    return f"ranks contradict scores in {which}: {order}s give the order, order={other} takes the {other}s"
