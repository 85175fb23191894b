"""The audit of a count: what was left out, merged and taken for granted, and what deserves a second look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.behaviour.cohorts.audit import Audit, RegistrationsAudit
from rankstone.behaviour.cohorts.survey import as_date
from rankstone.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.behaviour.cohorts.counting import Counts, Range
    from rankstone.behaviour.cohorts.periods import Calendar
    from rankstone.behaviour.cohorts.registered import Registrations
    from rankstone.behaviour.cohorts.survey import Survey
    from rankstone.behaviour.times import Reading
    from rankstone.io import Events

__all__ = ["audited"]

#: periods without an event that make one ask whether a clock jumped, and how large their share is
_GAP, _SHARE = 30, 0.5


def audited(
    events: Events,
    found: Survey,
    reading: Reading,
    counts: Counts,
    joined: Registrations | None,
    calendar: Calendar,
    first: int,
    within: Range,
    by: str | None,
) -> Audit:
    """Return what was found in the events, and in the registrations."""
    left = (found.no_user, found.no_time, found.unreadable, found.outside)
    return Audit(
        events.source,
        found.rows,
        counts.users,
        counts.logins,
        found.rows - sum(left) - counts.pairs,
        as_date(found.first),
        as_date(found.last),
        reading.told,
        reading.zone,
        *left,
        found.twice,
        counts.in_none,
        counts.left_out,
        None if joined is None else _of_registrations(joined, counts),
        None if by is None else counts.several,
        None if by is None else counts.no_segment,
        (*_gaps(counts, calendar, first), *_unfinished(calendar, within, found)),
        events.read_as,
    )


def _of_registrations(joined: Registrations, counts: Counts) -> RegistrationsAudit:
    found = joined.survey
    return RegistrationsAudit(
        found.rows,
        joined.users,
        as_date(found.first),
        as_date(found.last),
        joined.reading.told,
        found.no_user,
        found.no_time,
        found.unreadable,
        found.outside,
        joined.twice,
        counts.never,
        counts.early,
        counts.unregistered,
    )


def _gaps(counts: Counts, calendar: Calendar, first: int) -> Iterator[str]:
    """Yield a sentence about the longest time without an event, where it is most of all the time."""
    seen = np.flatnonzero(counts.login.sum(axis=0))
    if len(seen) < 2:  # noqa: PLR2004 - what a gap lies between
        return
    steps = np.diff(seen)
    at = int(steps.argmax())
    if steps[at] > _GAP and steps[at] > _SHARE * (seen[-1] - seen[0]):
        before, after = (calendar.start(first + int(seen[place])) for place in (at, at + 1))
        yield (
            f"no event for {counted(int(steps[at]) - 1, calendar.unit)} between {before} and {after}: did a "
            "clock jump? the options start and end leave days out"
        )


def _unfinished(calendar: Calendar, within: Range, found: Survey) -> Iterator[str]:
    """Say that the last week or month is not over, where cohorts wait for it."""
    if within.seen_to < within.count - 1 and calendar.unit != "day":
        yield (
            f"the last {calendar.unit} is not complete by {as_date(found.last)}: nobody counts as missed in "
            "it; the option end says how far events were recorded"
        )
