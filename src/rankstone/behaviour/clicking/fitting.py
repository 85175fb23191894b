"""The position-based model, from cells to grades: what it can tell, what it told."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.behaviour.clicking.estimates import Estimates, share
from rankstone.behaviour.clicking.examination import (
    Clicked,
    Examinations,
    covariance,
    examinations,
    moved,
)
from rankstone.behaviour.clicking.position_based import (
    Fit,
    Shown,
    doubt,
    information,
    log_likelihood,
    relevances,
)
from rankstone.errors import BadValue
from rankstone.words import counted, some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankstone.behaviour.clicking.asked import Asked
    from rankstone.behaviour.clicking.cells import Cells
    from rankstone.behaviour.clicking.sessions import Sessions

    Floats = NDArray[np.float64]

__all__ = ["Fitted", "fitted"]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the model says.

    Attributes
    ----------
    pairs, estimates
        Pairs, and what is known of them.
    fit
        How examinations were found.
    propensities
        Position → examination, relative to the first position.
    known
        Name → position → how well that is known: ``low``, ``high``, ``moved``.
    unlinked
        Positions that were left out, with their impressions.
    """

    pairs: pl.DataFrame
    estimates: Estimates
    fit: Fit
    propensities: dict[int, float]
    known: dict[str, dict[int, float]]
    unlinked: dict[int, int]


def fitted(
    parts: Sequence[Cells], asked: Asked, policy: str, source: str, sessions: Sessions | None
) -> Fitted:
    """Fit the model.

    Parameters
    ----------
    parts
        Cells with positions; pairs of one query are in one part.
    asked
        When the fit stops, the prior, the confidence.
    policy
        Whether positions that nothing links with the first are an ``error``, or ``drop`` leaves them out.
    source
        What to call the log in messages.
    sessions
        Clicks by session; ``None`` where rows are independent.
    """
    pairs, clicks, shown, labels = _shown(parts)
    groups = shown.linked()
    inside = groups == groups[0]
    impressions = shown.by_place(shown.count)
    unlinked = {int(labels[at]): int(impressions[at]) for at in np.flatnonzero(~inside)}
    tells = shown.informative & inside[shown.place]
    informative = shown.only(tells)
    _check(shown, informative, labels, inside, policy, source)
    found = examinations(informative, asked.tolerance, asked.max_iterations)
    telling = pairs[np.unique(shown.pair[tells])]
    clicked = _by_row(informative) if sessions is None else sessions.clicks(telling, labels)
    spread = covariance(informative, found, clicked)
    names = np.unique(shown.pair[inside[shown.place]])
    theta = np.where(inside, found.theta, 0.0)
    estimates, told = _estimates(shown.only(inside[shown.place]), theta, clicks[names], spread, asked)
    fit = Fit(
        pairs=telling.height,
        impressions=int(informative.count.sum()),
        iterations=found.rounds,
        converged=found.change <= asked.tolerance,
        change=found.change,
        log_likelihood=told,
        clustered=sessions is not None,
    )
    propensities, *known = (
        {int(labels[at]): float(values[at]) for at in np.flatnonzero(inside)}
        for values in (theta, *_ends(found, spread, asked.confidence), moved(informative))
    )
    certain = dict(zip(("low", "high", "moved"), known, strict=True))
    return Fitted(pairs[names], estimates, fit, propensities, certain, unlinked)


def _check(
    shown: Shown,
    informative: Shown,
    labels: NDArray[np.int64],
    inside: NDArray[np.bool_],
    policy: str,
    source: str,
) -> None:
    """Refuse positions that nothing tells apart."""
    some_tell = len(informative.pair) > 0
    if len(labels) > 1 and not some_tell:
        raise _nothing(source)
    if not inside.all() and policy == "error":
        raise _apart(source, labels, inside)
    telling = informative if some_tell else shown
    if not telling.by_place(telling.clicked)[0]:
        raise BadValue(
            f"nobody clicked at position {labels[0]}, so nothing can be told relative to it",
            where=source,
            fix="method=ips with propensities that are known",
        )


def _by_row(shown: Shown) -> list[Clicked]:
    """Return clicks that are all independent: those of a cell are squared one by one."""
    return [Clicked(shown.pair, shown.place, np.sqrt(shown.clicked), np.arange(len(shown.pair)))]


def _ends(found: Examinations, spread: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return intervals of examinations; none of the first, nor where nobody clicked."""
    variance = np.diag(spread)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(np.where(variance > 0, variance, np.nan))
    with np.errstate(over="ignore"):
        return found.theta * np.exp(-reach), found.theta * np.exp(reach)


def _shown(parts: Sequence[Cells]) -> tuple[pl.DataFrame, Floats, Shown, NDArray[np.int64]]:
    """Return pairs, their clicks, what was shown where, and the positions there are."""
    pair, position, sums = [], [], []
    before = 0
    for cells in parts:
        assert cells.position is not None  # noqa: S101 - which was asked for
        begins = np.ones(len(cells.pair), np.bool_)  # values of one pair and position stand together
        begins[1:] = (np.diff(cells.pair) != 0) | (np.diff(cells.position) != 0)
        at = np.cumsum(begins) - 1
        each = (cells.count, cells.count * cells.value, cells.count * (cells.value > 0))
        sums.append([np.bincount(at, weights) for weights in each])
        pair.append(cells.pair[begins] + before)
        position.append(cells.position[begins])
        before += cells.pairs.height
    count, clicked, clicks = (np.concatenate(each) for each in zip(*sums, strict=True))
    labels, place = np.unique(np.concatenate(position), return_inverse=True)
    shown = Shown(np.concatenate(pair), place, count, clicked, before, len(labels))
    return pl.concat([cells.pairs for cells in parts]), shown.by_pair(clicks), shown, labels


def _estimates(
    shown: Shown, theta: Floats, clicks: Floats, spread: Floats, asked: Asked
) -> tuple[Estimates, float]:
    gamma = relevances(shown, theta)
    seen = ~np.isnan(gamma)
    told = log_likelihood(shown.only(seen[shown.pair]), theta, gamma[seen])
    effective = information(shown, theta, gamma)
    odds = gamma / np.maximum(1 - gamma, 1e-12)
    effective /= 1 + effective * odds * doubt(shown, theta, gamma, spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(gamma * (1 - gamma) / effective)
    return share(shown.by_pair(shown.count), clicks, gamma, effective, error, asked), told


def _nothing(source: str) -> BadValue:
    return BadValue(
        "no document that was clicked was seen at several positions: nothing tells these from relevance",
        where=source,
        expected="a query's documents at several positions, as when results are shuffled",
        fix="method=ips with propensities that are known, or method=ctr",
    )


def _apart(source: str, labels: NDArray[np.int64], inside: NDArray[np.bool_]) -> BadValue:
    apart = labels[~inside]
    return BadValue(
        f"nothing links {counted(len(apart), 'position')} ({some(apart.tolist(), 8)}) "
        f"with position {labels[0]}",
        where=source,
        expected="documents of one query that were clicked, and seen at positions of both kinds",
        fix="unlinked=drop leaves impressions there out; method=ips takes propensities that are known",
    )
