"""Full recall: whether everything that is needed is retrieved, each document or one for each subtopic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.extras.pool_members import JudgmentGroups, PoolMembers
from rankstone.hits.grouped_judgments import by_group
from rankstone.hits.list_arrays import sums
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, Status
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.measures.subtopic_diversity import intent_weights

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.hits import Hits


@dataclass(frozen=True, kw_only=True)
class FullRecall(BinaryMeasure):
    """Full recall: whether all relevant documents are among the first k, or one for each subtopic.

    >>> print(FullRecall(k=5), FullRecall(each="subtopic") @ "tokens(2000)")
    FullRecall@5 FullRecall(each=subtopic)@tokens(2000)
    """

    examples = ("FullRecall@10", "FullRecall(each=subtopic)@10")
    zero_norm = Status.out_of_reach
    side_input = "judged_subtopics:JudgedSubtopics"
    card = Card(
        sentence="Is everything that is needed among the first k results?",
        formula="FullRecall@k = 1 if h_k = R, else 0; with each=subtopic: 1 if |S_1 ∪ … ∪ S_k| = |S|, else 0",
        symbols="h_k: relevant documents at ranks 1 … k; R: relevant documents judged, retrieved or not; "
        "S_i: subtopics that the document at rank i is relevant to; S: all with a relevant document",
        example="relevant at ranks 1 and 4, R = 2: FullRecall@3 = 0, FullRecall@4 = 1; both about one subtopic: "
        "FullRecall(each=subtopic)@1 = 1",
        needs="judgments; each=subtopic: judgments by subtopic (a column subtopic, TREC's second column), such as "
        "the hops of a question, or facts that several documents state",
        peers={
            "recall_all@k, all-recall": "the same, of documents",
            "SWE-bench retrieval, CodeNib: Acc@k": "the same: all files that the patch changes",
        },
        sensitive="one single document; ties at the cutoff; unknown relevant documents. Where k is too small for "
        "what a query needs, its value is 0 (status out_of_reach; agg=pooled leaves it out)",
        use="questions that need several pieces of evidence, where one that is missing spoils the answer; "
        "StRecall is the share of subtopics, R that of documents",
        scale="yes or no; a mean is a share of queries",
        citation="Xiong et al., Answering complex open-domain questions with multi-hop dense retrieval, ICLR 2021",
    )

    each: str | None = parameter(
        None,
        "what must be there: each relevant document, or one for each subtopic; unless given, subtopics where "
        "the judgments have a column for them",
        *("document", "subtopic"),
    )

    def __post_init__(self) -> None:
        """Read judgments by subtopic where these count."""
        super().__post_init__()
        if self.each == "subtopic":
            needed = frozenset({PoolMembers, JudgmentGroups})
            object.__setattr__(self, "requires", needed)

    @property
    def claims(self) -> Claims:
        """Documents are counted; what is best for one subtopic may not be for another."""
        if self.each == "subtopic":
            return Claims(
                closed_under_ties=self.k is None,
                extremal_under_ties=False,
                promotion_helps=False,
                grows_with_k=True,
            )
        return Claims(grows_with_k=True, bounds_by="counts")

    def relevant_count(self, hits: Hits) -> Ints:
        """Return the number of relevant documents, or of subtopics with one, int64 ``[queries]``."""
        if self.each != "subtopic":
            return hits.relevant_count(self.rel)
        groups = hits.added(PoolMembers).groups
        return np.bincount(groups.query[self._exists(hits)], minlength=hits.queries)

    def _exists(self, hits: Hits) -> Bools:
        """Return which subtopics have a relevant document."""
        return intent_weights(hits.added(PoolMembers).pool, self.threshold) > 0

    def contributions(self, hits: Hits) -> Contributions:
        """Give 1 to the hit that completes what is needed; the norm is 0 where k is too small for that."""
        needed = self.relevant_count(hits)
        most: Floats | float = 1.0
        if self.each == "subtopic":
            new, served = self._subtopics(hits)
            most = self._most(hits)
        else:
            new = hits.relevant(self.rel)
            served = hits.count(new)
        share, _ = hits.nth_of(new, hits.count(new))
        if hits.has_tied_ranks and self.k is not None:
            share = share * self._chance(hits, new, self.k)
        within = np.ones_like(needed, np.float64)
        if self.k is not None:
            within = np.where(needed <= self.k * most, within, 0.0)
        complete = hits.spread(served == needed)
        return Contributions(np.where(complete, share, 0.0), within)

    def _chance(self, hits: Hits, relevant: Bools, k: int) -> Floats:
        """Return the probability that all relevant documents of a tie block are above the cutoff.

        Of s tied documents c are above it; all m relevant ones are among these with probability
        C(c, m) / C(s, m) = Π_{i < m} (c − i) / (s − i).
        """
        blocks = hits.blocks
        tied = hits.inside(relevant)
        above = np.minimum(blocks.last, k) - blocks.first + 1

        def logarithm(rank: Ints, block: Ints | slice) -> Floats:
            place = rank - blocks.first[block]
            share = (above[block] - place) / (blocks.size[block] - place)
            return np.where(place < tied[block], np.log(share), 0.0)

        mean = hits.over_places(logarithm, k)
        product = np.exp(mean * blocks.size[blocks.of_hit])
        return np.where((tied <= above)[blocks.of_hit], product, 0.0)

    def _subtopics(self, hits: Hits) -> tuple[Bools, Ints]:
        """Return the hits that serve a further subtopic, and how many subtopics are served."""
        part = by_group(hits)
        serves = part.hits.relevant(self.rel) & self._exists(hits)[part.hits.query]
        first = part.hits.first_of(serves, lambda rank: np.ones(len(rank)), self.k)
        new = sums(part.of_hit, first, len(hits.rank))
        served = part.hits.total(first) > 0
        return new > 0, np.bincount(part.query[served], minlength=hits.queries)

    def _most(self, hits: Hits) -> Floats:
        """Return the most subtopics that a document serves, 1 without any, float64 ``[queries]``."""
        pool = hits.added(PoolMembers).pool
        entries = pool.entries
        useful = self.threshold(entries.grade) & self._exists(hits)[entries.group]
        by_document = np.bincount(entries.doc[useful], minlength=len(pool.grade))
        most = np.ones(hits.queries)
        np.maximum.at(most, pool.query, by_document)
        return most
