"""Runs as plain rankings: a row for each document, with its rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from rankstone.io import read_run
from rankstone.lists.opening import listing_options, options_for
from rankstone.lists.pairing import hold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.io import Progress

__all__ = ["Rankings", "rankings"]


@dataclass(frozen=True, eq=False)
class Rankings:
    """The lists of a run.

    Attributes
    ----------
    source
        Where they came from.
    frame
        ``query_id``, ``doc_id`` and ``rank`` from 1, list after list, best first.
    tied
        Documents whose score another one of the list has, too.
    """

    source: str
    frame: pl.DataFrame
    tied: int


def rankings(
    run: object,
    name: str,
    *,
    order: str = "score",
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    progress: Progress | None = None,
) -> Rankings:
    """Read a run and order it, as every other command does; ``order`` is ``score``, ``rank`` or ``input``."""
    options = listing_options({"order": order})
    table = read_run(run, columns, format_in, order=order, name=name)
    held = hold(table.watched(progress), options_for(table, options))
    frame = pl.DataFrame(
        {"query_id": held.names.gather(held.ranked.query), "doc_id": held.docs, "rank": held.ranked.rank}
    )
    return Rankings(table.source, frame, held.tally.tied)
