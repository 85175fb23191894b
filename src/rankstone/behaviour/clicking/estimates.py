"""Grades of pairs, and how sure they are.

Clicks over impressions, and their mean where they are fractions; the mean of clicks weighted by the inverse
of the chance that somebody looked there (Joachims, Swaminathan and Schnabel, WSDM 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Self

import numpy as np

from rankstone.stats import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankstone.behaviour.clicking.asked import Asked
    from rankstone.behaviour.clicking.cells import Cells

    Floats = NDArray[np.float64]

__all__ = ["Estimates", "Weighing", "ever_clicked", "mean", "share", "weighted"]


@dataclass(frozen=True, eq=False)
class Estimates:
    """What is known of each pair; NaN where nobody can know.

    Attributes
    ----------
    impressions, clicks
        How often it was shown, and with more than 0.
    value
        The estimate.
    effective
        How many impressions that were looked at it is worth.
    error
        Standard error.
    low, high
        Interval.
    """

    impressions: Floats
    clicks: Floats
    value: Floats
    effective: Floats
    error: Floats
    low: Floats
    high: Floats

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Put estimates one behind the other."""
        names = cls.__dataclass_fields__
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass
class Weighing:
    """What weights did to impressions.

    Attributes
    ----------
    impressions, clicks
        How many of them had a propensity below the clip.
    weights, squares
        Sums over impressions.
    click_weights, click_squares
        The same over clicks.
    """

    impressions: int = 0
    clicks: int = 0
    weights: float = 0.0
    squares: float = 0.0
    click_weights: float = 0.0
    click_squares: float = 0.0


def _counts(cells: Cells) -> tuple[Floats, Floats]:
    return cells.total(cells.count), cells.total(cells.count * (cells.value > 0))


def ever_clicked(cells: Cells) -> Estimates:
    """Return 1 where a pair was ever clicked, 0 elsewhere: a fact, with no error."""
    impressions, clicks = _counts(cells)
    none = np.full(len(clicks), np.nan)
    return Estimates(impressions, clicks, (clicks > 0).astype(np.float64), impressions, none, none, none)


def mean(cells: Cells, asked: Asked) -> Estimates:
    """Return the mean value of a pair, with Wilson's interval.

    The variance of values from 0 to 1 is at most that of clicks with the same mean, so for fractions the
    interval is too wide rather than too narrow.
    """
    impressions, clicks = _counts(cells)
    raw, error = _mean(cells, cells.value, impressions)
    return share(impressions, clicks, raw, impressions, error, asked)


def share(
    impressions: Floats, clicks: Floats, raw: Floats, effective: Floats, error: Floats, asked: Asked
) -> Estimates:
    """Return shares with the prior's impressions added, and Wilson's interval.

    Parameters
    ----------
    impressions, clicks
        Counts.
    raw, error
        The shares, and their standard errors.
    effective
        How many impressions they are shares of.
    asked
        The prior and the confidence.
    """
    value, size, error = _with_prior(raw, effective, error, asked)
    low, high = wilson(value * size, size, asked.confidence)
    return Estimates(impressions, clicks, value, effective, error, low, high)


def weighted(cells: Cells, propensity: Floats, asked: Asked, weighing: Weighing) -> Estimates:
    """Return the mean of clicks over propensities; it may exceed 1.

    Parameters
    ----------
    cells
        What was counted.
    propensity
        The chance that somebody looked, of each cell.
    asked
        How low a propensity may be, and the prior.
    weighing
        What is added to.
    """
    impressions, clicks = _counts(cells)
    floor = asked.clip or 0.0
    weight = 1 / np.maximum(propensity, floor)
    low_ones, clicked = cells.count * (propensity < floor), cells.value > 0
    weighing.impressions += int(low_ones.sum())
    weighing.clicks += int(low_ones[clicked].sum())
    sums, squares = cells.total(cells.count * weight), cells.total(cells.count * weight**2)
    weighing.weights, weighing.squares = weighing.weights + sums.sum(), weighing.squares + squares.sum()
    weighing.click_weights += (cells.count * weight)[clicked].sum()
    weighing.click_squares += (cells.count * weight**2)[clicked].sum()
    raw, spread = _mean(cells, cells.value * weight, impressions)
    effective = sums**2 / squares
    value, _, error = _with_prior(raw, effective, np.where(spread > 0, spread, np.nan), asked)
    reach = NormalDist().inv_cdf((1 + asked.confidence) / 2) * error
    return Estimates(
        impressions, clicks, value, effective, error, np.maximum(value - reach, 0), value + reach
    )


def _mean(cells: Cells, each: Floats, impressions: Floats) -> tuple[Floats, Floats]:
    """Return means over the impressions of each pair, and their standard errors."""
    value = cells.total(cells.count * each) / impressions
    squares = cells.total(cells.count * (each - value[cells.pair]) ** 2)
    return value, np.sqrt(squares) / impressions


def _with_prior(raw: Floats, effective: Floats, error: Floats, asked: Asked) -> tuple[Floats, Floats, Floats]:
    """Return estimates, sizes and errors with the prior's clicks and impressions added."""
    clicked, unclicked = asked.smoothing
    size = effective + clicked + unclicked
    with np.errstate(divide="ignore", invalid="ignore"):
        return (raw * effective + clicked) / size, size, error * (effective / size)
