"""AUC in all its forms, over pairs of a relevant document and a negative; fallout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone._basics import counted
from rankstone.errors import BadOption, BadParameter
from rankstone.measures.core.claims import BEST_AND_WORST, Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, Status
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits


_NEGATIVES: Final = (
    "what counts as a negative: judged and not relevant; all documents of the list that are not relevant "
    "(candidates); or that and everything in the catalogue that was not retrieved"
)
_SOURCES: Final = ("judged", "candidates", "catalogue")
_REQUIRED: Final = (
    "choose one: negatives=judged, negatives=candidates or negatives=catalogue"
)
_ONE_CLASS: Final = (
    "no relevant document, or no negative: no value, counted as undefined"
)
_CATALOGUE: Final = (
    "judgments; negatives=catalogue: how many documents there are (candidates)"
)


@dataclass(frozen=True, kw_only=True)
class NegativesMeasure(BinaryMeasure, family="pairs"):
    """A measure that compares relevant documents with negatives."""

    needs_relevant = False
    zero_norm = Status.undefined
    takes_budget = False

    negatives: str = parameter(
        None, _NEGATIVES, *_SOURCES, needed=_REQUIRED, needs_candidates=("catalogue",)
    )

    @property
    def claims(self) -> Claims:
        """Documents judged not relevant may be the negatives."""
        return Claims(reads_nonrelevant=self.negatives == "judged")

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse a catalogue of unknown size, and lists in which ranks do not count documents."""
        super().check_needs(options)
        if self.negatives != "judged" and options.unjudged == "condensed_keep_rank":
            raise BadOption(
                f"{self} counts documents by their ranks, and unjudged=condensed_keep_rank leaves gaps",
                fix="use unjudged=condensed, or negatives=judged",
            )

    def retrieved_negatives(self, hits: Hits) -> Ints:
        """Count the negatives in each list, int64 ``[queries]``."""
        relevant = hits.relevant(self.rel)
        if self.negatives == "judged":
            return hits.count(~relevant)
        shown = (
            hits.n
            if self.k is None or self.claims.looks_deeper
            else np.minimum(hits.n, self.k)
        )
        return shown - hits.count(relevant)

    def all_negatives(self, hits: Hits) -> Ints:
        """Count all negatives of each query, retrieved or not, int64 ``[queries]``."""
        relevant = hits.relevant_count(self.rel)
        if self.negatives == "judged":
            return np.diff(hits.ideal.offsets) - relevant
        from rankstone.hits.extras.candidate_counts import (
            CandidateCounts,
            NumbersOfCandidates,
        )

        known: NumbersOfCandidates | None = hits.extras.get(CandidateCounts)
        if self.negatives == "candidates" or known is None:
            return self.retrieved_negatives(hits)
        others = known.count - relevant
        retrieved = self.retrieved_negatives(hits)
        if (others < retrieved).any():
            query = int((others < retrieved).argmax())
            raise BadOption(
                f"candidates={known.count[query]}: a query has "
                f"{counted(int(relevant[query]), 'relevant document')} and "
                f"{counted(int(retrieved[query]), 'other')} in its list",
                expected="the number of documents a query could have retrieved",
            )
        return others

    def negatives_above(self, hits: Hits) -> tuple[Ints, Ints]:
        """Count the negatives above each tie block and inside it, int64 ``[blocks]`` both."""
        relevant = hits.relevant(self.rel)
        blocks = hits.blocks
        if self.negatives == "judged":
            return hits.earlier(~relevant), hits.inside(~relevant)
        return blocks.first - 1 - hits.earlier(relevant), blocks.size - hits.inside(
            relevant
        )


def mean_negatives_above(above: Ints, tied: Ints, cap: Ints) -> Floats:
    """Return how many of the first ``cap`` negatives are above a document, on average over tie orders.

    Of the ``tied`` negatives in its block, 0, 1, … all of them are above it with equal chance.

    >>> mean_negatives_above(np.array([1, 1]), np.array([0, 4]), np.array([3, 3])).tolist()
    [1.0, 2.4]
    """
    # so many of these counts are below the cap
    rising = np.clip(cap - above, 0, tied + 1)
    total = rising * above + rising * (rising - 1) // 2 + (tied + 1 - rising) * cap
    mean: Floats = total / (tied + 1)
    return mean


class Fallout(NegativesMeasure):
    """Fallout: the share of all negatives among the first k ranks; lower is better.

    >>> print(Fallout(negatives="catalogue", k=10))
    Fallout(negatives=catalogue)@10
    """

    aliases: ClassVar[tuple[str, ...]] = ("fall_out",)
    examples = ("Fallout(negatives=candidates)@3", "Fallout(negatives=judged)")
    card = Card(
        sentence="Of all documents that are not relevant, how many are among the first k results?",
        formula="Fallout@k = (negatives at ranks 1 … k) / N",
        symbols="N: negatives in all",
        example="ranks 1 … 3: relevant, not, not; 8 documents of the catalogue are not relevant: 2/8",
        needs="judgments; negatives=catalogue: how many documents there are (candidates)",
        direction="lower",
        undefined="no negative: no value, counted as undefined",
        peers={
            "torchmetrics retrieval_fall_out": "Fallout(negatives=candidates)@k; 0 without a negative",
            "ROC curve": "its x axis",
        },
        sensitive="which documents are negatives; ties at the cutoff; an empty list has none",
        use="together with recall, as in signal detection; rarely alone: an empty list is best",
        citation="Salton and McGill, 1983; van Rijsbergen, Information Retrieval, 1979",
    )

    @property
    def claims(self) -> Claims:
        """More ranks have more negatives; unjudged documents count less if only judged ones are negatives."""
        counted = self.negatives != "judged"
        return replace(
            super().claims,
            looks_deeper=self.negatives == "candidates",
            grows_with_k=True,
            extremal_under_ties=counted,
            promotion_helps=counted,
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each negative hit 1, as the unjudged documents between them; divide by all negatives."""
        limit = self.limit(hits)
        inside = hits.above_cutoff(limit)
        between = None
        if self.negatives != "judged":
            between = (
                hits.n if limit is None else np.minimum(hits.n, limit)
            ) - hits.total(inside)
        negative = np.where(hits.relevant(self.rel), 0.0, inside)
        return Contributions(
            negative, self.all_negatives(hits).astype(np.float64), unjudged=between
        )


@dataclass(frozen=True, kw_only=True)
class PairMeasure(NegativesMeasure):
    """A measure that counts pairs in the right order."""

    unreturned: str = parameter(
        "bottom_tied",
        "documents that were not returned: below the list, tied there; relevant ones below all negatives "
        "(bottom); or left out",
        "bottom_tied",
        "bottom",
        "exclude",
    )
    tied: str = parameter(
        "half", "a tied pair counts one half, or as its order says", "half", "order"
    )

    @property
    def entry_is_safe(self) -> bool:
        """True if a better document that enters a list with a cutoff cannot lower the value.

        It can where only documents of the list are compared, and where a negative that enters wins pairs of
        which it had half.
        """
        rule = {
            "catalogue": ("bottom_tied", "bottom"),
            "judged": ("bottom",),
            "candidates": (),
        }
        return self.unreturned in rule[self.negatives]

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse best and worst orders of tied documents of which ``depth`` leaves some out."""
        super().check_needs(options)
        if (
            options.tie_rule.extremal
            and options.depth is not None
            and not self.entry_is_safe
        ):
            raise BadOption(
                f"ties={options.ties!r} with depth={options.depth}: for {self} no order of tied documents is "
                "proven extremal",
                fix="choose another rule for ties: docid_desc, …",
            )

    def with_half_ties(self, hits: Hits, k: int | None = None) -> Hits:
        """Return hits with unbroken ties, where a tied pair counts one half whatever ``ties`` is."""
        return hits if self.tied == "order" else hits.with_open_ties(k)

    def compared(self, hits: Hits) -> tuple[Ints, Ints]:
        """Count the relevant documents and the negatives that are compared, int64 ``[queries]`` both."""
        if self.unreturned == "exclude":
            return hits.count(hits.relevant(self.rel)), self.retrieved_negatives(hits)
        return hits.relevant_count(self.rel), self.all_negatives(hits)

    def norm(self, hits: Hits, relevant: Ints, negatives: Ints) -> Floats:
        """Count the pairs; a query without a list has none, and scores 0."""
        pairs = relevant.astype(np.float64) * negatives
        if self.unreturned != "exclude" and self.negatives != "candidates":
            return pairs
        return np.where(hits.found, pairs, np.minimum(hits.relevant_count(self.rel), 1))

    def not_retrieved(self, hits: Hits, each: Floats) -> Floats | None:
        """Return the contribution of relevant documents that were not retrieved; 0 for a missing query."""
        if self.unreturned != "bottom_tied":
            return None
        missing = hits.relevant_count(self.rel) - hits.count(hits.relevant(self.rel))
        return np.where(hits.found, missing * each, 0.0)


class AUC(PairMeasure):
    """AUC: the chance that a relevant document is ranked above a negative.

    >>> print(AUC(negatives="judged"))
    AUC(negatives=judged)
    """

    aliases: ClassVar[tuple[str, ...]] = ("ROC_AUC", "ROCAUC", "AUROC")
    examples: ClassVar[tuple[str, ...]] = (
        "AUC(negatives=judged)",
        "AUC(negatives=candidates)",
        "AUC(negatives=catalogue)",
        "AUC(negatives=judged, unreturned=exclude, tied=order)",
        "AUC(negatives=candidates, unreturned=exclude)@3",
    )
    card = Card(
        sentence="How often is a relevant document ranked above one that is not?",
        formula="AUC = (1 / (R N)) Σ_{relevant d} (N − a_d − t_d / 2)",
        symbols="R: relevant documents; N: negatives; a_d, t_d: negatives above d, and tied with it. "
        "The same as the Mann–Whitney statistic (mid-ranks of the relevant documents, added, less "
        "R (R + 1) / 2, over R N), and as the area under y = TP / R over x = FP / N",
        example="relevant, not, relevant, not: (2 + 1) / (2·2) = 3/4; the middle two tied: (2 + 1½) / 4",
        needs=_CATALOGUE,
        undefined=f"{_ONE_CLASS}. A query without a list scores 0, not ½",
        peers={
            "scikit-learn roc_auc_score": "the same for one labelled list; for all users' rows at once: "
            "one_group=True",
            "torchmetrics, CatBoost QueryAUC": "the same per query; with one class only they say 0",
            "ir_measures Accuracy@k": "AUC(negatives=candidates, unreturned=exclude, tied=order)@k with "
            "ties=input; leaves out queries without a relevant document there, and divides by zero where "
            "there is nothing else",
            "Cornac": "a tied pair counts nothing: tied=order with ties=worst",
            "implicit AUC_at_k": "AUC(negatives=catalogue, tied=order)@k; a list shorter than k counts as "
            "padded with negatives",
            "RePlay": "the order of the list decides between ties: tied=order",
            "Elliot": "divides by one negative more than there is",
            "XGBoost auc (ranking)": "counts pairs of equal label, too: another number",
            "LightGBM": "1 where there is one class only",
        },
        sensitive="which documents are negatives (choose one); relevant documents that were not returned",
        use="whole rankings of a catalogue, click models; blind to where in the list two documents are "
        "exchanged, so rarely for the first page of a search",
        scale="within a query a step is a number of pairs, the same everywhere",
        citation="Hanley and McNeil, Radiology 1982; Fawcett, Pattern Recognition Letters 2006",
    )

    @property
    def claims(self) -> Claims:
        """Each exchange moves one pair, where the same documents are compared in every order.

        Where all documents are compared and no pair counts half, a deeper cutoff adds pairs that were lost.
        """
        steady = self.k is None or self.entry_is_safe
        return replace(
            super().claims,
            closed_under_ties=self.k is None,
            extremal_under_ties=self.tied == "order" and steady,
            proven_extremes=BEST_AND_WORST if steady else None,
            promotion_helps=steady,
            grows_with_k=self.entry_is_safe
            and self.unreturned == "bottom"
            and self.tied == "order",
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the negatives below it, half of those tied with it; divide by all pairs."""
        hits = self.with_half_ties(hits, self.k)
        relevant, negatives = self.compared(hits)
        above, tied = self.negatives_above(hits)
        below = hits.spread(negatives) - (above + tied / 2)[hits.blocks.of_hit]
        hits.record_columns(
            negatives_above=lambda: above[hits.blocks.of_hit],
            negatives_tied=lambda: tied[hits.blocks.of_hit],
            negatives_below=below,
        )
        return Contributions(
            np.where(hits.relevant(self.rel), below, 0.0),
            self.norm(hits, relevant, negatives),
            missed=self.not_retrieved(
                hits, (negatives - self.retrieved_negatives(hits)) / 2
            ),
        )


@dataclass(frozen=True, kw_only=True)
class GAUC(AUC):
    """Group AUC: the AUC of each user, averaged with a weight for each.

    >>> print(GAUC(negatives="candidates", weight="positives"))
    GAUC(negatives=candidates, weight=positives)
    """

    aliases = ("GroupAUC",)
    examples = ("GAUC(negatives=candidates)", "GAUC(negatives=judged, weight=clicks)")
    card = Card(
        sentence="Within one user's list: how often is a liked item ranked above another?",
        formula="GAUC = Σ_u w_u AUC_u / Σ_u w_u",
        symbols="AUC_u: AUC of user (query) u; w_u: impressions, the documents in the list; positives, the "
        "relevant documents; clicks, their grades added; uniform, 1",
        example="AUC 1 with 2 impressions, AUC ½ with 8: (2·1 + 8·½) / 10 = 3/5",
        needs=_CATALOGUE,
        undefined=f"{_ONE_CLASS}; such users have no weight",
        peers={
            "Zhou et al. (DIN), Zhu et al.": "weight=impressions",
            "RecBole GAUC": "weight=positives",
            "Elliot GAUC": "weight=uniform; divides by one negative more than there is",
            "pooled AUC": "another number by design: adding to one user's scores changes it and not GAUC",
        },
        sensitive="which documents are negatives; users with very many impressions",
        use="click and purchase logs: the model decides the order within a user's list, "
        "not how much the user clicks",
        citation="Zhu et al., KDD 2017; Zhou et al., KDD 2018",
    )

    agg: str = parameter(
        "weighted",
        "how queries become one number",
        *("weighted", "mean", "sum", "median", "gmean", "trimmed", "pooled"),
    )
    weight: str = parameter(
        "impressions",
        "weight of a query",
        "impressions",
        "positives",
        "clicks",
        "uniform",
    )

    def query_weights(self, hits: Hits) -> Floats:
        """Return the weight of each query."""
        if self.weight == "impressions":
            return hits.n.astype(np.float64)
        if self.weight == "positives":
            return hits.relevant_count(self.rel).astype(np.float64)
        if self.weight == "clicks":
            return hits.ideal.total(
                np.where(self.threshold(hits.ideal.grade), hits.ideal.grade, 0.0)
            )
        return np.ones(hits.queries)


class pAUC(PairMeasure):  # noqa: N801 - the name of the field
    """Partial AUC: relevant documents against the k highest negatives.

    >>> print(pAUC(negatives="candidates", k=10))
    pAUC(negatives=candidates)@10
    """

    aliases = ("PartialAUC",)
    examples = ("pAUC(negatives=judged)@2", "pAUC(negatives=catalogue)@3")
    card = Card(
        sentence="How often is a relevant document ranked above one of the k highest negatives?",
        formula="pAUC@k = (1 / (R c)) Σ_{relevant d} (c − min(a_d, c)),  c = min(k, N)",
        symbols="R: relevant documents; N: negatives; a_d: negatives above d, averaged over the orders of "
        "ties. k counts negatives, not ranks",
        example="not, relevant, not, relevant, not: pAUC@2 = ((2 − 1) + (2 − 2)) / (2·2) = 1/4",
        needs=_CATALOGUE,
        undefined=_ONE_CLASS,
        peers={
            "RecTools PartialAUC": "pAUC(negatives=catalogue, unreturned=bottom)@k, if k negatives exist",
            "scikit-learn roc_auc_score(max_fpr=…)": "a share of the negatives instead of k, standardised so "
            "that chance is ½ (McClish, 1989)",
        },
        sensitive="which documents are negatives; lists with fewer than k of them",
        use="when only the top of a long list matters, but pairs shall count; needs lists longer than k + R",
        citation="McClish, Medical Decision Making 1989; Narasimhan and Agarwal, ICML 2013",
    )

    def __post_init__(self) -> None:
        """Refuse whole lists, since k makes it partial."""
        super().__post_init__()
        if self.k is None:
            raise BadParameter(
                "pAUC needs the number of negatives", fix=f"write {self}@10"
            )

    @property
    def claims(self) -> Claims:
        """K counts negatives, not ranks; a document that moves up is never below more of the first k."""
        return replace(
            super().claims,
            looks_deeper=True,
            grows_with_k=True,
            extremal_under_ties=self.tied == "order",
            proven_extremes=BEST_AND_WORST,
        )

    @property
    def deepest(self) -> None:
        """Whole lists: k counts negatives, not ranks."""

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit those of the first k negatives that are below it."""
        hits = self.with_half_ties(hits)
        relevant, negatives = self.compared(hits)
        first = np.minimum(negatives, self.k or 0)
        returned = self.retrieved_negatives(hits)
        above, tied = self.negatives_above(hits)
        of_hit = hits.blocks.of_hit
        below = hits.spread(first) - mean_negatives_above(
            above[of_hit], tied[of_hit], hits.spread(first)
        )
        return Contributions(
            np.where(hits.relevant(self.rel), below, 0.0),
            self.norm(hits, relevant, first),
            missed=self.not_retrieved(
                hits,
                first - mean_negatives_above(returned, negatives - returned, first),
            ),
        )
