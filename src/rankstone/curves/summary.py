"""Heights of many queries as a mean curve with its spread, and as figures of noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankstone.curves.resampling import resampled_means

if TYPE_CHECKING:
    from rankstone.curves.resampling import Resampling
    from rankstone.hits.arrays import Floats
    from rankstone.measures.curves import Curve, Traced

__all__ = ["mean_curve", "noise", "quantiles", "resampled", "spread"]


def mean_curve(curve: Curve, traced: Traced) -> Floats:
    """Return the mean over the queries that have a value, float64 ``[grid]``; NaN where none has.

    Sums are exact, so this is the number ``evaluate`` gives for a measure at the same cutoff.
    """
    if traced.numerator is not None and traced.denominator is not None:
        return np.array(
            [_ratio(*pair) for pair in zip(traced.numerator.T, traced.denominator.T, strict=True)]
        )
    return np.array([curve.mean(column[~np.isnan(column)]) for column in traced.value.T])


def _ratio(numerator: Floats, denominator: Floats) -> float:
    norm = math.fsum(denominator.tolist())
    return math.fsum(numerator.tolist()) / norm if norm else math.nan


def spread(value: Floats, how: Resampling) -> dict[str, Floats]:
    """Return how queries differ at each place on the x axis.

    Parameters
    ----------
    value
        float64 ``[queries, grid]``, NaN for no value.
    how
        Which quantiles make the band.

    Returns
    -------
    dict
        ``n``, ``sd`` (of the sample, NaN for one query), ``se``, ``band_low``, ``band_high``,
        ``min``, ``max``; arrays ``[grid]``.
    """
    value = value[~np.isnan(value).all(axis=1)]
    if not np.isnan(value).any():
        return _spread(value, how)
    columns = [_spread(column[~np.isnan(column), None], how) for column in value.T]
    return {name: np.concatenate([column[name] for column in columns]) for name in columns[0]}


def _spread(value: Floats, how: Resampling) -> dict[str, Floats]:
    count, width = value.shape
    none = np.full(width, np.nan)
    sd = value.std(axis=0, ddof=1) if count > 1 else none
    low, high = np.quantile(value, how.band, axis=0) if count else (none, none)
    return {
        "n": np.full(width, count),
        "sd": sd,
        "se": sd / math.sqrt(count) if count else none,
        "band_low": low,
        "band_high": high,
        "min": value.min(axis=0) if count else none,
        "max": value.max(axis=0) if count else none,
    }


def resampled(curve: Curve, traced: Traced, how: Resampling) -> Floats | None:
    """Return the mean curve of every resample of queries, float64 ``[resamples, grid]``.

    ``None`` where queries are not averaged but made one number by a median or the like.
    """
    some = traced.has_value
    value = traced.value[some]
    if traced.numerator is not None and traced.denominator is not None:
        return resampled_means(traced.numerator[some], traced.denominator[some], how)
    if not curve.averages:
        return None
    if not len(value):
        return np.full((how.resamples, value.shape[1]), np.nan)
    known = ~np.isnan(value)
    if known.all():
        return resampled_means(value, None, how)
    return resampled_means(np.where(known, value, 0.0), known.astype(np.float64), how)


def quantiles(table: Floats, shares: tuple[float, float]) -> Floats:
    """Return quantiles of each column's numbers, float64 ``[2, columns]``; NaN where it has none."""
    if not np.isnan(table).any():
        return np.quantile(table, shares, axis=0)
    columns = [column[~np.isnan(column)] for column in table.T]
    none = np.full(2, np.nan)
    return np.stack([np.quantile(column, shares) if len(column) else none for column in columns], axis=1)


def noise(value: Floats, below: float, how: Resampling) -> tuple[float, ...]:
    """Return how noisy a mean over queries is.

    Parameters
    ----------
    value
        float64 ``[queries]``, without NaN.
    below
        Queries under this value count as failed.
    how
        Resamples and confidence of the interval.

    Returns
    -------
    tuple of float
        Mean and its interval, SD, SE (SD / √n), CV (SD / mean), quartiles 25, 50, 75 % and their range,
        least, largest, share of failed queries; NaN where there is none.
    """
    if not len(value):
        return (math.nan,) * 13
    mean = math.fsum(value.tolist()) / len(value)
    sd = float(value.std(ddof=1)) if len(value) > 1 else math.nan
    low, high = np.quantile(resampled_means(value[:, None], None, how)[:, 0], how.ends)
    q25, median, q75 = np.quantile(value, (0.25, 0.5, 0.75))
    figures = (
        *(mean, low, high, sd, sd / math.sqrt(len(value)), sd / mean if mean else math.nan),
        *(q25, median, q75, q75 - q25, value.min(), value.max(), (value < below).mean()),
    )
    return tuple(map(float, figures))
