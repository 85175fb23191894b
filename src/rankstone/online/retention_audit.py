"""Audit of a retention analysis: counts of rows, users and days, whatever was left out, and warnings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import InLines, counted, line, read_as, sentences
from rankstone.errors import (
    BadOption,
    BadValue,
    EmptyInput,
    UsageError,
    one_of,
    printable,
)
from rankstone.online.local_times import FIRST_DAY, LAST_DAY, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.io.events import Events
    from rankstone.online.cohort_counts import CohortCounts, ObservedPeriods
    from rankstone.online.local_times import TimeReading
    from rankstone.online.periods import Calendar
    from rankstone.online.registrations import Registrations

#: the unit in which logins are counted, singular and plural
_PAIR: Final = ("user and period", "pairs of user and period")
#: rows left out, by the reason: what an audit says of them
_LEFT_OUT: Final = {
    "no_user": {"says": "{no_user:row} without a user left out"},
    "no_time": {"says": "{no_time:row} without a time left out"},
    "unreadable": {"says": "{unreadable:row} with a time that cannot be read left out"},
    "outside": {"says": "{outside:row} before the start or after the end left out"},
}


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
        metadata={"says": "{repeated:row} beyond the first of a user and period"}
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


_EPOCH: Final = date(1970, 1, 1)
#: more values than this look like ids, not segments
_MOST_SEGMENTS: Final = 1_000


@dataclass(frozen=True)
class EventSurvey:
    """Counts of a table of events or registrations.

    Attributes
    ----------
    rows
        All rows.
    no_user, no_time, unreadable
        Rows without a user, without a time, and with an unreadable time.
    outside
        Rows before the start or after the end.
    twice
        Rows with an ambiguous local time, when a clock was put back; the earlier one is used.
    users
        An estimate of the number of users.
    first, last
        The first and the last day, as days since 1970.
    """

    rows: int
    no_user: int
    no_time: int
    unreadable: int
    outside: int
    twice: int
    users: int
    first: int
    last: int


@dataclass(frozen=True)
class Span:
    """The days to include, as days since 1970, both ends included; ``None`` for no limit.

    Attributes
    ----------
    start, end
        The first and the last day.
    """

    start: int | None = None
    end: int | None = None

    def includes(self, day: pl.Expr) -> pl.Expr:
        """Return True for days to include."""
        after = pl.lit(value=True) if self.start is None else day >= self.start
        return after & (pl.lit(value=True) if self.end is None else day <= self.end)


def survey_events(
    events: Events, reading: TimeReading, span: Span, invalid: str
) -> EventSurvey:
    """Count the rows of a table in one pass.

    Parameters
    ----------
    events, reading
        The table, and how its times are read.
    span
        The days to include.
    invalid
        Whether rows without a user or a readable time are an ``error``, or left out and counted (``drop``).
    """
    one_of("invalid", invalid, ("error", "drop"))
    day = reading.day
    user = pl.col("user_id")
    time = pl.col("time")
    kept = user.is_not_null() & day.is_not_null() & span.includes(day)
    bad = {
        "no_user": user.is_null(),
        "no_time": time.is_null(),
        "unreadable": time.is_not_null() & day.is_null(),
    }
    surveyed = events.collect(
        events.frame.select(
            pl.len().cast(pl.Int64).alias("rows"),
            *(
                condition.sum().cast(pl.Int64).alias(name)
                for name, condition in bad.items()
            ),
            (day.is_not_null() & ~span.includes(day))
            .sum()
            .cast(pl.Int64)
            .alias("outside"),
            (pl.lit(0) if reading.twice is None else reading.twice.sum())
            .cast(pl.Int64)
            .alias("twice"),
            user.filter(kept).approx_n_unique().cast(pl.Int64).alias("users"),
            day.filter(kept).min().alias("first"),
            day.filter(kept).max().alias("last"),
        )
    ).row(0, named=True)
    if invalid == "error":
        for name, condition in bad.items():
            if surveyed[name]:
                error = _invalid_row_error(events, name, condition, surveyed[name])
                if surveyed["first"] is not None:  # some rows would be left
                    error.fix = reading.advice
                raise error
    if surveyed["first"] is None:
        raise EmptyInput(
            "there is no event with a user and a time"
            + (" between start and end" if surveyed["outside"] else ""),
            where=events.source,
        )
    return EventSurvey(**surveyed)


def _invalid_row_error(
    events: Events, name: str, condition: pl.Expr, count: int
) -> BadValue:
    place, row = events.first(
        condition, pl.col("time").cast(pl.String), pl.col("user_id").cast(pl.String)
    )
    what = {
        "no_user": f"{counted(count, 'row')} without a user",
        "no_time": f"{counted(count, 'row')} without a time",
        "unreadable": f"{counted(count, 'row')} {UNREADABLE}",
    }[name]
    shown = {"no_user": None, "no_time": f"user {printable(row.get('user_id'), 60)}"}
    return BadValue(
        what,
        where=place,
        given=shown.get(name, printable(row.get("time"), 60)),
        expected="a user and a time in every row",
    )


def segment_values(events: Events, column: str) -> list[str]:
    """Return the sorted values of a column as strings, without nulls."""
    text = pl.col(column).cast(pl.String)
    surveyed = (
        events.collect(events.frame.select(text).unique().drop_nulls())[column]
        .sort()
        .to_list()
    )
    if len(surveyed) > _MOST_SEGMENTS:
        raise UsageError(
            f"{printable(column)} has {len(surveyed):,} values",
            expected=f"at most {_MOST_SEGMENTS:,} segments",
            fix="group the values into segments first, if they are ids",
        )
    return surveyed


def as_day(option: str, given: date | str | None) -> int | None:
    """Return a date given as an option, as days since 1970."""
    if given is None:
        return None
    try:
        day = (
            date.fromisoformat(given)
            if isinstance(given, str)
            else date(given.year, given.month, given.day)
        )
    except (ValueError, AttributeError):
        raise BadOption(
            f"{option}={printable(given)} is not a date",
            expected="a date such as 2024-01-31",
        ) from None
    since = (day - _EPOCH).days
    if not FIRST_DAY <= since <= LAST_DAY:
        raise BadOption(
            f"{option}={day} is out of range", expected="a date of the years 2 to 9998"
        )
    return since


def as_date(day: int) -> date:
    """Return days since 1970 as a date.

    >>> as_date(as_day("since", "2024-02-29") or 0)
    datetime.date(2024, 2, 29)
    """
    return _EPOCH + timedelta(days=day)


#: a gap without events of more periods, and of a larger share of the log, gets a warning
_GAP, _SHARE = 30, 0.5


def make_audit(
    events: Events,
    surveyed: EventSurvey,
    reading: TimeReading,
    counts: CohortCounts,
    registered: Registrations | None,
    calendar: Calendar,
    first: int,
    observed: ObservedPeriods,
    span: Span,
    by: str | None,
) -> RetentionAudit:
    """Return the audit of events and registrations."""
    left = (surveyed.no_user, surveyed.no_time, surveyed.unreadable, surveyed.outside)
    return RetentionAudit(
        events.source,
        surveyed.rows,
        counts.users,
        counts.logins,
        surveyed.rows - sum(left) - counts.pairs,
        as_date(surveyed.first),
        as_date(surveyed.last),
        reading.description,
        reading.zone,
        *left,
        surveyed.twice,
        counts.in_none,
        counts.left_out,
        None if registered is None else _registrations_audit(registered, counts),
        None if by is None else counts.several,
        None if by is None else counts.no_segment,
        (
            *_gap_warnings(counts, calendar, first),
            *_incomplete_warnings(calendar, first, observed, surveyed, span),
        ),
        events.read_as,
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


def _gap_warnings(
    counts: CohortCounts, calendar: Calendar, first: int
) -> Iterator[str]:
    """Yield a warning on the longest gap without events, if it covers most of the log."""
    with_events = np.flatnonzero(counts.login.sum(axis=0))
    if len(with_events) < 2:  # noqa: PLR2004 - a gap needs two ends
        return
    steps = np.diff(with_events)
    at = int(steps.argmax())
    if steps[at] > _GAP and steps[at] > _SHARE * (with_events[-1] - with_events[0]):
        before, after = (
            calendar.start(first + int(with_events[place])) for place in (at, at + 1)
        )
        yield (
            f"no event for {counted(int(steps[at]) - 1, calendar.unit)} between {before} and {after}: check "
            "for wrong times; the options start and end limit the days"
        )


def _incomplete_warnings(
    calendar: Calendar,
    first: int,
    observed: ObservedPeriods,
    surveyed: EventSurvey,
    span: Span,
) -> Iterator[str]:
    """Yield a warning if the last week or month is not complete."""
    if observed.seen_to < observed.count - 1 and calendar.unit != "day":
        last = calendar.start(first + observed.count - 1)
        end = surveyed.last if span.end is None else span.end
        yield (
            f"the last {calendar.unit}, from {last}, is not complete by {as_date(end)} and counts as not "
            "observed; the option end says until when events were recorded"
        )
