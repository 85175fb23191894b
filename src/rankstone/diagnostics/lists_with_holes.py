"""Ranked lists with holes: unjudged documents, which may have any grade."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import Record
from rankstone.hits.alignment import joined, taken
from rankstone.hits.extras.row_numbers import RowNumbers
from rankstone.hits.extras.unjudged_places import Holes, Places, PooledHoles
from rankstone.hits.list_arrays import (
    end_to_end,
    list_numbers,
    offsets_of,
    ragged_range,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.extras.extra_values import Key
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Ideal
    from rankstone.measures.core.measure import Measure

#: columns with a value per entry of a list
_ENTRY: Final = ("rank", "first", "last", "grade", "hole")


class ListsWithHoles(Record):
    """The lists of some queries: judged documents and holes, merged in rank order.

    Attributes
    ----------
    hits
        The judged documents alone.
    offsets
        int64 ``[queries + 1]``: entries of query ``q`` are ``offsets[q]:offsets[q + 1]``.
    rank, first, last
        int64 ``[entries]``.
    grade
        float64 ``[entries]``: the grade of a judged document; NaN for a hole.
    hole
        int64 ``[entries]``: the number of the hole within its query, -1 for a judged document.
    listed
        int64 ``[queries]``: holes in the whole list.
    holes
        int64 ``[queries]``: holes altogether.  They are numbered in rank order; those below the entries
        (deeper than the cutoff, or in another run only) come last.
    empty
        The score of a query without a relevant document, as in the alignment options.
    """

    hits: Hits
    offsets: Ints
    rank: Ints
    first: Ints
    last: Ints
    grade: Floats
    hole: Ints
    listed: Ints
    holes: Ints
    empty: str = "zero"

    @classmethod
    def of(cls, hits: Hits, empty: str = "zero") -> ListsWithHoles:
        """Merge hits and the holes that alignment provides."""
        holes = hits.added(Holes)
        query = np.concatenate((hits.query, holes.query))
        rank = np.concatenate((hits.rank, holes.rank))
        order = np.lexsort((rank, query))
        first = np.concatenate((hits.first, holes.first))
        last = np.concatenate((hits.last, holes.last))

        counts = np.diff(holes.offsets)
        none = np.full(len(hits.rank), -1)
        hole = ragged_range(np.zeros_like(counts), counts)
        number = np.concatenate((none, hole))
        unknown = np.full(len(holes.rank), np.nan)
        grade = np.concatenate((hits.grade, unknown))
        return cls(
            hits=hits,
            offsets=hits.offsets + holes.offsets,
            rank=rank[order],
            first=first[order],
            last=last[order],
            grade=grade[order],
            hole=number[order],
            listed=counts,
            holes=counts,
            empty=empty,
        )

    @classmethod
    def joined(cls, parts: Sequence[ListsWithHoles]) -> ListsWithHoles:
        """Concatenate the lists of several parts."""

        def column(name: str) -> Any:  # noqa: ANN401 - an array
            return np.concatenate([getattr(part, name) for part in parts])

        return cls(
            hits=_joined([part.hits for part in parts]),
            offsets=end_to_end([part.offsets for part in parts]),
            **{name: column(name) for name in (*_ENTRY, "listed", "holes")},
            empty=parts[0].empty,
        )

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.holes)

    @cached_property
    def query(self) -> Ints:
        """The query of each entry, int64 ``[entries]``."""
        return list_numbers(np.diff(self.offsets))

    @cached_property
    def starts(self) -> Ints:
        """Where each query's holes begin in the concatenation of all holes, int64 ``[queries + 1]``."""
        return offsets_of(self.holes)

    def take(self, queries: Ints) -> ListsWithHoles:
        """Return the lists of some queries, in that order; a query may come several times."""
        lengths = np.diff(self.offsets)[queries]
        entries = ragged_range(self.offsets[queries], lengths)
        return ListsWithHoles(
            hits=chosen(self.hits, queries),
            offsets=offsets_of(lengths),
            **self._entries(entries),
            listed=self.listed[queries],
            holes=self.holes[queries],
            empty=self.empty,
        )

    def _entries(self, rows: Ints) -> dict[str, Any]:
        return {name: getattr(self, name)[rows] for name in _ENTRY}

    def for_measure(self, measure: Measure) -> ListsWithHoles:
        """Return the entries that a measure uses; deeper holes stay holes, outside the entries."""
        if measure.k is None or measure.claims.looks_deeper:
            return self
        return self._down_to(measure.k)

    def cut_for_measure(self, measure: Measure) -> ListsWithHoles:
        """Return the entries that a measure uses, without deeper holes."""
        used = self.for_measure(measure)
        query = used.query[used.hole >= 0]
        holes = np.bincount(query, minlength=used.queries)
        return replace(used, listed=holes, holes=holes)

    def _down_to(self, k: int) -> ListsWithHoles:
        rank = self.rank
        if self.hits.expected:
            rank = self.first
        inside = np.flatnonzero(rank <= k)
        if len(inside) == len(self.rank):
            return self
        return replace(
            self,
            hits=self.hits.down_to(k),
            offsets=np.searchsorted(inside, self.offsets),
            **self._entries(inside),
        )

    @cached_property
    def tied(self) -> Bools:
        """True for queries whose list has tied ranks, bool ``[queries]``."""
        tied = np.zeros(self.queries, bool)
        if self.hits.expected:
            tied[self.query[self.first != self.last]] = True
        return tied


def _joined(parts: Sequence[Hits]) -> Hits:
    """Return the hits of several parts as one, without row numbers and holes."""
    return _with(joined(parts), {})


def chosen(hits: Hits, queries: Ints, ideal: Ideal | None = None) -> Hits:
    """Return the hits of some queries; with an ``ideal`` given, without the hits themselves."""
    none = Places.none(len(queries))
    selected = taken(hits, queries, ideal)
    return _with(selected, {Holes: none, PooledHoles: none})


def _with(hits: Hits, places: Mapping[type[Key[Any]], Places]) -> Hits:
    """Return the hits with other places, and without row numbers."""
    bare = {RowNumbers, Holes, PooledHoles}
    extras = {kind: value for kind, value in hits.extras.items() if kind not in bare}
    return replace(hits, extras={**extras, **places}, _memo={})
