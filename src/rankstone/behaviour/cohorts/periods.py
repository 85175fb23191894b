"""Days, weeks and months as whole numbers, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.errors import one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["UNITS", "WEEKDAYS", "Calendar"]

UNITS: Final = ("day", "week", "month")
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EPOCH: Final = date(1970, 1, 1)
#: days from the epoch, a Thursday, to the first Monday
_MONDAY: Final = 4
_WEEK: Final = 7
_YEAR: Final = 12


@dataclass(frozen=True)
class Calendar:
    """A unit of time; its periods are numbered without a gap.

    Attributes
    ----------
    unit
        ``day``, ``week`` or ``month``, of the calendar.
    week_start
        The day that a week begins with.

    Examples
    --------
    >>> weeks = Calendar("week")
    >>> weeks.start(weeks.of(date(2024, 2, 29)))
    datetime.date(2024, 2, 26)
    """

    unit: str = "day"
    week_start: str = "monday"

    def __post_init__(self) -> None:
        """Refuse words that are none of these."""
        one_of("unit", self.unit, UNITS)
        one_of("week_start", self.week_start, WEEKDAYS)

    @property
    def _shift(self) -> int:
        """Days from the epoch to the first day that a week begins with, on or after the first Monday."""
        return _MONDAY + WEEKDAYS.index(self.week_start)

    def number(self, day: pl.Expr) -> pl.Expr:
        """Return the number of the period of a day, given as days since 1970; both ``Int32``."""
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
        return (since - self._shift) // _WEEK if self.unit == "week" else day.year * _YEAR + day.month - 1

    def start(self, number: int) -> date:
        """Return the first day of a period."""
        if self.unit == "month":
            return date(number // _YEAR, number % _YEAR + 1, 1)
        days = number if self.unit == "day" else number * _WEEK + self._shift
        return _EPOCH + timedelta(days=days)

    def starts(self, first: int, count: int) -> pl.Series:
        """Return the first days of periods, one after the other, as dates."""
        numbers: NDArray[np.int64] = np.arange(first, first + count)
        if self.unit == "month":
            months = (numbers - 1970 * _YEAR).astype("datetime64[M]")
            return pl.Series(months.astype("datetime64[D]")).cast(pl.Date)
        days = numbers if self.unit == "day" else numbers * _WEEK + self._shift
        return pl.Series(days).cast(pl.Int32).cast(pl.Date)
