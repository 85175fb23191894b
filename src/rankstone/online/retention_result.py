"""The result of a retention analysis: frames, tables and curves from one set of counts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record
from rankstone.errors import UsageError, printable
from rankstone.online import cohort_tables as counting
from rankstone.online.segments import differences
from rankstone.tables.drawing import Drawing, Line
from rankstone.tables.results import Result, data_notes
from rankstone.tables.sheet import Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from rankstone.online.cohort_counts import CohortCounts, ObservedPeriods
    from rankstone.online.periods import Calendar, Window, Windows
    from rankstone.online.retention_audit import RetentionAudit
    from rankstone.online.segments import Segments

#: lines that can be distinguished in a drawing, and the share of users that an age needs to be drawn
_LINES, _REACHED = 6, 0.1
_NAMES: Final = {"censored": "left out", "login_to_new_ratio": "login/new"}


class Retention(Result, Record):
    """Retention of users: periods, cohorts, curves and differences of segments.

    Attributes
    ----------
    counts
        The counts that all frames are computed from.
    segments
        The groups of users.
    windows
        The requested ages.
    calendar
        The unit of time.
    observed
        The periods that were observed.
    number
        The number of the first period.
    audit
        Counts of the tables, and warnings.
    conventions
        All options the numbers depend on.
    inputs
        The sources of the tables.
    versus
        The segment that the others are compared with.

    Examples
    --------
    >>> from rankstone.online import retention
    >>> log = {"user_id": ["a", "b", "a"], "time": ["2024-01-01", "2024-01-01", "2024-01-02"]}
    >>> result = retention(log, "1,3")
    >>> result.curve.select("at", "users", "retained", "rate", "censored").rows()
    [('0', 2, 2, 1.0, 0), ('1', 2, 1, 0.5, 0), ('2', 0, 0, None, 1), ('3', 0, 0, None, 1)]
    """

    counts: CohortCounts
    segments: Segments
    windows: Windows
    calendar: Calendar
    observed: ObservedPeriods
    number: int
    audit: RetentionAudit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, str]
    versus: str | None = None

    @property
    def first(self) -> date:
        """The first day of the first cohort."""
        return self.calendar.start(self.number + self.observed.since)

    @property
    def populated(self) -> int:
        """How many cohorts have users."""
        return int(self.counts.size[:, self.observed.reported].any(axis=0).sum())

    @property
    def by(self) -> str | None:
        """The column that users are grouped by."""
        return self.segments.by

    @cached_property
    def periods(self) -> pl.DataFrame:
        """New, returning and active users by period.

        The segment, if any; ``period`` (its first day), ``new`` users, ``returning`` users (active and not
        new), ``login`` users (active), ``login_to_new_ratio`` (which is not retention and can exceed 1; null
        without new users), ``complete`` (true if the log covers the whole period).
        """
        return counting.periods(self.counts, self.segments, self._starts, self.observed)

    @cached_property
    def cohorts(self) -> pl.DataFrame:
        """The cohort triangle, one row per cohort and age.

        The segment, if any; ``cohort`` (its first day), ``size``, ``at`` (the name of the age), ``age`` (from
        0; of a bracket its first), ``retained`` (users who were active again), ``rate`` with Wilson's ``low``
        and ``high``, and ``censored``: true if the cohort was not observed for that long.  The rate is null
        for censored and for empty cohorts.
        """
        return counting.cohorts(
            self.counts,
            self.segments,
            self._all_windows,
            self._starts,
            self.observed,
            self.conventions["confidence"],
        )

    @cached_property
    def curve(self) -> pl.DataFrame:
        """Retention by age, over all cohorts that were observed for that long.

        The segment, if any; ``at``, ``age``; the ``cohorts`` and ``users`` included, and ``censored``, the
        cohorts left out; ``retained``; ``rate``, the share of all users (cohorts weighted by size), with
        Wilson's ``low`` and ``high``, and ``churn``, 1 minus the rate; ``mean``, the unweighted mean of the
        cohorts' rates, with the ends of its t interval.
        """
        return counting.curve(
            self.counts,
            self.segments,
            self._all_windows,
            self.observed,
            self.conventions["confidence"],
        )

    @cached_property
    def differences(self) -> pl.DataFrame:
        """Differences of segments, one row per pair and requested age.

        ``segment``, ``versus``, ``at``, ``age``; ``users`` and ``rate`` of both; ``difference`` with its
        interval (Newcombe's, adjusted for the size of the family), ``p`` of the score test and
        ``p_adjusted``.  A user in both segments is one cluster.
        """
        if self.by is None:
            raise UsageError(
                "there are no segments to compare",
                fix="use by=COLUMN, such as a platform or a version",
            )
        return differences(
            self.counts,
            self.segments,
            self.windows.requested,
            self._places,
            self.observed,
            versus=self.versus,
            correction=self.conventions["correction"],
            confidence=self.conventions["confidence"],
        )

    @property
    def days(self) -> pl.DataFrame:
        """The rows of :attr:`curve` at the requested ages."""
        return self._rows_at(self.curve)

    def table(self) -> pl.DataFrame:
        """Return the main columns of :attr:`days`."""
        wanted = (
            "at",
            "cohorts",
            "censored",
            "users",
            "retained",
            "rate",
            "low",
            "high",
            "mean",
        )
        return self.days.select(*self.segments.schema, *wanted)

    @property
    def triangle(self) -> pl.DataFrame:
        """The rows of :attr:`cohorts` at the requested ages."""
        return self._rows_at(self.cohorts)

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`cohorts`."""
        return self.cohorts

    def sheet(
        self, digits: int = 4, show: str = "days", *, drawn: bool = False
    ) -> Sheet:
        """Return one of the tables as a sheet.

        Parameters
        ----------
        digits
            Decimal places.
        show
            ``days`` (with :attr:`differences`, where segments can be compared), ``cohorts`` (the triangle),
            ``curve``, ``periods`` or ``differences``.
        drawn
            Whether to draw the curve above the table.
        """
        return sheet(self, digits, show, drawn=drawn)

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts, ready for JSON."""
        has_segments = self.by is not None and self.segments.comparable(self.versus)
        return self._reported(
            days=self.days,
            periods=self.periods.cast({pl.Date: pl.String}),
            cohorts=self.cohorts.cast({pl.Date: pl.String}),
            curve=self.curve,
            **({"differences": self.differences} if has_segments else {}),
        )

    @cached_property
    def _all_windows(self) -> tuple[Window, ...]:
        return self.windows.every(self.observed.count)

    @cached_property
    def _starts(self) -> pl.Series:
        return self.calendar.starts(self.number, self.observed.count)

    @property
    def _places(self) -> list[int]:
        """Indices of the requested windows among all windows."""
        return [self._all_windows.index(window) for window in self.windows.requested]

    def _rows_at(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(
            pl.col("at").is_in([window.at for window in self.windows.requested])
        )


def sheet(result: Retention, digits: int, show: str, *, drawn: bool) -> Sheet:
    """Return one of the tables as a sheet; see :meth:`rankstone.online.retention_result.Retention.sheet`."""
    parts: list[Any] = []
    if drawn and (lines := _lines(result)):
        top = max(max(line.y) for line in lines.values()) or 1.0
        parts.append(Drawing(lines, top, named=list(lines) != [""]))
    if show == "cohorts":
        parts.append(_triangle(result, digits))
    else:
        parts.append(
            _table(
                result,
                result.table() if show == "days" else getattr(result, show),
                digits,
            )
        )
    if (
        show == "days"
        and result.by is not None
        and result.segments.comparable(result.versus)
    ):
        parts.append(_table(result, result.differences, digits))
    conventions = {**result.conventions, "days": ",".join(result.conventions["days"])}
    if result.calendar.unit != "week":
        conventions.pop("week_start")
    return Sheet("", parts=tuple(parts), notes=(data_notes(result.audit, conventions),))


def _table(result: Retention, frame: pl.DataFrame, digits: int) -> Table:
    if "complete" in frame.columns:
        complete = [
            "" if is_whole else "not complete" for is_whole in frame["complete"]
        ]
        frame = frame.with_columns(
            complete=frame["complete"].__class__("complete", complete)
        )
    names = {"at": result.calendar.unit, **_NAMES}
    kinds: Any = {result.by: "id", "at": "number"}
    return Table.of(
        frame.drop("age", strict=False), digits=digits, names=names, kinds=kinds
    )


def _triangle(result: Retention, digits: int) -> Table:
    """Return the cohort triangle, one row per cohort and one column per age; unknown rates are blank."""
    windows = [window.at for window in result.windows.requested]
    by = [] if result.by is None else [result.by]
    head = (
        *map(printable, by),
        "cohort",
        "size",
        *(f"{result.calendar.unit} {label}" for label in windows),
    )
    rows: dict[tuple[object, ...], dict[str, str]] = {}
    for row in result.triangle.iter_rows(named=True):
        if row["size"]:
            cells = rows.setdefault(
                (*(row[name] for name in by), row["cohort"], row["size"]), {}
            )
            cells[row["at"]] = (
                "" if row["rate"] is None else cell(row["rate"], digits=digits)
            )
    body = tuple(
        (
            *(cell(name, "run") for name in names),
            f"{size:,}",
            *(cells[label] for label in windows),
        )
        for (*names, size), cells in rows.items()
    )
    return Table(
        "",
        head,
        body,
        (*(False for _ in by), "text", *(True for _ in head[len(by) + 1 :])),
    )


def _lines(result: Retention) -> dict[str, Line]:
    """Return the curves of the largest segments, for ages that enough of their users have reached."""
    rows = [
        row for row in result.curve.iter_rows(named=True) if row["rate"] is not None
    ]
    rows = [
        row
        for row in rows
        if row["age"] or result.audit.registrations or result.windows.kind == "bracket"
    ]
    lines: dict[object, list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(row.get(result.by or ""), []).append(row)
    most = {name: max(row["users"] for row in points) for name, points in lines.items()}
    chosen = sorted(lines, key=lambda name: (-most[name], str(name)))[:_LINES]
    kept = {
        name: [row for row in lines[name] if row["users"] >= _REACHED * most[name]]
        for name in chosen
    }
    return {
        "" if result.by is None else "–" if name is None else str(name): Line(
            [float(row["age"] + result.windows.origin) for row in points],
            [row["rate"] for row in points],
        )
        for name, points in kept.items()
    }
