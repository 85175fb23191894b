"""Retention, as frames: counted once, told in several ways.

Retention as tables, and as lines to draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import UsageError, printable
from rankstone.online import cohort_counts as frames
from rankstone.online.segments import differences
from rankstone.tables.drawing import Drawing, Line
from rankstone.tables.results import Result, conventions_lines, given
from rankstone.tables.sheet import Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from rankstone.online.cohort_counts import Counts, Range
    from rankstone.online.periods import Calendar, Window, Windows
    from rankstone.online.retention_audit import Audit
    from rankstone.online.segments import Segments


@dataclass(frozen=True, eq=False, repr=False)
class Retention(Result):
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
    >>> from rankstone.online import retention
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

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`cohorts`."""
        return self.cohorts

    def sheet(self, digits: int = 4, show: str = "days", *, drawn: bool = False) -> Sheet:
        """Return one of the tables as a sheet.

        Parameters
        ----------
        digits
            Decimals.
        show
            ``days`` (with :attr:`differences`, where segments can be compared), ``cohorts`` (the triangle),
            ``curve``, ``periods`` or ``differences``.
        drawn
            Whether a terminal draws the curve above.
        """
        return sheet(self, digits, show, drawn=drawn)

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        apart = self.by is not None and self.segments.comparable(self.versus)
        return given(
            days=self.days,
            periods=self.periods.cast({pl.Date: pl.String}),
            cohorts=self.cohorts.cast({pl.Date: pl.String}),
            curve=self.curve,
            **({"differences": self.differences} if apart else {}),
            audit=self.audit,
            conventions=self.conventions,
            inputs=self.inputs,
        )

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


#: lines of a drawing that can be told apart, and the share of users that must have reached an age to be drawn
_LINES, _REACHED = 6, 0.1
_NAMES: Final = {"censored": "left out", "login_to_new_ratio": "login/new"}


def sheet(found: Retention, digits: int, show: str, *, drawn: bool) -> Sheet:
    """Return one of the tables as a sheet; see :meth:`rankstone.online.retention_result.Retention.sheet`."""
    parts: list[Any] = []
    if drawn and (lines := _lines(found)):
        top = max(max(line.y) for line in lines.values()) or 1.0
        parts.append(Drawing(lines, top, named=list(lines) != [""]))
    if show == "cohorts":
        parts.append(_triangle(found, digits))
    else:
        parts.append(_table(found, found.table() if show == "days" else getattr(found, show), digits))
    if show == "days" and found.by is not None and found.segments.comparable(found.versus):
        parts.append(_table(found, found.differences, digits))
    told = {**found.conventions, "days": ",".join(found.conventions["days"])}
    if found.calendar.unit != "week":
        told.pop("week_start")
    return Sheet("", parts=tuple(parts), notes=(*found.audit.lines(), *conventions_lines(told)))


def _table(found: Retention, frame: pl.DataFrame, digits: int) -> Table:
    if "complete" in frame.columns:
        complete = ["" if one else "not complete" for one in frame["complete"]]
        frame = frame.with_columns(complete=frame["complete"].__class__("complete", complete))
    names = {"at": found.calendar.unit, **_NAMES}
    kinds: Any = {found.by: "id", "at": "number"}
    return Table.of(frame.drop("age", strict=False), digits=digits, names=names, kinds=kinds)


def _triangle(found: Retention, digits: int) -> Table:
    """Return a row a cohort and a column a window; what nobody knows yet is blank."""
    windows = [window.at for window in found.windows.asked]
    by = [] if found.by is None else [found.by]
    head = (*map(printable, by), "cohort", "size", *(f"{found.calendar.unit} {at}" for at in windows))
    rows: dict[tuple[object, ...], dict[str, str]] = {}
    for row in found.triangle.iter_rows(named=True):
        if row["size"]:
            cells = rows.setdefault((*(row[name] for name in by), row["cohort"], row["size"]), {})
            cells[row["at"]] = "" if row["rate"] is None else cell(row["rate"], digits=digits)
    body = tuple(
        (*(cell(one, "run") for one in names), f"{size:,}", *(cells[at] for at in windows))
        for (*names, size), cells in rows.items()
    )
    return Table("", head, body, (*(False for _ in by), "text", *(True for _ in head[len(by) + 1 :])))


def _lines(found: Retention) -> dict[str, Line]:
    """Return the curves of the largest segments, over ages that a share of their users have reached."""
    rows = [row for row in found.curve.iter_rows(named=True) if row["rate"] is not None]
    rows = [row for row in rows if row["age"] or found.audit.registrations or found.windows.kind == "bracket"]
    lines: dict[object, list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(row.get(found.by or ""), []).append(row)
    most = {name: max(row["users"] for row in points) for name, points in lines.items()}
    chosen = sorted(lines, key=lambda name: (-most[name], str(name)))[:_LINES]
    kept = {name: [row for row in lines[name] if row["users"] >= _REACHED * most[name]] for name in chosen}
    return {
        "" if found.by is None else "–" if name is None else str(name): Line(
            [float(row["age"] + found.windows.origin) for row in points], [row["rate"] for row in points]
        )
        for name, points in kept.items()
    }
