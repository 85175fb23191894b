"""ir_measures' share of judged documents: nothing shown counts as nothing judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankstone.measures.base import Status
from rankstone.measures.judged import Judged
from rankstone.measures.named import Card

__all__ = ["JudgedOrZero"]


@dataclass(frozen=True, kw_only=True)
class JudgedOrZero(Judged):
    """The share of the shown documents that anybody judged; 0 where nothing is shown.

    >>> print(JudgedOrZero(k=10))
    JudgedOrZero@10
    """

    name: ClassVar[str] = "JudgedOrZero"
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
