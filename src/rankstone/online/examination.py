"""Examination probabilities of positions, estimated from documents shown at several positions.

The expected clicks of a document at a position are its impressions there times the examination probability of
the position times its relevance.  Given its total clicks, the share of each position does not depend on the
relevance: it is ``impressions · examination`` over their sum.  The likelihood of these shares is that of
counts with a fixed effect for every document (Hausman, Hall and Griliches, Econometrica 52, 1984); it is
consistent for any distribution of clicks (Wooldridge, Journal of Econometrics 90, 1999) and for any number of
impressions per document.  The joint likelihood of examination and relevance is not: with one parameter per
document, estimated from few rows, examination probabilities are biased (Neyman and Scott 1948).

Positions of documents are taken as given; sessions are independent.

This module also estimates grades with their intervals: clicks over impressions, the mean of fractional
clicks, and the mean of clicks weighted by inverse propensity (Joachims, Swaminathan and Schnabel, WSDM 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankstone._basics import Record
from rankstone.stats.proportions import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankstone._basics import Floats, Ints
    from rankstone.online.click_cells import Cells, Clicked
    from rankstone.online.click_options import ClickOptions
    from rankstone.online.position_counts import PositionCounts


#: limits on the change of a log examination in one iteration, and on its absolute value
_MAX_STEP = 2.0
_MAX_LOG = 50.0
#: logarithms, and pivots relative to the diagonal, below this are rounding
_EQUAL = 1e-12


class Examinations(Record):
    """Fitted examination probabilities.

    Attributes
    ----------
    theta
        float64 ``[positions]``: the examination of each, relative to the first; 0 for positions without
        clicks.
    free
        Positions other than the first with clicks: those whose logarithm was fitted.
    rounds, change
        Iterations of Newton's method, and the largest relative change in the last one.
    """

    theta: Floats
    free: Ints
    rounds: int
    change: float


def fit_examinations(
    counts: PositionCounts, tolerance: float, max_rounds: int
) -> Examinations:
    """Fit the examination of each position.

    Parameters
    ----------
    counts
        Informative cells, with at least one click at the first position.
    tolerance, max_rounds
        Stop when no examination changes by more than this share, or after so many iterations.
    """
    clicked = counts.by_place(counts.clicked)
    free = np.flatnonzero(clicked[1:] > 0) + 1
    log_theta = np.where(clicked > 0, 0.0, -np.inf)
    log_theta[0] = 0.0
    rounds = 0
    change = np.inf if len(free) else 0.0
    while rounds < max_rounds and change > tolerance:
        shares = _expected_shares(counts, np.exp(log_theta))
        score, information = _score_and_information(counts, shares)
        step = np.einsum("ij,j", _inverse(information[np.ix_(free, free)]), score[free])
        change = float(np.abs(step).max())
        step *= min(1.0, _MAX_STEP / change) if change else 1.0
        log_theta[free] = np.clip(log_theta[free] + step, -_MAX_LOG, _MAX_LOG)
        rounds += 1
    log_theta[np.abs(log_theta) < _EQUAL] = (
        0.0  # or rounding would give values above the first, which are invalid as input
    )
    return Examinations(np.exp(log_theta), free, rounds, change)


def log_covariance(
    counts: PositionCounts, fitted: Examinations, clicks: Iterable[Clicked]
) -> Floats:
    """Return the covariance of the log examinations, float64 ``[positions, positions]``.

    The sandwich estimator with sessions as clusters.  Scores are not centred, so the variance is rather too
    large than too small.
    """
    if not len(fitted.free):
        return np.zeros((counts.places, counts.places))
    shares = _expected_shares(counts, fitted.theta)
    table = _by_pair_and_position(counts, shares)
    scatter = np.zeros((counts.places, counts.places))
    for part in clicks:
        scatter += _scatter(table, part)
    inside = np.ix_(fitted.free, fitted.free)
    bread = _inverse(_score_and_information(counts, shares)[1][inside])
    whole = np.zeros_like(scatter)
    whole[inside] = np.einsum(
        "ij,jk->ik", np.einsum("ij,jk->ik", bread, scatter[inside]), bread
    )
    return whole


def moved_impressions(counts: PositionCounts) -> Floats:
    """Return impressions at each position of documents also shown elsewhere, float64 ``[positions]``.

    Each document counts at most its number of impressions at other positions.
    """
    return counts.by_place(
        np.minimum(
            counts.count, counts.by_pair(counts.count)[counts.pair] - counts.count
        )
    )


def _expected_shares(counts: PositionCounts, theta: Floats) -> Floats:
    """Return the expected share of a pair's clicks in each cell."""
    examined = counts.count * theta[counts.place]
    totals = counts.by_pair(examined)[counts.pair]
    return np.divide(examined, totals, out=np.zeros_like(examined), where=totals > 0)


def _score_and_information(
    counts: PositionCounts, shares: Floats
) -> tuple[Floats, Floats]:
    """Return the score (observed minus expected clicks by position) and the information matrix."""
    total = counts.by_pair(counts.clicked)
    expected = total[counts.pair] * shares
    spread = _by_pair_and_position(counts, shares * np.sqrt(total)[counts.pair])
    information = np.diag(counts.by_place(expected)) - (spread.T @ spread).toarray()
    return counts.by_place(counts.clicked - expected), information


def _by_pair_and_position(counts: PositionCounts, values: Floats) -> Any:  # noqa: ANN401 - SciPy's, pairs by positions
    from scipy import sparse

    return sparse.csr_array(
        (values, (counts.pair, counts.place)), (counts.pairs, counts.places)
    )


def _inverse(positive: Floats) -> Floats:
    """Return the inverse of a positive definite matrix; 0 for rows that depend linearly on others.

    By sweeps in plain NumPy: the last bits of BLAS depend on the number of threads.
    """
    swept = positive.copy()
    least = _EQUAL * np.diag(positive)
    for index in range(len(swept)):
        pivot = swept[index, index]
        column = swept[:, index].copy()
        if not pivot > least[index]:
            swept[index], swept[:, index] = 0.0, 0.0
            continue
        row = swept[index] / pivot
        swept -= np.multiply.outer(column, row)
        swept[index], swept[:, index] = row, -column / pivot
        swept[index, index] = 1 / pivot
    return swept


def _scatter(shares: Any, clicks: Clicked) -> Floats:  # noqa: ANN401 - as above
    """Return the sum over sessions of outer products of their scores."""
    from scipy import sparse

    rows, (pairs, places) = np.arange(len(clicks.pair)), shares.shape
    pair = sparse.csr_array((clicks.value, (rows, clicks.pair)), (len(rows), pairs))
    place = sparse.csr_array((clicks.value, (rows, clicks.place)), (len(rows), places))
    of_session = sparse.csr_array((np.ones(len(rows)), (clicks.session, rows)))
    scores = of_session @ (place - pair @ shares)
    scatter: Floats = (scores.T @ scores).toarray()
    return scatter


class Estimates(Record):
    """Estimates by pair; NaN if not identified.

    Attributes
    ----------
    impressions, clicks
        Impressions, and those with a click above 0.
    value
        The estimate.
    effective
        Effective number of examined impressions.
    error
        Standard error.
    low, high
        Ends of the interval.
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
        """Concatenate estimates."""
        names = cls.__dataclass_fields__
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in names)
        )


@dataclass
class Weighing:
    """Totals of the inverse propensity weights.

    Attributes
    ----------
    impressions, clicks
        Impressions and clicks with a propensity below the clip.
    weights, squares
        Sums of weights and of their squares over impressions.
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
    """Return 1 for pairs with a click and 0 for the others; there is no standard error."""
    impressions, clicks = _counts(cells)
    none = np.full(len(clicks), np.nan)
    return Estimates(
        impressions,
        clicks,
        (clicks > 0).astype(np.float64),
        impressions,
        none,
        none,
        none,
    )


def mean_values(cells: Cells, options: ClickOptions) -> Estimates:
    """Return the mean value of each pair, with Wilson's interval.

    The variance of values from 0 to 1 is at most that of clicks with the same mean, so for fractions the
    interval is too wide rather than too narrow.
    """
    impressions, clicks = _counts(cells)
    raw, error = _mean(cells, cells.value, impressions)
    return with_intervals(impressions, clicks, raw, impressions, error, options)


def with_intervals(
    impressions: Floats,
    clicks: Floats,
    raw: Floats,
    effective: Floats,
    error: Floats,
    options: ClickOptions,
) -> Estimates:
    """Return shares smoothed by the prior, with Wilson's interval.

    Parameters
    ----------
    impressions, clicks
        Counts.
    raw, error
        The shares, and their standard errors.
    effective
        The number of impressions behind each share.
    options
        The prior and the confidence level.
    """
    value, size, error = _add_prior(raw, effective, error, options)
    low, high = wilson(value * size, size, options.confidence)
    return Estimates(impressions, clicks, value, effective, error, low, high)


def inverse_propensity(
    cells: Cells, propensity: Floats, options: ClickOptions, weighing: Weighing
) -> Estimates:
    """Return the mean of clicks weighted by inverse propensity; it can exceed 1.

    Parameters
    ----------
    cells
        The counted impressions.
    propensity
        The examination probability of each cell.
    options
        The clip, the prior and the confidence level.
    weighing
        Totals that this batch is added to.
    """
    impressions, clicks = _counts(cells)
    floor = options.clip or 0.0
    weight = 1 / np.maximum(propensity, floor)
    low_ones = cells.count * (propensity < floor)
    clicked = cells.value > 0
    weighing.impressions += int(low_ones.sum())
    weighing.clicks += int(low_ones[clicked].sum())
    sums = cells.total(cells.count * weight)
    squares = cells.total(cells.count * weight**2)
    weighing.weights, weighing.squares = (
        weighing.weights + sums.sum(),
        weighing.squares + squares.sum(),
    )
    weighing.click_weights += (cells.count * weight)[clicked].sum()
    weighing.click_squares += (cells.count * weight**2)[clicked].sum()
    raw, spread = _mean(cells, cells.value * weight, impressions)
    effective = sums**2 / squares
    value, _, error = _add_prior(
        raw, effective, np.where(spread > 0, spread, np.nan), options
    )
    reach = NormalDist().inv_cdf((1 + options.confidence) / 2) * error
    return Estimates(
        impressions,
        clicks,
        value,
        effective,
        error,
        np.maximum(value - reach, 0),
        value + reach,
    )


def _mean(cells: Cells, each: Floats, impressions: Floats) -> tuple[Floats, Floats]:
    """Return the mean over the impressions of each pair, and its standard error."""
    value = cells.total(cells.count * each) / impressions
    squares = cells.total(cells.count * (each - value[cells.pair]) ** 2)
    return value, np.sqrt(squares) / impressions


def _add_prior(
    raw: Floats, effective: Floats, error: Floats, options: ClickOptions
) -> tuple[Floats, Floats, Floats]:
    """Return estimates, effective sizes and errors after adding the prior's clicks and impressions."""
    clicked, unclicked = options.smoothing
    size = effective + clicked + unclicked
    with np.errstate(divide="ignore", invalid="ignore"):
        return (raw * effective + clicked) / size, size, error * (effective / size)
