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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rankstone.behaviour.clicking.position_based import Shown

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

__all__ = ["Clicked", "Examinations", "covariance", "examinations", "moved"]

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
