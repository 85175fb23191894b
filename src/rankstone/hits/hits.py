"""Hits, and the small algebra in which measures are written.

A score depends only on the ranks of the judged documents.  :class:`Hits` holds these for many queries at
once, as flat arrays: the hits of query ``q`` are ``offsets[q] <= i < offsets[q+1]``, in rank order.  Every
method is one operation of the algebra; sums inside a query run strictly from the first hit to the last, so a
score has the same bits in any batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from rankstone.hits.list_arrays import (
    Blocks,
    Ideal,
    counts_within,
    list_numbers,
    offsets_of,
    ragged_range,
    running,
    sums,
)
from rankstone.hits.remembering import Remembering
from rankstone.hits.trace import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Floats, Ints, NamedValues
    from rankstone.hits.extras.extra_values import Key, Value
    from rankstone.hits.list_arrays import Cutoff
    from rankstone.hits.trace import Trace

#: fields with one value for each hit, and those with one for each query
PER_HIT: Final = ("rank", "grade", "first", "last", "judged")
PER_QUERY: Final = ("n", "length", "found")


@dataclass(frozen=True, eq=False)
class Hits(Remembering, Traced):
    """The judged documents in ranked lists, for many queries at once.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``: hits of query ``q`` are ``offsets[q]:offsets[q + 1]``.
    rank
        int64 ``[hits]``: rank of each judged retrieved document, from 1, ascending within a query.
        Judged non-relevant documents are hits too.
    grade
        float64 ``[hits]``: the judged (or imputed) grade.
    first, last
        int64 ``[hits]``: first and last rank of the hit's tie block; both are ``rank`` where nothing ties.
    judged
        bool ``[hits]``: False where the grade was imputed.
    n
        int64 ``[queries]``: documents retrieved.
    length
        int64 ``[queries]``: ranks of the list; ``n``, unless documents were removed and ranks stay.
    ideal
        All judged grades.
    found
        bool ``[queries]``: False for judged queries that the run does not answer.
    expected
        True if a hit is at every rank of its tie block with equal chance (``ties="expected"``) instead of at
        ``rank``.
    lowest_grade
        The lowest grade in all judgments: the bottom of the scale.
    extras
        What only some measures need, by the extra that added it: ``hits.extras[RowNumbers]``.
    trace
        Records what measures compute with; ``None`` for no trace.  With a trace the hits are those of one
        query.
    """

    #: whether numbers are there to be looked at, or are still to be computed on a device
    has_values: ClassVar[bool] = True

    offsets: Ints
    rank: Ints
    grade: Floats
    first: Ints
    last: Ints
    judged: Bools
    n: Ints
    length: Ints
    ideal: Ideal
    found: Bools
    expected: bool = False
    lowest_grade: float = 0.0
    extras: Mapping[Any, Any] = field(default_factory=dict)
    trace: Trace | None = None
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.n)

    def record_ideal(self, ideal: Ideal, **columns: Floats) -> None:
        """Record the ideal list and columns of the norm, ``[judged]`` each; only the first is kept."""
        if self.trace is not None and self.trace.ideal is None:
            self.trace.ideal = ideal
            self.record(
                "rank", lambda: ideal.rank, title="ideal", gain=ideal.grade, **columns
            )

    def added(self, kind: type[Key[Value]]) -> Value:
        """Return what an extra has added, for measures that require it."""
        value: Value = self.extras[kind]
        return value

    @property
    def best_list(self) -> Ideal:
        """The grades of the best possible list."""
        return self.ideal

    @cached_property
    def query(self) -> Ints:
        """The query of each hit, int64 ``[hits]``."""
        return list_numbers(np.diff(self.offsets))

    def down_to(self, k: int) -> Hits:
        """Return the hits that may be among the first ``k`` ranks, for the same queries."""
        return (
            self
            if k >= self.deepest
            else self.remember(("down to", k), lambda: self.shortened(k))
        )

    @cached_property
    def deepest(self) -> int:
        """The deepest rank of a hit (for tied ranks the first possible one), 0 without any."""
        rank = self.first if self.has_tied_ranks else self.rank
        return int(rank.max(initial=0))

    def shortened(self, k: int) -> Hits:
        """Do the same as :meth:`down_to` without caching, for many cutoffs."""
        if k >= self.deepest:
            return self
        rank = self.first if self.has_tied_ranks else self.rank
        return self.chosen(np.flatnonzero(rank <= k))

    def chosen(
        self,
        hits: Ints,
        queries: Ints | None = None,
        **changed: Any,  # noqa: ANN401 - fields
    ) -> Hits:
        """Return some of the hits, of all queries or of some.

        Parameters
        ----------
        hits, queries
            int64: the indexes of hits and queries; ``None`` for all queries, with the hits in their order.
        changed
            Fields that are not those of the hits and queries chosen.
        """
        columns: NamedValues = {name: getattr(self, name)[hits] for name in PER_HIT}
        if queries is None:
            columns["offsets"] = np.searchsorted(hits, self.offsets)
        else:
            columns |= {name: getattr(self, name)[queries] for name in PER_QUERY}
        taken = {k: value.taken(hits, queries) for k, value in self.extras.items()}
        extras = {k: value for k, value in taken.items() if value is not None}
        return replace(self, **{**columns, **changed}, extras=extras, _memo={})

    # -- from queries to hits and back ------------------------------------------------------------
    def spread(self, per_query: NDArray[Any]) -> NDArray[Any]:
        """Give every hit the value of its query."""
        return per_query[self.query]

    def total(self, values: Floats) -> Floats:
        """Sum within each query, strictly in rank order, float64 ``[queries]``."""
        return sums(self.query, values, self.queries)

    def count(self, mask: Bools) -> Ints:
        """Count within each query, int64 ``[queries]``."""
        return counts_within(mask, self.offsets)

    def running_count(self, mask: Bools) -> Ints:
        """Count from the query's first hit up to and including each hit, int64 ``[hits]``."""
        run = offsets_of(mask)
        counted: Ints = run[1:] - self.spread(run[self.offsets[:-1]])
        return counted

    def numbered(self, mask: Bools) -> tuple[Ints, Ints]:
        """Return the masked hits, and the number of each among those of its query, from 1."""
        masked = np.flatnonzero(mask)
        first = np.searchsorted(masked, self.offsets)
        before = np.repeat(first[:-1], np.diff(first))
        number = np.arange(1, len(masked) + 1, like=first) - before
        return masked, number

    def cut(self, values: Floats, k: Cutoff | None) -> Floats:
        """Return the values, 0 for hits below a cutoff, float64 ``[hits]``."""
        return (
            values
            if k is None
            else np.where(self.rank <= self._cutoff_per_hit(k), values, 0.0)
        )

    def _cutoff_per_hit(self, k: Cutoff) -> Ints | int:
        """Return the cutoff as it applies to each hit."""
        return k if isinstance(k, int) else self.spread(k)

    # -- the possible ranks of a hit -------------------------------------------------------------
    @cached_property
    def has_tied_ranks(self) -> bool:
        """True if a hit has more than one possible rank."""
        return (
            self.expected
            and self.first is not self.last
            and bool((self.first != self.last).any())
        )

    @cached_property
    def blocks(self) -> Blocks:
        """The hits by tie block, or each hit in its own block."""
        if not self.has_tied_ranks:
            return Blocks(
                np.arange(len(self.rank), like=self.rank), self.rank, self.rank
            )
        fresh = np.ones_like(self.first, bool)
        fresh[1:] = (self.first[1:] != self.first[:-1]) | (
            self.query[1:] != self.query[:-1]
        )
        return Blocks(np.cumsum(fresh) - 1, self.first[fresh], self.last[fresh])

    def without_ties(self) -> Hits:
        """Return the hits as if no documents tied: each at its rank, in a block of its own."""
        return replace(self, first=self.rank, last=self.rank, expected=False, _memo={})

    def with_open_ties(self, k: int | None = None) -> Hits:
        """Return the hits with all ranks of their tie block possible, whatever rule has resolved the ties.

        Parameters
        ----------
        k
            Blocks end here; hits below it must have been left out.
        """
        if self.expected or np.array_equal(self.first, self.last):
            return self
        last = self.last if k is None else np.minimum(self.last, k)

        def opened() -> Hits:
            return replace(self, last=last, expected=True, _memo={})

        return self.remember(("open ties", k), opened)

    def at_rank(
        self, value: Callable[[Ints], Floats], k: Cutoff | None = None
    ) -> Floats:
        """Return ``value(rank)`` for every hit; for tied ranks the mean over the block.

        Parameters
        ----------
        value
            Vectorised function of ranks.
        k
            Ranks below this count 0: one cutoff, or int64 ``[queries]``; ``None`` for whole lists.
        """
        if not self.has_tied_ranks:
            return self.cut(value(self.rank), k)
        return self.over_places(lambda rank, _: value(rank), k)

    def above_cutoff(self, k: Cutoff | None) -> Floats:
        """Return 1 for every hit above a cutoff, 0 below it; for tied ranks the mean over the block."""
        return self.at_rank(lambda rank: np.ones(len(rank)), k)

    def discounted(
        self, gain: Floats, divisor: Callable[[Ints], Floats], k: Cutoff | None
    ) -> Floats:
        """Return ``gain / divisor(rank)`` for every hit; for tied ranks the mean over the block.

        A division, not a product with a stored reciprocal: that would change the last bit.
        """
        discount = divisor(self.rank)
        shares = self.cut(gain / discount, k)
        if not self.has_tied_ranks:
            self.record_columns(gain=gain, divisor=discount)
            return shares
        mean = self.over_places(lambda rank, _: 1.0 / divisor(rank), k)
        self.record_columns(gain=gain, mean_discount=mean)
        return np.where(self.first == self.last, shares, gain * mean)

    def first_of(
        self, mask: Bools, value: Callable[[Ints], Floats], k: Cutoff | None
    ) -> Floats:
        """Return ``value(rank)`` at the query's first masked hit, 0 at all others.

        Where that hit's rank is tied, the masked hits of its block share the expectation: the first of
        ``m`` among ``s`` tied documents is at place ``j`` with probability C(s-j, m-1) / C(s, m)
        (McSherry and Najork, 2008).
        """
        masked = np.flatnonzero(mask)
        blocks = self.blocks
        each = np.searchsorted(masked, self.offsets)
        heads = masked[each[:-1][each[1:] > each[:-1]]]
        if not self.has_tied_ranks:
            values = np.zeros_like(self.rank, np.float64)
            values[heads] = value(self.rank[heads])
            return self.cut(values, k)
        chosen = blocks.of_hit[heads]
        inside = self.inside(mask)
        first = blocks.first[chosen]
        size = blocks.size[chosen]
        m = inside[chosen]
        lengths = size - m + 1
        if k is not None:
            limit = k if isinstance(k, int) else k[self.query[blocks.head[chosen]]]
            lengths = np.clip(limit - first + 1, 0, lengths)
        block = list_numbers(lengths)
        rank = ragged_range(first, lengths)
        j = rank - first[block] + 1
        left = size[block] - j + 1
        among = m[block]
        chance = running(
            np.multiply,
            np.where(j == 1, among / left, (left - among + 1) / left),
            lengths,
        )
        share = np.zeros_like(inside, np.float64)
        share[chosen] = np.bincount(block, chance * value(rank), len(chosen)) / m
        return np.where(mask, share[blocks.of_hit], 0.0)

    def nth_of(self, mask: Bools, nth: Ints) -> tuple[Floats, Floats]:
        """Return the query's nth masked hit.

        Where its rank is tied, the masked hits of its block share it, and its rank is the mean over orders:
        of ``m`` among ``s`` tied documents the ``j``-th is at place j (s + 1) / (m + 1).

        Parameters
        ----------
        nth
            int64 ``[queries]``, from 1.

        Returns
        -------
        share
            float64 ``[hits]``: 1 at that hit, 0 at all others; zeros where there are not so many.
        rank
            float64 ``[hits]``: its rank where the share is not 0.
        """
        blocks = self.blocks
        inside = self.inside(mask)
        j = nth[self.query[blocks.head]] - self.earlier(mask)
        share = np.where((j > 0) & (j <= inside), 1.0 / np.maximum(inside, 1), 0.0)
        rank = blocks.first - 1 + j * (blocks.size + 1) / (inside + 1)
        return np.where(mask, share[blocks.of_hit], 0.0), rank[blocks.of_hit]

    def over_places(
        self,
        value: Callable[[Ints, Ints | slice], Floats],
        k: Cutoff | None = None,
        among: Bools | None = None,
    ) -> Floats:
        """Return the mean of ``value(rank, block)`` over the ranks of each hit's block.

        Parameters
        ----------
        value
            Function of ranks and of an index into arrays by block.
        k
            Deeper ranks contribute nothing to the mean.
        among
            bool ``[hits]``: hits whose means are computed, 0 for all others; ``None`` for all.
        """
        if not self.has_tied_ranks:
            chosen = slice(None) if among is None else np.flatnonzero(among)
            rank = self.rank[chosen]
            values = value(rank, chosen)
            if k is not None:
                cutoff = k if isinstance(k, int) else k[self.query[chosen]]
                values = np.where(rank <= cutoff, values, 0.0)
            if among is None:
                return values
            means = np.zeros_like(among, np.float64)
            means[chosen] = values
            return means
        blocks = self.blocks
        limit = blocks.last
        if k is not None:
            limit = np.minimum(
                limit, k if isinstance(k, int) else k[self.query[blocks.head]]
            )
        lengths = np.maximum(limit - blocks.first + 1, 0)
        if among is not None:
            lengths = np.where(self.inside(among) > 0, lengths, 0)
        block = list_numbers(lengths)
        rank = ragged_range(blocks.first, lengths)
        sums = np.bincount(block, value(rank, block), len(lengths))
        mean = (sums / blocks.size)[blocks.of_hit]
        return mean if among is None else np.where(among, mean, 0.0)

    def earlier(self, mask: Bools) -> Ints:
        """Count the masked hits of the query in blocks above each block, int64 ``[blocks]``."""
        through = self.running_count(mask)
        if self.has_tied_ranks:
            through = through[self.blocks.tail]
        return through - self.inside(mask)

    def inside(self, mask: Bools) -> Ints:
        """Count the masked hits in each block, int64 ``[blocks]``."""
        if not self.has_tied_ranks:
            return mask.astype(np.int64)
        return np.bincount(self.blocks.of_hit, mask, len(self.blocks.first)).astype(
            np.int64
        )

    # -- ranks that hold no hit --------------------------------------------------------------------
    def vacant(self, tail: Callable[[Ints], Floats], k: int | None = None) -> Floats:
        """Sum a function of rank over all ranks that hold no hit, float64 ``[queries]``.

        In a tie block a rank holds a hit with the share of hits among its documents.

        Parameters
        ----------
        tail
            ``tail(i)``: the sum over all ranks below ``i``, so ``tail(0)`` is that over all there are.
        k
            Nothing below this rank is a hit.
        """
        blocks = self.blocks
        query = self.query[blocks.head]
        last = blocks.last if k is None else np.minimum(blocks.last, k)
        count = np.bincount(query, minlength=self.queries)
        closing = (np.cumsum(count) - 1)[count > 0]
        above = np.zeros_like(last)
        lowest = np.zeros_like(count)
        above[1:] = last[:-1]
        above[closing[:-1] + 1] = 0
        lowest[count > 0] = last[closing]
        free = 1.0 - self.inside(np.ones(len(self.rank), bool)) / blocks.size
        between = tail(above) - tail(blocks.first - 1)
        within = tail(blocks.first - 1) - tail(last)
        return sums(query, between + free * within, self.queries) + tail(lowest)

    # -- relevance --------------------------------------------------------------------------------
    def relevant(self, is_relevant: Callable[[Floats], Bools] | float) -> Bools:
        """Return which hits are relevant, bool ``[hits]``: by a function, or from a lowest grade."""
        test = _test(is_relevant)
        relevant = self.remember(("relevant", is_relevant), lambda: test(self.grade))
        self.record_columns(relevant=relevant)
        return relevant

    def relevant_count(self, is_relevant: Callable[[Floats], Bools] | float) -> Ints:
        """Return R: how many judged documents are relevant, retrieved or not, int64 ``[queries]``."""
        return self.ideal.relevant_count(_test(is_relevant))


def _test(is_relevant: Callable[[Floats], Bools] | float) -> Callable[[Floats], Bools]:
    """Return the function that tests grades for relevance."""
    return (
        is_relevant if callable(is_relevant) else lambda grades: grades >= is_relevant
    )
