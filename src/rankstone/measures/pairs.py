"""Pairs of a relevant document and a negative that stand in the right order: AUC in all its forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadOption, BadParameter
from rankstone.measures.base import Contributions
from rankstone.measures.named import Card, parameter
from rankstone.measures.negatives import AgainstNegatives, passed_on_average

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.options import Alignment
    from rankstone.hits.ragged import Hits

__all__ = ["AUC", "GAUC", "pAUC"]

_ONE_CLASS: Final = "no relevant document, or no negative: no value, counted as undefined"
_CATALOGUE: Final = "judgments; negatives=catalogue: how many documents there are (candidates)"


@dataclass(frozen=True, kw_only=True)
class PairMeasure(AgainstNegatives):
    """A measure that counts pairs in the right order."""

    unreturned: str = parameter(
        "bottom_tied",
        "documents that were not returned: below the list, tied there; relevant ones below all negatives "
        "(bottom); or left out",
        "bottom_tied",
        "bottom",
        "exclude",
    )
    tied: str = parameter("half", "a tied pair counts one half, or as its order says", "half", "order")

    @property
    def steady(self) -> bool:
        """Whether a better document that enters a list that is cut cannot lower the value.

        It can where documents take part because they are in the list, and where a negative that enters
        wins pairs it had half of.
        """
        rule = {"catalogue": ("bottom_tied", "bottom"), "judged": ("bottom",), "candidates": ()}
        return self.unreturned in rule[self.negatives]

    def check_needs(self, options: Alignment) -> None:
        """Refuse extremes over tied documents of which ``depth`` leaves some out."""
        super().check_needs(options)
        if options.ties in ("best", "worst") and options.depth is not None and not self.steady:
            raise BadOption(
                f"ties={options.ties!r} with depth={options.depth}: for {self} no order of tied documents is "
                "proven extremal",
                fix="choose another rule for ties: docid_desc, …",
            )

    def opened(self, hits: Hits, k: int | None = None) -> Hits:
        """Return the hits with ties open, where a tied pair counts one half whatever ``ties`` says."""
        return hits if self.tied == "order" else hits.with_open_ties(k)

    def taking_part(self, hits: Hits) -> tuple[Ints, Ints]:
        """Count the relevant documents and the negatives that take part, int64 ``[queries]`` both."""
        if self.unreturned == "exclude":
            return hits.count(hits.relevant(self.rel)), self.returned(hits)
        return hits.relevant_count(self.rel), self.known(hits)

    def norm(self, hits: Hits, relevant: Ints, negatives: Ints) -> Floats:
        """Count the pairs; a query without a list has no pairs to count, and scores 0 all the same."""
        pairs = relevant.astype(np.float64) * negatives
        if self.unreturned != "exclude" and self.negatives != "candidates":
            return pairs
        return np.where(hits.found, pairs, np.minimum(hits.relevant_count(self.rel), 1))

    def below_the_list(self, hits: Hits, each: Floats) -> Floats | None:
        """Add what every relevant document that was not returned earns; a missing query earns nothing."""
        if self.unreturned != "bottom_tied":
            return None
        missing = hits.relevant_count(self.rel) - hits.count(hits.relevant(self.rel))
        return np.where(hits.found, missing * each, 0.0)


@dataclass(frozen=True, kw_only=True)
class AUC(PairMeasure):
    """AUC: the chance that a relevant document is ranked above a negative.

    >>> print(AUC(negatives="judged"))
    AUC(negatives=judged)
    """

    name: ClassVar[str] = "AUC"
    aliases: ClassVar[tuple[str, ...]] = ("ROC_AUC", "ROCAUC", "AUROC")
    examples: ClassVar[tuple[str, ...]] = (
        "AUC(negatives=judged)",
        "AUC(negatives=candidates)",
        "AUC(negatives=catalogue)",
        "AUC(negatives=judged, unreturned=exclude, tied=order)",
        "AUC(negatives=candidates, unreturned=exclude)@3",
    )
    card: ClassVar[Card] = Card(
        sentence="How often is a relevant document ranked above one that is not?",
        formula="AUC = (1 / (R N)) Σ_{relevant d} (N − a_d − t_d / 2)",
        symbols="R: relevant documents; N: negatives; a_d, t_d: negatives above d, and tied with it. "
        "The same as the Mann–Whitney statistic (mid-ranks of the relevant documents, added, less "
        "R (R + 1) / 2, over R N), and as the area under y = TP / R over x = FP / N",
        example="relevant, not, relevant, not: (2 + 1) / (2·2) = 3/4; the middle two tied: (2 + 1½) / 4",
        needs=_CATALOGUE,
        undefined=f"{_ONE_CLASS}. A query the run does not answer scores 0, not ½",
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
        sensitive="which documents are negatives (say it); relevant documents that were not returned",
        use="whole rankings of a catalogue, click models; blind to where in the list two documents are "
        "exchanged, so rarely for the first page of a search",
        scale="within a query a step is a number of pairs, the same anywhere",
        citation="Hanley and McNeil, Radiology 1982; Fawcett, Pattern Recognition Letters 2006",
    )

    @property
    def closed_under_ties(self) -> bool:
        """Hold unless a cutoff decides who of the tied documents takes part."""
        return self.k is None

    @property
    def extremal_under_ties(self) -> bool:
        """Hold where order counts at all, and the same documents take part in every order."""
        return self.tied == "order" and self.promotion_helps

    @property
    def promotion_helps(self) -> bool:
        """Hold unless a document that comes above the cutoff pushes another out of the count."""
        return self.k is None or self.steady

    @property
    def proven_orders(self) -> frozenset[str]:
        """Both, where the same documents take part in every order: each exchange moves one pair."""
        return frozenset({"best", "worst"}) if self.promotion_helps else frozenset()

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit the negatives below it, half of those tied with it; divide by all pairs."""
        hits = self.opened(hits, self.k)
        relevant, negatives = self.taking_part(hits)
        above, tied = self.above(hits)
        below = hits.spread(negatives) - (above + tied / 2)[hits.blocks.of_hit]
        hits.tell(
            negatives_above=lambda: above[hits.blocks.of_hit],
            negatives_tied=lambda: tied[hits.blocks.of_hit],
            negatives_below=below,
        )
        return Contributions(
            np.where(hits.relevant(self.rel), below, 0.0),
            self.norm(hits, relevant, negatives),
            missed=self.below_the_list(hits, (negatives - self.returned(hits)) / 2),
        )


@dataclass(frozen=True, kw_only=True)
class GAUC(AUC):
    """Group AUC: the AUC of each user, averaged with a weight for each.

    >>> print(GAUC(negatives="candidates", weight="positives"))
    GAUC(negatives=candidates, weight=positives)
    """

    name: ClassVar[str] = "GAUC"
    aliases: ClassVar[tuple[str, ...]] = ("GroupAUC",)
    examples: ClassVar[tuple[str, ...]] = (
        "GAUC(negatives=candidates)",
        "GAUC(negatives=judged, weight=clicks)",
    )
    card: ClassVar[Card] = Card(
        sentence="Within one user's list: how often is what the user liked ranked above what not?",
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
        use="click and purchase logs: how much a user clicks is not the model's work, the order within the "
        "user's list is",
        citation="Zhu et al., KDD 2017; Zhou et al., KDD 2018",
    )

    agg: str = parameter(
        "weighted",
        "how queries become one number",
        *("weighted", "mean", "sum", "median", "gmean", "trimmed", "pooled"),
    )
    weight: str = parameter(
        "impressions", "what a query weighs", "impressions", "positives", "clicks", "uniform"
    )

    def query_weights(self, hits: Hits) -> Floats:
        """Return what each query weighs."""
        if self.weight == "impressions":
            return hits.n.astype(np.float64)
        if self.weight == "positives":
            return hits.relevant_count(self.rel).astype(np.float64)
        if self.weight == "clicks":
            return hits.ideal.total(np.where(self.rel(hits.ideal.grade), hits.ideal.grade, 0.0))
        return np.ones(hits.queries)


@dataclass(frozen=True, kw_only=True)
class pAUC(PairMeasure):  # noqa: N801 - the name of the field
    """Partial AUC: relevant documents against the k highest negatives.

    >>> print(pAUC(negatives="candidates", k=10))
    pAUC(negatives=candidates)@10
    """

    name: ClassVar[str] = "pAUC"
    aliases: ClassVar[tuple[str, ...]] = ("PartialAUC",)
    examples: ClassVar[tuple[str, ...]] = ("pAUC(negatives=judged)@2", "pAUC(negatives=catalogue)@3")
    card: ClassVar[Card] = Card(
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
        sensitive="which documents are negatives; lists that hold fewer than k of them",
        use="when only the top of a long list matters, but pairs shall count; needs lists longer than k + R",
        citation="McClish, Medical Decision Making 1989; Narasimhan and Agarwal, ICML 2013",
    )

    def __post_init__(self) -> None:
        """Refuse to go without k, which is what makes it partial."""
        super().__post_init__()
        if self.k is None:
            raise BadParameter("pAUC needs the number of negatives", fix=f"write {self}@10")

    @property
    def looks_deeper(self) -> bool:
        """Hold: k counts negatives, not ranks."""
        return True

    @property
    def deepest(self) -> None:
        """Whole lists: k counts negatives, not ranks."""

    @property
    def extremal_under_ties(self) -> bool:
        """Hold where order counts at all."""
        return self.tied == "order"

    @property
    def proven_orders(self) -> frozenset[str]:
        """Both: a negative that moves up never passes fewer of the first k."""
        return frozenset({"best", "worst"})

    def contributions(self, hits: Hits) -> Contributions:
        """Give each relevant hit those of the first k negatives that stand below it."""
        hits = self.opened(hits)
        relevant, negatives = self.taking_part(hits)
        first, returned = np.minimum(negatives, self.k or 0), self.returned(hits)
        above, tied = self.above(hits)
        of_hit = hits.blocks.of_hit
        below = hits.spread(first) - passed_on_average(above[of_hit], tied[of_hit], hits.spread(first))
        return Contributions(
            np.where(hits.relevant(self.rel), below, 0.0),
            self.norm(hits, relevant, first),
            missed=self.below_the_list(
                hits, first - passed_on_average(returned, negatives - returned, first)
            ),
        )
