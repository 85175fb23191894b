"""ndeval's measures at rank 1, whose division is missing, and its divisions by 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.measures.subtopic_diversity import ERR_IA, alpha_DCG, nNRBP

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Scored


class _Undivided:
    """A measure whose sum of gains is not normalised."""

    def norm(self, hits: Hits) -> Floats:
        """Return 1."""
        return np.ones(hits.queries)


class AlphaDCG(_Undivided, alpha_DCG):
    """α-DCG without normalisation: at 1 the number of subtopics of the first document.

    >>> print(AlphaDCG(k=1))
    alpha_DCG@1
    """


class ErrIA(_Undivided, ERR_IA):
    """ERR-IA without normalisation: at 1 the number of subtopics of the first document.

    >>> print(ErrIA(k=1))
    ERR_IA@1
    """


class NNRBP(nNRBP):
    """nNRBP that is undefined (NaN) for a query with a list and without relevant documents.

    >>> print(NNRBP())
    nNRBP
    """

    def score(self, hits: Hits, empty: str = "zero") -> Scored:
        """Score as nNRBP does; a list with norm 0 has no value."""
        scored = super().score(hits, empty)
        return scored.undefined_where(hits.found & (scored.denominator <= 0))
