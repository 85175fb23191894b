"""Lists as the rows of one table: every place is a hit, and the algebra of hits works along rows.

Ranks are columns, so whatever depends on ranks alone (discounts, the chance of a rank) is one row, which NumPy
computes; what depends on the query is one column.  Lists that are shorter, and documents nobody judged, leave
places that are no hit: sums and counts pass over them.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.hits.hits import Hits
from rankstone.hits.list_arrays import Blocks, Ideal
from rankstone.integrations.arrays.dense_tables import TableArray
from rankstone.integrations.arrays.device_arrays import NotOnDevice
from rankstone.integrations.arrays.device_tape import OfPlaces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.list_arrays import Cutoff
    from rankstone.integrations.arrays.device_arrays import Data

#: deeper than any list
_WHOLE: Final = 1 << 62
#: tie blocks have their values at every place of theirs
_OF_PLACE: Data = OfPlaces(lambda table: table)


@dataclass(frozen=True, eq=False)
class DenseIdeal(Ideal):
    """The judged grades of lists, best first, as rows of a table.

    Attributes
    ----------
    table
        The table.
    width
        So many columns count.
    """

    table: Data = None
    width: int = 0

    @property
    def query(self) -> Data:
        """The query of each grade."""
        return self.table.of_query

    @property
    def rank(self) -> Data:
        """The ideal rank of each grade."""
        return self.table.array(self.table.rank, self.width)

    def regraded(self, grade: Data) -> DenseIdeal:
        """Return lists with other grades."""
        return replace(self, grade=grade, _memo={})

    def total(self, values: Data) -> Data:
        """Sum within each query."""
        inside = self.table.inside(values)
        return self.table.total(inside, self.width)

    def count(self, mask: Data) -> Data:
        """Count within each query."""
        inside = self.table.inside(mask, nothing=False)
        return self.table.total(inside, self.width)

    def best(self) -> Data:
        """Return the best grade of each query, 0 where nothing is judged."""
        return self.table.total(self.table.inside(self.grade), 1)

    def down_to(self, k: int) -> DenseIdeal:
        """Return the best ``k`` grades of each query."""
        width = min(k, self.width)
        grade = self.table.array(self.grade, width)
        return replace(self, grade=grade, width=width, _memo={})


class RankSums(TableArray):
    """Values of hits of which only sums are known, rank by rank.

    Parameters
    ----------
    values
        The sum at each rank.
    k
        Deeper ranks count 0; ``None`` for whole lists.
    """

    def __init__(self, values: TableArray, k: int | None) -> None:
        self.library = values.library  # there is no ``data``: to ask for it is refused
        self.width = values.width
        self.reach = k or _WHOLE
        self._values = values

    def by_rank(self) -> Data:
        """Return the sum at each rank."""
        return self._values


class BlockMeans(RankSums):
    """Means over the ranks of each hit's tie block, times a weight of the hit.

    The sum over hits of weight × mean value is the sum over ranks of value × mean weight, for any cutoff: so
    the weights are averaged once for all cutoffs, and the means themselves are computed only on demand.

    Parameters
    ----------
    hits
        The hits.
    values
        The value of each rank.
    k
        Deeper ranks count 0; ``None`` for whole lists.
    weight
        The weight of each hit, or which hits count; ``None`` for all alike.
    """

    def __init__(
        self, hits: DenseHits, values: TableArray, k: int | None, weight: Data = None
    ) -> None:
        super().__init__(values, k)
        self._hits = hits
        self._weight = weight

    @property
    def data(self) -> Data:
        """The values of hits."""
        hits = self._hits
        weight = self._weight
        above_cutoff = hits.table.array(hits.table.rank, hits.width) <= self.reach
        values = np.where(above_cutoff, self._values, 0.0)
        means = hits.over_block(values) / hits.blocks.size
        if weight is None:
            return means.data
        if weight.dtype == np.dtype(bool):
            return np.where(weight, means, 0.0).data
        return (means * weight).data

    def by_rank(self) -> Data:
        """Return the mean weight at each rank times its value."""
        hits = self._hits
        weight = self._weight
        if weight is None:
            weight = hits.table.array(np.ones(hits.width), hits.width)
        inside = hits.over_block(hits.table.inside(weight))
        return inside / hits.blocks.size * self._values

    def _weighed(self, weight: Data) -> BlockMeans:
        return BlockMeans(self._hits, self._values, self.reach, weight)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Data, **kwargs: Data
    ) -> Data:
        weights = [other for other in inputs if not isinstance(other, BlockMeans)]
        weighs = ufunc is np.multiply and self._weight is None
        if weighs and len(weights) == 1 and isinstance(weights[0], TableArray):
            return self._weighed(weights[0])
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    def __array_function__(
        self,
        func: Callable[..., Data],
        types: object,
        args: Sequence[Data],
        kwargs: Mapping[str, Data],
    ) -> Data:
        if func is np.where and isinstance(args[0], TableArray) and args[1] is self:
            mask, _, other = args
            if isinstance(other, float) and not other:
                weight = mask
                if self._weight is not None:
                    weight = np.where(mask, self._weight, 0.0)
                return self._weighed(weight)
        return super().__array_function__(func, types, args, kwargs)


class PlaceBlocks(Blocks):
    """Tie blocks with their values at all places of theirs."""

    head = _OF_PLACE


@dataclass(frozen=True, eq=False)
class DenseHits(Hits):
    """Lists as rows of a table.

    Attributes
    ----------
    table
        The table.
    width
        So many columns count.
    cut_at
        Where ranks are tied: only blocks count that begin down to this rank.
    opened
        Returns the first and the last rank of each tie block; ``None`` for the top of lists.
    """

    has_values = False

    table: Data = None
    width: int = 0
    cut_at: int | None = None
    opened: Callable[[], tuple[Data, Data]] | None = None

    @property
    def query(self) -> Data:
        """The query of each place."""
        return self.table.of_query

    @property
    def has_tied_ranks(self) -> bool:
        """True if a place stands for all ranks of its block."""
        return self.expected

    @property
    def deepest(self) -> int:
        """Refuse: it depends on the scores."""
        raise NotOnDevice("the deepest rank")

    def down_to(self, k: int) -> DenseHits:
        """Return the hits that may be among the first ``k`` ranks."""

        def cut() -> DenseHits:
            if self.expected:
                return replace(self, cut_at=min(k, self.cut_at or k), _memo={})
            width = min(k, self.width)
            columns = {}
            for name in ("rank", "grade", "first", "last", "judged"):
                columns[name] = copy(getattr(self, name))
                columns[name].width = width
            return replace(self, **columns, width=width, _memo={})

        return self.remember(("down to", k), cut)

    # -- from queries to hits and back ------------------------------------------------------------
    def spread(self, per_query: Data) -> Data:
        """Give every place the value of its query."""
        return self.table.spread(per_query)

    def total(self, values: Data) -> Data:
        """Sum within each query."""
        if isinstance(values, RankSums) and values.reach <= (self.cut_at or _WHOLE):
            width = min(values.reach, self.width)
            return self.table.total(values.by_rank(), width)
        values = self.table.inside(values)
        if self.cut_at is not None:
            values = np.where(self.first <= self.cut_at, values, 0.0)
        return self.table.total(values, self.width)

    def count(self, mask: Data) -> Data:
        """Count within each query."""
        count = self.total(mask.astype(np.int64))
        return count.astype(np.int64)

    def running_count(self, mask: Data) -> Data:
        """Count from the query's first hit up to and including each."""
        inside = self.table.inside(mask, nothing=False)
        return self.table.array(self.table.running(inside), self.width)

    def numbered(self, mask: Data) -> tuple[Data, Data]:
        """Return the masked hits, and the number of each among those of its query, from 1."""
        return mask, self.running_count(mask)

    # -- the possible ranks of a hit -------------------------------------------------------------
    @cached_property
    def blocks(self) -> Blocks:
        """The hits by tie block; blocks have their values at all places of theirs."""
        return PlaceBlocks(_OF_PLACE, self.first, self.last)

    def _through(self, values: Data) -> Data:
        """Return sums over no place, the first, the first two, …."""
        running = self.table.running(values)
        kind = self.table.tape.dtype(running)
        nothing = np.zeros((self.table.queries, 1), kind)
        return self.table.after(nothing, running)

    def _up_to(self, through: Data, place: Data) -> Data:
        """Return the sums down to a place of each row."""
        tape = self.table.tape
        picked = tape.call("take_along_axis", through, place.data, axis=1)
        return self.table.array(picked, self.width)

    def over_block(self, values: Data) -> Data:
        """Sum values of places over the places of each block."""
        through = self._through(values)
        above = self._up_to(through, self.first - 1)
        return self._up_to(through, self.last) - above

    def earlier(self, mask: Data) -> Data:
        """Count the masked hits of the query in blocks above each."""
        mask = self.table.inside(mask, nothing=False)
        if self.expected:
            through = self._through(mask)
            return self._up_to(through, self.first - 1)
        until = self.running_count(mask)
        return until - mask.astype(np.int64)

    def inside(self, mask: Data) -> Data:
        """Count the masked hits in each block."""
        mask = self.table.inside(mask, nothing=False)
        return self.over_block(mask) if self.expected else mask.astype(np.int64)

    def over_places(
        self,
        value: Callable[[Ints, Data], Floats],
        k: Cutoff | None = None,
        among: Bools | None = None,
    ) -> Data:
        """Return the mean of ``value(rank, block)`` over the ranks of each hit's block."""
        values: Data = value(self.table.rank, _OF_PLACE)
        if not isinstance(k, int):
            values = self.cut(values, k)
            k = None
        values = self.table.array(values, self.width)
        shares: Data = self.cut(values, k)
        if self.expected:
            shares = BlockMeans(self, values, k)
        if among is None:
            return shares
        return np.where(among, shares, 0.0)

    def discounted(
        self, gain: Data, divisor: Callable[[Ints], Floats], k: Cutoff | None
    ) -> Data:
        """Return ``gain / divisor(rank)`` for every hit; for tied ranks the mean over the block."""
        if self.expected:
            return gain * self.at_rank(lambda rank: 1.0 / divisor(rank), k)
        shares = gain / divisor(self.table.rank)
        return self.cut(shares, k)

    def first_of(
        self, mask: Data, value: Callable[[Ints], Floats], k: Cutoff | None
    ) -> Data:
        """Return ``value(rank)`` at the query's first masked hit; masked hits tied with it share that."""
        mask = self.table.inside(mask, nothing=False)
        worth = value(self.table.rank)
        if not self.expected:
            first = mask & (self.running_count(mask) == 1)
            at_first = np.where(first, worth, 0.0)
            return self.cut(at_first, k)
        count = self.inside(mask)
        chosen = (self.earlier(mask) == 0) & (count > 0)
        place = self.table.rank - self.first
        left = self.blocks.size - place
        ahead = np.where(place == 0, count, left - count + 1) / left
        whole = self.table.whole(np.where(chosen, ahead, 1.0))
        chance = self.table.tape.along(np.multiply, whole)
        values: Data = self.table.array(chance, self.width) * worth
        values = np.where(chosen, values, 0.0)
        if not isinstance(k, int):
            values = self.cut(values, k)
            k = None
        return RankSums(values, k)

    def vacant(self, tail: Callable[[Ints], Floats], k: int | None = None) -> Data:
        """Sum a function of rank over all ranks that hold no hit: over all, less those that hold one."""
        held = self.at_rank(lambda rank: tail(rank - 1) - tail(rank), k)
        everywhere = tail(np.zeros(1, np.int64))
        return everywhere - self.total(held)

    def with_open_ties(self, k: int | None = None) -> DenseHits:
        """Return the hits with all ranks of their tie block possible, whatever rule has resolved the ties."""
        if self.expected:
            return self
        if self.opened is None or k is not None:
            raise NotOnDevice("equal scores below a cutoff")
        first, last = self.remember("opened", self.opened)
        return replace(self, first=first, last=last, expected=True, _memo={})
