"""Sources of documents: a column of texts in the table of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import polars as pl

from rankstone._basics import Record
from rankstone.errors import BadParameter, printable
from rankstone.evaluation.side_inputs.side_input import SideInput
from rankstone.hits.extras.list_sources import NUMBER, ListSources

if TYPE_CHECKING:
    from rankstone._basics import Names
    from rankstone.evaluation.side_inputs.side_input import SideRequest
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table


class DocumentSources(Record, SideInput):
    """Numbers the sources of documents, and adds the numbers to runs.

    Attributes
    ----------
    columns
        The columns with sources.
    documents
        The table of documents.
    """

    columns: Names
    documents: Attributes

    @classmethod
    def of(cls, request: SideRequest) -> Self:
        """Return the columns that measures count, or refuse a measure without its column."""
        documents = request.documents
        present = () if documents is None else documents.columns
        columns: list[str] = []
        for measure in request.measures:
            if ListSources not in measure.requires:
                continue
            column = measure.column  # type: ignore[attr-defined] # of measures of sources
            if documents is None or column not in present:
                known = ", ".join(map(printable, present)) or "no table of documents"
                raise BadParameter(
                    f"{measure} needs the {printable(column)} of each document",
                    where=None if documents is None else documents.source,
                    given=known,
                    expected=f"documents with doc_id and {printable(column)}",
                    fix="give them: --documents FILE (in Python documents=…)",
                )
            columns.append(column)
        assert documents is not None  # noqa: S101 - a measure was refused otherwise
        return cls(tuple(dict.fromkeys(columns)), documents)

    def of_run(self, run: Table) -> Table:
        """Add the number of each document's source."""
        table = self.documents.collect(*self.columns)
        numbers = table.select("doc_id")
        for name in self.columns:
            # what is empty is no source
            texts = table[name].cast(pl.String).replace("", None)
            number = texts.rank("dense").cast(pl.Float64)
            numbers = numbers.with_columns(number.alias(NUMBER.format(name)))
        added = numbers.columns[1:]

        def joined(piece: pl.DataFrame) -> pl.DataFrame:
            document = pl.col("doc_id").cast(pl.String)
            rows = piece.join(
                numbers,
                left_on=document,
                right_on="doc_id",
                how="left",
                maintain_order="left",
            )
            return rows.with_columns(pl.col(added).fill_null(float("nan")))

        schema = dict(run.schema) | dict.fromkeys(added, pl.Float64())
        return run.mapped(joined, names=list(run.schema), schema=schema)
