"""Pairs that are excluded from lists before ranks are given, from judgments, or from both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import printable
from rankstone.hits.excluded_rows import SHOWN, LeftOut
from rankstone.hits.extras.extra import Extra
from rankstone.hits.pair_index import PairIndex, QueryIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone._basics import Bools, Ints, NamedValues
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits
    from rankstone.hits.matched_batch import MatchedBatch
    from rankstone.hits.tallies import Tally


_PAIR: Final = ["query_id", "doc_id"]


class Exclusion(Record, Extra[None]):
    """Pairs that are excluded from lists.

    Attributes
    ----------
    pairs
        Index of the pairs.
    relevant
        bool ``[pairs]`` in the order of the index: judged with a grade above zero.
    """

    pairs: PairIndex
    relevant: Bools

    turn = 0

    @classmethod
    def of_pairs(
        cls, pairs: pl.DataFrame, judged: pl.DataFrame, options: AlignmentOptions
    ) -> Exclusion | None:
        """Prepare unique pairs, with the judgments as they were given; ``None`` where lists keep them."""
        if options.exclude_from == "judgments":
            return None
        queries = QueryIndex(pairs["query_id"].unique(maintain_order=True))
        index = PairIndex(queries, queries.codes(pairs["query_id"]), pairs["doc_id"])
        good = judged.filter(pl.col("relevance") > 0).select(_PAIR)
        return cls(index, index.arranged(rows_in(pairs, good)))

    def before_sort(self, work: MatchedBatch) -> None:
        """Remove the excluded rows."""
        batch = work.batch
        matches = self.pairs.find(batch, self.pairs.queries.codes(batch.names))
        work.batch = batch.without_rows(matches.row)
        work.kept[Exclusion] = matches.pair

    def count(self, work: MatchedBatch, hits: Hits) -> NamedValues:  # noqa: ARG002 - of rows alone
        """Return the excluded pair of each row that was removed."""
        return {"left_out": work.kept[Exclusion]}

    def audit(self, tallies: Sequence[Tally]) -> NamedValues:
        """Return what was removed from a run."""
        pairs = [tally.left_out for tally in tallies]
        unmatched, examples = self._unmatched(pairs)
        left_out = LeftOut(
            rows=sum(map(len, pairs)),
            relevant=sum(int(self.relevant[rows].sum()) for rows in pairs),
            pairs_relevant=int(self.relevant.sum()),
            unmatched=unmatched,
            examples=tuple(examples),
        )
        return {"left_out": left_out}

    def _unmatched(self, matched: Iterable[Ints]) -> tuple[int, list[str]]:
        """Return how many pairs are in no list, and the first of them by their ids' text."""
        missed = np.ones(len(self.relevant), bool)
        for pairs in matched:
            missed[pairs] = False
        pair = np.flatnonzero(missed)
        names = self.pairs.queries.names.gather(self.pairs.query[pair]).cast(pl.String)
        texts = pl.DataFrame(
            {"query": names, "doc": self.pairs.docs.gather(pair).cast(pl.String)}
        )
        first = texts.bottom_k(SHOWN, by=["query", "doc"]).sort("query", "doc")
        shown = [
            f"{printable(query, 40)} {printable(doc, 40)}"
            for query, doc in first.iter_rows()
        ]
        return len(pair), shown


def pairs_of(table: pl.DataFrame, kinds: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Return unique pairs with ids in the judgments' types; ids that cannot be converted are left out."""
    like: dict[str, pl.DataType] = {name: kinds[name] for name in _PAIR}
    return (
        table.select(_PAIR)
        .cast(like, strict=False)  # type: ignore[arg-type]
        .drop_nulls()
        .unique(maintain_order=True)
    )


def rows_in(rows: pl.DataFrame, pairs: pl.DataFrame) -> Bools:
    """Return which rows hold one of the pairs, bool ``[rows]``."""
    known = pairs.select(_PAIR).unique().with_columns(known=pl.lit(value=True))
    joined = rows.select(_PAIR).join(known, on=_PAIR, how="left", maintain_order="left")
    return joined["known"].fill_null(value=False).to_numpy()


class QueryDocuments(Extra[None]):
    """Removes the documents that have the id of their query."""

    turn = 1

    def before_sort(self, work: MatchedBatch) -> None:
        """Remove them from each list."""
        batch = work.batch
        if batch.docs is None:
            return
        docs = batch.ids(np.arange(batch.height)).cast(pl.String)
        queries = batch.names.gather(batch.list_of_row).cast(pl.String)
        work.batch = batch.without_rows(np.flatnonzero((docs == queries).to_numpy()))
