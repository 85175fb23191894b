"""Clicks of a log with the sessions they belong to, some sessions at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.behaviour.clicking.examination import Clicked
from rankstone.behaviour.clicking.log import portions
from rankstone.behaviour.logs import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankstone.behaviour.clicking.log import Log, Survey

__all__ = ["Sessions"]

#: clicks that are looked at together
_AT_ONCE: Final = 2_000_000
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
        for portion in portions("session", self._found.clicks, _AT_ONCE):
            frame = self._log.events.collect(joined.filter(portion)).sort(_ORDER)
            if frame.height:
                yield Clicked(
                    frame["pair"].cast(pl.Int64).to_numpy(),
                    np.searchsorted(labels, frame["position"].to_numpy()),
                    frame["value"].to_numpy(),
                    numbered(frame, "session").to_numpy(),
                )
