"""Retention of users by cohort, from a table of events."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import counted
from rankstone.errors import (
    BadOption,
    BadValue,
    UsageError,
    between_0_and_1,
    one_of,
    printable,
)
from rankstone.io.columns import with_csv
from rankstone.online.cohort_counts import CohortCounts, ObservedPeriods, count
from rankstone.online.event_survey import (
    EventSurvey,
    Span,
    as_date,
    as_day,
    segment_values,
    survey_events,
)
from rankstone.online.local_times import Clock, TimeReading, read_times
from rankstone.online.periods import Calendar, Windows
from rankstone.online.registrations import (
    Registrations,
    check_policies,
    open_tables,
    read_registrations,
)
from rankstone.online.retention_audit import make_audit
from rankstone.online.retention_result import Retention
from rankstone.online.segments import Segments
from rankstone.online.user_activity import ActivityPlan, People, Policies, user_shares
from rankstone.stats.multiple_testing import CORRECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from rankstone._basics import Columns, Progress
    from rankstone.online.registrations import RetentionTables


#: limits on the number of periods and of cells of cohort triangles
_MOST: Final = 10_000
_CELLS: Final = 50_000_000
#: assignment of users with events in several segments
_SEGMENTS: Final = ("first", "each")


def retention(
    events: object,
    days: str | Iterable[object] | None = None,
    *,
    unit: str = "day",
    kind: str = "exact",
    day_origin: int = 0,
    registrations: object = None,
    by: str | None = None,
    segments: str = "first",
    versus: str | None = None,
    tz: str | None = None,
    times_in: str | None = None,
    time_unit: str | None = None,
    time_format: str | None = None,
    week_start: str = "monday",
    start: date | str | None = None,
    end: date | str | None = None,
    since: date | str | None = None,
    invalid: str = "error",
    early: str = "error",
    unregistered: str = "error",
    duplicate_registrations: str = "error",
    confidence: float = 0.95,
    correction: str = "holm",
    columns: Columns | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Retention:
    """Compute retention: the share of users who come back, by cohort and age.

    A user's cohort is the period of the first event, or of the registration if there is a table of those.
    Retention after N periods is the share of a cohort that is active N periods later; cohorts that were not
    observed for that long are left out, not counted as 0.

    Parameters
    ----------
    events
        A table of ``user_id`` and ``time``, one row per event: a path, a database address, a frame of any
        library, or a dict of columns.  It can be larger than memory.
    days
        The ages N, in units of ``unit``: ``"1,3,7,30"`` (the default for days), ``"1..30"``, or numbers; for
        brackets ``"1..7,8..14"`` or pairs.
    unit
        ``day``, ``week`` or ``month``, of the calendar in ``tz``.
    kind
        ``exact``: active in that period; ``rolling``: in that period or any later one; ``bracket``: in any
        period of the bracket.
    day_origin
        The number of the first period: 0, or 1.
    registrations
        A table of ``user_id`` and ``time``, one row per user: when each user registered.
    by
        A column of the events, or else of the registrations, that groups users into segments.
    segments
        For users with events in several segments: ``first`` assigns them to that of the first event;
        ``each`` counts them in each segment, with a cohort of its own.
    versus
        The segment that the others are compared with; by default all pairs are compared.
    tz
        The time zone of calendar days; by default that of the times themselves.
    times_in
        The time zone of times written without one; by default they are used as written.
    time_unit
        The unit of times that are numbers: ``s``, ``ms``, ``us`` or ``ns`` since 1970.
    time_format
        The format of times that are texts: ``"%d/%m/%Y %H:%M"``; by default recognised by all of them.
    week_start
        The first day of a week.
    start, end
        The first and last day to include; other events are left out.  By default observation ends on the day
        of the last event; weeks and months that end later are not complete.
    since
        The first day of the first cohort; users who were active before are in no cohort.
    invalid
        Rows without a user, or without a time that can be read: ``error``, or ``drop``.
    early
        Events before a user's registration: ``error``, ``drop``, or ``move`` the registration to the event.
    unregistered
        Users without a registration: ``error``, ``drop``, ``first`` (the first event is the registration) or
        ``earlier`` (they count as active and returning, but are in no cohort).
    duplicate_registrations
        Users who register on several days: ``error``, ``first`` or ``last``.
    confidence
        The confidence level of intervals; 1 minus the alpha of the family of differences, whose intervals are
        at the level at which the correction stops.  They are simultaneous only with ``bonferroni`` and
        ``sidak``.
    correction
        The correction of the differences' p-values: ``holm``, ``bonferroni``, ``holm_sidak``, ``sidak``,
        ``hochberg``, ``hommel``, ``bh``, ``by``, ``none``.
    columns
        {name in the table: our name}: ``{"uid": "user_id", "timestamp": "time"}``.
    csv_separator, decimal
        The CSV format, as for :func:`rankstone.evaluate`.
    format_in
        The file format; ``None`` to go by the suffix.
    progress
        Called with numbers of rows as they are read.

    Returns
    -------
    Retention
        Frames of periods, cohorts and the curve, differences of segments, charts, a page.

    Raises
    ------
    InputError
        When rows are invalid, or contradict the registrations.
    UsageError
        When an option is invalid, or does not apply to such times.

    Examples
    --------
    >>> log = {
    ...     "user_id": ["a", "b", "c", "d", "a", "b", "e", "a", "c", "a"],
    ...     "time": [f"2024-01-0{day}" for day in (1, 1, 1, 1, 2, 2, 2, 4, 4, 8)],
    ... }
    >>> result = retention(log, "1,3,7")
    >>> result.cohorts.filter(cohort=result.first, at="3").select("size", "retained", "rate").row(0)
    (4, 2, 0.5)
    """
    columns = with_csv(columns, csv_separator, decimal)
    calendar = Calendar(unit, week_start)
    windows = Windows.of(days, kind, unit=unit, origin=day_origin)
    clock = Clock(tz, times_in, time_unit, time_format)
    span = Span(as_day("start", start), as_day("end", end))
    policies = Policies(early, unregistered)
    check_policies(**asdict(policies), duplicate_registrations=duplicate_registrations)
    one_of("segments", segments, _SEGMENTS)
    one_of("correction", correction, CORRECTIONS)
    between_0_and_1("confidence", confidence)
    _check_versus(versus, by)

    tables = open_tables(
        events,
        registrations,
        by,
        columns=columns,
        format_in=format_in,
        progress=progress,
    )
    reading = read_times(tables.events, clock)
    survey = survey_events(tables.events, reading, span, invalid)
    names = _segment_names(tables, by)
    registered = _read_registered(
        tables, clock, span, reading, names, invalid, duplicate_registrations
    )

    observed, first = _observed_periods(calendar, survey, registered, span, since)
    plan = ActivityPlan(tables.events, reading, calendar, first, observed.count, span)
    if tables.segment_source is tables.events:
        plan = replace(plan, by=names, each=segments == "each")
    counts = _count_users(plan, survey, registered, windows, observed, policies, names)
    segmented = _segments_of(names, counts, versus)
    conventions = {
        **asdict(calendar),
        **_asked_windows(windows),
        "tz": reading.zone,
        "times_in": times_in,
        "start": _text(start),
        "end": _text(end),
        "since": _text(since),
        "invalid": invalid,
    }
    if by is not None:
        conventions |= {"by": by, "segments": segments, "correction": correction}
    if registered is not None:
        conventions |= asdict(policies)
        conventions["duplicate_registrations"] = duplicate_registrations
    return Retention(
        counts=counts,
        segments=segmented,
        windows=windows,
        calendar=calendar,
        observed=observed,
        number=first,
        audit=make_audit(plan, survey, counts, registered, observed, by),
        conventions={**conventions, "confidence": confidence},
        inputs=tables.inputs,
        versus=versus,
    )


def _check_versus(versus: str | None, by: str | None) -> None:
    """Refuse a segment to compare with where there are no segments."""
    if versus is not None and by is None:
        raise UsageError(
            f"versus={printable(versus)} needs segments",
            fix="use by=COLUMN, or leave out versus",
        )


def _segment_names(
    tables: RetentionTables, by: str | None
) -> tuple[str, list[str]] | None:
    """Return the column of segments and its values; ``None`` without segments."""
    if by is None or tables.segment_source is None:
        return None
    return by, segment_values(tables.segment_source, by)


def _read_registered(
    tables: RetentionTables,
    clock: Clock,
    span: Span,
    reading: TimeReading,
    segments: tuple[str, list[str]] | None,
    invalid: str,
    duplicates: str,
) -> Registrations | None:
    """Read the registrations, with the segments if these are in their table; ``None`` without a table.

    Raises
    ------
    BadOption
        When their days are of another time zone than those of the events.
    """
    if tables.registrations is None:
        return None
    if tables.segment_source is not tables.registrations:
        segments = None
    registered = read_registrations(
        tables.registrations,
        clock,
        span.end,
        invalid=invalid,
        duplicates=duplicates,
        by=segments,
    )
    _check_same_zone(reading, registered.reading)
    return registered


def _segments_of(
    names: tuple[str, list[str]] | None, counts: CohortCounts, versus: str | None
) -> Segments:
    """Return the segments; the one that others are compared with must be among them."""
    segmented = Segments.of(names, counts)
    if versus is not None:
        segmented.place(versus)
    return segmented


def _asked_windows(windows: Windows) -> dict[str, Any]:
    return {
        "kind": windows.kind,
        "day_origin": windows.origin,
        "days": [window.at for window in windows.requested],
    }


def _text(day: date | str | None) -> str | None:
    if day is None:
        return None
    return str(day)


def _check_same_zone(events: TimeReading, registrations: TimeReading) -> None:
    """Refuse days of two time zones; dates and times without a zone have none."""
    zones = events.zone, registrations.zone
    if None not in zones and zones[0] != zones[1]:
        raise BadOption(
            f"events have days of {zones[0]}, registrations of {zones[1]}",
            fix=f"use tz={zones[0]} for both",
        )


def _observed_periods(
    calendar: Calendar,
    survey: EventSurvey,
    registered: Registrations | None,
    span: Span,
    since: date | str | None,
) -> tuple[ObservedPeriods, int]:
    """Return the observed periods, and the number of the first."""
    since_day = as_day("since", since)

    def period(day: int) -> int:
        return calendar.of(as_date(day))

    first_day = survey.first if span.start is None else span.start
    last_day = survey.last if span.end is None else span.end
    days = [first_day, last_day]
    # without registrations a cohort begins with its first event, even in the middle of a period
    seen_from = period(first_day)
    if registered is not None:
        days += [registered.survey.first, registered.survey.last]
        seen_from = period(first_day - 1) + 1
    first = period(min(days))
    last = period(max(days))
    observed = ObservedPeriods(
        count=last - first + 1,
        since=0 if since_day is None else max(period(since_day) - first, 0),
        first_event=period(first_day) - first,
        seen_from=seen_from - first,
        seen_to=period(last_day + 1) - 1 - first,
    )
    return observed, first


def _check_size(
    observed: ObservedPeriods,
    windows: Windows,
    segments: int,
    calendar: Calendar,
    survey: EventSurvey,
) -> None:
    cells = segments * observed.count * len(windows.every(observed.count))
    if observed.count > _MOST or cells > _CELLS:
        raise BadValue(
            f"{counted(observed.count, calendar.unit)}, {counted(segments, 'segment')}: too many cells",
            given=f"events from {as_date(survey.first)} to {as_date(survey.last)}",
            expected=f"at most {_MOST:,} periods and {_CELLS:,} cells",
            fix="check for wrong times; limit days with start=… and end=…, or use longer periods",
        )
    if observed.since >= observed.count:
        raise BadOption(
            "since is after the last event",
            expected=f"a day up to {as_date(survey.last)}",
        )


def _count_users(
    plan: ActivityPlan,
    survey: EventSurvey,
    registered: Registrations | None,
    windows: Windows,
    observed: ObservedPeriods,
    policies: Policies,
    names: tuple[str, list[str]] | None,
) -> CohortCounts:
    """Return the counts, summed over shares of the users."""
    # users without a segment have a place of their own
    segments = 1 if names is None else 1 + len(names[1])
    _check_size(observed, windows, segments, plan.calendar, survey)
    periods = None
    users = survey.users
    if registered is not None:
        periods = registered.periods(plan.calendar, plan.first)
        users = max(users, registered.users)

    def where(user: object) -> str:
        return plan.events.first(pl.col("user_id").eq(user))[0]

    def counts_of(share: pl.Expr) -> CohortCounts:
        rows = plan.events.collect(plan.rows(share))
        if periods is not None:
            registrations = periods.filter(share).collect()
            rows = _join_registrations(rows, registrations, segments)
        people = People.of(rows, plan).with_cohorts(policies, observed.since, where)
        return count(people, segments, windows, observed)

    return reduce(add, map(counts_of, user_shares(users, plan.blocks)))


def _join_registrations(
    rows: pl.DataFrame, registrations: pl.DataFrame, segments: int
) -> pl.DataFrame:
    """Return rows with registrations; users who were never active have a row without bits."""
    both = rows.join(registrations, on="user_id", how="full", coalesce=True)
    fills: dict[str, Any] = {"block": 0, "segment": segments - 1, "least": 0, "most": 0}
    return both.with_columns(
        pl.col(name).fill_null(fills[name]) for name in fills if name in both.columns
    )
