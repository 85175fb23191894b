"""Who was seen in which period: one bit a user and period, made in one streaming pass over the events.

A user's bits stand in words of 64 periods, a block of words a row.  However many events there are, that is
all that is kept; where even the users are too many, they are taken a share at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.behaviour.times import DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.behaviour.cohorts.periods import Calendar
    from rankstone.behaviour.cohorts.survey import Span
    from rankstone.behaviour.times import Reading
    from rankstone.io import Events

__all__ = ["BITS", "Plan", "code", "shares"]

BITS: Final = 64
#: words of a row, at most
_WORDS: Final = 8
#: users whose rows are made at a time: some 800 bytes each while Polars groups
_AT_ONCE: Final = 3_000_000


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be made of the events.

    Attributes
    ----------
    events, reading, calendar
        The table, how its times are read, and the periods.
    first, count
        Number of the first period, and how many there are.
    span
        The days that count.
    by
        The column of segments, and its values in their order; ``None`` where there are none.
    each
        Whether a user is somebody else in each segment; else everybody belongs to that of the first event.
    """

    events: Events
    reading: Reading
    calendar: Calendar
    first: int
    count: int
    span: Span
    by: tuple[str, list[str]] | None = None
    each: bool = False

    @property
    def words(self) -> int:
        """Words of a row."""
        return min(-(-self.count // BITS), _WORDS)

    @property
    def blocks(self) -> int:
        """Rows a user may have."""
        return -(-self.count // (BITS * self.words))

    def rows(self, share: pl.Expr) -> pl.LazyFrame:
        """Return a row a user (segment) and block: ``w0``, ``w1`` … are words of bits.

        ``segment`` is the place of a segment among the values, their number where there is none; ``least``
        and ``most`` are those of the user's segments in this block.

        Parameters
        ----------
        share
            Which users; of the others no row is kept.
        """
        keys = ["user_id", *["segment"] * self.each, *["block"] * (self.blocks > 1)]
        words = [f"w{w}" for w in range(self.words)]
        bits = [
            pl.when(pl.col("word") == w).then("bit").otherwise(0).alias(name) for w, name in enumerate(words)
        ]
        wanted: list[str | pl.Expr] = [*keys, *bits]
        made = [pl.col(name).bitwise_or() for name in words]
        of_first = self.by is not None and not self.each
        if of_first:
            wanted += [self._order().alias("earliest"), "segment"]
            made += [pl.col("earliest").min(), pl.col("segment").min().alias("least")]
            made.append(pl.col("segment").max().alias("most"))
        rows = self._seen(share).select(wanted).group_by(keys).agg(made)
        if of_first:
            rows = rows.with_columns(segment=(pl.col("earliest") % self._segments).cast(pl.Int32))
        return rows if self.blocks > 1 else rows.with_columns(block=pl.lit(0, pl.Int32))

    def _seen(self, share: pl.Expr) -> pl.LazyFrame:
        """Return the events that count, each with the word it belongs to and the bit it sets."""
        day = self.reading.day
        kept = pl.col("user_id").is_not_null() & day.is_not_null() & self.span.holds(day)
        columns = [pl.col("user_id"), (self.calendar.number(day) - self.first).alias("period")]
        if self.by is not None:
            columns += [code(*self.by).alias("segment"), self.reading.instant.alias("instant")]
        at = pl.col("period") // BITS
        return (
            self.events.frame.filter(kept & share)
            .select(columns)
            .with_columns(
                bit=pl.lit(2, pl.UInt64) ** (pl.col("period") % BITS).cast(pl.UInt32),
                word=at % self.words,
                block=at // self.words,
            )
        )

    @property
    def _segments(self) -> int:
        """Places of segments, that of none among them."""
        return 1 if self.by is None else len(self.by[1]) + 1

    def _order(self) -> pl.Expr:
        """Return whole numbers whose least is that of the first event, and of its segments the least."""
        since = pl.col("instant") - self._instant_of_start()
        return since * self._segments + pl.col("segment")

    def _instant_of_start(self) -> int:
        """Return an instant before all events, near enough that products with it fit 64 bits."""
        start = (self.calendar.start(self.first) - date(1970, 1, 1)).days
        return (start - 2) * DAY  # a zone's day may begin a day before or after that of UTC


def code(column: str, values: list[str]) -> pl.Expr:
    """Return the place of a column's values among all of them, and their number where there is none."""
    codes = (
        pl.col(column)
        .cast(pl.String)
        .replace_strict(values, list(range(len(values))), default=len(values), return_dtype=pl.Int32)
    )
    return codes.fill_null(len(values))


def shares(users: int, blocks: int) -> Iterator[pl.Expr]:
    """Yield conditions on ``user_id`` that each let in as many users as fit."""
    count = max(1, -(-users * blocks // _AT_ONCE))
    for share in range(count):
        yield pl.lit(value=True) if count == 1 else pl.col("user_id").hash(0) % count == share
