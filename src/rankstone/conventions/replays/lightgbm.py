"""LightGBM's area under the curve: 1 where there is one class only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.pairs import AUC as SOUND

if TYPE_CHECKING:
    from rankstone.hits.ragged import Hits
    from rankstone.measures.base import Contributions

__all__ = ["AUC"]


@dataclass(frozen=True, kw_only=True)
class AUC(SOUND):
    """The area under the curve, 1 where all rows are relevant, or none is.

    >>> print(AUC(negatives="judged"))
    AUC(negatives=judged)
    """

    needs_relevant: ClassVar[bool] = False

    def contributions(self, hits: Hits) -> Contributions:
        """Give everything to rows of one class."""
        parts = super().contributions(hits)
        one = parts.norm == 0
        missed = np.zeros(len(one)) if parts.missed is None else parts.missed
        return replace(parts, norm=np.where(one, 1.0, parts.norm), missed=np.where(one, 1.0, missed))
