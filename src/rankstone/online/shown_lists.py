"""Impressions of a click log: checks of shown lists, counts by pair and position, and clicks by session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, some
from rankstone.errors import BadValue, printable
from rankstone.online.click_log import hash_partitions
from rankstone.online.click_results import ShownListsAudit
from rankstone.online.examination import Clicked
from rankstone.online.log_tables import dense_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import Floats, Ints
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
    at = pl.col("position") - 1
    words = (
        rows.with_columns(
            word=at // _BITS, bit=pl.lit(2, pl.UInt64) ** (at % _BITS).cast(pl.UInt32)
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
        at = positions.filter(positions.is_duplicated())[0]
        what = f"position {at} occurs more than once in a list"
    else:
        missing = next(
            place for place, position in enumerate(positions, 1) if place != position
        )
        at = positions[missing - 1]
        what = f"a list skips position {missing}"
    place, _ = log.events.first(
        in_list & (pl.col("position").cast(pl.Float64, strict=False) == at)
    )
    session, query = (printable(first[key], 40) for key in _KEYS)
    return BadValue(
        f"{what}; {counted(bad.height, 'list')} in all skip or repeat positions",
        where=place,
        given=f"session {session}, query {query}: positions {some(positions, 12)}",
        expected="positions 1, 2, 3, … once each among the rows of one session and query",
        fix="lists=keep counts them as they are, lists=drop leaves these lists out",
    )


_PAIR: Final = ["query_id", "doc_id"]
#: cells per batch
_PAIRS_AT_ONCE: Final = 5_000_000


class Cells(Record):
    """Impressions counted by pair, position, value and propensity, sorted by these.

    Attributes
    ----------
    pairs
        ``query_id`` and ``doc_id``.
    pair
        The row of each cell's pair in ``pairs``.
    count
        Impressions.
    value
        The value of a click, from 0 to 1.
    position, propensity
        The position, and the probability that it was examined; ``None`` if the method does not need it.
    """

    pairs: pl.DataFrame
    pair: Ints
    count: Floats
    value: Floats
    position: Ints | None = None
    propensity: Floats | None = None

    def total(self, values: Floats) -> Floats:
        """Return the sums over the cells of each pair, added from the first to the last."""
        return np.bincount(self.pair, values, minlength=self.pairs.height).astype(
            np.float64, copy=False
        )


def usable_rows(
    log: ClickLog, lists: ShownLists | None, *, fractional: bool
) -> pl.LazyFrame:
    """Return the usable rows with their ``value``, without lists that are left out."""
    value = (
        pl.col("clicked") if fractional else (pl.col("clicked") > 0).cast(pl.Float64)
    )
    rows = log.rows.with_columns(value=value)
    if lists is None or lists.audit.policy != "drop" or not lists.bad.height:
        return rows
    return rows.join(lists.bad.lazy(), on=lists.bad.columns, how="anti")


def count_cells(
    log: ClickLog, rows: pl.LazyFrame, survey: ClickSurvey, further: Sequence[str]
) -> Iterator[Cells]:
    """Yield the counts of rows by pair, value and ``further`` columns, in batches of queries."""
    keys = [*_PAIR, *(name for name in ("position",) if name in further), "value"]
    keys += [name for name in ("propensity",) if name in further]
    for partition in hash_partitions("query_id", survey.cells, _PAIRS_AT_ONCE):
        frame = log.events.collect(
            rows.filter(partition).group_by(keys).agg(count=pl.len())
        ).sort(keys)
        if frame.height:
            yield _to_cells(frame)


def _to_cells(frame: pl.DataFrame) -> Cells:
    changes = pl.any_horizontal(
        pl.col(name) != pl.col(name).shift() for name in _PAIR
    ).fill_null(value=True)
    begins = frame.select(changes).to_series()
    return Cells(
        pairs=frame.filter(begins).select(_PAIR),
        pair=np.cumsum(begins.to_numpy()) - 1,
        count=frame["count"].cast(pl.Float64).to_numpy(),
        value=frame["value"].to_numpy(),
        position=frame["position"].to_numpy() if "position" in frame.columns else None,
        propensity=frame["propensity"].to_numpy()
        if "propensity" in frame.columns
        else None,
    )


def count_by_position(log: ClickLog, rows: pl.LazyFrame) -> pl.DataFrame:
    """Return impressions and clicks by position; no rows if the log has no positions."""
    if "position" not in log.has:
        return pl.DataFrame(
            schema={"position": pl.Int64, "impressions": pl.Int64, "clicks": pl.Int64}
        )
    by_position = rows.group_by("position").agg(
        pl.len().cast(pl.Int64).alias("impressions"),
        (pl.col("clicked") > 0).sum().cast(pl.Int64).alias("clicks"),
    )
    return log.events.collect(by_position).sort("position")


#: clicks per batch of sessions
_SESSIONS_AT_ONCE: Final = 2_000_000
_ORDER: Final = ["session", "pair", "position", "value"]


class Sessions:
    """The clicks of a log, by session.

    Parameters
    ----------
    log, rows, survey
        The log, its usable rows with their ``value``, and its counts.
    """

    def __init__(self, log: ClickLog, rows: pl.LazyFrame, survey: ClickSurvey) -> None:
        self._log, self._rows, self._survey = log, rows, survey

    def clicks(self, pairs: pl.DataFrame, labels: Ints) -> Iterator[Clicked]:
        """Yield the clicks on given pairs at given positions, in batches of sessions.

        Parameters
        ----------
        pairs
            ``query_id`` and ``doc_id``; pairs are numbered by row.
        labels
            The positions, ascending.
        """
        numbered = pairs.with_row_index("pair").lazy()
        clicked = self._rows.filter(
            (pl.col("value") > 0) & pl.col("position").is_in(labels.tolist())
        )
        joined = clicked.join(numbered, on=["query_id", "doc_id"], how="inner").select(
            _ORDER
        )
        for partition in hash_partitions(
            "session", self._survey.clicks, _SESSIONS_AT_ONCE
        ):
            frame = self._log.events.collect(joined.filter(partition)).sort(_ORDER)
            if frame.height:
                yield Clicked(
                    frame["pair"].cast(pl.Int64).to_numpy(),
                    np.searchsorted(labels, frame["position"].to_numpy()),
                    frame["value"].to_numpy(),
                    dense_numbers(frame, "session").to_numpy(),
                )
