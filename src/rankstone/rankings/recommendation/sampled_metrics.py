"""Metrics of sampled rankings, corrected: one relevant item ranked among a few sampled ones.

Ranking the relevant item of each user among m sampled items instead of all n is cheap and misleads: the
sampled metric is another metric, which may order two models the other way round (Krichene and Rendle,
KDD 2020).  If j of the n − 1 other items beat the relevant one (its rank is r = j + 1), then of m sampled
ones Bin(m, j/(n − 1)) do.  From this follow the value to expect of the naive metric, and estimators of the
exact one.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import BadOption, BadParameter, BadValue, did_you_mean
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_measures
from rankstone.rankings.recommendation.sampled_ranks import (
    MOST_CONSTRAINED,
    Identified,
    chances,
    solved,
    worth,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from rankstone._basics import Floats, Ints
    from rankstone.evaluation.request import MeasuresLike

METHODS: Final = ("bv", "cls", "rank", "naive")
#: ranks computed at a time
_RANKS: Final = 1 << 14


class SampledScores(Record):
    """Corrected values of sampled rankings.

    Attributes
    ----------
    ranks
        int64 ``[users]``: the relevant item's rank among itself and the sampled ones.
    items, sampled
        The number of items, and of other items that were sampled.
    method
        The method of correction.
    measures
        The measures.
    replacement
        True if items were sampled with replacement.
    users
        int64 ``[ranks]``: the user each rank belongs to; ``None`` where each has its own.
    confidence
        The confidence of the bounds.
    estimates
        Measure → float64 ``[sampled + 1]``: the estimated value of each sampled rank.
    naive_worth
        Measure → the same without correction.
    """

    ranks: Ints
    items: int
    sampled: int
    method: str
    measures: Sequence[Measure]
    replacement: bool
    users: Ints | None
    confidence: float
    estimates: Mapping[str, Floats]
    naive_worth: Mapping[str, Floats]

    @property
    def warnings(self) -> list[str]:
        """Notes on how to read these numbers."""
        other = (
            f"ranked among {counted(self.sampled, 'sampled item')} instead of all {self.items:,}: naive values are "
            "those of another metric and may order models differently."
        )
        bounds = (
            f"lower and upper are bounds of the value among all items ({self.confidence:.0%} "
            f"confidence); value is an estimate (method={self.method}). "
            "Rank all items where you can (Krichene and Rendle, KDD 2020)."
        )
        notes = [other, bounds]
        outside = self.values.filter(
            (pl.col("value") < pl.col("lower")) | (pl.col("value") > pl.col("upper"))
        )
        if outside.height:
            notes.append(
                f"Do not trust an estimate outside its bounds: {', '.join(outside['measure'])}."
            )
        if self.values["lower"].null_count():
            notes.append(
                "No ranks among all items agree with these samples: were items drawn uniformly?"
            )
        return notes

    @property
    def warning(self) -> str:
        """The warnings in one text."""
        return " ".join(self.warnings)

    @cached_property
    def values(self) -> pl.DataFrame:
        """One row per measure.

        ``measure``, ``value`` (the corrected mean), ``lower`` and ``upper`` (the extremes over all ranks
        among all items that agree with these; null where none agree), ``naive``, ``n``.
        """
        known = Identified.of(
            self.ranks - 1,
            self.users,
            self.items,
            self.sampled,
            self.confidence,
            replacement=self.replacement,
        )
        rows = []
        for measure in self.measures:
            name = str(measure)
            n = len(self.ranks)
            value, naive = (
                math.fsum(every[name][self.ranks - 1].tolist()) / n
                for every in (self.estimates, self.naive_worth)
            )
            rows.append(
                (name, value, *(known.bounds(measure) or (None, None)), naive, n)
            )
        numbers = dict.fromkeys(("value", "lower", "upper", "naive"), pl.Float64)
        return pl.DataFrame(
            rows, {"measure": pl.String, **numbers, "n": pl.Int64}, orient="row"
        )

    def to_dict(self) -> dict[str, float]:
        """Return ``{measure: corrected value}``."""
        return {
            name: math.fsum(self.per_user(name).tolist()) / len(self.ranks)
            for name in self.estimates
        }

    def per_user(self, measure: str) -> Floats:
        """Return each user's corrected value, float64 ``[users]``."""
        return self.estimates[measure][self.ranks - 1]

    def __repr__(self) -> str:
        with pl.Config(tbl_hide_dataframe_shape=True, float_precision=4, tbl_rows=-1):
            return f"{self.values}\nwarning  {self.warning}"


def correct_sampled(
    ranks: ArrayLike,
    measures: MeasuresLike,
    *,
    items: int,
    sampled: int,
    method: str = "bv",
    gamma: float = 0.1,
    replacement: bool = True,
    prior: ArrayLike | None = None,
    users: ArrayLike | None = None,
    confidence: float = 0.95,
) -> SampledScores:
    """Bound and estimate exact metrics from ranks among sampled items.

    The bounds are the extremes over all ranks among all items that agree with the samples.  A sample cannot
    distinguish the first ranks of a long list, so they may be far apart however many users there are.  They
    hold for every distribution of ranks; estimates rest on a prior.

    Parameters
    ----------
    ranks
        The rank of each user's one relevant item among itself and the sampled items, 1 … ``sampled`` + 1.
        Users with several relevant items give several ranks.
    measures
        Any measures of one relevant document: ``"nDCG@10 RR R@10 AP"``.
    items
        n: all items each was sampled from, the relevant one included.
    sampled
        m: the number of others sampled for each, uniformly.
    method
        ``bv`` weighs the squared bias against the variance by ``gamma``:
        M̂ = ((1 − γ) AᵀA + γ diag(c))⁻¹ Aᵀb with A = √p(r) P(r̃|r), b = √p(r) M(r), c = Σ p(r) P(r̃|r).
        ``cls`` has the least squared bias among estimators that never rise with the rank nor fall below 0.
        ``rank`` takes M at the rank 1 + ⌊(n − 1)(r̃ − 1)/m⌋.  ``naive`` corrects nothing.
    gamma
        γ of ``bv``, above 0 and up to 1.
    replacement
        True for a sample with replacement (binomial), else hypergeometric.
    prior
        p(r) for r = 1 … n, of the estimates; ``None`` for equal.
    users
        The user of each rank; ``None`` if each user has one.
    confidence
        The probability that all bounds hold, over samples of users and of items.

    Returns
    -------
    SampledScores
        Values with and without correction, bounds, and a warning.

    Examples
    --------
    >>> scores = correct_sampled([1, 1, 2, 5], "R@10 AUC(negatives=candidates)", items=1000, sampled=99)
    >>> scores.values.select("measure", "naive").rows()
    [('R@10', 1.0), ('AUC(negatives=candidates)', 0.9873737373737373)]
    >>> round(scores.to_dict()["R@10"], 4)
    0.5846

    With four users the bounds are wide:

    >>> scores.values.select(pl.col("lower", "upper").round(2)).row(0)
    (0.0, 1.0)

    References
    ----------
    Krichene and Rendle (2020), On sampled metrics for item recommendation; Manski (2003), Partial
    identification of probability distributions; Clopper and Pearson (1934), Korn and Graubard (1998) for
    the sampling error of the bounds.
    """
    parsed = _one_document_measures(measures)
    n, m = _counts(items, sampled, replacement=replacement)
    sampled_rank = _ranks(ranks, m + 1, "sampled rank")
    if method not in METHODS:
        raise BadOption(
            f"method={method!r} is not known",
            expected=", ".join(METHODS),
            fix=did_you_mean(method, METHODS),
        )
    if method == "cls" and m > MOST_CONSTRAINED:
        raise BadOption(
            f"method=cls with {m} sampled items takes too long", fix="method=bv"
        )
    if method == "bv" and not 0 < gamma <= 1:
        raise BadOption(
            f"gamma={gamma!r} is out of range", expected="more than 0, up to 1"
        )
    if not 0 < confidence < 1:
        raise BadOption(
            f"confidence={confidence!r} is out of range", expected="between 0 and 1"
        )
    naive = {
        str(measure): worth(measure, np.arange(1, m + 2), m + 1) for measure in parsed
    }
    if method == "naive":
        estimates = naive
    elif method == "rank":
        exact = 1 + (n - 1) * np.arange(m + 1) // m
        estimates = {str(measure): worth(measure, exact, n) for measure in parsed}
    else:
        chance = _prior(prior, n)
        estimates = solved(parsed, n, m, chance, method, gamma, replacement=replacement)
    return SampledScores(
        sampled_rank,
        n,
        m,
        method,
        parsed,
        replacement,
        _numbered(users, len(sampled_rank)),
        confidence,
        estimates,
        naive,
    )


def expected_sampled(
    ranks: ArrayLike,
    measures: MeasuresLike,
    *,
    items: int,
    sampled: int,
    replacement: bool = True,
) -> dict[str, float]:
    """Return the expected mean of the naive sampled metric, given the exact ranks.

    Parameters
    ----------
    ranks
        The rank of each user's relevant item among all ``items``, 1 … ``items``.
    measures, items, sampled, replacement
        As for :func:`correct_sampled`.

    Examples
    --------
    >>> expected = expected_sampled([10], "R@1 AUC(negatives=candidates)", items=1000, sampled=1)
    >>> {measure: round(value, 9) for measure, value in expected.items()}  # with one sampled item, all are AUC
    {'R@1': 0.990990991, 'AUC(negatives=candidates)': 0.990990991}
    """
    parsed = _one_document_measures(measures)
    n, m = _counts(items, sampled, replacement=replacement)
    rank, times = np.unique(_ranks(ranks, n, "rank"), return_counts=True)
    naive = {
        str(measure): worth(measure, np.arange(1, m + 2), m + 1) for measure in parsed
    }
    sums = dict.fromkeys(naive, 0.0)
    for start in range(0, len(rank), _RANKS):
        part = slice(start, start + _RANKS)
        chance = chances(rank[part], n, m, replacement=replacement)
        for name, values in naive.items():
            sums[name] += float(times[part] @ (chance @ values))
    return {name: value / int(times.sum()) for name, value in sums.items()}


# -- inputs ----------------------------------------------------------------------------------------
def _one_document_measures(measures: MeasuresLike) -> list[Measure]:
    accepted = []
    for measure in parse_measures(measures):
        if (
            not isinstance(measure, Measure)
            or measure.requires
            or measure.judgment_columns
        ):
            raise BadParameter(
                f"{measure} is not a measure of one relevant document's rank"
            )
        accepted.append(measure)
    return accepted


def _counts(items: int, sampled: int, *, replacement: bool) -> tuple[int, int]:
    for name, value in (("items", items), ("sampled", sampled)):
        if isinstance(value, bool) or int(value) != value or value < 1:
            raise BadOption(
                f"{name}={value!r} is not a count", expected="a whole number from 1 up"
            )
    if items < 2:  # noqa: PLR2004 - the relevant item and another
        raise BadOption("items=1 leaves nothing to sample from", expected="2 or more")
    if not replacement and sampled > items - 1:
        raise BadOption(
            f"sampled={sampled} of {counted(items - 1, 'other item')}",
            fix=f"items={sampled + 1}, or more; or replacement=True, where an item may be sampled twice",
        )
    return int(items), int(sampled)


def _ranks(ranks: ArrayLike, most: int, what: str) -> Ints:
    values = np.asarray(ranks)
    if not values.size:
        raise BadValue("there are no ranks")
    whole = values.astype(np.int64)
    bad = (whole != values) | (whole < 1) | (whole > most)
    if bad.any():
        raise BadValue(
            f"{values[bad][0]} is not a {what}", expected=f"whole numbers 1 … {most:,}"
        )
    return whole.ravel()


def _prior(prior: ArrayLike | None, n: int) -> Floats:
    if prior is None:
        return np.full(n, 1.0 / n)
    weights = np.asarray(prior, np.float64)
    if (
        weights.shape != (n,)
        or not np.isfinite(weights).all()
        or (weights < 0).any()
        or not weights.sum() > 0
    ):
        raise BadValue(
            "prior is not a distribution over ranks",
            expected=f"{counted(n, 'number')} of 0 or more",
        )
    likely: Floats = weights / weights.sum()
    return likely


def _numbered(users: ArrayLike | None, ranks: int) -> Ints | None:
    """Return users as numbers from 0."""
    if users is None:
        return None
    ids = np.asarray(users).ravel()
    if len(ids) != ranks:
        raise BadValue(
            f"{counted(len(ids), 'user')} for {counted(ranks, 'rank')}",
            expected="one for each rank",
        )
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)
