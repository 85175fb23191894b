"""When users registered, where a table says so: then that makes their cohort, and not their first event.

Events and registrations, opened and brought to ids of one kind, and which of them knows the segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._text import counted
from rankstone.errors import DuplicateRows, MissingColumn, MixedIds, nearest, one_of, printable
from rankstone.io.events import Events, read_events
from rankstone.online.local_times import Clock, Reading, read_times
from rankstone.online.retention_audit import Span, Survey, survey
from rankstone.online.user_activity import code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.io.input_table import Progress
    from rankstone.online.periods import Calendar

#: what becomes of events before a user's registration
EARLY: Final = {
    "error": "refused",
    "drop": "left out",
    "move": "the first event is the registration",
}
#: what becomes of users that the table does not have
UNREGISTERED: Final = {
    "error": "refused",
    "drop": "left out",
    "first": "the first event is the registration",
    "earlier": "registered before all this: they log in and return, and are in no cohort",
}
#: what becomes of users that the table has more than once, on several days
TWICE: Final = {"error": "refused", "first": "the first day counts", "last": "the last day counts"}


def check_policies(**given: str) -> None:
    """Refuse a word that is none of a policy's."""
    known = {"early": EARLY, "unregistered": UNREGISTERED, "duplicate_registrations": TWICE}
    for option, value in given.items():
        one_of(option, value, known[option])


@dataclass(frozen=True, eq=False)
class Registrations:
    """A row a user.

    Attributes
    ----------
    events
        The table.
    survey
        What was found in it.
    users, twice
        How many users it is about, and how many of them stand in it more than once.
    frame
        ``user_id``, ``registered`` (days since 1970, ``Int32``) and, where it says so, ``segment``.
    reading
        How its times are read.
    """

    events: Events
    survey: Survey
    users: int
    twice: int
    frame: pl.LazyFrame
    reading: Reading

    def periods(self, calendar: Calendar, first: int) -> pl.LazyFrame:
        """Return the frame with the number of the period of registration, from ``first`` on."""
        number = calendar.number(pl.col("registered")) - first
        return self.frame.with_columns(number.cast(pl.Int32).alias("registered"))


def registered(
    table: Events,
    clock: Clock,
    end: int | None,
    *,
    invalid: str,
    duplicates: str,
    by: tuple[str, list[str]] | None,
) -> Registrations:
    """Look at a table of registrations, a row a user.

    Parameters
    ----------
    table, clock
        The table, and how times are to be understood.
    end
        The last day that counts, as days since 1970: who registers later is left out.
    invalid
        As for events.
    duplicates
        One of :data:`TWICE`.
    by
        The column of segments and its values, where it is one of this table.
    """
    reading = read_times(table, clock)
    day, span = reading.day, Span(end=end)
    found = survey(table, reading, span, invalid)
    kept = pl.col("user_id").is_not_null() & day.is_not_null() & span.holds(day)
    wanted = [pl.col("user_id"), day.alias("registered")]
    wanted += [] if by is None else [code(*by).alias("segment")]
    rows = table.frame.filter(kept).select(wanted)
    last = pl.col("registered").max() if duplicates == "last" else pl.col("registered").min()
    made = [last.alias("registered")]
    if by is not None:  # of a day's several the least, whatever the order of rows
        made.append(pl.col("segment").filter(pl.col("registered") == last).min())
    one = rows.group_by("user_id").agg(
        *made, pl.len().alias("rows"), pl.col("registered").n_unique().alias("days")
    )
    frame = table.collect(one)
    several = frame.filter(pl.col("days") > 1)
    if several.height and duplicates == "error":
        user = several["user_id"].min()
        place, _ = table.first(pl.col("user_id").eq(user))
        raise DuplicateRows(
            f"{counted(several.height, 'user')} on several days, such as {printable(user, 60)}",
            where=place,
            expected="a row a user",
            fix="duplicate_registrations=first (or last) says which of them counts",
        )
    twice = frame.filter(pl.col("rows") > 1).height
    return Registrations(table, found, frame.height, twice, frame.drop("rows", "days").lazy(), reading)


def alike(events: Events, table: Events) -> tuple[Events, Events]:
    """Return both tables with ids of one kind; bare text of a file may be a number elsewhere."""
    if events.schema["user_id"] == table.schema["user_id"]:
        return events, table
    if not (events.untyped or table.untyped):
        kinds = "; ".join(f"{one.source}: {one.schema['user_id']}" for one in (events, table))
        raise MixedIds(
            "user_id is of two kinds",
            given=kinds,
            expected="texts in both, or whole numbers in both",
            fix="convert one of them: cast to str, or to int",
        )
    return events.with_text_ids(), table.with_text_ids()


@dataclass(frozen=True, eq=False)
class Opened:
    """What there is to read.

    Attributes
    ----------
    events, registrations
        The tables; the second may be missing.
    segment_source
        The one of them that says which segment users belong to; ``None`` where nobody asks.
    """

    events: Events
    registrations: Events | None
    segment_source: Events | None

    @property
    def inputs(self) -> dict[str, str]:
        """Where they came from."""
        further = {} if self.registrations is None else {"registrations": self.registrations.source}
        return {"events": self.events.source, **further}


def opened(
    events: object,
    registrations: object,
    by: str | None,
    *,
    columns: Mapping[str, str] | None,
    format_in: str | None,
    progress: Progress | None,
) -> Opened:
    """Open the tables; the column ``by`` may be one of either, and is first looked for among the events."""

    def table(source: object, name: str) -> Events:
        further = () if by is None else (by,)
        return read_events(source, columns, format_in, name=name, further=further).watched(progress)

    log = table(events, "events")
    if registrations is None:
        return Opened(log, None, _segment_table(by, log))
    log, people = alike(log, table(registrations, "registrations"))
    return Opened(log, people, _segment_table(by, log, people))


def _segment_table(by: str | None, *tables: Events) -> Events | None:
    if by is None:
        return None
    for table in tables:
        if by in table.schema and by not in ("user_id", "time"):
            return table
    known = {name: None for table in tables for name in table.present}
    close = nearest(by, known, n=1)
    raise MissingColumn(
        f"there is no column {printable(by)}",
        where=", ".join(table.source for table in tables),
        given=f"columns {', '.join(printable(name, 40) for name in known)}",
        fix=f"did you mean {printable(close[0])}?" if close else None,
    )
