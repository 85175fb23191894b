"""Impressions of a click log: checks of shown lists, counts by pair and position, and clicks by session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import Record, counted, some
from rankstone.errors import BadValue, printable
from rankstone.online.click_log import hash_partitions

if TYPE_CHECKING:
    from rankstone.online.click_log import ClickLog, ClickSurvey


_KEYS: Final = ["session", "query_id"]
#: rows per batch of lists
_LISTS_AT_ONCE: Final = 20_000_000
_BITS: Final = 64


class ShownLists(Record):
    """The lists of a log: rows of one session and query.

    Attributes
    ----------
    audit
        Counts of lists, and of those that skip or repeat a position.
    bad
        Session and query of lists that skip or repeat a position.
    """

    audit: ShownListsAudit
    bad: pl.DataFrame


def survey_lists(log: ClickLog, survey: ClickSurvey, policy: str) -> ShownLists | None:
    """Check the lists of a log; ``None`` if it has no sessions or no positions.

    Parameters
    ----------
    log, survey
        The log and its counts.
    policy
        Whether lists that skip or repeat positions are an ``error``, kept (``keep``) or left out (``drop``).
    """
    if not {"session", "position"} <= log.has:
        return None
    parts = []
    count = 0
    for partition in hash_partitions("session", survey.impressions, _LISTS_AT_ONCE):
        lists = _list_lengths(log.rows.filter(partition))
        skips = pl.col("places") < pl.col("last")
        repeats = pl.col("rows") > pl.col("places")
        lengths = log.events.collect(lists.with_columns(skips=skips, repeats=repeats))
        count += lengths.height
        parts.append(lengths.filter(pl.col("skips") | pl.col("repeats")))
    bad = pl.concat(parts)
    if bad.height and policy == "error":
        raise _bad_list_error(log, bad)
    audit = ShownListsAudit(
        count=count,
        skipping=bad.filter(~pl.col("repeats")).height,
        repeating=int(bad["repeats"].sum()),
        rows=int(bad["rows"].sum()),
        policy=policy,
    )
    return ShownLists(audit, bad.select(_KEYS))


def _list_lengths(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row per list: its number of rows, of distinct positions, and its lowest position.

    Positions are bits of 64-bit words, so that grouping needs little memory.
    """
    offset = pl.col("position") - 1
    words = (
        rows.with_columns(
            word=offset // _BITS,
            bit=pl.lit(2, pl.UInt64) ** (offset % _BITS).cast(pl.UInt32),
        )
        .group_by(*_KEYS, "word")
        .agg(
            pl.col("bit").bitwise_or(),
            pl.len().alias("rows"),
            pl.col("position").max().alias("last"),
        )
    )
    return words.group_by(_KEYS).agg(
        pl.col("bit").bitwise_count_ones().sum().alias("places"),
        pl.col("rows").sum(),
        pl.col("last").max(),
    )


def _bad_list_error(log: ClickLog, bad: pl.DataFrame) -> BadValue:
    """Return the error for the first bad list by session and query."""
    first = bad.sort(_KEYS).row(0, named=True)
    in_list = pl.all_horizontal(pl.col(key).eq(first[key]) for key in _KEYS)
    positions = log.events.collect(log.rows.filter(in_list).select("position"))[
        "position"
    ].sort()
    if first["repeats"]:
        bad_position = positions.filter(positions.is_duplicated())[0]
        what = f"position {bad_position} occurs more than once in a list"
    else:
        missing = next(
            place for place, position in enumerate(positions, 1) if place != position
        )
        bad_position = positions[missing - 1]
        what = f"a list skips position {missing}"
    place, _ = log.events.first(
        in_list & (pl.col("position").cast(pl.Float64, strict=False) == bad_position)
    )
    session, query = (printable(first[key], 40) for key in _KEYS)
    return BadValue(
        f"{what}; {counted(bad.height, 'list')} in all skip or repeat positions",
        where=place,
        given=f"session {session}, query {query}: positions {some(positions, 12)}",
        expected="positions 1, 2, 3, … once each among the rows of one session and query",
        fix="lists=keep counts them as they are, lists=drop leaves these lists out",
    )


@dataclass(frozen=True)
class ShownListsAudit:
    """Counts of shown lists.

    Attributes
    ----------
    count
        All lists.
    skipping, repeating
        Lists that skip a position, and lists that repeat one; the latter may do both.
    rows
        Impressions in such lists.
    policy
        ``keep`` or ``drop``.
    """

    count: int
    skipping: int
    repeating: int
    rows: int
    policy: str
