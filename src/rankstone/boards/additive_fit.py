"""The additive model of systems and data sets: what it predicts, its residuals and their variances."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record
from rankstone.comparison.score_matrix import ROUNDING
from rankstone.stats.rank_intervals import moderated_variances

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats


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
        filled = np.where(has, values, 0.0)
        seen = has.astype(np.float64)
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
        rounding = ROUNDING * np.abs(filled).max(initial=0.0)
        residual[np.abs(residual) <= rounding] = 0.0
        return cls(predicted, residual, spread, counts, float(df), effects)

    def leverage(self, has: Bools) -> Floats:
        """Return how much of each number is in its own prediction, float64 ``[datasets, systems]``.

        Parameters
        ----------
        has
            bool ``[datasets, systems]``: where there is a number.
        """
        others = self.spread @ has
        variance: Floats = np.diag(self.spread)[:, None] - 2 * others / self.counts
        variance += (has * others).sum(axis=0) / self.counts**2
        return 1 / self.counts + variance

    @cached_property
    def pooled(self) -> float:
        """The residual variance of all systems; 0 without degrees of freedom."""
        if not self.df:
            return 0.0
        return float((self.residual**2).sum()) / self.df

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
        if self.df <= others:
            return 1.0
        df = self.df / others
        total = float((self.residual**2).sum()) / df
        products = self.residual @ self.residual.T
        square = float((products**2).sum()) / df**2
        square = (square - total**2 / df) * df**2 / ((df - 1) * (df + 2))
        if square <= 0:
            return 1.0
        return float(np.clip(total**2 / (others * square), 1 / others, 1.0))

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
        if len(df) == 1:
            df = np.array([max(self.df * self.independent, 1.0)])
        return variance, df
