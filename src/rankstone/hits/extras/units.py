"""Units: what a hit is.  Chunks of a document can count as one, and so can documents with equal texts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.hits.budgets import REPEATED, STEPS
from rankstone.hits.extras.agent_steps import repeats_in_step
from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.row_costs import sums_down
from rankstone.hits.list_arrays import list_numbers, ragged_range, sort_within
from rankstone.hits.pair_index import repeated
from rankstone.hits.ranks_and_ties import duplicate, tie_blocks
from rankstone.hits.tie_rules import TiedRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Floats, Ints, NamedValues
    from rankstone.hits.alignment_options import AlignmentOptions, UnitScore
    from rankstone.hits.batches import Batch
    from rankstone.hits.hits import Hits
    from rankstone.hits.matched_batch import MatchedBatch


class RetrievalUnits(Record, Extra[None]):
    """Turns the ids of what was retrieved into those of units.

    Attributes
    ----------
    document
        From chunks to documents; ``None`` where chunks are not rolled up.
    same
        From documents to classes of equal documents; ``None`` where there are none.
    """

    document: Callable[[pl.Series], pl.Series] | None = None
    same: Callable[[pl.Series], pl.Series] | None = None

    turn = 2

    def documents(self, ids: pl.Series) -> pl.Series:
        """Return the documents of ids."""
        return ids if self.document is None else self.document(ids)

    def units(self, ids: pl.Series) -> pl.Series:
        """Return the units of ids."""
        documents = self.documents(ids)
        return documents if self.same is None else self.same(documents)

    def columns(self, known: frozenset[str]) -> dict[str, pl.Expr]:
        """Read the ids of documents besides those of chunks."""
        if "doc_id" not in known:
            return {}
        doc = pl.col("doc_id")
        named = doc.map_batches(self.documents, pl.String, is_elementwise=True)
        return {
            "hash": named.hash().alias("hash"),
            "named": named.alias("named"),
            "own_hash": doc.hash().alias("own_hash"),
        }

    def before_sort(self, work: MatchedBatch) -> None:
        """Refuse rows that are there twice, and make one row of the chunks of a document unless one is best."""
        batch = work.batch
        self.count_chunks(work)
        if batch.docs is None:
            return
        if work.options.duplicates == "error" and batch.own_hash is not None:
            again = repeated(batch.own_hash, batch.lengths, batch.own_ids)
            if len(again) and repeats_in_step(batch, again):
                raise duplicate(replace(batch, named=None), again)
        if self.document is not None and work.options.unit_score != "max":
            work.batch = by_all_chunks(batch, work.options.unit_score)

    def count_chunks(self, work: MatchedBatch) -> None:
        """Count rows, and chunks among them, for the audit."""
        batch = work.batch
        if self.document is not None and batch.own_hash is not None:
            chunks = int(np.count_nonzero(batch.own_hash != batch.hashes))
            work.kept[RetrievalUnits] = {"rolled": batch.height, "chunks": chunks}

    def after_sort(self, work: MatchedBatch) -> None:
        """Leave the best chunk of each document, and name documents by their classes."""
        if work.batch.docs is None:
            return
        if self.document is not None and work.options.unit_score == "max":
            work.batch = by_best_chunk(work.batch, work.options)
        work.batch = in_classes(work.batch, self)

    def copies(self, batch: Batch) -> Ints | None:  # noqa: ARG002 - the interface
        """Return no rows where chunks became documents, each of which is there once."""
        return np.empty(0, np.int64) if self.same is None else None

    def forgives_copies(self, work: MatchedBatch) -> bool:  # noqa: ARG002 - whatever they are
        """Return True: the copies that are left have other ids."""
        return True

    def count(self, work: MatchedBatch, hits: Hits) -> NamedValues:  # noqa: ARG002 - of rows alone
        """Return the counts of chunks."""
        counts: NamedValues = work.kept.get(RetrievalUnits, {})
        return counts


def in_classes(batch: Batch, units: RetrievalUnits) -> Batch:
    """Return the batch whose ids are those of classes of equal documents."""
    if units.same is None:
        return batch
    documents = batch.documents if batch.named is None else batch.named
    named = units.same(documents)
    hashes = named.hash().to_numpy()
    hashes = hashes if batch.take is None else hashes[batch.take]
    return replace(batch, docs=documents, named=named, hash=hashes, in_classes=True)


def by_best_chunk(batch: Batch, options: AlignmentOptions) -> Batch:
    """Return a sorted batch with one row for each document, that of its best chunk.

    The cost of a row includes the chunks above it that were left out.
    """
    batch = _ordered(batch, options) if batch.costs else batch
    head = _heads(batch)
    heads = np.flatnonzero(head == np.arange(len(head)))
    if len(heads) == len(head):
        return batch
    lengths = np.bincount(batch.list_of_row[heads], minlength=len(batch.lengths))
    made = batch.rows_at(heads, lengths)
    added = {
        name: _since(values, batch, heads, made) for name, values in batch.costs.items()
    }
    return replace(made, costs=_unless_steps(added, made))


def _ordered(batch: Batch, options: AlignmentOptions) -> Batch:
    """Return the batch with tied rows by the ids of their documents, then by their own.

    Otherwise what is paid for above a document would depend on the order of the input.
    """
    blocks = tie_blocks(batch, options)
    rule = options.tie_rule
    if not len(blocks) or rule.key is None or not rule.needs_ids:
        return batch
    down = rule.descending
    rows = ragged_range(blocks.start, blocks.size)
    ids = {"unit": batch.ids, "own": batch.own_ids}
    keys = {
        name: rule.key(TiedRows(rows, partial(ids_of, rows)))
        for name, ids_of in ids.items()
    }
    frame = pl.DataFrame({"block": list_numbers(blocks.size), **keys, "row": rows})
    order = np.arange(batch.height)
    order[rows] = frame.sort("block", "unit", "own", descending=[False, down, down])[
        "row"
    ].to_numpy()
    return batch.rows_at(order, batch.lengths)


def _since(values: Floats, batch: Batch, heads: Ints, made: Batch) -> Floats:
    """Return the sum of values down to each head, since the head above it in its list."""
    spent = sums_down(values, batch.lengths)[heads]
    above = np.concatenate(([0.0], spent[:-1]))
    above[made.heads] = 0.0
    return np.asarray(spent - above)


def _heads(batch: Batch) -> Ints:
    """Return the first row of each row's document in its list, int64 ``[rows]``.

    Rows are sorted by hash, then place.  Ids are compared where hashes agree.
    """
    bits = np.uint64(int(batch.lengths.max(initial=1) - 1).bit_length())
    starts = np.repeat(batch.starts, batch.lengths)
    places = (np.uint64(1) << bits) - np.uint64(1)
    key = batch.hashes & ~places
    key |= (np.arange(batch.height) - starts).view(np.uint64)
    sort_within(key, batch.lengths)
    row = (key & places).view(np.int64)
    row += starts
    key >>= bits
    fresh = np.ones(len(key), bool)
    np.not_equal(key[1:], key[:-1], out=fresh[1:])
    fresh[batch.heads] = True
    texts = batch.documents if batch.named is None else batch.named
    # in one piece: Polars looks every id up among several
    ids = replace(batch, named=texts.rechunk()).ids(row)
    if ((ids[1:] == ids[:-1]).to_numpy() | fresh[1:]).all():
        begins = np.flatnonzero(fresh)
        head = np.empty(len(row), np.int64)
        head[row] = np.repeat(row[begins], np.diff(begins, append=len(row)))
        return head
    rows = pl.DataFrame(
        {"list": batch.list_of_row, "id": batch.ids(np.arange(batch.height))}
    )
    return (
        rows.with_row_index("row")
        .select(pl.col("row").first().over("list", "id"))["row"]
        .to_numpy()
        .astype(np.int64)
    )


def by_all_chunks(batch: Batch, score: UnitScore) -> Batch:
    """Return the batch with one row for each document, at its first chunk, whose score is made of all.

    ``first`` is the score of the chunk that comes first in the run, ``sum`` and ``mean`` are those of all
    chunks retrieved, ``top2`` is the sum of the best two.  Costs are added.
    """
    head = _heads(batch)
    heads = np.flatnonzero(head == np.arange(len(head)))
    made = batch.rows_at(
        heads, np.bincount(batch.list_of_row[heads], minlength=len(batch.lengths))
    )
    added = {name: _added(values, head, heads) for name, values in batch.costs.items()}
    key = None if batch.key is None else _scores(batch.key, head, heads, score)
    return replace(made, key=key, costs=_unless_steps(added, made))


def _unless_steps(added: dict[str, Floats], made: Batch) -> dict[str, Floats]:
    """Return added costs; a step, and what is repeated in rows, is that of the row itself."""
    own = {name for name in added if name in STEPS or name.startswith(REPEATED)}
    return {
        name: made.costs[name] if name in own else values
        for name, values in added.items()
    }


def _added(values: Floats, head: Ints, heads: Ints) -> Floats:
    """Add values of rows with the same head, in their order, for each head."""
    return np.asarray(
        np.bincount(head, values, int(heads.max(initial=-1)) + 1)[heads], np.float64
    )


def _scores(key: Floats, head: Ints, heads: Ints, score: UnitScore) -> Floats:
    """Return the score of each document; sums are in the order of rows."""
    if score == "first":
        return key[heads]
    if score == "top2":
        order = np.lexsort((-key, head))
        place = np.arange(len(order)) - np.searchsorted(head[order], head[order])
        best = np.sort(order[place < 2])  # noqa: PLR2004 - the best two
        key = key[best]
        head = head[best]
    total = _added(key, head, heads)
    return total / np.bincount(head)[heads] if score == "mean" else total
