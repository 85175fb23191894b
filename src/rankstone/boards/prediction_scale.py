"""On which scale systems and data sets add up, so that missing scores can be predicted.

Good systems lose little on hard data sets where measures have a ceiling, and weak ones little where they have
a floor.  Which scale is right is asked of the scores that are there: each is predicted from all the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.boards.additive_fit import AdditiveFit

if TYPE_CHECKING:
    from rankstone._basics import Floats


#: names, the plainest first
SCALES: Final = ("additive", "logit", "multiplicative", "complementary")
#: shares of the range that stand for none and for all, which have no logarithm
_LEAST: Final = 0.005
#: a score that its own system and data set determine cannot be predicted from others
_DETERMINED: Final = 1 - 1e-6


class PredictionScale(Record):
    """A scale on which effects of systems and data sets add up.

    Attributes
    ----------
    name
        One of :data:`SCALES`; on ``complementary`` what is missing to the highest score multiplies.
    low, high
        The range of scores; infinite where it is not known.
    error
        The root mean square error of scores that are predicted from all others; NaN if none can be.
    """

    name: str = "additive"
    low: float = -np.inf
    high: float = np.inf
    error: float = np.nan

    @classmethod
    def chosen(
        cls, values: Floats, span: tuple[float | None, float | None]
    ) -> PredictionScale:
        """Return the scale with the smallest error among those that the range of scores allows.

        Parameters
        ----------
        values
            float64 ``[datasets, systems]``, NaN where a score is missing.
        span
            The range of the measure; scores between 0 and 1 of an unknown one have that range, and scores
        beyond their range have none.
        """
        if span == (None, None):
            span = 0.0, 1.0
        low = -np.inf if span[0] is None else span[0]
        high = np.inf if span[1] is None else span[1]
        least = np.nanmin(values)
        most = np.nanmax(values)
        if least < low or most > high:
            low = -np.inf
            high = np.inf
        names = SCALES if np.isfinite(high - low) else SCALES[:1]
        scales = [cls(name, low, high) for name in names]
        errors = [scale.cross_validated(values) for scale in scales]
        if np.isnan(errors).all():
            return scales[0]
        best = int(np.nanargmin(errors))
        return replace(scales[best], error=errors[best])

    def predicted(self, values: Floats) -> Floats:
        """Return what systems and data sets say of every cell, inside the range."""
        fit = AdditiveFit.of(self.link(values))
        return self.back(fit.predicted)

    def cross_validated(self, values: Floats) -> float:
        """Return the root mean square error of scores that are predicted from all others."""
        linked = self.link(values)
        fit = AdditiveFit.of(linked)
        leverage = fit.leverage(~np.isnan(values))
        can = ~np.isnan(values) & (leverage < _DETERMINED)
        if not can.any():
            return np.nan
        others = linked[can] - fit.residual[can] / (1 - leverage[can])
        misses = values[can] - self.back(others)
        return float(np.sqrt(np.mean(misses**2)))

    def link(self, values: Floats) -> Floats:
        """Return scores on the scale."""
        if self.name == "additive":
            return values
        width = self.high - self.low
        share = (values - self.low) / width
        share = np.clip(share, _LEAST, 1 - _LEAST)
        logs: Floats = np.zeros_like(share)
        if self.name != "complementary":
            logs += np.log(share)
        if self.name != "multiplicative":
            logs -= np.log1p(-share)
        return logs

    def back(self, linked: Floats) -> Floats:
        """Return the scores of numbers on the scale, inside the range."""
        if self.name == "additive":
            return np.clip(linked, self.low, self.high)
        if self.name == "logit":
            share = 1 / (1 + np.exp(-linked))
        elif self.name == "multiplicative":
            share = np.minimum(np.exp(linked), 1.0)
        else:
            share = np.maximum(-np.expm1(-linked), 0.0)
        return self.low + (self.high - self.low) * share

    def slope(self, linked: Floats) -> Floats:
        """Return by how much scores move with numbers on the scale."""
        if self.name == "additive":
            return np.ones_like(linked)
        width = self.high - self.low
        share = (self.back(linked) - self.low) / width
        slope = np.full_like(linked, width)
        if self.name != "complementary":
            slope *= share
        if self.name != "multiplicative":
            slope *= 1 - share
        return slope
