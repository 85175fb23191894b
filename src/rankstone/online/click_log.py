"""Click logs as lazy tables: how columns are read, and which rows are unusable and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import BadValue, EmptyInput
from rankstone.io.events import read_events
from rankstone.online.event_survey import Span
from rankstone.online.local_times import DROP, Clock, read_times
from rankstone.online.log_tables import FROM_0, number, row_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Columns, Progress
    from rankstone.io.events import Events

#: larger numbers are not positions
_LONGEST: Final = 10_000_000
#: reason for leaving a row out → (description, what was expected)
REASONS: Final = {
    "no_query": ("without a query", "a query in every row"),
    "no_document": ("without a document", "a document in every row"),
    "no_session": ("without a session", "a session in every row"),
    "no_time": ("without a time that can be read", "a time in every row"),
    "no_click": ("without a value of clicked", "clicked: 0, 1, or a fraction between"),
    "bad_click": (
        "where clicked is not a number from 0 to 1",
        "clicked: 0, 1, or a fraction between",
    ),
    "unshown": ("with a click and no position", "a position for every click"),
    "no_position": ("without a position", "a position in every row"),
    "bad_position": (
        "with a position that is not a whole number from 1",
        "positions 1, 2, 3, …",
    ),
    "no_propensity": ("without a propensity", "a propensity in every row"),
    "bad_propensity": ("with a propensity out of range", "0 < propensity <= 1"),
}


class ClickLog(Record):
    """A click log, not yet read.

    Attributes
    ----------
    events
        The table.
    has
        The columns that are present and read, by our names.
    reason
        Index in :data:`REASONS`, from 1, of why a row is unusable; 0 for usable rows.
    in_period
        True if a row's time is between start and end.
    advice
        What to do about rows that cannot be used.
    """

    events: Events
    has: frozenset[str]
    reason: pl.Expr
    in_period: pl.Expr
    advice: str

    @property
    def rows(self) -> pl.LazyFrame:
        """The usable rows: ids as given, ``clicked``, ``position`` and ``propensity`` as numbers."""
        kept = (self.reason == 0) & self.in_period
        ids = [name for name in ("session", "query_id", "doc_id") if name in self.has]
        numbers = [number(self.events, "clicked")]
        if "position" in self.has:
            position = number(self.events, "position")
            numbers.append(position.cast(pl.Int64))
        if "propensity" in self.has:
            numbers.append(number(self.events, "propensity"))
        return self.events.frame.filter(kept).select(*ids, *numbers)


@dataclass(frozen=True)
class ClickSurvey:
    """Counts of a click log.

    Attributes
    ----------
    rows
        All rows.
    left_out
        {reason: rows left out}; a row counts under its first reason.
    outside
        Rows before the start or after the end.
    impressions, clicks, fractions
        Usable rows; those with a click above 0; those with a fraction of a click.
    cells
        An estimate of the number of distinct rows.
    """

    rows: int
    left_out: Mapping[str, int]
    outside: int
    impressions: int
    clicks: int
    fractions: int
    cells: int


def open_log(
    log: object,
    required: Sequence[str],
    *,
    clock: Clock,
    span: Span,
    positions_from: int,
    columns: Columns | None,
    format_in: str | None,
    progress: Progress | None,
) -> ClickLog:
    """Open a click log.

    Parameters
    ----------
    log
        The table.
    required
        Columns required in addition to query, document and click.
    clock, span
        How times are read, and the days to include.
    positions_from
        The first position, 1 or 0.
    columns, format_in, progress
        As for :func:`rankstone.io.read_events`.
    """
    dated = span != Span()
    needed = ["query_id", "doc_id", "clicked", *required, *["time"] * dated]
    further = ["session", "position"]
    ids = ("query_id", "doc_id", "session")
    table = read_events(
        log, columns, format_in, name="log", further=further, needed=needed, ids=ids
    )
    events = replace(table.watched(progress), positions_from=positions_from)
    columns_read = frozenset(events.schema)
    day = None
    in_period = pl.lit(value=True)
    advice = DROP
    if dated:
        times = read_times(events, clock)
        day, advice = times.day, times.advice
        in_period = span.includes(times.day)
    reason = _reason(events, columns_read, day)
    return ClickLog(events, columns_read, reason, in_period, advice)


def _reason(
    events: Events, columns_read: frozenset[str], day: pl.Expr | None
) -> pl.Expr:
    """Return the index in :data:`REASONS` of the first problem of each row, 0 if it has none."""
    click = number(events, "clicked")
    wrong = {
        "no_query": pl.col("query_id").is_null(),
        "no_document": pl.col("doc_id").is_null(),
        "no_click": pl.col("clicked").is_null(),
        "bad_click": ~click.is_between(0, 1).fill_null(value=False),
    }
    if day is not None:
        wrong["no_time"] = day.is_null()
    if "session" in columns_read:
        wrong["no_session"] = pl.col("session").is_null()
    if "position" in columns_read:
        place = number(events, "position")
        whole = place.is_between(1, _LONGEST) & (place == place.floor())
        wrong["unshown"] = pl.col("position").is_null() & (click > 0)
        wrong["no_position"] = pl.col("position").is_null()
        wrong["bad_position"] = ~whole.fill_null(value=False)
    if "propensity" in columns_read:
        chance = number(events, "propensity")
        wrong["no_propensity"] = pl.col("propensity").is_null()
        wrong["bad_propensity"] = ~((chance > 0) & (chance <= 1)).fill_null(value=False)
    reason: pl.Expr = pl.lit(0, pl.Int8)
    for code, name in reversed(list(enumerate(REASONS, 1))):
        if name in wrong:
            reason = pl.when(wrong[name]).then(pl.lit(code, pl.Int8)).otherwise(reason)
    return reason


def survey_log(log: ClickLog, invalid: str, keys: Sequence[str]) -> ClickSurvey:
    """Count the rows of a log in one pass.

    Parameters
    ----------
    log
        The table.
    invalid
        Whether unusable rows are an ``error``, or left out and counted (``drop``).
    keys
        Columns whose distinct values are estimated.
    """
    click = number(log.events, "clicked")
    kept = (log.reason == 0) & log.in_period
    is_clicked = kept & (click > 0)
    reasons = {name: log.reason == code for code, name in enumerate(REASONS, 1)}
    sums = {
        **reasons,
        "outside": (log.reason == 0) & ~log.in_period,
        "impressions": kept,
        "clicks": is_clicked,
        "fractions": is_clicked & (click < 1),
    }
    surveyed = log.events.frame.select(
        rows=pl.len(),
        **{name: condition.sum() for name, condition in sums.items()},
        cells=pl.struct(*keys).hash(0).filter(kept).approx_n_unique(),
    )
    counts = log.events.collect(surveyed).row(0, named=True)
    left_out = {name: counts.pop(name) for name in REASONS}
    if invalid == "error":
        for code, (name, count) in enumerate(left_out.items(), 1):
            if count:
                error = _invalid_row_error(log, name, code, count)
                if error.fix == DROP and not counts["impressions"]:
                    error.fix = None
                raise error
    if not counts["impressions"]:
        why = (
            " between start and end"
            if counts["outside"]
            else " that can be used"
            if counts["rows"]
            else ""
        )
        raise EmptyInput(f"there is no impression{why}", where=log.events.source)
    return ClickSurvey(
        left_out={name: count for name, count in left_out.items() if count}, **counts
    )


def _invalid_row_error(log: ClickLog, name: str, code: int, count: int) -> BadValue:
    shown = [pl.col(column).cast(pl.String) for column in log.events.schema]
    place, row = log.events.first(log.reason == code, *shown)
    problem, expected = REASONS[name]
    is_from_0 = name == "bad_position" and row["position"] in ("0", "0.0")
    advice = log.advice
    if is_from_0 and log.events.positions_from:
        advice = FROM_0
    cells = row_text(
        {column: row.get(column) for column in sorted(log.has) if column != "time"}
    )
    return BadValue(
        f"{counted(count, 'row')} {problem}",
        where=place,
        given=cells,
        expected=expected,
        fix=advice,
    )


def hash_partitions(column: str, size: int, most: int) -> Iterator[pl.Expr]:
    """Yield filters that split ``size`` rows by hash of a column into parts of about ``most``."""
    count = max(1, -(-size // most))
    for part in range(count):
        yield (
            pl.lit(value=True) if count == 1 else pl.col(column).hash(0) % count == part
        )
