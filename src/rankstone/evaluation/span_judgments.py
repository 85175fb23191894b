"""Judgments of spans: prepared by document, and runs whose rows are spans of documents."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import DuplicateRows, MissingColumn
from rankstone.evaluation.pipeline import prepare_judgments
from rankstone.hits.budgets import OFFSETS
from rankstone.hits.judgments import check_grades

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import Locate
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.extras.units import RetrievalUnits
    from rankstone.hits.judgments import Judgments
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure


_TABLE: Final = "(--documents FILE) with doc_id, document, start and end"


def reads_spans(measures: Sequence[Measure]) -> bool:
    """Return True if judgments are of spans of text."""
    return any(
        extra.shares_judgments for measure in measures for extra in measure.requires
    )


@contextmanager
def suggesting_spans(judged: Table) -> Iterator[None]:
    """Suggest measures of spans where a document is judged twice, in a table that has offsets."""
    try:
        yield
    except DuplicateRows as error:
        if {*OFFSETS} <= {*judged.present, *judged.schema}:
            error.fix = f"these are judgments of spans: use SpanR, SpanP or SpanIoU; or {error.fix}"
        raise


def judged_spans(
    frame: pl.DataFrame,
    units: RetrievalUnits,
    options: AlignmentOptions,
    locate: Locate,
    declared: pl.Series | None,
    excluded: pl.DataFrame | None,
    documents: Attributes | None,
) -> Judgments:
    """Prepare judgments of spans: their documents have the best grade of their spans.

    Parameters
    ----------
    frame
        ``query_id``, ``doc_id``, ``relevance``, ``start``, ``end``, and perhaps ``nugget``.
    units
        Turns ids of chunks into those of documents.
    options, locate, declared, excluded
        As for :func:`~rankstone.evaluation.pipeline.prepare_judgments`.
    documents
        The table of documents, which may know the document and the offsets of every chunk.
    """
    from rankstone.hits.extras.text_spans import JudgedSpans, TextSpans, check_offsets

    check_grades(frame, locate)
    check_offsets(
        {name: frame[name].cast(pl.Float64).to_numpy() for name in OFFSETS},
        locate,
        "a judged span",
    )
    if units.options:  # otherwise these are documents already
        frame = frame.with_columns(doc_id=units.units(frame["doc_id"].cast(pl.String)))
    best = frame.with_row_index("row").group_by(
        "query_id", "doc_id", maintain_order=True
    )
    merged = best.agg(pl.col("relevance").max(), pl.col("row").first())
    rows = merged["row"].to_numpy()
    judgments = prepare_judgments(
        merged.drop("row"),
        options,
        lambda row: locate(int(rows[row])),
        None,
        declared,
        excluded,
    )
    chunks = None
    if documents is not None and {*OFFSETS} <= {*documents.columns}:
        known = documents.numbers(*OFFSETS)
        chunks = known.with_columns(doc_id=units.units(known["doc_id"]))
    spans = JudgedSpans.of(frame, judgments, chunks)
    judgments = replace(judgments, row=rows[judgments.row], rows=frame.height)
    return judgments.with_extras(TextSpans(units, spans))


def with_chunk_ids(run: Table, units: RetrievalUnits) -> Table:
    """Return a run of spans with their ``length``; where ids are those of documents, ``guide[0:120]``."""
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
        schema = {**run.schema, "length": pl.Float64()}
        run = run.mapped(
            lambda piece: piece.with_columns(length=end - start),
            (*run.schema,),
            schema=schema,
        )
    return run if units.options else with_span_ids(run)


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
