"""Judgments in groups: a document judged once for each subtopic, intent or assessor.

Each group of a query (subtopic, intent, assessor) as a query of its own.

How much each subtopic of a query counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import BadValue, DuplicateRows, NotComparable, printable
from rankstone.hits.alignment_audit import BesideAudit
from rankstone.hits.exclusion import rows_in
from rankstone.hits.judged_pool import Groups
from rankstone.hits.judgments import Judgments, first, judged_queries, merge_duplicates, settle_negative
from rankstone.hits.list_arrays import offsets_of
from rankstone.hits.pair_index import PairIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Floats, Ints
    from rankstone.hits.pair_index import QueryIndex


def prepared(
    table: pl.DataFrame,
    options: AlignmentOptions,
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
    out = rows_in(table, excluded)
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
    options: AlignmentOptions,
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


@dataclass(frozen=True, eq=False)
class ByGroup:
    """The hits of each group of a query, as if the group were a query.

    Attributes
    ----------
    hits
        Hits of the groups: the list's ranks, the group's grades.
    of_hit
        int64 ``[group hits]``: the hit that each stands for.
    query
        int64 ``[groups]``: the query that each group belongs to.
    weight
        float64 ``[groups]``.
    """

    hits: Hits
    of_hit: Ints
    query: Ints
    weight: Floats


def by_group(hits: Hits) -> ByGroup:
    """Return hits in which each group of a query is a query of its own; made once for these hits.

    Documents nobody judged belong to no group, whatever grade was imputed to them.
    """
    return hits.remember("by group", lambda: _by_group(hits))


def _by_group(hits: Hits) -> ByGroup:
    pool, member = hits.judged_documents()
    groups = pool.groups
    assert groups is not None  # noqa: S101 - alignment brings them to measures that ask
    known = np.flatnonzero(member >= 0)
    entries, of_known = groups.entries(member[known])
    of_hit = known[of_known]
    own = groups.starts[hits.query[of_hit]] + groups.code[entries]
    order = np.argsort(own, kind="stable")
    entries, of_hit, own = entries[order], of_hit[order], own[order]
    query = np.repeat(np.arange(hits.queries), np.diff(groups.starts))
    count = int(groups.starts[-1])
    of_groups = replace(
        hits,
        offsets=offsets_of(np.bincount(own, minlength=count)),
        rank=hits.rank[of_hit],
        grade=groups.grade[entries],
        first=hits.first[of_hit],
        last=hits.last[of_hit],
        judged=hits.judged[of_hit],
        n=hits.n[query],
        length=hits.length[query],
        ideal=pool.group_ideal,
        found=hits.found[query],
        candidates=None if hits.candidates is None else hits.candidates[query],
        run_row=None if hits.run_row is None else hits.run_row[of_hit],
        judgment_row=None if hits.judgment_row is None else hits.judgment_row[of_hit],
        member=None,
        pool=None,
        pooled=None,
        holes=None,
        about={name: values[query] for name, values in hits.about.items()},
        trace=None,
        _memo={},
    )
    return ByGroup(of_groups, of_hit, query, groups.weight)


_PAIR = ["query_id", "subtopic"]
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Intents:
    """Weights of subtopics, such as the shares of users who mean them.

    Attributes
    ----------
    source
        What to call the table in messages.
    table
        ``query_id`` and ``subtopic`` as text, ``weight`` as float64.
    locate
        Says where a row of the table stands.
    """

    source: str
    table: pl.DataFrame
    locate: Callable[[int], str]

    def __post_init__(self) -> None:
        """Refuse rows without a name, weights below zero, and a subtopic named twice."""
        for column in _PAIR:
            self._refuse(self.table[column].is_null(), f"an intent without {column}", "a name")
        weight = self.table["weight"].fill_null(np.nan).to_numpy()
        self._refuse(
            pl.Series(~((weight >= 0) & (weight <= _LARGEST))),
            "the weight of an intent is no share",
            "a number, 0 or more (shares are sums; beyond 1e100 they leave the range of numbers)",
        )
        twice = self.table.select(_PAIR).is_duplicated()
        if twice.any():
            at = twice.arg_max() or 0
            raise DuplicateRows(
                "an intent has two weights", where=self.locate(at), given=_named(self.table, at)
            )

    def _refuse(self, bad: pl.Series, what: str, expected: str) -> None:
        if bad.any():
            at = bad.arg_max() or 0
            given = f"{_named(self.table, at)}, weight {self.table['weight'][at]}"
            raise BadValue(what, where=self.locate(at), given=given, expected=expected)

    def weights(self, names: pl.DataFrame) -> Floats:
        """Return the weight of each judged subtopic in ``names`` (``query_id``, ``subtopic``), float64.

        A query that the table does not mention has equal weights; a subtopic that it leaves out of a
        query it does mention weighs nothing.
        """
        names = names.select(pl.col(_PAIR).cast(pl.String))
        found = names.join(self.table.select(*_PAIR, "weight"), on=_PAIR, how="left", maintain_order="left")
        if names.height and found["weight"].null_count() == found.height:
            raise NotComparable(
                "no intent is a judged subtopic",
                where=self.source,
                given=f"{_named(self.table, 0)}; judged: {_named(names, 0)}",
                expected="queries and subtopics by the names that the judgments use",
            )
        mentioned = found.select(pl.col("weight").is_not_null().any().over("query_id")).to_series()
        return found["weight"].fill_null(pl.Series(np.where(mentioned, 0.0, 1.0))).to_numpy()

    def audit(self, judgments: Judgments) -> BesideAudit:
        """Say how the table and the judgments fit together."""
        groups = judgments.groups
        assert groups is not None  # noqa: S101 - only grouped judgments are weighed
        queries = judgments.queries.names.cast(pl.String)
        names = pl.DataFrame({"query_id": queries.gather(groups.query), "subtopic": groups.names})
        listed = self.table.select("query_id").unique()
        left_out = names.join(self.table, on=_PAIR, how="anti").join(listed, on="query_id", how="semi")
        return BesideAudit(
            source=self.source,
            rows=self.table.height,
            unknown=self.table.join(names, on=_PAIR, how="anti").height,
            missing=len(queries) - int(queries.is_in(listed["query_id"].implode()).sum()),
            weightless=left_out.height,
        )


def _named(table: pl.DataFrame, row: int) -> str:
    return f"query {printable(table['query_id'][row])}, subtopic {printable(table['subtopic'][row])}"
