"""From two runs to pairs of lists and their values: one run is loaded, the other is streamed.

The documents of the loaded run are matched like judged documents, so both runs are read, ordered, checked and
matched by the code of an evaluation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import EmptyInput
from rankstone.hits.pair_index import PairIndex, QueryIndex
from rankstone.rankings.rank_similarity.list_measure import (
    Agreement,
    ListMeasure,
    PairStatus,
)
from rankstone.rankings.rank_similarity.lists_audit import (
    ListsAudit,
    RankingAudit,
    total,
)
from rankstone.rankings.rank_similarity.paired_lists import PairedLists
from rankstone.rankings.rank_similarity.ranked_lists import load_run, read_ranked

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence

    from rankstone._basics import Bools, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.query_lists import Lists
    from rankstone.io.input_table import Table
    from rankstone.rankings.rank_similarity.ranked_lists import LoadedRun, OrderedBatch

Result = TypeVar("Result")

#: rows measured together: they fit a processor's cache
_ROWS: Final = 1 << 15


def stream_pairs(
    loaded: LoadedRun,
    table: Table,
    options: AlignmentOptions,
    each: Callable[[PairedLists, OrderedBatch], Result],
) -> tuple[list[Result], Lists]:
    """Stream a run, match it with the loaded one, and call ``each`` for every chunk, in order of the stream.

    The second value holds which queries of the loaded run are in the streamed one.
    """
    index = PairIndex(QueryIndex(loaded.names), loaded.ranked.query, loaded.docs)

    def work(streamed: OrderedBatch) -> Result:
        return each(_paired(loaded, index, streamed), streamed)

    return read_ranked(table, options, index.queries, work)


def _paired(loaded: LoadedRun, index: PairIndex, streamed: OrderedBatch) -> PairedLists:
    """Match the lists of a batch with those of the loaded run."""
    batch = streamed.batch
    common = np.flatnonzero(batch.codes >= 0)
    codes = batch.codes[common]
    a, _ = loaded.ranked.take(codes)
    b, rows = streamed.ranked.take(common)
    row_of_b = np.empty(batch.height, np.int64)
    row_of_b[rows] = np.arange(len(rows))
    shift_of_a = np.zeros(len(batch.codes), np.int64)
    shift_of_a[common] = a.offsets[:-1] - loaded.ranked.offsets[codes]
    matches = index.find(batch, batch.codes)
    to_b = np.full(len(a.first), -1)
    to_b[matches.pair + shift_of_a[matches.list]] = row_of_b[matches.row]
    return PairedLists(a, b, to_b)


class MeasuredBatch(Record):
    """The values of some lists of the streamed run, whose documents are released.

    Attributes
    ----------
    names, codes, heads, n
        Query ids, their numbers in the loaded run (-1 for others), the first rows of their lists in the run,
        and their lengths.
    values
        For each measure the values of the queries that both runs have.
    documents
        How many documents the lists of these have in either run, and in both.
    tally
        Counts for the audit.
    """

    names: pl.Series
    codes: Ints
    heads: Ints
    n: Ints
    values: list[Agreement]
    documents: tuple[int, int, int]
    tally: Counter[str]

    @classmethod
    def of(
        cls,
        paired: PairedLists,
        streamed: OrderedBatch,
        measures: tuple[ListMeasure, ...],
    ) -> MeasuredBatch:
        """Measure pairs of lists."""
        pieces = [
            [measure.compare(piece) for measure in measures]
            for piece in paired.parts(_ROWS)
        ]
        batch = streamed.batch
        return cls(
            names=batch.names,
            codes=batch.codes,
            heads=streamed.heads,
            n=streamed.ranked.n,
            values=[Agreement.joined(parts) for parts in zip(*pieces, strict=True)],
            documents=(
                len(paired.a.first),
                len(paired.b.first),
                int(paired.n_common.sum()),
            ),
            tally=streamed.tally,
        )


class JoinedParts:
    """All values: queries in the order of the first run, then those of the second run only.

    Parameters
    ----------
    loaded
        The first run.
    parts
        The values of the second run.
    only_a
        bool ``[queries of the first run]``: those that are not in the second.
    """

    def __init__(
        self, loaded: LoadedRun, parts: list[MeasuredBatch], only_a: Bools
    ) -> None:
        self._parts = parts
        self._loaded = loaded
        codes, heads, self._n_b = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("codes", "heads", "n")
        )
        common = codes[codes >= 0]
        alone_a = np.flatnonzero(only_a)
        alone_b = np.flatnonzero(codes < 0)
        of_a = np.append(common, alone_a)
        head = np.append(loaded.heads[of_a], heads[alone_b])
        is_other = np.repeat([False, True], (len(of_a), len(alone_b)))
        order = np.lexsort((head, is_other))
        self._order = order
        self._n_alone = (loaded.ranked.n[alone_a], self._n_b[alone_b])
        names_b = pl.concat([part.names for part in parts]).gather(alone_b)
        #: all query ids
        self.queries = pl.concat([loaded.names.gather(of_a), names_b]).gather(order)
        counts = (len(common), len(alone_a), len(alone_b))
        statuses = (PairStatus.ok, PairStatus.only_a, PairStatus.only_b)
        self._common = len(common)
        self._status = np.repeat(statuses, counts)[order]

    def agreement(self, place: int, measure: ListMeasure) -> Agreement:
        """Return the values of one measure for all queries."""
        n_a, n_b = (
            lengths if measure.k is None else np.minimum(lengths, measure.k)
            for lengths in self._n_alone
        )
        return Agreement.joined(
            [
                *(part.values[place] for part in self._parts),
                Agreement.without_value(PairStatus.only_a, n_a, np.zeros_like(n_a)),
                Agreement.without_value(PairStatus.only_b, np.zeros_like(n_b), n_b),
            ]
        ).take(self._order)

    def audit(self, names: tuple[str, str], a: Table, b: Table) -> ListsAudit:
        """Return the audit of both runs."""
        loaded = self._loaded
        queries = self.queries.cast(pl.String)
        of_a, of_b, common = np.sum([part.documents for part in self._parts], axis=0)
        tally_b = total(part.tally for part in self._parts)
        return ListsAudit(
            names=names,
            a=RankingAudit.of(
                a.source, loaded.ranked.n, loaded.tally, a.comments(), a.read_as()
            ),
            b=RankingAudit.of(b.source, self._n_b, tally_b, b.comments(), b.read_as()),
            common_queries=self._common,
            only_a=tuple(queries.filter(self._status == PairStatus.only_a)),
            only_b=tuple(queries.filter(self._status == PairStatus.only_b)),
            common_documents=int(common),
            documents_a=int(of_a),
            documents_b=int(of_b),
        )


def both_lists(
    query: str, a: tuple[Table, AlignmentOptions], b: tuple[Table, AlignmentOptions]
) -> pl.DataFrame:
    """Return both lists of a query as :meth:`~rankstone.rankings.Similarity.side_by_side` does."""
    first, second = (_one_list(query, *run) for run in (a, b))
    to = first.join(second, on="doc", how="left", maintain_order="left")["rank_right"]
    back = second.join(first, on="doc", how="left", maintain_order="left")["rank_right"]
    left = first.select("rank", a="doc", a_to=to, a_tied="tied")
    right = second.select("rank", b="doc", b_from=back, b_tied="tied")
    return left.join(right, on="rank", how="full", coalesce=True).sort("rank")


def _one_list(query: str, table: Table, options: AlignmentOptions) -> pl.DataFrame:
    """Return ``rank``, ``doc`` and ``tied`` of one query, no row where the run does not have it."""
    loaded = load_query(query, table, options)
    if loaded is None:
        return pl.DataFrame(
            schema={
                "rank": pl.Int64(),
                "doc": table.schema["doc_id"],
                "tied": pl.Boolean(),
            }
        )
    ranked = loaded.ranked
    rank = np.arange(1, len(loaded.docs) + 1)
    return pl.DataFrame(
        {"rank": rank, "doc": loaded.docs, "tied": ranked.first < ranked.last}
    )


def load_query(query: str, table: Table, options: AlignmentOptions) -> LoadedRun | None:
    """Return the list of one query, ``None`` where the run does not have it."""
    try:
        return load_run(rows_of_query(table, query), options)
    except EmptyInput:
        return None


def rows_of_query(table: Table, query: str) -> Table:
    """Return the rows of one query."""
    start = table.start

    def started(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for piece in start([pl.col(name) for name in table.schema]):
            yield piece.filter(pl.col("query_id").cast(pl.String) == query).select(
                columns
            )

    return replace(table, start=started)
