"""Means over judgment groups: a document judged by several assessors counts for each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.hits.grouped_judgments import by_group
from rankstone.hits.list_arrays import sums
from rankstone.measures.average_precision import AP
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.measures.precision import BinaryMeasure, P, Rprec

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Ints


_NEEDS = "judgments with a column `subtopic` (in TREC qrels the second one) that names the judgment group"
_PEERS = "the same for -R qrels_jg; there a group whose judgments are all below zero counts, as 0"


@dataclass(frozen=True, kw_only=True)
class GroupMean(BinaryMeasure):
    """The mean over a query's judgment groups of what another measure says of each."""

    family: ClassVar[str] = "judgment groups"
    brings: ClassVar[frozenset[str]] = frozenset({"groups"})

    @property
    def each(self) -> BinaryMeasure:
        """The measure of one group."""
        raise NotImplementedError

    def relevant_count(self, hits: Hits) -> Ints:
        """Return how many documents some group finds relevant; an imputed grade is nobody's."""
        pool = hits.pool
        assert pool is not None  # noqa: S101 - alignment brings it to measures that ask
        return np.bincount(pool.query[self.threshold(pool.grade)], minlength=hits.queries)

    @property
    def claims(self) -> Claims:
        """What is better for one group is not for another; the mean grows where that of each group does."""
        grows = self.each.claims.grows_with_k
        return Claims(extremal_under_ties=False, promotion_helps=False, grows_with_k=grows)

    def contributions(self, hits: Hits) -> Contributions:
        """Add up what a hit contributes for each group; divide by the groups."""
        groups = by_group(hits)
        parts = self.each.contributions(groups.hits)
        norm = groups.hits.spread(parts.norm)
        shares = np.divide(parts.hits, norm, out=np.zeros(len(norm)), where=norm > 0)
        earned = sums(groups.of_hit, shares, len(hits.rank))
        return Contributions(earned, np.bincount(groups.query, minlength=hits.queries).astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class AP_avgjg(GroupMean):  # noqa: N801 - the name of the field
    """Average precision, averaged over judgment groups.

    >>> print(AP_avgjg())
    AP_avgjg
    """

    aliases: ClassVar[tuple[str, ...]] = ("map_avgjg",)
    card: ClassVar[Card] = Card(
        sentence="Average precision as each assessor would see it, averaged over the assessors.",
        formula="AP_avgjg@k = (1/J) Σ_j AP_j@k",
        symbols="J: judgment groups of the query; AP_j: average precision by the judgments of group j",
        example="relevant for u: rank 1; for v: ranks 1 and 3 of R = 2: (1/1 + (1/1 + 2/3)/2) / 2",
        needs=_NEEDS,
        peers={"trec_eval map_avgjg": _PEERS},
        sensitive="ties, unjudged documents (not relevant), how many groups judged what",
        use="several assessors or user groups who may disagree; each of them counts the same",
        citation="Buckley, trec_eval 9, 2008",
    )

    @property
    def each(self) -> BinaryMeasure:
        """Average precision."""
        return AP(rel=self.rel, k=self.k)


@dataclass(frozen=True, kw_only=True)
class P_avgjg(GroupMean):  # noqa: N801 - the name of the field
    """Precision, averaged over judgment groups.

    >>> print(P_avgjg(k=10))
    P_avgjg@10
    """

    card: ClassVar[Card] = replace(
        AP_avgjg.card,
        sentence="Of the first k results, how many does an assessor find relevant, on average?",
        formula="P_avgjg@k = (1/J) Σ_j h_jk / k",
        symbols="J: judgment groups of the query; h_jk: relevant for group j at ranks 1 … k",
        example="of the first 5, u finds 2 relevant and v 3: (2/5 + 3/5) / 2 = 1/2",
        peers={"trec_eval P_avgjg_k": _PEERS},
        sensitive="ties at the cutoff; unjudged documents (not relevant); how many groups judged what",
    )

    @property
    def each(self) -> BinaryMeasure:
        """Precision."""
        return P(rel=self.rel, k=self.k)


@dataclass(frozen=True, kw_only=True)
class Rprec_avgjg(GroupMean):  # noqa: N801 - the name of the field
    """R-precision, averaged over judgment groups, each with its own R.

    >>> print(Rprec_avgjg(multiple=0.5))
    Rprec_avgjg(multiple=0.5)
    """

    takes_cutoff: ClassVar[bool] = False
    card: ClassVar[Card] = replace(
        AP_avgjg.card,
        sentence="R-precision as each assessor would see it, averaged over the assessors.",
        formula="Rprec_avgjg = (1/J) Σ_j h_jc / c,  c = ⌊m·R_j + 0.9⌋",
        symbols="J: groups; R_j: relevant for group j; h_jc: relevant for it at ranks 1 … c; m: `multiple`",
        example="u finds rank 1 of R = 1 relevant, v ranks 1 and 4 of R = 2: (1/1 + 1/2) / 2 = 3/4",
        peers={"trec_eval Rprec_mult_avgjg_m": _PEERS},
        sensitive="ties at the cutoffs; unjudged documents; how many groups judged what",
    )

    multiple: float = parameter(1.0, "cut at this multiple of R", above=0.0, high=1e6)

    @property
    def each(self) -> BinaryMeasure:
        """R-precision."""
        return Rprec(rel=self.rel, multiple=self.multiple)
