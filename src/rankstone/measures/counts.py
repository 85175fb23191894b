"""Counts of documents and queries, and the share of retrieved documents that is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import BadOption
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, Measure, Status
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone._basics import Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits


@dataclass(frozen=True, kw_only=True)
class Count(BinaryMeasure, family="counts"):
    """A number of documents, summed over queries."""

    needs_relevant = False
    takes_cutoff = False

    agg: str = parameter(
        "sum",
        "how queries become one number",
        "mean",
        "sum",
        "median",
        "gmean",
        "pooled",
    )


class NumRet(Count):
    """The number of documents in the list."""

    card = Card(
        sentence="How many documents are retrieved?",
        formula="NumRet = n",
        symbols="n: length of the list",
        example="a list of 1000 documents: 1000",
        span=(0.0, None),
        undefined="never",
        peers={
            "trec_eval num_ret": "the same; its summary is the sum over queries, as here"
        },
        sensitive="depth",
        use="to check that runs are equally deep",
        citation="trec_eval",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count hits, and the unjudged documents between them."""
        ones = np.ones(len(hits.rank))
        between = hits.n - hits.total(ones)
        return Contributions(ones, np.ones(hits.queries), unjudged=between)

    #: no grade changes it
    claims = Claims(bounds_by="uniform")


class NumRel(Count):
    """How many relevant documents are known."""

    card = replace(
        NumRet.card,
        sentence="How many relevant documents are known?",
        formula="NumRel = R",
        symbols="R: relevant documents judged, retrieved or not",
        example="4 documents judged 1 or more: 4",
        peers={"trec_eval num_rel": "the same; under -c it ignores -l there (a bug)"},
        sensitive="nothing in the run",
        use="to see how many documents could be found",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits, and the relevant documents that were missed."""
        retrieved = hits.relevant(self.rel).astype(np.float64)
        missed = hits.relevant_count(self.rel) - hits.total(retrieved)
        return Contributions(retrieved, np.ones(hits.queries), missed=missed)

    #: it grows with every relevant document
    claims = Claims(bounds_by="uniform")


class NumRelRet(Count):
    """How many relevant documents are retrieved."""

    takes_cutoff = True
    card = replace(
        NumRet.card,
        sentence="How many relevant documents are among the first k (or in the whole list)?",
        formula="NumRelRet@k = h_k",
        symbols="h_k: relevant documents at ranks 1 … k",
        example="relevant at ranks 1, 3 and 5: NumRelRet@4 = 2",
        peers={
            "trec_eval num_rel_ret": "the same",
            "ranx hits": "the mean: NumRelRet(agg=mean)",
        },
        sensitive="ties at the cutoff, unjudged documents",
        use="to see the numerator of a recall",
    )

    #: a count of relevant documents, without a norm
    claims = Claims(grows_with_k=True, bounds_by="additive", deeper_grades_matter=False)

    def contributions(self, hits: Hits) -> Contributions:
        """Count relevant hits."""
        return Contributions(
            self.relevant_hits(hits, self.limit(hits)), np.ones(hits.queries)
        )


class NumNonrelRet(Count):
    """How many documents are retrieved that were judged and found not relevant."""

    takes_cutoff = True
    card = replace(
        NumRet.card,
        sentence="How many of the first k documents (or of the whole list) are known to be not relevant?",
        formula="NumNonrelRet@k = |{i ≤ k : d_i judged, not relevant}|",
        symbols="d_i: document at rank i",
        example="grades 1, 0, unjudged, 0: NumNonrelRet = 2",
        direction="lower",
        peers={"trec_eval num_nonrel_judged_ret": "the same"},
        sensitive="ties at the cutoff, which documents are judged",
        use="to see how many of the retrieved documents are judged, with NumRelRet and NumRet",
    )

    #: it counts irrelevant documents; ties=best puts a document judged 0 before an unjudged one
    claims = Claims(
        reads_nonrelevant=True,
        grows_with_k=True,
        extremal_under_ties=False,
        promotion_helps=False,
        bounds_by="additive",
        deeper_grades_matter=False,
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count judged hits that are not relevant."""
        inside = hits.above_cutoff(self.limit(hits))
        bad = hits.judged & ~hits.relevant(self.rel)
        return Contributions(np.where(bad, inside, 0.0), np.ones(hits.queries))


class NumQ(Count):
    """How many queries are averaged."""

    card = replace(
        NumRet.card,
        sentence="How many queries are averaged?",
        formula="NumQ = 1 for each query, added up",
        symbols="none",
        example="40 judged queries answered by the run, 10 not: 50; with missing=drop 40",
        direction="neither",
        peers={
            "trec_eval num_q, ir_measures NumQ": "the same (50 of the example under -c)"
        },
        sensitive="the options `missing`, `extra` and `empty`, nothing else",
        use="to see how many queries a mean is over",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count the query itself."""
        return Contributions(
            np.zeros(len(hits.rank)),
            np.ones(hits.queries),
            missed=np.ones(hits.queries),
        )

    #: no grade changes it
    claims = Claims(bounds_by="uniform")


class JudgmentCoverage(Measure, family="counts"):
    """A measure of whether documents are judged, whatever their grade."""

    needs_relevant = False
    zero_norm = Status.undefined

    def relevant_count(self, hits: Hits) -> Ints | None:  # noqa: ARG002 - the base's signature
        """Return None, since grades do not count."""
        return None

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse options that leave gaps among the first k ranks."""
        for option, word in (
            ("unjudged", "condensed_keep_rank"),
            ("duplicates", "first_keep_rank"),
        ):
            if self.k is not None and getattr(options, option) == word:
                raise BadOption(
                    f"{self} counts the documents among the first {self.k} ranks, and with {option}={word} "
                    "some ranks are empty",
                    fix=f"leave {option}={word} or {self} out",
                )


class Judged(JudgmentCoverage):
    """Judged@k: the share of the first k documents that is judged.

    >>> print(Judged(k=10))
    Judged@10
    """

    card = Card(
        sentence="Of the first k results, how many are judged?",
        formula="Judged@k = |{i ≤ min(k, n) : d_i judged}| / min(k, n)",
        symbols="d_i: document at rank i; n: length of the list",
        example="8 of the first 10 documents are judged: Judged@10 = 0.8",
        undefined="empty list: no value",
        peers={
            "ir_measures Judged@k": "the same, ties in score to the smaller document id: ties=docid_asc",
            "BEIR hole@k": "1 − Judged@k",
            "trec_eval 10 unj_k": "unjudged documents over k, also for shorter lists: Unjudged@k",
        },
        sensitive="depth",
        use="next to every other measure: systems with different Judged@k are not compared fairly",
        scale="a step is a number of documents",
        citation="Buckley and Voorhees, SIGIR 2004 (the problem)",
    )

    #: tied documents are ordered by grade, not by whether they are judged
    claims = Claims(extremal_under_ties=False, bounds_by="nothing")

    def contributions(self, hits: Hits) -> Contributions:
        """Give every judged hit 1; divide by the documents shown."""
        limit = self.limit(hits)
        inside = hits.above_cutoff(limit)
        shown = hits.n if limit is None else np.minimum(limit, hits.n)
        return Contributions(
            np.where(hits.judged, inside, 0.0), shown.astype(np.float64)
        )


class Unjudged(JudgmentCoverage):
    """Unjudged@k: the share of the first k ranks with an unjudged document.

    >>> print(Unjudged(k=10))
    Unjudged@10
    """

    card = Card(
        sentence="Of the first k ranks, how many have an unjudged document?",
        formula="Unjudged@k = |{i ≤ min(k, n) : d_i not judged}| / k",
        symbols="d_i: document at rank i; n: length of the list (k = n without a cutoff)",
        example="a list of 8 with 2 unjudged documents: Unjudged@10 = 0.2, Judged@10 = 6/8",
        direction="lower",
        undefined="empty list and no cutoff: no value",
        peers={
            "trec_eval 10 unj_k": "the same",
            "BEIR hole@k": "over min(k, n): 1 − Judged@k",
        },
        sensitive="depth; lists shorter than k (their empty ranks count as judged)",
        use="a warning sign next to other measures; Judged@k does not favour short lists",
        citation="Soboroff, trec_eval, 2023",
    )

    #: as for Judged; an unjudged document that moves up for its imputed grade raises the value
    claims = Claims(
        extremal_under_ties=False, promotion_helps=False, bounds_by="nothing"
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count ranks without a judged hit; divide by k."""
        inside = hits.above_cutoff(self.limit(hits))
        depth = hits.n if self.k is None else np.full(hits.queries, self.k)
        unjudged = np.minimum(depth, hits.n) - hits.total(
            np.where(hits.judged, inside, 0.0)
        )
        return Contributions(
            np.zeros(len(inside)), depth.astype(np.float64), unjudged=unjudged
        )
