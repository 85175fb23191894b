"""Lists as they were shown: positions from 1 without a gap, each once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.behaviour.clicking.log import portions
from rankstone.errors import BadValue, printable
from rankstone.words import counted, some

if TYPE_CHECKING:
    from rankstone.behaviour.clicking.log import Log, Survey

__all__ = ["Lists", "looked_at"]

_KEYS: Final = ["session", "query_id"]
#: rows whose lists are looked at together
_AT_ONCE: Final = 20_000_000
_BITS: Final = 64


@dataclass(frozen=True, eq=False)
class Lists:
    """What was found in the lists of a log.

    Attributes
    ----------
    count
        How many there are.
    skipping, repeating
        How many skip a position, or have one twice; the latter may do both.
    rows
        Impressions in these.
    bad
        Session and query of these.
    """

    count: int
    skipping: int
    repeating: int
    rows: int
    bad: pl.DataFrame


def looked_at(log: Log, found: Survey, policy: str) -> Lists | None:
    """Look at the lists of a log; ``None`` where no session says which rows were shown together.

    Parameters
    ----------
    log, found
        The log, and what was found in it.
    policy
        Whether lists that skip or repeat positions are an ``error``, or kept or left out and counted.
    """
    if not {"session", "position"} <= log.has:
        return None
    parts, count = [], 0
    for portion in portions("session", found.impressions, _AT_ONCE):
        lists = _places(log.rows.filter(portion))
        skips, repeats = pl.col("places") < pl.col("last"), pl.col("rows") > pl.col("places")
        told = log.events.collect(lists.with_columns(skips=skips, repeats=repeats))
        count += told.height
        parts.append(told.filter(pl.col("skips") | pl.col("repeats")))
    bad = pl.concat(parts)
    if bad.height and policy == "error":
        raise _refused(log, bad)
    return Lists(
        count=count,
        skipping=bad.filter(~pl.col("repeats")).height,
        repeating=int(bad["repeats"].sum()),
        rows=int(bad["rows"].sum()),
        bad=bad.select(_KEYS),
    )


def _places(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return a row a list: how many rows it has, how many positions that differ, and the last of them.

    A position is a bit in a word of 64, so that lists take little memory while they are grouped.
    """
    at = pl.col("position") - 1
    words = (
        rows.with_columns(word=at // _BITS, bit=pl.lit(2, pl.UInt64) ** (at % _BITS).cast(pl.UInt32))
        .group_by(*_KEYS, "word")
        .agg(pl.col("bit").bitwise_or(), pl.len().alias("rows"), pl.col("position").max().alias("last"))
    )
    return words.group_by(_KEYS).agg(
        pl.col("bit").bitwise_count_ones().sum().alias("places"), pl.col("rows").sum(), pl.col("last").max()
    )


def _refused(log: Log, bad: pl.DataFrame) -> BadValue:
    """Return the error for the list that comes first by its names."""
    first = bad.sort(_KEYS).row(0, named=True)
    mine = pl.all_horizontal(pl.col(key).eq(first[key]) for key in _KEYS)
    positions = log.events.collect(log.rows.filter(mine).select("position"))["position"].sort()
    if first["repeats"]:
        at = positions.filter(positions.is_duplicated())[0]
        what = f"position {at} stands more than once in one list"
    else:
        missing = next(place for place, found in enumerate(positions, 1) if place != found)
        at = positions[missing - 1]
        what = f"a list skips position {missing}"
    place, _ = log.events.first(mine & (pl.col("position").cast(pl.Float64, strict=False) == at))
    session, query = (printable(first[key], 40) for key in _KEYS)
    return BadValue(
        f"{what}; {counted(bad.height, 'list')} in all skip or repeat positions",
        where=place,
        given=f"session {session}, query {query}: positions {some(positions, 12)}",
        expected="positions 1, 2, 3, … once each, of the rows with one session and query",
        fix="lists=keep counts them as they are, lists=drop leaves these lists out",
    )
