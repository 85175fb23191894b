"""How often positions are looked at, told from documents that stood at several of them.

A document's clicks at a position are in the mean its impressions there times the examination of the position
times its relevance.  Given how many clicks it had in all, they fall on its positions in shares that know
nothing of its relevance: ``impressions · examination``, over their sum.  The likelihood of these shares is
that of counts with a fixed effect for every document (Hausman, Hall and Griliches, Econometrica 52, 1984); it
is right on average whatever the distribution of clicks (Wooldridge, Journal of Econometrics 90, 1999), and
however few impressions a document had.  The joint likelihood of examinations and relevances is not: a
parameter for every document, known from few rows each, draws examinations away from the truth (Neyman and
Scott 1948).

Where documents stood is taken as it was; sessions are independent of one another.

Grades of pairs, and how sure they are.

Clicks over impressions, and their mean where they are fractions; the mean of clicks weighted by the inverse
of the chance that somebody looked there (Joachims, Swaminathan and Schnabel, WSDM 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankstone.stats.proportions import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from rankstone.online.click_judgments import Asked
    from rankstone.online.position_based_model import Shown
    from rankstone.online.shown_lists import Cells

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

#: how far the logarithm of an examination may move in a round, and lie from 0
_FARTHEST, _EDGE = 2.0, 50.0
#: logarithms, and shares of a pivot, below this are rounding
_EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Clicked:
    """Clicks, one by one or counted: pair, position, worth, and the session each belongs to, from 0."""

    pair: Whole
    place: Whole
    value: Floats
    session: Whole


@dataclass(frozen=True, eq=False)
class Examinations:
    """What was found.

    Attributes
    ----------
    theta
        float64 ``[positions]``: the examination of each, relative to the first; 0 where nobody clicked.
    free
        Positions beside the first that were clicked at: those whose logarithm was fitted.
    rounds, change
        Rounds of Newton's method, and how far a position moved in the last one, as a share.
    """

    theta: Floats
    free: Whole
    rounds: int
    change: float


def examinations(shown: Shown, tolerance: float, most: int) -> Examinations:
    """Fit the examination of each position.

    Parameters
    ----------
    shown
        Informative cells; somebody clicked at the first position.
    tolerance, most
        When to stop: no examination moves by more than this share, or after so many rounds.
    """
    clicked = shown.by_place(shown.clicked)
    free = np.flatnonzero(clicked[1:] > 0) + 1
    log_theta = np.where(clicked > 0, 0.0, -np.inf)
    log_theta[0] = 0.0
    rounds, change = 0, np.inf if len(free) else 0.0
    while rounds < most and change > tolerance:
        share = _shares(shown, np.exp(log_theta))
        score, information = _equations(shown, share)
        step = np.einsum("ij,j", _inverse(information[np.ix_(free, free)]), score[free])
        change = float(np.abs(step).max())
        step *= min(1.0, _FARTHEST / change) if change else 1.0
        log_theta[free] = np.clip(log_theta[free] + step, -_EDGE, _EDGE)
        rounds += 1
    log_theta[np.abs(log_theta) < _EQUAL] = 0.0  # no rounding above the first, which may be handed back
    return Examinations(np.exp(log_theta), free, rounds, change)


def covariance(shown: Shown, found: Examinations, clicks: Iterable[Clicked]) -> Floats:
    """Return the covariance of the logarithms of all examinations, float64 ``[positions, positions]``.

    The sandwich over sessions: what each moves the equations by, squared.  Means are not taken off, so it is
    rather too large than too small.
    """
    if not len(found.free):
        return np.zeros((shown.places, shown.places))
    share = _shares(shown, found.theta)
    table, scatter = _table(shown, share), np.zeros((shown.places, shown.places))
    for part in clicks:
        scatter += _scattered(table, part)
    inside = np.ix_(found.free, found.free)
    bread = _inverse(_equations(shown, share)[1][inside])
    whole = np.zeros_like(scatter)
    whole[inside] = np.einsum("ij,jk->ik", np.einsum("ij,jk->ik", bread, scatter[inside]), bread)
    return whole


def moved(shown: Shown) -> Floats:
    """Return how often a document stood at each position that stood elsewhere, too, float64 ``[positions]``.

    Of a document's impressions there as many count as it had at other positions.
    """
    return shown.by_place(np.minimum(shown.count, shown.by_pair(shown.count)[shown.pair] - shown.count))


def _shares(shown: Shown, theta: Floats) -> Floats:
    """Return the share of a pair's clicks that is expected in each cell."""
    looked = shown.count * theta[shown.place]
    every = shown.by_pair(looked)[shown.pair]
    return np.divide(looked, every, out=np.zeros_like(looked), where=every > 0)


def _equations(shown: Shown, share: Floats) -> tuple[Floats, Floats]:
    """Return clicks at each position beyond those expected, and how these move with the logarithms."""
    total = shown.by_pair(shown.clicked)
    expected = total[shown.pair] * share
    spread = _table(shown, share * np.sqrt(total)[shown.pair])
    information = np.diag(shown.by_place(expected)) - (spread.T @ spread).toarray()
    return shown.by_place(shown.clicked - expected), information


def _table(shown: Shown, of_cells: Floats) -> Any:  # noqa: ANN401 - SciPy's, pairs by positions
    from scipy import sparse

    return sparse.csr_array((of_cells, (shown.pair, shown.place)), (shown.pairs, shown.places))


def _inverse(positive: Floats) -> Floats:
    """Return the inverse of a positive definite matrix; 0 for what the rest already tells.

    By sweeps of plain arithmetic: those of BLAS have other last bits on other numbers of threads.
    """
    swept, least = positive.copy(), _EQUAL * np.diag(positive)
    for at in range(len(swept)):
        pivot, column = swept[at, at], swept[:, at].copy()
        if not pivot > least[at]:
            swept[at], swept[:, at] = 0.0, 0.0
            continue
        row = swept[at] / pivot
        swept -= np.multiply.outer(column, row)
        swept[at], swept[:, at] = row, -column / pivot
        swept[at, at] = 1 / pivot
    return swept


def _scattered(share: Any, clicks: Clicked) -> Floats:  # noqa: ANN401 - as above
    """Return the sum over sessions of the squares of what they move the equations by."""
    from scipy import sparse

    rows, (pairs, places) = np.arange(len(clicks.pair)), share.shape
    pair = sparse.csr_array((clicks.value, (rows, clicks.pair)), (len(rows), pairs))
    place = sparse.csr_array((clicks.value, (rows, clicks.place)), (len(rows), places))
    of_session = sparse.csr_array((np.ones(len(rows)), (clicks.session, rows)))
    scores = of_session @ (place - pair @ share)
    found: Floats = (scores.T @ scores).toarray()
    return found


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
