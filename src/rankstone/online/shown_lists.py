"""Lists as they were shown: positions from 1 without a gap, each once.

Impressions, counted: so many times a pair was shown there and had this value.

Clicks of a log with the sessions they belong to, some sessions at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._text import counted, some
from rankstone.errors import BadValue, printable
from rankstone.online.click_log import portions
from rankstone.online.examination import Clicked
from rankstone.online.log_tables import dense_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankstone.online.click_log import Log, Survey

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

_KEYS: Final = ["session", "query_id"]
#: rows whose lists are looked at together
_LISTS_AT_ONCE: Final = 20_000_000
_BITS: Final = 64


@dataclass(frozen=True, eq=False)
class Lists:
    """What was found in the lists of a log.

    Attributes
    ----------
    count
        How many there are.
    count_skipping, repeating
        How many skip a position, or have one twice; the latter may do both.
    rows
        Impressions in these.
    bad
        Session and query of these.
    """

    count: int
    count_skipping: int
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
    for portion in portions("session", found.impressions, _LISTS_AT_ONCE):
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
        count_skipping=bad.filter(~pl.col("repeats")).height,
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


_PAIR: Final = ["query_id", "doc_id"]
#: cells that are made at a time
_PAIRS_AT_ONCE: Final = 5_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of some pairs, in the order of query, document, position, value, propensity.

    Attributes
    ----------
    pairs
        ``query_id`` and ``doc_id``.
    pair
        The place of each cell's pair.
    count
        Impressions.
    value
        What a click there was worth, from 0 to 1.
    position, propensity
        Where it was shown, and the chance that it was looked at; ``None`` where nobody asks.
    """

    pairs: pl.DataFrame
    pair: Whole
    count: Floats
    value: Floats
    position: Whole | None = None
    propensity: Floats | None = None

    def total(self, of_cells: Floats) -> Floats:
        """Add up over the cells of each pair, from the first to the last."""
        return np.bincount(self.pair, of_cells, minlength=self.pairs.height).astype(np.float64, copy=False)


def counted_rows(log: Log, lists: Lists | None, policy: str, *, fractional: bool) -> pl.LazyFrame:
    """Return the rows that count, with ``value``; without the lists that are left out."""
    value = pl.col("clicked") if fractional else (pl.col("clicked") > 0).cast(pl.Float64)
    rows = log.rows.with_columns(value=value)
    if lists is None or policy != "drop" or not lists.bad.height:
        return rows
    return rows.join(lists.bad.lazy(), on=lists.bad.columns, how="anti")


def cells(log: Log, rows: pl.LazyFrame, found: Survey, further: Sequence[str]) -> Iterator[Cells]:
    """Count rows by pair, value and ``further`` columns, some queries at a time."""
    keys = [*_PAIR, *(name for name in ("position",) if name in further), "value"]
    keys += [name for name in ("propensity",) if name in further]
    for portion in portions("query_id", found.cells, _PAIRS_AT_ONCE):
        frame = log.events.collect(rows.filter(portion).group_by(keys).agg(count=pl.len())).sort(keys)
        if frame.height:
            yield _made(frame)


def _made(frame: pl.DataFrame) -> Cells:
    changes = pl.any_horizontal(pl.col(name) != pl.col(name).shift() for name in _PAIR).fill_null(value=True)
    begins = frame.select(changes).to_series()
    return Cells(
        pairs=frame.filter(begins).select(_PAIR),
        pair=np.cumsum(begins.to_numpy()) - 1,
        count=frame["count"].cast(pl.Float64).to_numpy(),
        value=frame["value"].to_numpy(),
        position=frame["position"].to_numpy() if "position" in frame.columns else None,
        propensity=frame["propensity"].to_numpy() if "propensity" in frame.columns else None,
    )


def positions(log: Log, rows: pl.LazyFrame) -> pl.DataFrame:
    """Return impressions and clicks by position; no row where the log tells no positions."""
    if "position" not in log.has:
        return pl.DataFrame(schema={"position": pl.Int64, "impressions": pl.Int64, "clicks": pl.Int64})
    by_position = rows.group_by("position").agg(
        pl.len().cast(pl.Int64).alias("impressions"),
        (pl.col("clicked") > 0).sum().cast(pl.Int64).alias("clicks"),
    )
    return log.events.collect(by_position).sort("position")


#: clicks that are looked at together
_SESSIONS_AT_ONCE: Final = 2_000_000
_ORDER: Final = ["session", "pair", "position", "value"]


class Sessions:
    """The clicks of a log, by session.

    Parameters
    ----------
    log, rows, found
        The log, its rows that count with their ``value``, and what was found in it.
    """

    def __init__(self, log: Log, rows: pl.LazyFrame, found: Survey) -> None:
        self._log, self._rows, self._found = log, rows, found

    def clicks(self, pairs: pl.DataFrame, labels: NDArray[np.int64]) -> Iterator[Clicked]:
        """Yield the clicks on some pairs at some positions.

        Parameters
        ----------
        pairs
            ``query_id`` and ``doc_id``; pairs have the numbers of their rows.
        labels
            The positions, rising.
        """
        known = pairs.with_row_index("pair").lazy()
        clicked = self._rows.filter((pl.col("value") > 0) & pl.col("position").is_in(labels.tolist()))
        joined = clicked.join(known, on=["query_id", "doc_id"], how="inner").select(_ORDER)
        for portion in portions("session", self._found.clicks, _SESSIONS_AT_ONCE):
            frame = self._log.events.collect(joined.filter(portion)).sort(_ORDER)
            if frame.height:
                yield Clicked(
                    frame["pair"].cast(pl.Int64).to_numpy(),
                    np.searchsorted(labels, frame["position"].to_numpy()),
                    frame["value"].to_numpy(),
                    dense_numbers(frame, "session").to_numpy(),
                )
