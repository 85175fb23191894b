"""Which k?  How well a measure tells runs apart at each cutoff, and how steady their order is there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.curves.resampling import resampled_means
from rankstone.errors import UsageError
from rankstone.measures.at_cutoffs import AtK
from rankstone.stats import Units, adjusted, paired_t

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankstone.curves.means import RunCurves
    from rankstone.curves.resampling import Resampling
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.measures.curves import Curve

__all__ = ["tau_b", "which_k"]

Row = tuple[object, ...]

#: means of resamples keep eleven digits
_EQUAL: Final = 1e-9


def which_k(
    curves: Iterable[Curve], runs: Mapping[str, RunCurves], how: Resampling, correction: str
) -> list[Row]:
    """Return a row of WHICH_K for each cutoff of each curve over k whose queries are averaged."""
    if len(runs) < 2:  # noqa: PLR2004 - a pair
        raise UsageError("which k tells runs apart is asked of at least two runs", given=f"{len(runs)} run")
    averaged = [curve for curve in curves if isinstance(curve, AtK) and curve.averages]
    if not averaged:
        raise UsageError(
            "no measure is traced over its cutoff and averaged over queries",
            given=" ".join(map(str, curves)),
            fix='name one: "nDCG@1..100"',
        )
    return [row for curve in averaged for row in _Field.of(curve, runs).rows(how, correction)]


def tau_b(one: Ints, other: Ints) -> Floats:
    """Return Kendall's tau_b of two orders of the same things, NaN where one of them orders nothing.

    Parameters
    ----------
    one, other
        int64 ``[…, pairs]``: 1 where the first of a pair is before the second, -1 behind it, 0 beside it.

    >>> round(float(tau_b(np.array([1, 1, 1]), np.array([1, 1, 0]))), 4)
    0.8165
    """
    both = np.sqrt(np.abs(one).sum(axis=-1) * np.abs(other).sum(axis=-1))
    agree = (one * other).sum(axis=-1)
    found: Floats = np.divide(agree, both, out=np.full(np.shape(both), np.nan), where=both > 0)
    return found


@dataclass(frozen=True, eq=False)
class _Field:
    """Values of all runs, float64 ``[runs, queries, cutoffs]``, for the queries in which all have one."""

    curve: AtK
    names: tuple[str, ...]
    value: Floats

    @classmethod
    def of(cls, curve: AtK, runs: Mapping[str, RunCurves]) -> _Field:
        """Bring the runs' queries together, in the first run's order."""
        rows = [_whole(run, curve, f"{at}") for at, run in enumerate(runs.values())]
        shared = reduce(lambda left, right: left.join(right, on="query_id", maintain_order="left"), rows)
        value = [run.traced[curve].value[shared[f"{at}"].to_numpy()] for at, run in enumerate(runs.values())]
        return cls(curve, tuple(runs), np.stack(value))

    def rows(self, how: Resampling, correction: str) -> Iterator[Row]:
        """Yield a row for each cutoff."""
        runs, queries, _ = self.value.shape
        one, other = np.array(list(combinations(range(runs), 2))).T
        means = self.value.mean(axis=1) if queries else np.zeros((runs, len(self.curve.cutoffs)))
        again = np.stack([resampled_means(run, None, how) for run in self.value]) if queries else None
        better = -1 if self.curve.measure.card.direction == "lower" else 1
        order = _signs(means[one] - means[other])
        for at, k in enumerate(self.curve.cutoffs):
            apart = self._apart(at, one, other, 1 - how.confidence, correction)
            steady: Row = (None, None)
            best, kept = None, None
            if again is not None:
                steady = _steadiness(
                    order[:, at], _signs(again[one, :, at] - again[other, :, at]).T, how.ends[0]
                )
                front = int((better * means[:, at]).argmax())
                behind = better * (again[front, :, at] - again[:, :, at]) >= -_EQUAL
                best, kept = self.names[front], float(behind.all(axis=0).mean())
            tau = float(tau_b(order[:, at], order[:, -1]))
            share = None if apart is None else apart / len(one)
            yield str(self.curve), k, queries, len(one), apart, share, tau, *steady, best, kept

    def _apart(self, at: int, one: Ints, other: Ints, alpha: float, correction: str) -> int | None:
        """Count the pairs that the paired t-test tells apart."""
        if self.value.shape[1] < 2:  # noqa: PLR2004 - a single query has no spread
            return None
        units = Units.of(self.value[:, :, at].T)
        p = [paired_t(units.difference(int(a), int(b))) for a, b in zip(one, other, strict=True)]
        return int((adjusted(p, correction) <= alpha).sum())


def _whole(run: RunCurves, curve: AtK, name: str) -> pl.DataFrame:
    """Return the rows of the queries that have a value at every cutoff."""
    rows = np.flatnonzero(~np.isnan(run.traced[curve].value).any(axis=1))
    return pl.DataFrame({"query_id": run.queries.cast(pl.String).gather(rows), name: rows})


def _signs(gap: Floats) -> Ints:
    return np.where(np.abs(gap) <= _EQUAL, 0, np.sign(gap)).astype(np.int64)


def _steadiness(observed: Ints, samples: Ints, low: float) -> tuple[float | None, float | None]:
    """Return mean and lower end of tau_b between the order observed and those of samples."""
    if not observed.any():
        return None, None
    tau = np.nan_to_num(tau_b(observed[None, :], samples))  # a sample in which all are equal has no order
    return float(tau.mean()), float(np.quantile(tau, low))
