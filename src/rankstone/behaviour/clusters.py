"""Which impressions depend on one another: those of a user, a session, a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.behaviour.logs import Log, numbered
from rankstone.errors import NotComparable, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

__all__ = ["cluster_of_impressions"]


def cluster_of_impressions(log: Log, column: str, impression: Ints) -> Ints:
    """Return the cluster of each impression, int64 ``[impressions]``, from 0.

    Raises
    ------
    NotComparable
        When an impression has rows of two clusters.
    """
    cluster = numbered(log.frame, column).to_numpy()
    found = np.empty(int(impression.max()) + 1, np.int64)
    found[impression] = cluster
    other = np.flatnonzero(found[impression] != cluster)
    if len(other):
        row = log.frame.row(int(other[0]), named=True)
        raise NotComparable(
            f"an impression belongs to two values of {printable(column, 40)}",
            where=log.source,
            given=f"impression_id {printable(row['impression_id'], 40)}",
            expected=f"one {printable(column, 40)} an impression",
        )
    return found
