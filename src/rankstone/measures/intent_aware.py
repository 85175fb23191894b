"""Intent-aware measures: any measure averaged over the intents of a query; D-nDCG and D♯-nDCG."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter, printable
from rankstone.hits.extras.pool_members import PoolMembers, regraded
from rankstone.hits.grouped_judgments import by_group
from rankstone.hits.list_arrays import sums
from rankstone.measures.average_precision import AP
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.gains_and_discounts import gains
from rankstone.measures.core.measure import Contributions, Measure, Status
from rankstone.measures.dcg import nDCG
from rankstone.measures.precision import P
from rankstone.measures.subtopic_diversity import BinarySubtopicMeasure, SubtopicMeasure

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.claims import Claims
    from rankstone.measures.core.definition import Span


_NEEDS: Final = "judgments by subtopic: TREC's second column, a column subtopic, {query: {doc: {subtopic: grade}}}"
_UNDEFINED: Final = "no subtopic has a relevant document: the option `empty` decides (default 0, counted)"
_WEIGHTS: Final = (
    "P(s): weight of subtopic s, equal for all that have a relevant document unless a table of intents says "
    "otherwise"
)
_PEERS: Final = {
    "ndeval, pyndeval, ir_measures": "the same",
    "pyndeval, ir_measures": "ties in score go to the smaller document id: ties=docid_asc",
}
_DSHARP_NEEDS: Final = "graded judgments by subtopic: TREC's second column, a column subtopic, nested dicts"
_SYMBOLS: Final = (
    "GG_i = Σ_s P(s) g_is; g_is: gain of the document at rank i for subtopic s; P(s): weight of s, equal for "
    "all that have a relevant document unless a table of intents says otherwise; "
    "ideal: all judged documents by GG"
)


class IntentAware(SubtopicMeasure):
    """The mean of a measure over the intents of a query: a hit contributes its share to each of them."""

    @property
    def intent_measure(self) -> Measure:
        """The measure of one intent."""
        raise NotImplementedError

    @property
    def claims(self) -> Claims:
        """The claims of the measure of one intent; what is better for one intent may not be for another."""
        intent = self.intent_measure.claims
        return replace(
            super().claims,
            closed_under_ties=intent.closed_under_ties,
            looks_deeper=intent.looks_deeper,
            grows_with_k=intent.grows_with_k,
        )

    def intents(self, hits: Hits) -> Floats:
        """Return the weight of each subtopic, float64 ``[groups]``."""
        part = by_group(hits)
        relevant = self.intent_measure.relevant_count(part.hits)
        assert relevant is not None  # noqa: S101 - other measures are refused
        return np.where(relevant > 0, part.weight, 0.0)

    def contributions(self, hits: Hits) -> Contributions:
        """Weight the contributions of each hit to the measure of every intent; divide by the weights."""
        part = by_group(hits)
        weight = self.intents(hits)
        parts = self.intent_measure.contributions(part.hits)
        defined = parts.norm > 0

        def share(values: Floats, group: Ints) -> Floats:
            shares = np.zeros(len(values))
            np.divide(
                weight[group] * values,
                parts.norm[group],
                out=shares,
                where=defined[group],
            )
            return shares

        def rows(values: Floats | None) -> Floats | None:
            if values is None:
                return None
            each = np.arange(len(weight))
            return self.per_query(hits, share(values, each))

        earned = sums(part.of_hit, share(parts.hits, part.hits.query), len(hits.rank))
        return Contributions(
            earned,
            self.per_query(hits, weight),
            rows(parts.missed),
            rows(parts.unjudged),
        )


@dataclass(frozen=True, kw_only=True)
class IA(IntentAware):
    """Any measure, intent-aware.

    >>> from rankstone import parse_measure
    >>> print(IA(of=parse_measure("nDCG(gain=exp2)"), k=10))
    IA(of=nDCG(gain=exp2))@10
    >>> print(parse_measure("IA(of=RR@5)"))
    IA(of=RR)@5
    """

    aliases = ("IntentAware",)
    examples = ("IA(of=nDCG)@10", "IA(of=RR)")
    card = Card(
        sentence="A measure of your choice for each intent of a query, averaged over the intents.",
        formula="M-IA@k = Σ_s P(s) M_s@k",
        symbols=f"M_s: the measure, by the judgments of subtopic s alone; {_WEIGHTS}",
        example="intents of weight .7 and .3, first served at ranks 2 and 1: IA(of=RR) = .7/2 + .3/1 = .65",
        needs=_NEEDS,
        span=(None, None),
        undefined=_UNDEFINED,
        peers={
            "Agrawal et al., 2009: NDCG-IA, MAP-IA, MRR-IA": "IA(of=nDCG(gain=exp2))@k, AP_IA, IA(of=RR)",
            "Chapelle et al., 2011: ERR-IA": "IA(of=ERR(max_grade=4))@k; TREC's ERR-IA is ERR_IA",
        },
        sensitive="whatever the measure is sensitive to, and the weights",
        use="a query that means several things; it rewards the likeliest intent, not novelty",
        citation="Agrawal, Gollapudi, Halverson and Ieong, WSDM 2009",
    )

    of: Measure = parameter(
        None, "the measure of one intent", needed="write IA(of=nDCG)@10"
    )

    def __post_init__(self) -> None:
        """Move the cutoff from the measure to this one; refuse measures without a mean over intents."""
        super().__post_init__()
        of: object = self.of
        if not isinstance(of, Measure):
            raise BadParameter(
                f"{self.name}: of={printable(repr(of), 60)} is not a measure",
                fix=f'write parse_measure("{self.name}(of=nDCG)@10")',
            )
        what = f"{self.name}(of={of})"
        if of.k is not None and self.k not in (None, of.k):
            raise BadParameter(f"{what}@{self.k} has two cutoffs", fix=f"write {what}")
        if of.agg != "mean":
            raise BadParameter(
                f"{what}: intents are averaged by their weights", fix="leave agg out"
            )
        if type(of).link is not Measure.link or of.zero_norm is Status.undefined:
            raise BadParameter(
                f"{what}: {of.name} is not a sum over a norm that every intent has"
            )
        if of.card.direction != "higher":
            raise BadParameter(
                f"{what}: higher must be better",
                given=f"{of.name}: {of.card.direction}",
            )
        if of.requires or of.judgment_columns or of.query_columns:
            raise BadParameter(
                f"{what}: {of.name} needs more than the judgments of one intent"
            )
        if of.k is not None:
            object.__setattr__(self, "k", of.k)
            object.__setattr__(self, "of", _without_cutoff(of))
        _ = self.intent_measure  # raises where the measure takes no cutoff

    @property
    def intent_measure(self) -> Measure:
        """The measure, with the cutoff."""
        return replace(self.of, k=self.k)

    @property
    def needs_relevant(self) -> bool:  # type: ignore[override]
        """True if the measure of one intent needs it."""
        return self.of.needs_relevant

    @property
    def claims(self) -> Claims:
        """As for the measure of one intent."""
        of = self.of.claims
        return replace(
            super().claims,
            negative_is_least=of.negative_is_least,
            reads_lowest_grade=of.reads_lowest_grade,
        )

    @property
    def span(self) -> Span:
        """The lowest and highest value, those of the measure of one intent."""
        return self.intent_measure.span

    def span_of(self, hits: Hits) -> Span:
        """Return the range for these judgments."""
        return self.intent_measure.span_of(hits)


def _without_cutoff(measure: Measure) -> Measure:
    try:
        return replace(measure, k=None)
    except BadParameter:  # some measures need one
        return measure


@dataclass(frozen=True, kw_only=True)
class AP_IA(IntentAware, BinarySubtopicMeasure):  # noqa: N801 - the name of the field
    """Intent-aware average precision.

    >>> print(AP_IA())
    AP_IA
    """

    takes_budget = True
    aliases = ("MAP_IA", "AP-IA", "MAP-IA")
    card = Card(
        sentence="Average precision for each intent of a query, averaged over the intents.",
        formula="AP-IA = Σ_s P(s) AP_s",
        symbols=f"AP_s: average precision by the judgments of subtopic s alone; {_WEIGHTS}",
        example="2 intents; relevant for one at ranks 1 and 2, for the other at rank 2: (1 + 1/2) / 2 = 0.75",
        needs=_NEEDS,
        undefined=_UNDEFINED,
        peers=_PEERS,
        sensitive="ties, unjudged documents, unknown relevant documents",
        use="patient users who mean different things; other denominators: IA(of=AP(denom=min_R_k))@10",
        citation="Agrawal, Gollapudi, Halverson and Ieong, WSDM 2009",
    )

    @property
    def intent_measure(self) -> AP:
        """Average precision."""
        return AP(rel=self.rel, k=self.k)


@dataclass(frozen=True, kw_only=True)
class P_IA(IntentAware, BinarySubtopicMeasure):  # noqa: N801 - the name of the field
    """Intent-aware precision.

    >>> print(P_IA(k=10))
    P_IA@10
    """

    takes_budget = True
    aliases = ("P-IA",)
    card = replace(
        AP_IA.card,
        sentence="Which share of the first k results serves an intent, averaged over the intents?",
        formula="P-IA@k = Σ_s P(s) h_sk / k",
        symbols=f"h_sk: documents relevant to subtopic s at ranks 1 … k; {_WEIGHTS}",
        example="2 intents; of the first 5 results 3 serve one and 1 the other: (3/5 + 1/5) / 2 = 0.4",
        sensitive="ties at the cutoff, unjudged documents; blind to repetition",
        use="as a companion of a measure that rewards novelty",
    )

    @property
    def intent_measure(self) -> P:
        """Precision."""
        return P(rel=self.rel, k=self.k)


class StRecall(BinarySubtopicMeasure):
    """Subtopic recall: the share of subtopics that the first k results cover.

    >>> print(StRecall(k=10))
    StRecall@10
    """

    takes_budget = True
    aliases = ("S-recall", "SRecall", "strec", "I-rec", "I_rec")
    card = Card(
        sentence="How many of a query's subtopics do the first k results cover?",
        formula="StRecall@k = |S_1 ∪ … ∪ S_k| / |S|",
        symbols="S_i: subtopics that the document at rank i is relevant to; S: all with a relevant document",
        example="4 subtopics; the first 3 results are relevant to 1, to 1 and 2, to none: StRecall@3 = 2/4",
        needs=_NEEDS,
        undefined=_UNDEFINED,
        peers={
            **_PEERS,
            "NTCIREVAL I-rec": "divides by all intents it is given, those without a relevant document too",
        },
        sensitive="ties at the cutoff, unjudged documents; blind to order and to repetition",
        use="coverage; weights have no effect, IA(of=Success)@k is the weighted version",
        citation="Zhai, Cohen and Lafferty, SIGIR 2003",
    )

    @property
    def claims(self) -> Claims:
        """What is covered stays covered."""
        return replace(super().claims, grows_with_k=True)

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit the subtopics that no hit above it is relevant to; divide by all subtopics."""
        part = by_group(hits)
        exists = self.intents(hits) > 0
        served = part.hits.relevant(self.rel) & exists[part.hits.query]
        new = part.hits.first_of(served, lambda rank: np.ones(len(rank)), self.k)
        return Contributions(
            sums(part.of_hit, new, len(hits.rank)),
            self.per_query(hits, exists.astype(np.float64)),
        )


@dataclass(frozen=True, kw_only=True)
class D_nDCG(BinarySubtopicMeasure):  # noqa: N801 - the name of the field
    """D-nDCG: nDCG with the sum of a document's gains over all intents.

    >>> print(D_nDCG(k=10))
    D_nDCG@10
    """

    aliases: ClassVar[tuple[str, ...]] = ("D-nDCG",)
    card = Card(
        sentence="How close is the list to the order by the gains of documents over all intents?",
        formula="D-nDCG@k = Σ_{i ≤ k} GG_i / log2(i + 1)  /  the same sum over the ideal order",
        symbols=_SYMBOLS,
        example="intents of weight .7 and .3; a: grades 1, 0; b: grades 0, 3; a before b: "
        "(.7 + .9/log2 3) / (.9 + .7/log2 3) = 0.9450",
        needs=_DSHARP_NEEDS,
        undefined=_UNDEFINED,
        peers={
            "NTCIREVAL": "MSnDCG of a list labelled with global gains (glabel, gcompute)"
        },
        sensitive="ties, unjudged documents (gain 0), depth, the weights",
        use="graded relevance and weighted intents; it does not ask for novelty, Dsharp_nDCG adds coverage",
        citation="Sakai and Song, SIGIR 2011",
    )

    gain: str = parameter("linear", "what a grade is worth", "linear", "exp2", "binary")

    def global_gains(self, hits: Hits) -> Floats:
        """Return the gain of each judged document over all intents, float64 ``[judged]``."""
        pool = hits.added(PoolMembers).pool
        entries = pool.entries
        worth = gains(self.gain, self.threshold, np.maximum(entries.grade, 0.0))
        worth = np.where(self.threshold(entries.grade), worth, 0.0)
        return sums(
            entries.doc, self.intents(hits)[entries.group] * worth, len(pool.grade)
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Discount global gains; divide by those of the ideal order."""
        return nDCG(k=self.k).contributions(regraded(hits, self.global_gains(hits)))


@dataclass(frozen=True, kw_only=True)
class Dsharp_nDCG(D_nDCG):  # noqa: N801 - the name of the field
    """D♯-nDCG: intent recall and D-nDCG in one number.

    >>> print(Dsharp_nDCG(k=10))
    Dsharp_nDCG@10
    """

    aliases = ("D#-nDCG", "D♯-nDCG", "Dsharp-nDCG", "D#_nDCG")
    card = replace(
        D_nDCG.card,
        sentence="Are all intents covered, and the documents of most gain first?",
        formula="D♯-nDCG@k = γ · StRecall@k + (1 − γ) · D_nDCG@k",
        symbols=f"StRecall: share of subtopics covered (I-rec); {_SYMBOLS}",
        example="2 intents, both covered, D-nDCG@10 = 0.8: 0.5 · 1 + 0.5 · 0.8 = 0.9",
        peers={
            "NTCIREVAL": "the same with γ = .5, its scripts' value; I-rec is divided by all intents given"
        },
        sensitive="ties, unjudged documents (gain 0), depth, the weights, how finely intents are cut",
        use="the NTCIR way to evaluate diversified lists; look at its two parts, too",
    )

    gamma: float = parameter(
        0.5, "weight of intent recall against D-nDCG", low=0.0, high=1.0
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Add the contribution of each hit to intent recall and that to D-nDCG."""
        recall = StRecall(rel=self.rel, k=self.k).contributions(hits)
        order = super().contributions(hits)

        def share(parts: Contributions, weight: float) -> Floats:
            norm = hits.spread(parts.norm)
            shares = np.zeros(len(parts.hits))
            np.divide(weight * parts.hits, norm, out=shares, where=norm > 0)
            return shares

        both = share(recall, self.gamma) + share(order, 1.0 - self.gamma)
        return Contributions(both, (recall.norm > 0).astype(np.float64))
