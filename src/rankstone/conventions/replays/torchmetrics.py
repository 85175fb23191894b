"""TorchMetrics' fall-out and AUROC, which have a value if a class is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.auc import AUC, Fallout
from rankstone.measures.core.definition import parameter
from rankstone.measures.core.measure import Contributions, Status

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits


@dataclass(frozen=True, kw_only=True)
class AUROC(Replay, AUC):
    """The AUC of the first k ranks, 0 if they have only one class.

    >>> print(AUROC(k=5))
    RetrievalAUROC@5
    """

    name = "RetrievalAUROC"
    aliases = ()
    needs_relevant = True
    zero_norm = Status.no_ideal

    negatives: str = parameter(
        "candidates", "everything in the list that is not relevant", "candidates"
    )
    unreturned: str = parameter(
        "exclude", "documents below rank k are left out", "exclude"
    )


@dataclass(frozen=True, kw_only=True)
class FallOut(Replay, Fallout):
    """Fallout, 1 for a query without a negative.

    >>> print(FallOut(k=5))
    RetrievalFallOut@5
    """

    name = "RetrievalFallOut"
    aliases = ()

    negatives: str = parameter(
        "candidates", "everything in the list that is not relevant", "candidates"
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Score queries without a negative 1."""
        parts = super().contributions(hits)
        none = (parts.norm == 0).astype(np.float64)
        return replace(parts, norm=parts.norm + none, unjudged=parts.unjudged + none)


@dataclass(frozen=True, kw_only=True)
class FallOutOrZero(Fallout):
    """Fallout, 0 for a query without a negative.

    >>> print(FallOutOrZero(k=5))
    RetrievalFallOut@5
    """

    name = "RetrievalFallOut"
    aliases = ()
    zero_norm = Status.no_ideal
    card = FallOut.card

    negatives: str = parameter(
        "candidates", "everything in the list that is not relevant", "candidates"
    )


class FallOutIfAny(FallOutOrZero):
    """Fallout, without queries that have no negative.

    >>> print(FallOutIfAny(k=5))
    RetrievalFallOut@5
    """

    zero_norm = Status.dropped
