"""Counts of cohorts as tables: a row a period, a cohort or a point of the curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.stats.mean_intervals import estimates
from rankstone.stats.proportions import wilson
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Bools
    from rankstone.online.cohort_counts import CohortCounts, ObservedPeriods
    from rankstone.online.periods import Window
    from rankstone.online.segments import Segments


_CURVE: Final = {
    "at": pl.String(),
    **dict.fromkeys(("age", "cohorts", "censored", "users", "retained"), pl.Int64()),
    **dict.fromkeys(
        ("rate", "low", "high", "churn", "mean", "mean_low", "mean_high"), pl.Float64()
    ),
}


def periods(
    counts: CohortCounts,
    segments: Segments,
    starts: pl.Series,
    observed: ObservedPeriods,
) -> pl.DataFrame:
    """Return new, returning and active users by segment and period."""
    reported = observed.reported
    watched = reported >= observed.first_event
    frames = []
    for segment in segments.present:
        new = counts.size[segment, reported]
        login = counts.login[segment, reported]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(watched & (new > 0), login / new, np.nan)
        columns = {
            "period": starts.gather(reported),
            "new": pl.Series(new),
            "returning": _null_unless(
                watched, login - counts.login_new[segment, reported]
            ),
            "login": _null_unless(watched, login),
            "login_to_new_ratio": pl.Series(ratio).fill_nan(None),
            "complete": pl.Series(
                (reported >= observed.seen_from) & (reported <= observed.seen_to)
            ),
        }
        frames.append(
            pl.DataFrame({**segments.cells(segment, len(reported)), **columns})
        )
    return pl.concat(frames)


def cohorts(
    counts: CohortCounts,
    segments: Segments,
    windows: Sequence[Window],
    starts: pl.Series,
    observed: ObservedPeriods,
    confidence: float,
) -> pl.DataFrame:
    """Return retention by segment, cohort and window; the rate is null if the cohort is censored."""
    reported = observed.reported
    labels = pl.Series([window.at for window in windows], dtype=pl.String)
    known = np.stack(
        [observed.covers(reported, window) for window in windows], axis=1
    ).ravel()
    place = np.tile(np.arange(len(windows)), len(reported))
    ages = np.array([window.first for window in windows])
    frames = []
    for segment in segments.present:
        size = np.repeat(counts.size[segment, reported], len(windows))
        active = counts.active[segment, reported].ravel()
        there = known & (size > 0)
        low, high = wilson(
            np.where(there, active, 0), np.where(there, size, 0), confidence
        )
        columns = {
            "cohort": starts.gather(np.repeat(reported, len(windows))),
            "size": pl.Series(size),
            "at": labels.gather(place),
            "age": pl.Series(ages[place]),
            "retained": _null_unless(known, active),
            "rate": _null_unless(there, active / np.maximum(size, 1)),
            "low": pl.Series(low).fill_nan(None),
            "high": pl.Series(high).fill_nan(None),
            "censored": pl.Series(~known),
        }
        frames.append(pl.DataFrame({**segments.cells(segment, len(size)), **columns}))
    return pl.concat(frames)


def _null_unless(condition: Bools, values: NDArray[np.generic]) -> pl.Series:
    """Return values where a condition is true, else null."""
    return pl.select(pl.when(pl.Series(condition)).then(pl.Series(values))).to_series()


def curve(
    counts: CohortCounts,
    segments: Segments,
    windows: Sequence[Window],
    observed: ObservedPeriods,
    confidence: float,
) -> pl.DataFrame:
    """Return retention by segment and window: share of all users, and unweighted mean over cohorts."""
    rows = [
        (
            *segments.row_prefix(segment),
            *_curve_row(counts, segment, place, window, observed, confidence),
        )
        for segment in segments.present
        for place, window in enumerate(windows)
    ]
    return pl.DataFrame(rows, {**segments.schema, **_CURVE}, orient="row")


def _curve_row(
    counts: CohortCounts,
    segment: int,
    place: int,
    window: Window,
    observed: ObservedPeriods,
    confidence: float,
) -> tuple[object, ...]:
    present = observed.reported[counts.size[segment, observed.reported] > 0]
    used = present[observed.covers(present, window)]
    active = counts.active[segment, used, place]
    size = counts.size[segment, used]
    retained = int(active.sum())
    users = int(size.sum())
    head = window.at, window.first, len(used), len(present) - len(used), users, retained
    if not users:
        return (*head, *[None] * 7)
    low, high = wilson(retained, users, confidence)
    mean = estimates(Units.from_scores((active / size)[:, None]))[0]
    ends = [None if np.isnan(end) else end for end in mean.interval(confidence)]
    rate = retained / users
    return (*head, rate, float(low), float(high), 1 - rate, mean.value, *ends)
