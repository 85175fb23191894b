"""Audit of a retention analysis: counts of rows, users and days, whatever was left out, and warnings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import InLines, counted, line, read_as, sentences
from rankstone.online.event_survey import EventSurvey, as_date

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from rankstone.online.cohort_counts import CohortCounts, ObservedPeriods
    from rankstone.online.registrations import Registrations
    from rankstone.online.user_activity import ActivityPlan

#: the unit in which logins are counted, singular and plural
_PAIR: Final = ("user and period", "pairs of user and period")
#: rows left out, by the reason: what an audit says of them
_LEFT_OUT: Final = {
    "no_user": {"says": "{no_user:row} without a user left out"},
    "no_time": {"says": "{no_time:row} without a time left out"},
    "unreadable": {"says": "{unreadable:row} with a time that cannot be read left out"},
    "outside": {"says": "{outside:row} before the start or after the end left out"},
}
#: a gap without events of more periods, and of a larger share of the log, gets a warning
_GAP, _SHARE = 30, 0.5


@dataclass(frozen=True)
class RegistrationsAudit:
    """Audit of the table of registrations.

    Attributes
    ----------
    rows, users
        Rows read, and their users.
    first, last
        The first and the last day.
    times
        How its times were read.
    no_user, no_time, unreadable, outside
        Rows left out: without a user, without a time, with an unreadable time, and before the start or after
        the end.
    repeated
        Users with more than one row.
    never
        Users with a registration and no event.
    early
        Pairs of a user and a period before the user's registration, left out.
    unregistered
        Users with events and no registration.
    """

    rows: int
    users: int
    first: date
    last: date
    times: str
    no_user: int = field(metadata=_LEFT_OUT["no_user"])
    no_time: int = field(metadata=_LEFT_OUT["no_time"])
    unreadable: int = field(metadata=_LEFT_OUT["unreadable"])
    outside: int = field(metadata=_LEFT_OUT["outside"])
    repeated: int = field(metadata={"says": "{repeated:user} more than once"})
    never: int = field(metadata={"says": "{never:user} without an event"})
    early: int = field(
        metadata={
            "says": "{early:user and period|pairs of user and period} before registration"
        }
    )
    unregistered: int = field(
        metadata={"says": "{unregistered:user} with events and no registration"}
    )

    def line(self) -> str:
        """Return the audit as one line of text."""
        return line(
            f"{counted(self.rows, 'row')}, {counted(self.users, 'user')}, {self.first} to {self.last}",
            self.times,
            sentences(self),
        )


@dataclass(frozen=True, repr=False)
class RetentionAudit(InLines):
    """Audit of the events.

    Attributes
    ----------
    source
        The name of the table.
    rows, users, logins
        Rows read; users in the rows used; pairs of a user and a period with an event.
    repeated
        Further rows of the same user and period, which count once.
    first, last
        The first and the last day.
    times
        How times were read.
    zone
        The time zone of days; ``None`` if days are as written.
    no_user, no_time, unreadable, outside
        Rows left out: without a user, without a time, with an unreadable time, and before the start or after
        the end.
    twice
        Rows with an ambiguous local time, when a clock was put back; the earlier one is used.
    in_no_cohort
        Users from before the first cohort.
    left_out
        Users left out.
    registrations
        The audit of the table of registrations.
    several_segments, no_segment
        Users with events in more than one segment, and users without one.
    warnings
        Possible problems.
    read_as
        File format details that were detected.
    """

    source: str
    rows: int
    users: int
    logins: int
    repeated: int = field(
        metadata={"says": "{repeated:repeat event} (same user, same period)"}
    )
    first: date
    last: date
    times: str
    zone: str | None
    no_user: int = field(metadata=_LEFT_OUT["no_user"])
    no_time: int = field(metadata=_LEFT_OUT["no_time"])
    unreadable: int = field(metadata=_LEFT_OUT["unreadable"])
    outside: int = field(metadata=_LEFT_OUT["outside"])
    twice: int = field(
        metadata={
            "says": "{twice:row} in an hour that occurs twice, taken as the first"
        }
    )
    in_no_cohort: int = field(
        metadata={"says": "{in_no_cohort:user} from before the first cohort"}
    )
    left_out: int = field(metadata={"says": "{left_out:user} left out"})
    registrations: RegistrationsAudit | None = None
    several_segments: int | None = field(
        default=None, metadata={"says": "{several_segments:user} in several segments"}
    )
    no_segment: int | None = field(
        default=None, metadata={"says": "{no_segment:user} without a segment"}
    )
    warnings: tuple[str, ...] = ()
    read_as: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the audit as lines of text."""
        events = line(
            f"{counted(self.rows, 'row')}, {counted(self.users, 'user')}, {self.first} to {self.last}",
            counted(self.logins, *_PAIR),
            f"{self.times}{'' if self.zone is None else f', days of {self.zone}'}",
            sentences(self),
            read_as(self.read_as),
        )
        more = (
            []
            if self.registrations is None
            else [f"registrations  {self.registrations.line()}"]
        )
        return [
            f"events  {events}",
            *more,
            *(f"warning  {sentence}" for sentence in self.warnings),
        ]


def make_audit(
    plan: ActivityPlan,
    surveyed: EventSurvey,
    counts: CohortCounts,
    registered: Registrations | None,
    observed: ObservedPeriods,
    by: str | None,
) -> RetentionAudit:
    """Return the audit of events and registrations."""
    left = (surveyed.no_user, surveyed.no_time, surveyed.unreadable, surveyed.outside)
    several = None
    no_segment = None
    if by is not None:
        several = counts.several
        no_segment = counts.no_segment
    return RetentionAudit(
        plan.events.source,
        surveyed.rows,
        counts.users,
        counts.logins,
        surveyed.rows - sum(left) - counts.pairs,
        as_date(surveyed.first),
        as_date(surveyed.last),
        plan.reading.description,
        plan.reading.zone,
        *left,
        surveyed.twice,
        counts.in_none,
        counts.left_out,
        None if registered is None else _registrations_audit(registered, counts),
        several,
        no_segment,
        (*_gap_warnings(counts, plan), *_incomplete_warnings(plan, observed, surveyed)),
        plan.events.read_as,
    )


def _registrations_audit(
    registered: Registrations, counts: CohortCounts
) -> RegistrationsAudit:
    surveyed = registered.survey
    return RegistrationsAudit(
        surveyed.rows,
        registered.users,
        as_date(surveyed.first),
        as_date(surveyed.last),
        registered.reading.description,
        surveyed.no_user,
        surveyed.no_time,
        surveyed.unreadable,
        surveyed.outside,
        registered.repeated,
        counts.never,
        counts.early,
        counts.unregistered,
    )


def _gap_warnings(counts: CohortCounts, plan: ActivityPlan) -> Iterator[str]:
    """Yield a warning on the longest gap without events, if it covers most of the log."""
    with_events = np.flatnonzero(counts.login.sum(axis=0))
    if len(with_events) < 2:  # noqa: PLR2004 - a gap needs two ends
        return
    steps = np.diff(with_events)
    longest = int(steps.argmax())
    gap = int(steps[longest])
    if gap > _GAP and gap > _SHARE * (with_events[-1] - with_events[0]):
        before, after = map(plan.start, with_events[longest : longest + 2].tolist())
        yield (
            f"no event for {counted(gap - 1, plan.calendar.unit)} between {before} and {after}: check "
            "for wrong times; the options start and end limit the days"
        )


def _incomplete_warnings(
    plan: ActivityPlan, observed: ObservedPeriods, surveyed: EventSurvey
) -> Iterator[str]:
    """Yield a warning if the last week or month is not complete."""
    unit = plan.calendar.unit
    if observed.seen_to < observed.count - 1 and unit != "day":
        last = plan.start(observed.count - 1)
        end = surveyed.last if plan.span.end is None else plan.span.end
        yield (
            f"the last {unit}, from {last}, is not complete by {as_date(end)} and counts as not "
            "observed; the option end says until when events were recorded"
        )
