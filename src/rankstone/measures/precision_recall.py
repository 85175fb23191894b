"""The precision–recall curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadOption
from rankstone.measures.average_precision import AP
from rankstone.measures.curves import BinaryCurve, Micro, Points
from rankstone.measures.interpolation import INTERPOLATIONS, READINGS, interpolated, levels_of, wanted
from rankstone.measures.named import Card, parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.hits.ragged import Hits
    from rankstone.measures.base import Measure

__all__ = ["PR"]


@dataclass(frozen=True, kw_only=True)
class PR(BinaryCurve):
    """Precision over recall, interpolated or step by step.

    >>> print(PR(levels=101, interp="trec9"))
    PR(levels=101, interp=trec9)
    >>> PR(levels=5).grid().tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    name: ClassVar[str] = "PR"
    family: ClassVar[str] = "curves"
    aliases: ClassVar[tuple[str, ...]] = ("PRCurve",)
    examples: ClassVar[tuple[str, ...]] = ("PR", "PR(interp=none)", "PR(levels=101, interp=trec9)")
    axes: ClassVar[tuple[str, str]] = ("recall", "precision")
    card: ClassVar[Card] = Card(
        sentence="How precise can the list still be, once a share of the relevant documents is found?",
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

    interp: str = parameter("exact", READINGS, *INTERPOLATIONS)

    def __post_init__(self) -> None:
        """Refuse what are no levels."""
        super().__post_init__()
        levels_of(self.levels, "PR: levels")

    def grid(self) -> Floats:
        """Return the recall levels, ascending."""
        return np.array(sorted(levels_of(self.levels, "PR: levels")))

    def summary(self) -> Measure:
        """Return AP: the area under the steps."""
        return AP(k=self.k, rel=self.rel)

    def check(self, ties: str, depth: int | None = None, negative: str = "unjudged") -> None:  # noqa: ARG002 - the base's signature
        """Refuse open ties where points between the ends of tie blocks would be needed."""
        if ties == "expected" and (self.interp != "none" or self.k is not None):
            raise BadOption(
                f"{self} has no closed form for the mean over tied documents",
                fix="use PR(interp=none), whose points lie between tie blocks, "
                "or another rule for ties: docid_desc, input, …",
            )

    def heights(self, hits: Hits) -> Floats:
        """Return precision at each level of recall."""
        relevant, known = hits.relevant(self.rel), hits.relevant_count(self.rel)
        if not hits.expected:
            return interpolated(hits, relevant, known, self.grid().tolist(), self.interp)
        steps = Steps.of(hits, relevant)
        table = np.zeros((hits.queries, len(self.grid())))
        for column, level in enumerate(self.grid().tolist()):
            query, place = steps.reaching(np.maximum(wanted(level, known, self.interp), 1))
            table[query, column] = steps.through[place] / steps.last[place]
        return table

    def points(self, hits: Hits) -> Points | None:
        """Return both ends of the plateaus between relevant documents, where nothing is interpolated."""
        if self.interp != "none":
            return None
        steps, known = Steps.of(hits, hits.relevant(self.rel)), hits.relevant_count(self.rel)
        depth = hits.length if self.k is None else np.minimum(hits.length, self.k)
        query, rank, found = steps.corners(depth)
        some = known[query] > 0
        query, rank, found = query[some], rank[some], found[some]
        return Points.of(query, found / known[query], found / np.maximum(rank, 1), hits.queries)

    def micro(self, hits: Hits, traced: Bools) -> Micro | None:
        """Count relevant documents at each rank over all queries."""
        if hits.expected:
            return None
        rank = hits.rank[hits.relevant(self.rel) & hits.spread(traced)]
        depth = hits.length if self.k is None else np.minimum(hits.length, self.k)
        found = np.bincount(rank, minlength=int(depth[traced].max(initial=0)) + 1)[1:]
        return Micro(found, int(hits.relevant_count(self.rel)[traced].sum()), int(traced.sum()))


@dataclass(frozen=True, eq=False)
class Steps:
    """Tie blocks that hold relevant documents (single hits, where ranks are settled).

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
        """Look at the hits marked as relevant."""
        blocks = hits.blocks
        inside, above = hits.inside(relevant), hits.earlier(relevant)
        some = np.flatnonzero(inside)
        query = hits.query[blocks.head[some]]
        return cls(
            query,
            blocks.first[some],
            blocks.last[some],
            above[some],
            above[some] + inside[some],
            np.bincount(query, minlength=hits.queries),
        )

    def reaching(self, count: Ints) -> tuple[Ints, Ints]:
        """Return the queries that find ``count`` relevant documents, int64 ``[queries]``, and the step."""
        enough = np.flatnonzero((self.before < count[self.query]) & (self.through >= count[self.query]))
        return self.query[enough], enough

    def corners(self, depth: Ints) -> tuple[Ints, Ints, Ints]:
        """Return query, rank and relevant documents found at both ends of every plateau above ``depth``."""
        ends = np.cumsum(self.lengths)
        previous = np.concatenate(([0], self.last[:-1])) if len(self.last) else self.last
        previous[(ends - self.lengths)[self.lengths > 0]] = 0
        bottom, found = np.zeros(len(depth), np.int64), np.zeros(len(depth), np.int64)
        some = self.lengths > 0
        bottom[some], found[some] = self.last[ends[some] - 1], self.through[ends[some] - 1]
        jump, tail = self.first - 1 > previous, (depth > bottom) | ~some
        query = np.concatenate((self.query[jump], self.query, np.flatnonzero(tail)))
        rank = np.concatenate((self.first[jump] - 1, self.last, depth[tail]))
        count = np.concatenate((self.before[jump], self.through, found[tail]))
        order = np.lexsort((rank, query))
        return query[order], rank[order], count[order]
