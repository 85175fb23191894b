"""Overlap of the first k documents of two lists, and the overlap at every depth with ties, in O(n).

A document in a tie block of g documents from rank t on counts at depth d with the part (d - t + 1) / g, which
is 0 above the block and 1 below it.  At any depth each list has one open block.  So the overlap, a sum over
documents of products of parts, needs four counts per depth: documents complete in both lists, in the open
block of one of them, and in the open blocks of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record
from rankstone.hits.list_arrays import list_numbers
from rankstone.measures.core.definition import Card, parameter
from rankstone.rankings.rank_similarity.list_measure import ListMeasure

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.rankings.rank_similarity.paired_lists import PairedLists, Ranked

_NEVER = "never: a query that both runs answer has documents"
_TIES = "ties at the cutoff: the rule for ties decides which documents are in; order inside does not count"


@dataclass(frozen=True, kw_only=True)
class Overlap(ListMeasure, family="overlap of rankings"):
    """The share of the first k documents that are in both lists.

    >>> print(Overlap(k=10))
    Overlap@10
    """

    conjoint = False
    card = Card(
        sentence="Of the first k documents, how many are in both lists?",
        formula="Overlap@k = |A_k ∩ B_k| / max(|A_k|, |B_k|)",
        symbols="A_k, B_k: the first k documents of each list, fewer where a list is shorter",
        example="abcd and bxay: Overlap@2 = 1/2, Overlap@4 = 2/4",
        needs="two rankings; documents of one list only count as not shared",
        undefined=_NEVER,
        peers={
            "agreement at depth k of Webber et al. 2010": "the same while a list reaches k"
        },
        sensitive=_TIES,
        use="as the simplest answer to `did the screen change?`; RBO does the same at all depths at once",
        citation="Webber, Moffat and Zobel, A Similarity Measure for Indefinite Rankings, TOIS 2010, "
        "section 3",
    )

    denom: str = parameter(
        "longer", "the denominator", "longer", "shorter", "k", needs_k=("k",)
    )

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Count shared documents."""
        norm = {
            "longer": np.maximum(paired.a.n, paired.b.n),
            "shorter": np.minimum(paired.a.n, paired.b.n),
            "k": np.full(paired.queries, self.k or 0),
        }[self.denom]
        _record_members(paired)
        return paired.n_common.astype(np.float64), norm.astype(np.float64)


class Jaccard(ListMeasure, family="overlap of rankings"):
    """The share of the documents of either list that are in both.

    >>> print(Jaccard(k=10))
    Jaccard@10
    """

    conjoint = False
    card = replace(
        Overlap.card,
        sentence="Of all documents in either list, how many are in both?",
        formula="Jaccard@k = |A_k ∩ B_k| / |A_k ∪ B_k|",
        example="abcd and bxay: Jaccard@2 = 1/3, Jaccard@4 = 2/6",
        peers={},
        use="when lists may differ in length; lower than Overlap unless the sets are equal: "
        "J = O / (2 - O) for lists of one length",
        citation="Jaccard, The Distribution of the Flora in the Alpine Zone, New Phytologist 1912",
    )

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Count shared documents and all documents."""
        common = paired.n_common
        _record_members(paired)
        return common.astype(np.float64), (paired.a.n + paired.b.n - common).astype(
            np.float64
        )


def _record_members(paired: PairedLists) -> None:
    """Record which of either list's documents are in both."""
    paired.record(
        "document",
        lambda: paired.either[1:],
        total=paired.n_common,
        rank_a=lambda: _ranks(paired.either[1]),
        rank_b=lambda: _ranks(paired.either[2]),
        contribution=lambda: ((paired.either[1] >= 0) & (paired.either[2] >= 0)).astype(
            np.float64
        ),
    )


def _ranks(row: Ints) -> Floats:
    """Return the ranks of rows of a list, NaN for documents that it lacks."""
    ranks: Floats = np.where(row < 0, np.nan, row + 1.0)
    return ranks


class Side(Record):
    """One list at every depth; arrays ``[depths]``.

    Attributes
    ----------
    part
        float64: the part of the open block that counts, above 0 up to 1; 1 below the end of the list.
    reached
        int64: documents at or above the depth if tied ones have their first rank.
    squares
        float64: sum of the squares of the parts of documents.
    """

    part: Floats
    reached: Ints
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
        return cls(part, last, first - 1 + size * part * part)


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
        offsets = np.concatenate(([0], np.cumsum(longer)))
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
        some = start <= stop
        before = self.offsets[query[some]] - 1
        rows = len(self.depth) + 1
        begun = np.bincount(before + start[some], minlength=rows)
        ended = np.bincount(before + stop[some] + 1, minlength=rows)
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
        (a, b), (in_a, in_b) = self.lists, self.shared
        longer_is_a: Bools = (a.n > b.n)[self.query]
        complete = []
        started = []
        for side, rows in ((a, in_a), (b, in_b)):
            query = side.query[rows]
            inside = self._between(query, side.first[rows], side.last[rows])
            done = self._between(query, side.last[rows] + 1, self.longer[query])
            listed = self.depth <= side.n[self.query]
            row = np.where(listed, side.offsets[self.query] + self.depth - 1, 0)
            first = np.where(listed, side.first[row], 1)
            last = np.where(listed, side.last[row], 0)
            complete.append(first - 1 - done)
            started.append(last - first + 1 - inside)
        return (
            np.where(longer_is_a, complete[0], complete[1]),
            np.where(longer_is_a, started[0], started[1]),
            np.where(longer_is_a, self.a.part, self.b.part),
        )

    def unseen(self, ties: str) -> Floats:
        """Return the expected parts of the documents below the end of the shorter list.

        Unseen documents are assumed to be any of those of the longer list only, with their mean part.
        """
        if ties == "w":
            return self._below_shorter.astype(np.float64)
        complete, started, part = self._longer_only
        count = complete + started
        mean = np.divide(
            complete + part * started, count, out=np.zeros(len(part)), where=count > 0
        )
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
