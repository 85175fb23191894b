"""What was found in the events, in numbers: nothing is left out, merged or taken for granted in silence.

The audit of a count: what was left out, merged and taken for granted, and what deserves a second look.

The first look at a table: how many rows there are, which of them say nothing, and what time they span.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._text import InLines, counted, left_out, line, noted, plain, read_as
from rankstone.errors import BadOption, BadValue, EmptyInput, UsageError, one_of, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.io.events import Events
    from rankstone.online.cohort_counts import Counts, Range
    from rankstone.online.local_times import Reading
    from rankstone.online.periods import Calendar
    from rankstone.online.registrations import Registrations

#: what logins are counted in, one and many
_PAIR: Final = ("user and period", "pairs of user and period")


@dataclass(frozen=True)
class RegistrationsAudit:
    """What was found in the table of registrations.

    Attributes
    ----------
    rows, users
        Rows read, and users they are about.
    first, last
        The first and the last day.
    times
        How its times were read.
    no_user, no_time, unreadable, outside
        Rows left out: without a user, without a time, with one that cannot be read, before the start or
        after the end.
    repeated
        Users who stand in it more than once.
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
    no_user: int
    no_time: int
    unreadable: int
    outside: int
    repeated: int
    never: int
    early: int
    unregistered: int

    def line(self) -> str:
        """Return it as a sentence."""
        return line(
            f"{counted(self.rows, 'row')}, {counted(self.users, 'user')}, {self.first} to {self.last}",
            self.times,
            _left_out(self),
            noted(self.repeated, "user", "more than once"),
            noted(self.never, "user", "never seen"),
            noted(self.early, _PAIR[0], "before registration", _PAIR[1]),
            noted(self.unregistered, "user", "with events and no registration"),
        )


@dataclass(frozen=True, repr=False)
class Audit(InLines):
    """What was found in the events.

    Attributes
    ----------
    source
        Where they came from.
    rows, users, logins
        Rows read; users in what is left of them; pairs of a user and a period with an event.
    repeated
        Rows beyond the first of a user and period, exact copies among them: they count once.
    first, last
        The first and the last day.
    times
        How times were read.
    zone
        Whose days they are; ``None`` for the calendar they are written in.
    no_user, no_time, unreadable, outside
        Rows left out: without a user, without a time, with one that cannot be read, before the start or
        after the end.
    twice
        Rows with a local time that came twice, when a clock was put back: the first is taken.
    in_no_cohort
        Users who were there before the first cohort.
    left_out
        Users left out.
    registrations
        The same of the table of registrations.
    several_segments, no_segment
        Users with events in more than one segment, and users without one.
    warnings
        What deserves a second look.
    read_as
        What was guessed of how their files are written.
    """

    source: str
    rows: int
    users: int
    logins: int
    repeated: int
    first: date
    last: date
    times: str
    zone: str | None
    no_user: int
    no_time: int
    unreadable: int
    outside: int
    twice: int
    in_no_cohort: int
    left_out: int
    registrations: RegistrationsAudit | None = None
    several_segments: int | None = None
    no_segment: int | None = None
    warnings: tuple[str, ...] = ()
    read_as: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        found: dict[str, Any] = plain(self)
        return found

    def lines(self) -> list[str]:
        """Return it as a sentence for each table."""
        events = line(
            f"{counted(self.rows, 'row')}, {counted(self.users, 'user')}, {self.first} to {self.last}",
            counted(self.logins, *_PAIR),
            f"{self.times}{'' if self.zone is None else f', days of {self.zone}'}",
            noted(self.repeated, "row", "beyond the first of a user and period"),
            _left_out(self),
            noted(self.twice, "row", "in an hour that came twice, taken as its first"),
            noted(self.in_no_cohort, "user", "from before the first cohort"),
            noted(self.left_out, "user", "left out"),
            noted(self.several_segments, "user", "in several segments"),
            noted(self.no_segment, "user", "without a segment"),
            read_as(self.read_as),
        )
        more = [] if self.registrations is None else [f"registrations  {self.registrations.line()}"]
        return [f"events  {events}", *more, *(f"warning  {sentence}" for sentence in self.warnings)]


def _left_out(audit: Audit | RegistrationsAudit) -> list[str]:
    return left_out(
        {
            "without a user": audit.no_user,
            "without a time": audit.no_time,
            "with a time that cannot be read": audit.unreadable,
            "before the start or after the end": audit.outside,
        }
    )


_EPOCH: Final = date(1970, 1, 1)
#: values of a column that people are told apart by; more look like ids
_MOST_SEGMENTS: Final = 1_000


@dataclass(frozen=True)
class Survey:
    """What was found in a table.

    Attributes
    ----------
    rows
        All of them.
    no_user, no_time, unreadable
        Rows without a user, without a time, and with one that cannot be read.
    outside
        Rows before the start or after the end that was asked for.
    twice
        Rows whose local time came twice, when a clock was put back; the first is taken.
    users
        About how many users there are.
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
    """Days since 1970 that count, both ends among them; ``None`` where there is no end.

    Attributes
    ----------
    start, end
        The first and the last day.
    """

    start: int | None = None
    end: int | None = None

    def holds(self, day: pl.Expr) -> pl.Expr:
        """Say whether a day counts."""
        after = pl.lit(value=True) if self.start is None else day >= self.start
        return after & (pl.lit(value=True) if self.end is None else day <= self.end)


def survey(events: Events, reading: Reading, span: Span, invalid: str) -> Survey:
    """Look at a table once.

    Parameters
    ----------
    events, reading
        The table, and how its times are read.
    span
        The days that count.
    invalid
        Whether rows without a user or a time that can be read are an ``error``, or ``drop`` leaves them out.
    """
    one_of("invalid", invalid, ("error", "drop"))
    day, user, time = reading.day, pl.col("user_id"), pl.col("time")
    kept = user.is_not_null() & day.is_not_null() & span.holds(day)
    bad = {
        "no_user": user.is_null(),
        "no_time": time.is_null(),
        "unreadable": time.is_not_null() & day.is_null(),
    }
    found = events.collect(
        events.frame.select(
            pl.len().cast(pl.Int64).alias("rows"),
            *(condition.sum().cast(pl.Int64).alias(name) for name, condition in bad.items()),
            (day.is_not_null() & ~span.holds(day)).sum().cast(pl.Int64).alias("outside"),
            (pl.lit(0) if reading.twice is None else reading.twice.sum()).cast(pl.Int64).alias("twice"),
            user.filter(kept).approx_n_unique().cast(pl.Int64).alias("users"),
            day.filter(kept).min().alias("first"),
            day.filter(kept).max().alias("last"),
        )
    ).row(0, named=True)
    if invalid == "error":
        for name, condition in bad.items():
            if found[name]:
                raise _invalid(events, name, condition, found[name])
    if found["first"] is None:
        raise EmptyInput(
            "there is no event with a user and a time"
            + (" in the days that count" if found["outside"] else ""),
            where=events.source,
        )
    return Survey(**found)


def _invalid(events: Events, name: str, condition: pl.Expr, count: int) -> BadValue:
    place, row = events.first(condition, pl.col("time").cast(pl.String), pl.col("user_id").cast(pl.String))
    what = {
        "no_user": f"{counted(count, 'row')} without a user",
        "no_time": f"{counted(count, 'row')} without a time",
        "unreadable": f"{counted(count, 'row')} with a time that cannot be read, or that no clock has shown",
    }[name]
    shown = {"no_user": None, "no_time": f"user {printable(row.get('user_id'), 60)}"}
    return BadValue(
        what,
        where=place,
        given=shown.get(name, printable(row.get("time"), 60)),
        expected="a user and a time in every row",
        fix="invalid=drop leaves such rows out and counts them",
    )


def values_of(events: Events, column: str) -> list[str]:
    """Return the values of a column as texts, in their order, without the missing one."""
    text = pl.col(column).cast(pl.String)
    found = events.collect(events.frame.select(text).unique().drop_nulls())[column].sort().to_list()
    if len(found) > _MOST_SEGMENTS:
        raise UsageError(
            f"{printable(column)} has {len(found):,} values",
            expected=f"at most {_MOST_SEGMENTS:,} segments",
            fix="ids are no segments: make groups of them first",
        )
    return found


def as_day(option: str, given: date | str | None) -> int | None:
    """Return a date that was given as days since 1970."""
    if given is None:
        return None
    try:
        day = (
            date.fromisoformat(given) if isinstance(given, str) else date(given.year, given.month, given.day)
        )
    except (ValueError, AttributeError):
        raise BadOption(
            f"{option}={printable(given)} is no date", expected="a date such as 2024-01-31"
        ) from None
    return (day - _EPOCH).days


def as_date(day: int) -> date:
    """Return days since 1970 as a date.

    >>> as_date(as_day("since", "2024-02-29") or 0)
    datetime.date(2024, 2, 29)
    """
    return _EPOCH + timedelta(days=day)


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
        reading.description,
        reading.zone,
        *left,
        found.twice,
        counts.in_none,
        counts.left_out,
        None if joined is None else _registrations_audit(joined, counts),
        None if by is None else counts.several,
        None if by is None else counts.no_segment,
        (*_gaps(counts, calendar, first), *_unfinished(calendar, within, found)),
        events.read_as,
    )


def _registrations_audit(joined: Registrations, counts: Counts) -> RegistrationsAudit:
    found = joined.survey
    return RegistrationsAudit(
        found.rows,
        joined.users,
        as_date(found.first),
        as_date(found.last),
        joined.reading.description,
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
