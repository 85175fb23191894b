"""Average precision with every denominator in use, on the log-odds scale, and for graded relevance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.list_arrays import descending_within, running
from rankstone.measures.core.claims import BEST, Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.gains_and_discounts import (
    CUSTOM_GAINS,
    GAINS,
    GainTable,
    gains,
    never_falls,
)
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure, by_gain

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits


class PrecisionAtHits(BinaryMeasure):
    """A measure made of the precision at every relevant hit."""

    def precisions(self, hits: Hits) -> Floats:
        """Return the precision at the rank of each relevant hit, 0 for all others.

        In a tie block of s documents, m of them relevant, after r relevant ones, place j has a
        relevant document with chance m/s and precision (r + 1 + (j−1)(m−1)/(s−1)) / rank
        (McSherry and Najork, 2008); a block of one is the textbook formula.
        """
        limit = self.limit(hits)
        relevant = hits.relevant(self.rel)
        hits.record_columns(found=lambda: hits.running_count(relevant))
        if not hits.has_tied_ranks:
            hit, number = hits.numbered(relevant)
            values = np.zeros_like(hits.rank, np.float64)
            values[hit] = number / hits.rank[hit]
            return hits.cut(values, limit)
        above = hits.earlier(relevant)
        inside = hits.inside(relevant)
        blocks = hits.blocks

        def precision(rank: Ints, block: Ints | slice) -> Floats:
            rise = (inside[block] - 1) / np.maximum(blocks.size[block] - 1, 1)
            return (above[block] + 1 + (rank - blocks.first[block]) * rise) / rank

        return hits.over_places(precision, limit, among=relevant)


@dataclass(frozen=True, kw_only=True)
class AP(PrecisionAtHits, family="average precision"):
    """Average precision: precision at every relevant hit, averaged over all relevant documents.

    >>> print(AP(denom="min_R_k", k=5))
    AP(denom=min_R_k)@5
    """

    aliases = ("MAP", "AveragePrecision")
    card = Card(
        sentence="How early do the relevant documents come?",
        formula="AP@k = (1/Z) Σ_{i ≤ k} b_i · P@i",
        symbols="b_i: 1 if the document at rank i is relevant; Z: R unless `denom` says otherwise",
        example="relevant at ranks 1, 2, 4 and 7, R = 4: (1/1 + 2/2 + 3/4 + 4/7) / 4 = 93/112",
        peers={
            "trec_eval map, map_cut_k": "the same: R, with a cutoff too",
            "Kaggle, recommenders, RecBole, Spark …At(k)": "AP(denom=min_R_k)@k",
            "LensKit": "AP(denom=min_R_k_n)@k, AP(denom=min_R_n) without a cutoff",
            "torchmetrics": "AP(denom=hits)@k, and scores ≤ 0 count as not retrieved",
            "RecTools divide_by_k": "AP(denom=k)@k",
            "scikit-learn average_precision_score": "AP(tied=block) of the rows it is given",
            "Cornac MAP, scikit-learn LRAP": "AP(tied=block) of the items ranked",
            "Elliot MAP": "the mean of P@1 … P@k, hit or not: not average precision",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R)",
        use="binary relevance and patient users; the area under the uninterpolated precision–recall steps",
        scale="no equal steps: 1/AP is the distance in ranks of equally spaced relevant documents, 5 → 2.5 "
        "for 0.2 → 0.4 and 1.4 → 1.1 for 0.7 → 0.9",
        citation="Harman, TREC-1, 1992; Buckley and Voorhees, 2005",
    )

    denom: str = parameter(
        "R",
        "Z, what the sum is divided by",
        *("R", "min_R_k", "min_R_n", "min_R_k_n", "hits", "k"),
        needs_k=("min_R_k", "min_R_k_n", "k"),
    )
    tied: str = parameter(
        "order", "tied documents: by the rule `ties`, or all at once", "order", "block"
    )

    def __post_init__(self) -> None:
        """Refuse cutoffs inside a tie block."""
        super().__post_init__()
        if self.tied == "block" and (self.k is not None or self.denom == "hits"):
            raise BadParameter(
                f"{self}: tie blocks that count as a whole cannot be cut",
                expected="AP(tied=block) of whole lists",
            )

    @property
    def claims(self) -> Claims:
        """With denom=hits a hit low in the list lowers the value; with a cutoff, order decides the norm."""
        by_hits = self.denom == "hits"
        return Claims(
            closed_under_ties=not by_hits or self.k is None,
            ties_at_once=self.tied == "block",
            extremal_under_ties=not by_hits,
            proven_extremes=BEST if by_hits else None,
            promotion_helps=not by_hits,
            grows_with_k=self.denom in ("R", "min_R_n"),
            bounds_by="enumeration"
            if self.tied == "block"
            else "counts"
            if by_hits
            else "precisions",
            deeper_grades_matter=self.denom not in ("hits", "k"),
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the precision at its rank, or at the end of its tie block; divide by Z."""
        shares = (
            self.precisions(hits)
            if self.tied == "order"
            else self.block_precisions(hits)
        )
        return Contributions(shares, self._norm(hits, shares))

    def block_precisions(self, hits: Hits) -> Floats:
        """Return the precision at the end of the tie block of each relevant hit, 0 for all others."""
        hits = hits.with_open_ties()
        relevant = hits.relevant(self.rel)
        blocks = hits.blocks
        precision = (hits.earlier(relevant) + hits.inside(relevant)) / blocks.last
        return np.where(relevant, precision[blocks.of_hit], 0.0)

    def _norm(self, hits: Hits, shares: Floats) -> Floats:
        if self.denom == "hits":
            return hits.count(shares > 0).astype(np.float64)
        if self.denom == "k":
            return np.full(hits.queries, float(self.k or 0))
        most = hits.relevant_count(self.rel)
        if self.denom in ("min_R_k", "min_R_k_n"):
            most = np.minimum(most, self.k or 0)
        if self.denom in ("min_R_n", "min_R_k_n"):
            most = np.minimum(most, hits.n)
        return most.astype(np.float64)


class yaap(PrecisionAtHits, family="average precision"):  # noqa: N801 - the name of the field
    """Yet another average precision: the log-odds of AP, so that the mean respects extremes.

    >>> print(yaap())
    yaap
    """

    card = Card(
        sentence="Average precision stretched, so that 0.95 to 0.99 is as large a step as 0.5 to 0.84.",
        formula="yaap@k = ln( (1 + S) / (1 + R − S) ),  S = Σ_{i ≤ k} b_i · P@i",
        symbols="b_i: 1 if the document at rank i is relevant; R: relevant documents, retrieved or not",
        example="relevant at ranks 1 and 4, R = 2: S = 3/2, yaap = ln(2.5 / 1.5)",
        span=(None, None),
        peers={
            "trec_eval 10 yaap": "the same; a query missing under -c counts ln(1 / (1 + R)), as here",
            "trec_eval 9, pytrec_eval yaap": "the same, but a query missing under -c counts 0",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R)",
        use="averaging over queries of very different difficulty; a value means little by itself",
        citation="Robertson, On Smoothing Average Precision, ECIR 2012",
    )

    #: the logarithm of a mean is not the mean of logarithms; it grows with the sum of precisions
    claims = Claims(closed_under_ties=False, grows_with_k=True, bounds_by="counts")

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the precision at its rank; divide by R."""
        return Contributions(
            self.precisions(hits), hits.relevant_count(self.rel).astype(np.float64)
        )

    def link(self, hits: Hits, ratio: Floats) -> Floats:
        """Return the logarithm of the odds, with one document added to each side."""
        relevant = hits.relevant_count(self.rel)
        added = ratio * relevant
        return np.log((1.0 + added) / (1.0 + relevant - added))


@dataclass(frozen=True, kw_only=True)
class Blended(BinaryMeasure):
    """A measure of blended ratios: precision in which gains count as well as hits."""

    gain: str | GainTable = parameter(
        "linear", "what a grade is worth, or a table {grade: gain}", GAINS
    )
    beta: float = parameter(1.0, "weight of gains against hits", low=0.0)

    @property
    def claims(self) -> Claims:
        """Tied documents change numerator and denominator of the ratio."""
        return Claims(closed_under_ties=False)

    def blended(self, hits: Hits) -> Floats:
        """Return (C_i + β cg_i) / (i + β cg*_i) at every hit, float64 ``[hits]``."""
        relevant = hits.relevant(self.rel)
        ideal = hits.ideal
        gained = running(
            np.add, gains(self.gain, self.threshold, hits.grade), np.diff(hits.offsets)
        )
        best = gains(self.gain, self.threshold, ideal.grade)
        if not never_falls(self.gain):
            best = descending_within(ideal.query, best)
        best = running(np.add, best, np.diff(ideal.offsets))
        lowest = np.minimum(hits.rank, np.diff(ideal.offsets)[hits.query])
        ahead = best[ideal.offsets[hits.query] + lowest - 1]
        hits.record_columns(
            found=lambda: hits.running_count(relevant),
            gained=gained,
            ideal_gained=ahead,
        )
        return (hits.running_count(relevant) + self.beta * gained) / (
            hits.rank + self.beta * ahead
        )


@dataclass(frozen=True, kw_only=True)
class Q(Blended, family="average precision"):
    """Q-measure: average precision in which gains count as well as hits.

    >>> print(Q(k=10, denom="min_R_k"))
    Q(denom=min_R_k)@10
    """

    aliases = ("QMeasure", "Q-measure")
    card = Card(
        sentence="How early do relevant documents come, and the better ones before the others?",
        formula="Q@k = (1/Z) Σ_{i ≤ k} b_i (C_i + β cg_i) / (i + β cg*_i)",
        symbols="b_i: 1 if the document at rank i is relevant; C_i: relevant ones down to rank i, cg_i their "
        "gains (grades, or as `gain` says), cg*_i those of the ideal list; Z: R, or as `denom` says",
        example="grades 1, 2 and nothing else judged: ((1 + 1) / (1 + 2) + (2 + 3) / (2 + 3)) / 2 = 5/6",
        peers={
            "pyNTCIREVAL Q-measure": "the same over the whole list; with a cutoff Q(denom=min_R_k)@k",
            "pyNTCIREVAL -g 1:4:9": "gain={1: 1, 2: 4, 3: 9}",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents (R), the gains",
        use="graded relevance where recall matters; β = 0 is AP, a large β counts gains almost alone",
        citation="Sakai, NTCIR-4, 2004; Sakai, SIGIR 2007",
    )

    denom: str = parameter(
        "R", "Z, what the sum is divided by", "R", "min_R_k", needs_k=("min_R_k",)
    )

    @property
    def claims(self) -> Claims:
        """A better grade gains no less; a deeper cutoff adds, where Z does not depend on k."""
        grows = self.denom == "R" and self.gain not in CUSTOM_GAINS
        return by_gain(self.gain, replace(super().claims, grows_with_k=grows))

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the blended ratio at its rank."""
        most = hits.relevant_count(self.rel)
        if self.denom == "min_R_k":
            most = np.minimum(most, self.k or 0)
        shares = np.where(hits.relevant(self.rel), self.blended(hits), 0.0)
        return Contributions(shares, most.astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class GAP(BinaryMeasure, family="average precision"):
    """Graded average precision: AP averaged over users who differ in what is relevant enough.

    >>> print(GAP(k=10))
    GAP@10
    """

    aliases = ("GradedAveragePrecision",)
    card = Card(
        sentence="How early do relevant documents come for users some of whom want top grades only?",
        formula="GAP@k = Σ_{i ≤ k} (1/i) Σ_{j ≤ i} Γ(min(g_i, g_j)) / Σ_judged Γ(g)",
        symbols="g_i: grade at rank i; Γ(g): how many users a grade g satisfies, up to a factor; g itself "
        "(each step of the scale is as often the threshold), or as `gain` says",
        example="grades 1, 2 and nothing else judged: (1/1 + (1 + 2)/2) / (1 + 2) = 5/6",
        peers={
            "Infer.NET": "divides by the gains of the list, not of all judged documents",
            "MATTERS": "the same; it takes the probabilities p_1, p_2, … that grade 1, 2, … is a user's "
            "threshold: gain={1: p_1, 2: p_1 + p_2, …}",
        },
        sensitive="ties, unjudged documents (not relevant), unknown relevant documents",
        use="graded relevance without a threshold; on binary grades it is AP",
        citation="Robertson, Kanoulas and Yilmaz, SIGIR 2010",
    )

    gain: str | GainTable = parameter(
        "linear", "Γ, or a table {grade: share of users}", "linear", "exp2"
    )

    def __post_init__(self) -> None:
        """Refuse a table in which a better grade satisfies fewer users."""
        super().__post_init__()
        if isinstance(self.gain, GainTable):
            steps = [gain for _, gain in self.gain.gains]
            if steps != sorted(steps):
                raise BadParameter(
                    "GAP: the gains fall where grades rise",
                    given=str(self),
                    expected="rising",
                )

    #: shares are added up: average precisions, one for each threshold
    claims = Claims(grows_with_k=True, bounds_by="multisets")

    def contributions(self, hits: Hits) -> Contributions:
        """Give each hit, over its rank, the users whom it and a document above it both satisfy.

        Among s tied documents another one is above place j with chance (j − 1) / (s − 1).
        """
        worth = gains(self.gain, self.threshold, hits.grade)
        limit = self.limit(hits)
        blocks = hits.blocks
        above, inside = self._shared(hits, worth)
        ahead = 1.0 / np.maximum(blocks.size - 1, 1)

        def chance(rank: Ints, block: Ints | slice) -> Floats:
            return (rank - blocks.first[block]) * ahead[block] / rank

        share = hits.discounted(
            worth + above, lambda rank: rank.astype(np.float64), limit
        )
        share = share + inside * hits.over_places(chance, limit)
        return Contributions(
            share, hits.ideal.total(gains(self.gain, self.threshold, hits.ideal.grade))
        )

    def _shared(self, hits: Hits, worth: Floats) -> tuple[Floats, Floats]:
        """Add min(Γ, Γ) over the hits in blocks above, and over the others in the block of the hit.

        Levels are added one by one: a level without documents adds exact zeros, so the bits of a query do not
        depend on other queries.
        """
        of_hit = hits.blocks.of_hit
        above = np.zeros(len(worth))
        inside = np.zeros(len(worth))
        for level in np.unique(worth[worth > 0]):
            at_level = worth == level
            better = worth >= level
            for mask, takes in ((at_level, worth > level), (better, at_level)):
                above += np.where(takes, level * hits.earlier(mask)[of_hit], 0.0)
                inside += np.where(
                    takes, level * (hits.inside(mask)[of_hit] - mask), 0.0
                )
        return above, inside
