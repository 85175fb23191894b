"""Derivations of values: a query or a whole run is measured again while the measure records its terms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.errors import NotComparable, UsageError, did_you_mean, printable
from rankstone.hits.trace import Trace
from rankstone.measures.core.measure import Status
from rankstone.rankings.derivation import Derivation
from rankstone.rankings.rank_similarity.list_measure import PairStatus
from rankstone.rankings.rank_similarity.list_pairs import (
    load_query,
    rows_of_query,
    stream_pairs,
)
from rankstone.rankings.recommendation.recommendation_measure import PerListMeasure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.trace import RecordedTable
    from rankstone.io.input_table import Table
    from rankstone.rankings.rank_similarity.list_measure import ListMeasure
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_measure import WholeRunMeasure
    from rankstone.rankings.recommendation.recommendation_tables import Tables

    Run = tuple[Table, AlignmentOptions]


def derive_similarity(
    query: str,
    measure: ListMeasure,
    runs: tuple[Run, Run],
    names: tuple[str, str],
    conventions: Mapping[str, Any],
    lang: str,
) -> Derivation:
    """Return the derivation of the value of one query.

    Parameters
    ----------
    query
        The query; at least one of the runs has it.
    measure
        The measure.
    runs
        The two runs, each with its options of order.
    names
        Their names.
    conventions
        The options and parameters that the number depends on.
    lang
        Language of headings.
    """
    first, second = (load_query(query, *run) for run in runs)
    trace = Trace()
    status = PairStatus.only_a if second is None else PairStatus.only_b
    value = np.nan
    if first is not None and second is not None:
        table, options = runs[1]
        pairs, _ = stream_pairs(
            first, rows_of_query(table, query), options, lambda paired, _: paired
        )
        compared = measure.compare(replace(pairs[0], trace=trace, _memo={}))
        status = PairStatus(int(compared.status[0]))
        value = float(compared.value[0])
    docs = [
        [] if ranking is None else ranking.docs.cast(pl.String).to_list()
        for ranking in (first, second)
    ]

    def rows(table: RecordedTable) -> list[str]:
        if table.of != "document":
            return [str(row) for row in table.rows]
        in_a, in_b = (np.asarray(places).tolist() for places in table.rows)
        return [
            docs[0][a] if a >= 0 else docs[1][b]
            for a, b in zip(in_a, in_b, strict=True)
        ]

    return Derivation.of_trace(
        measure,
        trace,
        (value, status.name),
        of=query,
        runs=names,
        names=rows,
        keep_order=True,
        conventions=conventions,
        lang=lang,
    )


def derive_beyond(
    measure: PerListMeasure | WholeRunMeasure,
    user: object,
    lists: tuple[ListFrame, Tables],
    name: str,
    conventions: Mapping[str, Any],
    lang: str,
) -> Derivation:
    """Return the derivation of a value of one list, or of the whole run.

    Parameters
    ----------
    measure
        The measure.
    user
        The user of the list; ``None`` for measures of the whole run.
    lists
        The lists of the run, and the other tables.
    name
        The name of the run.
    conventions
        The options and parameters that the number depends on.
    lang
        Language of headings.
    """
    frame, tables = lists
    trace = Trace()
    of_lists = isinstance(measure, PerListMeasure)
    _check(measure, user, of_lists=of_lists)
    if isinstance(measure, PerListMeasure):
        place = _number(frame, user)
        frame = replace(frame.part(place, place + 1), trace=trace, _memo={})
        scored = measure.score(frame, tables)
        status = Status(int(scored.status[0]))
        value = float(scored.value[0])
        value = np.nan if status is Status.dropped else value
    else:
        frame = replace(frame, trace=trace, _memo={})
        value = measure.value(frame, tables)
        status = Status.undefined if np.isnan(value) else Status.ok

    def names(table: RecordedTable) -> list[str]:
        if table.of == "item":
            return tables.item_codes.ids(
                np.asarray(table.rows).astype(np.uint32)
            ).to_list()
        if table.of == "user":
            return frame.names.gather(np.asarray(table.rows)).cast(str).to_list()
        return [str(row) for row in table.rows]

    return Derivation.of_trace(
        measure,
        trace,
        (value, status.name),
        of=None if user is None else str(user),
        runs=(name,),
        names=names,
        keep_order=of_lists,
        conventions=conventions,
        lang=lang,
    )


def _check(
    measure: PerListMeasure | WholeRunMeasure, user: object, *, of_lists: bool
) -> None:
    """Refuse a measure of lists without a user, and one of the whole run with one."""
    if of_lists and user is None:
        raise UsageError(
            f"{measure} has a value for each user",
            fix="name the user: -q USER (in Python user=…)",
        )
    if not of_lists and user is not None:
        raise UsageError(
            f"{measure} has one value for the whole run, and none for user {printable(user)}",
            fix="leave the user out",
        )


def _number(frame: ListFrame, user: object) -> int:
    """Return the number of the list of a user."""
    names = frame.names.cast(str)
    rows = names.eq(str(user)).arg_true()
    if len(rows):
        return int(rows[0])
    raise NotComparable(
        f"{printable(user)} has no list in the run",
        given=f"users {', '.join(printable(name, 40) for name in names[:3])} …",
        fix=did_you_mean(str(user), names.head(1000).to_list()),
    )
