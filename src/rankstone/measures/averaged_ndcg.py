"""nDCG averaged over several depths: the ranks of relevant documents, or those where the ideal gain falls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.list_arrays import Ideal, descending_within, offsets_of, running
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.gains_and_discounts import (
    GAINS,
    GainTable,
    divisors,
    gains,
    never_falls,
)
from rankstone.measures.core.measure import Contributions, Measure
from rankstone.measures.core.relevance import by_gain

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.definition import Span


@dataclass(frozen=True, kw_only=True)
class IdealGains(Measure, family="cumulated gain"):
    """A measure that compares the gains of a list, rank by rank, with those of the ideal list."""

    ideal_has_costs = True
    gain: str | GainTable = parameter(
        "linear", "what a grade is worth, or a table {grade: gain}", GAINS
    )

    @property
    def claims(self) -> Claims:
        """A better grade gains no less; 2^(g − 1) is above 0 for every grade."""
        return by_gain(self.gain, Claims(negative_is_least=self.gain != "pow2_shift"))

    def span_of(self, hits: Hits) -> Span:
        """Return the range; negative grades that are kept remove the lower bound."""
        low, high = self.span
        return (None if hits.lowest_grade < 0 else low), high

    def worth(self, hits: Hits) -> Floats:
        """Return the gain of each hit."""
        return hits.remember(
            ("gain", self.gain, None), lambda: gains(self.gain, None, hits.grade)
        )

    def ideal(self, hits: Hits) -> Ideal:
        """Return the gains of the ideal list that are above 0, best first."""
        return hits.remember(
            ("gains above 0", self.gain), lambda: self._make_ideal(hits.best_list)
        )

    def _make_ideal(self, judged: Ideal) -> Ideal:
        gain = gains(self.gain, None, judged.grade)
        if not never_falls(self.gain):
            gain = descending_within(judged.query, gain)
        lengths = judged.count(gain > 0)
        return Ideal(offsets_of(lengths), gain[gain > 0])

    def ideal_dcg(self, hits: Hits) -> Floats:
        """Return the DCG of the ideal list down to each of its ranks, float64 ``[gains above 0]``."""
        ideal = self.ideal(hits)
        shares = ideal.grade / divisors("log2", ideal.rank)
        return running(np.add, shares, np.diff(ideal.offsets))


class ndcg_rel(IdealGains):  # noqa: N801 - the name of the field
    """nDCG averaged over the relevant documents: at the rank of each, at the end for those missed.

    >>> print(ndcg_rel())
    ndcg_rel
    """

    takes_cutoff = False
    card = Card(
        sentence="How good is the list on average, cut at each relevant document?",
        formula="ndcg_rel = (1/R) [ Σ_{relevant hits} nDCG@i + (R − h) · DCG@n / IDCG ]",
        symbols="i: rank of a hit; h: relevant hits; R: documents with a gain; IDCG: DCG of the ideal list",
        example="grades 0, 1 of R = 2: (nDCG@2 + DCG@2/IDCG) / 2 = 0.6309 / 1.6309 = 0.3869",
        peers={
            "trec_eval ndcg_rel": "the same; gains that differ by less than 1 mislead it"
        },
        sensitive="ties, unjudged documents (gain 0), and which documents are judged",
        use="seldom: an experiment to make nDCG depend less on a chosen cutoff, as AP does for precision",
        citation="Buckley, trec_eval, 2008",
    )

    @property
    def claims(self) -> Claims:
        """The gains above a relevant document depend on the order."""
        return replace(super().claims, closed_under_ties=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the nDCG at its rank; count the final DCG for those missed."""
        ideal = self.ideal(hits)
        ideal_dcg = self.ideal_dcg(hits)
        gain = self.worth(hits)
        every = np.diff(ideal.offsets)
        shares = gain / divisors("log2", hits.rank)
        dcg = running(np.add, shares, np.diff(hits.offsets))
        relevant = np.flatnonzero(gain > 0)
        query = hits.query[relevant]
        depth = np.minimum(hits.rank[relevant], every[query])
        at_rank = np.zeros(len(gain))
        at_rank[relevant] = dcg[relevant] / ideal_dcg[ideal.offsets[query] + depth - 1]
        missed = (every - hits.count(gain > 0)) * hits.total(shares)
        whole = np.ones(hits.queries)
        whole[every > 0] = ideal_dcg[ideal.offsets[1:][every > 0] - 1]
        return Contributions(at_rank, every.astype(np.float64), missed=missed / whole)


class Rndcg(IdealGains):
    """nDCG averaged over the depths at which the ideal list steps down to a lower gain.

    >>> print(Rndcg())
    Rndcg
    """

    takes_cutoff = False
    card = Card(
        sentence="How good is the list at the depths where a perfect one would run out of each grade?",
        formula="Rndcg = (1/|B|) Σ_{b ∈ B} DCG@b / IDCG@b",
        symbols="B: for each gain above 0, how many documents have it or more; and n, where n > R + 1",
        example="ideal gains 2, 1, 1: B = {1, 3}, and n of a list of 5 documents or more",
        peers={
            "trec_eval Rndcg": "the same; gains that differ by less than 1 mislead it"
        },
        sensitive="ties, unjudged documents (gain 0), the number of grades; the tail, through n",
        use="seldom: an experiment to replace nDCG's cutoff by depths that suit the query",
        citation="Buckley, trec_eval, 2008",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit its discounted gain over the ideal DCG of every depth at or below its rank."""
        ideal = self.ideal(hits)
        ideal_dcg = self.ideal_dcg(hits)
        every = np.diff(ideal.offsets)
        last = np.zeros(len(ideal.grade), bool)
        last[ideal.offsets[1:][every > 0] - 1] = True
        steps = last | (np.diff(ideal.grade, append=0.0) != 0)
        extra = (hits.length > every + 1) & (every > 0)
        shares = np.where(steps, 1.0, 0.0) + np.where(
            last & extra[ideal.query], 1.0, 0.0
        )
        below = running(np.add, (shares / ideal_dcg)[::-1], every[::-1])[::-1]
        end = np.zeros(hits.queries)
        end[extra] = 1.0 / ideal_dcg[ideal.offsets[1:][extra] - 1]

        def weight(rank: Ints, block: Ints | slice) -> Floats:
            query = hits.query[hits.blocks.head[block]]
            deep = rank > every[query]
            place = np.where(deep, 0, ideal.offsets[query] + rank - 1)
            return np.where(
                deep, end[query], below[place] if len(below) else 0.0
            ) / divisors("log2", rank)

        norm = ideal.count(steps) + extra
        return Contributions(
            self.worth(hits) * hits.over_places(weight), norm.astype(np.float64)
        )


class IDCG(IdealGains):
    """Ideal DCG: what nDCG divides by, the DCG of everything judged in its best order.

    >>> print(IDCG(k=10))
    IDCG@10
    """

    needs_relevant = False
    card = Card(
        sentence="How much discounted gain has the best order?",
        formula="IDCG@k = Σ_{i ≤ k} ĝ_i / log2(i + 1)",
        symbols="ĝ_i: gain at rank i of all judged documents, best first",
        example="grades 1, 3 and 0 judged: 3/log2(2) + 1/log2(3) = 3.6309",
        span=(0.0, None),
        undefined="never",
        peers={
            "trec_eval 10 ideal_dcg": "the same; there it keeps the grades of the query before where all "
            "judgments of a query are negative"
        },
        sensitive="nothing in the run; the grade scale",
        use="to see the denominator of an nDCG",
        citation="Järvelin and Kekäläinen, TOIS 2002",
    )

    @property
    def claims(self) -> Claims:
        """Deeper ranks of the ideal list add to it."""
        return replace(super().claims, grows_with_k=True)

    def contributions(self, hits: Hits) -> Contributions:
        """Sum the discounted gains of the ideal list; no hit contributes."""
        ideal = self.ideal(hits)
        shares = ideal.grade / divisors("log2", ideal.rank)
        if self.k is not None:
            shares = np.where(ideal.rank <= self.k, shares, 0.0)
        return Contributions(
            np.zeros(len(hits.rank)), np.ones(hits.queries), missed=ideal.total(shares)
        )
