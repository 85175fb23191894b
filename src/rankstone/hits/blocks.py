"""Hits that share their places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankstone.hits.arrays import Ints

__all__ = ["Blocks"]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Runs of hits that share their places.

    Attributes
    ----------
    of_hit
        int64 ``[hits]``: the block of each hit.
    first, last
        int64 ``[blocks]``: first and last rank of the block.
    """

    of_hit: Ints
    first: Ints
    last: Ints

    @cached_property
    def size(self) -> Ints:
        """How many ranks the block spans, int64 ``[blocks]``."""
        return self.last - self.first + 1

    @cached_property
    def tail(self) -> Ints:
        """The last hit of each block, int64 ``[blocks]``."""
        if len(self.first) == len(self.of_hit):
            return self.of_hit
        return np.flatnonzero(np.diff(self.of_hit, append=len(self.first)))

    @cached_property
    def head(self) -> Ints:
        """The first hit of each block, int64 ``[blocks]``."""
        return np.concatenate(([0], self.tail[:-1] + 1)) if len(self.first) else self.tail
