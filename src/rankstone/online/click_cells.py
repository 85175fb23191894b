"""Impressions and clicks, counted by pair and position, and by session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.online.click_log import hash_partitions
from rankstone.online.log_tables import dense_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import Floats, Ints
    from rankstone.online.click_log import ClickLog, ClickSurvey
    from rankstone.online.shown_lists import ShownLists


_PAIR: Final = ["query_id", "doc_id"]


#: cells per batch
_PAIRS_AT_ONCE: Final = 5_000_000
#: clicks per batch of sessions
_SESSIONS_AT_ONCE: Final = 2_000_000
_ORDER: Final = ["session", "pair", "position", "value"]


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


class Clicked(Record):
    """Clicks, single or aggregated: their pair, position, value, and session, each numbered from 0."""

    pair: Ints
    place: Ints
    value: Floats
    session: Ints
