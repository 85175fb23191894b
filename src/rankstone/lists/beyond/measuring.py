"""Measuring a run's lists: chunk by chunk, and what is of the whole run, on two threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.lists.beyond.measure import OfLists, OfRun
from rankstone.measures.base import Scored
from rankstone.scores import RunScores

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables
    from rankstone.measures import Named

__all__ = ["measure_lists"]

_THREADS: Final = 2
_COLUMNS: Final = ("numerator", "denominator", "value", "status")


def measure_lists(
    frame: ListFrame, tables: Tables, measures: Sequence[OfLists | OfRun]
) -> tuple[RunScores, dict[Named, float]]:
    """Return the scores of a run's lists, and the values of measures of the whole run."""
    of_lists = [m for m in measures if isinstance(m, OfLists)]

    def score(chunk: ListFrame) -> list[Scored]:
        return [measure.score(chunk, tables) for measure in of_lists]

    chunks = frame.chunks()
    parts = [score(next(chunks))]  # what all chunks share is made with the first
    with ThreadPoolExecutor(_THREADS) as pool:
        rest = pool.map(score, chunks) if of_lists else ()
        whole = {m: pool.submit(m.value, frame, tables) for m in measures if isinstance(m, OfRun)}
        parts += rest
        values: dict[Named, float] = {measure: value.result() for measure, value in whole.items()}
    by_measure: dict[Any, Scored] = {}
    for at, measure in enumerate(of_lists):
        joined = (np.concatenate([getattr(part[at], name) for part in parts]) for name in _COLUMNS)
        by_measure[measure] = Scored(*joined)
    return RunScores(frame.names, by_measure, _about(frame, tables)), values


def _about(frame: ListFrame, tables: Tables) -> pl.DataFrame | None:
    """Return what is known of the users of the lists, a row each."""
    if tables.users is None:
        return None
    known = tables.users.collect(*tables.users.columns)
    names = frame.names.rename("query_id").to_frame()
    return names.join(known, on="query_id", how="left", maintain_order="left").drop("query_id")
