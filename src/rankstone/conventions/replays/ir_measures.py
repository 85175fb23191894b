"""ir_measures' share of judged documents, and its precision at a level of recall where no list is left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.core.curve import relevant_needed
from rankstone.measures.core.definition import Card
from rankstone.measures.core.measure import Status
from rankstone.measures.counts import Judged
from rankstone.measures.precision_recall import IPrec

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Scored


@dataclass(frozen=True, kw_only=True)
class JudgedOrZero(Judged):
    """The share of the shown documents that anybody judged; 0 where nothing is shown.

    >>> print(JudgedOrZero(k=10))
    JudgedOrZero@10
    """

    zero_norm: ClassVar[Status] = Status.no_relevant
    card: ClassVar[Card] = Card(
        sentence="Of the first k results, how many has anybody judged, if any is shown?",
        formula="|{i ≤ min(k, n) : d_i judged}| / min(k, n), and 0 where n = 0",
        symbols="d_i: document at rank i; n: length of the list",
        example="8 of the first 10 documents are judged: 0.8; an empty list: 0",
        sensitive="depth, and queries without a list",
        use="to read ir_measures' numbers; Judged@10 leaves out queries without a list",
        citation="ir_measures 0.4",
    )


@dataclass(frozen=True, kw_only=True)
class CondensedIPrec(IPrec):
    """Precision at a level of recall that has no value (NaN) where a list is empty and nothing is wanted.

    trec_eval, underneath, starts from the precision of the whole list, and without its unjudged documents
    a list may have none left: 0 / 0.

    >>> print(CondensedIPrec(recall=0.5, interp="trec9"))
    IPrec(recall=0.5, interp=trec9)
    """

    def score(self, hits: Hits, empty: str = "zero") -> Scored:
        """Score as IPrec does; a level of no document in a list of none has no value."""
        scored = super().score(hits, empty)
        needed = relevant_needed(self.recall, hits.relevant_count(self.rel), self.interp)
        void = hits.found & (hits.n == 0) & (needed == 0)
        return replace(
            scored,
            value=np.where(void, np.nan, scored.value),
            status=np.where(void, Status.undefined, scored.status),
        )
