"""Pairs of lists of the same queries, and the audit of two runs."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone._basics import Record
from rankstone.hits.list_arrays import divided, list_numbers, offsets_of, spans
from rankstone.hits.remembering import Remembering
from rankstone.hits.trace import Traced
from rankstone.rankings.rank_similarity.pair_counts import Counts, counts, whole_sums
from rankstone.rankings.rank_similarity.ranked_lists import ListsByQuery, Ranked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.trace import Column, Trace


class PairedLists(Remembering, Traced, Record):
    """The lists of two runs for the same queries.

    Attributes
    ----------
    a, b
        The lists of either run.
    to_b
        int64 ``[rows of a]``: the row of ``b`` with the same document, -1 without one.
    trace
        The trace in which measures record their terms; ``None`` without one.  With a trace there is one
        query.
    """

    a: Ranked
    b: Ranked
    to_b: Ints
    trace: Trace | None = field(default=None, repr=False)
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.a.n)

    def parts(self, rows: int) -> Iterator[PairedLists]:
        """Yield the pairs in parts of about so many rows of either run; no query is split."""
        through = np.maximum(self.a.offsets, self.b.offsets)
        if not self.queries:
            yield self
        for begin, end in spans(through, rows):
            yield self._part(begin, end)

    def _part(self, begin: int, end: int) -> PairedLists:
        a = self.a.part(begin, end)
        b = self.b.part(begin, end)
        to_b = self.to_b[self.a.offsets[begin] : self.a.offsets[end]]
        return PairedLists(a, b, np.where(to_b < 0, -1, to_b - self.b.offsets[begin]))

    def down_to(self, k: int | None) -> PairedLists:
        """Return the pairs with every list cut to its first ``k`` documents."""
        if k is None or (len(self.a.n) and max(self.a.n.max(), self.b.n.max()) <= k):
            return self
        return self.remember(("down to", k), lambda: self._down_to(k))

    def _down_to(self, k: int) -> PairedLists:
        (a, a_kept), (b, b_kept) = self.a.down_to(k), self.b.down_to(k)
        place = np.append(np.where(b_kept, np.cumsum(b_kept) - 1, -1), -1)
        return PairedLists(a, b, place[self.to_b[a_kept]], self.trace)

    def without_ties(self) -> PairedLists:
        """Return the pairs with ties broken by the rule for ties."""
        return self.remember(
            "without ties",
            lambda: PairedLists(
                self.a.without_ties(), self.b.without_ties(), self.to_b, self.trace
            ),
        )

    def record_common(
        self, *, title: str = "", total: object = None, **columns: Column
    ) -> None:
        """Record a table of the documents of both lists, with their ranks among these."""
        self.record(
            "document",
            lambda: self.shared,
            title=title,
            total=total,
            place_a=lambda: (self.common.x_first + self.common.x_last) / 2,
            place_b=lambda: (self.common.y_first + self.common.y_last) / 2,
            **columns,
        )

    @cached_property
    def shared(self) -> tuple[Ints, Ints]:
        """The rows of common documents in ``a`` and in ``b``, in the order of ``a``."""
        rows = np.flatnonzero(self.to_b >= 0)
        return rows, self.to_b[rows]

    @cached_property
    def n_common(self) -> Ints:
        """The number of common documents, int64 ``[queries]``."""
        return whole_sums((self.to_b >= 0).astype(np.int64), self.a.offsets)

    @cached_property
    def common(self) -> CommonRanks:
        """The documents of both lists, ranked among themselves."""
        in_a, in_b = self.shared
        offsets = offsets_of(self.n_common)
        present = np.zeros(len(self.b.first), bool)
        present[in_b] = True
        of_row = np.cumsum(present) - 1
        y_first, y_last = _closed_up(
            offsets, self.b.query[present], self.b.first[present]
        )
        x = _closed_up(offsets, self.a.query[in_a], self.a.first[in_a])
        return CommonRanks(offsets, *x, y_first[of_row[in_b]], y_last[of_row[in_b]])

    @cached_property
    def depths(self) -> Depths:
        """The lists at every depth."""
        return Depths.of(self)

    @cached_property
    def union(self) -> CommonRanks:
        """The documents of either list; those that a list lacks tie below all that it has."""
        query, in_a, in_b = self.either
        size = np.bincount(query, minlength=self.queries)
        offsets = offsets_of(size)
        x, y = (
            _ranks_or_below(side, row, query, size)
            for side, row in ((self.a, in_a), (self.b, in_b))
        )
        return CommonRanks(offsets, *x, *y)

    @cached_property
    def either(self) -> tuple[Ints, Ints, Ints]:
        """The documents of either list, a's first: query, row in a, row in b (-1 where it lacks one)."""
        a = self.a
        b = self.b
        shared = np.zeros(len(b.first), bool)
        shared[self.to_b[self.to_b >= 0]] = True
        new = np.flatnonzero(~shared)
        query = np.concatenate((a.query, b.query[new]))
        order = np.argsort(query, kind="stable")
        in_a = np.concatenate((np.arange(len(a.first)), np.full(len(new), -1)))[order]
        in_b = np.concatenate((self.to_b, new))[order]
        return query[order], in_a, in_b


def _closed_up(offsets: Ints, query: Ints, first: Ints) -> tuple[Ints, Ints]:
    """Return first and last rank of the tie blocks of rows in rank order, counted among these rows."""
    fresh = np.ones(len(first), bool)
    fresh[1:] = (first[1:] != first[:-1]) | (query[1:] != query[:-1])
    heads = np.flatnonzero(fresh)
    block = np.cumsum(fresh) - 1
    start = offsets[query]
    ends = np.append(heads[1:], len(first))
    return heads[block] - start + 1, ends[block] - start


def _ranks_or_below(
    side: Ranked, row: Ints, query: Ints, size: Ints
) -> tuple[Ints, Ints]:
    """Return first and last rank of documents, the block below the list for those it lacks."""
    absent = row < 0
    first = np.append(side.first, 0)
    last = np.append(side.last, 0)
    return (
        np.where(absent, side.n[query] + 1, first[row]),
        np.where(absent, size[query], last[row]),
    )


class CommonRanks(ListsByQuery, Record):
    """The same documents in two rankings x and y, as ranks with ties.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``.
    x_first, x_last, y_first, y_last
        int64 ``[documents]``: first and last rank of each document's tie block.  Documents are in
        the order of x.
    """

    offsets: Ints
    x_first: Ints
    x_last: Ints
    y_first: Ints
    y_last: Ints

    @property
    def x_size(self) -> Ints:
        """Documents in each one's tie block of x, int64 ``[documents]``."""
        return self.x_last - self.x_first + 1

    @property
    def y_size(self) -> Ints:
        """Documents in each one's tie block of y, int64 ``[documents]``."""
        return self.y_last - self.y_first + 1

    @cached_property
    def counts(self) -> Counts:
        """How both rankings order each document and the others."""
        return counts(
            self.offsets, (self.x_first, self.x_last), (self.y_first, self.y_last)
        )

    def total(self, values: Ints) -> Ints:
        """Sum whole numbers within each query, int64 ``[queries]``."""
        return whole_sums(values, self.offsets)


class Side(Record):
    """One list at every depth; arrays ``[depths]``.

    Attributes
    ----------
    first, last
        int64: first and last rank of the open block, so that ``last`` documents are at or above the depth if
        tied ones have their first rank; the depth itself below the end of the list.
    part
        float64: the part of the open block that counts, above 0 up to 1; 1 below the end of the list.
    squares
        float64: sum of the squares of the parts of documents.
    """

    first: Ints
    last: Ints
    part: Floats
    squares: Floats

    @classmethod
    def of(cls, ranked: Ranked, query: Ints, depth: Ints) -> Side:
        """Return lists at some depths; below their end unknown documents follow, one per rank."""
        inside = depth <= ranked.n[query]
        row = np.where(inside, ranked.offsets[query] + depth - 1, 0)
        first = np.where(inside, ranked.first[row], depth)
        last = np.where(inside, ranked.last[row], depth)
        size = last - first + 1
        part = (depth - first + 1) / size
        return cls(first, last, part, first - 1 + size * part * part)


class Depths(Record):
    """All depths of all queries, down to the end of the longer list of each.

    Attributes
    ----------
    lists
        The lists of either run.
    shared
        The rows of documents in both lists.
    overlap_at_end
        int64 ``[queries]``: documents in both lists.
    offsets
        int64 ``[queries + 1]``: depths of query ``q`` are ``offsets[q]:offsets[q + 1]``.
    query, depth
        int64 ``[depths]``.
    shorter, longer
        int64 ``[queries]``: the lengths of the lists.
    """

    lists: tuple[Ranked, Ranked]
    shared: tuple[Ints, Ints]
    overlap_at_end: Ints
    offsets: Ints
    query: Ints
    depth: Ints
    shorter: Ints
    longer: Ints

    @classmethod
    def of(cls, paired: PairedLists) -> Depths:
        """Return the depths of pairs of lists.

        The pairs are not kept: they refer to their depths, and two objects that refer to each other stay in
        memory until the garbage collector runs.
        """
        shorter = np.minimum(paired.a.n, paired.b.n)
        longer = np.maximum(paired.a.n, paired.b.n)
        offsets = offsets_of(longer)
        query = list_numbers(longer)
        return cls(
            lists=(paired.a, paired.b),
            shared=paired.shared,
            overlap_at_end=paired.n_common,
            offsets=offsets,
            query=query,
            depth=np.arange(1, len(query) + 1) - offsets[query],
            shorter=shorter,
            longer=longer,
        )

    @cached_property
    def a(self) -> Side:
        """The first list."""
        return Side.of(self.lists[0], self.query, self.depth)

    @cached_property
    def b(self) -> Side:
        """The second list."""
        return Side.of(self.lists[1], self.query, self.depth)

    def spread(self, per_query: Floats) -> Floats:
        """Give every depth the value of its query."""
        return per_query[self.query]

    def overlap(self, ties: str) -> Floats:
        """Return X, float64 ``[depths]``; ``ties="w"`` counts a document from the start of its block."""
        both, in_a, in_b, neither = self._shared_counts
        if ties == "w":
            return (both + in_a + in_b + neither).astype(np.float64)
        a = self.a.part
        b = self.b.part
        overlap: Floats = both + a * in_a + b * in_b + a * b * neither
        return overlap

    @cached_property
    def _shared_counts(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Count shared documents: complete in both lists, in the open block of a, of b, of both."""
        (a, b), (in_a, in_b) = self.lists, self.shared
        query = a.query[in_a]
        (a_first, a_last), (b_first, b_last) = (
            (a.first[in_a], a.last[in_a]),
            (b.first[in_b], b.last[in_b]),
        )
        return (
            self._between(query, np.maximum(a_last, b_last) + 1, self.longer[query]),
            self._between(query, np.maximum(a_first, b_last + 1), a_last),
            self._between(query, np.maximum(b_first, a_last + 1), b_last),
            self._between(
                query, np.maximum(a_first, b_first), np.minimum(a_last, b_last)
            ),
        )

    def _between(self, query: Ints, start: Ints, stop: Ints) -> Ints:
        """Count the intervals ``start … stop`` that contain each depth, int64 ``[depths]``."""
        nonempty = start <= stop
        before = self.offsets[query[nonempty]] - 1
        rows = len(self.depth) + 1
        begun = np.bincount(before + start[nonempty], minlength=rows)
        ended = np.bincount(before + stop[nonempty] + 1, minlength=rows)
        counted: Ints = np.cumsum(begun - ended)[:-1]
        return counted

    # -- below the end of the shorter list ----------------------------------------------------------
    @property
    def _below_shorter(self) -> Ints:
        """The distance of each depth below the end of the shorter list, int64 ``[depths]``."""
        below: Ints = np.maximum(self.depth - self.shorter[self.query], 0)
        return below

    @cached_property
    def _longer_only(self) -> tuple[Ints, Ints, Floats]:
        """Documents of the longer list only: complete ones, those in the open block, and their part."""
        a, b = self.lists
        # the longer list goes down to every depth
        longer_is_a: Bools = (a.n > b.n)[self.query]
        side_a = self._documents_of_one(a, self.shared[0], self.a)
        side_b = self._documents_of_one(b, self.shared[1], self.b)
        complete, started, part = (
            np.where(longer_is_a, of_a, of_b)
            for of_a, of_b in zip(side_a, side_b, strict=True)
        )
        return complete, started, part

    def _documents_of_one(
        self, ranked: Ranked, shared: Ints, side: Side
    ) -> tuple[Ints, Ints, Floats]:
        """Return the same for one list, at the depths that it reaches."""
        query = ranked.query[shared]
        first = ranked.first[shared]
        last = ranked.last[shared]
        inside = self._between(query, first, last)
        done = self._between(query, last + 1, self.longer[query])
        complete = side.first - 1 - done
        started = side.last - side.first + 1 - inside
        return complete, started, side.part

    def unseen(self, ties: str) -> Floats:
        """Return the expected parts of the documents below the end of the shorter list.

        Unseen documents are assumed to be any of those of the longer list only, with their mean part.
        """
        if ties == "w":
            return self._below_shorter.astype(np.float64)
        complete, started, part = self._longer_only
        count = complete + started
        mean = divided(complete + part * started, count)
        parts: Floats = self._below_shorter * mean
        return parts

    def most_unseen(self, ties: str) -> Floats:
        """Return the most that unseen documents of the shorter list can add to the overlap."""
        if ties == "w":
            return self._below_shorter.astype(np.float64)
        complete, started, part = self._longer_only
        most: Floats = np.minimum(self._below_shorter, complete) + part * np.clip(
            self._below_shorter - complete, 0, started
        )
        return most
