"""What is in a table of events or registrations: counts of rows, and the time that they span."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import counted
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
    from rankstone.io.events import Events
    from rankstone.online.local_times import TimeReading


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
        included = pl.lit(value=True)
        if self.start is not None:
            included &= day >= self.start
        if self.end is not None:
            included &= day <= self.end
        return included


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
    twice = pl.lit(0)
    if reading.twice is not None:
        twice = reading.twice.sum()
    counts = {
        "rows": pl.len(),
        **{name: condition.sum() for name, condition in bad.items()},
        "outside": (day.is_not_null() & ~span.includes(day)).sum(),
        "twice": twice,
        "users": user.filter(kept).approx_n_unique(),
        "first": day.filter(kept).min(),
        "last": day.filter(kept).max(),
    }
    surveyed = events.collect(events.frame.select(**counts)).row(0, named=True)
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
    distinct = events.frame.select(text).unique().drop_nulls()
    values = events.collect(distinct)[column].sort().to_list()
    if len(values) > _MOST_SEGMENTS:
        raise UsageError(
            f"{printable(column)} has {len(values):,} values",
            expected=f"at most {_MOST_SEGMENTS:,} segments",
            fix="group the values into segments first, if they are ids",
        )
    return values


def as_day(option: str, value: date | str | None) -> int | None:
    """Return a date given as an option, as days since 1970."""
    if value is None:
        return None
    try:
        day = (
            date.fromisoformat(value)
            if isinstance(value, str)
            else date(value.year, value.month, value.day)
        )
    except (ValueError, AttributeError):
        raise BadOption(
            f"{option}={printable(value)} is not a date",
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
