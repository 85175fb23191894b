"""MLflow's nDCG, whose ideal list contains the repetitions of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.conventions.replays import Replay
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Bools, Ints


class NDCG(Replay, BinaryMeasure):
    """Binary nDCG to the depth of the list; a repeated relevant document counts again.

    >>> print(NDCG(k=5))
    ndcg_at_k@5
    """

    name: ClassVar[str] = "ndcg_at_k"
    family: ClassVar[str] = "cumulated gain"
    brings: ClassVar[frozenset[str]] = frozenset({"pool"})

    #: the ideal list depends on which documents are among the first k
    claims = Claims(closed_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit its discount; divide by those of the ideal list."""
        shares = np.where(hits.relevant(self.rel), 1.0 / np.log2(hits.rank + 1.0), 0.0)
        depth = np.minimum(hits.relevant_count(self.rel) + self._repeated(hits, shares > 0), hits.n)
        depth = depth if self.k is None else np.minimum(depth, self.k)
        ranks = np.arange(1, int(depth.max(initial=0)) + 1)
        ideal = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(ranks + 1.0))))
        return Contributions(shares, ideal[depth])

    def _repeated(self, hits: Hits, relevant: Bools) -> Ints:
        """Count the relevant hits that repeat an earlier one, int64 ``[queries]``."""
        _, member = hits.judged_documents()
        at = np.flatnonzero(relevant)
        _, first = np.unique(member[at], return_index=True)
        again = relevant.copy()
        again[at[first]] = False
        return hits.count(again)
