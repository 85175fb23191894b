"""One query's lists of two runs are compared once more, with a trace.

A value of whole lists is computed once more, with a trace.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.errors import EmptyInput, NotComparable, UsageError, nearest, printable
from rankstone.hits.trace import Trace
from rankstone.measures.core.measure import Status
from rankstone.rankings.derivation import Derivation
from rankstone.rankings.rank_similarity.list_measure import Outcome
from rankstone.rankings.rank_similarity.list_pairs import couples, hold, only
from rankstone.rankings.recommendation.recommendation_measure import OfLists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.trace import RecordedTable
    from rankstone.io.input_table import Table
    from rankstone.rankings.rank_similarity.list_measure import ListMeasure
    from rankstone.rankings.rank_similarity.list_pairs import Held
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_measure import OfRun
    from rankstone.rankings.recommendation.recommendation_tables import Tables

    Run = tuple[Table, AlignmentOptions]

__all__ = ["derived_beyond"]


def derived(
    query: str,
    measure: ListMeasure,
    runs: tuple[Run, Run],
    names: tuple[str, str],
    conventions: Mapping[str, Any],
    lang: str,
) -> Derivation:
    """Return how the value of one query came about.

    Parameters
    ----------
    query
        The query; at least one of the runs answers it.
    measure
        The measure.
    runs
        The two runs, each with its options of order.
    names
        What they are called.
    conventions
        What the number depends on.
    lang
        Language of headings.
    """
    first, second = (_lists(query, *run) for run in runs)
    trace, status, value = Trace(), Outcome.only_a if second is None else Outcome.only_b, np.nan
    if first is not None and second is not None:
        table, options = runs[1]
        chunks, _ = couples(first, only(table, query), options, lambda chunk: chunk)
        compared = measure.compare(replace(chunks[0].couple, trace=trace, _memo={}))
        status, value = Outcome(int(compared.status[0])), float(compared.value[0])
    docs = [[] if held is None else held.docs.cast(pl.String).to_list() for held in (first, second)]

    def rows(table: RecordedTable) -> list[str]:
        if table.of != "document":
            return [str(row) for row in table.rows]
        in_a, in_b = (np.asarray(places).tolist() for places in table.rows)
        return [docs[0][a] if a >= 0 else docs[1][b] for a, b in zip(in_a, in_b, strict=True)]

    return Derivation.of_trace(
        measure, trace, (value, status.name),
        of=query, runs=names, names=rows, in_order=True, conventions=conventions, lang=lang,
    )  # fmt: skip


def _lists(query: str, table: Table, options: AlignmentOptions) -> Held | None:
    """Return one run's list of a query, ``None`` where it does not answer it."""
    try:
        return hold(only(table, query), options)
    except EmptyInput:
        return None


def derived_beyond(
    measure: OfLists | OfRun,
    user: object,
    lists: tuple[ListFrame, Tables],
    name: str,
    conventions: Mapping[str, Any],
    lang: str,
) -> Derivation:
    """Return how a value of one list, or of the whole run, came about.

    Parameters
    ----------
    measure
        The measure.
    user
        Whose list; ``None`` for measures of the whole run, and only for these.
    lists
        The run's lists, and the tables beside it.
    name
        What the run is called.
    conventions
        What the number depends on.
    lang
        Language of headings.
    """
    frame, tables = lists
    trace, of_lists = Trace(), isinstance(measure, OfLists)
    _check(measure, user, of_lists=of_lists)
    if isinstance(measure, OfLists):
        at = _number(frame, user)
        frame = replace(frame.part(at, at + 1), trace=trace, _memo={})
        scored = measure.score(frame, tables)
        status, value = Status(int(scored.status[0])), float(scored.value[0])
        value = np.nan if status is Status.dropped else value
    else:
        frame = replace(frame, trace=trace, _memo={})
        value = measure.value(frame, tables)
        status = Status.undefined if np.isnan(value) else Status.ok

    def names(table: RecordedTable) -> list[str]:
        if table.of == "item":
            return tables.item_codes.ids(np.asarray(table.rows).astype(np.uint32)).to_list()
        if table.of == "user":
            return frame.names.gather(np.asarray(table.rows)).cast(str).to_list()
        return [str(row) for row in table.rows]

    return Derivation.of_trace(
        measure, trace, (value, status.name), of=None if user is None else str(user), runs=(name,),
        names=names, in_order=of_lists, conventions=conventions, lang=lang,
    )  # fmt: skip


def _check(measure: OfLists | OfRun, user: object, *, of_lists: bool) -> None:
    """Refuse a measure of lists without a user, and one of the whole run with one."""
    if of_lists and user is None:
        raise UsageError(f"{measure} has a value a user: whose?", fix="name the user (-q USER)")
    if not of_lists and user is not None:
        raise UsageError(
            f"{measure} has one value for the whole run, and none for {printable(user)}",
            fix="leave the user out",
        )


def _number(frame: ListFrame, user: object) -> int:
    """Return which list a user's is."""
    names = frame.names.cast(str)
    found = names.eq(str(user)).arg_true()
    if len(found):
        return int(found[0])
    close = nearest(str(user), names.head(1000).to_list(), n=1)
    raise NotComparable(
        f"{printable(user)} has no list in the run",
        given=f"users {', '.join(printable(name, 40) for name in names[:3])} …",
        fix=f"did you mean {printable(close[0])}?" if close else None,
    )
