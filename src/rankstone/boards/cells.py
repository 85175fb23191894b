"""Means of systems over data sets: how cells are counted, what stands for missing ones, and their errors.

Every estimate is a weighted mean over data sets of something: of the score, of its logarithm, of the rank of
a system within the data set.  So one piece of algebra gives the errors of all of them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.boards.additive_fit import AdditiveFit
from rankstone.boards.prediction_scale import PredictionScale
from rankstone.comparison.score_matrix import ROUNDING
from rankstone.stats.friedman_and_nemenyi import ranks
from rankstone.stats.rank_intervals import MeanErrors, errors_of_differences

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats


#: estimate → what it is
ESTIMATES: Final = {
    "macro": "mean over data sets, all of which count the same",
    "micro": "mean over queries: a data set counts as many times as it has queries",
    "weighted": "mean over data sets by their weights",
    "mean_rank": "mean of the ranks within data sets, the lower the better",
    "borda": "points for every system ranked below, summed over data sets",
    "win_rate": "share of the other systems that are outperformed, mean over data sets; ties count half",
    "geometric_mean": "geometric mean over data sets",
}
#: rule → what stands for a missing score
MISSING: Final = {
    "error": "missing scores are refused",
    "skip": "missing scores are left out of the mean",
    "worst": "the lowest score of the data set stands for a missing one",
    "model": "an additive model of systems and data sets predicts missing scores",
}
#: the least share of the variance of predicted means that is between systems
_RELIABLE: Final = 0.5
#: how many times larger the error of a mean is of which nothing is known
_UNKNOWN: Final = 1000.0
#: estimates that only know the order within a data set
RANKED: Final = ("mean_rank", "borda", "win_rate")


class ScoringRule(Record):
    """How the scores of a system become one number.

    Attributes
    ----------
    estimate
        One of :data:`ESTIMATES`.
    missing
        One of :data:`MISSING`.
    weights
        float64 ``[datasets]``.
    sign
        -1 if lower scores are better.
    scale
        The scale on which missing scores are predicted; those of a geometric mean are on that of logarithms.
    """

    estimate: str
    missing: str
    weights: Floats
    sign: int = 1
    scale: PredictionScale = PredictionScale()

    @property
    def uses_scale(self) -> bool:
        """Whether the mean is one of scores, not of their ranks or logarithms."""
        return self.estimate not in (*RANKED, "geometric_mean")

    def without(self, dataset: int) -> ScoringRule:
        """Return the rule for all data sets but one."""
        return replace(self, weights=np.delete(self.weights, dataset))

    def parts(self, values: Floats) -> Floats:
        """Return what each data set gives to the mean, higher is better; NaN where it gives nothing.

        Parameters
        ----------
        values
            float64 ``[datasets, systems]``, NaN where a score is missing.
        """
        scale = self.scale
        if self.estimate == "geometric_mean":
            values = np.log(values)
            scale = PredictionScale()
        better = self.sign * values
        has = ~np.isnan(better)
        if not has.all() and self.missing == "model":
            predicted = scale.predicted(values)
            better = np.where(has, better, self.sign * predicted)
        elif not has.all() and self.missing == "worst":
            worst = np.nanmin(better, axis=1, keepdims=True)
            better = np.where(has, better, worst)
        if self.estimate in RANKED:
            return self._ranked(better)
        return better

    def _ranked(self, better: Floats) -> Floats:
        """Return ranks, points or shares of wins within data sets; higher is better."""
        if not np.isnan(better).any():
            below: Floats = ranks(better) - 1
            others = max(better.shape[1] - 1, 1)
            if self.estimate == "mean_rank":
                below -= others + 1
            elif self.estimate == "win_rate":
                below /= others
            return below
        points = np.full(better.shape, np.nan)
        for row, out in zip(better, points, strict=True):
            has = ~np.isnan(row)
            below = ranks(row[None, has])[0] - 1
            if self.estimate == "mean_rank":
                out[has] = below - has.sum()
            elif (
                self.estimate == "borda"
            ):  # as many points as others are not above; none where missing
                out[has] = below + (~has).sum()
                out[~has] = 0.0
            else:
                out[has] = below / max(has.sum() - 1, 1)
        return points

    def means(self, parts: Floats) -> Floats:
        """Return the number of each system, higher is better, float64 ``[systems]``."""
        has = ~np.isnan(parts)
        total: Floats = self.weights @ np.where(has, parts, 0.0)
        return total / (self.weights @ has)

    def shown(self, means: Floats) -> Floats:
        """Return means as people know them: the lowest mean rank is the best, points are summed."""
        if self.estimate == "mean_rank":
            return -means
        if self.estimate == "borda":
            return means * len(self.weights)
        if self.estimate in RANKED:
            return means
        signed: Floats = self.sign * means
        if self.estimate == "geometric_mean":
            return np.exp(signed)
        return signed

    def estimated(self, values: Floats) -> Estimated:
        """Return the number of each system, and what its error depends on.

        Parameters
        ----------
        values
            float64 ``[datasets, systems]``, NaN where a score is missing.
        """
        parts = self.parts(values)
        present = ~np.isnan(parts)
        if self.missing == "model":
            present &= ~np.isnan(values)
        weights = self.weights / self.weights.sum()
        share = weights[:, None] * np.ones(parts.shape)
        fit = linked = AdditiveFit.of(np.where(present, parts, np.nan))
        if self.missing == "model":
            # a predicted cell rests on the system's own cells, and on the effects of data sets
            moving = share
            if self.uses_scale and self.scale.name != "additive":
                linked = AdditiveFit.of(self.scale.link(values))
                slope = self.scale.slope(linked.predicted)
                # where few scores place a system, others are the better guide to the slope
                typical = slope.mean(axis=1, keepdims=True)
                moving = share * np.where(present, slope, np.maximum(slope, typical))
            lost = (moving * ~present).sum(axis=0) / fit.counts
            own = np.where(present, moving + lost, 0.0)
            moved = np.where(present, -lost, moving)
        else:
            share *= present
            own = moved = share / share.sum(axis=0)
        return Estimated(
            self, parts, self.means(parts), present, fit, linked, own, moved
        )


class Estimated(Record):
    """The numbers of systems, and what their errors depend on.

    Attributes
    ----------
    rule
        How they were computed.
    parts
        float64 ``[datasets, systems]``: what each data set gives, NaN where it gives nothing.
    means
        float64 ``[systems]``, higher is better.
    present
        bool ``[datasets, systems]``: True for parts that are neither missing nor predicted.
    fit
        The additive model of these parts.
    linked
        The same on the scale of predictions.
    own, moved
        float64 ``[datasets, systems]``: weights of residuals, and of the effects of data sets, in the error
        of a mean.
    """

    rule: ScoringRule
    parts: Floats
    means: Floats
    present: Bools
    fit: AdditiveFit
    linked: AdditiveFit
    own: Floats
    moved: Floats

    @cached_property
    def cells_needed(self) -> int:
        """How many scores a system needs for a predicted mean: with fewer, errors are too much of it.

        Two in any case, since one does not show how much a system varies.
        """
        if self.rule.missing != "model" or self.present.all():
            return 0
        covariance = self.model_errors().covariance
        error = float(np.median(np.diag(covariance)))
        between = float(self.means.var(ddof=1)) - error
        noise = self.fit.pooled
        if self.rule.uses_scale and not math.isnan(self.rule.scale.error):
            noise = self.rule.scale.error**2
        noise *= _RELIABLE / (1 - _RELIABLE)
        most = int(self.fit.counts.max())
        if noise >= most * between:
            return most
        return min(max(math.ceil(noise / between), 2), most)

    @cached_property
    def supported(self) -> Bools:
        """True for systems with enough scores for a mean, bool ``[systems]``."""
        return self.fit.counts >= self.cells_needed

    def errors(self, seed: int = 0) -> MeanErrors:
        """Return the errors of means if data sets are a sample of those that the board is about.

        Of systems with too few scores nothing is known: their errors are without measure.
        """
        errors = self.model_errors(seed)
        return replace(errors, own=errors.own * self.unknown**2)

    @property
    def unknown(self) -> Floats:
        """How many times larger errors are taken: that of systems with too few scores, float64 ``[systems]``."""
        return np.where(self.supported, 1.0, _UNKNOWN)

    def model_errors(self, seed: int = 0) -> MeanErrors:
        """Return the errors of means, however few scores a system has."""
        variance, df = self.linked.variances()
        own = variance * (self.own**2).sum(axis=0)
        if self.linked is not self.fit:  # a system with all scores needs no scale
            complete = self.present.all(axis=0)
            share = self.rule.weights / self.rule.weights.sum()
            variance, all_df = self.fit.variances()
            own = np.where(complete, variance * (share**2).sum(), own)
            df = np.where(complete, all_df, df)
        sources = np.zeros((len(own), 0))
        if not self.present.all():
            if self.rule.missing == "model":
                spread = self.linked.pooled * self.linked.spread
                values, vectors = np.linalg.eigh(spread)
                roots = np.sqrt(np.maximum(values, 0.0))
                sources = self.moved.T @ (vectors * roots)
            else:  # means over different data sets also differ by what these are like
                sources = self.moved.T * np.sqrt(self.fit.between)
        return MeanErrors(own, df, sources, seed, *self._paired())

    def _paired(self) -> tuple[Floats | None, float]:
        """Return the standard errors of differences by the paired t-test, and its degrees of freedom.

        Those of systems without all scores are not known, nor are those of systems that differ by the same
        everywhere.
        """
        n, items = self.parts.shape
        complete = self.present.all(axis=0)
        if n < 2 or items < 3:  # noqa: PLR2004 - two systems are a pair in any case
            return None, 0.0
        share = self.rule.weights / self.rule.weights.sum()
        residual = np.where(complete, self.fit.residual, np.nan)
        moved = share[:, None] * residual
        square = moved.T @ moved * (n / (n - 1))
        error = errors_of_differences(square)
        known = error**2 > ROUNDING * np.diag(square)
        return np.where(known, error, np.inf), n - 1.0
