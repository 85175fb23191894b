"""The precision–recall curve, and interpolated precision at levels of recall."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.errors import BadOption
from rankstone.hits.tie_rules import TIES
from rankstone.measures.average_precision import AP
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.curve import (
    INTERPOLATION,
    INTERPOLATIONS,
    MOST_LEVELS,
    BinaryCurve,
    Micro,
    Points,
    RecallSteps,
    interpolated,
    recall_levels,
    relevant_needed,
)
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Measure

#: the curve's classic points 0, 0.1 … 1
_ELEVEN: Final = 11


@dataclass(frozen=True, kw_only=True)
class PR(BinaryCurve, family="curves"):
    """Precision over recall, interpolated or step by step.

    >>> print(PR(levels=101, interp="trec9"))
    PR(levels=101, interp=trec9)
    >>> PR(levels=5).grid().tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    aliases = ("PRCurve",)
    examples = ("PR", "PR(interp=none)", "PR(levels=101, interp=trec9)")
    axes = ("recall", "precision")
    card = Card(
        sentence="How precise can the list be once a share of the relevant documents is found?",
        formula="IP(r) = max {P@i : R@i ≥ r}, 0 where recall r is never reached",
        symbols="P@i, R@i: precision, recall of the first i ranks; r: 0, 0.1 … 1 or as `levels` says",
        example="relevant at 1, 3, 4, 5, 6, 10 of R = 6: 1, 1, then 5/6 seven times, then 3/5, 3/5",
        undefined="no relevant document: no recall, so no curve; such queries are left out and counted",
        peers={
            "trec_eval 9, pytrec_eval iprec_at_recall": "the means of PR(interp=trec9)",
            "trec_eval 10 iprec_at_recall": "the means of PR(interp=trec10)",
            "queries without a relevant document": "count as 0 in trec_eval's means, and have no curve here",
            "scikit-learn precision_recall_curve": "PR(interp=none) under ties=expected, and a last (0, 1)",
            "trapezoid area": "too high; the steps of interp=none enclose AP (Davis and Goadrich, 2006)",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R)",
        use="where AP hides at which recall two systems differ; look at the spread of queries, too",
        citation="van Rijsbergen, Information Retrieval, 1979; TREC proceedings, appendix on measures",
    )

    interp: str = parameter("exact", INTERPOLATION, *INTERPOLATIONS)

    def summary(self) -> Measure:
        """Return AP: the area under the steps."""
        return AP(k=self.k, rel=self.rel)

    def check(
        self,
        ties: str,
        depth: int | None = None,  # noqa: ARG002 - the base's signature
        negative: str = "unjudged",  # noqa: ARG002 - the base's signature
    ) -> None:
        """Refuse unbroken ties where points inside tie blocks are needed."""
        if TIES[ties].closed_form and (self.interp != "none" or self.k is not None):
            raise BadOption(
                f"{self} has no closed form for the mean over tied documents",
                fix="use PR(interp=none), whose points are at the ends of tie blocks, "
                "or another rule for ties: docid_desc, input, …",
            )

    def heights(self, hits: Hits) -> Floats:
        """Return precision at each level of recall."""
        relevant = hits.relevant(self.rel)
        known = hits.relevant_count(self.rel)
        if not hits.expected:
            return interpolated(
                hits, relevant, known, self.grid().tolist(), self.interp
            )
        steps = Steps.of(hits, relevant)
        table = np.zeros((hits.queries, len(self.grid())))
        for column, level in enumerate(self.grid().tolist()):
            query, place = steps.reaching(
                np.maximum(relevant_needed(level, known, self.interp), 1)
            )
            table[query, column] = steps.through[place] / steps.last[place]
        return table

    def points(self, hits: Hits) -> Points | None:
        """Return both ends of the plateaus between relevant documents, where nothing is interpolated."""
        if self.interp != "none":
            return None
        steps = Steps.of(hits, hits.relevant(self.rel))
        known = hits.relevant_count(self.rel)
        depth = hits.length if self.k is None else np.minimum(hits.length, self.k)
        query, rank, retrieved = steps.corners(depth)
        has_relevant = known[query] > 0
        query = query[has_relevant]
        rank = rank[has_relevant]
        retrieved = retrieved[has_relevant]
        return Points.of(
            query,
            retrieved / known[query],
            retrieved / np.maximum(rank, 1),
            hits.queries,
        )

    def micro(self, hits: Hits, with_curve: Bools) -> Micro | None:
        """Count relevant documents at each rank over all queries."""
        if hits.expected:
            return None
        rank = hits.rank[hits.relevant(self.rel) & hits.spread(with_curve)]
        depth = hits.length if self.k is None else np.minimum(hits.length, self.k)
        deepest = int(depth[with_curve].max(initial=0))
        relevant_at_rank = np.bincount(rank, minlength=deepest + 1)[1:]
        return Micro(
            relevant_at_rank,
            int(hits.relevant_count(self.rel)[with_curve].sum()),
            int(with_curve.sum()),
        )


class Steps(Record):
    """Tie blocks with relevant documents (single hits without ties).

    Attributes
    ----------
    query
        int64 ``[steps]``.
    first, last
        int64 ``[steps]``: ranks of the block.
    before, through
        int64 ``[steps]``: relevant documents above it, and above or inside it.
    lengths
        int64 ``[queries]``: steps of each query.
    """

    query: Ints
    first: Ints
    last: Ints
    before: Ints
    through: Ints
    lengths: Ints

    @classmethod
    def of(cls, hits: Hits, relevant: Bools) -> Steps:
        """Return the blocks of the relevant hits."""
        blocks = hits.blocks
        inside = hits.inside(relevant)
        above = hits.earlier(relevant)
        block = np.flatnonzero(inside)
        query = hits.query[blocks.head[block]]
        return cls(
            query,
            blocks.first[block],
            blocks.last[block],
            above[block],
            above[block] + inside[block],
            np.bincount(query, minlength=hits.queries),
        )

    def reaching(self, count: Ints) -> tuple[Ints, Ints]:
        """Return the queries that retrieve ``count`` relevant documents, and the block of the last one."""
        enough = np.flatnonzero(
            (self.before < count[self.query]) & (self.through >= count[self.query])
        )
        return self.query[enough], enough

    def corners(self, depth: Ints) -> tuple[Ints, Ints, Ints]:
        """Return query, rank and relevant documents so far at both ends of every plateau above ``depth``."""
        ends = np.cumsum(self.lengths)
        previous = self.last
        if len(previous):
            previous = np.concatenate(([0], previous[:-1]))
        previous[(ends - self.lengths)[self.lengths > 0]] = 0
        bottom = np.zeros(len(depth), np.int64)
        retrieved = np.zeros(len(depth), np.int64)
        has_relevant = self.lengths > 0
        last_block = ends[has_relevant] - 1
        bottom[has_relevant] = self.last[last_block]
        retrieved[has_relevant] = self.through[last_block]

        jump = self.first - 1 > previous
        tail = (depth > bottom) | ~has_relevant
        query = np.concatenate((self.query[jump], self.query, np.flatnonzero(tail)))
        rank = np.concatenate((self.first[jump] - 1, self.last, depth[tail]))
        count = np.concatenate((self.before[jump], self.through, retrieved[tail]))
        order = np.lexsort((rank, query))
        return query[order], rank[order], count[order]


class InterpolatedPrecision(BinaryMeasure, family="interpolated precision"):
    """The mean of interpolated precision over recall levels.

    It is not a dataclass, so that the parameters of subclasses come before ``interp`` in the text.
    """

    interp: str

    @property
    def recalls(self) -> tuple[float, ...]:
        """The recall levels."""
        raise NotImplementedError

    #: which precision is the highest depends on the order; each grows with relevant documents
    claims = Claims(closed_under_ties=False, grows_with_k=True, bounds_by="counts")

    def contributions(self, hits: Hits) -> Contributions:
        """Give the precision of each level to the first hit that has it."""
        inside = hits.relevant(self.rel) & (hits.rank <= (self.k or math.inf))
        steps = RecallSteps.of(hits, inside, self.interp)
        earned = np.zeros(len(hits.rank))
        for level in self.recalls:
            _, place = steps.at(level, hits.relevant_count(self.rel))
            earned[steps.hit[place]] += steps.precision[place]
        return Contributions(earned, np.full(hits.queries, float(len(self.recalls))))


@dataclass(frozen=True, kw_only=True)
class IPrec(InterpolatedPrecision):
    """Interpolated precision at one recall level.

    >>> print(IPrec(recall=0.1))
    IPrec(recall=0.1)
    """

    examples = ("IPrec(recall=0.1)", "IPrec(recall=0.5, interp=trec10)")
    card = Card(
        sentence="How precise can the list be once a share r of the relevant documents is found?",
        formula="IPrec(r) = max {P@i : R@i ≥ r}, 0 where recall r is never reached",
        symbols="P@i, R@i: precision and recall of the first i ranks; r: recall level",
        example="relevant at ranks 1, 2 and 5 of R = 3: IPrec(0.5) = 2/2, IPrec(0.8) = 3/5",
        peers={
            "trec_eval 10 iprec_at_recall_r": "rounds r·R to whole documents: IPrec(recall=r, interp=trec10)",
            "trec_eval 9, ir_measures IPrec@r": "cut r·R + 0.9 off: IPrec(recall=r, interp=trec9)",
            "the difference": "R = 3, r = 0.7 on the example: 3/5 here, 2/2 in either version",
            "without interpolation": "the precision where recall r is first reached: interp=none",
        },
        sensitive="ties, unjudged documents (not relevant), and unknown relevant documents (R)",
        use="points of the classic recall–precision curve, averaged over queries",
        citation="van Rijsbergen, Information Retrieval, 1979; TREC proceedings, appendix on measures",
    )

    recall: float = parameter(
        None, "a share of R", low=0.0, high=1.0, needed="write IPrec(recall=0.1)"
    )
    interp: str = parameter("exact", INTERPOLATION, *INTERPOLATIONS)

    @property
    def recalls(self) -> tuple[float, ...]:
        """The one recall level."""
        return (self.recall,)


@dataclass(frozen=True, kw_only=True)
class IAP(InterpolatedPrecision):
    """Interpolated average precision: the mean over recall levels, eleven of them by tradition.

    >>> print(IAP(levels=(0.25, 0.5, 0.75)))
    IAP(levels={0.25, 0.5, 0.75})
    """

    aliases = ("11pt",)
    examples = ("IAP", "IAP(levels=101)", "IAP(levels={0.25, 0.5, 0.75})")
    card = Card(
        sentence="How precise is the list on average, over recall levels from nothing to everything?",
        formula="IAP = (1/|L|) Σ_{r ∈ L} IPrec(r)",
        symbols="L: recall levels, 0, 0.1 … 1 unless `levels` says otherwise; IPrec: interpolated precision",
        example="relevant at ranks 1, 2 and 5 of R = 3: (1·7 + 3/5·4) / 11 = 9.4/11",
        peers={
            "trec_eval 10 11pt_avg": "IAP(interp=trec10)",
            "trec_eval 9, pytrec_eval 11pt_avg": "IAP(interp=trec9)",
            "COCO detection AP": "101 levels over boxes, not documents: IAP(levels=101)",
        },
        sensitive="ties, unjudged documents (not relevant), and unknown relevant documents (R)",
        use="comparing with results from before average precision; otherwise AP, which needs no levels",
        citation="TREC-1 … TREC-8 proceedings; Salton and McGill, Introduction to Modern IR, 1983",
    )

    levels: int | tuple[float, ...] = parameter(
        _ELEVEN, "how many evenly spaced levels, or {r, r, …}", low=0, high=MOST_LEVELS
    )
    interp: str = parameter("exact", INTERPOLATION, *INTERPOLATIONS)

    def __post_init__(self) -> None:
        """Refuse levels that are not distinct and from 0 to 1."""
        super().__post_init__()
        recall_levels(self.levels, "IAP: levels")

    @property
    def recalls(self) -> tuple[float, ...]:
        """The recall levels, as given or evenly spaced."""
        return recall_levels(self.levels, "IAP: levels")
