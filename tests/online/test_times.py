"""Days of every zone, weeks and months of any year, and times that say too little."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each

from rankstone.errors import BadOption, BadValue, EmptyInput, InputError
from rankstone.io import read_events
from rankstone.online.cohort_retention import retention
from rankstone.online.local_times import Clock, read_times
from rankstone.online.periods import UNITS, WEEKDAYS, Calendar

#: changes of clocks, by night and by day, by an hour and by half of one, and a day that an island left out
CHANGES = [
    ("Europe/Berlin", datetime(2024, 3, 31, 1, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2024, 10, 27, 1, tzinfo=UTC)),
    ("America/New_York", datetime(2024, 3, 10, 7, tzinfo=UTC)),
    ("America/Santiago", datetime(2024, 9, 8, 4, tzinfo=UTC)),
    ("America/Havana", datetime(2024, 11, 3, 5, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2024, 4, 6, 15, tzinfo=UTC)),
    ("Asia/Kathmandu", datetime(2024, 1, 1, tzinfo=UTC)),
    ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC)),
    ("Africa/Casablanca", datetime(2024, 3, 10, 2, tzinfo=UTC)),
]


def days(times: Any, **clock: Any) -> list[date | None]:
    """Return the local days of times."""
    events = read_events(
        pl.DataFrame({"user_id": range(len(times)), "time": times}, strict=False)
    )
    read = read_times(events, Clock(**clock))
    return events.frame.select(read.day.cast(pl.Date)).collect().to_series().to_list()


def test_every_zone_has_its_days() -> None:
    """Instants at random, in every zone there is, are of the days that the standard library says."""
    drawn = random.Random(3)
    first = datetime(2010, 1, 1, tzinfo=UTC)
    times = [
        first + timedelta(seconds=drawn.randrange(14 * 365 * 86_400))
        for _ in range(300)
    ]
    events = read_events(pl.DataFrame({"user_id": range(len(times)), "time": times}))
    zones = sorted(
        zone
        for zone in available_timezones()
        if "/" in zone and not zone.startswith("Etc")
    )
    reads = {
        zone: read_times(events, Clock(tz=zone)).day.cast(pl.Date).alias(zone)
        for zone in zones
    }
    rows = events.frame.select(**reads).collect()

    for zone in zones:
        assert rows[zone].to_list() == [
            time.astimezone(ZoneInfo(zone)).date() for time in times
        ], zone


@pytest.mark.parametrize(
    ("zone", "change"), CHANGES, ids=[f"{zone} {when:%Y-%m}" for zone, when in CHANGES]
)
@pytest.mark.parametrize("unit", UNITS)
def test_where_clocks_change(zone: str, change: datetime, unit: str) -> None:
    """Minute by minute around a change of clocks, days, weeks and months are those of the wall calendar."""
    times = [change + timedelta(minutes=11 * step) for step in range(-400, 400)]
    log = {"user_id": list(range(len(times))), "time": times}
    periods = retention(log, "1", unit=unit, tz=zone).periods
    calendar = Calendar(unit)
    walls = [time.astimezone(ZoneInfo(zone)).date() for time in times]
    expected = {calendar.start(calendar.of(day)): 0 for day in walls}
    for day in walls:
        expected[calendar.start(calendar.of(day))] += 1

    assert (
        dict(periods.filter(pl.col("new") > 0).select("period", "new").rows())
        == expected
    )


@given(
    st.dates(date(1901, 1, 1), date(2099, 12, 31)),
    st.sampled_from(UNITS),
    st.sampled_from(WEEKDAYS),
)
def test_a_period_holds_its_days(day: date, unit: str, week_start: str) -> None:
    """Periods begin where they should, end the day before the next one, and Polars numbers them alike."""
    calendar = Calendar(unit, week_start)
    number = calendar.of(day)
    start, end = calendar.start(number), calendar.start(number + 1)

    assert start <= day < end
    assert calendar.of(start) == number == calendar.of(end - timedelta(days=1))
    if unit == "week":
        assert WEEKDAYS[start.weekday()] == week_start
        assert (end - start).days == 7
    assert unit != "month" or start.day == 1
    days_since = pl.DataFrame({"day": [day]}).select(
        calendar.number(pl.col("day").cast(pl.Int32))
    )
    assert days_since.item() == number
    assert calendar.starts(number, 2).to_list() == [start, end]


def test_times_without_a_zone() -> None:
    """They stay as written; declared local they are; brought to another zone they may be of another day."""
    late = [datetime(2024, 1, 31, 23, 30)]  # noqa: DTZ001 - without a zone is the point

    assert days(late) == [date(2024, 1, 31)]
    assert (
        days(late, times_in="Asia/Tokyo")
        == days(late, times_in="Asia/Tokyo", tz="Asia/Tokyo")
        == days(late)
    )
    assert days(late, times_in="UTC", tz="Europe/Berlin") == [date(2024, 2, 1)]
    assert days(["2024-01-31 23:30"], times_in="UTC", tz="Europe/Berlin") == [
        date(2024, 2, 1)
    ]
    with pytest.raises(BadOption, match="no time zone to convert from"):
        days(late, tz="Europe/Berlin")


def test_an_hour_that_came_twice_and_one_that_never_came() -> None:
    """The first is taken and counted; a time that does not exist cannot be read."""
    twice = {"user_id": ["u"], "time": ["2024-10-27 02:30:00"]}
    cohorts = retention(twice, times_in="Europe/Berlin", tz="Asia/Kolkata")
    assert cohorts.audit.twice == 1
    assert "in an hour that occurs twice" in cohorts.audit.lines()[0]

    never = {
        "user_id": ["u", "v"],
        "time": ["2024-03-31 12:00:00", "2024-03-31 02:30:00"],
    }
    with pytest.raises(BadValue, match="does not exist") as refused:
        retention(never, times_in="Europe/Berlin", tz="UTC")
    assert refused.value.where == "events, row 2"
    assert (
        retention(
            never, times_in="Europe/Berlin", tz="UTC", invalid="drop"
        ).audit.unreadable
        == 1
    )


def test_texts_of_many_forms_and_with_a_zone_in_some() -> None:
    """ISO 8601 in all its dress; without a zone beside others only where that is stated."""
    zoned = [
        "2024-01-31T23:30:00Z",
        "2024-01-31t23:30:00z",
        "2024-02-01 00:30:00+01:00",
        "2024-02-01T00:30+0100",
        "2024-01-31 18:30:00.250-05",
        "2024-01-31 23:30 UTC",
        "2024-02-01T05:00:00,5+05:30",
    ]
    assert days(zoned) == [date(2024, 1, 31)] * len(zoned)
    assert days(zoned, tz="Europe/Berlin") == [date(2024, 2, 1)] * len(zoned)

    mixed = ["2024-01-31T23:30:00Z", "2024-01-31 23:30:00"]
    with pytest.raises(InputError, match="several formats") as refused:
        days(mixed)
    assert (
        "1 row of times with a zone, such as 2024-01-31T23:30:00Z (events, row 1)"
        in str(refused.value)
    )
    assert "times_in=" in str(refused.value)
    assert days(mixed, times_in="UTC") == [date(2024, 1, 31)] * 2
    assert days(mixed, times_in="UTC", tz="Europe/Berlin") == [date(2024, 2, 1)] * 2
    assert days(mixed, times_in="Asia/Tokyo", tz="Asia/Tokyo") == [
        date(2024, 2, 1),
        date(2024, 1, 31),
    ]
    assert days(mixed, times_in="Asia/Tokyo") == [date(2024, 2, 1), date(2024, 1, 31)]
    with pytest.raises(InputError, match="several formats"):
        days(["2024-01-31", "2024-01-31 10:00:00"])


def test_the_unit_of_numbers_is_recognised_or_stated() -> None:
    """Seconds to nanoseconds by their size, dates written as numbers; else nothing is guessed."""
    seconds = int(datetime(2024, 2, 29, 12, tzinfo=UTC).timestamp())
    for per, name in (
        (1, "seconds"),
        (10**3, "milli"),
        (10**6, "micro"),
        (10**9, "nano"),
    ):
        assert (
            days([seconds * per]) == days([str(seconds * per)]) == [date(2024, 2, 29)]
        )
        times = retention({"user_id": ["u"], "time": [seconds * per]}).audit.times
        assert name in times
        assert "recognised" in times
    assert (
        days([20240229])
        == days(["20240229"])
        == days([20240229.0])
        == [date(2024, 2, 29)]
    )
    assert days([seconds + 0.75]) == [date(2024, 2, 29)]
    assert days([5], time_unit="s") == [date(1970, 1, 1)]
    assert days([seconds * 1000], time_unit="ms", tz="Pacific/Kiritimati") == [
        date(2024, 3, 1)
    ]
    for unclear in ([0, seconds], [seconds, seconds * 1000], [5]):
        with pytest.raises(BadValue, match="no unit"):
            days(unclear)


@each(
    ("times", "clock", "error", "match"),
    [
        (["2024-01-31"], {"tz": "UTC"}, BadOption, "without a time zone and a unit"),
        (["2024-01-31"], {"tz": "Europe/Berln"}, BadOption, "is not a time zone"),
        (["2024-01-31"], {"time_unit": "min"}, BadOption, "time_unit='min'"),
        (["yesterday"], {}, BadValue, "no time can be read"),
        ([None], {}, EmptyInput, "no time in any row"),
        (pl.Series([None], dtype=pl.String), {}, EmptyInput, "no time in any row"),
        (pl.Series([None], dtype=pl.Float64), {}, EmptyInput, "no time in any row"),
        ([True], {}, InputError, "time holds true and false"),
        ([float("nan")], {}, BadValue, "no time can be read"),
    ],
)
def test_what_is_no_time(
    times: list[Any], clock: dict[str, str], error: type[Exception], match: str
) -> None:
    """Errors say what there was and what was expected."""
    with pytest.raises(error, match=match):
        days(times, **clock)


@each(
    ("times", "clock", "expected"),
    [
        (["31.01.2024", "1.2.2024"], {}, [date(2024, 1, 31), date(2024, 2, 1)]),
        (["1/31/2024", "2/1/2024"], {}, [date(2024, 1, 31), date(2024, 2, 1)]),
        (["31-1-2024 8:05", None], {}, [date(2024, 1, 31), None]),
        (["2024-1-31", "2024-11-30"], {}, [date(2024, 1, 31), date(2024, 11, 30)]),
        (["1/31/24 12:10 AM", "?"], {}, [date(2024, 1, 31), None]),
        (["1/2/2024"], {"time_format": "%d/%m/%Y"}, [date(2024, 2, 1)]),
        (["1/2/2024"], {"time_format": "%m/%d/%Y"}, [date(2024, 1, 2)]),
        (["31 Jan 2024"], {"time_format": "%d %b %Y"}, [date(2024, 1, 31)]),
        (
            ["31/01/2024 23:30 -0100"],
            {"time_format": "%d/%m/%Y %H:%M %z", "tz": "UTC"},
            [date(2024, 2, 1)],
        ),
    ],
)
def test_dates_of_other_countries(
    times: list[Any], clock: dict[str, str], expected: list[date | None]
) -> None:
    """The format is the one that all rows have, or the one that was named."""
    assert days(times, **clock) == expected


def test_dates_of_two_formats() -> None:
    """Where two formats read as many rows, both are named; a format that decides is advice only then."""
    with pytest.raises(BadValue, match=r"%d/%m/%Y \(2\) and as %m/%d/%Y \(2\)") as both:
        days(["1/2/2024", "3/2/2024"])
    assert both.value.fix == "time_format='%d/%m/%Y', or '%m/%d/%Y'"
    for times in (["1/31/2024", "31/1/2024"], ["31/01/2024", "1/2/24"]):
        with pytest.raises(BadValue, match="times can be read as") as mixed:
            days(times)
        assert mixed.value.fix is None
    with pytest.raises(BadOption, match="time_format='%Y%m%d%H'"):
        Clock(time_format="%Y%m%d%H")
