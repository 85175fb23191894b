"""Calendar periods as consecutive integers, and windows of ages at which retention is measured."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, UsageError, one_of, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone._basics import Ints

UNITS: Final = ("day", "week", "month")
WEEKDAYS: Final = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
_EPOCH: Final = date(1970, 1, 1)
#: days from the epoch, a Thursday, to the first Monday
_MONDAY: Final = 4
_WEEK: Final = 7
_YEAR: Final = 12
#: kind → what counts as retained
KINDS: Final = {
    "exact": "on exactly that {unit}",
    "rolling": "on that {unit} or any later one",
    "bracket": "on any {unit} of the bracket",
}
#: the default ages
DEFAULT_WINDOWS: Final = {"day": "1,3,7,30", "week": "1,2,4,8", "month": "1,2,3,6,12"}
_DEFAULT_BRACKETS: Final = {
    "day": "1..7,8..14,15..30",
    "week": "1..2,3..4,5..8",
    "month": "1..3,4..6,7..12",
}
_ENTRY: Final = re.compile(r"(\d+)(?:\s*\.\.\s*(\d+))?")
#: the largest age, and the most ages
_MOST: Final = 10_000


@dataclass(frozen=True)
class Calendar:
    """A unit of time, whose periods are numbered consecutively.

    Attributes
    ----------
    unit
        ``day``, ``week`` or ``month``.
    week_start
        The first day of a week.

    Examples
    --------
    >>> weeks = Calendar("week")
    >>> weeks.start(weeks.of(date(2024, 2, 29)))
    datetime.date(2024, 2, 26)
    """

    unit: str = "day"
    week_start: str = "monday"

    def __post_init__(self) -> None:
        """Refuse unknown units and weekdays."""
        one_of("unit", self.unit, UNITS)
        one_of("week_start", self.week_start, WEEKDAYS)

    @property
    def _shift(self) -> int:
        """Days from the epoch to the first start of a week on or after the first Monday."""
        return _MONDAY + WEEKDAYS.index(self.week_start)

    def number(self, day: pl.Expr) -> pl.Expr:
        """Return the period number of a day given as days since 1970; both ``Int32``."""
        if self.unit == "day":
            return day
        if self.unit == "week":
            return (day - self._shift) // _WEEK
        dates = day.cast(pl.Date)
        return dates.dt.year() * _YEAR + dates.dt.month().cast(pl.Int32) - 1

    def of(self, day: date) -> int:
        """Return the number of a day's period."""
        since = (day - _EPOCH).days
        if self.unit == "day":
            return since
        if self.unit == "week":
            return (since - self._shift) // _WEEK
        return day.year * _YEAR + day.month - 1

    def start(self, number: int) -> date:
        """Return the first day of a period."""
        if self.unit == "month":
            return date(number // _YEAR, number % _YEAR + 1, 1)
        days = number if self.unit == "day" else number * _WEEK + self._shift
        return _EPOCH + timedelta(days=days)

    def starts(self, first: int, count: int) -> pl.Series:
        """Return the first days of ``count`` periods as dates."""
        numbers: Ints = np.arange(first, first + count)
        if self.unit == "month":
            months = (numbers - 1970 * _YEAR).astype("datetime64[M]")
            return pl.Series(months.astype("datetime64[D]")).cast(pl.Date)
        days = numbers if self.unit == "day" else numbers * _WEEK + self._shift
        return pl.Series(days).cast(pl.Int32).cast(pl.Date)


@dataclass(frozen=True)
class Window:
    """Ages at which an active user counts as retained: ``first`` to ``last``, or ``first`` and later.

    Attributes
    ----------
    at
        The name: ``7``, or ``8..14``.
    first, last
        Ages, counted from 0 in the first period; ``last`` is ``None`` if there is no end.
    """

    at: str
    first: int
    last: int | None

    @property
    def known(self) -> int:
        """The age up to which a cohort must have been observed for the window to be known."""
        return self.first if self.last is None else self.last


@dataclass(frozen=True)
class Windows:
    """The windows at which retention is measured.

    Attributes
    ----------
    kind
        One of :data:`KINDS`.
    requested
        The requested windows, in order.
    origin
        The number of the first period: 0, or 1.

    Examples
    --------
    >>> [(window.first, window.last) for window in Windows.of("1,7", "exact").requested]
    [(1, 1), (7, 7)]
    >>> bracket = Windows.of("2..7", "bracket", origin=1).requested[0]
    >>> bracket.at, bracket.first, bracket.last
    ('2..7', 1, 6)
    """

    kind: str
    requested: tuple[Window, ...]
    origin: int

    @classmethod
    def of(
        cls,
        days: str | Iterable[object] | None,
        kind: str = "exact",
        *,
        unit: str = "day",
        origin: int = 0,
    ) -> Windows:
        """Parse the requested ages.

        Parameters
        ----------
        days
            ``"1,3,7,30"``, ``"1..30"`` (each of them; as one bracket with ``bracket``), or numbers and pairs.
        kind
            One of :data:`KINDS`.
        unit
            The unit of periods, which decides the default.
        origin
            The number of the first period.
        """
        one_of("kind", kind, KINDS)
        if origin not in (0, 1):
            raise BadOption(
                f"day_origin={printable(origin)} is not known",
                expected="0 (the first day is day 0) or 1",
            )
        default = (_DEFAULT_BRACKETS if kind == "bracket" else DEFAULT_WINDOWS)[unit]
        spans = list(dict.fromkeys(_spans(default if days is None else days)))
        if kind != "bracket":
            spans = list(
                dict.fromkeys(
                    (n, n) for low, high in spans for n in range(low, high + 1)
                )
            )
        below = next((low for low, _ in spans if low < origin), None)
        if below is not None:
            raise BadOption(
                f"day {below} comes before the first day, which is day 1",
                fix="day_origin=0 counts from 0",
            )
        if not spans or len(spans) > _MOST:
            raise UsageError(
                f"days has {len(spans):,} values", expected=f"1 to {_MOST:,}"
            )
        return cls(
            kind, tuple(cls._window(kind, span, origin) for span in spans), origin
        )

    @staticmethod
    def _window(kind: str, span: tuple[int, int], origin: int) -> Window:
        low, high = span
        label = str(low) if low == high else f"{low}..{high}"
        return Window(label, low - origin, None if kind == "rolling" else high - origin)

    def every(self, periods: int) -> tuple[Window, ...]:
        """Return the windows of the whole curve: every observed or requested age, or the brackets."""
        if self.kind == "bracket":
            return self.requested
        ages = max(periods, *(window.first + 1 for window in self.requested))
        return tuple(
            self._window(self.kind, (n, n), self.origin)
            for n in range(self.origin, ages + self.origin)
        )


def _spans(days: str | Iterable[object]) -> list[tuple[int, int]]:
    """Return the first and last number of each entry."""
    if isinstance(days, (str, int)):
        days = str(days).split(",")
    spans = []
    for entry in days:
        if isinstance(entry, (tuple, list, range)) and len(entry):
            text = f"{entry[0]}..{entry[-1]}"
        else:
            text = str(entry).strip()
        match = _ENTRY.fullmatch(text)
        low, high = (
            (0, -1) if match is None else (int(match[1]), int(match[2] or match[1]))
        )
        if high < low or high > _MOST:
            raise BadOption(
                f"days: {printable(text, 40)!r} cannot be read",
                expected=f"whole numbers up to {_MOST:,}, such as 1,3,7,30 or 1..7",
            )
        spans.append((low, high))
    return spans
