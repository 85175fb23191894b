"""Counts of users by cohort and age, and the frames computed from them: periods, cohorts, curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.online.user_activity import LEFT_OUT, NO_COHORT, count_distinct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Ints
    from rankstone.online.periods import Window, Windows
    from rankstone.online.user_activity import People


#: bits per batch, one byte each
_MAX_BITS: Final = 1 << 24
#: the largest value of a byte
_MAX_BYTE: Final = 255


@dataclass(frozen=True)
class ObservedPeriods:
    """The periods that a log covers.

    Attributes
    ----------
    count
        Number of periods.
    since
        The first cohort to report.
    first_event
        The first period with an event; earlier ones were not observed.
    seen_from, seen_to
        The first and the last period that were observed completely.
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

    def covers(self, cohort: Ints, window: Window) -> Bools:
        """Return True for cohorts that were observed throughout a window; the others are censored."""
        return (cohort + window.first >= self.seen_from) & (
            cohort + window.known <= self.seen_to
        )


class CohortCounts(Record):
    """Counts of users by segment; periods and cohorts are numbered from 0.

    Attributes
    ----------
    size
        int64 ``[segments, periods]``: users of each cohort.
    active
        int64 ``[segments, cohorts, windows]``: of these, those active in each window of the whole curve.
    login
        int64 ``[segments, periods]``: users active in each period.
    login_new
        int64 ``[segments, periods]``: of these, those who are new in it.
    shared
        int64 ``[requested windows, 3, segments, segments]``: of users in two segments, how many there are,
        how many were active in the first of them, and in both.
    users, in_none, left_out, never, several, no_segment, unregistered
        Users; users (by segment) in no cohort, left out, and never active; users in several segments; users
        without a segment; users without a registration.
    logins, early, pairs
        Pairs of a user and a period: counted, before the registration, and all.
    """

    size: Ints
    active: Ints
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

    def __add__(self, other: CohortCounts) -> CohortCounts:
        """Return the sum of counts of disjoint sets of users."""
        return CohortCounts(
            **{
                name: getattr(self, name) + getattr(other, name)
                for name in self.__dataclass_fields__
            }
        )


def count(
    people: People, segments: int, windows: Windows, observed: ObservedPeriods
) -> CohortCounts:
    """Count users by segment, cohort and window."""
    every = windows.every(people.count)
    size = np.zeros((segments, people.count), np.int64)
    login = np.zeros_like(size)
    login_new = np.zeros_like(size)
    active = np.zeros((segments, people.count, len(every)), np.int64)
    early = 0
    kept = people.cohort != LEFT_OUT
    for group, cohort, bits in _batches(people):
        if cohort == NO_COHORT:
            login[group] += _column_sums(bits)
            continue
        early += int(bits[:, :cohort].sum(dtype=np.int64))
        size[group, cohort] += len(bits)
        sums = _column_sums(bits[:, cohort:])
        login[group, cohort:] += sums
        login_new[group, cohort] += sums[0]
        if windows.kind == "bracket":
            active[group, cohort] += [
                _active_in_window(bits, cohort, window).sum(dtype=np.int64)
                for window in every
            ]
        else:
            if windows.kind == "rolling":
                since = np.maximum.accumulate(bits[:, cohort:][:, ::-1], axis=1)[
                    :, ::-1
                ]
                sums = _column_sums(since)
            active[group, cohort, : len(sums)] += sums
    return CohortCounts(
        size,
        active,
        login,
        login_new,
        _shared_counts(people, segments, windows.requested, observed),
        users=count_distinct(people.user[kept]),
        in_none=int((people.cohort == NO_COHORT).sum()),
        left_out=int((~kept).sum()),
        never=int((kept & (people.first == people.count)).sum()),
        several=people.several,
        no_segment=int((kept & (people.segment == segments - 1)).sum())
        if segments > 1
        else 0,
        unregistered=people.unregistered,
        logins=int(login.sum()),
        early=early,
        pairs=int(np.bitwise_count(people.words).sum(dtype=np.int64)),
    )


def _column_sums(bits: NDArray[np.uint8]) -> Ints:
    """Return column sums, adding as many rows at a time as fit into a byte, which is several times faster."""
    whole = len(bits) // _MAX_BYTE * _MAX_BYTE
    parts = (
        bits[:whole].reshape(-1, _MAX_BYTE, bits.shape[1]).sum(axis=1, dtype=np.uint8)
    )
    sums: Ints = parts.sum(axis=0, dtype=np.int64) + bits[whole:].sum(
        axis=0, dtype=np.int64
    )
    return sums


def _active_in_window(
    bits: NDArray[np.uint8], cohort: int, window: Window
) -> NDArray[np.uint8]:
    """Return 1 for users who were active in a window, 0 for others: uint8 ``[people]``."""
    end = None if window.last is None else cohort + window.last + 1
    marks: NDArray[np.uint8] = bits[:, cohort + window.first : end].max(
        axis=1, initial=0
    )
    return marks


def _batches(people: People) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
    """Yield segment, cohort and activity bits, in batches of people who share both."""
    if not len(people):
        return
    key = people.segment * (people.count + 2) + people.cohort + 2
    order = np.argsort(key, kind="stable")
    place = np.empty(len(order), np.int64)  # of each person in sorted order
    place[order] = np.arange(len(order))
    of_row = place[people.owner]
    rows = np.argsort(of_row, kind="stable")
    begins = np.searchsorted(of_row[rows], np.arange(len(order) + 1))
    ordered = key[order]
    borders = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    most = max(1, _MAX_BITS // people.count)
    for start, end in zip(borders, [*borders[1:], len(order)], strict=True):
        segment, cohort = divmod(int(ordered[start]), people.count + 2)
        if cohort - 2 == LEFT_OUT:
            continue
        for part in range(int(start), int(end), most):
            stop = min(part + most, int(end))
            present = rows[begins[part] : begins[stop]]
            yield (
                segment,
                cohort - 2,
                people.bits(present, stop - part, of_row[present] - part),
            )


def _shared_counts(
    people: People, segments: int, windows: Sequence[Window], observed: ObservedPeriods
) -> Ints:
    """Count users in several segments: in both, active in one, active in both."""
    shared = np.zeros((len(windows), 3, segments, segments), np.int64)
    persons = (
        np.bincount(people.user, minlength=1)[people.user]
        if len(people)
        else people.user
    )
    several = np.flatnonzero((persons > 1) & (people.cohort >= 0))
    if not len(several):
        return shared
    most = max(1, _MAX_BITS // max(people.count, segments))
    begins = np.searchsorted(
        people.owner, np.arange(len(people) + 1)
    )  # rows are sorted by person
    borders = np.flatnonzero(np.diff(people.user[several], prepend=-1))
    starts = borders[:: max(1, most // segments)]
    for start, end in zip(starts, [*starts[1:], len(several)], strict=True):
        present = several[start:end]
        lengths = begins[present + 1] - begins[present]
        local = np.repeat(np.arange(len(present)), lengths)
        rows = np.arange(len(local)) + np.repeat(
            begins[present] - (np.cumsum(lengths) - lengths), lengths
        )
        bits = people.bits(rows, len(present), local)
        user = np.unique(people.user[present], return_inverse=True)[1]
        cohort = people.cohort[present]
        segment = people.segment[present]
        for index, window in enumerate(windows):
            there, returned = np.zeros((2, int(user.max()) + 1, segments))
            there[user, segment] = observed.covers(cohort, window)
            returned[user, segment] = (
                _returned(bits, cohort, window) * there[user, segment]
            )
            products = there.T @ there, returned.T @ there, returned.T @ returned
            shared[index] += np.stack(products).astype(np.int64)
    return shared


def _returned(
    bits: NDArray[np.uint8], cohort: Ints, window: Window
) -> NDArray[np.uint8]:
    """Return 1 for users who were active in a window, for people of different cohorts."""
    returned = np.zeros(len(bits), np.uint8)
    for period in np.unique(cohort):
        in_cohort = cohort == period
        returned[in_cohort] = _active_in_window(bits[in_cohort], int(period), window)
    return returned


def pooled(
    counts: CohortCounts,
    segment: int,
    place: int,
    window: Window,
    observed: ObservedPeriods,
) -> tuple[int, int]:
    """Return retained users and users, over all cohorts that were observed throughout a window."""
    known = observed.reported[observed.covers(observed.reported, window)]
    retained = counts.active[segment, known, place].sum()
    users = counts.size[segment, known].sum()
    return int(retained), int(users)
