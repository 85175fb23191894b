"""Precision at levels of recall: when a level is reached, and by whose precision it is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.arrays import running

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["INTERPOLATIONS", "MOST_LEVELS", "READINGS", "Reached", "interpolated", "levels_of", "wanted"]

#: levels of recall that a curve or a mean over them has at most
MOST_LEVELS: Final = 10_001
INTERPOLATIONS: Final = ("exact", "trec9", "trec10", "none")
READINGS: Final = "when a level counts as reached (trec9, trec10 round r·R); none: no later precision counts"


def levels_of(points: int | tuple[float, ...], who: str) -> tuple[float, ...]:
    """Return shares from 0 to 1: as given, or that many of them, evenly spaced.

    Raises
    ------
    BadParameter
        Naming ``who`` asked (a measure and its parameter), when these are no distinct levels.

    >>> levels_of(5, "PR: levels")
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    if isinstance(points, tuple):
        levels = points
    else:
        last = int(points) - 1
        levels = tuple(at / last for at in range(last + 1)) if last > 0 and points == last + 1 else ()
    if not levels or len(set(levels)) < len(levels) or not all(0 <= level <= 1 for level in levels):
        raise BadParameter(
            f"{who}={points!r} are no levels",
            expected="a number of levels from 2 up (11, 101), or levels in 0 … 1: {0.25, 0.5, 0.75}",
        )
    return levels


def wanted(level: float, relevant: Ints, interp: str) -> Ints:
    """Return how many relevant documents make up a level of recall, int64 ``[queries]``.

    ``exact`` and ``none`` the fewest whose share is the level or more; ``trec9`` r·R + 0.9, cut off;
    ``trec10`` r·R, halves rounded up.

    >>> [int(wanted(0.7, np.array([3]), interp)[0]) for interp in ("exact", "trec9", "trec10")]
    [3, 2, 2]
    """
    share = level * relevant
    count = np.floor(share + 0.9 if interp == "trec9" else share)
    if interp == "trec10":
        count += share - count >= 0.5  # noqa: PLR2004 - halves are rounded up
    elif interp != "trec9":
        # a quotient of whole numbers is the nearest float, so decimal levels compare without slips
        count += count / np.maximum(relevant, 1) < level
    needed: Ints = count.astype(np.int64)
    return needed


@dataclass(frozen=True, eq=False)
class Reached:
    """The relevant hits of every query, and whose precision each of them may claim.

    Attributes
    ----------
    hit
        int64 ``[found]``: the relevant hits.
    precision
        float64 ``[found]``: relevant documents down to it, over its rank.
    holder
        int64 ``[found]``: the next relevant hit (or itself) whose precision no later one beats;
        always itself without interpolation.
    starts, lengths
        int64 ``[queries]``: where a query's relevant hits begin, and how many there are.
    rank
        int64 ``[found]``.
    interp
        One of :data:`INTERPOLATIONS`.
    """

    hit: Ints
    precision: Floats
    holder: Ints
    starts: Ints
    lengths: Ints
    rank: Ints
    interp: str

    @classmethod
    def of(cls, hits: Hits, relevant: Bools, interp: str) -> Self:
        """Look at the hits marked as relevant; their ranks must be settled."""
        hit = np.flatnonzero(relevant)
        lengths = np.bincount(hits.query[hit], minlength=hits.queries)
        starts = np.cumsum(lengths) - lengths
        rank = hits.rank[hit]
        precision = (np.arange(len(hit)) - starts[hits.query[hit]] + 1) / rank
        holder = np.arange(len(hit))
        if interp != "none":
            best = running(np.maximum, precision[::-1], lengths[::-1])[::-1]
            unbeaten = np.where(precision < best, len(hit), holder)
            holder = np.minimum.accumulate(unbeaten[::-1])[::-1]
        return cls(hit, precision, holder, starts, lengths, rank, interp)

    def at(self, level: float, relevant: Ints) -> tuple[Ints, Ints]:
        """Return the queries that reach a level of recall, and whose precision each has there.

        The latter are places in :attr:`hit`.  Recall 0 is reached at rank 1, whatever stands there.
        """
        count = wanted(level, relevant, self.interp)
        query = np.flatnonzero(np.maximum(count, 1) <= self.lengths)
        place = self.starts[query] + np.maximum(count[query], 1) - 1
        if self.interp == "none":
            there = (count[query] > 0) | (self.rank[place] == 1)
            query, place = query[there], place[there]
        return query, self.holder[place]


def interpolated(hits: Hits, relevant: Bools, R: Ints, levels: Sequence[float], interp: str) -> Floats:  # noqa: N803 - the field's letter
    """Return precision at levels of recall, float64 ``[queries, levels]``, 0 where one is not reached.

    Parameters
    ----------
    hits
        With settled ranks.
    relevant
        bool ``[hits]``.
    R
        int64 ``[queries]``: relevant documents judged, found or not.
    levels
        Shares of ``R``.
    interp
        One of :data:`INTERPOLATIONS`.
    """
    reached = Reached.of(hits, relevant, interp)
    table = np.zeros((hits.queries, len(levels)))
    for column, level in enumerate(levels):
        query, place = reached.at(level, R)
        table[query, column] = reached.precision[place]
    return table
