"""What sampled ranks leave open: the least and the most that a measure can be among all items.

A sampled rank says little of the top of a long list: of 20,000 items, ranks 1 and 100 come out first among a
hundred in most draws.  So a measure among all items is not known, however many users there are; known are its
extremes over all distributions of ranks that agree with what was sampled, two linear programmes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.lists.beyond.sampling import chances, worth

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.measures import Measure

__all__ = ["Identified"]

#: ranks are looked at one by one down to this, and in steps of so large a share below
_SINGLE: Final = 200
_STEP: Final = 0.01
#: shares are held against their limits at each sampled rank down to this, and in such steps below
_LEVELS: Final = 10
_GROWTH: Final = 0.3


@dataclass(frozen=True, eq=False)
class Identified:
    """Distributions of ranks among all items that agree with ranks among sampled ones.

    Attributes
    ----------
    starts
        int64 ``[cells]``: the first rank of each cell of ranks.
    items
        How many items there are.
    nearest, farthest
        float64 ``[levels, cells]``: the chance that at most so many sampled items stand above a document at
        the first, and at the last rank of each cell.
    low, high
        float64 ``[levels]``: between these is the share of documents with at most so many above them, in
        all levels at once with the confidence asked for.
    """

    starts: Ints
    items: int
    nearest: Floats
    farthest: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(
        cls, above: Ints, cluster: Ints | None, items: int, sampled: int, confidence: float,
        *, replacement: bool,
    ) -> Identified:  # fmt: skip
        """Find the limits.

        Parameters
        ----------
        above
            int64 ``[documents]``: how many sampled items stand above each relevant document.
        cluster
            int64 ``[documents]``: the user each belongs to, from 0; ``None`` where each has its own.
        items, sampled
            How many items there are, and how many others were sampled.
        confidence
            The chance that all limits hold.
        replacement
            Whether items were sampled with replacement.
        """
        level = _grid(sampled, _LEVELS, _GROWTH)
        starts = _grid(items, _SINGLE, _STEP) + 1
        ends = np.append(starts[1:] - 1, items)
        nearest, farthest = (
            np.cumsum(chances(rank, items, sampled, replacement=replacement), axis=1)[:, level].T
            for rank in (starts, ends)
        )
        low, high = _limits(above[:, None] <= level, cluster, (1 - confidence) / len(level))
        return cls(starts, items, nearest, farthest, low, high)

    def bounds(self, measure: Measure) -> tuple[float, float] | None:
        """Return the least and the most that the measure's mean can be; ``None`` where no ranks agree."""
        from scipy.optimize import linprog

        every = worth(measure, np.arange(1, self.items + 1), self.items)
        extremes = []
        for sign, per_cell in ((1, np.minimum), (-1, np.maximum)):
            found = linprog(
                sign * per_cell.reduceat(every, self.starts - 1),
                A_ub=np.concatenate([self.farthest, -self.nearest]),
                b_ub=np.concatenate([self.high, -self.low]),
                A_eq=np.ones((1, len(self.starts))),
                b_eq=np.ones(1),
                method="highs",
            )
            if not found.success:
                return None
            extremes.append(sign * float(found.fun))
        return extremes[0], extremes[1]


def _grid(end: int, single: int, step: float) -> Ints:
    """Return 0, 1, 2 … and then numbers that grow by a share, below ``end``, and ``end`` − 1."""
    found = list(range(min(single, end)))
    while found[-1] < end - 1:
        found.append(min(found[-1] + max(1, int(found[-1] * step)), end - 1))
    return np.array(found)


def _limits(inside: Bools, cluster: Ints | None, error: float) -> tuple[Floats, Floats]:
    """Return both ends of exact intervals of shares, ``[documents, levels]`` → ``[levels]``.

    Clopper and Pearson (1934); where documents share users, with the number of documents that would be as
    good if they did not (Korn and Graubard, 1998).
    """
    from scipy.special import betaincinv

    share, n = inside.mean(axis=0), _effective(inside, cluster, error)
    hit, miss = share * n, (1 - share) * n
    with np.errstate(invalid="ignore"):
        low = np.where(hit > 0, betaincinv(hit, miss + 1, error / 2), 0.0)
        high = np.where(miss > 0, betaincinv(hit + 1, miss, 1 - error / 2), 1.0)
    return low, high


def _effective(inside: Bools, cluster: Ints | None, error: float) -> Floats:
    """Return how many independent documents tell as much of each level's share."""
    documents = len(inside)
    users = documents if cluster is None else int(cluster.max()) + 1
    if cluster is None or users == documents:
        return np.full(inside.shape[1], float(documents))
    if users == 1:
        return np.ones(inside.shape[1])
    from scipy.stats import norm, t

    share = inside.mean(axis=0)
    sums = np.zeros((users, inside.shape[1]))
    np.add.at(sums, cluster, inside - share)
    variance = users / (users - 1) * (sums**2).sum(axis=0) / documents**2
    known = np.where(variance > 0, share * (1 - share) / np.where(variance > 0, variance, 1.0), users)
    fewer = (norm.ppf(error / 2) / t.ppf(error / 2, users - 1)) ** 2
    effective: Floats = np.minimum(known, documents) * fewer
    return effective
