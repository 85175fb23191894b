"""An index of (query, document) pairs, in which a whole batch of rows is looked up at once.

Rows and pairs are compared by packed 64-bit keys: ``query | high bits of the document's hash``.  One
vectorised sort of a batch's keys finds both its duplicates and its judged rows.  Ids are compared wherever
keys agree, so a hash collision costs time, but never changes a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.hits.list_arrays import ragged_range, sort_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone.hits.batches import Batch


_KEY_BITS = 64
#: bits of a document's hash in a batch's keys; with so many, collisions are rare
_MOST_HASH_BITS = 32


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

    def codes(self, names: pl.Series) -> NDArray[np.int64]:
        """Return the index of each name, -1 for unknown ones."""
        if not len(self) or not len(names):
            return np.full(len(names), -1, np.int64)
        first = int(self._look_up(names.head(1))[0])
        if first >= 0 and self.names.slice(first, len(names)).equals(names):  # most come in the same order
            return np.arange(first, first + len(names))
        return self._look_up(names)

    def _look_up(self, names: pl.Series) -> NDArray[np.int64]:
        hashes = hash_ids(names, self._seed)
        at = np.minimum(np.searchsorted(self._sorted, hashes), len(self) - 1)
        codes = self._order[at]
        same = (self.names.gather(codes) == names).to_numpy()
        return np.where(same, codes, -1)


def _by_distinct_hash(names: pl.Series) -> tuple[int, NDArray[np.int64], NDArray[np.uint64]]:
    """Return a seed that gives distinct names distinct hashes, their order by hash, and the hashes."""
    seed = 0
    while True:
        hashes = hash_ids(names, seed)
        order = np.argsort(hashes)
        ordered = hashes[order]
        if not (ordered[1:] == ordered[:-1]).any():
            return seed, order, ordered
        seed += 1


class Matches(Record):
    """The result of a look-up: row ``row[i]`` of list ``list[i]`` holds pair ``pair[i]``; rows ascend."""

    row: NDArray[np.int64]
    list: NDArray[np.int64]
    pair: NDArray[np.int64]


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

    def __init__(self, queries: QueryIndex, code: NDArray[np.int64], docs: pl.Series) -> None:
        self.queries = queries
        self.order = None if (code[1:] >= code[:-1]).all() else np.argsort(code, kind="stable")
        self.docs = self.arranged(docs)
        self.offsets = np.concatenate(([0], np.cumsum(np.bincount(code, minlength=len(queries)))))
        self._hash = hash_ids(self.docs)

    @overload
    def arranged(self, values: pl.Series) -> pl.Series: ...
    @overload
    def arranged(self, values: NDArray[Any]) -> NDArray[Any]: ...
    def arranged(self, values: pl.Series | NDArray[Any]) -> pl.Series | NDArray[Any]:
        """Return a column of the pairs in the order of the index."""
        if self.order is None:
            return values
        return values.gather(self.order) if isinstance(values, pl.Series) else values[self.order]

    @property
    def query(self) -> NDArray[np.int64]:
        """The query index of each pair in the order of the index, int64 ``[n]``."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    def duplicates(self) -> NDArray[np.int64]:
        """Return the positions in the index of all pairs that occur more than once."""
        ordered = self._hash.copy()
        sort_within(ordered, np.diff(self.offsets))
        same = ordered[1:] == ordered[:-1]
        ends = self.offsets[1:-1]
        same[ends[(ends > 0) & (ends < len(ordered))] - 1] = False  # neighbours of two queries
        if not same.any():
            return np.empty(0, np.int64)
        suspect = np.zeros(len(self.queries), bool)
        suspect[self.query[:-1][same]] = True
        at = np.flatnonzero(suspect[self.query])
        return at[_repeated(self.query[at], self.docs.gather(at))]

    def find(self, batch: Batch, codes: NDArray[np.int64], keys: BatchKeys) -> Matches:
        """Return the rows of a batch that hold a pair of this index, in row order.

        ``codes`` are the indexes of the batch's queries, -1 for unknown ones.
        """
        known = np.flatnonzero(codes >= 0)
        codes = codes[known]
        counts = self.offsets[codes + 1] - self.offsets[codes]
        lists = np.repeat(known, counts)
        pair = ragged_range(self.offsets[codes], counts)
        hashes = self._hash[self._pairs_of(codes, pair)]
        which, row = keys.look_up(keys.of(lists, hashes))
        same = (batch.ids(row) == self.docs.gather(pair[which])).to_numpy()
        if not same.all():
            which, row = which[same], row[same]
        order = np.argsort(row)
        which = which[order]
        return Matches(row[order], lists[which], pair[which])

    def _pairs_of(self, codes: NDArray[np.int64], pair: NDArray[np.int64]) -> slice | NDArray[np.int64]:
        """Return the pairs of some queries, as a slice where the queries are consecutive."""
        if len(codes) and (np.diff(codes) == 1).all():
            return slice(int(self.offsets[codes[0]]), int(self.offsets[codes[-1] + 1]))
        return pair


class BatchKeys:
    """The sorted keys of a batch, ``list number | hash bits``, and the row of each.

    List, hash and row share 64 bits while they are sorted.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._row_bits = max(batch.height - 1, 1).bit_length()
        list_bits = max(len(batch.lengths) - 1, 1).bit_length()
        self._hash_bits = min(_KEY_BITS - self._row_bits - list_bits, _MOST_HASH_BITS)
        key = batch.hashes >> np.uint64(_KEY_BITS - self._hash_bits)
        key <<= np.uint64(self._row_bits)
        key |= np.arange(batch.height, dtype=np.uint64)
        lists = np.arange(len(batch.lengths), dtype=np.uint64)
        key |= np.repeat(lists << np.uint64(self._hash_bits + self._row_bits), batch.lengths)
        sort_within(key, batch.lengths)
        self._row = key & np.uint64((1 << self._row_bits) - 1)
        key >>= np.uint64(self._row_bits)
        self._key = key
        self._shared = _equal_neighbours(key)

    def of(self, lists: NDArray[np.int64], hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the keys of documents in lists."""
        key = hashes >> np.uint64(_KEY_BITS - self._hash_bits)
        key |= lists.astype(np.uint64) << np.uint64(self._hash_bits)
        return key

    def duplicates(self) -> NDArray[np.int64]:
        """Return the rows whose document is in their list more than once."""
        rows = self._row[self._shared].astype(np.int64)
        if not len(rows):
            return rows
        return np.sort(rows[_repeated(self._batch.list_of_row[rows], self._batch.ids(rows))])

    def look_up(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of these keys are present, and the row of each.

        A key of several rows is returned several times.
        """
        if not len(self._key):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        at = np.searchsorted(self._key, keys)
        at[at == len(self._key)] = 0
        which = np.flatnonzero(self._key[at] == keys)
        at = at[which]
        if len(self._shared):  # rows with the same key are neighbours
            copies = np.searchsorted(self._key, keys[which], side="right") - at
            which, at = np.repeat(which, copies), ragged_range(at, copies)
        return which, self._row[at].astype(np.int64)


def _equal_neighbours(key: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the positions of all sorted keys that equal a neighbour."""
    same = key[1:] == key[:-1]
    if not same.any():
        return np.empty(0, np.int64)
    return np.flatnonzero(np.append(same, False) | np.append(False, same))


def _repeated(group: NDArray[np.int64], ids: pl.Series) -> NDArray[np.bool_]:
    return pl.DataFrame({"group": group, "id": ids}).is_duplicated().to_numpy()
