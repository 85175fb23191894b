"""Means of systems over data sets: how cells are counted, what stands for missing ones, and their errors.

Every estimate is a weighted mean over data sets of something: of the score, of its logarithm, of the rank of
a system within the data set.  So one piece of algebra gives the errors of all of them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.comparison.score_matrix import ROUNDING
from rankstone.stats.anova_and_friedman import ranks
from rankstone.stats.rank_intervals import (
    MeanErrors,
    errors_of_differences,
    moderated_variances,
)

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
#: estimates that only know the order within a data set
RANKED: Final = ("mean_rank", "borda", "win_rate")


class AdditiveFit(Record):
    """The two-way model ``number = system + data set + residual``, fitted by least squares.

    Attributes
    ----------
    predicted
        float64 ``[datasets, systems]``: what the model says of every cell.
    residual
        float64 ``[datasets, systems]``; 0 where there is no number.
    spread
        float64 ``[datasets, datasets]``: covariance of the effects of data sets, over the residual variance.
    counts
        float64 ``[systems]``: numbers of each system.
    df
        Degrees of freedom of the residuals, 0 or more.
    effects
        float64 ``[datasets]``, with a mean of 0.
    """

    predicted: Floats
    residual: Floats
    spread: Floats
    counts: Floats
    df: float
    effects: Floats

    @classmethod
    def of(cls, values: Floats) -> AdditiveFit:
        """Fit a table with NaN for missing cells; every system and every data set has a number."""
        has = ~np.isnan(values)
        filled, seen = np.where(has, values, 0.0), has.astype(np.float64)
        counts = seen.sum(axis=0)
        own = filled.sum(axis=0) / counts
        normal = np.diag(seen.sum(axis=1)) - (seen / counts) @ seen.T
        spread = np.linalg.pinv(normal, hermitian=True)
        effects = spread @ (filled - seen * own).sum(axis=1)
        predicted = own - effects @ seen / counts + effects[:, None]
        df = max(
            seen.sum() - len(counts) - np.linalg.matrix_rank(normal, hermitian=True),
            0.0,
        )
        residual = np.where(has, values - predicted, 0.0)
        residual[np.abs(residual) <= ROUNDING * np.abs(filled).max(initial=0.0)] = 0.0
        return cls(predicted, residual, spread, counts, float(df), effects)

    @cached_property
    def pooled(self) -> float:
        """The residual variance of all systems; 0 without degrees of freedom."""
        return float((self.residual**2).sum()) / self.df if self.df else 0.0

    @cached_property
    def between(self) -> float:
        """The variance of data sets, less what the residuals add to it."""
        if len(self.effects) < 2:  # noqa: PLR2004 - one data set has no spread
            return 0.0
        noise = self.pooled * float(np.trace(self.spread)) / len(self.effects)
        return max(float(self.effects.var(ddof=1)) - noise, 0.0)

    @cached_property
    def independent(self) -> float:
        """The share of the degrees of freedom that is left since systems behave alike.

        The pooled variance of K systems with the covariance Σ is known as well as from (tr Σ)² / tr Σ²
        independent ones (Satterthwaite, Biometrics Bulletin 2, 1946); tr Σ² is estimated without bias
        (Srivastava, Journal of the Japan Statistical Society 35, 2005).
        """
        others = self.residual.shape[1] - 1
        df = self.df / others if others else 0.0
        if df <= 1:
            return 1.0
        total = float((self.residual**2).sum()) / df
        square = float(((self.residual @ self.residual.T) ** 2).sum()) / df**2
        square = (square - total**2 / df) * df**2 / ((df - 1) * (df + 2))
        return (
            float(np.clip(total**2 / (others * square), 1 / others, 1.0))
            if square > 0
            else 1.0
        )

    def variances(self) -> tuple[Floats, Floats]:
        """Return the moderated residual variance of each system, and degrees of freedom.

        The effects of data sets take from the residuals of all systems alike: each is a little more like the
        others than its own variance is, which errs on the safe side.
        """
        degrees = self.counts - 1
        grown = degrees.sum() / self.df if self.df else 1.0
        squares = np.divide(
            (self.residual**2).sum(axis=0) * grown,
            degrees,
            where=degrees > 0,
            out=np.zeros(len(degrees)),
        )
        variance, df = moderated_variances(squares, degrees)
        return variance, df if len(df) > 1 else np.array(
            [max(self.df * self.independent, 1.0)]
        )


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
    """

    estimate: str
    missing: str
    weights: Floats
    sign: int = 1

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
        logs = self.estimate == "geometric_mean"
        better = self.sign * (np.log(values) if logs else values)
        has = ~np.isnan(better)
        if not has.all() and self.missing == "model":
            better = np.where(has, better, AdditiveFit.of(better).predicted)
        elif not has.all() and self.missing == "worst":
            better = np.where(has, better, np.nanmin(better, axis=1, keepdims=True))
        return self._ranked(better) if self.estimate in RANKED else better

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
        found = np.full(better.shape, np.nan)
        for row, out in zip(better, found, strict=True):
            has = ~np.isnan(row)
            below = ranks(row[None, has])[0] - 1
            if self.estimate == "mean_rank":
                out[has] = below - has.sum()
            elif (
                self.estimate == "borda"
            ):  # as many points as others are not above; none where missing
                out[has], out[~has] = below + (~has).sum(), 0.0
            else:
                out[has] = below / max(has.sum() - 1, 1)
        return found

    def means(self, parts: Floats) -> Floats:
        """Return the number of each system, higher is better, float64 ``[systems]``."""
        has = ~np.isnan(parts)
        found: Floats = self.weights @ np.where(has, parts, 0.0) / (self.weights @ has)
        return found

    def shown(self, means: Floats) -> Floats:
        """Return means as people know them: the lowest mean rank is the best, points are summed."""
        if self.estimate == "mean_rank":
            return -means
        if self.estimate in RANKED:
            return means * len(self.weights) if self.estimate == "borda" else means
        signed: Floats = self.sign * means
        return np.exp(signed) if self.estimate == "geometric_mean" else signed

    def estimated(self, values: Floats) -> Estimated:
        """Return the number of each system, and what its error depends on.

        Parameters
        ----------
        values
            float64 ``[datasets, systems]``, NaN where a score is missing.
        """
        parts = self.parts(values)
        present = ~np.isnan(parts) & ~(np.isnan(values) & (self.missing == "model"))
        share = (self.weights / self.weights.sum())[:, None] * np.ones(parts.shape)
        fit = AdditiveFit.of(np.where(present, parts, np.nan))
        if self.missing == "model":
            # a predicted cell rests on the system's own cells, and on the effects of data sets
            lost = (share * ~present).sum(axis=0) / fit.counts
            own, moved = (
                np.where(present, share + lost, 0.0),
                np.where(present, -lost, share),
            )
        else:
            own = moved = np.where(present, share, 0.0) / (share * present).sum(axis=0)
        return Estimated(self, parts, self.means(parts), present, fit, own, moved)


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
    own, moved
        float64 ``[datasets, systems]``: weights of residuals, and of the effects of data sets, in the error
        of a mean.
    """

    rule: ScoringRule
    parts: Floats
    means: Floats
    present: Bools
    fit: AdditiveFit
    own: Floats
    moved: Floats

    def errors(self, seed: int = 0) -> MeanErrors:
        """Return the errors of means if data sets are a sample of those that the board is about."""
        variance, df = self.fit.variances()
        own, sources = (
            variance * (self.own**2).sum(axis=0),
            np.zeros((self.parts.shape[1], 0)),
        )
        if not self.present.all():
            if self.rule.missing == "model":
                values, vectors = np.linalg.eigh(self.fit.pooled * self.fit.spread)
                sources = self.moved.T @ (vectors * np.sqrt(np.maximum(values, 0.0)))
            else:  # means over different data sets also differ by what these are like
                sources = self.moved.T * np.sqrt(self.fit.between)
        return MeanErrors(own, df, sources, seed)

    def influence(self) -> Floats:
        """Return how a mean moves if a data set counts once more, float64 ``[datasets, systems]``."""
        if self.rule.missing == "model":
            return self.own * self.fit.residual
        return self.own * np.where(self.present, self.parts - self.means, 0.0)

    def paired_errors(self) -> Floats:
        """Return the standard error of each difference by the paired t-test, float64 ``[systems, systems]``.

        A pair's own variance counts, so systems that behave alike have small errors.  It has n - 1 degrees of
        freedom, which is too few for claims about all pairs.
        """
        deviation = self.influence()
        square = deviation.T @ deviation * (len(deviation) / max(len(deviation) - 1, 1))
        return errors_of_differences(square)
