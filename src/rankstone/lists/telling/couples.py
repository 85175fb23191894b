"""One query's lists of two runs go along the road once more, and the measure tells on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.errors import EmptyInput
from rankstone.lists.base import Outcome
from rankstone.lists.beside import only
from rankstone.lists.pairing import couples, hold
from rankstone.lists.telling.derivation import Derivation, added_up
from rankstone.lists.telling.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.hits.options import Alignment
    from rankstone.io import Table
    from rankstone.lists.base import ListMeasure
    from rankstone.lists.pairing import Chunk, Held
    from rankstone.lists.telling.notes import Told

    Run = tuple[Table, Alignment]

__all__ = ["derived"]


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
    notes, status, value = Notes(), Outcome.only_a if second is None else Outcome.only_b, np.nan
    if first is not None and second is not None:
        table, options = runs[1]
        chunks, _ = couples(first, only(table, query), options, _itself)
        compared = measure.compare(replace(chunks[0].couple, notes=notes, _memo={}))
        status, value = Outcome(int(compared.status[0])), float(compared.value[0])
    docs = [None if held is None else held.docs.cast(pl.String).to_list() for held in (first, second)]

    def name(told: Told) -> list[str]:
        if told.of != "document":
            return [str(row) for row in told.rows]
        in_a, in_b = (np.asarray(rows).tolist() for rows in told.rows)
        of_a, of_b = (listed or [] for listed in docs)
        return [of_a[a] if a >= 0 else of_b[b] for a, b in zip(in_a, in_b, strict=True)]

    return Derivation(
        measure=str(measure),
        of=query,
        runs=names,
        status=status.name,
        value=None if np.isnan(value) else value,
        numerator=notes.numerator,
        denominator=notes.denominator,
        tables=tuple(added_up(told, name, in_order=True) for told in notes.tables),
        conventions={**conventions, "measures": [str(measure)], "defaults": dict(measure.unsaid())},
        card={part: getattr(measure.card, part) for part in ("sentence", "formula", "symbols", "undefined")},
        lang=lang,
    )


def _lists(query: str, table: Table, options: Alignment) -> Held | None:
    """Return one run's list of a query, ``None`` where it does not answer it."""
    try:
        return hold(only(table, query), options)
    except EmptyInput:
        return None


def _itself(chunk: Chunk) -> Chunk:
    return chunk
