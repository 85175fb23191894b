"""Test rows that are earlier than the last row of training: what was trained has seen what came after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import Record, counted
from rankstone.diagnostics.findings import Finding, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: from this number on times are seconds since 1970; of milliseconds, and so on, each is a thousand times larger
_SECONDS: Final = 1e8
_MICROSECONDS: Final = 1e6
_STEP: Final = 1e3
#: day, hour and minute, second, zone
_ISO: Final = r"^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)? ?(Z|UTC|[+-]\d\d:?\d\d)?$"


class TimeOverlap(Record):
    """How test rows stand to the last time of training.

    Attributes
    ----------
    names
        The test rows that are earlier than the last of training, the earliest first.
    tested
        How many test rows have a time.
    first, last
        The first time of the test rows, and the last of training.
    """

    names: tuple[str, ...]
    tested: int
    first: str
    last: str

    @classmethod
    def of(
        cls, names: pl.Series, tested: pl.Series, trained: pl.Series
    ) -> TimeOverlap | None:
        """Compare times of :func:`instants`; ``None`` where one side has none, or they are of two kinds."""
        if tested.dtype != trained.dtype or not (tested.count() and trained.count()):
            return None
        rows = pl.DataFrame({"name": names.cast(pl.String), "time": tested})
        rows = rows.drop_nulls().sort("time", maintain_order=True)
        last = trained.max()
        earlier = rows.filter(pl.col("time") < last)["name"]
        first = rows["time"][0]
        return cls(tuple(earlier), rows.height, shown(first), shown(last))


def instants(times: pl.Series) -> pl.Series:
    """Return times that can be compared: of UTC, or numbers that are no seconds since 1970 as they are.

    Dates and times, texts such as ``2024-05-01T10:00:00Z``, and seconds, milliseconds, microseconds and
    nanoseconds since 1970 are read; what is none of these is null.

    >>> instants(pl.Series(["2024-05-01", "Monday"])).to_list()
    [datetime.datetime(2024, 5, 1, 0, 0), None]
    >>> instants(pl.Series([1714521600000])).to_list(), instants(pl.Series([3])).to_list()
    ([datetime.datetime(2024, 5, 1, 0, 0)], [3.0])
    """
    if isinstance(times.dtype, (pl.Date, pl.Datetime)):
        zoned = times.cast(pl.Datetime("us"))
        return zoned.dt.replace_time_zone(None)
    if times.dtype.is_numeric():
        return _since_1970(times.cast(pl.Float64))
    texts = times.cast(pl.String, strict=False).str.strip_chars()
    numbers = texts.cast(pl.Float64, strict=False)
    if numbers.count():
        return _since_1970(numbers)
    day, minute, second, zone = (pl.col(str(group)) for group in range(1, 5))
    offset = zone.fill_null("Z").replace(["Z", "UTC"], "+0000")
    clock = minute.fill_null("00:00") + second.fill_null(":00")
    whole = day + "T" + clock + offset
    dates = whole.str.to_datetime(
        "%Y-%m-%dT%H:%M:%S%.f%z", time_unit="us", strict=False
    )
    parts = texts.str.extract_groups(_ISO).struct.unnest()
    return parts.select(dates.dt.replace_time_zone(None)).to_series()


def _since_1970(numbers: pl.Series) -> pl.Series:
    largest = numbers.abs().max()
    if not isinstance(largest, float) or largest < _SECONDS:
        return numbers
    factor = _MICROSECONDS
    while largest >= _SECONDS * _STEP:
        largest /= _STEP
        factor /= _STEP
    ticks = (numbers * factor).round().cast(pl.Int64, strict=False)
    return ticks.cast(pl.Datetime("us"))


def shown(time: object) -> str:
    """Return a time as people write it."""
    if isinstance(time, float):
        return f"{time:.15g}"
    return str(time).removesuffix(" 00:00:00")


def time_findings(
    names: pl.Series,
    tested: pl.Series | None,
    trained: pl.Series | None,
    *,
    noun: str,
    holder: str,
    measures: Sequence[object] = (),
) -> Iterator[Finding]:
    """Yield whether test rows are later than the training data.

    Parameters
    ----------
    names, tested
        The rows, and their times; ``None`` where they have none.
    trained
        The times of the training data.
    noun, holder
        What the rows are called, and what they are of: ``query``, ``the golden set``.
    measures
        The measures that will be computed.
    """
    sides = {"the training data": trained, holder: tested}
    read = {side: instants(times) for side, times in sides.items() if times is not None}
    read = {side: times for side, times in read.items() if times.count()}
    if len(read) == 1:
        yield Finding(
            "note",
            f"times are in {next(iter(read))} alone: nothing says whether training data are later",
            None,
            "a column time on both sides: dates (2024-05-01), or seconds since 1970",
        )
    if len(read) < len(sides):
        return
    overlap = TimeOverlap.of(names, read[holder], read["the training data"])
    if overlap is None:
        examples = [shown(times.drop_nulls()[0]) for times in read.values()]
        yield Finding(
            "warning",
            "times of training data and test are of two kinds, and cannot be compared",
            ", ".join(examples),
            "write both as dates (2024-05-01), or both as seconds since 1970",
        )
        return
    held = counted(overlap.tested, noun)
    if not overlap.names:
        yield Finding(
            "note",
            f"none of {held} with a time is earlier than the last of the training data ({overlap.last})",
        )
        return
    affected = ", ".join(map(str, measures)) or "all measures"
    verb = "is" if len(overlap.names) == 1 else "are"
    yield listed(
        f"{len(overlap.names):,} of {held} with a time {verb} earlier than the last of the training data "
        f"({overlap.last})",
        overlap.names,
        f"what is trained knows what came later: {affected} may be too high; train on what is earlier than "
        f"{overlap.first}, the first of them",
        doubtful=True,
    )
