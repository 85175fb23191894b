"""Choice of a cutoff: how well each k separates runs, how stable their order is; the bootstrap over queries.

Every resample has its own random stream (Philox, keyed by seed and resample), and sums are sums of whole
numbers.  So the same seed gives the same bits on any machine and any number of threads.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.diagnostics.curve_resampling import Resampling, resampled_means
from rankstone.errors import UsageError
from rankstone.hits.list_arrays import divided
from rankstone.measures.at_cutoffs import AtK
from rankstone.stats.multiple_testing import adjusted
from rankstone.stats.paired_tests import paired_t
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankstone._basics import Floats, Ints
    from rankstone.diagnostics.mean_curves import Row, RunCurves
    from rankstone.measures.core.curve import Curve


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


def tau_b(order: Ints, other: Ints) -> Floats:
    """Return Kendall's tau_b of two orders, NaN where all things tie in one of them.

    Parameters
    ----------
    order, other
        int64 ``[…, pairs]``: 1 where the first of a pair is before the second, -1 after it, 0 where they tie.

    >>> round(float(tau_b(np.array([1, 1, 1]), np.array([1, 1, 0]))), 4)
    0.8165
    """
    untied = np.abs(order).sum(axis=-1)
    untied_other = np.abs(other).sum(axis=-1)
    agreement = (order * other).sum(axis=-1)
    return divided(agreement, np.sqrt(untied * untied_other), np.nan)


class _Field(Record):
    """Values of all runs, float64 ``[runs, queries, cutoffs]``, for queries in which all runs have one."""

    curve: AtK
    names: tuple[str, ...]
    value: Floats

    @classmethod
    def of(cls, curve: AtK, runs: Mapping[str, RunCurves]) -> _Field:
        """Bring the runs' queries together, in the first run's order."""
        shared = pl.DataFrame()
        for place, run in enumerate(runs.values()):
            rows = _whole(run, curve, f"{place}")
            if place:
                rows = shared.join(rows, on="query_id", maintain_order="left")
            shared = rows
        value = []
        for place, run in enumerate(runs.values()):
            rows_of_run = shared[f"{place}"].to_numpy()
            value.append(run.traced[curve].value[rows_of_run])
        return cls(curve, tuple(runs), np.stack(value))

    def rows(self, resampling: Resampling, correction: str) -> Iterator[Row]:
        """Yield a row for each cutoff."""
        runs, queries, cutoffs = self.value.shape
        pairs = np.array(list(combinations(range(runs), 2)))
        first, second = pairs.T
        means = np.zeros((runs, cutoffs))
        again = None
        if queries:
            means = self.value.mean(axis=1)
            again = np.stack(
                [resampled_means(run, None, resampling) for run in self.value]
            )
        order = _signs(means[first] - means[second])
        better = -1 if self.curve.measure.card.direction == "lower" else 1

        for place, k in enumerate(self.curve.cutoffs):
            apart = self._apart(place, pairs, 1 - resampling.confidence, correction)
            row: Row = {
                "curve": str(self.curve),
                "k": k,
                "n": queries,
                "pairs": len(pairs),
                "apart": apart,
                "power": None if apart is None else apart / len(pairs),
                "tau_deepest": float(tau_b(order[:, place], order[:, -1])),
                "tau_samples": None,
                "tau_low": None,
                "best": None,
                "best_again": None,
            }
            if again is not None:
                samples = again[:, :, place]
                orders = _signs(samples[first] - samples[second]).T
                row["tau_samples"], row["tau_low"] = _steadiness(
                    order[:, place], orders, resampling.ends[0]
                )
                gains = better * means[:, place]
                front = int(gains.argmax())
                lead = better * (samples[front] - samples)
                is_behind = lead >= -_EQUAL
                row["best"] = self.names[front]
                row["best_again"] = float(is_behind.all(axis=0).mean())
            yield row

    def _apart(
        self, place: int, pairs: Ints, alpha: float, correction: str
    ) -> int | None:
        """Count the pairs that differ significantly by the paired t-test; ``None`` for a single query."""
        if self.value.shape[1] < 2:  # noqa: PLR2004 - a single query has no spread
            return None
        units = Units.from_scores(self.value[:, :, place].T)
        p = []
        for run, other in pairs.tolist():
            p.append(paired_t(units.difference(run, other)))
        return int((adjusted(p, correction) <= alpha).sum())


def _whole(run: RunCurves, curve: AtK, name: str) -> pl.DataFrame:
    """Return the rows of the queries that have a value at every cutoff."""
    value = run.traced[curve].value
    rows = np.flatnonzero(~np.isnan(value).any(axis=1))
    queries = run.queries.cast(pl.String).gather(rows)
    return pl.DataFrame({"query_id": queries, name: rows})


def _signs(gap: Floats) -> Ints:
    is_equal = np.abs(gap) <= _EQUAL
    signs = np.where(is_equal, 0, np.sign(gap))
    return signs.astype(np.int64)


def _steadiness(
    observed: Ints, samples: Ints, low: float
) -> tuple[float | None, float | None]:
    """Return mean and lower end of tau_b between the order observed and those of samples."""
    if not observed.any():
        return None, None
    tau = np.nan_to_num(tau_b(observed[None, :], samples))  # all runs tie in the sample
    return float(tau.mean()), float(np.quantile(tau, low))
