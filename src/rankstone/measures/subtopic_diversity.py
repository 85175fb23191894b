"""Novelty and diversity over subtopics: α-nDCG, ERR-IA and NRBP, normalised by a bound or a greedy order."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.extras.pool_members import JudgmentGroups, PoolMembers
from rankstone.hits.grouped_judgments import by_group
from rankstone.hits.judged_pool import greedy
from rankstone.hits.list_arrays import before, sums
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import ANY_GAIN, Card, Threshold, parameter
from rankstone.measures.core.gains_and_discounts import divisors
from rankstone.measures.core.measure import Contributions, Measure

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.hits.judged_pool import Pool
    from rankstone.measures.core.definition import RelevantFrom, Span

#: a greedy choice of k documents reaches at least 1 − (1 − 1/k)^k of the best one: never less than 1 − 1/e
GREEDY: Final = math.e / (math.e - 1)
_SYMBOLS: Final = (
    "G_i = Σ_s w_s b_is (1 − α)^c_is; w_s: weight of subtopic s, 1 unless a table of intents says otherwise; "
    "b_is: 1 if the document at rank i is relevant to s; c_is: how many documents above it are"
)
_NEEDS: Final = "judgments by subtopic: TREC's second column, a column subtopic, {query: {doc: {subtopic: grade}}}"
_UNDEFINED: Final = "no subtopic has a relevant document: the option `empty` decides (default 0, counted)"
_SENSITIVE: Final = "ties, unjudged documents (they cover nothing), depth, and how fine the subtopics are"
_SENSITIVE_IDEAL: Final = (
    f"{_SENSITIVE}; in the ideal to document ids, where gains are equal"
)
_GREEDY: Final = (
    "ideal: at every rank the document that gains most, of equals the one with the larger id. The best "
    "order is NP-hard to find, so a list may beat the greedy one and exceed 1, never e/(e − 1)"
)
_ORDERS: Final = {
    "pyndeval, ir_measures": "ties in score go to the smaller document id: ties=docid_asc",
    "ndeval": "lists are ordered by their rank column unless run with -traditional: order=rank",
}
_PEERS: Final = {
    "ndeval, pyndeval, ir_measures": "the same down to rank 20, their deepest",
    **_ORDERS,
}
_WHOLE: Final = {
    "ndeval, pyndeval, ir_measures": "the same, over the whole list",
    **_ORDERS,
}
_UNDIVIDED: Final = {
    "ndeval, pyndeval, ir_measures": "the same for k = 2 … 20; @1 they do not divide, it is a count there",
    **_ORDERS,
}


def intent_weights(pool: Pool, rel: Threshold) -> Floats:
    """Return the weight of each subtopic, float64 ``[groups]``: 0 where no document is relevant to it."""
    assert pool.groups is not None  # noqa: S101 - alignment adds them for measures that declare it
    return np.where(pool.group_ideal.relevant_count(rel) > 0, pool.groups.weight, 0.0)


class SubtopicMeasure(Measure, family="diversity"):
    """A measure of the subtopics of a query that a ranking covers.

    Subtopics without a relevant document are ignored; the others have the weights of the table of intents, or
    equal weights without one.
    """

    takes_budget = False
    requires = frozenset({PoolMembers, JudgmentGroups})

    @property
    def claims(self) -> Claims:
        """What is best for one subtopic may not be for another."""
        return Claims(extremal_under_ties=False, promotion_helps=False)

    def intents(self, hits: Hits) -> Floats:
        """Return the weight of each subtopic, float64 ``[groups]``; 0 without a relevant document."""
        raise NotImplementedError

    def per_query(self, hits: Hits, values: Floats) -> Floats:
        """Sum values of subtopics, float64 ``[queries]``."""
        return sums(hits.added(PoolMembers).groups.query, values, hits.queries)

    def relevant_count(self, hits: Hits) -> Ints | None:
        """Return the number of subtopics with a relevant document, int64 ``[queries]``."""
        return self.per_query(hits, (self.intents(hits) > 0).astype(np.float64)).astype(
            np.int64
        )


@dataclass(frozen=True, kw_only=True)
class BinarySubtopicMeasure(SubtopicMeasure):
    """A measure of binary relevance to subtopics."""

    rel: RelevantFrom = parameter(
        ANY_GAIN, 'relevant means grade ≥ rel; ">2" for strictly greater'
    )

    @property
    def threshold(self) -> Threshold:
        """The grade from which on a document is relevant, ``rel``."""
        return self.rel

    def intents(self, hits: Hits) -> Floats:
        """Return the weight of each subtopic, float64 ``[groups]``; 0 without a relevant document."""
        return intent_weights(hits.added(PoolMembers).pool, self.rel)


@dataclass(frozen=True, kw_only=True)
class SubtopicNovelty(BinarySubtopicMeasure):
    """A measure in which a subtopic gains less each time it is covered: 1, 1 − α, (1 − α)² and so on."""

    #: how a gain is divided by rank
    discount: ClassVar[str] = "log2"

    alpha: float = parameter(
        0.5,
        "the share of its gain that a subtopic loses each time it is covered",
        low=0.0,
        high=1.0,
    )

    @property
    def claims(self) -> Claims:
        """A gain depends on every document above unless alpha=0; alpha=1 has one norm for all cutoffs."""
        return replace(
            super().claims,
            closed_under_ties=self.alpha == 0,
            grows_with_k=self.alpha == 1,
        )

    def divisor(self, rank: Ints) -> Floats:
        """Return what a gain at each rank is divided by."""
        return divisors(self.discount, rank)

    def gains(self, hits: Hits) -> Floats:
        """Return the novelty of each hit: Σ_s P(s) b_s (1 − α)^(times s was covered above)."""
        return hits.remember(
            ("novelty", self.alpha, self.rel), lambda: self._gains(hits)
        )

    def _gains(self, hits: Hits) -> Floats:
        part = by_group(hits)
        serves = part.hits.relevant(self.rel)
        keep = np.where(serves, 1.0 - self.alpha, 1.0)
        fresh = before(np.multiply, keep, np.diff(part.hits.offsets), 1.0)
        weight = self.intents(hits)[part.hits.query]
        return sums(part.of_hit, weight * (fresh * serves), len(hits.rank))

    def contributions(self, hits: Hits) -> Contributions:
        """Discount the novelty of each hit; divide by the norm."""
        return Contributions(
            hits.discounted(self.gains(hits), self.divisor, self.k), self.norm(hits)
        )

    def norm(self, hits: Hits) -> Floats:
        """Return the gain of a list of documents that are all relevant to every subtopic."""
        return self.per_query(hits, self.intents(hits)) * self.perfect_gain()

    def perfect_gain(self) -> float:
        """Return Σ_i (1 − α)^(i−1) / D(i): the gain per subtopic of documents relevant to all of them."""
        assert self.k is not None  # noqa: S101 - measures without a closed form refuse whole lists
        rank = np.arange(1, self.k + 1)
        return float(
            np.cumsum(np.power(1.0 - self.alpha, rank - 1.0) / self.divisor(rank))[-1]
        )


class GreedyNormalized(SubtopicNovelty):
    """A novelty measure divided by the value of a greedy order of the judged documents."""

    @property
    def claims(self) -> Claims:
        """The greedy order goes as deep as the list."""
        return replace(super().claims, grows_with_k=False)

    @property
    def span(self) -> Span:
        """Lowest and highest value: a better order than the greedy one may exist from rank 2 on."""
        top = GREEDY if self.k is None else 1.0 / (1.0 - (1.0 - 1.0 / self.k) ** self.k)
        return 0.0, top

    def norm(self, hits: Hits) -> Floats:
        """Return the value of the greedy order; computed once for all runs."""
        pool = hits.added(PoolMembers).pool
        return pool.once(replace(self, agg="mean"), self._greedy_value)

    def _greedy_value(self, pool: Pool) -> Floats:
        serves = self.threshold(pool.entries.grade)
        keep = np.where(serves, 1.0 - self.alpha, 1.0)
        steps = greedy(
            pool, serves.astype(np.float64), keep, intent_weights(pool, self.threshold)
        )
        total = np.zeros(pool.queries)
        for rank, gain in enumerate(islice(steps, self.k), start=1):
            total += gain / self.divisor(np.array([rank]))
        return total


class alpha_DCG(SubtopicNovelty):  # noqa: N801 - the name of the field
    """α-DCG: DCG that counts subtopics, less when repeated, as a share of what k ranks could gain.

    >>> print(alpha_DCG(k=10))
    alpha_DCG@10
    """

    aliases = ("α_DCG", "alpha-DCG", "α-DCG")
    examples = ("alpha_DCG@10", "alpha_DCG(alpha=0.9)@20")
    card = Card(
        sentence="How much novelty do the first k results have, against k results on every subtopic?",
        formula="α-DCG@k = Σ_{i ≤ k} G_i / log2(i + 1)  /  Σ_s w_s Σ_{i ≤ k} (1 − α)^(i−1) / log2(i + 1)",
        symbols=_SYMBOLS,
        example="2 subtopics, rank 1 covers both, rank 2 one of them: "
        "(2 + 0.5/log2 3) / (2 + 2·0.5/log2 3) = 0.8801",
        needs=_NEEDS,
        undefined=_UNDEFINED,
        peers={
            **_UNDIVIDED,
            "Clarke et al., 2008": "the sum before the division, a number of nuggets",
        },
        sensitive=_SENSITIVE,
        use="where one document could cover every subtopic; alpha_nDCG compares with existing documents",
        citation="Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon, SIGIR 2008",
    )

    def __post_init__(self) -> None:
        """Refuse whole lists, since the norm is what k ranks could gain."""
        super().__post_init__()
        if self.k is None:
            raise BadParameter(
                f"{self.name} is divided by what k ranks could gain, so it needs a cutoff",
                fix=f"write {self}@10; alpha_nDCG takes whole lists, too",
            )


class alpha_nDCG(GreedyNormalized):  # noqa: N801 - the name of the field
    """α-nDCG: DCG that counts subtopics, less when repeated, against a greedy ideal order.

    >>> print(alpha_nDCG(k=20))
    alpha_nDCG@20
    """

    aliases = ("α_nDCG", "alpha-nDCG", "α-nDCG")
    card = replace(
        alpha_DCG.card,
        sentence="How much novelty does each result have, against a greedy order of all judged documents?",
        formula="α-nDCG@k = Σ_{i ≤ k} G_i / log2(i + 1)  /  the same sum over the ideal order",
        symbols=f"{_SYMBOLS}; {_GREEDY}",
        example="documents a: subtopics 1, 2; b: 1; c: 3. List a, b, c, ideal a, c, b: "
        "(2 + 0.5/log2 3 + 1/2) / (2 + 1/log2 3 + 0.5/2) = 0.9773",
        span=(0.0, GREEDY),
        peers=_PEERS,
        sensitive=_SENSITIVE_IDEAL,
        use="ambiguous queries, novelty within a list; α near 1 rewards coverage, α = 0 ignores repetition",
    )


class ERR_IA(SubtopicNovelty):  # noqa: N801 - the name of the field
    """Intent-aware ERR as TREC reports it: each relevant document satisfies its intents with chance α.

    >>> print(ERR_IA(k=20))
    ERR_IA@20
    """

    aliases = ("ERR-IA",)
    discount = "reciprocal"
    card = replace(
        alpha_DCG.card,
        sentence="How early is each intent satisfied, against a list relevant to all of them throughout?",
        formula="ERR-IA@k = Σ_{i ≤ k} G_i / i  /  Σ_s w_s Σ_{i ≤ k} (1 − α)^(i−1) / i;  "
        "for whole lists the last sum is ln(1/α) / (1 − α)",
        example="2 subtopics, rank 1 covers both, rank 2 one of them: (2 + 0.5/2) / (2 + 2·0.5/2) = 0.9",
        peers={
            **_UNDIVIDED,
            "Agrawal et al., 2009; Chapelle et al., 2011": "Σ_s P(s) ERR_s, with graded relevance and "
            "undivided: IA(of=ERR(max_grade=3))",
        },
        use="intents of different weight, and users who stop once they are satisfied",
        citation="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; Clarke, Craswell and Voorhees, TREC 2012",
    )

    def __post_init__(self) -> None:
        """Refuse whole lists with alpha=0, whose norm is infinite."""
        super().__post_init__()
        if self.k is None and self.alpha == 0:
            raise BadParameter(
                f"{self.name}(alpha=0) over whole lists has an infinite norm",
                fix=f"write {self}@20, or a larger alpha",
            )

    def perfect_gain(self) -> float:
        """Return Σ_i (1 − α)^(i−1) / i, its limit for whole lists."""
        if self.k is not None:
            return super().perfect_gain()
        return 1.0 if self.alpha == 1 else -math.log(self.alpha) / (1.0 - self.alpha)


class nERR_IA(GreedyNormalized):  # noqa: N801 - the name of the field
    """Intent-aware ERR against a greedy ideal order.

    >>> print(nERR_IA(k=20))
    nERR_IA@20
    """

    aliases = ("nERR-IA",)
    discount = "reciprocal"
    card = replace(
        alpha_nDCG.card,
        sentence="How early is each intent satisfied, against a greedy order of all judged documents?",
        formula="nERR-IA@k = Σ_{i ≤ k} G_i / i  /  the same sum over the ideal order",
        example="documents a: subtopics 1, 2; b: 1; c: 3. List a, b, c, ideal a, c, b: "
        "(2 + 0.5/2 + 1/3) / (2 + 1/2 + 0.5/3) = 0.9688",
        use="as ERR_IA, when queries differ in how much is relevant",
        citation="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; Clarke, Craswell and Voorhees, TREC 2012",
    )


@dataclass(frozen=True, kw_only=True)
class GeometricNovelty(SubtopicNovelty):
    """A novelty measure with the geometric discount β^(i − 1)."""

    beta: float = parameter(
        0.5, "probability that a user goes on to the next rank", above=0.0, below=1.0
    )

    def divisor(self, rank: Ints) -> Floats:
        """Return 1 / β^(rank − 1)."""
        return divisors("geometric", rank, p=self.beta)


class NRBP(GeometricNovelty):
    """Novelty- and rank-biased precision: RBP that counts subtopics, less when repeated.

    >>> print(NRBP(beta=0.8))
    NRBP(beta=0.8)
    """

    card = replace(
        alpha_DCG.card,
        sentence="What does a user gain who goes on with chance β and wants no subtopic twice?",
        formula="NRBP = (1 − (1 − α) β) / Σ_s w_s · Σ_i β^(i−1) G_i",
        symbols=f"{_SYMBOLS}; β: patience",
        example="2 subtopics, rank 1 covers both, rank 2 one of them: 0.75 / 2 · (2 + 0.5·0.5) = 0.84375",
        peers=_WHOLE,
        use="as RBP: the norm is that of an infinite list, so depth hardly matters",
        citation="Clarke, Kolla and Vechtomova, ICTIR 2009",
    )

    @property
    def claims(self) -> Claims:
        """A sum of gains over a norm that does not depend on k."""
        return replace(super().claims, grows_with_k=True)

    def perfect_gain(self) -> float:
        """Return Σ_i ((1 − α) β)^(i−1), for whole lists and with a cutoff."""
        return 1.0 / (1.0 - (1.0 - self.alpha) * self.beta)


class nNRBP(GeometricNovelty, GreedyNormalized):  # noqa: N801 - the name of the field
    """NRBP against a greedy ideal order.

    >>> print(nNRBP())
    nNRBP
    """

    card = replace(
        alpha_nDCG.card,
        sentence="NRBP against a greedy order of all judged documents.",
        formula="nNRBP = Σ_i β^(i−1) G_i  /  the same sum over the ideal order",
        symbols=f"{_SYMBOLS}; β: patience; {_GREEDY}",
        example="documents a: subtopics 1, 2; b: 1; c: 3. List a, b, c, ideal a, c, b: "
        "(2 + 0.5·0.5 + 0.25·1) / (2 + 0.5·1 + 0.25·0.5) = 0.9524",
        peers=_WHOLE,
        use="as NRBP, when queries differ in how much is relevant",
        citation="Clarke, Kolla and Vechtomova, ICTIR 2009",
    )
