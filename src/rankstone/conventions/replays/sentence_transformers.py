"""sentence-transformers' RerankingEvaluator: lists of only positive documents do not count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankstone.measures.average_precision import AP as SOUND_AP
from rankstone.measures.core.measure import Status
from rankstone.measures.dcg import nDCG
from rankstone.measures.reciprocal_rank import RR as SOUND_RR

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Contributions


class _Contrasted:
    """A measure without a value for a list of only relevant documents."""

    zero_norm: ClassVar[Status] = Status.undefined

    def contributions(self: Any, hits: Hits) -> Contributions:
        """Set the norm to 0 if all documents of the list are relevant."""
        parts: Contributions = super().contributions(hits)  # type: ignore[misc]
        return replace(
            parts, norm=np.where(self.relevant_count(hits) < hits.n, parts.norm, 0.0)
        )


class AP(_Contrasted, SOUND_AP):
    """Average precision, without a value if everything is relevant.

    >>> print(AP(tied="block"))
    AP(tied=block)
    """


class RR(_Contrasted, SOUND_RR):
    """Reciprocal rank, without a value if everything is relevant.

    >>> print(RR(k=5))
    RR@5
    """


class NDCG(_Contrasted, nDCG):
    """nDCG, without a value if everything is relevant.

    >>> print(NDCG(k=5))
    nDCG@5
    """
