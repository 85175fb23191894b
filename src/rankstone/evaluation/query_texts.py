"""Runs that name queries by their texts, where a golden set gives them ids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from rankstone.io.input_table import Table

_NOTE: Final = "queries by their texts"


def named_by_ids(run: Table, about: pl.DataFrame) -> Table:
    """Return a run in which queries have their ids in place of their texts.

    A text that is an id itself, or that several queries have, stays as it is.

    Parameters
    ----------
    run
        The opened run.
    about
        Attributes of queries: ``query_id`` and perhaps ``query``, the text.
    """
    if "query" not in about.columns:
        return run
    if run.schema.get("query_id") != pl.String:
        return run
    texts, ids = _texts_and_ids(about)
    if not len(texts):
        return run

    every_text = texts.implode()
    is_text = pl.col("query_id").is_in(every_text)
    with_id = pl.col("query_id").replace(texts, ids)
    replaced: list[str] = []

    def with_ids(piece: pl.DataFrame) -> pl.DataFrame:
        has_text = piece.select(is_text.any()).item()
        if has_text and not replaced:
            replaced.append(_NOTE)
        return piece.with_columns(with_id)

    def empty() -> pl.Series | None:
        queries = run.empty()
        if queries is None:
            return None
        return queries.replace(texts, ids)

    by_text = dict(zip(texts, ids, strict=True))
    failed = {by_text.get(query, query): reason for query, reason in run.failed.items()}

    def read_as() -> tuple[str, ...]:
        return (*run.read_as(), *replaced)

    return replace(run.mapped(with_ids), empty=empty, failed=failed, read_as=read_as)


def _texts_and_ids(about: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Return the texts that mean one query, and its id."""
    known = about.select(
        pl.col("query_id").cast(pl.String), pl.col("query").cast(pl.String)
    )
    every_id = known["query_id"].implode()
    is_id = pl.col("query").is_in(every_id)
    is_unique = pl.col("query").is_unique()
    pairs = known.drop_nulls()
    pairs = pairs.filter(is_unique, ~is_id)

    texts = pairs["query"]
    ids = pairs["query_id"]
    return texts, ids
