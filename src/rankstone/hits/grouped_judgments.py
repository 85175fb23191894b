"""Grouped judgments: a document is judged once for each subtopic, intent or assessor.

For measures each group of a query becomes a query of its own; groups may have weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone._basics import Record, first_true
from rankstone.errors import (
    BadValue,
    DuplicateRows,
    EmptyInput,
    NotComparable,
    printable,
)
from rankstone.hits.judged_pool import Groups
from rankstone.hits.judgments import (
    Judgments,
    merge_duplicates,
    refuse_missing,
    treat_negative,
)
from rankstone.hits.list_arrays import list_numbers, offsets_of
from rankstone.hits.pair_index import PairIndex
from rankstone.hits.side_table_audit import SideTableAudit

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints, Locate, Names
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits
    from rankstone.hits.pair_index import QueryIndex


def grouped_judgments(
    table: pl.DataFrame,
    options: AlignmentOptions,
    locate: Locate,
    intents: Intents | None,
    queries: QueryIndex,
) -> Judgments:
    """Prepare a table with ``query_id``, ``doc_id``, ``subtopic``, perhaps ``subgroup``, and ``relevance``.

    The grade of a document is the highest of its subtopics', for measures that do not use subtopics.

    Parameters
    ----------
    table, options, locate, queries
        As for :meth:`~rankstone.hits.judgments.Judgments.of`.
    intents
        The weights of subtopics.
    """
    whole = [
        "query_id",
        "doc_id",
        *(c for c in ("subtopic", "subgroup") if c in table.columns),
    ]
    for column in whole[2:]:
        refuse_missing(table, column, locate, "a name")
    rows = table.with_row_index("row")
    twice = np.flatnonzero(table.select(whole).is_duplicated().to_numpy())
    single = merge_duplicates(rows, twice, options, locate, whole)
    settled = treat_negative(single, options, locate)
    further = [c for c in table.columns if c not in (*whole, "relevance")]
    by_doc = settled.group_by("query_id", "doc_id", maintain_order=True).agg(
        pl.col("relevance").max(),
        pl.col("row").first(),
        *(pl.col(c).first() for c in further),
    )
    first_rows = by_doc["row"].to_numpy()
    judgments = Judgments.of(
        by_doc.drop("row"), options, lambda row: locate(int(first_rows[row])), queries
    )
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


def _pooled(
    queries: QueryIndex, single: pl.DataFrame, settled: pl.DataFrame
) -> PairIndex | None:
    """Return the documents that were pooled but not judged for any subtopic."""
    if single.height == settled.height:
        return None
    pairs = ["query_id", "doc_id"]
    left = (
        single.select(pairs)
        .unique(maintain_order=True)
        .join(settled, on=pairs, how="anti")
    )
    return PairIndex(queries, queries.codes(left["query_id"]), left["doc_id"])


def _groups(
    judgments: Judgments,
    by_doc: pl.DataFrame,
    entries: pl.DataFrame,
    intents: Intents | None,
) -> Groups:
    """Arrange entries (query, document, subtopic, grade) by judged document."""
    place = np.empty(by_doc.height, np.int64)
    place[judgments.pairs.arranged(np.arange(by_doc.height))] = np.arange(by_doc.height)
    key = ["query_id", *(c for c in ("subtopic", "subgroup") if c in entries.columns)]
    names = entries.select(key).unique()
    query = pl.Series("query", judgments.queries.codes(names["query_id"]))
    names = names.with_columns(query).sort("query", *key[1:])  # a fixed order of sums
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
        offsets=offsets_of(counts),
        code=joined["code"].to_numpy().astype(np.int64),
        grade=joined["relevance"].to_numpy(),
        starts=offsets_of(per_query),
        weight=np.ones(names.height) if intents is None else intents.weights(names),
        names=names["subtopic"],
        parent=_parents(names) if "subgroup" in key else None,
    )


def _parents(names: pl.DataFrame) -> Ints:
    """Return the numbers, from 0 within each query, of the groups that subgroups belong to."""
    numbers = names.select(pl.col("subtopic").rank("dense").over("query") - 1)
    return numbers.to_series().to_numpy().astype(np.int64)


class ByGroup(Record):
    """The hits of groups, as if each group were a query.

    Attributes
    ----------
    hits
        Hits of the groups: the list's ranks, the group's grades.
    of_hit
        int64 ``[group hits]``: the original hit of each.
    query
        int64 ``[groups]``: the query of each group.
    weight
        float64 ``[groups]``.
    """

    hits: Hits
    of_hit: Ints
    query: Ints
    weight: Floats


def by_group(hits: Hits) -> ByGroup:
    """Return hits in which each group of a query is a query of its own; computed once for these hits.

    Unjudged documents belong to no group, even with an imputed grade.
    """
    return hits.remember("by group", lambda: _by_group(hits))


def _by_group(hits: Hits) -> ByGroup:
    from rankstone.hits.extras.pool_members import PoolMembers

    members = hits.added(PoolMembers)
    groups = members.groups
    known = np.flatnonzero(members.member >= 0)
    entries, of_known = groups.entries(members.member[known])
    of_hit = known[of_known]
    group = groups.starts[hits.query[of_hit]] + groups.code[entries]
    order = np.argsort(group, kind="stable")
    entries = entries[order]
    of_hit = of_hit[order]
    group = group[order]
    query = list_numbers(np.diff(groups.starts))
    count = int(groups.starts[-1])
    of_groups = hits.chosen(
        of_hit,
        query,
        offsets=offsets_of(np.bincount(group, minlength=count)),
        grade=groups.grade[entries],
        ideal=members.pool.group_ideal,
        trace=None,
    )
    return ByGroup(of_groups, of_hit, query, groups.weight)


_PAIR = ["query_id", "subtopic"]
_LARGEST = 1e100


class Intents(Record):
    """Weights of subtopics, such as the shares of users with that intent.

    Attributes
    ----------
    source
        The table's name in messages.
    table
        ``query_id`` and ``subtopic`` as text, ``weight`` as float64.
    locate
        Returns the place of a row of the table.
    read_as
        What was guessed of how a file is written.
    """

    source: str
    table: pl.DataFrame
    locate: Locate
    read_as: Names = ()

    def __post_init__(self) -> None:
        """Refuse a table without rows, rows without a name, weights below zero, and duplicate subtopics."""
        if not self.table.height:
            raise EmptyInput(
                "the table has no rows",
                where=self.source,
                expected="query_id, subtopic and weight of each intent",
            )
        for column in _PAIR:
            self._refuse(
                self.table[column].is_null(), f"an intent without {column}", "a name"
            )
        weight = self.table["weight"].fill_null(np.nan).to_numpy()
        self._refuse(
            pl.Series(~((weight >= 0) & (weight <= _LARGEST))),
            "the weight of an intent is not valid",
            "a number from 0 to 1e100",
        )
        twice = self.table.select(_PAIR).is_duplicated()
        if twice.any():
            row = first_true(twice)
            raise DuplicateRows(
                "an intent has two weights",
                where=self.locate(row),
                given=_pair(self.table, row),
            )

    def _refuse(self, bad: pl.Series, what: str, expected: str) -> None:
        if bad.any():
            row = first_true(bad)
            pair = f"{_pair(self.table, row)}, weight {self.table['weight'][row]}"
            raise BadValue(what, where=self.locate(row), given=pair, expected=expected)

    def weights(self, names: pl.DataFrame) -> Floats:
        """Return the weight of each judged subtopic in ``names`` (``query_id``, ``subtopic``), float64.

        A query without rows in the table has equal weights; a missing subtopic of a query with rows has
        weight 0.
        """
        names = names.select(pl.col(_PAIR).cast(pl.String))
        joined = names.join(
            self.table.select(*_PAIR, "weight"),
            on=_PAIR,
            how="left",
            maintain_order="left",
        )
        if names.height and joined["weight"].null_count() == joined.height:
            raise NotComparable(
                "no intent is a judged subtopic",
                where=self.source,
                given=f"{_pair(self.table, 0)}; judged: {_pair(names, 0)}",
                expected="the same names of queries and subtopics as in the judgments",
            )
        mentioned = joined.select(
            pl.col("weight").is_not_null().any().over("query_id")
        ).to_series()
        return (
            joined["weight"]
            .fill_null(pl.Series(np.where(mentioned, 0.0, 1.0)))
            .to_numpy()
        )

    def audit(self, judgments: Judgments) -> SideTableAudit:
        """Return how the table and the judgments match."""
        groups = judgments.groups
        assert groups is not None  # noqa: S101 - only grouped judgments are weighed
        queries = judgments.queries.names.cast(pl.String)
        names = pl.DataFrame(
            {"query_id": queries.gather(groups.query), "subtopic": groups.names}
        )
        listed = self.table.select("query_id").unique()
        left_out = names.join(self.table, on=_PAIR, how="anti").join(
            listed, on="query_id", how="semi"
        )
        return SideTableAudit(
            source=self.source,
            rows=self.table.height,
            unknown=self.table.join(names, on=_PAIR, how="anti").height,
            missing=len(queries)
            - int(queries.is_in(listed["query_id"].implode()).sum()),
            weightless=left_out.height,
            read_as=self.read_as,
        )


def _pair(table: pl.DataFrame, row: int) -> str:
    return f"query {printable(table['query_id'][row])}, subtopic {printable(table['subtopic'][row])}"
