"""Probabilities of sampled ranks, estimators of the exact metric from them, and its bounds.

A sampled rank has little information on the top of a long list: of 20,000 items, ranks 1 and 100 are first
among a hundred in most samples.  So a measure among all items is not identified, however many users there
are; its extremes over all distributions of ranks that agree with the sample are two linear programmes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import Record
from rankstone.hits.extras.candidate_counts import CandidateCounts, NumbersOfCandidates
from rankstone.hits.extras.row_numbers import RowNumbers, RowsOfHits
from rankstone.hits.hits import Hits
from rankstone.hits.list_arrays import Ideal
from rankstone.stats.proportions import clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.measures.core.measure import Measure

#: numbers in memory at a time
_CELLS: Final = 1 << 20
#: values computed at a time
_RANKS: Final = 1 << 18
#: with more constraints the solution takes too long
MOST_CONSTRAINED: Final = 400


def worth(measure: Measure, rank: Ints, n: int) -> Floats:
    """Return a measure's value if the only relevant document of n is at each rank."""
    values = np.empty(len(rank))
    for start in range(0, len(rank), _RANKS):
        part = rank[start : start + _RANKS].astype(np.int64)
        ones = np.ones(len(part))
        whole = np.full(len(part), n)
        offsets = np.arange(len(part) + 1)
        hits = Hits(
            offsets=offsets,
            rank=part,
            grade=ones,
            first=part,
            last=part,
            judged=ones > 0,
            n=whole,
            length=whole,
            ideal=Ideal(offsets, ones),
            found=ones > 0,
            extras={
                CandidateCounts: NumbersOfCandidates(count=whole),
                RowNumbers: RowsOfHits(run=part, judgment=part),
            },
        )
        values[start : start + len(part)] = measure.score(hits).value
    return values


def chances(rank: Ints, n: int, m: int, *, replacement: bool) -> Floats:
    """Return P(r̃ | r) for some ranks r and all r̃ = 1 … m + 1, float64 ``[ranks, m + 1]``."""
    better = (rank - 1)[:, None].astype(np.float64)
    worse = n - 1 - better
    draws = np.arange(m)
    ways = np.concatenate(([0.0], np.cumsum(np.log(draws + 1.0))))
    ways = ways[m] - ways - ways[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        if replacement:
            up, down = (
                np.where(
                    np.arange(m + 1) > 0, np.arange(m + 1) * np.log(side / (n - 1)), 0.0
                )
                for side in (better, worse)
            )
        else:  # every draw leaves one item less
            whole = np.log(n - 1.0 - draws)
            up, down = (
                _sums_from_zero(np.log(np.maximum(side - draws, 0.0)))
                for side in (better, worse)
            )
            ways = ways - float(whole.sum())
    chance: Floats = np.exp(ways + up + down[:, ::-1])
    return chance


def _sums_from_zero(values: Floats) -> Floats:
    return np.concatenate(
        (np.zeros((len(values), 1)), np.cumsum(values, axis=1)), axis=1
    )


def _slices(n: int, m: int, *, replacement: bool) -> Iterator[tuple[slice, Floats]]:
    step = max(_CELLS // (m + 1), 1)
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        yield (
            part,
            chances(
                np.arange(part.start, part.stop) + 1, n, m, replacement=replacement
            ),
        )


def solved(
    measures: Sequence[Measure],
    n: int,
    m: int,
    prior: Floats,
    method: str,
    gamma: float,
    *,
    replacement: bool,
) -> dict[str, Floats]:
    """Solve for all measures together, which share the probabilities."""
    every = np.stack(
        [worth(measure, np.arange(1, n + 1), n) for measure in measures], axis=1
    )
    solver = _LeastBias() if method == "cls" else _Balanced(gamma)
    weigh = np.sqrt(prior)[:, None]
    for part, chance in _slices(n, m, replacement=replacement):
        solver.add(
            chance * weigh[part], every[part] * weigh[part], prior[part] @ chance
        )
    return {
        str(measure): solver.solved(place) for place, measure in enumerate(measures)
    }


class _Balanced:
    """Squared bias against variance: ((1 − γ) AᵀA + γ diag(c))⁻¹ Aᵀb."""

    def __init__(self, gamma: float) -> None:
        self._gamma = gamma
        self._square: Any = 0.0
        self._target: Any = 0.0
        self._chance: Any = 0.0

    def add(self, a: Floats, b: Floats, chance: Floats) -> None:
        """Add some ranks."""
        self._square = self._square + a.T @ a
        self._target = self._target + a.T @ b
        self._chance = self._chance + chance

    def solved(self, place: int) -> Floats:
        """Return the estimate of one measure."""
        left = (1.0 - self._gamma) * self._square + self._gamma * np.diag(self._chance)
        try:
            estimate: Floats = np.linalg.solve(left, self._target[:, place])
        except np.linalg.LinAlgError:
            # some ranks cannot be sampled
            estimate = np.linalg.lstsq(left, self._target[:, place], rcond=None)[0]
        return estimate


class _LeastBias:
    """Least squared bias among estimates that never rise with the rank nor fall below 0.

    Such an estimate is a sum of steps of heights z ≥ 0 that each reach from rank 1 down to some rank.
    """

    def __init__(self) -> None:
        self._factor = np.empty((0, 0))
        self._width = 0

    def add(self, a: Floats, b: Floats, _chance: Floats) -> None:
        """Add some ranks; only the triangular factor of what was added is kept."""
        rows = np.hstack((np.cumsum(a, axis=1), b))
        self._width = a.shape[1]
        stacked = np.vstack((self._factor, rows)) if len(self._factor) else rows
        self._factor = np.asarray(np.linalg.qr(stacked, mode="r"), np.float64)

    def solved(self, place: int) -> Floats:
        """Return the estimate of one measure."""
        steps = _nonnegative(
            self._factor[:, : self._width], self._factor[:, self._width + place]
        )
        return np.cumsum(steps[::-1])[::-1]


def _nonnegative(matrix: Floats, target: Floats) -> Floats:
    """Return the x ≥ 0 with the least |matrix · x − target| (Lawson and Hanson, 1974, algorithm 23.10)."""
    width = matrix.shape[1]
    solution = np.zeros(width)
    free = np.zeros(width, bool)
    eps = float(np.finfo(float).eps)
    flat = (
        10
        * eps
        * float(np.abs(matrix).sum(axis=0).max())
        * max(float(np.abs(target).max()), eps)
    )
    for _ in range(10 * width):
        slope = matrix.T @ (target - matrix @ solution)
        slope[free] = -np.inf
        if free.all() or slope.max() <= flat:
            break
        free[int(slope.argmax())] = True
        while True:
            trial = np.zeros(width)
            trial[free] = np.linalg.lstsq(matrix[:, free], target, rcond=None)[0]
            below = free & (trial <= 0)
            if not below.any():
                break
            gone = solution[below] / (solution[below] - trial[below])
            solution = solution + float(gone.min()) * (trial - solution)
            free &= solution > eps * np.abs(solution).max()
            solution[~free] = 0.0
        solution = trial
    return solution


#: ranks are single cells down to this, and cells that grow by this share below
_SINGLE: Final = 200
_STEP: Final = 0.01
#: shares have limits at each sampled rank down to this, and in steps that grow by this share below
_LEVELS: Final = 10
_GROWTH: Final = 0.3


class Identified(Record):
    """Distributions of ranks among all items that agree with ranks among sampled ones.

    Attributes
    ----------
    starts
        int64 ``[cells]``: the first rank of each cell of ranks.
    items
        The number of items.
    nearest, farthest
        float64 ``[levels, cells]``: the probability that at most so many sampled items are above a document
        at the first, and at the last rank of each cell.
    low, high
        float64 ``[levels]``: the limits of the share of documents with at most so many above them, for all
        levels together at the requested confidence.
    """

    starts: Ints
    items: int
    nearest: Floats
    farthest: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(
        cls,
        above: Ints,
        cluster: Ints | None,
        items: int,
        sampled: int,
        confidence: float,
        *,
        replacement: bool,
    ) -> Identified:
        """Return the limits for a sample.

        Parameters
        ----------
        above
            int64 ``[documents]``: the number of sampled items above each relevant document.
        cluster
            int64 ``[documents]``: the user of each, from 0; ``None`` if all differ.
        items, sampled
            The number of items, and of other items that were sampled.
        confidence
            The probability that all limits hold.
        replacement
            True if items were sampled with replacement.
        """
        level = _grid(sampled, _LEVELS, _GROWTH)
        starts = _grid(items, _SINGLE, _STEP) + 1
        ends = np.append(starts[1:] - 1, items)
        nearest, farthest = (
            np.cumsum(chances(rank, items, sampled, replacement=replacement), axis=1)[
                :, level
            ].T
            for rank in (starts, ends)
        )
        low, high = _limits(
            above[:, None] <= level, cluster, (1 - confidence) / len(level)
        )
        return cls(starts, items, nearest, farthest, low, high)

    def bounds(self, measure: Measure) -> tuple[float, float] | None:
        """Return the extremes of the mean of a measure; ``None`` where no ranks agree with the sample."""
        from scipy.optimize import linprog

        every = worth(measure, np.arange(1, self.items + 1), self.items)
        extremes = []
        for sign, per_cell in ((1, np.minimum), (-1, np.maximum)):
            optimum = linprog(
                sign * per_cell.reduceat(every, self.starts - 1),
                A_ub=np.concatenate([self.farthest, -self.nearest]),
                b_ub=np.concatenate([self.high, -self.low]),
                A_eq=np.ones((1, len(self.starts))),
                b_eq=np.ones(1),
                method="highs",
            )
            if not optimum.success:
                return None
            extremes.append(sign * float(optimum.fun))
        return extremes[0], extremes[1]


def _grid(end: int, single: int, step: float) -> Ints:
    """Return 0, 1, 2 … and then numbers that grow by a share, below ``end``, and ``end`` − 1."""
    ranks = list(range(min(single, end)))
    while ranks[-1] < end - 1:
        ranks.append(min(ranks[-1] + max(1, int(ranks[-1] * step)), end - 1))
    return np.array(ranks)


def _limits(inside: Bools, cluster: Ints | None, error: float) -> tuple[Floats, Floats]:
    """Return both ends of exact intervals of shares, ``[documents, levels]`` → ``[levels]``.

    Clopper and Pearson (1934); where documents share users, with the effective number of documents (Korn and
    Graubard, 1998).
    """
    share = inside.mean(axis=0)
    n = _effective(inside, cluster, error)
    return clopper_pearson(share * n, n, 1 - error)


def _effective(inside: Bools, cluster: Ints | None, error: float) -> Floats:
    """Return the effective number of documents for the share of each level."""
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
    known = np.where(
        variance > 0, share * (1 - share) / np.where(variance > 0, variance, 1.0), users
    )
    fewer = (norm.ppf(error / 2) / t.ppf(error / 2, users - 1)) ** 2
    effective: Floats = np.minimum(known, documents) * fewer
    return effective
