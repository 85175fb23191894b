"""Means over judgment groups, such as the judgments of each assessor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.extras.pool_members import PoolMembers
from rankstone.hits.grouped_judgments import by_group
from rankstone.measures.average_precision import AP
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.relevance import BinaryMeasure
from rankstone.measures.intent_aware import IntentAware
from rankstone.measures.precision import P, Rprec

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits


_NEEDS = "judgments with a column `subtopic` (in TREC qrels the second one) that names the judgment group"
_PEERS = "the same for -R qrels_jg; there a group whose judgments are all below zero counts, as 0"


@dataclass(frozen=True, kw_only=True)
class GroupMean(IntentAware, BinaryMeasure, family="judgment groups"):
    """The mean of another measure over the judgment groups of a query."""

    def relevant_count(self, hits: Hits) -> Ints:
        """Return how many documents are relevant to some group; imputed grades do not count."""
        pool = hits.added(PoolMembers).pool
        return np.bincount(
            pool.query[self.threshold(pool.grade)], minlength=hits.queries
        )

    def intents(self, hits: Hits) -> Floats:
        """Return the weight of each group, 1."""
        return np.ones(len(by_group(hits).weight))


class AP_avgjg(GroupMean):  # noqa: N801 - the name of the field
    """Average precision, averaged over judgment groups.

    >>> print(AP_avgjg())
    AP_avgjg
    """

    aliases = ("map_avgjg",)
    card = Card(
        sentence="Average precision by the judgments of each assessor, averaged over the assessors.",
        formula="AP_avgjg@k = (1/J) Σ_j AP_j@k",
        symbols="J: judgment groups of the query; AP_j: average precision by the judgments of group j",
        example="relevant for u: rank 1; for v: ranks 1 and 3 of R = 2: (1/1 + (1/1 + 2/3)/2) / 2",
        needs=_NEEDS,
        peers={"trec_eval map_avgjg": _PEERS},
        sensitive="ties, unjudged documents (not relevant), how many groups judged what",
        use="several assessors or user groups who may disagree; all of them have the same weight",
        citation="Buckley, trec_eval 9, 2008",
    )

    @property
    def intent_measure(self) -> BinaryMeasure:
        """Average precision."""
        return AP(rel=self.rel, k=self.k)


class P_avgjg(GroupMean):  # noqa: N801 - the name of the field
    """Precision, averaged over judgment groups.

    >>> print(P_avgjg(k=10))
    P_avgjg@10
    """

    card = replace(
        AP_avgjg.card,
        sentence="Of the first k results, how many does an assessor find relevant, on average?",
        formula="P_avgjg@k = (1/J) Σ_j h_jk / k",
        symbols="J: judgment groups of the query; h_jk: relevant for group j at ranks 1 … k",
        example="of the first 5, u finds 2 relevant and v 3: (2/5 + 3/5) / 2 = 1/2",
        peers={"trec_eval P_avgjg_k": _PEERS},
        sensitive="ties at the cutoff; unjudged documents (not relevant); how many groups judged what",
    )

    @property
    def intent_measure(self) -> BinaryMeasure:
        """Precision."""
        return P(rel=self.rel, k=self.k)


@dataclass(frozen=True, kw_only=True)
class Rprec_avgjg(GroupMean):  # noqa: N801 - the name of the field
    """R-precision, averaged over judgment groups, each with its own R.

    >>> print(Rprec_avgjg(multiple=0.5))
    Rprec_avgjg(multiple=0.5)
    """

    takes_cutoff = False
    card = replace(
        AP_avgjg.card,
        sentence="R-precision by the judgments of each assessor, averaged over the assessors.",
        formula="Rprec_avgjg = (1/J) Σ_j h_jc / c,  c = ⌊m·R_j + 0.9⌋",
        symbols="J: groups; R_j: relevant for group j; h_jc: relevant for it at ranks 1 … c; m: `multiple`",
        example="u finds rank 1 of R = 1 relevant, v ranks 1 and 4 of R = 2: (1/1 + 1/2) / 2 = 3/4",
        peers={"trec_eval Rprec_mult_avgjg_m": _PEERS},
        sensitive="ties at the cutoffs; unjudged documents; how many groups judged what",
    )

    multiple: float = parameter(1.0, "cut at this multiple of R", above=0.0, high=1e6)

    @property
    def intent_measure(self) -> BinaryMeasure:
        """R-precision."""
        return Rprec(rel=self.rel, multiple=self.multiple)
