"""Costs of documents: columns of the judgments, the run or a table of documents, which measures add up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

import polars as pl

from rankstone._basics import Record
from rankstone.errors import BadParameter, MissingColumn, printable
from rankstone.evaluation.side_inputs.side_input import SideInput
from rankstone.hits.budgets import REPEATED
from rankstone.hits.extras.row_costs import check_costs
from rankstone.measures.dcg import nDCG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Names
    from rankstone.evaluation.side_inputs.side_input import SideRequest
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Measures


class DocumentCosts(Record, SideInput):
    """Adds costs that a table of documents knows, and refuses runs without any.

    Attributes
    ----------
    judgment_columns
        The columns of costs that are added, each once.
    documents
        The table of documents, ``None`` where there is none.
    """

    judgment_columns: Names
    documents: Attributes | None = None

    @classmethod
    def of(cls, request: SideRequest) -> Self:
        """Return the costs that budgets of measures add, and those that measures are about."""
        names: list[str] = []
        for measure in request.measures:
            names += [budget.column for budget in measure.budgets if budget.adds]
            names += [name.removeprefix(REPEATED) for name in measure.costs]
        columns = tuple(dict.fromkeys(names))
        return cls(columns, request.documents)

    def extended(self, table: Table) -> Table:
        """Add the costs of documents: of judged ones for ideal lists."""
        return with_numbers(table, self.judgment_columns, self.documents)

    def for_measure(self, measure: Measure, judged: Table | None = None) -> Measure:
        """Return the measure; its ideal list holds all judged documents where their costs are not known."""
        budget = measure.budget
        if budget is None or not budget.adds or not measure.ideal_has_costs:
            return measure
        if judged is not None and _is_known(budget.column, judged):
            return measure
        if isinstance(measure, nDCG):
            return replace(measure, ideal_depth="all")
        raise BadParameter(
            f"{measure}: the ideal list needs the costs of judged documents",
            where=None if judged is None else judged.source,
            expected=f"a column {printable(budget.column)} in the judgments or the table of documents",
            fix=f"use nDCG@{budget}, whose ideal list can also be that of all judged documents",
        )

    def check_run(self, run: Table, measures: Measures) -> None:
        """Refuse measures whose budget is a column that the run does not have."""
        for measure in measures:
            for budget in measure.budgets:
                _require(run, measure, budget.column, of_documents=budget.adds)
            for name in measure.costs:
                column = name.removeprefix(REPEATED)
                _require(run, measure, column, of_documents=True)


def _require(run: Table, measure: Measure, column: str, *, of_documents: bool) -> None:
    """Refuse a run without a column; ``of_documents``: a table of documents could have it instead."""
    if column in run.unusable:
        run.requires(column)
    if column in run.columns:
        return
    error = MissingColumn.of(
        f"{measure} needs a column {column}",
        column,
        run.present or tuple(run.schema),
        run.source,
    )
    error.expected = "one number for each row of the run"
    if of_documents:
        error.expected += (
            ", or one for each document in a table of documents (--documents FILE)"
        )
    raise error


def with_numbers(
    table: Table, names: Sequence[str], documents: Attributes | None
) -> Table:
    """Return the table with those costs that it lacks and the table of documents has.

    Where there is no column ``characters``, it is the length of ``text``.
    """
    if documents is None:
        return table
    lacking = [name for name in names if name not in table.columns]
    wanted = [name for name in lacking if name in documents.columns]
    of_text = "characters" in {*lacking} - {*wanted} and "text" in documents.columns
    if not wanted and not of_text:
        return table

    numbers = documents.numbers(*wanted)
    arrays = {name: numbers[name].fill_null(0.0).to_numpy() for name in wanted}
    check_costs(arrays, documents.locate)
    if of_text:
        text = documents.collect("text")["text"].cast(pl.String)
        characters = text.str.len_chars().cast(pl.Float64)
        numbers = numbers.with_columns(characters=characters)

    def joined(piece: pl.DataFrame) -> pl.DataFrame:
        doc = pl.col("doc_id").cast(pl.String)
        return piece.join(
            numbers, left_on=doc, right_on="doc_id", how="left", maintain_order="left"
        )

    schema = dict(table.schema)
    for name in numbers.columns[1:]:
        schema[name] = pl.Float64()
    return table.mapped(joined, schema=schema)


def _is_known(column: str, judged: Table) -> bool:
    """Return True if every judgment has a number in this column."""
    if column not in judged.columns:
        return False
    number = pl.col(column).cast(pl.Float64).fill_nan(None)
    pieces = judged.tables([number])
    return not any(piece[column].null_count() for piece in pieces)
