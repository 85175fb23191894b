"""Tables of events and registrations: ids of one type, registration periods, and the table with segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import (
    DuplicateRows,
    MissingColumn,
    MixedIds,
    did_you_mean,
    one_of,
    printable,
)
from rankstone.io.events import Events, read_events
from rankstone.online.event_survey import EventSurvey, Span, survey_events
from rankstone.online.local_times import Clock, TimeReading, read_times
from rankstone.online.user_activity import segment_codes

if TYPE_CHECKING:
    from rankstone._basics import Columns, Progress
    from rankstone.online.periods import Calendar

#: treatment of events before a user's registration
EARLY: Final = {
    "error": "refused",
    "drop": "left out",
    "move": "the first event is the registration",
}
#: treatment of users without a registration
UNREGISTERED: Final = {
    "error": "refused",
    "drop": "left out",
    "first": "the first event is the registration",
    "earlier": "counted as active and returning, in no cohort",
}
#: treatment of users with registrations on several days
DUPLICATES: Final = {
    "error": "refused",
    "first": "the first day counts",
    "last": "the last day counts",
}


def check_policies(**policies: str) -> None:
    """Refuse unknown policies."""
    known = {
        "early": EARLY,
        "unregistered": UNREGISTERED,
        "duplicate_registrations": DUPLICATES,
    }
    for option, value in policies.items():
        one_of(option, value, known[option])


class Registrations(Record):
    """Registrations, one row per user.

    Attributes
    ----------
    events
        The table.
    survey
        Its counts.
    users, repeated
        The number of users, and of users with more than one row.
    frame
        ``user_id``, ``registered`` (days since 1970, ``Int32``) and, if the table has it, ``segment``.
    reading
        How its times are read.
    """

    events: Events
    survey: EventSurvey
    users: int
    repeated: int
    frame: pl.LazyFrame
    reading: TimeReading

    def periods(self, calendar: Calendar, first: int) -> pl.LazyFrame:
        """Return the frame with the period of registration, counted from ``first``."""
        number = calendar.number(pl.col("registered")) - first
        return self.frame.with_columns(number.cast(pl.Int32).alias("registered"))


def read_registrations(
    table: Events,
    clock: Clock,
    end: int | None,
    *,
    invalid: str,
    duplicates: str,
    by: tuple[str, list[str]] | None,
) -> Registrations:
    """Read a table of registrations.

    Parameters
    ----------
    table, clock
        The table, and how times are read.
    end
        The last day to include, as days since 1970; later registrations are left out.
    invalid
        As for events.
    duplicates
        One of :data:`TWICE`.
    by
        The column of segments and its values, if it is in this table.
    """
    reading = read_times(table, clock)
    day = reading.day
    span = Span(end=end)
    surveyed = survey_events(table, reading, span, invalid)
    kept = pl.col("user_id").is_not_null() & day.is_not_null() & span.includes(day)
    selected = [pl.col("user_id"), day.alias("registered")]
    selected += [] if by is None else [segment_codes(*by).alias("segment")]
    rows = table.frame.filter(kept).select(selected)
    last = (
        pl.col("registered").max()
        if duplicates == "last"
        else pl.col("registered").min()
    )
    aggregates = [last.alias("registered")]
    if (
        by is not None
    ):  # the smallest of several on one day, so that the order of rows does not matter
        aggregates.append(pl.col("segment").filter(pl.col("registered") == last).min())
    by_user = rows.group_by("user_id").agg(
        *aggregates,
        pl.len().alias("rows"),
        pl.col("registered").n_unique().alias("days"),
    )
    frame = table.collect(by_user)
    several = frame.filter(pl.col("days") > 1)
    if several.height and duplicates == "error":
        user = several["user_id"].min()
        place, _ = table.first(pl.col("user_id").eq(user))
        raise DuplicateRows(
            f"{counted(several.height, 'user')} on several days, such as {printable(user, 60)}",
            where=place,
            expected="one row per user",
            fix="use duplicate_registrations=first (or last)",
        )
    repeated = frame.filter(pl.col("rows") > 1).height
    return Registrations(
        table,
        surveyed,
        frame.height,
        repeated,
        frame.drop("rows", "days").lazy(),
        reading,
    )


def with_same_id_type(events: Events, table: Events) -> tuple[Events, Events]:
    """Return both tables with ids of one type; ids from text files match either type."""
    if events.schema["user_id"] == table.schema["user_id"]:
        return events, table
    if not (events.untyped or table.untyped):
        kinds = "; ".join(
            f"{side.source}: {side.schema['user_id']}" for side in (events, table)
        )
        raise MixedIds(
            "user_id is of two types",
            given=kinds,
            expected="texts in both, or whole numbers in both",
            fix="convert one of them: cast to str, or to int",
        )
    return events.with_text_ids(), table.with_text_ids()


class RetentionTables(Record):
    """The tables to read.

    Attributes
    ----------
    events, registrations
        The tables; the second is optional.
    segment_source
        The table with the column of segments; ``None`` without segments.
    """

    events: Events
    registrations: Events | None
    segment_source: Events | None

    @property
    def inputs(self) -> dict[str, str]:
        """The sources of the tables."""
        further = (
            {}
            if self.registrations is None
            else {"registrations": self.registrations.source}
        )
        return {"events": self.events.source, **further}


def open_tables(
    events: object,
    registrations: object,
    by: str | None,
    *,
    columns: Columns | None,
    format_in: str | None,
    progress: Progress | None,
) -> RetentionTables:
    """Open the tables; the column ``by`` is looked up in the events first, then in the registrations."""

    def table(source: object, name: str) -> Events:
        further = () if by is None else (by,)
        return read_events(
            source, columns, format_in, name=name, further=further
        ).watched(progress)

    log = table(events, "events")
    if registrations is None:
        return RetentionTables(log, None, _segment_table(by, log))
    log, people = with_same_id_type(log, table(registrations, "registrations"))
    return RetentionTables(log, people, _segment_table(by, log, people))


def _segment_table(by: str | None, *tables: Events) -> Events | None:
    if by is None:
        return None
    own = ("user_id", "time")
    for table in tables:
        if by in table.schema and by not in own:
            return table
    present = {name: None for table in tables for name in table.present}
    groups = [name for name in present if name not in own]
    problem = f"there is no column {printable(by)}"
    if by in own:
        problem = f"{by} makes no groups of users"
    raise MissingColumn(
        problem,
        where=", ".join(table.source for table in tables),
        given=f"columns {', '.join(printable(name, 40) for name in present)}",
        fix=did_you_mean(by, groups),
    )
