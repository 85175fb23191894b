"""User activity as bits, one per user and period, from one streaming pass over the events.

Bits are stored in words of 64 periods, a block of words per row, so memory depends on users and not on
events; if there are too many users, they are processed in shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import BadValue, InputError, printable
from rankstone.online.local_times import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Ints
    from rankstone.io.events import Events
    from rankstone.online.event_survey import Span
    from rankstone.online.local_times import TimeReading
    from rankstone.online.periods import Calendar


BITS: Final = 64
#: the most words in a row
_WORDS: Final = 8
#: users per share: some 800 bytes each while Polars groups
_USERS_PER_SHARE: Final = 3_000_000
#: codes for users in no cohort, and for users left out
NO_COHORT: Final = -1
LEFT_OUT: Final = -2


class ActivityPlan(Record):
    """How events become activity bits.

    Attributes
    ----------
    events, reading, calendar
        The table, how its times are read, and the periods.
    first, count
        The number of the first period, and how many there are.
    span
        The days to include.
    by
        The column of segments and its sorted values; ``None`` without segments.
    each
        Whether users count in each of their segments; otherwise in that of their first event.
    """

    events: Events
    reading: TimeReading
    calendar: Calendar
    first: int
    count: int
    span: Span
    by: tuple[str, list[str]] | None = None
    each: bool = False

    def start(self, period: int) -> date:
        """Return the first day of a period, the first one being 0."""
        return self.calendar.start(self.first + period)

    @property
    def words(self) -> int:
        """The number of words in a row."""
        return min(-(-self.count // BITS), _WORDS)

    @property
    def blocks(self) -> int:
        """The most rows of a user."""
        return -(-self.count // (BITS * self.words))

    def rows(self, share: pl.Expr) -> pl.LazyFrame:
        """Return one row per user (and segment) and block; ``w0``, ``w1`` … are words of bits.

        ``segment`` is the index of the segment, or the number of segments if there is none; ``least`` and
        ``most`` are the smallest and largest of the user's segments in this block.

        Parameters
        ----------
        share
            A filter for users.
        """
        keys = ["user_id", *["segment"] * self.each, *["block"] * (self.blocks > 1)]
        words = [f"w{w}" for w in range(self.words)]
        bits = [
            pl.when(pl.col("word") == w).then("bit").otherwise(0).alias(name)
            for w, name in enumerate(words)
        ]
        selected: list[str | pl.Expr] = [*keys, *bits]
        aggregates = [pl.col(name).bitwise_or() for name in words]
        by_first_event = self.by is not None and not self.each
        if by_first_event:
            selected += [self._event_order().alias("earliest"), "segment"]
            aggregates += [
                pl.col("earliest").min(),
                pl.col("segment").min().alias("least"),
            ]
            aggregates.append(pl.col("segment").max().alias("most"))
        rows = self._events(share).select(selected).group_by(keys).agg(aggregates)
        if by_first_event:
            rows = rows.with_columns(
                segment=(pl.col("earliest") % self._segments).cast(pl.Int32)
            )
        if self.blocks > 1:
            return rows
        return rows.with_columns(block=pl.lit(0, pl.Int32))

    def _events(self, share: pl.Expr) -> pl.LazyFrame:
        """Return the events to include, each with its word and bit."""
        day = self.reading.day
        kept = (
            pl.col("user_id").is_not_null()
            & day.is_not_null()
            & self.span.includes(day)
        )
        columns = [
            pl.col("user_id"),
            (self.calendar.number(day) - self.first).alias("period"),
        ]
        if self.by is not None:
            columns += [
                segment_codes(*self.by).alias("segment"),
                self.reading.instant.alias("instant"),
            ]
        word = pl.col("period") // BITS
        return (
            self.events.frame.filter(kept & share)
            .select(columns)
            .with_columns(
                bit=pl.lit(2, pl.UInt64) ** (pl.col("period") % BITS).cast(pl.UInt32),
                word=word % self.words,
                block=word // self.words,
            )
        )

    @property
    def _segments(self) -> int:
        """The number of segments, plus one for users without a segment."""
        if self.by is None:
            return 1
        return len(self.by[1]) + 1

    def _event_order(self) -> pl.Expr:
        """Return integers whose minimum is the first event, and among equal times the first segment."""
        since = pl.col("instant") - self._instant_of_start()
        return since * self._segments + pl.col("segment")

    def _instant_of_start(self) -> int:
        """Return a time before all events, near enough that its products fit 64 bits."""
        start = (self.calendar.start(self.first) - date(1970, 1, 1)).days
        return (
            start - 2
        ) * DAY  # a zone's day may begin a day before or after that of UTC


def segment_codes(column: str, values: list[str]) -> pl.Expr:
    """Return the index of a column's values, or their number for nulls and unknown values."""
    codes = (
        pl.col(column)
        .cast(pl.String)
        .replace_strict(
            values, list(range(len(values))), default=len(values), return_dtype=pl.Int32
        )
    )
    return codes.fill_null(len(values))


def user_shares(users: int, blocks: int) -> Iterator[pl.Expr]:
    """Yield filters on ``user_id`` that split users into shares that fit in memory."""
    count = max(1, -(-users * blocks // _USERS_PER_SHARE))
    for share in range(count):
        yield (
            pl.lit(value=True)
            if count == 1
            else pl.col("user_id").hash(0) % count == share
        )


class People(Record):
    """Activity of users; with ``each``, one person per user and segment.

    Attributes
    ----------
    words, block, owner
        Rows of bits, uint64 ``[rows, words]``; the block of each row; the person of each row.
    user
        The user of each person, int64 ``[people]``.
    segment, cohort
        Of each person, int64 ``[people]``; the cohort can be :data:`NO_COHORT` or :data:`LEFT_OUT`.
    first
        The first active period of each person; ``count`` if there is none.
    count
        The number of periods.
    ids
        User ids, one per person.
    registered
        The period of registration, null if there is none; ``None`` without a table of registrations.
    several
        The number of users with events in several segments.
    unregistered
        The number of users with events and no registration.
    """

    words: NDArray[np.uint64]
    block: Ints
    owner: Ints
    user: Ints
    segment: Ints
    cohort: Ints
    first: Ints
    count: int
    ids: pl.Series
    registered: pl.Series | None = None
    several: int = 0
    unregistered: int = 0

    @classmethod
    def of(cls, rows: pl.DataFrame, plan: ActivityPlan) -> People:
        """Return people from rows of bits; the cohort is the first active period."""
        keys = ["user_id", *["segment"] * plan.each]
        if plan.blocks > 1 or plan.each:
            rows = rows.sort(*keys, "block")
        fresh = pl.any_horizontal(
            pl.col(key).ne_missing(pl.col(key).shift()) for key in keys
        )
        begins = rows.select(fresh).to_series().to_numpy(writable=True)
        begins[:1] = True
        starts = np.flatnonzero(begins)
        words = np.stack(
            [rows[f"w{w}"].fill_null(0).to_numpy() for w in range(plan.words)], axis=1
        )
        block = rows["block"].fill_null(0).to_numpy().astype(np.int64)
        ids = rows["user_id"].gather(starts)
        first = _first_periods(words, block, starts, plan.count)
        segment = (
            rows["segment"].gather(starts).to_numpy()
            if "segment" in rows.columns
            else np.zeros(len(starts))
        )
        user = (ids.ne_missing(ids.shift()).cum_sum().cast(pl.Int64) - 1).to_numpy()
        return cls(
            words,
            block,
            np.cumsum(begins, dtype=np.int64) - 1,
            user,
            segment.astype(np.int64),
            first.copy(),
            first,
            plan.count,
            ids,
            rows["registered"].gather(starts) if "registered" in rows.columns else None,
            _count_in_several_segments(rows, starts, user),
        )

    def __len__(self) -> int:
        return len(self.cohort)

    def bits(self, rows: Ints, owners: int, local: Ints) -> NDArray[np.uint8]:
        """Return activity as uint8 ``[owners, count]`` of 0 and 1.

        Parameters
        ----------
        rows
            Indices of rows of bits.
        owners
            The number of people.
        local
            The person of each row, counted from 0.
        """
        blocks = -(-self.count // (BITS * self.words.shape[1]))
        dense = np.zeros((owners, blocks, self.words.shape[1]), "<u8")
        dense[local, self.block[rows]] = self.words[rows]
        return np.unpackbits(
            dense.reshape(owners, -1).view(np.uint8),
            axis=1,
            count=self.count,
            bitorder="little",
        )

    def with_cohorts(
        self, policies: Policies, since: int, where: Callable[[object], str]
    ) -> People:
        """Return the people with their cohorts by registrations and policies.

        Parameters
        ----------
        policies
            How users with late or missing registrations are treated.
        since
            The first cohort; earlier users are in none.
        where
            The function that returns the place of a user's first row, for messages.
        """
        cohort = self.first.copy()
        unregistered = 0
        if self.registered is not None:
            known = self.registered.is_not_null().to_numpy()
            registered = self.registered.fill_null(0).to_numpy().astype(np.int64)
            early = known & (self.first < registered)
            if policies.early == "error" and early.any():
                raise self._early_error(early, where)
            moved = early if policies.early == "move" else np.zeros(len(early), bool)
            cohort = np.where(known & ~moved, registered, cohort)
            unregistered = count_distinct(self.user[~known])
            if policies.unregistered == "error" and unregistered:
                raise self._unregistered_error(~known, where)
            if policies.unregistered != "first":
                cohort[~known] = (
                    LEFT_OUT if policies.unregistered == "drop" else NO_COHORT
                )
        cohort[(cohort >= 0) & (cohort < since)] = NO_COHORT
        return replace(self, cohort=cohort, unregistered=unregistered)

    def _early_error(self, early: Bools, where: Callable[[object], str]) -> InputError:
        user = self.ids[int(early.argmax())]
        return BadValue(
            f"{counted(int(early.sum()), 'user')} with events before their registration, such as "
            f"{printable(user, 60)}",
            where=where(user),
            expected="no events before the registration",
            fix="early=drop leaves such events out; early=move uses the first event as the registration",
        )

    def _unregistered_error(
        self, unknown: Bools, where: Callable[[object], str]
    ) -> InputError:
        user = self.ids[int(unknown.argmax())]
        return BadValue(
            f"{counted(int(unknown.sum()), 'user')} with events and without a registration, such as "
            f"{printable(user, 60)}",
            where=where(user),
            expected="a registration for every user",
            fix="unregistered=earlier if they registered before the log begins; unregistered=first to use "
            "their first event; unregistered=drop to leave them out",
        )


@dataclass(frozen=True)
class Policies:
    """How users with early events or without a registration are treated: ``EARLY``, ``UNREGISTERED``."""

    early: str = "error"
    unregistered: str = "error"


def count_distinct(numbers: Ints) -> int:
    """Return the number of distinct values of small non-negative integers."""
    return int(np.count_nonzero(np.bincount(numbers)))


def _count_in_several_segments(rows: pl.DataFrame, starts: Ints, user: Ints) -> int:
    """Return the number of users with events in several segments."""
    if "least" in rows.columns:
        least, most = (rows[name].to_numpy() for name in ("least", "most"))
        differ = (
            np.minimum.reduceat(least, starts) < np.maximum.reduceat(most, starts)
            if len(starts)
            else starts
        )
        return int(differ.sum())
    return int((np.bincount(user, minlength=1) > 1).sum())


def _first_periods(
    words: NDArray[np.uint64], block: Ints, starts: Ints, count: int
) -> Ints:
    """Return the first active period of each person; ``count`` if there is none."""
    low = np.full(len(words), count, np.int64)
    width = words.shape[1]
    for w in range(width):
        word = words[:, w]
        lowest = np.bitwise_count(
            (word & (~word + np.uint64(1))) - np.uint64(1)
        ).astype(np.int64)
        np.minimum(low, lowest + (block * width + w) * BITS, out=low, where=word != 0)
    if len(starts):
        return np.minimum.reduceat(low, starts)
    return low
