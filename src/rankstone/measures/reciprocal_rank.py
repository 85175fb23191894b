"""Reciprocal rank, and the O-, P- and P+-measures for users who look for one document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.list_arrays import before
from rankstone.measures.average_precision import Blended
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure, by_gain

if TYPE_CHECKING:
    from rankstone._basics import Bools, Ints
    from rankstone.hits.hits import Hits

_SYMBOLS = (
    "b_i: 1 if the document at rank i is relevant; BR(i) = (C_i + β cg_i) / (i + β cg*_i): the blended ratio "
    "(C_i: relevant documents down to rank i, cg_i their gains, cg*_i those of the ideal list)"
)
_SAKAI = "Sakai, IPSJ Transactions on Databases 48 (SIG 9), 2007"


@dataclass(frozen=True, kw_only=True)
class RR(BinaryMeasure, family="reciprocal rank"):
    """Reciprocal rank: one over the rank of the first relevant (or the best-graded) document.

    >>> print(RR(k=10))
    RR@10
    """

    aliases = ("MRR", "ReciprocalRank")
    card = Card(
        sentence="How early is the first relevant result?",
        formula="RR@k = 1 / min{i ≤ k : b_i = 1}, 0 if there is none",
        symbols="b_i: 1 if the document at rank i is relevant (target=best: has the best judged grade)",
        example="first relevant at rank 3: RR = 1/3; over queries with 1/3, 1/2 and 1/1: MRR = 11/18",
        peers={
            "trec_eval recip_rank": "the same; it has no cutoff",
            "MS MARCO MRR@10": "RR@10, over all reference queries",
            "ir_measures RR@k": "the same, ties in score to the smaller document id: ties=docid_asc "
            "(without a cutoff it calls trec_eval: docid_desc)",
            "allRank mrr, Liu (2009)": "the best-graded document: RR(target=best)",
            "the sum some texts give": "RR(agg=sum)",
        },
        sensitive="ties around the first relevant document; very much to rank 1 against 2",
        use="one answer is chosen; its steps are unequal, so report the ranks, too",
        scale="no equal steps: rank 2 → 1 is worth 1/2, rank 3 → 2 is worth 1/6; whether to average it is "
        "disputed (Fuhr, SIGIR Forum 2017; Sakai, SIGIR Forum 2020)",
        citation="Kantor and Voorhees, 2000; Voorhees, TREC-8, 1999",
    )

    target: str = parameter("first", "which document counts", "first", "best")

    @property
    def claims(self) -> Claims:
        """The first hit stays the first; with target=best the best judged grade must be known."""
        first = self.target == "first"
        return Claims(
            grows_with_k=True,
            bounds_by="first" if first else "multisets",
            deeper_grades_matter=not first,
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give the first relevant (or best-graded relevant) hit one over its rank."""
        chosen = hits.relevant(self.rel)
        if self.target == "best":
            chosen = chosen & (hits.grade == hits.spread(hits.ideal.best()))
        share = hits.first_of(chosen, lambda rank: 1.0 / rank, self.limit(hits))
        return Contributions(share, np.ones(hits.queries))


class SearchEnd(Blended, family="reciprocal rank"):
    """The mean blended ratio over the hits at which a search may end."""

    @property
    def claims(self) -> Claims:
        """A better document higher up may move the rank at which the search ends."""
        return replace(super().claims, extremal_under_ties=False, promotion_helps=False)

    def last_hits(self, hits: Hits) -> Bools:
        """Return the hits at which a search may end, bool ``[hits]``."""
        raise NotImplementedError

    def contributions(self, hits: Hits) -> Contributions:
        """Give each of these hits its blended ratio."""
        last = self.last_hits(hits)
        return Contributions(
            np.where(last, self.blended(hits), 0.0),
            np.maximum(hits.count(last), 1).astype(np.float64),
        )

    def preferred(self, hits: Hits) -> Ints:
        """Return the first hit of the best grade of each query, int64 ``[queries]``."""
        shown = np.where(hits.relevant(self.rel), hits.grade, 0.0)
        lengths = np.diff(hits.offsets)
        records = np.flatnonzero(shown > before(np.maximum, shown, lengths, 0.0))
        place = np.full(hits.queries, -1)
        place[hits.query[records]] = (
            records  # the last record of a query is its best grade
        )
        return place


class O_measure(SearchEnd):  # noqa: N801 - the name of the field
    """O-measure: the blended ratio at the first relevant document.

    >>> print(O_measure(beta=10.0))
    O_measure(beta=10)
    """

    aliases = ("O-measure", "OMeasure")
    card = Card(
        sentence="How early, and how good, is the first relevant document?",
        formula="O@k = BR(r_1), 0 where nothing relevant is among the first k",
        symbols="r_1: rank of the first relevant document; " + _SYMBOLS,
        example="grades 0, 1, 2 and nothing else judged: (1 + 1) / (2 + 3) = 2/5",
        peers={"pyNTCIREVAL O-measure": "the same"},
        sensitive="ties, the gains, unknown documents of a better grade",
        use="one document is enough, a good one is better; with β = 0 it is RR",
        citation=_SAKAI,
    )

    @property
    def claims(self) -> Claims:
        """The first relevant document stays the first; an earlier or better one gains no less."""
        return by_gain(self.gain, Claims(closed_under_ties=False, grows_with_k=True))

    def last_hits(self, hits: Hits) -> Bools:
        """Return the first relevant hit of each query."""
        relevant = hits.relevant(self.rel)
        first: Bools = relevant & (hits.running_count(relevant) == 1)
        return first


class P_measure(SearchEnd):  # noqa: N801 - the name of the field
    """P-measure: the blended ratio at the preferred rank, that of the first document of the best grade shown.

    >>> print(P_measure(k=10))
    P_measure@10
    """

    aliases = ("P-measure", "PMeasure")
    card = Card(
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

    def last_hits(self, hits: Hits) -> Bools:
        """Return the preferred hit of each query."""
        place = self.preferred(hits)
        chosen = np.zeros(len(hits.rank), bool)
        chosen[place[place >= 0]] = True
        return chosen


class P_plus(SearchEnd):  # noqa: N801 - the name of the field
    """P-plus: the mean blended ratio over the relevant documents down to the preferred rank.

    >>> print(P_plus(k=10))
    P_plus@10
    """

    aliases = ("P+", "P-plus", "PPlus")
    card = Card(
        sentence="How good are the places at which readers stop who look no further than the best document?",
        formula="P+@k = (1/m) Σ_{i ≤ r_p} b_i BR(i), 0 where nothing relevant is among the first k",
        symbols="r_p: the preferred rank, that of the first document of the best grade among the first k; "
        "m: relevant documents down to it; " + _SYMBOLS,
        example="grades 0, 1, 2 and nothing else judged: ((1 + 1) / (2 + 3) + (2 + 3) / (3 + 3)) / 2 = 37/60",
        peers={"pyNTCIREVAL P-plus": "the same"},
        sensitive="ties, the gains, k: a better document further down moves the rank that counts",
        use="one good document is chosen, and any relevant one may be enough",
        citation=_SAKAI,
    )

    def last_hits(self, hits: Hits) -> Bools:
        """Return the relevant hits down to the preferred one."""
        place = hits.spread(self.preferred(hits))
        return hits.relevant(self.rel) & (np.arange(len(hits.rank)) <= place)
