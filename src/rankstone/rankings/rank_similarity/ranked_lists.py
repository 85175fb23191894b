"""The lists of one run, by query, with their ranks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record
from rankstone.hits.list_arrays import list_numbers, offsets_of

if TYPE_CHECKING:
    from rankstone._basics import Bools, Ints


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


class Ranked(_ByQuery, Record):
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
        offsets = offsets_of(np.minimum(self.n, k))
        return Ranked(offsets, self.first[kept], np.minimum(self.last[kept], k)), kept

    def part(self, begin: int, end: int) -> Ranked:
        """Return the lists of some queries that follow one another."""
        rows = slice(int(self.offsets[begin]), int(self.offsets[end]))
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        return Ranked(offsets, self.first[rows], self.last[rows])

    def without_ties(self) -> Ranked:
        """Return the lists without ties, every document at its rank."""
        return Ranked(self.offsets, self.rank, self.rank)
