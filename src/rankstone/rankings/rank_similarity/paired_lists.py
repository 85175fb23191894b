"""Pairs of lists of the same queries, and the audit of two runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankstone._basics import (
    InLines,
    counted,
    line,
    noted,
    queries,
    read_as,
    sentences,
    some,
    spread,
)
from rankstone.errors import printable
from rankstone.hits.list_arrays import list_numbers
from rankstone.hits.trace import Remembering, Traced
from rankstone.rankings.rank_similarity.overlap import Depths
from rankstone.rankings.rank_similarity.rank_correlation import (
    Counts,
    counts,
    whole_sums,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Bools, Ints
    from rankstone.hits.trace import Column, Trace
    from rankstone.rankings.rank_similarity.list_pairs import PairTally


class _ByQuery:
    """Documents of several queries, one query after another."""

    offsets: Ints

    @cached_property
    def n(self) -> Ints:
        """Documents of each query, int64 ``[queries]``."""
        return np.diff(self.offsets)

    @cached_property
    def query(self) -> Ints:
        """The query of each document, int64 ``[documents]``."""
        return list_numbers(self.n)


@dataclass(frozen=True, eq=False)
class Ranked(_ByQuery):
    """The lists of one run, best first, one query after another.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``.
    first, last
        int64 ``[rows]``: first and last rank of the tie block of each document; both are its rank
        where nothing ties.
    """

    offsets: Ints
    first: Ints
    last: Ints

    @cached_property
    def rank(self) -> Ints:
        """The rank of each row, from 1, ties broken, int64 ``[rows]``."""
        return np.arange(1, len(self.first) + 1) - self.offsets[self.query]

    def down_to(self, k: int) -> tuple[Ranked, Bools]:
        """Return the first ``k`` of every list, and which rows those are."""
        kept = self.rank <= k
        offsets = np.concatenate(([0], np.cumsum(np.minimum(self.n, k))))
        return Ranked(offsets, self.first[kept], np.minimum(self.last[kept], k)), kept

    def part(self, begin: int, end: int) -> Ranked:
        """Return the lists of some queries that follow one another."""
        rows = slice(int(self.offsets[begin]), int(self.offsets[end]))
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        return Ranked(offsets, self.first[rows], self.last[rows])

    def without_ties(self) -> Ranked:
        """Return the lists without ties, every document at its rank."""
        return Ranked(self.offsets, self.rank, self.rank)


@dataclass(frozen=True, eq=False)
class PairedLists(Remembering, Traced):
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
        begin = 0
        if not self.queries:
            yield self
        while begin < self.queries:
            end = int(np.searchsorted(through, through[begin] + rows, side="right")) - 1
            end = max(end, begin + 1)
            yield self._part(begin, end)
            begin = end

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
        offsets = np.concatenate(([0], np.cumsum(self.n_common)))
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
        offsets = np.concatenate(([0], np.cumsum(size)))
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


@dataclass(frozen=True, eq=False)
class CommonRanks(_ByQuery):
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


@dataclass(frozen=True)
class RankingAudit:
    """The audit of one run.

    Attributes
    ----------
    source
        Its source.
    rows, queries, documents
        Rows read; lists; documents in them without duplicates and below the depth.
    tied, tied_queries
        Rows in tie blocks, and queries that have any.
    duplicates
        Rows with a duplicate document.
    comments
        Comment lines skipped.
    read_as
        What was guessed about the format of a file.
    shortest, median_length, longest
        Lengths of lists.
    """

    source: str
    rows: int
    queries: int
    documents: int
    tied: int = field(metadata={"says": "{tied:tied row} in {tied_queries:query}"})
    tied_queries: int
    duplicates: int = field(metadata={"says": "{duplicates:duplicate row}"})
    comments: int = field(metadata={"says": "{comments:comment line}"})
    shortest: int
    median_length: float
    longest: int
    read_as: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        source: str,
        n: Ints,
        tally: PairTally,
        comments: int,
        read_as: tuple[str, ...] = (),
    ) -> Self:
        """Return the audit from the lengths of lists and counts."""
        return cls(
            source=source,
            queries=len(n),
            documents=int(n.sum()),
            comments=comments,
            shortest=int(n.min()),
            median_length=float(np.median(n)),
            longest=int(n.max()),
            read_as=read_as,
            **tally._asdict(),
        )

    def line(self) -> str:
        """Return the audit as one sentence."""
        lengths = spread(self.shortest, self.longest, "document", self.median_length)
        return line(
            f"{queries(self.queries)} × {lengths}",
            sentences(self),
            read_as(self.read_as),
        )


@dataclass(frozen=True, repr=False)
class ListsAudit(InLines):
    """The audit of both runs.

    Attributes
    ----------
    names
        The names of the runs.
    a, b
        The audits of either run.
    common_queries
        The number of common queries.
    only_a, only_b
        Queries of one run only.
    common_documents, documents_a, documents_b
        Documents in both lists, and in either, over the common queries.
    """

    names: tuple[str, str]
    a: RankingAudit
    b: RankingAudit
    common_queries: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    common_documents: int
    documents_a: int
    documents_b: int

    def lines(self) -> list[str]:
        """Return a line for each run and one for both."""
        names = [printable(name) for name in self.names]
        width = max(len(name) for name in (*names, "both"))
        alone = zip(names, (self.only_a, self.only_b), strict=True)
        shares = [
            f"{self.common_documents / whole:.1%} of {name}'s"
            for name, whole in zip(
                names, (self.documents_a, self.documents_b), strict=True
            )
        ]
        both = line(
            f"{queries(self.common_queries)} in common",
            (
                noted(
                    len(only),
                    "query",
                    f"only in {name} ({some(only)}), without a value",
                )
                for name, only in alone
            ),
            f"{counted(self.common_documents, 'document')} in common ({', '.join(shares)})",
        )
        return [
            f"{names[0]:<{width}}  {self.a.line()}",
            f"{names[1]:<{width}}  {self.b.line()}",
            f"{'both':<{width}}  {both}",
        ]
