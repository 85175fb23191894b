"""Pairs that are excluded from lists before ranks are given, from judgments, or from both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, noted
from rankstone.errors import printable
from rankstone.hits.extras.extra import Extra
from rankstone.hits.pair_index import PairIndex, QueryIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone._basics import Bools, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits
    from rankstone.hits.matched_batch import MatchedBatch
    from rankstone.hits.tallies import Tally


#: pairs without a match that a message names
SHOWN: Final = 3
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

    def count(self, work: MatchedBatch, hits: Hits) -> dict[str, Any]:  # noqa: ARG002 - of rows alone
        """Return the excluded pair of each row that was removed."""
        return {"left_out": work.kept[Exclusion]}

    def audit(self, tallies: Sequence[Tally]) -> dict[str, Any]:
        """Return what was removed from a run."""
        return {"left_out": LeftOut.of(self, tallies)}

    def unmatched(self, matched: Iterable[Ints]) -> tuple[int, list[str]]:
        """Return how many pairs are in no list, and the first of them by their ids' text."""
        missed = np.ones(len(self.relevant), bool)
        for pairs in matched:
            missed[pairs] = False
        at = np.flatnonzero(missed)
        names = self.pairs.queries.names.gather(self.pairs.query[at]).cast(pl.String)
        texts = pl.DataFrame(
            {"query": names, "doc": self.pairs.docs.gather(at).cast(pl.String)}
        )
        first = texts.bottom_k(SHOWN, by=["query", "doc"]).sort("query", "doc")
        return len(at), [
            f"{printable(query, 40)} {printable(doc, 40)}"
            for query, doc in first.iter_rows()
        ]


@dataclass(frozen=True)
class LeftOut:
    """What exclusion removed from a run.

    Attributes
    ----------
    rows, relevant
        Rows removed from the lists; those of them judged with a grade above zero.
    pairs_relevant
        Excluded pairs judged with a grade above zero, whether or not they are in a list.
    unmatched, examples
        Excluded pairs that are in no list: how many, and some of them.
    """

    rows: int = 0
    relevant: int = 0
    pairs_relevant: int = 0
    unmatched: int = 0
    examples: tuple[str, ...] = ()

    @classmethod
    def of(cls, exclude: Exclusion, tallies: Sequence[Tally]) -> LeftOut:
        """Add up the rows that were excluded from batches of lists."""
        pairs = [one.left_out for one in tallies]
        relevant = sum(int(exclude.relevant[some].sum()) for some in pairs)
        unmatched, examples = exclude.unmatched(pairs)
        every = int(exclude.relevant.sum())
        return cls(sum(map(len, pairs)), relevant, every, unmatched, tuple(examples))

    def line(self, *, in_ideal: bool) -> str:
        """Return a sentence; ``in_ideal``: True if excluded relevant documents stay in the ideal list."""
        shown = ", ".join(self.examples) + (
            " …" if self.unmatched > len(self.examples) else ""
        )
        left = self.pairs_relevant if in_ideal else 0
        parts = (
            f"{counted(self.rows, 'row')} excluded, {self.relevant:,} of them relevant",
            noted(self.unmatched, "pair", f"to exclude in no list ({shown})"),
            noted(
                left,
                "excluded relevant document",
                "still in the ideal list (exclude_from=both removes them)",
            ),
        )
        return ", ".join(filter(None, parts))


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
    matched: Bools = joined["known"].fill_null(value=False).to_numpy()
    return matched


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
