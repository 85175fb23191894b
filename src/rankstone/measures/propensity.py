"""Propensity-scored measures: a rare label, less likely to be observed, counts more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.extras.pool_members import PoolMembers
from rankstone.hits.list_arrays import Ideal, descending_within
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.gains_and_discounts import divisors
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.hits.judged_pool import Pool


_NEEDS: Final = (
    "judgments with a column propensity (see rankstone.measures.label_propensity)"
)
_SYMBOLS: Final = "p_i: propensity of the document at rank i; b_i: 1 if it is relevant; ideal: largest 1/p first"


def label_propensity(
    frequency: ArrayLike, instances: int, *, a: float = 0.55, b: float = 1.5
) -> Floats:
    """Return how likely a relevant label is to have been observed, given how often it was in training.

    p = 1 / (1 + C (N_l + b)^(−a)) with C = (ln N − 1) (b + 1)^a.

    Parameters
    ----------
    frequency
        N_l: in how many training instances each label occurs, ``[labels]``.
    instances
        N: training instances; 3 or more.
    a, b
        The constants of the collection: 0.55 and 1.5 unless known, 0.5 and 0.4 for Wikipedia, 0.6 and 2.6
        for Amazon.

    Returns
    -------
    numpy.ndarray
        float64 ``[labels]``, above 0 and below 1.

    Raises
    ------
    BadParameter
        When a frequency is negative or not finite, or there are fewer than 3 instances.

    Notes
    -----
    Jain, Prabhu and Varma, KDD 2016.

    Examples
    --------
    >>> label_propensity([1, 10, 1000], 10_000).round(4).tolist()
    [0.1086, 0.2199, 0.7669]
    """
    count = np.asarray(frequency, np.float64)
    if not (np.isfinite(count) & (count >= 0)).all():
        raise BadParameter(
            "a frequency is negative or not a finite number",
            expected="counts, 0 or more",
        )
    if instances < 3:  # noqa: PLR2004 - below e the logarithm is less than 1 and rare labels would be likely
        raise BadParameter(
            f"{instances} training instances are too few", expected="3 or more"
        )
    if a <= 0 or b <= 0:
        raise BadParameter(
            f"label_propensity(a={a:g}, b={b:g})", expected="a and b above 0"
        )
    c = (math.log(instances) - 1.0) * (b + 1.0) ** a
    return np.asarray(1.0 / (1.0 + c * np.power(count + b, -a)), np.float64)


@dataclass(frozen=True, kw_only=True)
class PropensityScored(BinaryMeasure, family="propensity"):
    """A measure in which the weight of a relevant document is one over its propensity."""

    takes_budget = False
    requires = frozenset({PoolMembers})
    judgment_columns = ("propensity",)
    #: how a weight is divided by rank
    discount: ClassVar[str] = "none"

    agg: str = parameter(
        "pooled",
        "how queries become one number",
        *("pooled", "mean", "sum", "median", "gmean", "trimmed", "weighted"),
    )

    #: of two relevant documents the rarer one counts more, whatever their grades
    claims = Claims(extremal_under_ties=False, promotion_helps=False)

    def relevant_count(self, hits: Hits) -> Ints:
        """Return R, int64 ``[queries]``, without documents of imputed grade, whose propensity is unknown."""
        pool = hits.added(PoolMembers).pool
        relevant = self.threshold(pool.grade)
        return np.bincount(pool.query, relevant, hits.queries).astype(np.int64)

    def divisor(self, rank: Ints) -> Floats:
        """Return what a weight at each rank is divided by."""
        return divisors(self.discount, rank)

    def weighted(self, hits: Hits) -> Floats:
        """Return one over the propensity of every relevant hit, discounted; nothing for unjudged ones."""
        propensity = hits.added(PoolMembers).column("propensity", imputed=1.0)
        worth = np.where(hits.relevant(self.rel) & hits.judged, 1.0 / propensity, 0.0)
        return hits.discounted(worth, self.divisor, self.limit(hits))

    def ideal_sum(self, hits: Hits) -> Floats:
        """Return the largest possible sum; computed once for all runs."""
        pool = hits.added(PoolMembers).pool
        return pool.once((type(self), self.k, self.rel), self._ideal_sum)

    def _ideal_sum(self, pool: Pool) -> Floats:
        worth = np.where(
            self.threshold(pool.grade), 1.0 / pool.columns["propensity"], 0.0
        )
        ideal = Ideal(pool.offsets, descending_within(pool.query, worth))
        shares = ideal.grade / self.divisor(ideal.rank)
        return ideal.total(
            shares if self.k is None else np.where(ideal.rank <= self.k, shares, 0.0)
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Divide the weights of the list by the largest possible sum."""
        return Contributions(self.weighted(hits), self.ideal_sum(hits))


class PSP(PropensityScored):
    """Propensity-scored precision.

    >>> print(PSP(k=5))
    PSP@5
    """

    aliases = ("PSPrec", "PSprecision")
    card = Card(
        sentence="How many of the first k labels are right, when a rare right label counts for many?",
        formula="PSP@k = Σ_{i ≤ k} b_i / p_i  /  the same sum over the ideal order; pooled over instances",
        symbols=_SYMBOLS,
        example="relevant labels with p = .2 and .5, the second one found first: PSP@1 = 2 / 5",
        needs=_NEEDS,
        peers={
            "pyxclib psprecision, XML repository": "the same: Σ over instances / Σ of the best; "
            "the mean of the ratios is PSP(agg=mean)@k"
        },
        sensitive="ties at the cutoff; the propensity model, whose constants differ between collections",
        use="extreme classification, recommendation with missing positives; together with P@k",
        citation="Jain, Prabhu and Varma, KDD 2016",
    )


class PSnDCG(PropensityScored):
    """Propensity-scored nDCG.

    >>> print(PSnDCG(k=5))
    PSnDCG@5
    """

    aliases = ("PSN", "PSNDCG")
    discount = "log2"
    card = Card(
        sentence="Are the right labels first, when a rare right label counts for many?",
        formula="PSnDCG@k = Σ_{i ≤ k} (b_i / p_i) / log2(i + 1) / Z  /  the same over the ideal order, "
        "Z = Σ_{i ≤ min(k, R)} 1 / log2(i + 1); pooled over instances",
        symbols=f"{_SYMBOLS}; R: relevant labels; Z cancels for one instance, and weighs it when pooled",
        example="relevant labels with p = .2 and .5, the second one first, then the first: "
        "(2 + 5/log2 3) / (5 + 2/log2 3) = 0.8232",
        needs=_NEEDS,
        peers={
            "pyxclib psndcg, XML repository": "the same: Σ over instances / Σ of the best; "
            "the mean of the ratios is PSnDCG(agg=mean)@k"
        },
        sensitive="ties; the propensity model, whose constants differ between collections",
        use="as PSP, where order matters",
        citation="Jain, Prabhu and Varma, KDD 2016",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Divide by the DCG of as many relevant labels without propensities, then by the ideal sum."""
        parts = super().contributions(hits)
        relevant = self.relevant_count(hits)
        depth = relevant if self.k is None else np.minimum(relevant, self.k)
        ranks = np.arange(1, int(depth.max(initial=0)) + 1)
        plain = np.concatenate(([1.0], np.cumsum(1.0 / self.divisor(ranks))))[depth]
        return Contributions(parts.hits / hits.spread(plain), parts.norm / plain)
