"""Cumulated gain: CG, DCG and nDCG with every gain, discount and ideal list in use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.list_arrays import (
    Ideal,
    descending_within,
    offsets_of,
    ragged_range,
    sums,
)
from rankstone.measures.core.claims import BEST, Claims
from rankstone.measures.core.definition import ANY_GAIN, Card, parameter
from rankstone.measures.core.gains_and_discounts import (
    DISCOUNTS,
    check_persistence,
    divisors,
    gains,
    never_falls,
)
from rankstone.measures.core.measure import Contributions, IdealNorm
from rankstone.measures.core.relevance import GradedMeasure

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Cutoff
    from rankstone.measures.core.definition import Span


@dataclass(frozen=True, kw_only=True)
class GainMeasure(GradedMeasure):
    """A sum of gains: the base class of CG, DCG and nDCG."""

    needs_relevant = False
    takes_shares = True

    pad: str = parameter(
        "zero", "ranks n+1 … k of a short list", "zero", "min_grade", "shrink"
    )

    def limit(self, hits: Hits) -> Cutoff | None:
        """Return the cutoff; pad=shrink lowers it to the length of shorter lists."""
        if self.k is None or self.pad != "shrink":
            return self.k
        return np.minimum(self.k, hits.length)

    def worth(self, grade: Floats) -> Floats:
        """Return the gain of each grade."""
        return gains(self.gain, self.threshold, grade)

    def divisor(self, rank: Ints) -> Floats:
        """Return what a gain at each rank is divided by."""
        return np.ones_like(rank, np.float64)

    @property
    def claims(self) -> Claims:
        """A sum of gains without a norm; 2^(g − 1) is above 0 for every grade."""
        return replace(
            super().claims,
            reads_lowest_grade=self.pad == "min_grade",
            negative_is_least=self.gain != "pow2_shift",
            grows_with_k=True,
            bounds_by="additive",
            deeper_grades_matter=False,
        )

    def span_of(self, hits: Hits) -> Span:
        """Return the range; negative grades that are kept remove the lower bound."""
        low, high = self.span
        return (None if hits.lowest_grade < 0 else low), high

    def discounted(self, hits: Hits) -> Floats:
        """Return gain / divisor of every hit down to the cutoff."""
        gain = hits.remember(
            ("gain", self.gain, self.rel), lambda: self.worth(hits.grade)
        )
        return hits.discounted(gain, self.divisor, self.limit(hits))

    def padding(self, hits: Hits) -> Floats | None:
        """Return what the ranks below a short list add under pad=min_grade."""
        if self.pad != "min_grade" or self.k is None:
            return None
        return self._padding_gains(hits, hits.length, np.full(hits.queries, self.k))

    def _padding_gains(self, hits: Hits, length: Ints, depth: Ints) -> Floats:
        """Return what documents of the lowest grade add at ranks length+1 … depth."""
        lengths = np.maximum(depth - length, 0)
        rank = ragged_range(length + 1, lengths)
        lowest = self.worth(np.array([hits.lowest_grade]))[0]
        query = np.repeat(np.arange(hits.queries), lengths)
        return sums(query, lowest / self.divisor(rank), hits.queries)

    def contributions(self, hits: Hits) -> Contributions:
        """Add the (discounted) gains up; nothing is divided."""
        return Contributions(
            self.discounted(hits), np.ones(hits.queries), unjudged=self.padding(hits)
        )


class CG(GainMeasure, family="cumulated gain"):
    """Cumulated gain: the gains of the first k ranks, added.

    >>> print(CG(k=5))
    CG@5
    """

    card = Card(
        sentence="How much relevance do the first k results have in total?",
        formula="CG@k = Σ_{i ≤ k} g_i",
        symbols="g_i: gain of the document at rank i, its grade unless `gain` says otherwise",
        example="grades 5, 3, 2, 1, 2: CG@5 = 13",
        span=(0.0, None),
        undefined="never",
        sensitive="unjudged documents (gain 0); blind to the order inside the cutoff",
        use="as a step towards DCG",
        scale="a step is an amount of gain, the same anywhere; what a grade gains is set, not measured",
        citation="Järvelin and Kekäläinen, SIGIR 2000",
    )


@dataclass(frozen=True, kw_only=True)
class DCG(GainMeasure, family="cumulated gain"):
    """Discounted cumulated gain: gains count less the further down they come.

    >>> print(DCG(k=5, gain="exp2"))
    DCG(gain=exp2)@5
    """

    card = Card(
        sentence="How much relevance is shown, counting less what is further down?",
        formula="DCG@k = Σ_{i ≤ k} g_i / D(i)",
        symbols="g_i: gain at rank i; D(i) = log2(i + 1) unless `discount` says otherwise",
        example="grades 3, 1, 2, 3, 2: 3 + 0.6309 + 1 + 1.2920 + 0.7737 = 6.6967",
        span=(0.0, None),
        undefined="never",
        peers={
            "gain 2^g − 1 (Burges et al., 2005)": "DCG(gain=exp2)",
            "Järvelin and Kekäläinen's log_b": "DCG(discount=jk, base=2)",
        },
        sensitive="ties, unjudged documents (gain 0), depth, and to the grade scale",
        use="within one collection and grade scale; otherwise nDCG",
        scale="gain, worth less further down: equal steps as far as gain and discount are believed; without"
        " an upper end",
        citation="Järvelin and Kekäläinen, TOIS 2002",
    )

    discount: str = parameter("log2", "how a gain is divided by rank", DISCOUNTS)
    base: float = parameter(2.0, "base of the logarithm of discount=jk", above=1.0)
    p: float | None = parameter(
        None, "persistence of discount=geometric", above=0.0, below=1.0
    )

    def __post_init__(self) -> None:
        """Refuse a geometric discount without its persistence."""
        super().__post_init__()
        check_persistence(self, "discount", self.p)

    @property
    def inactive_parameters(self) -> frozenset[str]:
        """The base, unless the logarithm to this base is used."""
        return frozenset() if self.discount == "jk" else frozenset(("base",))

    def divisor(self, rank: Ints) -> Floats:
        """Return what a gain at each rank is divided by."""
        return divisors(self.discount, rank, base=self.base, p=self.p)


@dataclass(frozen=True, kw_only=True)
class nDCG(DCG):  # noqa: N801 - the name of the field
    """Normalised DCG: DCG as a share of what the ideal order would reach.

    >>> print(nDCG(k=10))
    nDCG@10
    """

    aliases: ClassVar[tuple[str, ...]] = ("NDCG",)
    needs_relevant = True
    card = Card(
        sentence="How close does the list come to the ideal order of everything judged?",
        formula="nDCG@k = DCG@k / IDCG@k,  DCG@k = Σ_{i ≤ k} g_i / D(i)",
        symbols="g_i: gain at rank i; D(i) = log2(i + 1); IDCG: DCG of the judged grades, best first",
        example="grades 3, 1, 2, 3, 2 and nothing better judged: 6.6967 / 7.1410 = 0.9378",
        peers={
            "trec_eval ndcg_cut_k, ir_measures, ranx ndcg": "the same",
            "trec_eval ndcg": "the same: nDCG without a cutoff",
            "scikit-learn ndcg_score": "ideal from the passed list, ties averaged",
            "LightGBM, XGBoost, gdeval": "nDCG(gain=exp2)",
            "RecTools": "nDCG(gain=binary, ideal=k_ones)",
            "RecBole, RePlay, implicit": "nDCG(gain=binary)",
            "LensKit": "nDCG(discount=jk)",
            "Elliot": "nDCG(gain=exp2_offset, rel=…)",
        },
        sensitive="ties, unjudged documents (gain 0), depth, and which documents the ideal draws on",
        use="graded relevance; say which gain, discount and ideal (the name does)",
        scale="shares of the ideal list's DCG: equal steps within a query as far as gain and discount are "
        "believed, and none between queries with other ideal lists; few judged documents leave little"
        " below 1",
        citation="Järvelin and Kekäläinen, TOIS 2002; Burges et al., ICML 2005",
    )

    takes_shares = False  # its ideal list would end within a document, too

    ideal: str = parameter(
        "judged",
        "the documents of the ideal list",
        *("judged", "list", "topk", "k_ones", "k_of_R"),
        needs_k=("k_ones", "topk"),
    )
    ideal_depth: str = parameter(
        "k", "how deep the ideal list goes", "k", "min_k_n", "all"
    )

    def __post_init__(self) -> None:
        """Refuse ideals that would let the value leave [0, 1]."""
        super().__post_init__()
        if self.ideal in ("k_ones", "k_of_R") and self.gain != "binary":
            raise BadParameter(
                f"nDCG(ideal={self.ideal}) has gains of one, so gains must be 0 or 1",
                fix=f"write {replace(self, gain='binary')}",
            )
        if self.budget is not None and self.ideal_depth == "min_k_n":
            raise BadParameter(
                f"{self}: an ideal list as long as the list would reward long documents",
                fix=f"leave ideal_depth out: {replace(self, ideal_depth='k')}",
            )
        if self.ideal in ("k_ones", "k_of_R") and self.pad == "min_grade":
            raise BadParameter(
                f"nDCG(ideal={self.ideal}) has gains of one only, and pad=min_grade would add others",
                fix="use ideal=judged with pad=min_grade",
            )

    @property
    def claims(self) -> Claims:
        """The ideal list grows with k unless it contains all documents; ideal=topk depends on the order."""
        claims = super().claims
        shown = self.ideal == "topk"
        fixed = (
            self.ideal_depth == "all"
            and self.ideal in ("judged", "list")
            and self.pad == "zero"
        )
        return replace(
            claims,
            closed_under_ties=not shown,
            extremal_under_ties=claims.extremal_under_ties and not shown,
            proven_extremes=BEST if claims.extremal_under_ties and shown else None,
            promotion_helps=claims.promotion_helps and not shown,
            grows_with_k=fixed,
            looks_deeper=self.ideal == "list",
            bounds_by="multisets" if self.pad == "min_grade" else "additive",
            deeper_grades_matter=self.ideal not in ("k_ones", "topk"),
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Divide the discounted gains by those of the ideal list."""
        return Contributions(
            self.discounted(hits), self._cached_norm(hits), unjudged=self.padding(hits)
        )

    @property
    def ideal_has_costs(self) -> bool:  # type: ignore[override]
        """True unless the ideal list holds all judged documents."""
        return self.ideal_depth != "all"

    def ideal_norm(self, hits: Hits) -> IdealNorm | None:
        """Return the gains of the ideal list, discounted; ones to the depth k are the same for all."""
        if self.ideal == "k_ones":
            return None
        made_of = {"list": "list", "topk": "cutoff"}.get(self.ideal, "judged")
        depth = self._ideal_depth(hits)
        return IdealNorm(
            self._ideal_gains(hits),
            self.worth,
            lambda r: 1.0 / self.divisor(r),
            depth,
            made_of,
        )

    def _cached_norm(self, hits: Hits) -> Floats:
        """Return the norm; computed once for all runs where it depends on the judgments alone."""
        depth = self._ideal_depth(hits)
        known = depth is None or isinstance(depth, int)
        if (
            not known
            or self.ideal != "judged"
            or self.pad == "min_grade"
            or hits.trace is not None
        ):
            return self._norm(hits)
        key = ("norm", self.gain, self.rel, self.discount, self.base, self.p, depth)
        return self._best(hits).remember(key, lambda: self._norm(hits))

    def _norm(self, hits: Hits) -> Floats:
        depth = self._ideal_depth(hits)
        if self.ideal in ("k_ones", "k_of_R"):
            return self._ones(hits, depth)
        ideal = self._ideal_gains(hits, depth)
        divisor = self.divisor(ideal.rank)
        shares = ideal.grade / divisor
        if depth is not None:
            limit = depth if isinstance(depth, int) else depth[ideal.query]
            shares = np.where(ideal.rank <= limit, shares, 0.0)
        hits.record_ideal(ideal, divisor=divisor, contribution=shares)
        norm = ideal.total(shares)
        # the ideal list is padded like the list
        if self.pad == "min_grade" and depth is not None:
            norm += self._padding_gains(
                hits, np.diff(ideal.offsets), np.broadcast_to(depth, hits.queries)
            )
        return norm

    def _best(self, hits: Hits) -> Ideal:
        """Return the judged grades of the ideal list: all, or those that a budget allows."""
        return hits.ideal if self.ideal_depth == "all" else hits.best_list

    def _ideal_depth(self, hits: Hits) -> Cutoff | None:
        if self.ideal_depth == "all":
            return None
        limit = self.limit(hits)
        if self.ideal_depth == "min_k_n":
            return hits.length if limit is None else np.minimum(limit, hits.length)
        return limit

    def _ideal_gains(self, hits: Hits, depth: Cutoff | None = None) -> Ideal:
        """Return the gains of the ideal list, best first, at least down to a depth."""
        plain = (
            self.ideal == "judged"
            and self.pad != "min_grade"
            and never_falls(self.gain)
        )
        if plain and isinstance(depth, int) and hits.trace is None:
            ideal = hits.ideal.down_to(depth)  # in long lists most grades have no share
            return ideal.regraded(self.worth(ideal.grade))
        key = (
            "ideal gains",
            self.gain,
            self.rel,
            self.ideal,
            self.k if self.ideal == "topk" else 0,
        )
        return hits.remember(key, lambda: self._make_ideal_gains(hits))

    def _make_ideal_gains(self, hits: Hits) -> Ideal:
        if self.ideal in ("judged", "k_of_R"):
            best = self._best(hits)
            gain = self.worth(best.grade)
            if not never_falls(self.gain):
                gain = descending_within(best.query, gain)
            return best.regraded(gain)
        return self._list_gains(
            hits if self.ideal == "list" else hits.down_to(self.k or 0), hits
        )

    def _list_gains(self, hits: Hits, whole: Hits) -> Ideal:
        """Return the gains of the documents of the list, best first.

        Unjudged documents gain 0, which matters only where other gains are negative.
        """
        gain = self.worth(hits.grade)
        query = hits.query
        if len(gain) and gain.min() < 0:
            shown = (
                whole.n if self.ideal == "list" else np.minimum(whole.n, self.k or 0)
            )
            unjudged = np.maximum(shown - np.diff(hits.offsets), 0)
            query = np.concatenate(
                (query, np.repeat(np.arange(hits.queries), unjudged))
            )
            order = np.argsort(query, kind="stable")
            query = query[order]
            gain = np.concatenate((gain, np.zeros(int(unjudged.sum()))))[order]
        offsets = offsets_of(np.bincount(query, minlength=hits.queries))
        return Ideal(offsets, descending_within(query, gain))

    def _ones(self, hits: Hits, depth: Cutoff | None) -> Floats:
        relevant = self._best(hits).relevant_count(self.threshold or ANY_GAIN)
        most = relevant if self.ideal == "k_of_R" else np.full(hits.queries, self.k)
        most = most if depth is None else np.minimum(most, depth)
        ranks = np.arange(1, int(most.max()) + 1 if len(most) else 1)
        norms = np.concatenate(([0.0], np.cumsum(1.0 / self.divisor(ranks))))
        return norms[most]
