"""ir_measures' share of judged documents, and its precision at a level of recall for empty lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.conventions.replays import Replay
from rankstone.measures.core.curve import relevant_needed
from rankstone.measures.core.measure import Status
from rankstone.measures.counts import Judged
from rankstone.measures.precision_recall import IPrec

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Scored


class JudgedOrZero(Replay, Judged):
    """The share of the retrieved documents that are judged; 0 for an empty list.

    >>> print(JudgedOrZero(k=10))
    JudgedOrZero@10
    """

    zero_norm = Status.no_relevant


class CondensedIPrec(IPrec):
    """Precision at a level of recall; undefined (NaN) if the list is empty and the level needs no document.

    trec_eval, which computes it, starts from the precision of the whole list; without its unjudged documents
    a list may be empty: 0 / 0.

    >>> print(CondensedIPrec(recall=0.5, interp="trec9"))
    IPrec(recall=0.5, interp=trec9)
    """

    def score(self, hits: Hits, empty: str = "zero") -> Scored:
        """Score as IPrec does; an empty list has no value at a level that needs no document."""
        scored = super().score(hits, empty)
        needed = relevant_needed(
            self.recall, hits.relevant_count(self.rel), self.interp
        )
        return scored.undefined_where(hits.found & (hits.n == 0) & (needed == 0))
