"""Curves of one or more runs: every query's points first, mean curves and noise derived from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from rankstone.curves import frames
from rankstone.curves.resampling import Resampling
from rankstone.curves.summary import mean_curve, noise, quantiles, resampled, spread
from rankstone.measures import Status
from rankstone.measures.at_cutoffs import AtK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

    from rankstone.hits.arrays import Floats
    from rankstone.hits.audit import Audit
    from rankstone.measures.base import Measure, Scored
    from rankstone.measures.curves import Curve, Traced

__all__ = ["MeanCurves", "RunCurves"]

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class RunCurves:
    """One run's curves: the queries, each curve over all of them, and the numbers that sum curves up."""

    queries: pl.Series
    traced: Mapping[Curve, Traced]
    scored: Mapping[Measure, Scored]

    def summaries(self, curve: Curve) -> Floats:
        """Return the number that sums up each query's curve, NaN without a curve, float64 ``[queries]``."""
        traced = self.traced[curve]
        if isinstance(curve, AtK):
            return traced.value[:, -1]
        return np.where(traced.has_value, self.scored[curve.summary()].value, np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class MeanCurves:
    """Curves of one or more runs, each run for itself."""

    runs: Mapping[str, RunCurves]
    curves: tuple[Curve, ...]
    audit: Audit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    resampling: Resampling = field(default_factory=Resampling)
    _made: dict[Any, Any] = field(default_factory=dict, compare=False)

    def with_resampling(self, **settings: Any) -> Self:  # noqa: ANN401 - checked by Resampling
        """Return the same curves under other ``resamples``, ``seed``, ``confidence`` or ``band``."""
        return replace(self, resampling=replace(self.resampling, **settings), _made={})

    # -- queries -----------------------------------------------------------------------------------
    @cached_property
    def per_query(self) -> pl.DataFrame:
        """The points of every query's own curve: ``run``, ``query_id``, ``curve``, ``x``, ``y``.

        Queries without a curve have no points.
        """
        parts = (frames.points_frame(name, run.queries, *pair) for name, run, pair in self._each())
        return frames.joined(parts, frames.POINTS)

    def counts(self) -> pl.DataFrame:
        """Return how many queries each curve is made of, and why others have none.

        Columns ``run``, ``curve``, ``n`` (queries with a curve), ``n_missing`` (of these, not answered
        by the run), ``n_no_relevant`` and ``n_undefined`` (queries without a curve).
        """
        rows = []
        for name, _, (curve, traced) in self._each():
            has, status = traced.has_value, traced.status
            which = has, has & (status == Status.missing)
            why = ~has & (status == Status.no_relevant), ~has & (status == Status.undefined)
            rows.append((name, str(curve), *(int(mask.sum()) for mask in (*which, *why))))
        return frames.frame_of(rows, frames.COUNTS)

    # -- means -------------------------------------------------------------------------------------
    def mean(self) -> pl.DataFrame:
        """Return the macro curves: at each x the mean over queries, its spread and its certainty.

        Returns
        -------
        polars.DataFrame
            ``run``, ``curve``, ``x``, ``mean``; ``n`` queries; ``sd`` and ``se`` over queries;
            ``band_low`` and ``band_high``, quantiles of the queries' own curves; ``min``, ``max``;
            ``ci_low`` and ``ci_high``, the bootstrap interval of the mean, each x for itself (null
            where queries are not averaged).
        """
        return self._once("mean", self._mean)

    def _mean(self) -> pl.DataFrame:
        parts = []
        for name, _, (curve, traced) in self._each():
            columns = {"x": curve.grid(), "mean": self._mean_of(name, curve)}
            columns |= spread(traced.value, self.resampling)
            columns["ci_low"], columns["ci_high"] = self._interval(name, curve)
            parts.append(frames.curve_frame(name, curve, columns, frames.MEAN))
        return frames.joined(parts, frames.MEAN)

    def _mean_of(self, name: str, curve: Curve) -> Floats:
        return self._once(("mean", name, curve), lambda: mean_curve(curve, self.runs[name].traced[curve]))

    def _resampled(self, name: str, curve: Curve) -> Floats | None:
        traced = self.runs[name].traced[curve]
        return self._once(("resampled", name, curve), lambda: resampled(curve, traced, self.resampling))

    def _interval(self, name: str, curve: Curve) -> tuple[Floats, Floats]:
        means = self._resampled(name, curve)
        if means is None:
            none = np.full(len(curve.grid()), np.nan)
            return none, none
        low, high = quantiles(means, self.resampling.ends)
        return low, high

    def micro(self) -> pl.DataFrame:
        """Return the micro curves: relevant documents of all queries pooled at each rank.

        Precision is Σ h_k / (k · queries), recall Σ h_k / Σ R.  Only PR has one; what pools a measure
        at a cutoff is its own ``agg=pooled``.

        Returns
        -------
        polars.DataFrame
            ``run``, ``curve``, ``k``, ``x``, ``y``.
        """
        parts = []
        for name, _, (curve, traced) in self._each():
            if traced.micro is not None:
                k, x, y = traced.micro.curve()
                parts.append(frames.curve_frame(name, curve, {"k": k, "x": x, "y": y}, frames.MICRO))
        return frames.joined(parts, frames.MICRO)

    def noise(self, below: float = 0.1) -> pl.DataFrame:
        """Return how noisy the means are, by the number that sums up a query's curve.

        That is AP for PR, AUC for ROC and, for a measure over k, its value at the deepest cutoff.

        Parameters
        ----------
        below
            Queries under this value count as failed.

        Returns
        -------
        polars.DataFrame
            ``run``, ``curve``, ``measure``, ``n``, ``mean``, ``ci_low``, ``ci_high``, ``sd``, ``se``
            (sd / √n), ``cv`` (sd / mean), ``q25``, ``median``, ``q75``, ``iqr``, ``min``, ``max``,
            ``failed`` (share of queries below).
        """
        rows = []
        for name, run, (curve, _) in self._each():
            value = run.summaries(curve)
            value = value[~np.isnan(value)]
            figures = noise(value, below, self.resampling)
            rows.append((name, str(curve), str(curve.summary()), len(value), *figures))
        return frames.frame_of(rows, frames.NOISE)

    # -- what all share ----------------------------------------------------------------------------
    def _each(self) -> Iterator[tuple[str, RunCurves, tuple[Curve, Traced]]]:
        for name, run in self.runs.items():
            for curve in self.curves:
                yield name, run, (curve, run.traced[curve])

    def _once(self, key: object, make: Callable[[], Made]) -> Made:
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made
