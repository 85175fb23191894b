"""Counts as frames: periods, the triangle of cohorts, the curve over ages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.stats import Units, estimates, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankstone.behaviour.cohorts.counting import Counts, Range
    from rankstone.behaviour.cohorts.segments import Segments
    from rankstone.behaviour.cohorts.windows import Window

    Ints = NDArray[np.int64]

__all__ = ["cohorts", "curve", "periods", "pooled"]

_CURVE: Final = {
    "at": pl.String(),
    **dict.fromkeys(("age", "cohorts", "censored", "users", "retained"), pl.Int64()),
    **dict.fromkeys(("rate", "low", "high", "churn", "mean", "mean_low", "mean_high"), pl.Float64()),
}


def periods(counts: Counts, segments: Segments, starts: pl.Series, within: Range) -> pl.DataFrame:
    """Return a row a segment and period: who is new in it, who returns, who logs in at all."""
    told = within.told
    watched = told >= within.first_event
    frames = []
    for at in segments.present:
        new, login = counts.size[at, told], counts.login[at, told]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(watched & (new > 0), login / new, np.nan)
        columns = {
            "period": starts.gather(told),
            "new": pl.Series(new),
            "returning": _where(watched, login - counts.login_new[at, told]),
            "login": _where(watched, login),
            "login_to_new_ratio": pl.Series(ratio).fill_nan(None),
            "complete": pl.Series((told >= within.seen_from) & (told <= within.seen_to)),
        }
        frames.append(pl.DataFrame({**segments.cells(at, len(told)), **columns}))
    return pl.concat(frames)


def cohorts(
    counts: Counts,
    segments: Segments,
    windows: Sequence[Window],
    starts: pl.Series,
    within: Range,
    confidence: float,
) -> pl.DataFrame:
    """Return a row a segment, cohort and window; where nobody watched for so long there is no rate."""
    told, labels = within.told, pl.Series([window.at for window in windows], dtype=pl.String)
    known = np.stack([within.knows(told, window) for window in windows], axis=1).ravel()
    place = np.tile(np.arange(len(windows)), len(told))
    ages = np.array([window.first for window in windows])
    frames = []
    for at in segments.present:
        size = np.repeat(counts.size[at, told], len(windows))
        seen = counts.seen[at, told].ravel()
        there = known & (size > 0)
        low, high = wilson(np.where(there, seen, 0), np.where(there, size, 0), confidence)
        columns = {
            "cohort": starts.gather(np.repeat(told, len(windows))),
            "size": pl.Series(size),
            "at": labels.gather(place),
            "age": pl.Series(ages[place]),
            "retained": _where(known, seen),
            "rate": _where(there, seen / np.maximum(size, 1)),
            "low": pl.Series(low).fill_nan(None),
            "high": pl.Series(high).fill_nan(None),
            "censored": pl.Series(~known),
        }
        frames.append(pl.DataFrame({**segments.cells(at, len(size)), **columns}))
    return pl.concat(frames)


def _where(condition: NDArray[np.bool_], values: NDArray[np.generic]) -> pl.Series:
    """Return values where a condition holds, null elsewhere."""
    return pl.select(pl.when(pl.Series(condition)).then(pl.Series(values))).to_series()


def curve(
    counts: Counts, segments: Segments, windows: Sequence[Window], within: Range, confidence: float
) -> pl.DataFrame:
    """Return a row a segment and window: the share of all users (weighted), the mean over cohorts (not)."""
    rows = [
        (*segments.begin(at), *_row(counts, at, place, window, within, confidence))
        for at in segments.present
        for place, window in enumerate(windows)
    ]
    return pl.DataFrame(rows, {**segments.schema, **_CURVE}, orient="row")


def _row(
    counts: Counts, at: int, place: int, window: Window, within: Range, confidence: float
) -> tuple[object, ...]:
    some = within.told[counts.size[at, within.told] > 0]
    used = some[within.knows(some, window)]
    seen, size = counts.seen[at, used, place], counts.size[at, used]
    retained, users = int(seen.sum()), int(size.sum())
    head = window.at, window.first, len(used), len(some) - len(used), users, retained
    if not users:
        return (*head, *[None] * 7)
    low, high = wilson(retained, users, confidence)
    mean = estimates(Units.of((seen / size)[:, None]))[0]
    ends = [None if np.isnan(end) else end for end in mean.interval(confidence)]
    rate = retained / users
    return (*head, rate, float(low), float(high), 1 - rate, mean.value, *ends)


def pooled(counts: Counts, at: int, place: int, window: Window, within: Range) -> tuple[int, int]:
    """Return how many people came back in a window, and of how many: of all cohorts watched for so long."""
    known = within.told[within.knows(within.told, window)]
    return int(counts.seen[at, known, place].sum()), int(counts.size[at, known].sum())
