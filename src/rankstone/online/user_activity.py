"""Users, each with a cohort and a segment, and their bits.

Who was seen in which period: one bit a user and period, made in one streaming pass over the events.

A user's bits stand in words of 64 periods, a block of words a row.  However many events there are, that is
all that is kept; where even the users are too many, they are taken a share at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._text import counted
from rankstone.errors import BadValue, InputError, printable
from rankstone.online.local_times import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankstone.io.events import Events
    from rankstone.online.local_times import Reading
    from rankstone.online.periods import Calendar
    from rankstone.online.retention_audit import Span

    Ints = NDArray[np.int64]

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


#: the cohort of who is in none, and of who does not count at all
NOBODY: Final = -1
LEFT_OUT: Final = -2


@dataclass(frozen=True, eq=False)
class People:
    """Who was seen when; where a user is somebody else in each segment, so many people.

    Attributes
    ----------
    words, block, owner
        Rows of bits, uint64 ``[rows, words]``; which words they are; whose they are.
    user
        The user each person is, int64 ``[people]``.
    segment, cohort
        Of each person, int64 ``[people]``; the cohort is :data:`NOBODY` for who is in none.
    first
        The first period each was seen in; ``count`` for who was never seen.
    count
        How many periods there are.
    ids
        Users' ids, a row a person.
    registered
        The period each registered in, null for who did not; ``None`` where no table says so.
    several
        How many users have events in several segments.
    unregistered
        How many users have events and no registration.
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
    def of(cls, rows: pl.DataFrame, plan: Plan) -> People:
        """Make people of rows of bits; everybody's cohort is that of the first period."""
        keys = ["user_id", *["segment"] * plan.each]
        if plan.blocks > 1 or plan.each:
            rows = rows.sort(*keys, "block")
        fresh = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)
        begins = rows.select(fresh).to_series().to_numpy(writable=True)
        begins[:1] = True
        starts = np.flatnonzero(begins)
        words = np.stack([rows[f"w{w}"].fill_null(0).to_numpy() for w in range(plan.words)], axis=1)
        block = rows["block"].fill_null(0).to_numpy().astype(np.int64)
        ids = rows["user_id"].gather(starts)
        first = _firsts(words, block, starts, plan.count)
        segment = (
            rows["segment"].gather(starts).to_numpy() if "segment" in rows.columns else np.zeros(len(starts))
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
            _several(rows, starts, user),
        )

    def __len__(self) -> int:
        return len(self.cohort)

    def bits(self, rows: Ints, owners: int, local: Ints) -> NDArray[np.uint8]:
        """Return who was seen when, uint8 ``[owners, count]`` of 0 and 1.

        Parameters
        ----------
        rows
            Rows of bits.
        owners
            Of how many people.
        local
            Whose each row is, counted from 0.
        """
        blocks = -(-self.count // (BITS * self.words.shape[1]))
        dense = np.zeros((owners, blocks, self.words.shape[1]), "<u8")
        dense[local, self.block[rows]] = self.words[rows]
        return np.unpackbits(
            dense.reshape(owners, -1).view(np.uint8), axis=1, count=self.count, bitorder="little"
        )

    def settled(self, policies: Policies, since: int, where: Callable[[object], str]) -> People:
        """Return the people with the cohorts that registrations and policies give them.

        Parameters
        ----------
        policies
            What becomes of users whose registration is late or missing.
        since
            The first cohort; who comes before is in none.
        where
            Says where a user's first row stands.
        """
        cohort, unregistered = self.first.copy(), 0
        if self.registered is not None:
            known = self.registered.is_not_null().to_numpy()
            said = self.registered.fill_null(0).to_numpy().astype(np.int64)
            early = known & (self.first < said)
            if policies.early == "error" and early.any():
                raise self._early(early, where)
            stays = early if policies.early == "move" else np.zeros(len(early), bool)
            cohort = np.where(known & ~stays, said, cohort)
            unregistered = distinct(self.user[~known])
            if policies.unregistered == "error" and unregistered:
                raise self._unregistered(~known, where)
            if policies.unregistered != "first":
                cohort[~known] = LEFT_OUT if policies.unregistered == "drop" else NOBODY
        cohort[(cohort >= 0) & (cohort < since)] = NOBODY
        return replace(self, cohort=cohort, unregistered=unregistered)

    def _early(self, early: NDArray[np.bool_], where: Callable[[object], str]) -> InputError:
        user = self.ids[int(np.flatnonzero(early)[0])]
        return BadValue(
            f"{counted(int(early.sum()), 'user')} with events before the registration, such as "
            f"{printable(user, 60)}",
            where=where(user),
            expected="events from the registration on",
            fix="early=drop leaves such events out, early=move takes the first event for the registration",
        )

    def _unregistered(self, unknown: NDArray[np.bool_], where: Callable[[object], str]) -> InputError:
        user = self.ids[int(np.flatnonzero(unknown)[0])]
        return BadValue(
            f"{counted(int(unknown.sum()), 'user')} with events and without a registration, such as "
            f"{printable(user, 60)}",
            where=where(user),
            expected="a registration of everybody",
            fix="unregistered=earlier: they registered before all this; first: with their first event; "
            "drop: leave them out",
        )


@dataclass(frozen=True)
class Policies:
    """What becomes of users whose events and registration do not fit: ``EARLY`` and ``UNREGISTERED``."""

    early: str = "error"
    unregistered: str = "error"


def distinct(numbers: Ints) -> int:
    """Count the different ones among numbers from 0 that leave few out."""
    return int(np.count_nonzero(np.bincount(numbers)))


def _several(rows: pl.DataFrame, starts: Ints, user: Ints) -> int:
    """Count the users with events in several segments."""
    if "least" in rows.columns:
        least, most = (rows[name].to_numpy() for name in ("least", "most"))
        differ = (
            np.minimum.reduceat(least, starts) < np.maximum.reduceat(most, starts) if len(starts) else starts
        )
        return int(differ.sum())
    return int((np.bincount(user, minlength=1) > 1).sum())


def _firsts(words: NDArray[np.uint64], block: Ints, starts: Ints, count: int) -> Ints:
    """Return everybody's first period, of rows one after the other; ``count`` where there is none."""
    low = np.full(len(words), count, np.int64)
    width = words.shape[1]
    for w in range(width):
        word = words[:, w]
        lowest = np.bitwise_count((word & (~word + np.uint64(1))) - np.uint64(1)).astype(np.int64)
        np.minimum(low, lowest + (block * width + w) * BITS, out=low, where=word != 0)
    return np.minimum.reduceat(low, starts) if len(starts) else low
