"""MLflow's nDCG, whose ideal list contains the repetitions of the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Bools, Ints


@dataclass(frozen=True, kw_only=True)
class NDCG(BinaryMeasure):
    """Binary nDCG to the depth of the list; a repeated relevant document counts again.

    >>> print(NDCG(k=5))
    ndcg_at_k@5
    """

    name: ClassVar[str] = "ndcg_at_k"
    family: ClassVar[str] = "cumulated gain"
    brings: ClassVar[frozenset[str]] = frozenset({"pool"})
    card: ClassVar[Card] = Card(
        sentence="How close are the first k results to the best list of the same length?",
        formula="ndcg_at_k = Σ_{i ≤ k} b_i / log2(i + 1)  /  Σ_{i ≤ m} 1 / log2(i + 1), m = min(k, n, R + d)",
        symbols="b_i: 1 if the document at rank i is relevant; n: documents retrieved; R: relevant ones; "
        "d: repetitions of relevant documents among the first k",
        example="relevant and not, R = 3, k = 5: m = 2, 1 / (1 + 0.6309) = 0.6131",
        sensitive="short lists are compared with short ideal lists; repetitions raise the value",
        use="to read MLflow's numbers; nDCG(gain=binary, ideal_depth=min_k_n) if nothing is repeated",
        citation="MLflow 3.18",
    )

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
