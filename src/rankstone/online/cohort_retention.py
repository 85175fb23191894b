"""Retention, from a table of events to a result."""

from __future__ import annotations

from dataclasses import asdict
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._text import counted
from rankstone.errors import BadOption, BadValue, UsageError, between_0_and_1, one_of, printable
from rankstone.io.columns import with_csv
from rankstone.online.cohort_counts import Counts, Range, count
from rankstone.online.local_times import Clock, Reading, read_times
from rankstone.online.periods import Calendar, Windows
from rankstone.online.registrations import Registrations, check_policies, opened, registered
from rankstone.online.retention_audit import Span, Survey, as_date, as_day, audited, survey, values_of
from rankstone.online.retention_result import Retention
from rankstone.online.segments import Segments
from rankstone.online.user_activity import People, Plan, Policies, shares
from rankstone.stats.multiple_testing import CORRECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from rankstone.io.input_table import Progress

#: periods, and cells of triangles, that are counted at most
_MOST: Final = 10_000
_CELLS: Final = 50_000_000
#: whose a user is who has events in several segments
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
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Retention:
    """Say how many users come back, cohort by cohort.

    A user's cohort is the period of the first event, or of the registration where a table says so.  Retention
    after N periods is the share of a cohort that is seen again N periods later; cohorts that were not watched
    for so long are left out of it, and never count as 0.

    Parameters
    ----------
    events
        A table of ``user_id`` and ``time``, an event a row: a path, an address of a database, a frame of any
        library, a dict of columns.  It may be larger than memory.
    days
        Which N: ``"1,3,7,30"`` (what is usual, for days), ``"1..30"``, numbers; for brackets
        ``"1..7,8..14"`` or pairs.  Of weeks and months the same are counted in these.
    unit
        ``day``, ``week`` or ``month``, of the calendar in ``tz``.
    kind
        ``exact``: seen in that very period; ``rolling``: in that one or any later one; ``bracket``: in any
        period of the bracket.
    day_origin
        The number of the first period: 0, or 1.
    registrations
        A table of ``user_id`` and ``time``, a row a user: when everybody registered.
    by
        A column of the events, or else of the registrations, by whose values users are told apart.
    segments
        Of users with events in several segments: ``first``, everybody belongs to that of the first event;
        ``each``: a user is somebody else in each, with a cohort of their own.
    versus
        The segment that the others are held against; every two are compared unless given.
    tz
        The zone whose days count; that of the times themselves unless given.
    times_in
        The zone of times that are written without one; unless given they are taken as they are written.
    time_unit
        The unit of times that are numbers: ``s``, ``ms``, ``us`` or ``ns`` since 1970.
    week_start
        The day that a week begins with.
    start, end
        The first and the last day that count; events before and after are left out.  By default the day of
        the last event is the end of what was watched; weeks and months that end later are not complete.
    since
        The day that the first cohort begins with: who was there before is in none.
    invalid
        Rows without a user, or without a time that can be read: ``error``, or ``drop``.
    early
        Events before a user's registration: ``error``, ``drop`` or ``move`` (the registration).
    unregistered
        Users without a registration: ``error``, ``drop``, ``first`` (their first event is the registration)
        or ``earlier`` (they log in and return, and are in no cohort).
    duplicate_registrations
        Users who register on several days: ``error``, ``first`` or ``last``.
    confidence
        Of intervals; 1 less the alpha of the family of differences.  Their intervals are at the level at
        which the correction stops, and hold together with this confidence by ``bonferroni`` and ``sidak``
        alone.
    correction
        Of the differences' p-values: ``holm``, ``bonferroni``, ``holm_sidak``, ``sidak``, ``hochberg``,
        ``hommel``, ``bh``, ``by``, ``none``.
    columns
        {their name: our name}: ``{"uid": "user_id", "timestamp": "time"}``.
    csv_separator, decimal
        How CSV files are written, as for :func:`rankstone.evaluate`.
    format_in
        Format of the files; ``None`` goes by the suffix.
    progress
        Called with numbers of rows while they are read.

    Returns
    -------
    Retention
        Frames of periods, cohorts and the curve, differences of segments, charts, a page.

    Raises
    ------
    InputError
        When rows cannot be read, or say nothing, or contradict the registrations.
    UsageError
        When an option is not known, or says nothing about such times.

    Examples
    --------
    >>> log = {
    ...     "user_id": ["a", "b", "c", "d", "a", "b", "e", "a", "c", "a"],
    ...     "time": [f"2024-01-0{day}" for day in (1, 1, 1, 1, 2, 2, 2, 4, 4, 8)],
    ... }
    >>> found = retention(log, "1,3,7")
    >>> found.cohorts.filter(cohort=found.first, at="3").select("size", "retained", "rate").row(0)
    (4, 2, 0.5)
    """
    columns = with_csv(columns, csv_separator, decimal)
    calendar, windows = Calendar(unit, week_start), Windows.of(days, kind, unit=unit, origin=day_origin)
    clock, span = Clock(tz, times_in, time_unit), Span(as_day("start", start), as_day("end", end))
    policies = Policies(early, unregistered)
    check_policies(**asdict(policies), duplicate_registrations=duplicate_registrations)
    one_of("segments", segments, _SEGMENTS)
    one_of("correction", correction, CORRECTIONS)
    between_0_and_1("confidence", confidence)
    if versus is not None and by is None:
        raise UsageError(f"versus={printable(versus)}: users are not told apart", fix="by=COLUMN")
    tables = opened(events, registrations, by, columns=columns, format_in=format_in, progress=progress)
    reading = read_times(tables.events, clock)
    found = survey(tables.events, reading, span, invalid)
    values = (
        None if by is None or tables.segment_source is None else (by, values_of(tables.segment_source, by))
    )
    joined = None
    if tables.registrations is not None:
        on_it = values if tables.segment_source is tables.registrations else None
        joined = registered(
            tables.registrations,
            clock,
            span.end,
            invalid=invalid,
            duplicates=duplicate_registrations,
            by=on_it,
        )
        _same_calendar(reading, joined.reading)
    within, first = _range(calendar, found, joined, span, as_day("since", since))
    _check_size(within, windows, 1 if values is None else len(values[1]) + 1, calendar, found)
    of_events = values if tables.segment_source is tables.events else None
    each = segments == "each" and of_events is not None
    plan = Plan(tables.events, reading, calendar, first, within.count, span, of_events, each)
    counts = _counted(
        plan, found, joined, windows, within, policies, 1 if values is None else len(values[1]) + 1
    )
    segmented = Segments.of(values, counts)
    if versus is not None:
        segmented.place(versus)
    return Retention(
        counts=counts,
        segments=segmented,
        windows=windows,
        calendar=calendar,
        within=within,
        number=first,
        audit=audited(tables.events, found, reading, counts, joined, calendar, first, within, by),
        conventions={
            **asdict(calendar), "kind": kind, "day_origin": day_origin,
            "days": [window.at for window in windows.asked], "tz": reading.zone, "times_in": times_in,
            "start": _text(start), "end": _text(end), "since": _text(since), "invalid": invalid,
            **({} if by is None else {"by": by, "segments": segments, "correction": correction}),
            **({} if joined is None else asdict(policies)),
            **({} if joined is None else {"duplicate_registrations": duplicate_registrations}),
            "confidence": confidence,
        },
        inputs=tables.inputs,
        versus=versus,
    )  # fmt: skip


def _text(day: date | str | None) -> str | None:
    return None if day is None else str(day)


def _same_calendar(events: Reading, registrations: Reading) -> None:
    """Refuse days of two zones; dates, and times without a zone, are in the calendar they are written in."""
    zones = events.zone, registrations.zone
    if None not in zones and zones[0] != zones[1]:
        raise BadOption(
            f"events have days of {zones[0]}, registrations of {zones[1]}",
            fix=f"tz={zones[0]} brings both there",
        )


def _range(
    calendar: Calendar, found: Survey, joined: Registrations | None, span: Span, since: int | None
) -> tuple[Range, int]:
    """Return which periods there are and what they tell, and the number of the first."""

    def period(day: int) -> int:
        return calendar.of(as_date(day))

    first_day = found.first if span.start is None else span.start
    last_day = found.last if span.end is None else span.end
    days = (
        [first_day, last_day]
        if joined is None
        else [first_day, last_day, joined.survey.first, joined.survey.last]
    )
    first, last = period(min(days)), period(max(days))
    # without registrations a cohort begins with what is seen of it, however late its period is by then
    seen_from = period(first_day) if joined is None else period(first_day - 1) + 1
    return (
        Range(
            count=last - first + 1,
            since=0 if since is None else max(period(since) - first, 0),
            first_event=period(first_day) - first,
            seen_from=seen_from - first,
            seen_to=period(last_day + 1) - 1 - first,
        ),
        first,
    )


def _check_size(within: Range, windows: Windows, segments: int, calendar: Calendar, found: Survey) -> None:
    cells = segments * within.count * len(windows.every(within.count))
    if within.count > _MOST or cells > _CELLS:
        raise BadValue(
            f"{counted(within.count, calendar.unit)}, {counted(segments, 'segment')}: too large a triangle",
            given=f"events from {as_date(found.first)} to {as_date(found.last)}",
            expected=f"at most {_MOST:,} periods and {_CELLS:,} cells",
            fix="did a clock jump? start=… and end=… leave days out; unit=week or month makes fewer periods",
        )
    if within.since >= within.count:
        raise BadOption("since is after the last event", expected=f"a day up to {as_date(found.last)}")


def _counted(
    plan: Plan,
    found: Survey,
    joined: Registrations | None,
    windows: Windows,
    within: Range,
    policies: Policies,
    segments: int,
) -> Counts:
    """Count the people, a share of the users after the other."""
    periods = None if joined is None else joined.periods(plan.calendar, plan.first)
    users = found.users if joined is None else max(found.users, joined.users)

    def where(user: object) -> str:
        return plan.events.first(pl.col("user_id").eq(user))[0]

    def share(of: pl.Expr) -> Counts:
        made = plan.events.collect(plan.rows(of))
        if periods is not None:
            made = _joined(made, periods.filter(of).collect(), segments)
        people = People.of(made, plan).settled(policies, within.since, where)
        return count(people, segments, windows, within)

    return reduce(add, map(share, shares(users, plan.blocks)))


def _joined(rows: pl.DataFrame, registrations: pl.DataFrame, segments: int) -> pl.DataFrame:
    """Return rows with registrations; who was never seen has a row without bits."""
    both = rows.join(registrations, on="user_id", how="full", coalesce=True)
    fills: dict[str, Any] = {"block": 0, "segment": segments - 1, "least": 0, "most": 0}
    return both.with_columns(pl.col(name).fill_null(fills[name]) for name in fills if name in both.columns)
