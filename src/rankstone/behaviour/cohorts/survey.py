"""The first look at a table: how many rows there are, which of them say nothing, and what time they span."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadOption, BadValue, EmptyInput, UsageError, one_of, printable
from rankstone.words import counted

if TYPE_CHECKING:
    from rankstone.behaviour.times import Reading
    from rankstone.io import Events

__all__ = ["Span", "Survey", "as_date", "as_day", "survey", "values_of"]

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
