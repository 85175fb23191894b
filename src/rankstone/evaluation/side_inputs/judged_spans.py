"""Judgments of spans: prepared by document, and runs whose rows are spans of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import polars as pl

from rankstone.errors import BadOption, MissingColumn, printable
from rankstone.evaluation.side_inputs.document_costs import with_numbers
from rankstone.evaluation.side_inputs.retrieval_units import (
    UnitTables,
    document_of,
    first_group,
)
from rankstone.hits.budgets import OFFSETS
from rankstone.hits.extras.text_spans import JudgedSpans, TextSpans, check_offsets
from rankstone.hits.extras.units import RetrievalUnits
from rankstone.hits.judgments import check_grades

if TYPE_CHECKING:
    from rankstone.errors import DuplicateRows
    from rankstone.evaluation.judged_rows import JudgedRows
    from rankstone.evaluation.side_inputs.side_input import Preparation, SideRequest
    from rankstone.hits.judgments import Judgments
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table


_TABLE: Final = "(--documents FILE) with doc_id, document, start and end"
#: an id with offsets, ``guide[0:120]``
_WITH_OFFSETS: Final = r"(?s)^(.*)\[[^\[\]]*\]$"


class SpanTables(UnitTables):
    """Prepares judgments of spans by document, and names the rows of runs by their spans.

    Attributes
    ----------
    units
        Turns ids of chunks into those of documents.
    recorded
        The option ``unit``; empty where ids are those of documents already.
    documents
        The table of documents, which may know the document and the offsets of every chunk.
    """

    documents: Attributes | None = None

    @classmethod
    def of(cls, request: SideRequest) -> Self:
        """Return what turns ids of chunks into those of documents; ids with offsets where none are given."""
        unit = request.unit
        documents = request.documents
        if request.same_as is not None:
            raise BadOption(
                "same_as is about whole documents, but these measures are about spans of text"
            )
        if unit in (None, "chunk"):
            if documents is None or "document" not in documents.columns:
                units = RetrievalUnits(first_group(_WITH_OFFSETS))
                return cls(units, documents=documents)
            unit = "document"
        units = RetrievalUnits(document_of(unit, documents))
        return cls(units, {"unit": printable(unit, 60)}, documents=documents)

    @classmethod
    def advise(cls, error: DuplicateRows, judged: Table) -> None:
        """Suggest measures of spans for a table that has offsets."""
        if {*OFFSETS} <= {*judged.present, *judged.schema}:
            error.fix = f"these are judgments of spans: use SpanR, SpanP or SpanIoU; or {error.fix}"

    def extended(self, table: Table) -> Table:
        """Add the offsets of documents, to text ids."""
        table = with_numbers(table, OFFSETS, self.documents)
        return super().extended(table)

    def of_run(self, run: Table) -> Table:
        """Return a run with the ``length`` of spans; where ids are those of documents, ``guide[0:120]``."""
        for name in OFFSETS:
            if name not in run.columns:
                error = MissingColumn.of(
                    f"measures of spans need a column {name}",
                    name,
                    run.present or tuple(run.schema),
                    run.source,
                )
                error.expected = f"{name} of each chunk in its document: in the run, or in a table {_TABLE}"
                raise error
        if "length" not in run.schema:
            start, end = (pl.col(name).cast(pl.Float64) for name in OFFSETS)
            run = run.mapped(
                lambda piece: piece.with_columns(length=end - start),
                (*run.schema,),
                schema={**run.schema, "length": pl.Float64()},
            )
        if self.recorded:
            return run
        return with_span_ids(run)

    def unit_ids(self, ids: pl.Series) -> pl.Series:
        """Return the ids as they are: every chunk is a hit."""
        return ids

    def prepare(self, rows: JudgedRows, rest: Preparation) -> Judgments:
        """Prepare documents with the best grade of their spans, then add the spans."""
        frame = rows.frame
        check_grades(frame, rows.locate)
        offsets = {}
        for name in OFFSETS:
            offsets[name] = frame[name].cast(pl.Float64).to_numpy()
        check_offsets(offsets, rows.locate, "a judged span")
        if self.recorded:
            ids = self.units.units(frame["doc_id"].cast(pl.String))
            frame = frame.with_columns(doc_id=ids)

        numbered = frame.with_row_index("row")
        documents = numbered.group_by("query_id", "doc_id", maintain_order=True)
        grade = pl.col("relevance").max()
        first_row = pl.col("row").first()
        merged = documents.agg(grade, first_row)
        sources = merged["row"].to_numpy()
        judgments = rows.prepared_as(merged.drop("row"), sources, rest)

        spans = JudgedSpans.of(frame, judgments, self._chunks())
        return judgments.with_extras(TextSpans(self.units, spans))

    def _chunks(self) -> pl.DataFrame | None:
        """Return the document and the offsets of all chunks, ``None`` where they are not known."""
        documents = self.documents
        if documents is None or not {*OFFSETS} <= {*documents.columns}:
            return None
        chunks = documents.numbers(*OFFSETS)
        return chunks.with_columns(doc_id=self.units.units(chunks["doc_id"]))


def with_span_ids(table: Table) -> Table:
    """Return a table of spans in which ``guide`` from 0 to 120 is the id ``guide[0:120]``."""

    def text(name: str) -> pl.Expr:
        number = pl.col(name).cast(pl.Float64)
        whole = number.cast(pl.Int64, strict=False)
        return (
            pl.when(number == whole)
            .then(whole.cast(pl.String))
            .otherwise(number.cast(pl.String))
        )

    ids = pl.format(
        "{}[{}:{}]",
        pl.col("doc_id").cast(pl.String),
        *(text(name).fill_null("?") for name in OFFSETS),
    )
    schema = {**table.schema, "doc_id": pl.String()}
    return table.mapped(lambda piece: piece.with_columns(doc_id=ids), schema=schema)
