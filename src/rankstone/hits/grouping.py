"""Judgments in groups: a document judged once for each subtopic, intent or assessor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import BadValue
from rankstone.hits.exclusion import among
from rankstone.hits.judgments import Judgments, first, judged_queries, merge_duplicates, settle_negative
from rankstone.hits.pairs import PairIndex
from rankstone.hits.pool import Groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.hits.arrays import Ints
    from rankstone.hits.intents import Intents
    from rankstone.hits.options import Alignment
    from rankstone.hits.pairs import QueryIndex

__all__ = ["prepared"]


def prepared(
    table: pl.DataFrame,
    options: Alignment,
    locate: Callable[[int], str],
    intents: Intents | None = None,
    declared: pl.Series | None = None,
    excluded: pl.DataFrame | None = None,
) -> Judgments:
    """Prepare a table of judgments, in groups where it has a column ``subtopic``.

    Parameters
    ----------
    table, options, locate
        As for :meth:`~rankstone.hits.judgments.Judgments.of`.
    intents
        How much subtopics count.
    declared
        Ids of queries that are judged, too, and have no relevant document.
    excluded
        Pairs to leave out, if ``exclude_from`` says so; their queries stay judged.
    """
    queries = judged_queries(table, declared)

    def of(rows: pl.DataFrame, place: Callable[[int], str]) -> Judgments:
        if "subtopic" in rows.columns:
            return _grouped(rows, options, place, intents, queries)
        return Judgments.of(rows, options, place, queries)

    if excluded is None or options.exclude_from == "lists":
        return of(table, locate)
    out = among(table, excluded)
    rest = np.flatnonzero(~out)
    judgments = of(table[rest], lambda row: locate(int(rest[row])))
    return replace(
        judgments,
        row=rest[judgments.row],
        rows=table.height,
        declared=len(queries) - table["query_id"].n_unique(),
        excluded=int(out.sum()),
        excluded_relevant=int((out & (table["relevance"] > 0).to_numpy()).sum()),
    )


def _grouped(
    table: pl.DataFrame,
    options: Alignment,
    locate: Callable[[int], str],
    intents: Intents | None,
    queries: QueryIndex,
) -> Judgments:
    """Prepare a table with ``query_id``, ``doc_id``, ``subtopic``, perhaps ``subgroup``, and ``relevance``.

    A document's own grade is the highest of its subtopics', so that measures that know nothing of
    subtopics can be computed beside those that do.
    """
    whole = ["query_id", "doc_id", *(c for c in ("subtopic", "subgroup") if c in table.columns)]
    for column in whole[2:]:
        if table[column].null_count():
            at = first(table[column].is_null())
            raise BadValue(f"a judgment without {column}", where=locate(at), expected="a name")
    rows = table.with_row_index("row")
    twice = np.flatnonzero(table.select(whole).is_duplicated().to_numpy())
    single = merge_duplicates(rows, twice, options, locate, whole)
    settled = settle_negative(single, options, locate)
    further = [c for c in table.columns if c not in (*whole, "relevance")]
    by_doc = settled.group_by("query_id", "doc_id", maintain_order=True).agg(
        pl.col("relevance").max(), pl.col("row").first(), *(pl.col(c).first() for c in further)
    )
    first_rows = by_doc["row"].to_numpy()
    judgments = Judgments.of(by_doc.drop("row"), options, lambda row: locate(int(first_rows[row])), queries)
    return replace(
        judgments,
        row=first_rows[judgments.row].astype(np.int64),
        rows=table.height,
        negative=int((single["relevance"] < 0).sum()),
        duplicates=table.height - single.height,
        declared=len(queries) - table["query_id"].n_unique(),
        pooled=_pooled(queries, single, settled),
        groups=_groups(judgments, by_doc, settled, intents),
    )


def _pooled(queries: QueryIndex, single: pl.DataFrame, settled: pl.DataFrame) -> PairIndex | None:
    """Return the documents that were pooled and left unjudged for every subtopic."""
    if single.height == settled.height:
        return None
    pairs = ["query_id", "doc_id"]
    left = single.select(pairs).unique(maintain_order=True).join(settled, on=pairs, how="anti")
    return PairIndex(queries, queries.codes(left["query_id"]), left["doc_id"])


def _groups(
    judgments: Judgments, by_doc: pl.DataFrame, entries: pl.DataFrame, intents: Intents | None
) -> Groups:
    """Arrange entries (query, document, subtopic, grade) by judged document."""
    place = np.empty(by_doc.height, np.int64)
    place[judgments.pairs.arranged(np.arange(by_doc.height))] = np.arange(by_doc.height)
    key = ["query_id", *(c for c in ("subtopic", "subgroup") if c in entries.columns)]
    names = entries.select(key).unique()
    query = pl.Series("query", judgments.queries.codes(names["query_id"]))
    names = names.with_columns(query).sort("query", *key[1:])  # so that sums keep their order
    names = names.with_columns(code=pl.int_range(pl.len()).over("query"))
    joined = entries.join(names, on=key, how="left", maintain_order="left").join(
        by_doc.select("query_id", "doc_id", pl.Series("place", place)),
        on=["query_id", "doc_id"],
        how="left",
        maintain_order="left",
    )
    joined = joined.sort("place", "code", maintain_order=True)
    counts = np.bincount(joined["place"].to_numpy(), minlength=by_doc.height)
    per_query = np.bincount(names["query"].to_numpy(), minlength=len(judgments.queries))
    return Groups(
        offsets=np.concatenate(([0], np.cumsum(counts))),
        code=joined["code"].to_numpy().astype(np.int64),
        grade=joined["relevance"].to_numpy(),
        starts=np.concatenate(([0], np.cumsum(per_query))),
        weight=np.ones(names.height) if intents is None else intents.weights(names),
        names=names["subtopic"],
        parent=_parents(names) if "subgroup" in key else None,
    )


def _parents(names: pl.DataFrame) -> Ints:
    """Return the numbers, from 0 within each query, of the groups that subgroups belong to."""
    numbers = names.select(pl.col("subtopic").rank("dense").over("query") - 1)
    return numbers.to_series().to_numpy().astype(np.int64)
