"""nDCG with a negative ideal sum: libraries divide by different numbers then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.measures.dcg import nDCG

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Contributions


class NDCG(nDCG):
    """nDCG divided by the absolute ideal sum; 0 if that is 0.

    A query whose grades add up to 0 counts as one without relevant documents.

    >>> print(NDCG(k=5))
    nDCG@5
    """

    def contributions(self, hits: Hits) -> Contributions:
        """Change the signs of both sums if the ideal one is below 0."""
        parts = super().contributions(hits)
        sign = np.where(parts.norm < 0, -1.0, 1.0)
        return replace(
            parts, hits=parts.hits * hits.spread(sign), norm=self.divided_by(parts.norm)
        )

    def divided_by(self, ideal: Floats) -> Floats:
        """Return the absolute ideal sums."""
        return np.abs(ideal)

    def relevant_count(self, hits: Hits) -> Ints:
        """Return 0 if all grades add up to 0, else 1."""
        sums = hits.ideal.total(hits.ideal.grade)
        return np.where(sums == 0, 0, 1)


class OrGain(NDCG):
    """nDCG divided by the absolute ideal sum; not divided if that is 0.

    >>> print(OrGain(k=5))
    nDCG@5
    """

    needs_relevant = False

    def divided_by(self, ideal: Floats) -> Floats:
        """Return the absolute ideal sums, 1 for those that are 0."""
        return np.where(ideal == 0, 1.0, np.abs(ideal))


class OrOne(nDCG):
    """nDCG that is 1 if the ideal sum is not positive.

    >>> print(OrOne(k=5))
    nDCG@5
    """

    needs_relevant = False

    def contributions(self, hits: Hits) -> Contributions:
        """Score a list 1 if the ideal sum is not positive."""
        parts = super().contributions(hits)
        void = parts.norm <= 0
        return replace(
            parts,
            hits=np.where(hits.spread(void), 0.0, parts.hits),
            norm=np.where(void, 1.0, parts.norm),
            unjudged=void.astype(np.float64),
        )
