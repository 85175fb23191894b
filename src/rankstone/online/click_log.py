"""A log of impressions, opened: how its columns are read, and which of its rows say nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._text import counted
from rankstone.errors import BadValue, EmptyInput
from rankstone.io.events import read_events
from rankstone.online.local_times import Clock, read_times
from rankstone.online.log_tables import number, row_text
from rankstone.online.retention_audit import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone.io.events import Events
    from rankstone.io.input_table import Progress

#: no list is longer than this; what is called a position there is something else
_LONGEST: Final = 10_000_000
#: what is wrong with a row → (what one says of it, what it should be)
REASONS: Final = {
    "no_query": ("without a query", "a query in every row"),
    "no_document": ("without a document", "a document in every row"),
    "no_session": ("without a session", "a session in every row"),
    "no_time": ("without a time that can be read", "a time in every row"),
    "no_click": ("that do not say whether there was a click", "clicked: 0, 1, or a fraction between"),
    "bad_click": ("with a click that is no number from 0 to 1", "clicked: 0, 1, or a fraction between"),
    "unshown": ("with a click on nothing that was shown: there is no position", "a position for every click"),
    "no_position": ("without a position", "a position in every row"),
    "bad_position": ("with a position that is no whole number from 1 up", "positions 1, 2, 3, …"),
    "no_propensity": ("without a propensity", "a propensity in every row"),
    "bad_propensity": ("with a propensity out of range", "0 < propensity <= 1"),
}


@dataclass(frozen=True, eq=False)
class Log:
    """Rows of a log.

    Attributes
    ----------
    events
        The table.
    has
        Which of our columns are read.
    reason
        Place of what is wrong with a row in :data:`REASONS`, from 1; 0 where nothing is.
    within
        Whether a row's time counts.
    """

    events: Events
    has: frozenset[str]
    reason: pl.Expr
    within: pl.Expr

    @property
    def rows(self) -> pl.LazyFrame:
        """The rows that count: ids as they are, ``clicked``, ``position`` and ``propensity`` as numbers."""
        kept = (self.reason == 0) & self.within
        return self.events.frame.filter(kept).select(
            *(name for name in ("session", "query_id", "doc_id") if name in self.has),
            number(self.events, "clicked"),
            *([number(self.events, "position").cast(pl.Int64)] if "position" in self.has else []),
            *([number(self.events, "propensity")] if "propensity" in self.has else []),
        )


@dataclass(frozen=True)
class Survey:
    """What was found in a log.

    Attributes
    ----------
    rows
        All of them.
    left_out
        {what is wrong: rows left out for it}; the first thing that is wrong counts.
    outside
        Rows before the start or after the end.
    impressions, clicks, fractions
        Rows that count; those of them with more than 0; those with a fraction.
    cells
        About how many different rows there are.
    """

    rows: int
    left_out: Mapping[str, int]
    outside: int
    impressions: int
    clicks: int
    fractions: int
    cells: int


def opened(
    log: object,
    wanted: Sequence[str],
    *,
    clock: Clock,
    span: Span,
    columns: Mapping[str, str] | None,
    format_in: str | None,
    progress: Progress | None,
) -> Log:
    """Open a log.

    Parameters
    ----------
    log
        The table.
    wanted
        Columns that must be there beside query, document and click.
    clock, span
        How times are understood, and which days count.
    columns, format_in, progress
        As for :func:`rankstone.io.read_events`.
    """
    dated = span != Span()
    needed = ["query_id", "doc_id", "clicked", *wanted, *["time"] * dated]
    further = ["session", "position"]
    ids = ("query_id", "doc_id", "session")
    plain = read_events(log, columns, format_in, name="log", further=further, needed=needed, ids=ids)
    events = plain.watched(progress)
    has = frozenset(events.schema)
    day = read_times(events, clock).day if dated else None
    within = pl.lit(value=True) if day is None else span.holds(day)
    return Log(events, has, _reason(events, has, day), within)


def _reason(events: Events, has: frozenset[str], day: pl.Expr | None) -> pl.Expr:
    """Return the place of the first thing that is wrong with a row."""
    click = number(events, "clicked")
    wrong = {
        "no_query": pl.col("query_id").is_null(),
        "no_document": pl.col("doc_id").is_null(),
        "no_click": pl.col("clicked").is_null(),
        "bad_click": ~click.is_between(0, 1).fill_null(value=False),
    }
    if day is not None:
        wrong["no_time"] = day.is_null()
    if "session" in has:
        wrong["no_session"] = pl.col("session").is_null()
    if "position" in has:
        place = number(events, "position")
        whole = place.is_between(1, _LONGEST) & (place == place.floor())
        wrong["unshown"] = pl.col("position").is_null() & (click > 0)
        wrong["no_position"] = pl.col("position").is_null()
        wrong["bad_position"] = ~whole.fill_null(value=False)
    if "propensity" in has:
        chance = number(events, "propensity")
        wrong["no_propensity"] = pl.col("propensity").is_null()
        wrong["bad_propensity"] = ~((chance > 0) & (chance <= 1)).fill_null(value=False)
    reason: pl.Expr = pl.lit(0, pl.Int8)
    for at, name in reversed(list(enumerate(REASONS, 1))):
        if name in wrong:
            reason = pl.when(wrong[name]).then(pl.lit(at, pl.Int8)).otherwise(reason)
    return reason


def survey(log: Log, invalid: str, keys: Sequence[str]) -> Survey:
    """Look at a log once.

    Parameters
    ----------
    log
        The table.
    invalid
        Whether rows that say nothing are an ``error``, or ``drop`` leaves them out.
    keys
        Columns by whose values rows are counted.
    """
    click = number(log.events, "clicked")
    kept = (log.reason == 0) & log.within
    found = log.events.collect(
        log.events.frame.select(
            pl.len().cast(pl.Int64).alias("rows"),
            *((log.reason == at).sum().cast(pl.Int64).alias(name) for at, name in enumerate(REASONS, 1)),
            ((log.reason == 0) & ~log.within).sum().cast(pl.Int64).alias("outside"),
            kept.sum().cast(pl.Int64).alias("impressions"),
            (kept & (click > 0)).sum().cast(pl.Int64).alias("clicks"),
            (kept & (click > 0) & (click < 1)).sum().cast(pl.Int64).alias("fractions"),
            pl.struct(*keys).hash(0).filter(kept).approx_n_unique().cast(pl.Int64).alias("cells"),
        )
    ).row(0, named=True)
    left_out = {name: found.pop(name) for name in REASONS}
    if invalid == "error":
        for at, (name, count) in enumerate(left_out.items(), 1):
            if count:
                raise _invalid(log, name, at, count)
    if not found["impressions"]:
        why = " in the days that count" if found["outside"] else " that can be used" if found["rows"] else ""
        raise EmptyInput(f"there is no impression{why}", where=log.events.source)
    return Survey(left_out={name: count for name, count in left_out.items() if count}, **found)


def _invalid(log: Log, name: str, at: int, count: int) -> BadValue:
    shown = [pl.col(column).cast(pl.String) for column in log.events.schema]
    place, row = log.events.first(log.reason == at, *shown)
    told, expected = REASONS[name]
    cells = row_text({column: row.get(column) for column in sorted(log.has) if column != "time"})
    return BadValue(
        f"{counted(count, 'row')} {told}",
        where=place,
        given=cells,
        expected=expected,
        fix="invalid=drop leaves such rows out and counts them",
    )


def portions(column: str, size: int, most: int) -> Iterator[pl.Expr]:
    """Yield conditions that each let in about as much as fits, by whole values of a column."""
    count = max(1, -(-size // most))
    for at in range(count):
        yield pl.lit(value=True) if count == 1 else pl.col(column).hash(0) % count == at
