"""The position-based click model: a click requires that the position is examined and the document relevant.

P(click) = examination of the position · relevance of the document to the query (Richardson, Dominowska and
Ragno, WWW 2007; Craswell et al., WSDM 2008).  Pairs that were shown at one position only, or never clicked,
fit any examination, so the examination probabilities are estimated from the others alone
(``examination.py``); given these, each pair's relevance is the root of its likelihood equation.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import counted, some
from rankstone.errors import BadValue
from rankstone.online.click_cells import Clicked
from rankstone.online.examination import (
    Estimates,
    Examinations,
    fit_examinations,
    log_covariance,
    moved_impressions,
    with_intervals,
)
from rankstone.online.judged_pairs import JudgedPairs
from rankstone.online.position_counts import Fit, PositionCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.online.click_cells import Cells, Sessions
    from rankstone.online.click_options import ClickOptions


#: bisection steps until the interval is as narrow as float64 allows
_HALVINGS: Final = 60
_LEAST: Final = 1e-12


def relevances(counts: PositionCounts, theta: Floats) -> Floats:
    """Return the maximum likelihood relevance of each pair, given examinations; NaN if never examined.

    The derivative of a pair's log-likelihood decreases in its relevance, so bisection finds its root.
    """
    examined = theta[counts.place]
    clicked = counts.by_pair(counts.clicked)
    highest = np.zeros(counts.pairs)
    np.maximum.at(highest, counts.pair, examined)
    with np.errstate(divide="ignore"):
        high = np.minimum(1.0, 1 / highest)  # no click probability exceeds 1
    low = np.zeros(counts.pairs)
    missed = counts.count - counts.clicked
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        chance = examined * middle[counts.pair]
        rising = clicked > counts.by_pair(
            missed * chance / np.maximum(1 - chance, _LEAST)
        )
        low = np.where(rising, middle, low)
        high = np.where(rising, high, middle)
    relevance = np.where(clicked > 0, high, 0.0)
    return np.where(highest > 0, relevance, np.nan)


def effective_size(counts: PositionCounts, theta: Floats, gamma: Floats) -> Floats:
    """Return the effective number of examined impressions of each pair.

    γ(1 - γ) times the Fisher information, given examinations: all impressions if all are examined.
    """
    examined = theta[counts.place]
    relevance = gamma[counts.pair]
    chance = np.minimum(examined * relevance, 1 - _LEAST)
    return counts.by_pair(
        counts.count * examined * np.maximum(1 - relevance, _LEAST) / (1 - chance)
    )


def relative_variance(
    counts: PositionCounts, theta: Floats, gamma: Floats, log_covariance: Floats
) -> Floats:
    """Return the relative variance of relevances due to that of examinations, float64 ``[pairs]``.

    By the delta method: the logarithm of a relevance decreases with those of the examinations of its
    positions, by weights that sum to 1, so the variance is wᵀCw.  ``log_covariance`` is C, float64
    ``[positions, positions]``, of the logarithms of examinations.
    """
    chance = np.minimum(theta[counts.place] * gamma[counts.pair], 1 - _LEAST)
    weight = counts.count * theta[counts.place] / (1 - chance)
    weight /= np.maximum(counts.by_pair(weight)[counts.pair], _LEAST)
    terms = np.zeros(len(weight))
    for place in np.flatnonzero(np.diag(log_covariance) > 0):
        row_of_product = counts.by_pair(weight * log_covariance[place, counts.place])
        is_there = counts.place == place
        terms[is_there] = weight[is_there] * row_of_product[counts.pair[is_there]]
    return np.maximum(counts.by_pair(terms), 0.0)


def log_likelihood(counts: PositionCounts, theta: Floats, gamma: Floats) -> float:
    """Return the log-likelihood of the clicks."""
    chance = theta[counts.place] * gamma[counts.pair]
    missed = counts.count - counts.clicked
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.where(counts.clicked > 0, counts.clicked * np.log(chance), 0.0)
        misses = np.where(missed > 0, missed * np.log1p(-chance), 0.0)
    return float(hits.sum() + misses.sum())


def fit_position_model(
    parts: Sequence[Cells],
    options: ClickOptions,
    policy: str,
    source: str,
    sessions: Sessions | None,
) -> JudgedPairs:
    """Fit the position-based model.

    Parameters
    ----------
    parts
        Cells with positions; all pairs of a query are in one part.
    options
        Stopping rule, prior and confidence level.
    policy
        Whether positions that no pair links with the first are an ``error``, or left out (``drop``).
    source
        The name of the log in messages.
    sessions
        Clicks by session; ``None`` if rows are independent.
    """
    pairs, clicks, counts, positions = _count_pairs(parts)
    groups = counts.link_groups()
    is_linked = groups == groups[0]
    impressions = counts.by_place(counts.count)
    unlinked = {
        int(positions[place]): int(impressions[place])
        for place in np.flatnonzero(~is_linked)
    }
    used = counts.informative & is_linked[counts.place]
    informative = counts.only(used)
    _check_links(counts, informative, positions, is_linked, policy, source)
    fitted = fit_examinations(informative, options.tolerance, options.max_iterations)
    used_pairs = pairs[np.unique(counts.pair[used])]
    clicked = (
        _independent_clicks(informative)
        if sessions is None
        else sessions.clicks(used_pairs, positions)
    )
    covariance = log_covariance(informative, fitted, clicked)
    names = np.unique(counts.pair[is_linked[counts.place]])
    theta = np.where(is_linked, fitted.theta, 0.0)
    estimates, likelihood = _estimates(
        counts.only(is_linked[counts.place]), theta, clicks[names], covariance, options
    )
    fit = Fit(
        pairs=used_pairs.height,
        impressions=int(informative.count.sum()),
        iterations=fitted.rounds,
        converged=fitted.change <= options.tolerance,
        change=fitted.change,
        log_likelihood=likelihood,
        clustered=sessions is not None,
    )
    propensities, *intervals = (
        {
            int(positions[place]): float(values[place])
            for place in np.flatnonzero(is_linked)
        }
        for values in (
            theta,
            *_examination_intervals(fitted, covariance, options.confidence),
            moved_impressions(informative),
        )
    )
    known = dict(zip(("low", "high", "moved"), intervals, strict=True))
    return JudgedPairs(
        pairs[names], estimates, propensities, known, fit=fit, unlinked=unlinked
    )


def _check_links(
    counts: PositionCounts,
    informative: PositionCounts,
    positions: Ints,
    is_linked: Bools,
    policy: str,
    source: str,
) -> None:
    """Refuse logs from which examination cannot be separated from relevance."""
    has_information = len(informative.pair) > 0
    if len(positions) > 1 and not has_information:
        raise _no_information_error(source)
    if not is_linked.all() and policy == "error":
        raise _unlinked_error(source, positions, is_linked)
    used = informative if has_information else counts
    if not used.by_place(used.clicked)[0]:
        raise BadValue(
            f"there is no click at position {positions[0]}, to which all positions are compared",
            where=source,
            fix="use method=ctr, or method=ips with known propensities",
        )


def _independent_clicks(counts: PositionCounts) -> list[Clicked]:
    """Return the clicks as independent ones; the square root makes cells add as single clicks do."""
    return [
        Clicked(
            counts.pair,
            counts.place,
            np.sqrt(counts.clicked),
            np.arange(len(counts.pair)),
        )
    ]


def _examination_intervals(
    fitted: Examinations, covariance: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return intervals of examinations; NaN for the first position and for those without clicks."""
    variance = np.diag(covariance)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(
        np.where(variance > 0, variance, np.nan)
    )
    with np.errstate(over="ignore"):
        return fitted.theta * np.exp(-reach), fitted.theta * np.exp(reach)


def _count_pairs(
    parts: Sequence[Cells],
) -> tuple[pl.DataFrame, Floats, PositionCounts, Ints]:
    """Return the pairs, their clicks, the counts by pair and position, and the positions."""
    pair = []
    position = []
    sums = []
    before = 0
    for cells in parts:
        assert cells.position is not None  # noqa: S101 - which was requested
        begins = np.ones(
            len(cells.pair), np.bool_
        )  # values of one pair and position are adjacent
        begins[1:] = (np.diff(cells.pair) != 0) | (np.diff(cells.position) != 0)
        cell = np.cumsum(begins) - 1
        each = (cells.count, cells.count * cells.value, cells.count * (cells.value > 0))
        sums.append([np.bincount(cell, weights) for weights in each])
        pair.append(cells.pair[begins] + before)
        position.append(cells.position[begins])
        before += cells.pairs.height
    count, clicked, clicks = (np.concatenate(each) for each in zip(*sums, strict=True))
    positions, place = np.unique(np.concatenate(position), return_inverse=True)
    counts = PositionCounts(
        np.concatenate(pair), place, count, clicked, before, len(positions)
    )
    return (
        pl.concat([cells.pairs for cells in parts]),
        counts.by_pair(clicks),
        counts,
        positions,
    )


def _estimates(
    counts: PositionCounts,
    theta: Floats,
    clicks: Floats,
    covariance: Floats,
    options: ClickOptions,
) -> tuple[Estimates, float]:
    gamma = relevances(counts, theta)
    known = ~np.isnan(gamma)
    likelihood = log_likelihood(counts.only(known[counts.pair]), theta, gamma[known])
    effective = effective_size(counts, theta, gamma)
    odds = gamma / np.maximum(1 - gamma, 1e-12)
    effective /= 1 + effective * odds * relative_variance(
        counts, theta, gamma, covariance
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(gamma * (1 - gamma) / effective)
    return with_intervals(
        counts.by_pair(counts.count), clicks, gamma, effective, error, options
    ), likelihood


def _no_information_error(source: str) -> BadValue:
    return BadValue(
        "no clicked document was shown at several positions: position bias and relevance are confounded",
        where=source,
        expected="documents of a query at several positions, as when results are shuffled",
        fix="use method=ctr, or method=ips with known propensities",
    )


def _unlinked_error(source: str, positions: Ints, is_linked: Bools) -> BadValue:
    apart = positions[~is_linked]
    return BadValue(
        f"no document links {counted(len(apart), 'position')} ({some(apart.tolist(), 8)}) "
        f"with position {positions[0]}",
        where=source,
        expected="clicked documents that were shown at positions of both groups",
        fix="unlinked=drop leaves these positions out; method=ips uses known propensities",
    )
