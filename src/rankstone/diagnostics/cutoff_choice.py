"""Choice of a cutoff: how well each k separates runs, how stable their order is; the bootstrap over queries.

Every resample has its own random stream (Philox, keyed by seed and resample), and sums are sums of whole
numbers.  So the same seed gives the same bits on any machine and any number of threads.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.diagnostics.curve_resampling import Resampling, resampled_means
from rankstone.errors import UsageError
from rankstone.measures.at_cutoffs import AtK
from rankstone.stats.multiple_testing import adjusted
from rankstone.stats.paired_tests import paired_t
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankstone._basics import Floats, Ints
    from rankstone.diagnostics.mean_curves import RunCurves
    from rankstone.measures.core.curve import Curve


Row = tuple[object, ...]

#: means of resamples keep eleven digits
_EQUAL: Final = 1e-9


def which_k(
    curves: Iterable[Curve],
    runs: Mapping[str, RunCurves],
    resampling: Resampling,
    correction: str,
) -> list[Row]:
    """Return a row of WHICH_K for each cutoff of each curve over k whose queries are averaged."""
    if len(runs) < 2:  # noqa: PLR2004 - a pair
        raise UsageError(
            "which_k compares runs, so it needs at least two", given=f"{len(runs)} run"
        )
    averaged = [curve for curve in curves if isinstance(curve, AtK) and curve.averages]
    if not averaged:
        raise UsageError(
            "there is no curve of a measure over k that is averaged over queries",
            given=" ".join(map(str, curves)),
            fix='request one: "nDCG@1..100"',
        )
    return [
        row
        for curve in averaged
        for row in _Field.of(curve, runs).rows(resampling, correction)
    ]


def tau_b(one: Ints, other: Ints) -> Floats:
    """Return Kendall's tau_b of two orders, NaN where all things tie in one of them.

    Parameters
    ----------
    one, other
        int64 ``[…, pairs]``: 1 where the first of a pair is before the second, -1 after it, 0 where they tie.

    >>> round(float(tau_b(np.array([1, 1, 1]), np.array([1, 1, 0]))), 4)
    0.8165
    """
    both = np.sqrt(np.abs(one).sum(axis=-1) * np.abs(other).sum(axis=-1))
    agree = (one * other).sum(axis=-1)
    found: Floats = np.divide(
        agree, both, out=np.full(np.shape(both), np.nan), where=both > 0
    )
    return found


class _Field(Record):
    """Values of all runs, float64 ``[runs, queries, cutoffs]``, for queries in which all runs have one."""

    curve: AtK
    names: tuple[str, ...]
    value: Floats

    @classmethod
    def of(cls, curve: AtK, runs: Mapping[str, RunCurves]) -> _Field:
        """Bring the runs' queries together, in the first run's order."""
        rows = [_whole(run, curve, f"{at}") for at, run in enumerate(runs.values())]
        shared = reduce(
            lambda left, right: left.join(right, on="query_id", maintain_order="left"),
            rows,
        )
        value = [
            run.traced[curve].value[shared[f"{at}"].to_numpy()]
            for at, run in enumerate(runs.values())
        ]
        return cls(curve, tuple(runs), np.stack(value))

    def rows(self, resampling: Resampling, correction: str) -> Iterator[Row]:
        """Yield a row for each cutoff."""
        runs, queries, _ = self.value.shape
        one, other = np.array(list(combinations(range(runs), 2))).T
        means = (
            self.value.mean(axis=1)
            if queries
            else np.zeros((runs, len(self.curve.cutoffs)))
        )
        again = (
            np.stack([resampled_means(run, None, resampling) for run in self.value])
            if queries
            else None
        )
        better = -1 if self.curve.measure.card.direction == "lower" else 1
        order = _signs(means[one] - means[other])
        for at, k in enumerate(self.curve.cutoffs):
            apart = self._apart(at, one, other, 1 - resampling.confidence, correction)
            steady: Row = (None, None)
            best = None
            kept = None
            if again is not None:
                steady = _steadiness(
                    order[:, at],
                    _signs(again[one, :, at] - again[other, :, at]).T,
                    resampling.ends[0],
                )
                front = int((better * means[:, at]).argmax())
                behind = better * (again[front, :, at] - again[:, :, at]) >= -_EQUAL
                best = self.names[front]
                kept = float(behind.all(axis=0).mean())
            tau = float(tau_b(order[:, at], order[:, -1]))
            share = None if apart is None else apart / len(one)
            yield (
                str(self.curve),
                k,
                queries,
                len(one),
                apart,
                share,
                tau,
                *steady,
                best,
                kept,
            )

    def _apart(
        self, at: int, one: Ints, other: Ints, alpha: float, correction: str
    ) -> int | None:
        """Count the pairs that differ significantly by the paired t-test."""
        if self.value.shape[1] < 2:  # noqa: PLR2004 - a single query has no spread
            return None
        units = Units.from_scores(self.value[:, :, at].T)
        p = [
            paired_t(units.difference(int(a), int(b)))
            for a, b in zip(one, other, strict=True)
        ]
        return int((adjusted(p, correction) <= alpha).sum())


def _whole(run: RunCurves, curve: AtK, name: str) -> pl.DataFrame:
    """Return the rows of the queries that have a value at every cutoff."""
    rows = np.flatnonzero(~np.isnan(run.traced[curve].value).any(axis=1))
    return pl.DataFrame(
        {"query_id": run.queries.cast(pl.String).gather(rows), name: rows}
    )


def _signs(gap: Floats) -> Ints:
    return np.where(np.abs(gap) <= _EQUAL, 0, np.sign(gap)).astype(np.int64)


def _steadiness(
    observed: Ints, samples: Ints, low: float
) -> tuple[float | None, float | None]:
    """Return mean and lower end of tau_b between the order observed and those of samples."""
    if not observed.any():
        return None, None
    tau = np.nan_to_num(tau_b(observed[None, :], samples))  # all runs tie in the sample
    return float(tau.mean()), float(np.quantile(tau, low))
