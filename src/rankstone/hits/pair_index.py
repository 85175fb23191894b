"""An index of (query, document) pairs, in which a whole batch of rows is looked up at once.

The pairs to look up are entered into a hash table in which every list has slots of its own, side by side, so
that it fits into the processor's cache.  Ids are compared wherever hashes agree: a collision costs time, but
never changes a result.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.hits.list_arrays import (
    list_numbers,
    next_to_equals,
    offsets_of,
    ragged_range,
    sort_within,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Ints
    from rankstone.hits.batches import Batch


_HASH_BITS: Final = 64
#: an odd number that mixes the bits of a hash: 2⁶⁴ divided by the golden ratio
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
#: after so many tables only pairs whose hashes are equal, or that are very unlucky, have no slot
_TABLES: Final = 12
#: fewer of the known names than one in so many are looked up by binary search
_FEW: Final = 16


def hash_ids(ids: pl.Series, seed: int = 0) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each id; equal ids have equal hashes, within one process."""
    return ids.hash(seed).to_numpy()


class QueryIndex:
    """Query ids and their indexes ``0 … n-1``, in the given order."""

    def __init__(self, names: pl.Series) -> None:
        self.names = names
        self._seed, self._order, self._sorted = _by_distinct_hash(names)

    def __len__(self) -> int:
        return len(self.names)

    def codes(self, names: pl.Series) -> Ints:
        """Return the index of each name, -1 for unknown ones."""
        if not len(self) or not len(names):
            return np.full(len(names), -1, np.int64)
        first = int(self._candidates(names.head(1))[0])
        # most come in the same order
        if self.names.slice(first, len(names)).equals(names):
            return np.arange(first, first + len(names))
        codes = self._candidates(names)
        return np.where(same_ids(self.names, codes, names), codes, -1)

    def _candidates(self, names: pl.Series) -> Ints:
        """Return for each name the only index that it can have."""
        hashes = hash_ids(names, self._seed)
        if len(names) * _FEW < len(self):
            return self._order[np.searchsorted(self._sorted, hashes)]
        shift, begin = self._by_first_bits
        position = begin[(hashes >> shift).view(np.int64)]
        behind = np.flatnonzero(self._sorted[position] < hashes)
        while len(behind):
            position[behind] += 1
            behind = behind[self._sorted[position[behind]] < hashes[behind]]
        return self._order[position]

    @cached_property
    def _by_first_bits(self) -> tuple[np.uint64, Ints]:
        """Where the hashes with the same first bits begin: of many names most are found there at once."""
        bits = len(self).bit_length() + 1
        shift = np.uint64(_HASH_BITS - bits)
        return shift, np.searchsorted(
            self._sorted, np.arange(1 << bits, dtype=np.uint64) << shift
        )


def _by_distinct_hash(names: pl.Series) -> tuple[int, Ints, NDArray[np.uint64]]:
    """Return a seed that gives distinct names distinct hashes, their order by hash, and the hashes.

    At the end stands the largest hash there can be, for the first name: nothing is found behind it.
    """
    seed = 0
    while True:
        hashes = hash_ids(names, seed)
        order = np.argsort(hashes)
        ordered = hashes[order]
        if not (ordered[1:] == ordered[:-1]).any():
            return (
                seed,
                np.append(order, 0),
                np.append(ordered, np.iinfo(np.uint64).max),
            )
        seed += 1


class Matches(Record):
    """The result of a look-up: row ``row[i]`` of list ``list[i]`` holds pair ``pair[i]``; rows ascend."""

    row: Ints
    list: Ints
    pair: Ints


class PairIndex:
    """Pairs grouped by query, which are looked up in batches of rows.

    Parameters
    ----------
    queries
        The index of the query ids.
    code
        Query index of each pair, int64 ``[n]``.
    docs
        Document id of each pair.

    Attributes
    ----------
    order
        int64 ``[n]``: the pairs' original positions in the order of the index, in which the pairs of a query
        are together; ``None`` if they were given in that order.
    offsets
        int64 ``[queries + 1]``: pairs of query ``i`` are ``offsets[i]:offsets[i + 1]``.
    docs
        Document ids in the order of the index.
    """

    def __init__(self, queries: QueryIndex, code: Ints, docs: pl.Series) -> None:
        self.queries = queries
        self.order = None
        if not (code[1:] >= code[:-1]).all():
            self.order = np.argsort(code, kind="stable")
        self.docs = self.arranged(docs)
        self.offsets = offsets_of(np.bincount(code, minlength=len(queries)))
        self._hash = hash_ids(self.docs)

    @overload
    def arranged(self, values: pl.Series) -> pl.Series: ...
    @overload
    def arranged(self, values: NDArray[Any]) -> NDArray[Any]: ...
    def arranged(self, values: pl.Series | NDArray[Any]) -> pl.Series | NDArray[Any]:
        """Return a column of the pairs in the order of the index."""
        if self.order is None:
            return values
        return (
            values.gather(self.order)
            if isinstance(values, pl.Series)
            else values[self.order]
        )

    @property
    def query(self) -> Ints:
        """The query index of each pair in the order of the index, int64 ``[n]``."""
        return list_numbers(np.diff(self.offsets))

    def duplicates(self) -> Ints:
        """Return the positions in the index of all pairs that occur more than once."""
        return repeated(self._hash, np.diff(self.offsets), self.docs.gather)

    def find(self, batch: Batch, codes: Ints) -> Matches:
        """Return the rows of a batch that hold a pair of this index, in row order.

        ``codes`` are the indexes of the batch's queries, -1 for unknown ones.
        """
        known = np.flatnonzero(codes >= 0)
        codes = codes[known]
        counts = self.offsets[codes + 1] - self.offsets[codes]
        lists = np.repeat(known, counts)
        pair = ragged_range(self.offsets[codes], counts)
        # of consecutive queries the pairs are neighbours
        if len(codes) and (np.diff(codes) == 1).all():
            first = int(self.offsets[codes[0]])
            near = slice(first, int(self.offsets[codes[-1] + 1]))
            hashes = self._hash[near]
            docs = self.docs[near]
        else:
            hashes = self._hash[pair]
            docs = self.docs
            first = 0
        rows, which, without = _look_up(batch, lists, hashes)
        same = same_ids(docs, pair[which] - first, batch.ids(rows))
        if not same.all():
            rows = rows[same]
            which = which[same]
        if len(without):
            more, these = _among(batch, lists[without], self.docs[pair[without]])
            rows = np.append(rows, more)
            which = np.append(which, without[these])
            order = np.argsort(rows, kind="stable")
            rows = rows[order]
            which = which[order]
        return Matches(rows, lists[which], pair[which])


def _look_up(
    batch: Batch, lists: Ints, hashes: NDArray[np.uint64]
) -> tuple[Ints, Ints, Ints]:
    """Return rows with the hash of a document of their list, ascending, which document, and those left out.

    A document takes a slot of its list by the first bits of its hash.  Several may want one: the last gets
    it, and the others enter the next table, where only rows that met a slot of another document are left.
    """
    wanted = np.maximum(np.bincount(lists, minlength=len(batch.lengths)), batch.lengths)
    bits = np.frexp(wanted.astype(np.float64))[1]
    begin = np.cumsum(1 << bits) - (1 << bits)
    shift = (_HASH_BITS - bits).astype(np.uint64)
    row_hash = batch.hashes
    is_one_shift = (shift == shift[:1]).all()
    row_shift = shift[:1] if is_one_shift else np.repeat(shift, batch.lengths)
    slot = (row_hash >> row_shift).view(np.int64)
    slot += np.repeat(begin, batch.lengths)
    which = np.arange(len(hashes))
    row = None
    matches = []
    without = list[Any]()
    table = np.zeros(int((1 << bits).sum()), np.int32)
    for _ in range(_TABLES):
        own = (hashes >> shift[lists]).view(np.int64) + begin[lists]
        number = np.arange(1, len(own) + 1, dtype=np.int32)
        table[own] = number
        entry = table[slot]
        # of a mask this is several times as fast as of the numbers themselves
        met = np.flatnonzero(entry != 0)
        entry = entry[met] - 1
        row_hash = row_hash[met]
        slot = slot[met]
        row = met if row is None else row[met]
        same = row_hash == hashes[entry]
        hit = np.flatnonzero(same)
        matches.append((row[hit], which[entry[hit]]))
        winner = table[own]
        lost = np.flatnonzero(winner != number)
        twin = hashes[lost] == hashes[winner[lost] - 1]
        without.append(which[lost[twin]])
        lost = lost[~twin]
        if not len(lost):
            break
        table[own] = 0
        table[own[lost]] = 1
        rest = np.flatnonzero(~same & (table[slot] != 0))
        theirs = lists[entry[rest]]
        table[own[lost]] = 0
        row = row[rest]
        row_hash = row_hash[rest] * _MIX
        which = which[lost]
        lists = lists[lost]
        hashes = hashes[lost] * _MIX
        slot = (row_hash >> shift[theirs]).view(np.int64) + begin[theirs]
    else:
        without.append(which)
    left_out = np.concatenate(without)
    if len(matches) == 1:
        return *matches[0], left_out
    rows, documents = (np.concatenate(parts) for parts in zip(*matches, strict=True))
    order = np.argsort(rows, kind="stable")
    return rows[order], documents[order], left_out


def _among(batch: Batch, lists: Ints, docs: pl.Series) -> tuple[Ints, Ints]:
    """Return rows with one of these documents in these lists, and which, by their ids alone."""
    rows = np.flatnonzero(np.isin(batch.list_of_row, lists))
    here = pl.DataFrame(
        {"list": batch.list_of_row[rows], "doc": batch.ids(rows), "row": rows}
    )
    pairs = pl.DataFrame({"list": lists, "doc": docs, "which": np.arange(len(docs))})
    met = here.join(pairs, on=["list", "doc"])
    return met["row"].to_numpy(), met["which"].to_numpy()


def same_ids(ids: pl.Series, places: Ints, others: pl.Series) -> Bools:
    """Return where the ids at some places equal other ids, bool ``[places]``."""
    if ids.dtype == pl.Int64 and others.dtype == pl.Int64:
        return np.equal(ids.to_numpy()[places], others.to_numpy())  # type: ignore[no-any-return]
    return np.asarray(ids[places] == others, bool)


def repeated(
    hashes: NDArray[np.uint64], lengths: Ints, ids: Callable[[Ints], pl.Series]
) -> Ints:
    """Return the places of ids that are in their list more than once; ``ids`` returns those at some places.

    Half of each hash is enough to find lists that may have any.
    """
    halves = (hashes >> np.uint64(_HASH_BITS // 2)).astype(np.uint32)
    sort_within(halves, lengths)
    same = next_to_equals(halves, lengths)
    if not same.any():
        return np.empty(0, np.int64)
    list_of = list_numbers(lengths)
    suspect = np.zeros(len(lengths), bool)
    suspect[list_of[same]] = True
    suspects = np.flatnonzero(suspect[list_of])
    twice: Bools = (
        pl.DataFrame({"list": list_of[suspects], "id": ids(suspects)})
        .is_duplicated()
        .to_numpy()
    )
    return suspects[twice]
