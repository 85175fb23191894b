"""Times in all the forms that tables have them, as local days and as instants.

What a time means is said by its type or by its text, by an option, or by the size of the numbers where only
one unit gives years that anybody keeps logs of; the reading says which.  Nothing else is taken for granted:
a time without a zone stays in the calendar it is written in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._text import counted
from rankstone.errors import BadOption, BadValue, EmptyInput, InputError, nearest, one_of, printable

if TYPE_CHECKING:
    from rankstone.io.events import Events

#: unit of numbers → how many of them a second has
UNITS: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NAMES: Final = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
#: instants are counted in microseconds
_TICKS: Final = 10**6
#: so many a day has
DAY: Final = 86_400 * _TICKS
#: seconds since 1970 of 1980 and 2100: numbers of any other unit lie outside of these
_FROM, _TO = 315_532_800, 4_102_444_800
_FIRST_DATE, _LAST_DATE = 1900_01_01, 2100_12_31

_CLOCK: Final = r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?"
#: form of a text → what it looks like
_FORMS: Final = {
    "date": r"^\d{4}-\d{2}-\d{2}$",
    "local": f"^{_CLOCK}$",
    "zoned": rf"^{_CLOCK} ?([Zz]|UTC|GMT|[+-]\d{{2}}(:?\d{{2}})?)$",
    "compact": r"^(19|20)\d{6}$",
    "number": r"^-?\d+(\.\d+)?([eE]\+?\d+)?$",
}
_TOLD: Final = {
    "date": "dates",
    "local": "times without a zone",
    "zoned": "times with a zone",
    "compact": "dates without dashes",
    "number": "numbers",
    "other": "texts that are no time",
}


@dataclass(frozen=True)
class Clock:
    """How times are to be understood.

    Attributes
    ----------
    tz
        The zone whose calendar days count; of the times themselves unless given.
    times_in
        The zone that times without one are in.
    time_unit
        The unit of numbers, of :data:`UNITS`; recognised by their size unless given.
    """

    tz: str | None = None
    times_in: str | None = None
    time_unit: str | None = None

    def __post_init__(self) -> None:
        """Refuse zones and units that there are not."""
        for option in ("tz", "times_in"):
            _check_zone(option, getattr(self, option))
        if self.time_unit is not None:
            one_of("time_unit", self.time_unit, UNITS)


def _check_zone(option: str, zone: str | None) -> None:
    from zoneinfo import available_timezones

    if zone is None or zone in available_timezones():
        return
    close = nearest(zone, available_timezones(), n=1)
    raise BadOption(
        f"{option}={printable(zone)!r} is no time zone",
        expected="a name such as UTC, Europe/Berlin, America/New_York",
        fix=f"did you mean {close[0]}?" if close else None,
    )


@dataclass(frozen=True, eq=False)
class Reading:
    """How the times of a table are read.

    Attributes
    ----------
    day
        The local calendar day, as days since 1970 (``Int32``); null where a time cannot be read.
    instant
        Microseconds since 1970 (``Int64``), to tell which of two events was first.
    zone
        The zone whose days they are; ``None`` for the calendar they are written in.
    description
        What they were, as a sentence has it.
    twice
        Whether a local time came twice, when the clock was put back; ``None`` where that does not matter.
    """

    day: pl.Expr
    instant: pl.Expr
    zone: str | None
    description: str
    twice: pl.Expr | None = None


def read_times(events: Events, clock: Clock) -> Reading:
    """Say how the column ``time`` of a table is read; look at it where its type does not tell."""
    dtype, time = events.schema["time"], pl.col("time")
    if isinstance(dtype, pl.Date):
        return _dates(time, clock, events.source, "dates")
    if isinstance(dtype, pl.Datetime):
        if dtype.time_zone is None:
            return _local(time, clock, events.source, "times without a zone")
        return _zoned(time, clock, dtype.time_zone, f"times in {dtype.time_zone}")
    if dtype.is_numeric():
        return _numbers(events, time, clock)
    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        return _texts(events, time.cast(pl.String).str.strip_chars(), clock)
    if isinstance(dtype, pl.Null):
        raise _nothing(events)
    raise InputError(
        f"time holds {dtype}",
        where=events.source,
        expected="dates, times, numbers since 1970, or ISO 8601 texts",
    )


def _dates(date: pl.Expr, clock: Clock, source: str, description: str) -> Reading:
    asked = {"tz": clock.tz, "times_in": clock.times_in, "time_unit": clock.time_unit}
    for option, value in asked.items():
        if value is not None:
            raise BadOption(
                f"{option}={value}: these are dates, which have neither a zone nor a unit",
                where=source,
                fix=f"leave {option}={value} out",
            )
    day = date.cast(pl.Int32)
    return Reading(day, day.cast(pl.Int64) * DAY, None, description)


def _local(time: pl.Expr, clock: Clock, source: str, description: str) -> Reading:
    """Read wall clock times; an hour that is there twice, when a clock was put back, is the first."""
    wall = time.cast(pl.Datetime("us"))
    if clock.times_in in (None, clock.tz) or clock.tz is None:
        if clock.times_in is None and clock.tz is not None:
            raise BadOption(
                f"tz={clock.tz}: these times have no zone that they could be brought from",
                where=source,
                fix=f"times_in={clock.tz} if they are local already, times_in=UTC if they are UTC",
            )
        description = f"{description}, taken as {clock.times_in}" if clock.times_in else description
        return Reading(_day(wall), wall.to_physical(), clock.times_in, description)
    zone: Any = clock.times_in
    first = wall.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    last = wall.dt.replace_time_zone(zone, ambiguous="latest", non_existent="null")
    read = _zoned(first, clock, clock.tz, f"{description}, taken as {clock.times_in}")
    return Reading(read.day, read.instant, read.zone, read.description, first != last)


def _zoned(time: pl.Expr, clock: Clock, zone: str, description: str) -> Reading:
    wanted = clock.tz or zone
    instant = time.cast(pl.Datetime("us", zone))
    return Reading(_day(instant.dt.convert_time_zone(wanted)), instant.to_physical(), wanted, description)


def _day(time: pl.Expr) -> pl.Expr:
    return time.dt.date().cast(pl.Int32)


# -- numbers -----------------------------------------------------------------------------------------------
def _numbers(events: Events, number: pl.Expr, clock: Clock) -> Reading:
    """Read numbers since 1970, or dates such as 20240131."""
    value = number.cast(pl.Float64, strict=False)
    value = pl.when(value.is_finite()).then(value)
    low, high = events.collect(events.frame.select(value.min().alias("low"), value.max().alias("high"))).row(
        0
    )
    if low is None:
        raise _nothing(events)
    unit, recognised = clock.time_unit, ""
    if unit is None:
        if low >= _FIRST_DATE and high <= _LAST_DATE:
            date = value.cast(pl.Int64).cast(pl.String).str.to_date("%Y%m%d", strict=False)
            return _dates(date, clock, events.source, "dates without dashes (recognised)")
        fits = [name for name, per in UNITS.items() if _FROM * per <= low and high <= _TO * per]
        if not fits:
            raise _no_unit(events, value, low, high)
        unit, recognised = fits[0], " (recognised by their size)"
    whole = events.schema["time"].is_integer()
    ticks = _to_ticks(number.cast(pl.Int64) if whole else value, UNITS[unit], whole=whole)
    time = ticks.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    return _zoned(time, clock, "UTC", f"{_NAMES[unit]} since 1970{recognised}")


def _to_ticks(number: pl.Expr, per_second: int, *, whole: bool) -> pl.Expr:
    if per_second <= _TICKS:
        scaled = number * (_TICKS // per_second)
    else:
        scaled = number // (per_second // _TICKS) if whole else number / (per_second // _TICKS)
    return scaled if whole else scaled.round().cast(pl.Int64, strict=False)


def _no_unit(events: Events, value: pl.Expr, low: float, high: float) -> BadValue:
    place, _ = events.first(value == low)
    return BadValue(
        f"no unit makes years from 1980 to 2100 of all times: they are from {low:.15g} to {high:.15g}",
        where=place,
        expected=f"numbers since 1970 of one unit ({', '.join(UNITS)}), or dates such as 20240131",
        fix="time_unit=s (or ms, us, ns) says what they are; since=… then leaves out clocks that stood still",
    )


# -- texts -------------------------------------------------------------------------------------------------
def _texts(events: Events, text: pl.Expr, clock: Clock) -> Reading:
    """Read texts, all of one form."""
    forms = _count_forms(events, text)
    seen = {form: count for form, count in forms.items() if count and form != "other"}
    if not seen:
        raise _nothing(events, text)
    if set(seen) == {"compact", "number"}:  # then all are numbers
        seen = {"number": sum(seen.values())}
    if set(seen) == {"local", "zoned"} and clock.times_in is not None:
        return _mixed(text, clock, events.source)
    if len(seen) > 1:
        raise _several_forms(events, text, seen)
    (form,) = seen
    if form == "number":
        return _numbers(events, text, clock)
    if form == "zoned":
        return _zoned(_parse_zoned(text), clock, "UTC", "texts with a zone")
    if form == "local":
        return _local(_parse_local(text), clock, events.source, "texts without a zone")
    pattern = "%Y-%m-%d" if form == "date" else "%Y%m%d"
    return _dates(text.str.to_date(pattern, strict=False), clock, events.source, _TOLD[form])


def _count_forms(events: Events, text: pl.Expr) -> dict[str, int]:
    found = {form: text.str.contains(pattern) for form, pattern in _FORMS.items()}
    found["number"] &= ~found["compact"]
    found["other"] = ~pl.any_horizontal(*found.values())
    counts = [condition.sum().alias(form) for form, condition in found.items()]
    return events.collect(events.frame.select(counts)).row(0, named=True)


def _parse_local(text: pl.Expr) -> pl.Expr:
    plain = _plain(text)
    return plain.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")


def _parse_zoned(text: pl.Expr) -> pl.Expr:
    plain = _plain(text).str.replace(r" ?(Z|z|UTC|GMT)$", "+0000").str.replace(r"([+-]\d{2})$", "${1}00")
    return plain.str.to_datetime("%Y-%m-%d %H:%M:%S%.f%#z", strict=False, time_unit="us", time_zone="UTC")


def _plain(text: pl.Expr) -> pl.Expr:
    """Write a blank for T, a point for a comma, and seconds where there are none."""
    blank = text.str.replace(r"^(.{10})[Tt]", "${1} ").str.replace(",", ".", literal=True)
    return blank.str.replace(r"^(.{16})($|[^:])", "${1}:00$2")


def _mixed(text: pl.Expr, clock: Clock, source: str) -> Reading:
    """Read texts some of which have a zone; the others are in ``times_in``."""
    within = Clock(clock.tz or clock.times_in, clock.times_in)
    zoned = _zoned(_parse_zoned(text), within, "UTC", "")
    wall = _parse_local(text)
    if within.times_in == within.tz:  # instants are wanted here, to hold both kinds against one another
        zone: Any = within.times_in
        placed = wall.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
        local = Reading(_day(wall), placed.dt.convert_time_zone("UTC").to_physical(), within.tz, "")
    else:
        local = _local(wall, within, source, "")
    day, instant = pl.coalesce(zoned.day, local.day), pl.coalesce(zoned.instant, local.instant)
    description = f"texts, some with a zone, the others taken as {clock.times_in}"
    return Reading(day, instant, within.tz, description, local.twice)


def _several_forms(events: Events, text: pl.Expr, seen: dict[str, int]) -> InputError:
    shown = []
    for form, count in seen.items():
        place, row = events.first(text.str.contains(_FORMS[form]), text.alias("time"))
        shown.append(
            f"{counted(count, 'row')} of {_TOLD[form]}, such as {printable(row['time'], 40)} ({place})"
        )
    zones = set(seen) == {"local", "zoned"}
    return InputError(
        "times are of several forms",
        where=events.source,
        given="; ".join(shown),
        expected="one form throughout",
        fix="times_in=UTC (or another zone) says what those without a zone are"
        if zones
        else "write all of them one way",
    )


def _nothing(events: Events, text: pl.Expr | None = None) -> InputError:
    shown = pl.col("time") if text is None else text
    place, row = events.first(shown.is_not_null(), shown.alias("time"))
    if not row:
        some = events.collect(events.frame.head(1)).height
        return EmptyInput("there is no time in any row" if some else "there are no rows", where=events.source)
    return BadValue(
        "no time can be read",
        where=place,
        given=printable(row["time"], 60),
        expected="2024-01-31, 2024-01-31T18:30:00Z, 2024-01-31 18:30:00+01:00, or numbers since 1970",
    )
