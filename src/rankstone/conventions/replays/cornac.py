"""Cornac's average precision: that of scikit-learn for every list, without a value where nothing is found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.average_precision import AP
from rankstone.measures.base import Status

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits
    from rankstone.measures.base import Contributions

__all__ = ["MAP"]


@dataclass(frozen=True, kw_only=True)
class MAP(AP):
    """Average precision over the relevant items of the list; no value where there are none.

    >>> print(MAP(tied="block"))
    AP(tied=block)
    """

    zero_norm: ClassVar[Status] = Status.undefined

    def contributions(self, hits: Hits) -> Contributions:
        """Divide by the relevant items that are in the list."""
        found = hits.total(hits.relevant(self.rel).astype(np.float64))
        return replace(super().contributions(hits), norm=found)
