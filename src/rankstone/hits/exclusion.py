"""Pairs that are taken out: of lists before ranks are given, of judgments, or of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._text import counted, noted
from rankstone.errors import printable
from rankstone.hits.pair_index import BatchKeys, PairIndex, QueryIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone.hits.alignment_audit import Tally
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.list_arrays import Bools, Ints


#: pairs that matched nothing and are named
SHOWN: Final = 3
_PAIR: Final = ["query_id", "doc_id"]


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Pairs that are taken out of lists.

    Attributes
    ----------
    pairs
        Index of the pairs.
    relevant
        bool ``[pairs]`` in the order of the index: judged with a grade above zero.
    """

    pairs: PairIndex
    relevant: Bools

    @classmethod
    def of(
        cls, pairs: pl.DataFrame | None, judged: pl.DataFrame, options: AlignmentOptions
    ) -> Exclusion | None:
        """Prepare pairs, each once, beside the judgments as they were given.

        ``None`` where there are none, or lists keep theirs.
        """
        if pairs is None or options.exclude_from == "judgments":
            return None
        queries = QueryIndex(pairs["query_id"].unique(maintain_order=True))
        index = PairIndex(queries, queries.codes(pairs["query_id"]), pairs["doc_id"])
        good = judged.filter(pl.col("relevance") > 0).select(_PAIR)
        return cls(index, index.arranged(among(pairs, good)))

    def without(self, batch: Batch) -> tuple[Batch, Ints]:
        """Return the batch less the excluded rows, and the pair behind each of these."""
        found = self.pairs.find(batch, self.pairs.queries.codes(batch.names), BatchKeys(batch))
        if not len(found.row):
            return batch, found.pair
        stays = np.ones(batch.height, bool)
        stays[found.row] = False
        lengths = np.bincount(batch.list_of_row[stays], minlength=len(batch.lengths))
        return batch.rows_at(np.flatnonzero(stays), lengths), found.pair

    def unmatched(self, matched: Iterable[Ints]) -> tuple[int, list[str]]:
        """Return how many pairs stood in no list, and the first of them by their ids' texts."""
        left = np.ones(len(self.relevant), bool)
        for pairs in matched:
            left[pairs] = False
        at = np.flatnonzero(left)
        names = self.pairs.queries.names.gather(self.pairs.query[at]).cast(pl.String)
        texts = pl.DataFrame({"query": names, "doc": self.pairs.docs.gather(at).cast(pl.String)})
        first = texts.bottom_k(SHOWN, by=["query", "doc"]).sort("query", "doc")
        return len(at), [f"{printable(query, 40)} {printable(doc, 40)}" for query, doc in first.iter_rows()]


@dataclass(frozen=True)
class LeftOut:
    """What excluding pairs did to a run.

    Attributes
    ----------
    rows, relevant
        Rows taken out of the lists; those of them judged with a grade above zero.
    pairs_relevant
        Excluded pairs judged with a grade above zero, whether or not they stand in a list.
    unmatched, examples
        Excluded pairs that stand in no list, and some of them.
    """

    rows: int = 0
    relevant: int = 0
    pairs_relevant: int = 0
    unmatched: int = 0
    examples: tuple[str, ...] = ()

    @classmethod
    def of(cls, exclude: Exclusion | None, tallies: Sequence[Tally]) -> LeftOut | None:
        """Add up what batches of lists lost; ``None`` where nothing is excluded."""
        if exclude is None:
            return None
        pairs = [one.left_out for one in tallies]
        relevant = sum(int(exclude.relevant[some].sum()) for some in pairs)
        unmatched, examples = exclude.unmatched(pairs)
        every = int(exclude.relevant.sum())
        return cls(sum(map(len, pairs)), relevant, every, unmatched, tuple(examples))

    def line(self, *, in_ideal: bool) -> str:
        """Say it in a sentence; ``in_ideal``: whether the excluded relevant documents stay in the ideal."""
        shown = ", ".join(self.examples) + (" …" if self.unmatched > len(self.examples) else "")
        left = self.pairs_relevant if in_ideal else 0
        parts = (
            f"{counted(self.rows, 'row')} excluded, {self.relevant:,} of them relevant",
            noted(self.unmatched, "pair", f"to exclude in no list ({shown})"),
            noted(
                left, "excluded relevant document", "still in the ideal (exclude_from=both takes them out)"
            ),
        )
        return ", ".join(filter(None, parts))


def pairs_of(table: pl.DataFrame, kinds: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Return pairs, each once, with ids of the judgments' kinds; what cannot be such an id is left out."""
    like: dict[str, pl.DataType] = {name: kinds[name] for name in _PAIR}
    return table.select(_PAIR).cast(like, strict=False).drop_nulls().unique(maintain_order=True)  # type: ignore[arg-type]


def among(rows: pl.DataFrame, pairs: pl.DataFrame) -> Bools:
    """Return which rows are about one of the pairs, bool ``[rows]``."""
    known = pairs.select(_PAIR).unique().with_columns(there=pl.lit(value=True))
    found = rows.select(_PAIR).join(known, on=_PAIR, how="left", maintain_order="left")
    there: Bools = found["there"].fill_null(value=False).to_numpy()
    return there


def without_own(batch: Batch) -> Batch:
    """Return the batch less the documents that have the id of their query."""
    if batch.docs is None:
        return batch
    lists = batch.list_of_row
    docs, queries = batch.ids(np.arange(batch.height)), batch.names.gather(lists)
    own = (docs.cast(pl.String) == queries.cast(pl.String)).to_numpy()
    if not own.any():
        return batch
    lengths = np.bincount(lists[~own], minlength=len(batch.lengths))
    return batch.rows_at(np.flatnonzero(~own), lengths)
