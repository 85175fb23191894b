"""Novelty and diversity: α-nDCG, ERR-IA and NRBP, against what is thinkable and against what exists.

What measures over subtopics share: intents and their weights, and gains that fade when repeated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.grouped_judgments import by_group
from rankstone.hits.judged_pool import greedy
from rankstone.hits.list_arrays import before, sums
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import ANY_GAIN, Card, Threshold, parameter
from rankstone.measures.core.gains_and_discounts import divisors
from rankstone.measures.core.measure import Contributions, Measure

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.hits.judged_pool import Pool
    from rankstone.hits.list_arrays import Floats, Ints
    from rankstone.measures.core.definition import RelevantFrom, Span


__all__ = ["GREEDY", "Novelty", "OfSubtopics", "RelevantSubtopics", "Renewed"]

#: a greedy choice of k documents reaches at least 1 − (1 − 1/k)^k of the best one: never less than 1 − 1/e
GREEDY: Final = math.e / (math.e - 1)


def intent_weights(pool: Pool, rel: Threshold) -> Floats:
    """Return what each subtopic weighs, float64 ``[groups]``: 0 where no document is relevant to it."""
    assert pool.groups is not None  # noqa: S101 - alignment brings them to measures that ask
    return np.where(pool.group_ideal.relevant_count(rel) > 0, pool.groups.weight, 0.0)


@dataclass(frozen=True, kw_only=True)
class OfSubtopics(Measure):
    """A measure of which subtopics of a query a ranking serves.

    Subtopics without a relevant document do not exist for it; the others weigh what the table of
    intents says, the same where there is none.
    """

    family: ClassVar[str] = "diversity"
    brings: ClassVar[frozenset[str]] = frozenset({"groups"})

    @property
    def claims(self) -> Claims:
        """What is best for one subtopic is not for another."""
        return Claims(extremal_under_ties=False, promotion_helps=False)

    def intents(self, hits: Hits) -> Floats:
        """Return what each subtopic weighs, float64 ``[groups]``; 0 where there is nothing to find."""
        raise NotImplementedError

    def per_query(self, hits: Hits, values: Floats) -> Floats:
        """Sum values of subtopics, float64 ``[queries]``."""
        assert hits.pool is not None  # noqa: S101 - alignment brings it to measures that ask
        assert hits.pool.groups is not None  # noqa: S101 - the same
        return sums(hits.pool.groups.query, values, hits.queries)

    def relevant_count(self, hits: Hits) -> Ints | None:
        """Return the number of subtopics there are to serve, int64 ``[queries]``."""
        return self.per_query(hits, (self.intents(hits) > 0).astype(np.float64)).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class RelevantSubtopics(OfSubtopics):
    """A measure that only asks whether a document is relevant to a subtopic."""

    rel: RelevantFrom = parameter(
        ANY_GAIN, 'relevant to a subtopic means grade ≥ rel; ">2" for strictly greater'
    )

    @property
    def threshold(self) -> Threshold:
        """From which grade on a document is relevant: ``rel``, whatever it was given as."""
        return self.rel

    def intents(self, hits: Hits) -> Floats:
        """Return what each subtopic weighs, float64 ``[groups]``; 0 where nothing is relevant."""
        assert hits.pool is not None  # noqa: S101 - alignment brings it to measures that ask
        return intent_weights(hits.pool, self.rel)


@dataclass(frozen=True, kw_only=True)
class Novelty(RelevantSubtopics):
    """A measure in which a subtopic gains less each time it is served: 1, 1 − α, (1 − α)² and so on."""

    #: what ranks cost
    discount: ClassVar[str] = "log2"

    alpha: float = parameter(
        0.5, "how much of its worth a subtopic loses each time it is served", low=0.0, high=1.0
    )

    @property
    def claims(self) -> Claims:
        """A gain depends on every document above."""
        return replace(super().claims, closed_under_ties=False)

    def divisor(self, rank: Ints) -> Floats:
        """Return what a gain at each rank is divided by."""
        return divisors(self.discount, rank)

    def gains(self, hits: Hits) -> Floats:
        """Return what is new in each hit: Σ_s P(s) b_s (1 − α)^(times s was served above)."""
        return hits.remember(("novelty", self.alpha, self.rel), lambda: self._gains(hits))

    def _gains(self, hits: Hits) -> Floats:
        part = by_group(hits)
        serves = part.hits.relevant(self.rel)
        keep = np.where(serves, 1.0 - self.alpha, 1.0)
        fresh = before(np.multiply, keep, np.diff(part.hits.offsets), 1.0)
        weight = self.intents(hits)[part.hits.query]
        return sums(part.of_hit, weight * (fresh * serves), len(hits.rank))

    def contributions(self, hits: Hits) -> Contributions:
        """Discount what is new at each rank; divide by what could be."""
        return Contributions(hits.discounted(self.gains(hits), self.divisor, self.k), self.norm(hits))

    def norm(self, hits: Hits) -> Floats:
        """Return the most that endlessly many documents could gain, each relevant to every subtopic."""
        return self.per_query(hits, self.intents(hits)) * self.endless()

    def endless(self) -> float:
        """Return Σ_i (1 − α)^(i−1) / D(i): what documents relevant to everything gain a subtopic."""
        assert self.k is not None  # noqa: S101 - measures without a closed form refuse whole lists
        rank = np.arange(1, self.k + 1)
        return float(np.cumsum(np.power(1.0 - self.alpha, rank - 1.0) / self.divisor(rank))[-1])


@dataclass(frozen=True, kw_only=True)
class Renewed(Novelty):
    """A novelty measure divided by what the judged documents reach in a greedy order."""

    @property
    def span(self) -> Span:
        """Lowest and highest value: a better order than the greedy one may exist from rank 2 on."""
        top = GREEDY if self.k is None else 1.0 / (1.0 - (1.0 - 1.0 / self.k) ** self.k)
        return 0.0, top

    def norm(self, hits: Hits) -> Floats:
        """Return what the greedy order reaches; computed once for all runs."""
        assert hits.pool is not None  # noqa: S101 - alignment brings it to measures that ask
        return hits.pool.once(replace(self, agg="mean"), self._reached)

    def _reached(self, pool: Pool) -> Floats:
        serves = self.threshold(pool.entries.grade)
        keep = np.where(serves, 1.0 - self.alpha, 1.0)
        steps = greedy(pool, serves.astype(np.float64), keep, intent_weights(pool, self.threshold))
        reached = np.zeros(pool.queries)
        for rank, gain in enumerate(islice(steps, self.k), start=1):
            reached += gain / self.divisor(np.array([rank]))
        return reached


_SYMBOLS: Final = (
    "G_i = Σ_s w_s b_is (1 − α)^c_is; w_s: weight of subtopic s, 1 unless a table of intents says otherwise; "
    "b_is: 1 if the document at rank i is relevant to s; c_is: how many documents above it are"
)
_NEEDS: Final = (
    "judgments by subtopic: TREC's second column, a column subtopic, {query: {doc: {subtopic: grade}}}"
)
_UNDEFINED: Final = "no subtopic has a relevant document: the option `empty` decides (default 0, counted)"
_SENSITIVE: Final = "ties, unjudged documents (they serve nothing), depth, and how finely subtopics are cut"
_SENSITIVE_IDEAL: Final = f"{_SENSITIVE}; in the ideal to document ids, where gains are equal"
_GREEDY: Final = (
    "ideal: at every rank the document that gains most, of equals the one with the larger id. The best "
    "order is NP-hard to find, so a list may beat the greedy one and exceed 1, never e/(e − 1)"
)
_ORDERS: Final = {
    "pyndeval, ir_measures": "ties in score go to the smaller document id: ties=docid_asc",
    "ndeval": "lists are ordered by their rank column unless it is told -traditional: order=rank",
}
_PEERS: Final = {
    "ndeval, pyndeval, ir_measures": "the same down to rank 20, which is as deep as they go",
    **_ORDERS,
}
_WHOLE: Final = {"ndeval, pyndeval, ir_measures": "the same, over the whole list", **_ORDERS}
_FORGOTTEN: Final = {
    "ndeval, pyndeval, ir_measures": "the same for k = 2 … 20; @1 they do not divide, it is a count there",
    **_ORDERS,
}


@dataclass(frozen=True, kw_only=True)
class alpha_DCG(Novelty):  # noqa: N801 - the name of the field
    """α-DCG: DCG that counts subtopics, less when repeated, as a share of what k ranks could hold.

    >>> print(alpha_DCG(k=10))
    alpha_DCG@10
    """

    aliases: ClassVar[tuple[str, ...]] = ("α_DCG", "alpha-DCG", "α-DCG")
    examples: ClassVar[tuple[str, ...]] = ("alpha_DCG@10", "alpha_DCG(alpha=0.9)@20")
    card: ClassVar[Card] = Card(
        sentence="How much that is new do the first k results show, against k results about everything?",
        formula="α-DCG@k = Σ_{i ≤ k} G_i / log2(i + 1)  /  Σ_s w_s Σ_{i ≤ k} (1 − α)^(i−1) / log2(i + 1)",
        symbols=_SYMBOLS,
        example="2 subtopics, rank 1 serves both, rank 2 one of them: "
        "(2 + 0.5/log2 3) / (2 + 2·0.5/log2 3) = 0.8801",
        needs=_NEEDS,
        undefined=_UNDEFINED,
        peers={**_FORGOTTEN, "Clarke et al., 2008": "the sum before the division, a number of nuggets"},
        sensitive=_SENSITIVE,
        use="where one document could serve every subtopic; alpha_nDCG asks for no more than there is",
        citation="Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon, SIGIR 2008",
    )

    def __post_init__(self) -> None:
        """Refuse whole lists: the norm is what k ranks could hold."""
        super().__post_init__()
        if self.k is None:
            raise BadParameter(
                f"{self.name} is divided by what k ranks could hold, so it needs a cutoff",
                fix=f"write {self.name}@10; alpha_nDCG takes whole lists, too",
            )


@dataclass(frozen=True, kw_only=True)
class alpha_nDCG(Renewed):  # noqa: N801 - the name of the field
    """α-nDCG: DCG that counts subtopics, less when repeated, against a greedy ideal order.

    >>> print(alpha_nDCG(k=20))
    alpha_nDCG@20
    """

    aliases: ClassVar[tuple[str, ...]] = ("α_nDCG", "alpha-nDCG", "α-nDCG")
    card: ClassVar[Card] = Card(
        sentence="How much that is new does each result show, against the best order of everything judged?",
        formula="α-nDCG@k = Σ_{i ≤ k} G_i / log2(i + 1)  /  the same sum over the ideal order",
        symbols=f"{_SYMBOLS}; {_GREEDY}",
        example="documents a: subtopics 1, 2; b: 1; c: 3. List a, b, c, ideal a, c, b: "
        "(2 + 0.5/log2 3 + 1/2) / (2 + 1/log2 3 + 0.5/2) = 0.9773",
        needs=_NEEDS,
        span=(0.0, GREEDY),
        undefined=_UNDEFINED,
        peers=_PEERS,
        sensitive=_SENSITIVE_IDEAL,
        use="ambiguous queries, novelty within a list; α near 1 asks for coverage, α = 0 ignores repetition",
        citation="Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon, SIGIR 2008",
    )


@dataclass(frozen=True, kw_only=True)
class ERR_IA(Novelty):  # noqa: N801 - the name of the field
    """Intent-aware ERR as TREC reports it: each relevant document satisfies its intents with chance α.

    >>> print(ERR_IA(k=20))
    ERR_IA@20
    """

    aliases: ClassVar[tuple[str, ...]] = ("ERR-IA",)
    discount: ClassVar[str] = "reciprocal"
    card: ClassVar[Card] = Card(
        sentence="How early is each intent satisfied, against a list relevant to all of them throughout?",
        formula="ERR-IA@k = Σ_{i ≤ k} G_i / i  /  Σ_s w_s Σ_{i ≤ k} (1 − α)^(i−1) / i;  "
        "for whole lists the last sum is ln(1/α) / (1 − α)",
        symbols=_SYMBOLS,
        example="2 subtopics, rank 1 serves both, rank 2 one of them: (2 + 0.5/2) / (2 + 2·0.5/2) = 0.9",
        needs=_NEEDS,
        undefined=_UNDEFINED,
        peers={
            **_FORGOTTEN,
            "Agrawal et al., 2009; Chapelle et al., 2011": "Σ_s P(s) ERR_s, with graded relevance and "
            "undivided: IA(of=ERR(max_grade=3))",
        },
        sensitive=_SENSITIVE,
        use="intents of different weight, and users who stop once they are served",
        citation="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; Clarke, Craswell and Voorhees, TREC 2012",
    )

    def __post_init__(self) -> None:
        """Refuse a whole list of documents that never satisfy: its norm has no end."""
        super().__post_init__()
        if self.k is None and self.alpha == 0:
            raise BadParameter(
                f"{self.name}(alpha=0) over whole lists is divided by a sum without end",
                fix=f"write {self.name}(alpha=0)@20, or a larger alpha",
            )

    def endless(self) -> float:
        """Return Σ_i (1 − α)^(i−1) / i, its limit for whole lists."""
        if self.k is not None:
            return super().endless()
        return 1.0 if self.alpha == 1 else -math.log(self.alpha) / (1.0 - self.alpha)


@dataclass(frozen=True, kw_only=True)
class nERR_IA(Renewed):  # noqa: N801 - the name of the field
    """Intent-aware ERR against a greedy ideal order.

    >>> print(nERR_IA(k=20))
    nERR_IA@20
    """

    aliases: ClassVar[tuple[str, ...]] = ("nERR-IA",)
    discount: ClassVar[str] = "reciprocal"
    card: ClassVar[Card] = Card(
        sentence="How early is each intent satisfied, against the best order of everything judged?",
        formula="nERR-IA@k = Σ_{i ≤ k} G_i / i  /  the same sum over the ideal order",
        symbols=f"{_SYMBOLS}; {_GREEDY}",
        example="documents a: subtopics 1, 2; b: 1; c: 3. List a, b, c, ideal a, c, b: "
        "(2 + 0.5/2 + 1/3) / (2 + 1/2 + 0.5/3) = 0.9688",
        needs=_NEEDS,
        span=(0.0, GREEDY),
        undefined=_UNDEFINED,
        peers=_PEERS,
        sensitive=_SENSITIVE_IDEAL,
        use="as ERR_IA, when queries differ in what there is to find",
        citation="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; Clarke, Craswell and Voorhees, TREC 2012",
    )


@dataclass(frozen=True, kw_only=True)
class _Patient(Novelty):
    """Ranks cost a factor β each."""

    beta: float = parameter(0.5, "chance that a user goes on to the next rank", above=0.0, below=1.0)

    def divisor(self, rank: Ints) -> Floats:
        """Return 1 / β^(rank − 1)."""
        return divisors("geometric", rank, p=self.beta)


@dataclass(frozen=True, kw_only=True)
class NRBP(_Patient):
    """Novelty- and rank-biased precision: RBP that counts subtopics, less when repeated.

    >>> print(NRBP(beta=0.8))
    NRBP(beta=0.8)
    """

    card: ClassVar[Card] = Card(
        sentence="What does a user gain who goes on with chance β and wants no subtopic twice?",
        formula="NRBP = (1 − (1 − α) β) / Σ_s w_s · Σ_i β^(i−1) G_i",
        symbols=f"{_SYMBOLS}; β: patience",
        example="2 subtopics, rank 1 serves both, rank 2 one of them: 0.75 / 2 · (2 + 0.5·0.5) = 0.84375",
        needs=_NEEDS,
        undefined=_UNDEFINED,
        peers=_WHOLE,
        sensitive=_SENSITIVE,
        use="as RBP: the norm is what endlessly many documents would reach, so depth hardly matters",
        citation="Clarke, Kolla and Vechtomova, ICTIR 2009",
    )

    @property
    def claims(self) -> Claims:
        """Gains are added, the norm stays."""
        return replace(super().claims, grows_with_k=True)

    def endless(self) -> float:
        """Return Σ_i ((1 − α) β)^(i−1), for whole lists and behind a cutoff alike."""
        return 1.0 / (1.0 - (1.0 - self.alpha) * self.beta)


@dataclass(frozen=True, kw_only=True)
class nNRBP(_Patient, Renewed):  # noqa: N801 - the name of the field
    """NRBP against a greedy ideal order.

    >>> print(nNRBP())
    nNRBP
    """

    card: ClassVar[Card] = Card(
        sentence="NRBP against the best order of everything judged.",
        formula="nNRBP = Σ_i β^(i−1) G_i  /  the same sum over the ideal order",
        symbols=f"{_SYMBOLS}; β: patience; {_GREEDY}",
        example="documents a: subtopics 1, 2; b: 1; c: 3. List a, b, c, ideal a, c, b: "
        "(2 + 0.5·0.5 + 0.25·1) / (2 + 0.5·1 + 0.25·0.5) = 0.9524",
        needs=_NEEDS,
        span=(0.0, GREEDY),
        undefined=_UNDEFINED,
        peers=_WHOLE,
        sensitive=_SENSITIVE_IDEAL,
        use="as NRBP, when queries differ in what there is to find",
        citation="Clarke, Kolla and Vechtomova, ICTIR 2009",
    )
