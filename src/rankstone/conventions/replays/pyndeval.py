"""ndeval's sums at rank 1, which it forgets to divide, and what it divides by nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.measures.core.measure import Status
from rankstone.measures.subtopic_diversity import ERR_IA, alpha_DCG, nNRBP

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Floats
    from rankstone.measures.core.measure import Scored


class _Undivided:
    """Gains are added up, not divided by what could be."""

    def norm(self, hits: Hits) -> Floats:
        """Return 1."""
        return np.ones(hits.queries)


@dataclass(frozen=True, kw_only=True)
class AlphaDCG(_Undivided, alpha_DCG):
    """α-DCG before it is divided: @1 the number of subtopics that the first document serves.

    >>> print(AlphaDCG(k=1))
    alpha_DCG@1
    """


@dataclass(frozen=True, kw_only=True)
class ErrIA(_Undivided, ERR_IA):
    """ERR-IA before it is divided: @1 the number of subtopics that the first document serves.

    >>> print(ErrIA(k=1))
    ERR_IA@1
    """


@dataclass(frozen=True, kw_only=True)
class NNRBP(nNRBP):
    """nNRBP that has no value (NaN) for an answered query that nothing is relevant to.

    >>> print(NNRBP())
    nNRBP
    """

    def score(self, hits: Hits, empty: str = "zero") -> Scored:
        """Score as nNRBP does; a list that is divided by nothing has no value."""
        scored = super().score(hits, empty)
        void = hits.found & (scored.denominator <= 0)
        return replace(
            scored,
            value=np.where(void, np.nan, scored.value),
            status=np.where(void, Status.undefined, scored.status),
        )
