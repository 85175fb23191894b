"""What budgets need of tables: the costs of retrieved documents, and those of judged ones for ideal lists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from rankstone.errors import BadParameter, MissingColumn, printable
from rankstone.measures.dcg import nDCG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure


def require_costs(measures: Sequence[Measure], run: Table) -> None:
    """Refuse measures whose budget is a column that the run does not have."""
    for measure in measures:
        budget = getattr(measure, "budget", None)
        if budget is not None and budget.column not in run.columns:
            present = run.present or tuple(run.schema)
            raise MissingColumn.of(
                f"{measure} needs a column {budget.column}: the cost of each document",
                budget.column,
                present,
                run.source,
            )


def with_known_ideal(measure: Measure, judged: Table) -> Measure:
    """Return the measure; its ideal list holds all judged documents where their costs are not known."""
    budget = getattr(measure, "budget", None)
    if budget is None or budget.counts_steps or not measure.ideal_has_costs:
        return measure
    if budget.column in judged.columns:
        costs = judged.tables([pl.col(budget.column).cast(pl.Float64).fill_nan(None)])
        if not any(piece[budget.column].null_count() for piece in costs):
            return measure
    if isinstance(measure, nDCG):
        return replace(measure, ideal_depth="all")
    raise BadParameter(
        f"{measure}: the ideal list needs the costs of judged documents",
        where=judged.source,
        expected=f"a column {printable(budget.column)} in the judgments",
        fix=f"use nDCG@{budget}, whose ideal list can also be that of all judged documents",
    )
