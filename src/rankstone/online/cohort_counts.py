"""Counts of people: how large each cohort is, and how many of it were seen at which age.

Counts as frames: periods, the triangle of cohorts, the curve over ages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.online.user_activity import LEFT_OUT, NOBODY, distinct
from rankstone.stats.mean_intervals import estimates
from rankstone.stats.proportions import wilson
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankstone.online.periods import Window, Windows
    from rankstone.online.segments import Segments
    from rankstone.online.user_activity import People

    Ints = NDArray[np.int64]

#: bits that are looked at together, a byte each
_TOGETHER: Final = 1 << 24
#: the largest number of a byte
_BYTE: Final = 255


@dataclass(frozen=True)
class Range:
    """Which periods tell something.

    Attributes
    ----------
    count
        How many periods there are.
    since
        The first cohort that counts.
    first_event
        The first period with an event; before it nobody was watched.
    seen_from, seen_to
        The first and the last period whose events are all there.
    """

    count: int
    since: int
    first_event: int
    seen_from: int
    seen_to: int

    @property
    def reported(self) -> Ints:
        """The periods that are reported."""
        return np.arange(self.since, self.count)

    def knows(self, cohort: Ints, window: Window) -> NDArray[np.bool_]:
        """Say which cohorts were watched through a window; of the others nothing is known, least of all 0."""
        return (cohort + window.first >= self.seen_from) & (cohort + window.known <= self.seen_to)


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts, by segment first; periods and cohorts are numbered from 0.

    Attributes
    ----------
    size
        int64 ``[segments, periods]``: people of each cohort.
    seen
        int64 ``[segments, cohorts, windows]``: of these, who was seen in each window of the whole curve.
    login
        int64 ``[segments, periods]``: people seen in each period.
    login_new
        int64 ``[segments, periods]``: of these, who is new in it.
    shared
        int64 ``[windows asked, 3, segments, segments]``: of users that count in two segments, how many there
        are, how many were seen in the first of them, and in both.
    users, in_none, left_out, never, several, no_segment, unregistered
        How many people there are; how many of them are in no cohort, left out, never seen; how many users are
        in several segments, how many people in none; how many users have no registration.
    logins, early, pairs
        Pairs of a user and a period that count, those before a registration, and all there are.
    """

    size: Ints
    seen: Ints
    login: Ints
    login_new: Ints
    shared: Ints
    users: int
    in_none: int
    left_out: int
    never: int
    several: int
    no_segment: int
    unregistered: int
    logins: int
    early: int
    pairs: int

    def __add__(self, other: Counts) -> Counts:
        """Return the counts of both, of other users."""
        return Counts(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__}
        )


def count(people: People, segments: int, windows: Windows, within: Range) -> Counts:
    """Count people by segment, cohort and window."""
    every = windows.every(people.count)
    size = np.zeros((segments, people.count), np.int64)
    login, login_new = np.zeros_like(size), np.zeros_like(size)
    seen = np.zeros((segments, people.count, len(every)), np.int64)
    early, kept = 0, people.cohort != LEFT_OUT
    for group, cohort, bits in _groups(people):
        if cohort == NOBODY:
            login[group] += _columns(bits)
            continue
        early += int(bits[:, :cohort].sum(dtype=np.int64))
        size[group, cohort] += len(bits)
        found = _columns(bits[:, cohort:])
        login[group, cohort:] += found
        login_new[group, cohort] += found[0]
        if windows.kind == "bracket":
            seen[group, cohort] += [_marks(bits, cohort, window).sum(dtype=np.int64) for window in every]
        else:
            if windows.kind == "rolling":
                since = np.maximum.accumulate(bits[:, cohort:][:, ::-1], axis=1)[:, ::-1]
                found = _columns(since)
            seen[group, cohort, : len(found)] += found
    return Counts(
        size,
        seen,
        login,
        login_new,
        _shared(people, segments, windows.asked, within),
        users=distinct(people.user[kept]),
        in_none=int((people.cohort == NOBODY).sum()),
        left_out=int((~kept).sum()),
        never=int((kept & (people.first == people.count)).sum()),
        several=people.several,
        no_segment=int((kept & (people.segment == segments - 1)).sum()) if segments > 1 else 0,
        unregistered=people.unregistered,
        logins=int(login.sum()),
        early=early,
        pairs=int(np.bitwise_count(people.words).sum(dtype=np.int64)),
    )


def _columns(bits: NDArray[np.uint8]) -> Ints:
    """Return the sums of columns; as many rows at once as a byte holds, which is several times faster."""
    whole = len(bits) // _BYTE * _BYTE
    parts = bits[:whole].reshape(-1, _BYTE, bits.shape[1]).sum(axis=1, dtype=np.uint8)
    sums: Ints = parts.sum(axis=0, dtype=np.int64) + bits[whole:].sum(axis=0, dtype=np.int64)
    return sums


def _marks(bits: NDArray[np.uint8], cohort: int, window: Window) -> NDArray[np.uint8]:
    """Return who was seen in a window, uint8 ``[people]``."""
    end = None if window.last is None else cohort + window.last + 1
    marks: NDArray[np.uint8] = bits[:, cohort + window.first : end].max(axis=1, initial=0)
    return marks


def _groups(people: People) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
    """Yield segment, cohort and bits of people who have both in common, a part of them at a time."""
    if not len(people):
        return
    key = people.segment * (people.count + 2) + people.cohort + 2
    order = np.argsort(key, kind="stable")
    place = np.empty(len(order), np.int64)  # of each person in that order
    place[order] = np.arange(len(order))
    of_row = place[people.owner]
    rows = np.argsort(of_row, kind="stable")
    begins = np.searchsorted(of_row[rows], np.arange(len(order) + 1))
    ordered = key[order]
    borders = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    most = max(1, _TOGETHER // people.count)
    for start, end in zip(borders, [*borders[1:], len(order)], strict=True):
        segment, cohort = divmod(int(ordered[start]), people.count + 2)
        if cohort - 2 == LEFT_OUT:
            continue
        for part in range(int(start), int(end), most):
            stop = min(part + most, int(end))
            some = rows[begins[part] : begins[stop]]
            yield segment, cohort - 2, people.bits(some, stop - part, of_row[some] - part)


def _shared(people: People, segments: int, windows: Sequence[Window], within: Range) -> Ints:
    """Count users that are in several segments: how many in both, seen in the one, seen in both."""
    shared = np.zeros((len(windows), 3, segments, segments), np.int64)
    persons = np.bincount(people.user, minlength=1)[people.user] if len(people) else people.user
    several = np.flatnonzero((persons > 1) & (people.cohort >= 0))
    if not len(several):
        return shared
    most = max(1, _TOGETHER // max(people.count, segments))
    begins = np.searchsorted(people.owner, np.arange(len(people) + 1))  # rows stand in the order of people
    borders = np.flatnonzero(np.diff(people.user[several], prepend=-1))
    starts = borders[:: max(1, most // segments)]
    for start, end in zip(starts, [*starts[1:], len(several)], strict=True):
        some = several[start:end]
        lengths = begins[some + 1] - begins[some]
        local = np.repeat(np.arange(len(some)), lengths)
        rows = np.arange(len(local)) + np.repeat(begins[some] - (np.cumsum(lengths) - lengths), lengths)
        bits = people.bits(rows, len(some), local)
        user = np.unique(people.user[some], return_inverse=True)[1]
        cohort, segment = people.cohort[some], people.segment[some]
        for at, window in enumerate(windows):
            there, came = np.zeros((2, int(user.max()) + 1, segments))
            there[user, segment] = within.knows(cohort, window)
            came[user, segment] = _came(bits, cohort, window) * there[user, segment]
            products = there.T @ there, came.T @ there, came.T @ came
            shared[at] += np.stack(products).astype(np.int64)
    return shared


def _came(bits: NDArray[np.uint8], cohort: Ints, window: Window) -> NDArray[np.uint8]:
    """Return who was seen in a window, where everybody has a cohort of their own."""
    came = np.zeros(len(bits), np.uint8)
    for one in np.unique(cohort):
        mine = cohort == one
        came[mine] = _marks(bits[mine], int(one), window)
    return came


_CURVE: Final = {
    "at": pl.String(),
    **dict.fromkeys(("age", "cohorts", "censored", "users", "retained"), pl.Int64()),
    **dict.fromkeys(("rate", "low", "high", "churn", "mean", "mean_low", "mean_high"), pl.Float64()),
}


def periods(counts: Counts, segments: Segments, starts: pl.Series, within: Range) -> pl.DataFrame:
    """Return a row a segment and period: who is new in it, who returns, who logs in at all."""
    reported = within.reported
    watched = reported >= within.first_event
    frames = []
    for at in segments.present:
        new, login = counts.size[at, reported], counts.login[at, reported]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(watched & (new > 0), login / new, np.nan)
        columns = {
            "period": starts.gather(reported),
            "new": pl.Series(new),
            "returning": _where(watched, login - counts.login_new[at, reported]),
            "login": _where(watched, login),
            "login_to_new_ratio": pl.Series(ratio).fill_nan(None),
            "complete": pl.Series((reported >= within.seen_from) & (reported <= within.seen_to)),
        }
        frames.append(pl.DataFrame({**segments.cells(at, len(reported)), **columns}))
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
    reported, labels = within.reported, pl.Series([window.at for window in windows], dtype=pl.String)
    known = np.stack([within.knows(reported, window) for window in windows], axis=1).ravel()
    place = np.tile(np.arange(len(windows)), len(reported))
    ages = np.array([window.first for window in windows])
    frames = []
    for at in segments.present:
        size = np.repeat(counts.size[at, reported], len(windows))
        seen = counts.seen[at, reported].ravel()
        there = known & (size > 0)
        low, high = wilson(np.where(there, seen, 0), np.where(there, size, 0), confidence)
        columns = {
            "cohort": starts.gather(np.repeat(reported, len(windows))),
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
    some = within.reported[counts.size[at, within.reported] > 0]
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
    known = within.reported[within.knows(within.reported, window)]
    return int(counts.seen[at, known, place].sum()), int(counts.size[at, known].sum())
