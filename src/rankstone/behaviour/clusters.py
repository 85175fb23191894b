"""Impressions: which depend on one another (those of a user, a session), and which are shown in part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.behaviour.logs import Log, numbered
from rankstone.errors import NotComparable, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

__all__ = ["cluster_of_impressions", "skipping"]


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


def skipping(log: Log, impression: Ints) -> int:
    """Count impressions that skip a position: the last one is further down than rows of theirs reach."""
    places = log.frame.select("position", impression=impression).group_by("impression")
    lists = places.agg(last=pl.col("position").max(), held=pl.col("position").n_unique())
    return lists.filter(pl.col("last") > pl.col("held")).height
