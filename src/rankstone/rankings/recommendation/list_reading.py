"""Reads a run into a :class:`ListFrame`, ordered and cut, with numbers for ids; measures its lists."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.evaluation.scores import RunScores
from rankstone.measures.core.measure import Scored
from rankstone.rankings.rank_similarity.ranked_lists import load_run
from rankstone.rankings.recommendation.list_frame import ListFrame
from rankstone.rankings.recommendation.recommendation_measure import (
    PerListMeasure,
    WholeRunMeasure,
)

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Sequence

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table
    from rankstone.measures.core.definition import Named
    from rankstone.rankings.recommendation.list_frame import Codes
    from rankstone.rankings.recommendation.recommendation_tables import Tables


class RunLists(Record):
    """The lists of one run, and counts for the audit.

    Attributes
    ----------
    source
        Where the run came from.
    frame
        The lists.
    tally
        Rows of the run; those in tie blocks that reach above the cutoff, and duplicates there.
    read_as
        What was guessed of how a file is written.
    """

    source: str
    frame: ListFrame
    tally: Counter[str]
    read_as: tuple[str, ...] = ()


def read_lists(
    table: Table,
    items: Codes,
    users: Codes,
    options: AlignmentOptions,
    k: int | None,
    before: Callable[[], object] = lambda: None,
) -> RunLists:
    """Read a run.

    Parameters
    ----------
    table
        The run.
    items, users
        The numbers of items and users; new ones are added.
    options
        How lists are ordered.
    k
        Lists are cut to their first ``k`` items; ``None`` keeps them whole.
    before
        Called once the run is read, before ids get numbers; waits for another thread that numbers ids.
    """
    depths = [depth for depth in (k, options.depth) if depth is not None]
    options = replace(options, depth=min(depths, default=None))
    run = load_run(table, options, items.categories).in_order()
    names = run.names
    before()
    frame = ListFrame(
        names.cast(pl.String), users.of(names), run.ranked.offsets, items.of(run.docs)
    )
    return RunLists(table.source, frame, run.tally, table.read_as())


_MEASURING_THREADS: Final = 2


def measure_lists(
    frame: ListFrame,
    tables: Tables,
    measures: Sequence[PerListMeasure | WholeRunMeasure],
) -> tuple[RunScores, dict[Named, float]]:
    """Return the scores of a run's lists, and the values of measures of the whole run."""
    of_lists = [m for m in measures if isinstance(m, PerListMeasure)]
    chunks = frame.chunks()
    first = next(chunks)
    with ThreadPoolExecutor(_MEASURING_THREADS) as pool:
        # what all chunks share is computed with the first, a measure at a time
        parts = [list(pool.map(lambda measure: measure.score(first, tables), of_lists))]
        rest = pool.map(
            lambda chunk: [measure.score(chunk, tables) for measure in of_lists], chunks
        )
        whole = {
            m: pool.submit(m.value, frame, tables)
            for m in measures
            if isinstance(m, WholeRunMeasure)
        }
        parts += rest
        values: dict[Named, float] = {
            measure: value.result() for measure, value in whole.items()
        }
    about = None if tables.users is None else rows_about(frame.names, tables.users)
    every = np.arange(len(frame))
    by_measure: dict[Any, Scored] = {
        measure: Scored.joined([part[place] for part in parts], every)
        for place, measure in enumerate(of_lists)
    }
    return RunScores(frame.names, by_measure, about), values


def rows_about(names: pl.Series, users: Attributes) -> pl.DataFrame:
    """Return the columns of a table of users, one row per list."""
    ids = names.cast(pl.String).rename("query_id").to_frame()
    known = users.collect(*users.columns)
    rows = ids.join(known, on="query_id", how="left", maintain_order="left")
    return rows.drop("query_id")
