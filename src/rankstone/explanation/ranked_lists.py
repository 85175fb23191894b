"""Ranked lists with grades, for many queries of a run at once: what a page shows side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.explanation.explain_scores import keeping_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.explanation.explain_scores import Explainer
    from rankstone.hits.hits import Hits
    from rankstone.hits.matching import Chunk


def ranked_lists(ready: Explainer, run: object, name: str, queries: Sequence[str]) -> pl.DataFrame:
    """Return one row for each retrieved document of some queries, aligned as the scores are.

    Parameters
    ----------
    ready
        Judgments and options.
    run, name
        The run.
    queries
        The queries.

    Returns
    -------
    polars.DataFrame
        ``query_id``, ``doc_id``, ``rank``, ``relevance`` (null where the document is not judged).

    Examples
    --------
    >>> from rankstone.explanation import Explainer
    >>> ready = Explainer({"q1": {"a": 1}, "q2": {"b": 1}}, "RR")
    >>> ranked_lists(ready, {"q1": ["x", "a"], "q2": ["b"]}, "run", ["q1"]).rows()
    [('q1', 'x', 1, None), ('q1', 'a', 2, 1.0)]
    """
    prepared = ready.prepared
    pipeline, table = prepared.pipeline(prepared.open(_rows(ready, run, name, queries), name))
    parts, _ = keeping_queries(pipeline).align(table, _listed, frozenset({"rows", "holes"}))
    doc = pl.col("doc_id") if prepared.collapse is None else prepared.collapse(pl.col("doc_id"))
    ids = pl.concat(list(table.tables([doc.cast(pl.String).alias("doc_id")])))["doc_id"]
    every = pl.concat(parts).sort("query_id", "rank", maintain_order=True)
    return every.select("query_id", ids.gather(every["row"]).alias("doc_id"), "rank", "relevance")


def _rows(ready: Explainer, run: object, name: str, queries: Sequence[str]) -> object:
    """Return the rows of the queries; plain lists of documents have no order but their own, and stay such."""
    table = ready.opened(run, name)
    is_wanted = pl.col("query_id").cast(pl.String).is_in(list(queries))
    rows = pl.concat([piece.filter(is_wanted) for piece in table.tables(list(map(pl.col, table.schema)))])
    if not table.listed:
        return rows
    parts = rows.partition_by("query_id", as_dict=True, maintain_order=True)
    return {key[0]: part["doc_id"].to_list() for key, part in parts.items()}


def _listed(chunk: Chunk, hits: Hits) -> pl.DataFrame:
    """Return the documents of a chunk: hits with their grades, and the others."""
    del hits  # cut for the measure; the chunk has them all
    found = chunk.hits
    query = np.repeat(np.arange(found.queries), np.diff(found.offsets))
    grade = np.where(found.judged, found.grade, np.nan)
    rank, row = found.rank, found.run_row
    if (holes := found.holes) is not None:
        query, rank = np.concatenate([query, holes.query]), np.concatenate([rank, holes.rank])
        row = holes.run_row if row is None else np.concatenate([row, holes.run_row])
        grade = np.concatenate([grade, np.full(len(holes.rank), np.nan)])
    names = chunk.names.cast(pl.String).gather(query)
    return pl.DataFrame(
        {"query_id": names, "rank": rank, "row": row, "relevance": pl.Series(grade).fill_nan(None)}
    )
