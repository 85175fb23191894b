"""Retention, as frames: counted once, told in several ways."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.behaviour.cohorts import frames
from rankstone.behaviour.cohorts.differences import differences
from rankstone.errors import UsageError, one_of
from rankstone.results import ShowsTable, WritesRows

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from datetime import date

    from rankstone.behaviour.cohorts.audit import Audit
    from rankstone.behaviour.cohorts.counting import Counts, Range
    from rankstone.behaviour.cohorts.periods import Calendar
    from rankstone.behaviour.cohorts.segments import Segments
    from rankstone.behaviour.cohorts.windows import Window, Windows
    from rankstone.plots.of_retention import RetentionPlots

__all__ = ["Retention"]


@dataclass(frozen=True, eq=False, repr=False)
class Retention(WritesRows, ShowsTable):
    """How many users come back.

    Attributes
    ----------
    counts
        What everything is made of.
    segments
        Which groups users are told apart by.
    windows
        What was asked about.
    calendar
        The unit of time.
    within
        Which periods tell something.
    number
        The number of the first period.
    audit
        What was found in the tables.
    conventions
        Every option the numbers depend on.
    inputs
        Where the tables came from.
    versus
        The segment that the others are held against.

    Examples
    --------
    >>> from rankstone.behaviour import retention
    >>> log = {"user_id": ["a", "b", "a"], "time": ["2024-01-01", "2024-01-01", "2024-01-02"]}
    >>> found = retention(log, "1,3")
    >>> found.curve.select("at", "users", "retained", "rate", "censored").rows()
    [('0', 2, 2, 1.0, 0), ('1', 2, 1, 0.5, 0), ('2', 0, 0, None, 1), ('3', 0, 0, None, 1)]
    """

    counts: Counts
    segments: Segments
    windows: Windows
    calendar: Calendar
    within: Range
    number: int
    audit: Audit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, str]
    versus: str | None = None

    @property
    def first(self) -> date:
        """The first day of the first cohort."""
        return self.calendar.start(self.number + self.within.since)

    @property
    def by(self) -> str | None:
        """The column that users are told apart by."""
        return self.segments.by

    @cached_property
    def periods(self) -> pl.DataFrame:
        """Who came when.

        The segment, if any; ``period`` (its first day), ``new`` users, ``returning`` ones (who logged in and
        are not new), ``login`` users (seen at all), ``login_to_new_ratio`` (which is not retention, and may
        exceed 1; null without new users), ``complete`` (whether all of its events can be there).
        """
        return frames.periods(self.counts, self.segments, self._starts, self.within)

    @cached_property
    def cohorts(self) -> pl.DataFrame:
        """The triangle, a row a cohort and age.

        The segment, if any; ``cohort`` (its first day), ``size``, ``at`` (how the age is called), ``age``
        (from 0, a bracket's first), ``retained`` (how many were seen again), ``rate`` with Wilson's ``low``
        and ``high``, and ``censored``: whether the cohort was not watched for so long.  Then there is no
        rate, as of a cohort without users.
        """
        return frames.cohorts(
            self.counts, self.segments, self._every, self._starts, self.within, self.conventions["confidence"]
        )

    @cached_property
    def curve(self) -> pl.DataFrame:
        """Retention over age, of all cohorts that were watched for so long.

        The segment, if any; ``at``, ``age``; ``cohorts`` and ``users`` it is made of, ``censored``: cohorts
        that were left out; ``retained``; ``rate``, the share of all users (cohorts weigh what they are
        large), with Wilson's ``low`` and ``high``, and ``churn``, 1 less that; ``mean`` of the cohorts' rates
        (each weighs the same) with the ends of its t interval.
        """
        return frames.curve(
            self.counts, self.segments, self._every, self.within, self.conventions["confidence"]
        )

    @cached_property
    def differences(self) -> pl.DataFrame:
        """Segments held against one another, a row a pair and window asked about.

        ``segment``, ``versus``, ``at``, ``age``; ``users`` and ``rate`` of both; ``difference`` with its
        interval (Newcombe's, at the level of the family), ``p`` of the score test and ``p_adjusted``.  Who
        stands in both segments is one cluster.
        """
        if self.by is None:
            raise UsageError("users are not told apart", fix="by=COLUMN, such as a platform or a version")
        return differences(
            self.counts,
            self.segments,
            self.windows.asked,
            self._asked,
            self.within,
            versus=self.versus,
            correction=self.conventions["correction"],
            confidence=self.conventions["confidence"],
        )

    @property
    def days(self) -> pl.DataFrame:
        """The rows of :attr:`curve` that were asked about."""
        return self._only_asked(self.curve)

    def table(self) -> pl.DataFrame:
        """Return what is shown of :attr:`days`."""
        wanted = ("at", "cohorts", "censored", "users", "retained", "rate", "low", "high", "mean")
        return self.days.select(*self.segments.schema, *wanted)

    @property
    def triangle(self) -> pl.DataFrame:
        """The rows of :attr:`cohorts` that were asked about."""
        return self._only_asked(self.cohorts)

    def rows(self) -> pl.LazyFrame:
        """Return what is written, :attr:`cohorts`, lazily."""
        return self.cohorts.lazy()

    @property
    def plot(self) -> RetentionPlots:
        """Its charts, Altair's (needs the extra ``report``)."""
        from rankstone.plots.of_retention import RetentionPlots

        return RetentionPlots(self)

    def write_chart(self, path: str | os.PathLike[str], kind: str = "curve", *, lang: str = "en") -> None:
        """Write a chart, whole or not at all: SVG, PNG, PDF, or HTML that opens offline (needs ``report``).

        Parameters
        ----------
        path
            The file; its suffix says which format.
        kind
            ``curve``, ``heatmap`` or ``periods``.
        lang
            ``en`` or ``zh``.
        """
        from rankstone.plots.of_retention import RetentionPlots
        from rankstone.plots.pages import write_chart

        one_of("kind", kind, ("curve", "heatmap", "periods"))
        write_chart(getattr(RetentionPlots(self, lang), kind)(), path)

    def write_html(
        self, path: str | os.PathLike[str], *, lang: str = "en", command: str | None = None
    ) -> None:
        """Write one page that opens offline, whole or not at all (needs the extra ``report``).

        Parameters
        ----------
        path
            The file.
        lang
            ``en`` or ``zh``.
        command
            The command line that made it, to be shown.
        """
        from rankstone.report.retention import RetentionReport

        RetentionReport(self, lang=lang, command=command).write(path)

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        told: dict[str, Any] = {
            "days": self.days.to_dicts(),
            "periods": self.periods.cast({pl.Date: pl.String}).to_dicts(),
            "cohorts": self.cohorts.cast({pl.Date: pl.String}).to_dicts(),
            "curve": self.curve.to_dicts(),
        }
        if self.by is not None and self.segments.comparable(self.versus):
            told["differences"] = self.differences.to_dicts()
        about = {
            "audit": self.audit.to_dict(),
            "conventions": dict(self.conventions),
            "inputs": dict(self.inputs),
        }
        return told | about

    # -- what it is made of --------------------------------------------------------------------------
    @cached_property
    def _every(self) -> tuple[Window, ...]:
        return self.windows.every(self.within.count)

    @cached_property
    def _starts(self) -> pl.Series:
        return self.calendar.starts(self.number, self.within.count)

    @property
    def _asked(self) -> list[int]:
        """Places of the windows asked about among all of them."""
        return [self._every.index(window) for window in self.windows.asked]

    def _only_asked(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col("at").is_in([window.at for window in self.windows.asked]))
