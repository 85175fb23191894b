"""Who met what: pairs of a user and an item, with numbers beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.hits.pairs import ragged_range

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankstone.hits.arrays import Floats, Ints
    from rankstone.lists.beyond.codes import Numbers
    from rankstone.lists.beyond.frame import ListFrame

__all__ = ["Pairs", "keys"]

_BITS = np.uint64(32)


def keys(user: Numbers, item: Numbers) -> NDArray[np.uint64]:
    """Return a pair as one number, ``user | item``, so that pairs sort by user, then item."""
    return (user.astype(np.uint64) << _BITS) | item


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs sorted by user, then item; a pair may come more than once.

    Attributes
    ----------
    key
        uint64 ``[pairs]``, ascending.
    columns
        Number columns by name, float64 ``[pairs]``.
    """

    key: NDArray[np.uint64]
    columns: Mapping[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, user: Numbers, item: Numbers, columns: Mapping[str, Floats] | None = None) -> Pairs:
        """Sort pairs; what is sorted already stays as it is."""
        key = keys(user, item)
        if columns and not (key[1:] >= key[:-1]).all():
            order = np.argsort(key, kind="stable")
            return cls(key[order], {name: values[order] for name, values in columns.items()})
        if not columns:
            key.sort()
        return cls(key, dict(columns or {}))

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def user(self) -> Numbers:
        """The user of each pair, uint32."""
        return (self.key >> _BITS).astype(np.uint32)

    @cached_property
    def item(self) -> Numbers:
        """The item of each pair, uint32."""
        return self.key.astype(np.uint32)  # the low half

    @cached_property
    def users(self) -> Numbers:
        """The distinct users, ascending."""
        fresh = np.ones(len(self), bool)
        fresh[1:] = self.user[1:] != self.user[:-1]
        return self.user[fresh]

    @cached_property
    def once(self) -> Pairs:
        """Each pair once; of number columns the first."""
        fresh = np.ones(len(self), bool)
        fresh[1:] = self.key[1:] != self.key[:-1]
        if fresh.all():
            return self
        return Pairs(self.key[fresh], {name: values[fresh] for name, values in self.columns.items()})

    def where(self, chosen: NDArray[np.bool_]) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.key[chosen], {name: values[chosen] for name, values in self.columns.items()})

    def per_item(self, items: int, weight: Floats | None = None) -> NDArray[Any]:
        """Count the pairs of each item, or sum their weights; ``[items]``."""
        return np.bincount(self.item, weight, items)

    def of_users(self, user: Numbers) -> tuple[Ints, Ints]:
        """Return where each user's pairs begin, and how many there are."""
        begin = np.searchsorted(self.key, user.astype(np.uint64) << _BITS)
        end = np.searchsorted(self.key, (user.astype(np.uint64) + np.uint64(1)) << _BITS)
        return begin, end - begin

    def of_lists(self, lists: ListFrame) -> tuple[Ints, Ints | slice]:
        """Return how many pairs each list's user has, and which they are, one user after another."""

        def look_up() -> tuple[Ints, Ints | slice]:
            begin, count = self.of_users(lists.user)
            if len(begin) and (begin[1:] == begin[:-1] + count[:-1]).all():
                return count, slice(int(begin[0]), int(begin[-1] + count[-1]))
            return count, ragged_range(begin, count)

        return lists.remember(("pairs", self), look_up)

    def find(self, lists: ListFrame) -> Ints:
        """Return for every row of the lists which pair it is, -1 where it is none."""
        return lists.remember(("pair", self), lambda: self._find(lists))

    def _find(self, lists: ListFrame) -> Ints:
        if not len(self) or not len(lists.item):
            return np.full(len(lists.item), -1, np.int64)
        wanted = (lists.user.astype(np.uint64) << _BITS)[lists.list] | lists.item
        # the users of a chunk lie close together, and a short stretch stays inside the cache
        begin = int(np.searchsorted(self.key, wanted.min()))
        end = int(np.searchsorted(self.key, wanted.max(), side="right"))
        if begin == end:
            return np.full(len(wanted), -1, np.int64)
        stretch = self.key[begin:end]
        at = np.minimum(np.searchsorted(stretch, wanted), len(stretch) - 1)
        return np.where(stretch[at] == wanted, at + begin, -1)
