"""Times of any format as local days and as instants.

The meaning of a time is given by its type or text, by an option, or by the size of numbers if only one unit
gives plausible years; the reading says which.  A time without a time zone is used as written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import compress
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo, available_timezones

import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import (
    BadOption,
    BadValue,
    EmptyInput,
    InputError,
    did_you_mean,
    one_of,
    printable,
)
from rankstone.io.column_suggestions import words_of_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.io.events import Events

#: unit → number of units in a second
UNITS: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NAMES: Final = {
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}
#: instants are counted in microseconds
_TICKS: Final = 10**6
#: microseconds in a day
DAY: Final = 86_400 * _TICKS
#: 1980 and 2100 in seconds since 1970: times in another unit fall outside
_FROM, _TO = 315_532_800, 4_102_444_800
_FIRST_DATE, _LAST_DATE = 1900_01_01, 2100_12_31
_EPOCH: Final = date(1970, 1, 1)
#: days since 1970 that are used, the years 2 to 9998: calendars end one year before and after
FIRST_DAY: Final = (date(2, 1, 1) - _EPOCH).days
LAST_DAY: Final = (date(9998, 12, 31) - _EPOCH).days
#: what to do about rows that cannot be used
DROP: Final = "invalid=drop leaves such rows out and counts them"
#: what is wrong with the time of a row
UNREADABLE: Final = (
    "with a time that cannot be read, does not exist, or is not in the years 2 to 9998"
)

_CLOCK: Final = r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?"
#: format of a text → pattern
_FORMS: Final = {
    "date": r"^\d{4}-\d{2}-\d{2}$",
    "local": f"^{_CLOCK}$",
    "zoned": rf"^{_CLOCK} ?([Zz]|UTC|GMT|[+-]\d{{2}}(:?\d{{2}})?)$",
    "compact": r"^(19|20)\d{6}$",
    "number": r"^-?\d+(\.\d+)?([eE]\+?\d+)?$",
}
#: the beginning of a date whose parts are in some order
_PARTS: Final = r"^\d{1,4}[./-]\d{1,2}[./-]\d{2,4}(\D|$)"
_DAYS: Final = "%d-%m-%Y %m-%d-%Y %Y-%m-%d %d-%m-%y %m-%d-%y"
_CLOCKS: Final = ("", " %H:%M", " %H:%M:%S%.f", " %I:%M %p", " %I:%M:%S %p")
#: the count of texts that any format reads
_ANY: Final = "any of them"
_FORM_NAMES: Final = {
    "date": "dates",
    "local": "times without a zone",
    "zoned": "times with a zone",
    "compact": "dates without dashes",
    "number": "numbers",
    "other": "texts that are not times",
}


@dataclass(frozen=True)
class Clock:
    """Options of reading times.

    Attributes
    ----------
    tz
        The time zone of calendar days; by default that of the times themselves.
    times_in
        The time zone of times without one.
    time_unit
        The unit of numbers, one of :data:`UNITS`; by default recognised by their size.
    time_format
        The format of texts: ``%d/%m/%Y``; by default recognised by all of them.
    """

    tz: str | None = None
    times_in: str | None = None
    time_unit: str | None = None
    time_format: str | None = None

    def __post_init__(self) -> None:
        """Refuse unknown time zones, units and formats."""
        for option in ("tz", "times_in"):
            _check_zone(option, getattr(self, option))
        if self.time_unit is not None:
            one_of("time_unit", self.time_unit, UNITS)
        if self.time_format is not None:
            try:
                pl.select(_parsed(pl.lit(""), self.time_format))
            except (TypeError, pl.exceptions.ComputeError):
                raise BadOption(
                    f"time_format={printable(self.time_format)!r} is not a format of times",
                    expected="such as '%d/%m/%Y', '%d.%m.%y %H:%M', "
                    "'%m/%d/%Y %I:%M:%S %p', '%d %b %Y'",
                ) from None


def _check_zone(option: str, zone: str | None) -> None:
    if zone is None or zone in available_timezones():
        return
    raise BadOption(
        f"{option}={printable(zone)!r} is not a time zone",
        expected="a name such as UTC, Europe/Berlin, America/New_York",
        fix=did_you_mean(zone, available_timezones()),
    )


class TimeReading(Record):
    """How the times of a table are read.

    Attributes
    ----------
    day
        The local calendar day, as days since 1970 (``Int32``); null where a time cannot be read.
    instant
        Microseconds since 1970 (``Int64``), to order events.
    zone
        The time zone of days; ``None`` if days are as written.
    description
        The format of the times, in words.
    twice
        True for ambiguous local times, when a clock was put back; ``None`` if there can be none.
    advice
        What to do about times that cannot be read.
    """

    day: pl.Expr
    instant: pl.Expr
    zone: str | None
    description: str
    twice: pl.Expr | None = None
    advice: str = DROP


def read_times(events: Events, clock: Clock) -> TimeReading:
    """Return how the column ``time`` of a table is read: by its type, or by its values."""
    reading = _read(events, clock)
    used = reading.day.is_between(FIRST_DAY, LAST_DAY)
    return replace(reading, day=pl.when(used).then(reading.day))


def _read(events: Events, clock: Clock) -> TimeReading:
    dtype = events.schema["time"]
    time = pl.col("time")
    if clock.time_format is not None:
        text = time.cast(pl.String).str.strip_chars()
        return _of_format(text, clock.time_format, clock, events.source)
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
        raise _no_time_error(events)
    raise InputError(
        f"time holds {words_of_type(dtype)}",
        where=events.source,
        expected="dates, times, numbers since 1970, or ISO 8601 texts",
    )


def _dates(date: pl.Expr, clock: Clock, source: str, description: str) -> TimeReading:
    options = {"tz": clock.tz, "times_in": clock.times_in, "time_unit": clock.time_unit}
    for option, value in options.items():
        if value is not None:
            raise BadOption(
                f"{option}={value} does not apply: these are dates, without a time zone and a unit",
                where=source,
                fix=f"leave out {option}={value}",
            )
    day = date.cast(pl.Int32)
    return TimeReading(day, day.cast(pl.Int64) * DAY, None, description)


def _local(time: pl.Expr, clock: Clock, source: str, description: str) -> TimeReading:
    """Read times without a zone; of an hour that occurs twice, when a clock was put back, take the first."""
    wall = time.cast(pl.Datetime("us"))
    if clock.times_in in (None, clock.tz) or clock.tz is None:
        if clock.times_in is None and clock.tz is not None:
            raise BadOption(
                f"tz={clock.tz}: these times have no time zone to convert from",
                where=source,
                fix=f"add times_in={clock.tz} if they are local already, or times_in=UTC if they are UTC",
            )
        description = (
            f"{description}, taken as {clock.times_in}"
            if clock.times_in
            else description
        )
        return TimeReading(_day(wall), wall.to_physical(), clock.times_in, description)
    zone: Any = clock.times_in
    first = wall.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    last = wall.dt.replace_time_zone(zone, ambiguous="latest", non_existent="null")
    read = _zoned(first, clock, clock.tz, f"{description}, taken as {clock.times_in}")
    return TimeReading(
        read.day, read.instant, read.zone, read.description, first != last
    )


def _zoned(time: pl.Expr, clock: Clock, zone: str, description: str) -> TimeReading:
    zone_of_days = clock.tz or zone
    instant = time.cast(pl.Datetime("us", zone))
    return TimeReading(
        _day(instant.dt.convert_time_zone(zone_of_days)),
        instant.to_physical(),
        zone_of_days,
        description,
    )


def _day(time: pl.Expr) -> pl.Expr:
    return time.dt.date().cast(pl.Int32)


# -- numbers -----------------------------------------------------------------------------------------------
def _numbers(events: Events, number: pl.Expr, clock: Clock) -> TimeReading:
    """Read numbers since 1970, or dates such as 20240131."""
    value = number.cast(pl.Float64, strict=False)
    value = pl.when(value.is_finite()).then(value)
    of_units = [
        value.is_between(_FROM * per, _TO * per).any().alias(name)
        for name, per in UNITS.items()
    ]
    low, high, *has = events.collect(
        events.frame.select(
            value.min().alias("low"), value.max().alias("high"), *of_units
        )
    ).row(0)
    if low is None:
        raise _no_time_error(events)
    units = list(compress(UNITS, has))
    unit = clock.time_unit
    recognised = ""
    if unit is None and low >= _FIRST_DATE and high <= _LAST_DATE:
        day = value.cast(pl.Int64).cast(pl.String).str.to_date("%Y%m%d", strict=False)
        return _dates(day, clock, events.source, "dates without dashes (recognised)")
    fits = [
        name for name, per in UNITS.items() if _FROM * per <= low and high <= _TO * per
    ]
    if unit is None:
        if not fits:
            raise _unknown_unit_error(events, value, low, high, clock, units)
        unit = fits[0]
        recognised = " (recognised by their size)"
    first, last = (day * 86_400 * UNITS[unit] for day in (FIRST_DAY, LAST_DAY + 1))
    used = value.is_between(first, last)
    if fits and not first <= low <= high <= last:
        place, _ = events.first(~used)
        raise BadValue(
            f"as {_NAMES[unit]} since 1970, a time is not in the years 2 to 9998",
            where=place,
            given=f"numbers from {low:.15g} to {high:.15g}",
            fix=f"these are {_NAMES[fits[0]]}: use instead time_unit={fits[0]}",
        )
    whole = events.schema["time"].is_integer()
    number = pl.when(used).then(number.cast(pl.Int64, strict=False) if whole else value)
    ticks = _to_ticks(number, UNITS[unit], whole=whole)
    time = ticks.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    description = f"{_NAMES[unit]} since 1970{recognised}"
    reading = _zoned(time, clock, "UTC", description)
    return replace(reading, advice=_two_units(units) or DROP)


def _to_ticks(number: pl.Expr, per_second: int, *, whole: bool) -> pl.Expr:
    if per_second <= _TICKS:
        scaled = number * (_TICKS // per_second)
    else:
        scaled = (
            number // (per_second // _TICKS)
            if whole
            else number / (per_second // _TICKS)
        )
    if whole:
        return scaled
    return scaled.round().cast(pl.Int64, strict=False)


def _unknown_unit_error(
    events: Events,
    value: pl.Expr,
    low: float,
    high: float,
    clock: Clock,
    units: Sequence[str],
) -> BadValue:
    place, _ = events.first(value == low)
    return BadValue(
        f"no unit puts all times between 1980 and 2100: they are from {low:.15g} to {high:.15g}",
        where=place,
        expected=f"numbers since 1970 of one unit ({', '.join(UNITS)}), or dates such as 20240131",
        fix=_two_units(units) or _unit_advice(events, value, low, high, clock),
    )


def _unit_advice(
    events: Events, value: pl.Expr, low: float, high: float, clock: Clock
) -> str:
    """Return what makes the times readable: one unit, or a limit that leaves out those that fit none."""
    of_low, of_high = map(_unit_of, (low, high))
    unit = of_low or of_high
    if unit is None:
        return "give the unit with time_unit=s (or ms, us, ns); start=… and end=… leave out wrong times"
    per = UNITS[unit]
    likely = events.frame.filter(value.is_between(_FROM * per, _TO * per))
    end = value.min() if of_high else value.max()
    (nearest_time,) = events.collect(likely.select(end)).row(0)
    zone = ZoneInfo(clock.tz or "UTC")
    day = datetime.fromtimestamp(nearest_time / per, zone).date()
    if of_high:
        limit = f"start={day}"
    elif high <= LAST_DAY * 86_400 * per:
        limit = f"end={day}"
    else:
        limit = "invalid=drop"
    return f"time_unit={unit} and {limit} leave out the rows that are no such times"


def _unit_of(number: float) -> str | None:
    """Return the unit in which a number is a time between 1980 and 2100."""
    fits = (unit for unit, per in UNITS.items() if _FROM * per <= number <= _TO * per)
    return next(fits, None)


def _two_units(units: Sequence[str]) -> str | None:
    """Return what to do about numbers that are of two units."""
    if len(units) < 2:  # noqa: PLR2004 - two
        return None
    of_low, *_, of_high = units
    return (
        f"these are {_NAMES[of_low]} and {_NAMES[of_high]}: divide those above "
        f"{_TO * UNITS[of_low]} by {UNITS[of_high] // UNITS[of_low]}"
    )


# -- texts -------------------------------------------------------------------------------------------------
def _texts(events: Events, text: pl.Expr, clock: Clock) -> TimeReading:
    """Read texts, all of one format."""
    forms = _count_forms(events, text)
    forms_present = {
        form: count for form, count in forms.items() if count and form != "other"
    }
    known = sum(forms_present.values())
    time_format = None
    if forms["other"]:
        time_format = _recognised_format(events, text, known)
    if time_format is not None:
        return _of_format(text, time_format, clock, events.source, " (recognised)")
    if not forms_present:
        raise _no_time_error(events, text)
    if set(forms_present) == {"compact", "number"}:  # then all are numbers
        forms_present = {"number": sum(forms_present.values())}
    if set(forms_present) == {"local", "zoned"} and clock.times_in is not None:
        return _mixed(text, clock, events.source)
    if len(forms_present) > 1:
        raise _mixed_forms_error(events, text, forms_present)
    (form,) = forms_present
    if form == "number":
        return _numbers(events, text, clock)
    if form == "zoned":
        return _zoned(_parse_zoned(text), clock, "UTC", "texts with a zone")
    if form == "local":
        return _local(_parse_local(text), clock, events.source, "texts without a zone")
    pattern = "%Y-%m-%d" if form == "date" else "%Y%m%d"
    return _dates(
        text.str.to_date(pattern, strict=False), clock, events.source, _FORM_NAMES[form]
    )


def _count_forms(events: Events, text: pl.Expr) -> dict[str, int]:
    matches = {form: text.str.contains(pattern) for form, pattern in _FORMS.items()}
    matches["number"] &= ~matches["compact"]
    matches["other"] = ~pl.any_horizontal(*matches.values())
    counts = [condition.sum().alias(form) for form, condition in matches.items()]
    return events.collect(events.frame.select(counts)).row(0, named=True)


def _recognised_format(events: Events, text: pl.Expr, known: int) -> str | None:
    """Return the one format that reads the most texts, if these are more than the ``known`` ones.

    Raises
    ------
    BadValue
        When another format reads some of them, too.
    """
    place, row = events.first(text.str.contains(_PARTS), text.alias("time"))
    formats = {
        time_format: _parsed(text, time_format)
        for time_format in _formats(row.get("time", ""))
    }
    if not formats:
        return None
    any_of_them = pl.coalesce(formats.values()).count()
    each = (times.count().alias(name) for name, times in formats.items())
    counted_texts = events.frame.select(any_of_them.alias(_ANY), *each)
    counts = events.collect(counted_texts).row(0, named=True)
    readable = counts.pop(_ANY)
    if readable <= known:
        return None
    first, second = sorted(counts, key=counts.__getitem__, reverse=True)[:2]
    if counts[second] < counts[first] == readable:
        return first
    fix = None
    if counts[second] == readable:
        fix = f"time_format={first!r}, or {second!r}"
    raise BadValue(
        f"times can be read as {first} ({counts[first]:,}) "
        f"and as {second} ({counts[second]:,})",
        where=place,
        given=f"{counted(readable, 'time')}, such as {printable(row['time'], 40)}",
        expected="one format in all rows, and a day above 12 in some",
        fix=fix,
    )


def _formats(example: str) -> list[str]:
    """Return the formats with which a text can be read, and those of other orders of its parts.

    >>> _formats("1/2/2024 8:30 PM")[:2], _formats("1 February")
    (['%d/%m/%Y %I:%M %p', '%m/%d/%Y %I:%M %p'], [])
    """
    mark = example.strip("0123456789")[:1]
    for clock in _CLOCKS:
        formats = [day.replace("-", mark) + clock for day in _DAYS.split()]
        times = pl.select(
            _parsed(pl.lit(example), time_format).alias(time_format)
            for time_format in formats
        )
        if times.row(0) != (None,) * len(formats):
            return formats
    return []


def _parsed(text: pl.Expr, time_format: str) -> pl.Expr:
    """Return times without a zone, or of UTC; years of two digits are not of the first century."""
    zone = None
    if "%z" in time_format:
        zone = "UTC"
    time = text.str.to_datetime(time_format, strict=False, time_zone=zone)
    return pl.when(time.dt.year() >= 1000).then(time)  # noqa: PLR2004 - of four digits


def _of_format(
    text: pl.Expr, time_format: str, clock: Clock, source: str, how: str = ""
) -> TimeReading:
    """Read texts of one format."""
    description = f"texts as {printable(time_format, 40)}{how}"
    time = _parsed(text, time_format)
    if "%z" in time_format:
        return _zoned(time, clock, "UTC", description)
    if re.search("%[HIkslTRrXc]", time_format):
        return _local(time, clock, source, description)
    return _dates(time.dt.date(), clock, source, description)


def _parse_local(text: pl.Expr) -> pl.Expr:
    plain = _normalised(text)
    return plain.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")


def _parse_zoned(text: pl.Expr) -> pl.Expr:
    plain = (
        _normalised(text)
        .str.replace(r" ?(Z|z|UTC|GMT)$", "+0000")
        .str.replace(r"([+-]\d{2})$", "${1}00")
    )
    return plain.str.to_datetime(
        "%Y-%m-%d %H:%M:%S%.f%#z", strict=False, time_unit="us", time_zone="UTC"
    )


def _normalised(text: pl.Expr) -> pl.Expr:
    """Replace T by a space and a decimal comma by a point, and add missing seconds."""
    blank = text.str.replace(r"^(.{10})[Tt]", "${1} ").str.replace(
        ",", ".", literal=True
    )
    return blank.str.replace(r"^(.{16})($|[^:])", "${1}:00$2")


def _mixed(text: pl.Expr, clock: Clock, source: str) -> TimeReading:
    """Read texts of which some have a time zone; the others are in ``times_in``."""
    mixed_clock = Clock(clock.tz or clock.times_in, clock.times_in)
    zoned = _zoned(_parse_zoned(text), mixed_clock, "UTC", "")
    wall = _parse_local(text)
    if mixed_clock.times_in == mixed_clock.tz:  # instants make both kinds comparable
        zone: Any = mixed_clock.times_in
        placed = wall.dt.replace_time_zone(
            zone, ambiguous="earliest", non_existent="null"
        )
        local = TimeReading(
            _day(wall),
            placed.dt.convert_time_zone("UTC").to_physical(),
            mixed_clock.tz,
            "",
        )
    else:
        local = _local(wall, mixed_clock, source, "")
    day = pl.coalesce(zoned.day, local.day)
    instant = pl.coalesce(zoned.instant, local.instant)
    description = f"texts, some with a zone, the others taken as {clock.times_in}"
    return TimeReading(day, instant, mixed_clock.tz, description, local.twice)


def _mixed_forms_error(
    events: Events, text: pl.Expr, forms_present: dict[str, int]
) -> InputError:
    examples = []
    for form, count in forms_present.items():
        place, row = events.first(text.str.contains(_FORMS[form]), text.alias("time"))
        examples.append(
            f"{counted(count, 'row')} of {_FORM_NAMES[form]}, such as {printable(row['time'], 40)} ({place})"
        )
    zones = set(forms_present) == {"local", "zoned"}
    return InputError(
        "times have several formats",
        where=events.source,
        given="; ".join(examples),
        expected="one format in all rows",
        fix="use times_in=UTC (or another time zone) for those without one"
        if zones
        else "convert all of them to one format",
    )


def _no_time_error(events: Events, text: pl.Expr | None = None) -> InputError:
    examples = pl.col("time") if text is None else text
    place, row = events.first(examples.is_not_null(), examples.alias("time"))
    if not row:
        height = events.collect(events.frame.head(1)).height
        return EmptyInput(
            "there is no time in any row" if height else "there are no rows",
            where=events.source,
        )
    return BadValue(
        "no time can be read",
        where=place,
        given=printable(row["time"], 60),
        expected="2024-01-31, 2024-01-31T18:30:00Z, "
        "2024-01-31 18:30:00+01:00, numbers since 1970, "
        "or a time_format such as '%d %b %Y'",
    )
