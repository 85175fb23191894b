"""Curves per query, and the mean curves, spreads and noise figures computed from them.

The columns of the frames in which curves are returned are defined here, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.diagnostics.curve_resampling import Resampling, resampled_means
from rankstone.hits.list_arrays import list_numbers
from rankstone.measures.at_cutoffs import AtK
from rankstone.measures.core.measure import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rankstone._basics import Floats, Ints
    from rankstone.hits.alignment_audit import Audit
    from rankstone.measures.core.curve import Curve, CurveValues
    from rankstone.measures.core.measure import Measure, Scored


def mean_curve(curve: Curve, traced: CurveValues) -> Floats:
    """Return the mean over the queries that have a value, float64 ``[grid]``; NaN where none has.

    Sums are exact, so this is the number ``evaluate`` gives for a measure at the same cutoff.
    """
    if traced.numerator is not None and traced.denominator is not None:
        columns = zip(traced.numerator.T, traced.denominator.T, strict=True)
        return np.array([_ratio(*pair) for pair in columns])
    means = []
    for column in traced.value.T:
        values = column[~np.isnan(column)]
        means.append(curve.mean(values))
    return np.array(means)


def _ratio(numerator: Floats, denominator: Floats) -> float:
    norm = math.fsum(denominator.tolist())
    return math.fsum(numerator.tolist()) / norm if norm else math.nan


def spread(value: Floats, resampling: Resampling) -> dict[str, Floats]:
    """Return how queries differ at each place on the x axis.

    Parameters
    ----------
    value
        float64 ``[queries, grid]``, NaN for no value.
    resampling
        Which quantiles make the band.

    Returns
    -------
    dict
        ``n``, ``sd`` (of the sample, NaN for one query), ``se``, ``band_low``, ``band_high``,
        ``min``, ``max``; arrays ``[grid]``.
    """
    value = value[~np.isnan(value).all(axis=1)]
    if not np.isnan(value).any():
        return _spread(value, resampling)
    columns = []
    for column in value.T:
        defined = column[~np.isnan(column)]
        columns.append(_spread(defined[:, None], resampling))
    return {
        name: np.concatenate([column[name] for column in columns])
        for name in columns[0]
    }


def _spread(value: Floats, resampling: Resampling) -> dict[str, Floats]:
    count, width = value.shape
    none = np.full(width, np.nan)
    if not count:
        names = ("sd", "se", "band_low", "band_high", "min", "max")
        return {"n": np.zeros(width, np.int64), **dict.fromkeys(names, none)}
    sd = none
    if count > 1:
        sd = value.std(axis=0, ddof=1)
    low, high = np.quantile(value, resampling.band, axis=0)
    return {
        "n": np.full(width, count),
        "sd": sd,
        "se": sd / math.sqrt(count),
        "band_low": low,
        "band_high": high,
        "min": value.min(axis=0),
        "max": value.max(axis=0),
    }


def resampled(
    curve: Curve, traced: CurveValues, resampling: Resampling
) -> Floats | None:
    """Return the mean curve of every resample of queries, float64 ``[resamples, grid]``.

    ``None`` where queries are not averaged but made one number by a median or the like.
    """
    rows = traced.has_value
    if traced.numerator is not None and traced.denominator is not None:
        numerator = traced.numerator[rows]
        denominator = traced.denominator[rows]
        return resampled_means(numerator, denominator, resampling)
    if not curve.averages:
        return None
    value = traced.value[rows]
    if not len(value):
        return np.full((resampling.resamples, value.shape[1]), np.nan)
    is_defined = ~np.isnan(value)
    if is_defined.all():
        return resampled_means(value, None, resampling)
    sums = np.where(is_defined, value, 0.0)
    return resampled_means(sums, is_defined.astype(np.float64), resampling)


def quantiles(table: Floats, shares: tuple[float, float]) -> Floats:
    """Return quantiles of each column's numbers, float64 ``[2, columns]``; NaN where it has none."""
    if not np.isnan(table).any():
        return np.quantile(table, shares, axis=0)
    columns = []
    for column in table.T:
        values = column[~np.isnan(column)]
        ends = np.full(2, np.nan)
        if len(values):
            ends = np.quantile(values, shares)
        columns.append(ends)
    return np.stack(columns, axis=1)


def noise(value: Floats, below: float, resampling: Resampling) -> dict[str, float]:
    """Return how noisy a mean over queries is.

    Parameters
    ----------
    value
        float64 ``[queries]``, without NaN.
    below
        Queries under this value count as failed.
    resampling
        Resamples and confidence of the interval.

    Returns
    -------
    dict
        ``mean`` and its interval, ``sd``, ``se`` (SD / √n), ``cv`` (SD / mean), quartiles ``q25``,
        ``median``, ``q75`` and their range ``iqr``, ``min``, ``max``, the share of ``failed`` queries; NaN
        where there is none.
    """
    if not len(value):
        return dict.fromkeys(_FIGURES, math.nan)
    mean = math.fsum(value.tolist()) / len(value)
    sd = math.nan
    if len(value) > 1:
        sd = float(value.std(ddof=1))
    means = resampled_means(value[:, None], None, resampling)
    low, high = np.quantile(means[:, 0], resampling.ends)
    q25, median, q75 = np.quantile(value, (0.25, 0.5, 0.75))
    figures = {
        "mean": mean,
        "ci_low": low,
        "ci_high": high,
        "sd": sd,
        "se": sd / math.sqrt(len(value)),
        "cv": sd / mean if mean else math.nan,
        "q25": q25,
        "median": median,
        "q75": q75,
        "iqr": q75 - q25,
        "min": value.min(),
        "max": value.max(),
        "failed": (value < below).mean(),
    }
    return {name: float(figure) for name, figure in figures.items()}


Schema = dict[str, Any]
#: a row of one of them, by the names of its columns
Row = dict[str, Any]
_FRACTIONS: Final = {pl.Int64: pl.Float64, pl.List(pl.Int64): pl.List(pl.Float64)}

_RUN: Final[Schema] = {"run": pl.String, "curve": pl.String}
_PAIR: Final[Schema] = {"curve": pl.String, "run": pl.String, "other": pl.String}

POINTS: Final[Schema] = {
    "run": pl.String,
    "query_id": pl.String,
    "curve": pl.String,
    "x": pl.Float64,
    "y": pl.Float64,
}
COUNTS: Final[Schema] = {
    **_RUN,
    "n": pl.Int64,
    "n_missing": pl.Int64,
    "n_no_relevant": pl.Int64,
    "n_undefined": pl.Int64,
}
MEAN: Final[Schema] = {
    **_RUN,
    "x": pl.Float64,
    "mean": pl.Float64,
    "n": pl.Int64,
    "sd": pl.Float64,
    "se": pl.Float64,
    "band_low": pl.Float64,
    "band_high": pl.Float64,
    "min": pl.Float64,
    "max": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
}
MICRO: Final[Schema] = {**_RUN, "k": pl.Int64, "x": pl.Float64, "y": pl.Float64}
AREA: Final[Schema] = {
    **_RUN,
    **dict.fromkeys(("area", "ci_low", "ci_high"), pl.Float64),
}
_FIGURES: Final = (
    "mean",
    "ci_low",
    "ci_high",
    "sd",
    "se",
    "cv",
    "q25",
    "median",
    "q75",
    "iqr",
    "min",
    "max",
    "failed",
)
NOISE: Final[Schema] = {
    **_RUN,
    "measure": pl.String,
    "n": pl.Int64,
    **dict.fromkeys(_FIGURES, pl.Float64),
}
REACH: Final[Schema] = {
    **_RUN,
    "target": pl.Float64,
    "k": pl.Int64,
    "grows": pl.Boolean,
    "all_k": pl.List(pl.Int64),
    "ci_low": pl.Int64,
    "ci_high": pl.Int64,
    "never": pl.Float64,
}
CROSSINGS: Final[Schema] = {
    **_PAIR,
    "x": pl.Float64,
    "before": pl.String,
    "after": pl.String,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "found": pl.Float64,
}
DOMINANCE: Final[Schema] = {
    **_PAIR,
    "above": pl.Int64,
    "equal": pl.Int64,
    "below": pl.Int64,
    "dominates": pl.Boolean,
    "p": pl.Float64,
    "n": pl.Int64,
}
RACES: Final[Schema] = {
    **_PAIR,
    "target": pl.Float64,
    "k": pl.Int64,
    "k_other": pl.Int64,
    "sooner": pl.Float64,
    "same": pl.Float64,
    "later": pl.Float64,
}
WHICH_K: Final[Schema] = {
    "curve": pl.String,
    "k": pl.Int64,
    "n": pl.Int64,
    "pairs": pl.Int64,
    "apart": pl.Int64,
    "power": pl.Float64,
    "tau_deepest": pl.Float64,
    "tau_samples": pl.Float64,
    "tau_low": pl.Float64,
    "best": pl.String,
    "best_again": pl.Float64,
}


def frame_of(rows: Iterable[Row], schema: Schema) -> pl.DataFrame:
    """Return rows as a frame; NaN becomes null, and cutoffs are whole numbers unless budgets are not."""
    rows = list(rows)
    whole = [name for name, kind in schema.items() if kind == pl.Int64]
    fractions = any(isinstance(row[name], float) for row in rows for name in whole)
    if fractions:
        schema = {name: _FRACTIONS.get(kind, kind) for name, kind in schema.items()}
    frame = pl.DataFrame(rows, schema)
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


def curve_frame(
    run: str, curve: Curve, columns: Mapping[str, Any], schema: Schema
) -> pl.DataFrame:
    """Return arrays as a frame behind the names of run and curve; NaN becomes null."""
    frame = pl.DataFrame(dict(columns)).with_columns(
        pl.lit(run).alias("run"),
        pl.lit(str(curve)).alias("curve"),
        pl.col(pl.Float64).fill_nan(None),
    )
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())


def joined(parts: Iterable[pl.DataFrame], schema: Schema) -> pl.DataFrame:
    """Return frames one below the other."""
    return pl.concat([pl.DataFrame(schema=schema), *parts])


def points_frame(
    run: str, queries: pl.Series, curve: Curve, traced: CurveValues
) -> pl.DataFrame:
    """Return the points of every query that has a curve."""
    if traced.points is None:
        query, x, y = _on_grid(curve, traced)
    else:
        query = list_numbers(np.diff(traced.points.offsets))
        x = traced.points.x
        y = traced.points.y
    known = ~np.isnan(y)
    names = queries.cast(pl.String).gather(query[known])
    return curve_frame(
        run, curve, {"query_id": names, "x": x[known], "y": y[known]}, POINTS
    )


def _on_grid(curve: Curve, traced: CurveValues) -> tuple[Ints, Floats, Floats]:
    grid = curve.grid()
    count = len(traced.value)
    return (
        np.repeat(np.arange(count), len(grid)),
        np.tile(grid, count),
        traced.value.ravel(),
    )


Made = TypeVar("Made")


class RunCurves(Record):
    """One run's curves: queries, curves, and the measure that summarises each curve."""

    queries: pl.Series
    traced: Mapping[Curve, CurveValues]
    scored: Mapping[Measure, Scored]

    def summaries(self, curve: Curve) -> Floats:
        """Return the summary of each query's curve, NaN without a curve, float64 ``[queries]``."""
        traced = self.traced[curve]
        if isinstance(curve, AtK):
            return traced.value[:, -1]
        return np.where(traced.has_value, self.scored[curve.summary()].value, np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class MeanCurves:
    """Curves of one or more runs, without comparisons between runs."""

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
        parts = (
            points_frame(name, run.queries, *pair) for name, run, pair in self._each()
        )
        return joined(parts, POINTS)

    def counts(self) -> pl.DataFrame:
        """Return how many queries have a curve, and why others have none.

        Columns ``run``, ``curve``, ``n`` (queries with a curve), ``n_missing`` (of these, not answered
        by the run), ``n_no_relevant`` and ``n_undefined`` (queries without a curve).
        """
        rows = []
        for name, _, (curve, traced) in self._each():
            has = traced.has_value
            status = traced.status
            queries = {
                "n": has,
                "n_missing": has & (status == Status.missing),
                "n_no_relevant": ~has & (status == Status.no_relevant),
                "n_undefined": ~has & (status == Status.undefined),
            }
            row: Row = {"run": name, "curve": str(curve)}
            row |= {column: int(mask.sum()) for column, mask in queries.items()}
            rows.append(row)
        return frame_of(rows, COUNTS)

    # -- means -------------------------------------------------------------------------------------
    def mean(self) -> pl.DataFrame:
        """Return the macro curves: at each x the mean over queries, its spread and its interval.

        Returns
        -------
        polars.DataFrame
            ``run``, ``curve``, ``x``, ``mean``; ``n`` queries; ``sd`` and ``se`` over queries;
            ``band_low`` and ``band_high``, quantiles of the queries' own curves; ``min``, ``max``;
            ``ci_low`` and ``ci_high``, the pointwise bootstrap interval of the mean (null
            where queries are not averaged).
        """
        return self._once("mean", self._mean)

    def _mean(self) -> pl.DataFrame:
        parts = []
        for name, _, (curve, traced) in self._each():
            low, high = self._interval(name, curve)
            columns = {
                "x": curve.grid(),
                "mean": self._mean_of(name, curve),
                **spread(traced.value, self.resampling),
                "ci_low": low,
                "ci_high": high,
            }
            parts.append(curve_frame(name, curve, columns, MEAN))
        return joined(parts, MEAN)

    def _mean_of(self, name: str, curve: Curve) -> Floats:
        return self._once(
            ("mean", name, curve),
            lambda: mean_curve(curve, self.runs[name].traced[curve]),
        )

    def _resampled(self, name: str, curve: Curve) -> Floats | None:
        traced = self.runs[name].traced[curve]
        return self._once(
            ("resampled", name, curve),
            lambda: resampled(curve, traced, self.resampling),
        )

    def _interval(self, name: str, curve: Curve) -> tuple[Floats, Floats]:
        means = self._resampled(name, curve)
        if means is None:
            none = np.full(len(curve.grid()), np.nan)
            return none, none
        low, high = quantiles(means, self.resampling.ends)
        return low, high

    def micro(self) -> pl.DataFrame:
        """Return the micro curves: relevant documents of all queries pooled at each rank.

        Precision is Σ h_k / (k · queries), recall Σ h_k / Σ R.  Only PR has one; to pool
        another measure, use ``agg=pooled``.

        Returns
        -------
        polars.DataFrame
            ``run``, ``curve``, ``k``, ``x``, ``y``.
        """
        parts = []
        for name, _, (curve, traced) in self._each():
            if traced.micro is None:
                continue
            k, x, y = traced.micro.curve()
            columns = {"k": k, "x": x, "y": y}
            parts.append(curve_frame(name, curve, columns, MICRO))
        return joined(parts, MICRO)

    def noise(self, below: float = 0.1) -> pl.DataFrame:
        """Return how noisy the means are, by the measure that summarises a query's curve.

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
            row: Row = {
                "run": name,
                "curve": str(curve),
                "measure": str(curve.summary()),
                "n": len(value),
            }
            rows.append(row | noise(value, below, self.resampling))
        return frame_of(rows, NOISE)

    # -- what all share ----------------------------------------------------------------------------
    def _each(self) -> Iterator[tuple[str, RunCurves, tuple[Curve, CurveValues]]]:
        for name, run in self.runs.items():
            for curve in self.curves:
                yield name, run, (curve, run.traced[curve])

    def _once(self, key: object, make: Callable[[], Made]) -> Made:
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made
