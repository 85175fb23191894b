"""For users who look for one document: the blended ratio where their search may end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.arrays import before
from rankstone.measures.base import Contributions
from rankstone.measures.graded_precision import Blended
from rankstone.measures.named import Card

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["O_measure", "P_measure", "P_plus"]

_SYMBOLS = (
    "b_i: 1 if the document at rank i is relevant; BR(i) = (C_i + β cg_i) / (i + β cg*_i): the blended ratio "
    "(C_i: relevant documents down to rank i, cg_i their gains, cg*_i those of the ideal list)"
)
_SAKAI = "Sakai, IPSJ Transactions on Databases 48 (SIG 9), 2007"


class Sought(Blended):
    """The mean blended ratio over the ranks at which a search may end."""

    family: ClassVar[str] = "reciprocal rank"

    @property
    def extremal_under_ties(self) -> bool:
        """Fail: a better document higher up may move the rank at which the search ends."""
        return False

    @property
    def promotion_helps(self) -> bool:
        """Fail: the same."""
        return False

    def ends(self, hits: Hits) -> Bools:
        """Return the hits at which a search may end, bool ``[hits]``."""
        raise NotImplementedError

    def contributions(self, hits: Hits) -> Contributions:
        """Give each of these hits its blended ratio."""
        ends = self.ends(hits)
        return Contributions(
            np.where(ends, self.blended(hits), 0.0), np.maximum(hits.count(ends), 1).astype(np.float64)
        )

    def preferred(self, hits: Hits) -> Ints:
        """Return the place among the hits of each query's first with its best grade, int64 ``[queries]``."""
        shown = np.where(hits.relevant(self.rel), hits.grade, 0.0)
        lengths = np.diff(hits.offsets)
        records = np.flatnonzero(shown > before(np.maximum, shown, lengths, 0.0))
        place = np.full(hits.queries, -1)
        place[hits.query[records]] = records  # the last record of a query is its best grade
        return place


@dataclass(frozen=True, kw_only=True)
class O_measure(Sought):  # noqa: N801 - the name users know
    """O-measure: the blended ratio at the first relevant document.

    >>> print(O_measure(beta=10.0))
    O_measure(beta=10)
    """

    name: ClassVar[str] = "O_measure"
    aliases: ClassVar[tuple[str, ...]] = ("O-measure", "OMeasure")
    card: ClassVar[Card] = Card(
        sentence="How early, and how good, is the first relevant document?",
        formula="O@k = BR(r_1), 0 where nothing relevant is among the first k",
        symbols="r_1: rank of the first relevant document; " + _SYMBOLS,
        example="grades 0, 1, 2 and nothing else judged: (1 + 1) / (2 + 3) = 2/5",
        peers={"pyNTCIREVAL O-measure": "the same"},
        sensitive="ties, the gains, unknown documents of a better grade",
        use="one document is enough, a good one is better; with β = 0 it is RR",
        citation=_SAKAI,
    )

    def ends(self, hits: Hits) -> Bools:
        """Return the first relevant hit of each query."""
        relevant = hits.relevant(self.rel)
        first: Bools = relevant & (hits.running_count(relevant) == 1)
        return first


@dataclass(frozen=True, kw_only=True)
class P_measure(Sought):  # noqa: N801 - the name users know
    """P-measure: the blended ratio at the preferred rank, that of the first document of the best grade shown.

    >>> print(P_measure(k=10))
    P_measure@10
    """

    name: ClassVar[str] = "P_measure"
    aliases: ClassVar[tuple[str, ...]] = ("P-measure", "PMeasure")
    card: ClassVar[Card] = Card(
        sentence="How much is found on the way to the best document of the list?",
        formula="P@k = BR(r_p), 0 where nothing relevant is among the first k",
        symbols="r_p: the preferred rank, that of the first document of the best grade among the first k; "
        + _SYMBOLS,
        example="grades 0, 1, 2 and nothing else judged: (2 + 3) / (3 + 3) = 5/6",
        peers={"pyNTCIREVAL P-measure": "the same"},
        sensitive="ties, the gains, k: a better document further down moves the rank that counts",
        use="users who read on to the best document; P_plus also counts what comes before it",
        citation=_SAKAI,
    )

    def ends(self, hits: Hits) -> Bools:
        """Return the preferred hit of each query."""
        place = self.preferred(hits)
        chosen = np.zeros(len(hits.rank), bool)
        chosen[place[place >= 0]] = True
        return chosen


@dataclass(frozen=True, kw_only=True)
class P_plus(Sought):  # noqa: N801 - the name users know
    """P-plus: the mean blended ratio over the relevant documents down to the preferred rank.

    >>> print(P_plus(k=10))
    P_plus@10
    """

    name: ClassVar[str] = "P_plus"
    aliases: ClassVar[tuple[str, ...]] = ("P+", "P-plus", "PPlus")
    card: ClassVar[Card] = Card(
        sentence="How good are the places at which readers stop who look no further than the best document?",
        formula="P+@k = (1/m) Σ_{i ≤ r_p} b_i BR(i), 0 where nothing relevant is among the first k",
        symbols="r_p: the preferred rank, that of the first document of the best grade among the first k; "
        "m: relevant documents down to it; " + _SYMBOLS,
        example="grades 0, 1, 2 and nothing else judged: ((1 + 1) / (2 + 3) + (2 + 3) / (3 + 3)) / 2 = 37/60",
        peers={"pyNTCIREVAL P-plus": "the same"},
        sensitive="ties, the gains, k: a better document further down moves the rank that counts",
        use="one good document is wanted, and any relevant one may be enough",
        citation=_SAKAI,
    )

    def ends(self, hits: Hits) -> Bools:
        """Return the relevant hits down to the preferred one."""
        place = hits.spread(self.preferred(hits))
        down: Bools = hits.relevant(self.rel) & (np.arange(len(hits.rank)) <= place)
        return down
